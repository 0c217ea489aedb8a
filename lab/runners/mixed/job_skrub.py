"""From a messy file of customers to explained groups, outliers, and labels for next month's file, with skrub and scikit-learn. Usage: job_skrub.py FILE NEXT OUT"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.impute import KNNImputer
from sklearn.metrics import silhouette_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, RobustScaler
from sklearn.tree import DecisionTreeClassifier, export_text
from skrub import ApplyToCols, Cleaner, TableVectorizer, ToFloat

# The measures, the skewed ones, and the columns with a currency or a per cent sign. A person saw this by looking at the file.
MEASURES = ["Umsatz", "Besuche", "Warenkorb", "Rabatt", "Antwortzeit", "Alter"]
SKEWED = ["Umsatz", "Besuche", "Warenkorb", "Antwortzeit"]


def read(path):
    table = pd.read_csv(path, sep=";", dtype=str, na_values=["-"])
    for sign in "€%":
        for name in MEASURES:
            table[name] = table[name].str.replace(sign, "").str.strip()
    table = ApplyToCols(ToFloat(decimal=",", thousand="."), cols=MEASURES).fit_transform(table)
    return Cleaner(datetime_format="%d.%m.%Y").fit_transform(table)


file, following, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
table = read(file)
logarithms = make_column_transformer((FunctionTransformer(np.log1p), SKEWED), ("passthrough", [name for name in MEASURES if name not in SKEWED]))
preparation = make_pipeline(logarithms, RobustScaler(), KNNImputer())
rows = preparation.fit_transform(table)

# Isolated rows should not pull a centre.
lof = LocalOutlierFactor(n_neighbors=20).fit(rows)
inner = lof.negative_outlier_factor_ > -3

models = {count: KMeans(count, n_init=10, random_state=0).fit(rows[inner]) for count in range(2, 11)}
scores = {count: silhouette_score(rows[inner], model.labels_, sample_size=2000, random_state=0) for count, model in models.items()}
model = models[max(scores, key=scores.get)]
labels = model.predict(rows)
pd.DataFrame({"id": table["Kundennr"], "cluster": labels}).to_csv(out / "labels.csv", index=False)

distance = model.transform(rows).min(axis=1)
far = np.argsort(-distance)
low, high = np.percentile(distance, [25, 75])
far = far[distance[far] > high + 3 * (high - low)]
pd.DataFrame({"id": table["Kundennr"].iloc[far], "distance": distance[far]}).to_csv(out / "outliers.csv", index=False)

# Explains the clusters by measures and categories alike, as features of equal variance.
others = TableVectorizer().fit_transform(table.drop(columns=["Kundennr", *MEASURES]))
features = pd.concat([pd.DataFrame(rows, columns=SKEWED + [name for name in MEASURES if name not in SKEWED]), others], axis=1)
effects = ((features.groupby(labels).mean() - features.mean()) / features.std()).T
effects.to_csv(out / "explained.csv")
for cluster in effects:
    print(cluster, effects[cluster].sort_values(key=np.abs, ascending=False).head(3).round(2).to_dict())
print(export_text(DecisionTreeClassifier(max_depth=3).fit(rows, labels), feature_names=list(features.columns[: len(MEASURES)])))

later = read(following)
print("columns that changed:", sorted(set(table.columns) ^ set(later.columns)))
pd.DataFrame({"id": later["Kundennr"], "cluster": model.predict(preparation.transform(later))}).to_csv(out / "next.csv", index=False)
