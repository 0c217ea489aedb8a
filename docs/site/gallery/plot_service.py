"""
A model behind a service
========================

A fitted model in a state that others can ask: over HTTP, from any language, with one answer for each request. Handlers are methods with annotations, so ``/openapi.json`` knows what they take.
"""

import matplotlib.pyplot as plt
import numpy as np

import lehr

wine = lehr.datasets.load_wine()
center, width = wine.data.mean(axis=0), wine.data.std(axis=0)
model = lehr.DAClustering(n_clusters=3).fit((wine.data - center) / width)


class Cellar(lehr.Service):
    """Says to which cluster a wine belongs, and counts what it was asked."""

    contract = "example.org/cellar"
    state = {"asked": [0, 0, 0]}

    @lehr.handler("update")
    def classify(self, measurements: list[float]) -> int:
        if len(measurements) != len(center):
            raise lehr.Fault("invalid_value", f"measurements: expected {len(center)}, found {len(measurements)}")
        cluster = int(model.predict([(np.array(measurements) - center) / width])[0])
        self.state["asked"][cluster] += 1
        return cluster


# %%
# Served on a port that is free; without ``port=0`` it is 8420. What does not fit is told by name, and changes nothing.
with lehr.serve(Cellar(), port=0) as server, lehr.Node(server.url) as node:
    for row in wine.data[::7]:
        node.submit("/cellar", "classify", {"measurements": row.tolist()})
    try:
        node.submit("/cellar", "classify", {"measurements": [1.0, "red"]})
    except lehr.Fault as fault:
        print(fault)
    asked = node.get("/cellar")["asked"]

figure, ax = plt.subplots(layout="constrained")
ax.bar(["0", "1", "2"], asked)
ax.set(xlabel="cluster", ylabel="wines that were asked for")
