"""
Sequences by their dissimilarities
==================================

Alu repeats are short pieces of DNA that have copied themselves through the human genome, in families. They have different lengths and are not aligned, so there are no columns to compare. But each pair can be aligned, which gives a dissimilarity. Every thirty-third of the 9,892 sequences is enough for a picture.
"""

import lehr

alu = lehr.datasets.load_alu()
some = lehr.Sequences([alu[item] for item in range(0, len(alu), 33)])
D = lehr.pairwise_distances(some)

# %%
# Clusters from dissimilarities alone. In the order of the clusters, items that are alike form dark blocks on the diagonal.
clusters = lehr.PairwiseClustering(4, metric="precomputed").fit(D)
clusters.plot(D)

# %%
# A map whose distances are as close to the dissimilarities as two dimensions allow, coloured by cluster:
embedding = lehr.SMACOF(metric="precomputed").fit(D)
embedding.plot(clusters.labels_)

# %%
# How close is that? Each dot is a pair: its dissimilarity and its distance on the map. On a perfect map all dots lie on the line.
lehr.plot.shepard(embedding)
