"""Ordinary tables in the package and in the command: the same labels, marks and outliers, in every notation of a table."""

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest
from ordinary_tables import ROWS, ordinary_table, write_workbook

import lehr


def _run(command, *arguments):
    ended = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended


def test_the_same_labels_marks_and_outliers_as_the_command(command, tmp_path):
    planted = ordinary_table(3)
    planted.loc[[3, 50], ["visits", "noise"]] = [[1e3, 0.0], [5.0, -1e3]]
    planted.to_csv(tmp_path / "table.csv", index=False)
    out = tmp_path / "out"
    _run(command, "cluster", tmp_path / "table.csv", "--auto", "--clusters", 3, "--out", out)
    read = lehr.read_table(tmp_path / "table.csv")
    preparation = lehr.TablePreparation()
    rows = preparation.fit_transform(read)
    weights = preparation.sample_weight(read)
    model = lehr.DAClustering(3).fit(rows, sample_weight=weights)
    assert pd.read_csv(out / "labels.csv")["cluster"].tolist() == model.labels_.tolist()
    centers = pd.read_csv(out / "centers.csv")[preparation.get_feature_names_out().tolist()]
    np.testing.assert_array_equal(centers, preparation.inverse_transform(model.cluster_centers_))
    explanation = model.explain(rows, table=read, log=preparation.log_, sample_weight=weights)
    marks = pd.read_csv(out / "marks.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(explanation.to_frame(), marks, check_dtype=False)
    summary = json.loads((out / "summary.json").read_text())
    accounts = preparation.columns_
    assert [account.name for account in accounts if account.is_used] == [column["name"] for column in summary["columns"] if column["is_used"]]
    assert [account.role for account in accounts] == [column["role"] for column in summary["columns"]]
    outliers = pd.read_csv(out / "outliers.csv")
    found = model.outliers(rows, labels=model.labels_, sample_weight=weights).to_frame()
    assert found["row"].tolist() == outliers["id"].tolist()
    np.testing.assert_array_equal(found[["distance", "score"]], outliers[["distance", "score"]])


def test_a_model_of_the_command_prepares_other_tables(command, tmp_path):
    ordinary_table(3).to_csv(tmp_path / "table.csv", index=False)
    ordinary_table(4).fillna({"visits": 5.0}).to_csv(tmp_path / "next.csv", index=False)
    _run(command, "cluster", tmp_path / "table.csv", "--auto", "--clusters", 3, "--id", "id", "--out", tmp_path / "out")
    _run(command, "predict", tmp_path / "out", tmp_path / "next.csv", "--out", tmp_path / "labels.csv")
    model = lehr.load(tmp_path / "out" / "model.json")
    assert model[0].get_feature_names_out().tolist() == ["revenue", "visits", "noise"] and model[0].missing_ == "skip"
    labels = pd.read_csv(tmp_path / "labels.csv")["cluster"]
    assert model.predict(lehr.read_table(tmp_path / "next.csv")).tolist() == labels.tolist()
    content = json.loads((tmp_path / "out" / "model.json").read_text())
    content["preparation"]["features"].pop()
    content.pop("checksum")  # or the file is refused as damaged, before its preparation is looked at
    (tmp_path / "cut.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="not a whole model: expected a preparation of 3 features"):
        lehr.load(tmp_path / "cut.json")


def _labels(path):
    """Returns the labels that the command wrote, with -1 for rows without a label."""
    return pd.read_csv(path)["cluster" if "cluster" in path.read_text() else "component"].fillna(-1).astype(int).tolist()


#: Runs of the command whose models handle missing values in different ways.
_OF_COMMAND = {
    "nearest": ("cluster", ["--auto", "--clusters", 3]),
    "median": ("cluster", ["--auto", "--clusters", 3, "--missing=median"]),
    "radius": ("cluster", ["--auto", "--clusters", 3, "--outlier-radius", 2.5]),
    "mixture": ("mixture", ["--auto", "--components", 2]),
}
_MEASURES = ["revenue", "visits", "noise"]


def _of_command(command, folder, run):
    """Returns a model of the command, and another table with missing values in which each row has a value."""
    method, options = _OF_COMMAND[run]
    ordinary_table(3).to_csv(folder / "table.csv", index=False)
    _run(command, method, folder / "table.csv", *options, "--id", "id", "--out", folder / "out")
    other = ordinary_table(4)
    other.loc[::3, "revenue"] = np.nan
    other.loc[5::7, "noise"] = np.nan
    other.loc[other[_MEASURES].isna().all(axis=1), "visits"] = 5.0
    return lehr.load(folder / "out" / "model.json"), other


@pytest.mark.parametrize("run", _OF_COMMAND)
def test_a_model_of_the_command_labels_rows_with_gaps_as_the_command_does(command, tmp_path, run):
    model, other = _of_command(command, tmp_path, run)
    other.to_csv(tmp_path / "next.csv", index=False)
    _run(command, "predict", tmp_path / "out", tmp_path / "next.csv", "--out", tmp_path / "labels.csv")
    expected = _labels(tmp_path / "labels.csv")
    assert len(set(expected)) > 1
    for table in (tmp_path / "next.csv", str(tmp_path / "next.csv"), lehr.read_table(tmp_path / "next.csv"), other):
        assert model.predict(table).tolist() == expected
    assert pickle.loads(pickle.dumps(model)).predict(tmp_path / "next.csv").tolist() == expected
    if run != "mixture":
        # The label is the nearest centre over the known values, or -1 if this centre is too far.
        distances = model.transform(other)
        radius = 2.5 if run == "radius" else np.inf
        assert np.where(distances.min(axis=1) > radius, -1, distances.argmin(axis=1)).tolist() == expected
    with pytest.raises(ValueError, match="contains NaN"):
        lehr.KMeans(1).fit(np.arange(3.0)[:, None]).predict([[np.nan]])


@pytest.mark.parametrize("run", _OF_COMMAND)
def test_a_row_without_any_value_has_no_label_as_by_the_command(command, tmp_path, run):
    model, other = _of_command(command, tmp_path, run)
    expected = model.predict(other)
    other.loc[[4, 10], _MEASURES] = np.nan
    expected[[4, 10]] = -1
    other.to_csv(tmp_path / "next.csv", index=False)
    said = _run(command, "predict", tmp_path / "out", tmp_path / "next.csv", "--out", tmp_path / "labels.csv").stderr
    assert "rows 5 and 11 have no value in any of the model's columns: no label is given" in said
    assert _labels(tmp_path / "labels.csv") == expected.tolist()
    for table in (tmp_path / "next.csv", other):
        with pytest.warns(UserWarning, match="rows 5 and 11 have no value in any of the model's columns"):
            assert model.predict(table).tolist() == expected.tolist()


#: The same table in every notation: how money, dates and missing values are written, and the separator of fields.
_LOCALES = {
    "us": (",", lambda money: f'"{money:,.2f}"', "%Y-%m-%d", ""),
    "german": (";", lambda money: f"{money:,.2f} €".translate(str.maketrans(",.", ".,")), "%d.%m.%Y", "-"),
    "french": (";", lambda money: f"{money:,.2f}".translate(str.maketrans(",.", "\u202f,")), "%d/%m/%Y", "n/a"),
}


def _one_table_in_all_forms(folder):
    rng = np.random.default_rng(7)
    group = np.arange(ROWS) % 2
    revenue = np.round(np.exp(rng.normal(5 + 3 * group, 0.8)), 2)
    visits = np.where(rng.random(ROWS) < 0.1, np.nan, np.round(rng.normal(5 + 8 * group, 1), 1))
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), unit="D")
    names, cities = [f"K{row:03}" for row in rng.permutation(ROWS)], [["Bern", "Genf", "Chur"][row % 3] for row in range(ROWS)]
    known = [None if np.isnan(number) else float(number) for number in visits]
    head = ["name", "city", "joined", "revenue", "visits"]
    for name, (between, money, date, gap) in _LOCALES.items():
        decimal = "." if name == "us" else ","
        lines = [between.join(head)]
        for row in zip(names, cities, days.strftime(date), revenue, known):
            last = gap if row[4] is None else str(row[4]).replace(".", decimal)
            lines.append(between.join([*row[:3], money(row[3]), last]))
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    dates = days.strftime("%Y-%m-%d").tolist()
    rows = [dict(zip(head, row)) for row in zip(names, cities, dates, revenue.tolist(), known)]
    write_workbook(folder / "book.xlsx", "customers", [head, *(list(row.values()) for row in rows)])
    (folder / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(rows).with_columns(pl.col("joined").str.to_date()).write_parquet(folder / "columns.parquet")
    np.save(folder / "numbers.npy", np.column_stack([revenue, visits]))
    return sorted(folder.iterdir())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_table_has_the_same_labels_in_every_form_and_at_every_front_end(command, tmp_path):
    pytest.importorskip("httpx")
    (tmp_path / "tables").mkdir()
    files = _one_table_in_all_forms(tmp_path / "tables")
    assert len(files) == 7
    found = {}
    with subprocess.Popen([command, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as serving, lehr.Node(serving.stdout.readline().strip()) as node:
        try:
            for file in files:
                id = [] if file.suffix == ".npy" else ["--id", "name"]
                out = tmp_path / f"of {file.name}"
                _run(command, "cluster", file, "--auto", "--clusters", 3, *id, "--out", out)
                labels = pd.read_csv(out / "labels.csv")
                found[file.name, "command"] = labels[["cluster", "probability", "distance"]].to_numpy().tobytes()
                read = lehr.read_table(file)
                preparation = lehr.TablePreparation()
                rows = preparation.fit_transform(read)
                model = lehr.DAClustering(3).fit(rows, sample_weight=preparation.sample_weight(read))
                assert model.labels_.tolist() == labels["cluster"].tolist(), file.name
                node.upload(file, file.stem, format="table", replace=True)
                job = node.run("/clustering", file.stem, clusters=3, auto=True, **({"id": "name"} if id else {}))
                assert job.wait(timeout=120)["state"] == "done", job.record()
                assert job.table("labels")["cluster"].tolist() == labels["cluster"].tolist(), file.name
        finally:
            serving.terminate()
    assert len(set(found.values())) == 1, [name for name, of in found.items() if of != found["us.csv", "command"]]
    # A model labels the table from which it was made, in any notation.
    said = set()
    for file in files:
        model = tmp_path / f"of {file.name}"
        _run(command, "predict", model, file, "--out", tmp_path / "labels.csv")
        labels = pd.read_csv(tmp_path / "labels.csv")
        said.add(labels.drop(columns="id").to_numpy().tobytes())
        learnt = lehr.load(model / "model.json")
        assert learnt.predict(file).tolist() == learnt.predict(lehr.read_table(file)).tolist() == labels["cluster"].tolist(), file.name
    assert len(said) == 1
