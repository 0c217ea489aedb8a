"""
A model behind a service
========================

A service answers questions about a fitted model over HTTP, from any language. Handlers are methods with type annotations, so ``/openapi.json`` describes them.
"""

import matplotlib.pyplot as plt
import numpy as np

import lehr

wine = lehr.datasets.load_wine()
center, width = wine.data.mean(axis=0), wine.data.std(axis=0)
model = lehr.DAClustering(n_clusters=3).fit((wine.data - center) / width)


class Cellar(lehr.Service):
    """Say to which cluster a wine belongs, and count the answers."""

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
# ``port=0`` takes a free port; the default is 8420. A request that doesn't fit is refused with the name of the field, and changes nothing.
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
ax.set(xlabel="cluster", ylabel="wines classified")
