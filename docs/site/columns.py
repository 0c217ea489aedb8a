"""The meaning of each column that a method writes, for the reference. The names are declared in `crates/methods/src`: `results.py` finds them there,
and a column without a meaning here is a warning of the site and a failed test.

A key is `method/table`, or `*` for all tables. `…` stands in the name of a column that depends on your data.
"""

_SPLITS = {
    "temperature": "the temperature at which a component divided",
    "critical_temperature": "the temperature below which it was unstable",
    "parent": "the component that divided: 0 is the first one, and row k of this table, from 1, creates component k",
    "clusters": "how many components there were after it",
    "merged_at": "the temperature at which the new component was merged into another or removed; empty if it lasted",
    "merged_into": "the component that it was merged into; empty if it lasted or had hardly any weight",
}

COLUMNS = {
    "*": {
        "id": "the identifier of the row or item: from your column of ids, or its number from 0",
        "cluster": "the number of the cluster, from 0, by falling weight; -1 is an outlier; empty for a row without any value in the columns used",
        "component": "the number of the component, from 0, by falling weight",
        "weight": "the weight of the cluster's rows or items; of a component its share, and all shares add up to 1",
        "rows": "how many rows have this cluster, component or node as their most probable one",
        "items": "how many items the cluster has",
        "temperature": "the temperature of this step",
        "clusters": "how many clusters there are",
        "free_energy": "the free energy at the end of this step; during hardening, clusters have no masses, so it is lower by T ln K",
        "mean_cost": "the mean cost of a row or item under its memberships",
        "information": "the mutual information of rows and clusters, in nats",
        "softness": "the mean of 1 less the largest membership: 0 for hard assignment",
        "sweeps": "how many passes over the rows this step took",
        "max_move": "the largest change in the last pass, as a share of the temperature",
        "next_critical": "the highest temperature at which one of the clusters divides; 0 where none may",
        "index": "the number of the step, from 0",
        "log_likelihood": "the weighted sum of the logarithms of the densities of the rows",
        "converged": "1 if the fit ended with nothing left to gain, otherwise 0",
        "log_density": "the logarithm of the density at the row; lowest for rows that fit nowhere",
        "medoid": "the identifier of the item that is most like the others of its cluster",
    },
    "cluster/labels": {
        "probability": "how surely the row belongs to its cluster and not to a neighbouring one, 0 to 1",
        "distance": "the distance from the centre, in the unit of the scaled columns; in km with `--lonlat`",
        "second_cluster": "the second nearest cluster",
        "second_distance": "the distance from the second nearest centre",
    },
    "cluster/centers": {
        "…": "a column for each of yours: the centre, in your units; the share of set bits for fingerprints",
        "spread": "the root mean square distance of the cluster's rows from the centre",
        "name": "a name made of the columns that mark the cluster",
        "probability": "the mean probability of the cluster's rows",
        "silhouette": "compares the distances of the rows to their own and to the next centre, -1 to 1",
        "merges_with": "the clusters that it would merge with first",
        "joins": "as the number of clusters falls: the cluster that takes this one in; empty for the last cluster",
        "joins_at": "the number of clusters that are left once it has",
    },
    "minibatch/centers": {
        "…": "a column for each of yours: the centre, in your units",
        "spread": "the root mean square distance of the rows from the centre, as they passed",
    },
    "cluster/splits": _SPLITS,
    "cluster/marks": {
        "name": "the name of the cluster",
        "column": "the column that marks the cluster",
        "text": "the text of a category that is more or less frequent; empty for numbers",
        "inside": "the mean, or the share of the text, in the cluster; rows without a value do not count",
        "overall": "the same in all rows",
        "test_value": "by how many standard deviations the two differ, as in `catdes` of FactoMineR",
        "probability": "how probable so large a difference is by chance, after Bonferroni's correction",
        "effect": "the size of the effect: Cohen's d for numbers, h for shares",
    },
    "cluster/outliers": {
        "cluster": "the nearest cluster",
        "distance": "the distance from the nearest centre, in the unit of the scaled columns",
        "score": "how far out the row is for its cluster: the distance divided by the limit of the cluster; the farthest come first",
        "columns": "the columns responsible, with their shares of the distance; not with `--lonlat`",
    },
    "cluster/history": {
        "sum_of_squares": "with k-means, in place of the other columns: the sum of squares at the end of each start",
    },
    "cluster/numbers": {
        "clusters": "the number of clusters that was compared",
        "mean_cost": "the mean squared distance of the rows from their centres",
        "separation": "how clear the valley between the two least separate neighbours is, in nats; 6 are needed",
        "division": "how clear a valley within one cluster is, in nats",
        "verdict": "whether this number was chosen, and if not, why",
    },
    "mixture/labels": {
        "probability": "the probability that the row comes from this component",
        "membership…": "with `--memberships` of `lehr predict`: the probability of each component",
    },
    "mixture/components": {
        "…": "a column for each of yours: the mean, in your units",
        "sd_…": "a column for each of yours: the standard deviation",
    },
    "mixture/covariances": {
        "column": "one of the two columns",
        "with": "the other column, or the same one for a variance",
        "covariance": "the covariance of the two, in your units",
    },
    "mixture/candidates": {
        "asked": "the number of components that was tried",
        "components": "the number found: fewer only if the rows have fewer distinct positions",
        "through": "the covariance that the best fit came through on its way; empty if it came straight",
        "free_parameters": "how many numbers the mixture has that were fitted",
        "bic": "Bayes' information criterion: lower is better",
        "aic": "Akaike's information criterion: lower is better",
        "icl": "BIC plus twice the entropy of the memberships: lower is better",
    },
    "mixture/history": {
        "sweep": "the number of the pass, from 0",
        "log_likelihood_per_weight": "the log-likelihood over the total weight before this pass",
    },
    "predict/positions": {
        "error": "the root mean square error of the distances to the items that placed this one",
        "nearest": "the item of the map with the lowest dissimilarity",
    },
    "gtm/places": {
        "z1 …": "the position on the map, a column for each dimension, from -1 to 1",
        "node": "the most probable node",
        "probability": "the probability of that node",
        "entropy": "over how many nodes the row is spread, as a logarithm, in nats",
    },
    "gtm/nodes": {
        "node": "the number of the node, from 0",
        "z1 …": "the position of the node on the map, a column for each dimension",
        "…": "a column for each of yours: the values of a row at this node, in your units",
        "magnification": "how much the map is stretched at this node",
    },
    "gtm/candidates": {
        "start": "where the fit began: `annealed` or `plane`",
        "order": "the rank correlation of distances on the map with those among the rows; near 1 without folds",
        "kept": "1 for the fit that is the result, otherwise 0",
    },
    "gtm/history": {
        "objective": "the objective per unit of weight at the end of this step",
        "noise": "the variance around the map",
        "softness": "the mean of 1 less the largest share of a node in a row",
    },
    "pairwise/labels": {
        "probability": "how surely the item belongs to its cluster and not to a neighbouring one, 0 to 1",
    },
    "pairwise/clusters": {
        "medoid_mean": "the mean dissimilarity of the items from the medoid",
        "mean_within": "the mean dissimilarity within the cluster",
        "mean_nearest": "the mean dissimilarity from the items of the nearest other cluster",
    },
    "pairwise/splits": _SPLITS,
    "kmedoids/labels": {
        "distance": "the dissimilarity from the medoid of the cluster",
    },
    "kmedoids/clusters": {
        "mean": "the mean dissimilarity of the items from the medoid",
        "radius": "the largest dissimilarity of an item from the medoid, without items of weight 0",
        "medoid_item": "the number of the medoid among the items, from 0",
    },
    "hierarchy/labels": {
        "silhouette": "how much closer the item is to its own cluster than to the nearest other one, -1 to 1; 0 for an item alone in its cluster",
        "place": "the place of the item in the drawn tree, from 0",
    },
    "hierarchy/clusters": {
        "height": "the height at which the last two parts of the cluster were joined",
        "mean_within": "the mean dissimilarity within the cluster",
        "silhouette": "the mean silhouette of the items",
        "medoid_item": "the number of the medoid among the items, from 0",
    },
    "hierarchy/merges": {
        "left": "one of the two parts: an item, by its number from 0, or the join with this number less the number of items",
        "right": "the other part",
        "height": "the distance of the two parts",
        "items": "how many items the join has",
    },
    "hierarchy/candidates": {
        "clusters": "a number of clusters",
        "silhouette": "its mean silhouette, with clusters of less than two items or 1 % of the weight set apart",
    },
    "hierarchy/tree": {
        "newick": "the tree in Newick's format",
    },
    "hdbscan/labels": {
        "cluster": "the cluster; -1 for noise",
        "probability": "1 in the densest part of the cluster, lower towards its edge, 0 for noise",
        "outlier_score": "how much less dense the item's surroundings are than the densest part of the group that it leaves last, 0 to 1",
        "core_distance": "the distance within which there are `min_samples` items",
    },
    "hdbscan/clusters": {
        "exemplar": "an item in the densest part of the cluster",
        "distance": "below this distance, the cluster is apart from all others; NaN for a cluster of all items",
        "stability": "the sum over items of the range of densities (1 over distance) at which they belong to it",
        "persistence": "the share of densities over which the cluster stays one group, 0 to 1",
        "exemplar_item": "the number of the exemplar among the items, from 0",
    },
    "hdbscan/splits": {
        "split": "the number of a group that was compared, from 0 for all items",
        "parent": "the group that it split off from; empty for all items",
        "distance": "below this distance, the group is apart; NaN for all items",
        "end": "the distance at which it splits, or at which its last items leave",
        "items": "how many items it has when it appears",
        "weight": "the weight of these items",
        "stability": "as in `clusters`",
        "cluster": "its number in `clusters`, if it was chosen",
    },
    "embed/positions": {
        "x …": "the coordinates in the map: `x`, `y`, `z`, or `x0`, `x1`, … beyond three dimensions",
        "stress": "the stress over the pairs of this item",
        "…": "with `--labels`: the class of the item",
    },
    "embed/history": {
        "iteration": "the number of the iteration",
        "stress": "the stress after it",
    },
    "embed/shepard": {
        "dissimilarity": "a range of dissimilarities, by its upper end",
        "distance": "a range of distances on the map, by its upper end",
        "pairs": "how many pairs are in both",
    },
    "embed/starts": {
        "start": "the number of the start, from 0",
        "stress": "the stress at its end",
    },
    "predict/labels": {
        "probability": "how surely the row belongs to its cluster and not to a neighbouring one, 0 to 1; of a mixture, the share of the component in the row",
        "distance": "the distance from the centre; `cost` in nats for a model of bits with a Bernoulli cost",
        "score": "how far out the row is for its cluster: the distance divided by the limit of the cluster; above 1 the row is far out. Not with a model of a stream or of Python",
        "membership…": "with `--memberships`: the probability of each cluster or component",
    },
}

#: All columns of tables of which some have names that depend on the data or the options: the sources have these as expressions.
NAMED_BY_DATA = {
    "cluster/centers": ["cluster", "…", "weight", "spread", "probability", "silhouette", "merges_with", "joins", "joins_at", "name"],
    "minibatch/centers": ["cluster", "…", "weight", "spread"],
    "mixture/labels": ["id", "component", "probability", "log_density", "membership…"],
    "mixture/components": ["component", "weight", "rows", "…", "sd_…"],
    "gtm/places": ["id", "z1 …", "node", "probability", "entropy", "log_density"],
    "gtm/nodes": ["node", "z1 …", "…", "magnification", "rows"],
    "embed/positions": ["id", "x …", "stress", "…"],
    "predict/labels": ["id", "cluster", "probability", "distance", "score", "membership…"],
}
