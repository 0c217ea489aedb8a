"""
Sequences by their dissimilarities
==================================

Alu repeats are short pieces of DNA that have copied themselves through the human genome, in families. They are of different lengths and not aligned, so there are no rows: what can be had are dissimilarities,
of an alignment for each pair. Every thirty-third is enough for a picture; all 9,892 are a matter of hours.
"""

import lehr

alu = lehr.datasets.load_alu()
some = lehr.Sequences([alu[item] for item in range(0, len(alu), 33)])
D = lehr.pairwise_distances(some)

# %%
# Clusters of items, from nothing but their dissimilarities. In their order those that are close are a dark block on the diagonal.
clusters = lehr.PairwiseClustering(4, metric="precomputed").fit(D)
clusters.plot(D)

# %%
# A map whose distances come as near to the dissimilarities as two dimensions let them, coloured by cluster:
embedding = lehr.SMACOF(metric="precomputed").fit(D)
embedding.plot(clusters.labels_)

# %%
# How near that is: each dissimilarity beside its distance in the map. All on the line would be a map that loses nothing.
lehr.plot.shepard(embedding)
