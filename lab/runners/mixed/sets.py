"""Labelled tables of mixed types: invented customers, drawn sets with known groups, and real ones whose classes people named.

For each set there are two forms. Lehr gets the unchanged file without its class. The peers get the columns that a person takes for measures and for categories.
"""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

import customers

LAB = Path(__file__).resolve().parents[2]
GAPS = {"", "?", "NA", "N/A", "-"}
# If a measure above 0 has a higher skewness, the peers get its logarithm.
SKEWED = 2.0


@dataclass
class MixedSet:
    kind: str
    text: str
    names: list
    rows: list
    classes: list
    measures: list
    categories: list
    # The rows that are not judged: customers that were made extreme.
    left_out: set = field(default_factory=set)
    decimal: str = "."
    # The columns of numbers with leading zeros, which Lehr takes for codes and refuses in distances.
    codes: tuple = ()

    @property
    def groups(self):
        return len(set(self.classes))

    def frame(self):
        """Returns measures as numbers and categories as texts; missing values become medians or the most frequent text."""
        table = pd.DataFrame(self.rows, columns=self.names)
        made = {name: filled(numbers(table[name], self.decimal)) for name in self.measures}
        for name in self.categories:
            texts = table[name].str.strip()
            texts = texts.mask(texts.isin(GAPS))
            made[name] = texts.fillna(texts.mode()[0])
        return pd.DataFrame(made)


def numbers(texts, decimal):
    """Converts texts with signs of currency or per cent to numbers; of comma and point, the one that is not `decimal` separates thousands."""
    texts = texts.str.replace("." if decimal == "," else ",", "").str.replace(decimal, ".").str.strip(" \t€%")
    return pd.to_numeric(texts.mask(texts.isin(GAPS)), errors="coerce")


def filled(column):
    """Fills missing values, and takes the logarithm of a skewed column if all values are above 0."""
    # Whole numbers become floats too: prince would take them for categories.
    column = column.fillna(column.median()).astype(float)
    return np.log(column) if column.min() > 0 and column.skew() > SKEWED else column


def text_of(names, rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([names, *rows])
    return out.getvalue()


def without(names, rows, label):
    """Returns names and rows without one column, and that column."""
    at = names.index(label)
    return [*names[:at], *names[at + 1 :]], [[*row[:at], *row[at + 1 :]] for row in rows], [row[at].strip() for row in rows]


def of_file(path, label, categories, dropped=(), codes=()):
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = (row for row in csv.reader(file) if row)
    names, rows, classes = without(names, rows, label)
    measures = [name for name in names if name not in categories and name not in dropped]
    return MixedSet("classes", text_of(names, rows), names, rows, classes, measures, list(categories), codes=codes)


def of_customers():
    people, planted = customers.customers()
    names, *rows = customers.cells(people, is_german=True)
    text = customers.csv([names, *rows], is_german=True)
    groups = [customer.group for customer in people]
    return MixedSet("groups", text, names, rows, groups, customers.MEASURES, ["Land", "Notiz", "Mitglied"], set(planted), ",")


def drawn(seed, groups=3, rows=900, apart=0.0, clear=0.25, texts=4, measures=4, categories=4, skew=False, gaps=0.0):
    """Normal groups whose centres are `apart` deviations apart, with categories in which each group has a text of its own in a share `clear` of the rows."""
    draw = np.random.default_rng(seed)
    own = np.sort(draw.integers(0, groups, rows))
    centers = np.array([np.roll(np.arange(groups), shift) for shift in range(measures)]).T * apart
    values = centers[own] + draw.normal(size=(rows, measures))
    values = np.exp(values) if skew else values
    words = np.where(draw.uniform(size=(rows, categories)) < clear, own[:, None], draw.integers(0, texts, (rows, categories)))
    is_gap = draw.uniform(size=(rows, measures + categories)) < gaps
    names = [f"m{place}" for place in range(measures)] + [f"c{place}" for place in range(categories)]
    cells = [[f"{value:.3f}" for value in numbers] + [f"t{word}" for word in texts] for numbers, texts in zip(values, words)]
    cells = [["" if gap else cell for cell, gap in zip(line, lacks)] for line, lacks in zip(cells, is_gap)]
    return MixedSet("groups", text_of(names, cells), names, cells, own.tolist(), names[:measures], names[measures:])


def panel():
    yield "invented customers", of_customers()
    yield "drawn, measures and categories tell", drawn(11, apart=1.5, clear=0.6)
    yield "drawn, only measures tell", drawn(12, apart=3.0, clear=0.0)
    yield "drawn, only categories tell", drawn(13, apart=0.0, clear=0.8, categories=6)
    yield "drawn, skewed, with gaps", drawn(14, groups=4, rows=1200, apart=2.0, clear=0.5, skew=True, gaps=0.1)
    yield "heart disease", of_file(LAB / "mixed/heart.csv", "disease", ["sex", "chest_pain", "fasting_sugar_above_120", "ecg_at_rest", "angina_by_exercise", "slope", "thal"])
    yield "credit approval", of_file(LAB / "mixed/credit_approval.csv", "A16", ["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"], codes=("A14",))
    hepatitis = "sex steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen_palpable spiders ascites varices histology"
    yield "hepatitis, survival", of_file(LAB / "mixed/hepatitis_survival.csv", "class", hepatitis.split())
    german = "status_account credit_history purpose bonds employment personal_status_and_sex other_debtors property installment_plans housing job telephone foreign"
    yield "German credit", of_file(LAB / "mixed/german_credit.csv", "classification", german.split())
    kidney = "sg al su rbc pc pcc ba htn dm cad appet pe ane"
    yield "chronic kidney disease", of_file(LAB / "tables/kidney.csv", "classification", kidney.split(), ["id"])
    dropped = ["studyName", "Sample Number", "Region", "Stage", "Individual ID", "Date Egg", "Comments"]
    yield "penguins", of_file(LAB / "tables/penguins.csv", "Species", ["Island", "Clutch Completion", "Sex"], dropped)
