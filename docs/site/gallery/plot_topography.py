"""
A map of rows with missing values
=================================

A topographic map bends a sheet through the rows. Missing values are no reason to leave out a row or to fill in a mean: here a tenth of the values is removed first. The background shows how far the sheet is stretched, which marks borders between groups. Colours are the three growers, which the map was not given.
"""

import numpy as np

import lehr

wine = lehr.datasets.load_wine()
X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan

model = lehr.GTM().fit(X)
model.plot(wine.target)
