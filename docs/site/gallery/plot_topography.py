"""
A map of rows with gaps
=======================

A topographic map lays a sheet through the rows. Cells that are not known are no reason to leave a row out, nor to fill in a mean: here a tenth of them is taken away first. The ground shows how far the sheet
is stretched, so that walls between groups can be seen; colours are the three growers, whom the map does not know.
"""

import numpy as np

import lehr

wine = lehr.datasets.load_wine()
X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan

model = lehr.GTM().fit(X)
model.plot(wine.target)
