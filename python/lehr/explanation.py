"""The results of ``explain`` and ``outliers``: how clusters differ, and which rows are outliers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from lehr._names import listed

__all__ = ["Explanation", "Mark", "Outlier", "Outliers", "Portrait", "Rule"]
__dir__ = listed(__all__)

#: The maximum number of marks that are shown for a cluster.
_TOLD = 3
#: The maximum number of outliers that are shown.
_SHOWN = 20


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


@dataclass(frozen=True)
class Mark:
    """A column, or one text of a category, in which a cluster differs from the whole data.

    Attributes
    ----------
    column : str
        The column.
    level : str or None
        The text, if the column is a category.
    inside, overall : float
        The means in the cluster and in all rows. For the columns in ``log`` these are geometric means, for dates seconds since 1970, and for a text its share.
    test_value : float
        The difference in standard deviations of a normal distribution (*valeur-test*, as in ``catdes`` of FactoMineR). The test value is positive if the
        cluster has the higher mean or share.
    probability : float
        The two-sided p-value of the difference, multiplied by the number of comparisons (Bonferroni), at most 1.
    effect : float
        Cohen's d for numbers, Cohen's h for shares: 0.2 is small, 0.5 medium, 0.8 large.
    words : str
        The difference in words.

    Examples
    --------
    >>> import lehr
    >>> X = [[float(row % 3 + 100 * (row // 20))] for row in range(40)]
    >>> lehr.KMeans(2, random_state=0).fit(X).explain(X)[0].marks[0].column
    'x0'
    """

    column: str
    level: str | None
    inside: float
    overall: float
    test_value: float
    probability: float
    effect: float
    words: str


@dataclass
class Portrait:
    """The description of one cluster: its name, its marks, and some of its rows.

    Attributes
    ----------
    name : str
        A name made from the columns with the largest effects. You can replace it with your own.
    rows : int
        The number of rows in the cluster.
    marks : tuple of Mark
        The columns and texts in which the cluster differs significantly, with an effect of at least 0.2, sorted by decreasing effect.
    typical_row : int or None
        The position of the row that is nearest to the centre. ``None`` if distances are not known, or the cluster has no rows.
    extreme_rows : tuple of int
        The positions of up to three rows that are farthest from the centre.

    Examples
    --------
    >>> import lehr
    >>> X = [[float(row % 3 + 100 * (row // 20))] for row in range(40)]
    >>> portrait = lehr.KMeans(2, random_state=0).fit(X).explain(X)[0]
    >>> portrait.name = "my favourites"
    >>> portrait.rows
    20
    """

    name: str
    rows: int
    marks: tuple[Mark, ...]
    typical_row: int | None
    extreme_rows: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A rule of the decision tree that reproduces the labels.

    Attributes
    ----------
    conditions : tuple of str
        The conditions that all rows of the rule meet, such as ``'revenue > 812'``.
    cluster : int
        The cluster of most rows that meet the conditions.
    rows : int
        The number of rows that meet the conditions.
    purity : float
        The share of these rows that are in ``cluster``.

    Examples
    --------
    >>> import lehr
    >>> X = [[float(row % 3 + 100 * (row // 20))] for row in range(40)]
    >>> print(lehr.KMeans(2, init=[[0.0], [100.0]]).fit(X).explain(X).rules[0])
    x0 <= 50: cluster 0 (20 rows, 100 %)
    """

    conditions: tuple[str, ...]
    cluster: int
    rows: int
    purity: float

    def __str__(self) -> str:
        return f"{' and '.join(self.conditions) or 'always'}: cluster {self.cluster} ({_counted(self.rows, 'row')}, {100 * self.purity:.0f} %)"


class Explanation(Sequence[Portrait]):
    """The differences between clusters: a sequence with a :class:`Portrait` for each cluster. Printing it shows a line for each cluster and for the rules.

    Parameters
    ----------
    clusters : sequence of Portrait
        The portraits of the clusters, in the order of their numbers.
    rules : sequence of Rule
        The rules of a decision tree that reproduces the labels; empty if there is only one cluster or no column.
    accuracy : float or None
        The share of rows whose cluster the rules reproduce.
    comparisons : int
        The number of tested differences.

    Attributes
    ----------
    clusters, rules, accuracy, comparisons
        As given.

    Examples
    --------
    >>> import lehr
    >>> table = {"visits": [1.0, 2.0, 3.0] * 10 + [21.0, 22.0, 23.0] * 10, "plan": ["basic"] * 30 + ["gold"] * 30}
    >>> rows = [[visits] for visits in table["visits"]]
    >>> explanation = lehr.KMeans(2, init=[[0.0], [20.0]]).fit(rows).explain(rows, table=table)
    >>> explanation
    0: low visits, plan basic (30 rows): visits 2 (all 12); plan = basic 100 % (all 50 %); plan = gold 0 % (all 50 %)
    1: high visits, plan gold (30 rows): visits 22 (all 12); plan = basic 0 % (all 50 %); plan = gold 100 % (all 50 %)
    2 rules repeat 100 % of the labels
    >>> explanation.to_frame()[["cluster", "column", "text"]].values.tolist()[0]
    [0, 'visits', '']
    """

    def __init__(self, clusters: Sequence[Portrait], rules: Sequence[Rule], accuracy: float | None, comparisons: int) -> None:
        self.clusters, self.rules = tuple(clusters), tuple(rules)
        self.accuracy, self.comparisons = accuracy, comparisons

    @classmethod
    def _of(cls, told: dict[str, Any], *, is_placed: bool) -> Explanation:
        """Converts the result of the Rust extension. ``is_placed`` says whether the distances of rows from their centres were known."""

        def portrait(of: dict[str, Any]) -> Portrait:
            marks = tuple(Mark(**{"level": None, **mark}) for mark in of["marks"])
            typical = of["typical_row"] if is_placed and of["rows"] else None
            return Portrait(of["name"], of["rows"], marks, typical, tuple(of["extreme_rows"]) if is_placed else ())

        tree = told.get("tree") or {"rules": [], "accuracy": None}
        rules = [Rule(**{**rule, "conditions": tuple(rule["conditions"])}) for rule in tree["rules"]]
        return cls([portrait(of) for of in told["clusters"]], rules, tree["accuracy"], told["comparisons"])

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[Portrait]:
        return iter(self.clusters)

    @overload
    def __getitem__(self, key: int) -> Portrait: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Portrait, ...]: ...
    def __getitem__(self, key: int | slice) -> Portrait | tuple[Portrait, ...]:
        return self.clusters[key]

    def __repr__(self) -> str:
        lines = []
        for number, portrait in enumerate(self.clusters):
            marks = "; ".join(mark.words for mark in portrait.marks[:_TOLD]) or "nothing sets it apart"
            lines.append(f"{number}: {portrait.name} ({_counted(portrait.rows, 'row')}): {marks}")
        if self.accuracy is not None:
            verb = "repeats" if len(self.rules) == 1 else "repeat"
            lines.append(f"{_counted(len(self.rules), 'rule')} {verb} {100 * self.accuracy:.3g} % of the labels")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the marks as a table, with the columns of the command's ``marks.csv``.

        Returns
        -------
        pandas.DataFrame
            A row for each mark: ``cluster``, ``name``, ``column``, ``text`` (empty for numbers), ``inside``, ``overall``, ``test_value``, ``probability``,
            ``effect``.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        See :class:`Explanation`.
        """
        import pandas

        marks = [(number, portrait, mark) for number, portrait in enumerate(self.clusters) for mark in portrait.marks]
        columns: dict[str, list[Any]] = {
            "cluster": [number for number, _, _ in marks],
            "name": [portrait.name for _, portrait, _ in marks],
            "column": [mark.column for *_, mark in marks],
            "text": [mark.level or "" for *_, mark in marks],
        }
        for name in ("inside", "overall", "test_value", "probability", "effect"):
            columns[name] = [getattr(mark, name) for *_, mark in marks]
        return pandas.DataFrame(columns)


@dataclass(frozen=True)
class Outlier:
    """A row that is an outlier.

    Attributes
    ----------
    row : int
        The row's position, from 0.
    cluster : int
        The nearest cluster, leaving out clusters with very few rows.
    distance : float
        The distance from the centre of that cluster, in the unit of the rows.
    score : float
        The distance, divided by the cluster's threshold for outliers; above 1.
    columns : tuple of (str, float)
        Up to three columns that contribute most to the squared distance, at least 5 % each, with their shares.

    Examples
    --------
    >>> import lehr
    >>> X = [[float(row % 7), float(row % 5)] for row in range(70)] + [[3.0, 50.0]]
    >>> lehr.KMeans(1).fit(X).outliers(X)[0].columns[0][0]
    'x1'
    """

    row: int
    cluster: int
    distance: float
    score: float
    columns: tuple[tuple[str, float], ...]


class Outliers(Sequence[Outlier]):
    """The outliers, sorted by decreasing score. Printing them shows a line for each of the first 20 outliers.

    Parameters
    ----------
    rows : sequence of Outlier
        The outliers, by decreasing score.
    radius : float
        The distance from the centre beyond which a row of a typical cluster is an outlier, in the unit of the rows. A :class:`DAClustering` with this
        ``outlier_radius`` leaves out roughly the same rows.
    n_samples : int
        The number of examined rows.

    Attributes
    ----------
    rows, radius, n_samples
        As given.

    Examples
    --------
    >>> import lehr
    >>> X = [[float(row % 7), float(row % 5)] for row in range(70)] + [[3.0, 50.0]]
    >>> outliers = lehr.KMeans(1).fit(X).outliers(X)
    >>> [outlier.row for outlier in outliers]
    [70]
    >>> outliers.to_frame()["cluster"].tolist()
    [0]
    """

    def __init__(self, rows: Sequence[Outlier], radius: float, n_samples: int) -> None:
        self.rows, self.radius, self.n_samples = tuple(rows), radius, n_samples

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Outlier]:
        return iter(self.rows)

    @overload
    def __getitem__(self, key: int) -> Outlier: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Outlier, ...]: ...
    def __getitem__(self, key: int | slice) -> Outlier | tuple[Outlier, ...]:
        return self.rows[key]

    def __repr__(self) -> str:
        if not self.rows:
            return f"none of {self.n_samples} rows is far out for its cluster"
        of_rows = f"{len(self)} of {self.n_samples} rows {'is far out for its' if len(self) == 1 else 'are far out for their'} cluster"
        lines = [f"{of_rows} (from the centre of a typical one: more than {self.radius:.3g})"]
        lines += [
            f"row {outlier.row}: {outlier.distance:.3g} from cluster {outlier.cluster}, score {outlier.score:.3g}, by {_responsible(outlier)}"
            for outlier in self.rows[:_SHOWN]
        ]
        if len(self) > _SHOWN:
            lines.append(f"and {len(self) - _SHOWN} more")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the outliers as a table, with the columns of the command's ``outliers.csv``.

        Returns
        -------
        pandas.DataFrame
            A row for each outlier: ``row``, ``cluster``, ``distance``, ``score``, and ``columns`` as text.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        See :class:`Outliers`.
        """
        import pandas

        columns = {name: np.array([getattr(outlier, name) for outlier in self.rows]) for name in ("row", "cluster", "distance", "score")}
        return pandas.DataFrame({**columns, "columns": [_responsible(outlier) for outlier in self.rows]})


def _responsible(outlier: Outlier) -> str:
    return "; ".join(f"{name} ({100 * share:.0f} %)" for name, share in outlier.columns)
