"""
Clusters of rows
================

Thirteen measurements of 178 wines that come from three growers, who are not told. Each column is brought to mean 0 and deviation 1 first: distances between rows would otherwise be those of the column with
the largest unit.
"""

import lehr

wine = lehr.datasets.load_wine()
X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)

model = lehr.DAClustering(n_clusters=3).fit(X)
model.plot(X)

# %%
# There were no starting centres to be chosen. All rows begin as one cluster at a high temperature, and clusters divide where cooling makes them unstable: which one did at which temperature, the tree shows.
model.plot_tree()

# %%
# How many of the wines of each grower are in which cluster:
import numpy as np

counts = np.zeros((3, 3), dtype=int)
np.add.at(counts, (wine.target, model.labels_), 1)
print(counts)
