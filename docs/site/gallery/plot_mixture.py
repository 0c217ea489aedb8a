"""
Groups of different size and shape
==================================

Two of the three species of iris overlap, and their groups are long and narrow. A mixture of Gaussians learns a shape for each group. Clusters around centres cannot.
"""

import lehr

iris = lehr.datasets.load_iris()
mixture = lehr.DAGaussianMixture(3).fit(iris.data)
mixture.plot(iris.data)

# %%
# For comparison, the clusters around centres on the same plane:
clusters = lehr.DAClustering(3).fit(iris.data)
clusters.plot(iris.data)

# %%
# How well each agrees with the species (adjusted Rand index: 0 is chance, 1 is perfect):
from sklearn.metrics import adjusted_rand_score

for name, model in [("mixture", mixture), ("clusters", clusters)]:
    print(f"{name:8} {adjusted_rand_score(iris.target, model.labels_):.2f}")
