"""
Groups of their own widths and shapes
=====================================

Iris flowers of three kinds: two of them overlap, and are long and narrow in the space of their measurements. A mixture of Gaussians learns a shape for each, which clusters by distance do not have.
"""

import lehr

iris = lehr.datasets.load_iris()
mixture = lehr.DAGaussianMixture(3).fit(iris.data)
mixture.plot(iris.data)

# %%
# Beside it the clusters by distance, on the same plane:
clusters = lehr.DAClustering(3).fit(iris.data)
clusters.plot(iris.data)

# %%
# The agreement of each with the kinds of flowers, from 0 for chance to 1:
from sklearn.metrics import adjusted_rand_score

for name, model in [("mixture", mixture), ("clusters", clusters)]:
    print(f"{name:8} {adjusted_rand_score(iris.target, model.labels_):.2f}")
