"""From a messy file of customers to explained groups, outliers, and labels for next month's file, with Orange. Usage: job_orange.py FILE NEXT OUT"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from Orange.classification import TreeLearner
from Orange.classification.outlier_detection import LocalOutlierFactorLearner
from Orange.clustering import KMeans
from Orange.data import DiscreteVariable, Domain, Table
from Orange.data.pandas_compat import table_from_frame
from Orange.preprocess import Impute, Normalize
from Orange.preprocess.score import ANOVA
from sklearn.metrics import silhouette_score

# The measures, the skewed ones, and the columns with a currency or a per cent sign. A person saw this by looking at the file.
MEASURES = ["Umsatz", "Besuche", "Warenkorb", "Rabatt", "Antwortzeit", "Alter"]
SKEWED = ["Umsatz", "Besuche", "Warenkorb", "Antwortzeit"]
CATEGORIES = ["Land", "Notiz", "Mitglied"]


def read(path):
    """Reads the file by pandas, because Orange's own reader leaves every column with `-`, `N/A` or a decimal comma as text."""
    table = pd.read_csv(path, sep=";", dtype=str, na_values=["-"])
    for name in MEASURES:
        table[name] = pd.to_numeric(table[name].str.replace(r"[.€%\s]", "", regex=True).str.replace(",", "."))
    table[SKEWED] = np.log1p(table[SKEWED])
    table["Beitritt"] = pd.to_datetime(table["Beitritt"], format="%d.%m.%Y")
    return table


file, following, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
frame = read(file)
table = table_from_frame(frame[MEASURES])
prepared = Normalize()(Impute()(table))

# Isolated rows should not pull a centre.
judged = LocalOutlierFactorLearner(n_neighbors=20, contamination=0.003)(prepared)(prepared)
inner = prepared[judged.get_column("Outlier") == judged.domain["Outlier"].to_val("No")]
models = {count: KMeans(n_clusters=count, n_init=10, random_state=0).get_model(inner) for count in range(2, 11)}
scores = {count: silhouette_score(inner.X, model.labels, sample_size=2000, random_state=0) for count, model in models.items()}
model = models[max(scores, key=scores.get)]
centers = model.centroids


def distances(rows):
    """Returns the distances to each centre, of rows in the training table's domain, which repeats imputation and scale."""
    return np.linalg.norm(rows.X[:, None] - centers, axis=2)


far = distances(prepared)
labels = far.argmin(axis=1)
pd.DataFrame({"id": frame["Kundennr"], "cluster": labels}).to_csv(out / "labels.csv", index=False)
distance = far.min(axis=1)
order = np.argsort(-distance)
low, high = np.percentile(distance, [25, 75])
order = order[distance[order] > high + 3 * (high - low)]
pd.DataFrame({"id": frame["Kundennr"].iloc[order], "distance": distance[order]}).to_csv(out / "outliers.csv", index=False)

# Explains the clusters: measures by analysis of variance and means, categories by shares, and a tree.
target = DiscreteVariable("cluster", values=[str(cluster) for cluster in range(len(centers))])
labelled = Table.from_numpy(Domain(table.domain.attributes, target), table.X, labels)
print("by analysis of variance:", dict(zip(MEASURES, ANOVA()(Impute()(labelled)).round(1))))
effects = (frame[MEASURES].groupby(labels).mean() - frame[MEASURES].mean()) / frame[MEASURES].std()
shares = pd.get_dummies(frame[CATEGORIES].fillna("none")).groupby(labels).mean()
pd.concat([effects, shares], axis=1).T.to_csv(out / "explained.csv")
print(TreeLearner(max_depth=3)(labelled).print_tree())

later = read(following)
print("columns that changed:", sorted(set(frame.columns) ^ set(later.columns)))
rows = table_from_frame(later[MEASURES]).transform(prepared.domain)
pd.DataFrame({"id": later["Kundennr"], "cluster": distances(rows).argmin(axis=1)}).to_csv(out / "next.csv", index=False)
