"""
Clusters of an ordinary table
=============================

Measurements of 224 penguins, with texts, dates and missing values. The clusters come from the measurements; the pictures show them by all columns of the table, whether distances used them or not.
"""

import lehr

table = lehr.read_table("../../../datasets/penguins/penguins.csv")
preparation = lehr.TablePreparation(exclude=["Sample Number"])
Z = preparation.fit_transform(table)
model = lehr.DAClustering(3).fit(Z)

# %%
# How do the clusters differ? A z-score of 1 is a mean one standard deviation above that of all rows. Of a text, such as a species, it says the same of its share.
lehr.plot.profiles(model, table)

# %%
# How much do the values spread within each cluster?
measures = ["Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"]
lehr.plot.box_plots(model, table, columns=measures)

# %%
# The measurements of a penguin are one line. Thick lines join the medians of the clusters.
lehr.plot.parallel_coordinates(model, table[measures])

# %%
# Which penguins lie between clusters? Their silhouettes are near 0.
lehr.plot.silhouettes(model, Z)
