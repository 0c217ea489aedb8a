"""
Clusters of rows
================

Thirteen measurements of 178 wines from three growers. The growers are not given to the method. Each column is first scaled to mean 0 and standard deviation 1, because otherwise the column with the largest numbers would decide all distances.
"""

import lehr

wine = lehr.datasets.load_wine()
X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)

model = lehr.DAClustering(n_clusters=3).fit(X)
model.plot(X)

# %%
# You choose no starting centres. All rows begin as one cluster at a high temperature, and clusters split when cooling makes them unstable. The tree shows which one split at which temperature.
model.plot_tree()

# %%
# How many wines of each grower are in each cluster:
import numpy as np

counts = np.zeros((3, 3), dtype=int)
np.add.at(counts, (wine.target, model.labels_), 1)
print(counts)
