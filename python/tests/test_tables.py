"""Ordinary tables: how they are read, described and prepared, and how their clusters are explained."""

import datetime
import io
import json
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from ordinary_tables import ROWS, ordinary_table, write_workbook
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

import lehr


@pytest.fixture(scope="module")
def table():
    return ordinary_table()


# What columns are.


def test_roles_of_columns_and_their_reasons(table):
    accounts = lehr.describe_columns(table)
    assert [account.name for account in accounts] == list(table.columns) and len(accounts) == 10
    assert {account.name: account.role for account in accounts} == {
        "id": "id", "revenue": "measure", "visits": "measure", "noise": "measure", "plan": "category", "member": "category", "joined": "date",
        "same": "constant", "empty": "empty", "again": "duplicate",
    }  # fmt: skip
    assert accounts["again"].duplicate_of == "noise" and "identifiers" in accounts["id"].reason
    assert accounts["joined"].low == np.datetime64(table["joined"].min()) and accounts["joined"].read_as == "date, year-month-day"
    counts = table["plan"].value_counts()
    assert dict(accounts["plan"].levels) == counts.to_dict() and accounts["plan"].distinct == 2
    assert accounts[1:3] == (accounts["revenue"], accounts["visits"])
    with pytest.raises(KeyError):
        accounts["none"]


def test_facts_are_those_of_numpy_and_scipy(table):
    accounts = lehr.describe_columns(table)
    for name in ("revenue", "visits", "noise"):
        values = table[name].dropna().to_numpy()
        account = accounts[name]
        assert (account.rows, account.missing, account.distinct) == (ROWS, ROWS - len(values), len(np.unique(values)))
        assert (account.low, account.high) == (values.min(), values.max())
        found = [account.median, account.mean, account.deviation, account.skewness]
        np.testing.assert_allclose(found, [np.median(values), values.mean(), values.std(), stats.skew(values)], rtol=1e-10)
    np.testing.assert_allclose(accounts["revenue"].log_skewness, stats.skew(np.log(table["revenue"])), rtol=1e-8)
    assert accounts["noise"].log_skewness is None and accounts["noise"].dominant is None


def test_few_rows_that_make_the_variance_are_counted():
    values = np.arange(1000.0) % 10
    values[[3, 500]] = 1e6, -1e6
    rows, share = lehr.describe_columns(values[:, None])["x0"].dominant
    squares = np.sort(np.square(values - values.mean()))[::-1]
    assert rows == 2
    np.testing.assert_allclose(share, squares[:2].sum() / squares.sum())


def test_the_account_is_a_line_a_column_and_a_frame(table):
    accounts = lehr.describe_columns(table)
    lines = repr(accounts).splitlines()
    assert len(lines) == 11 and lines[0].split() == ["column", "role", "read", "as", "missing", "range", "use"]
    place = lines[0].index("role")
    assert all(line[place - 1] == " " and line[place] != " " and line.startswith(account.name) for line, account in zip(lines[1:], accounts))
    frame = accounts.to_frame()
    assert frame.loc["revenue", "median"] == table["revenue"].median() and frame.loc["plan", "role"] == "category"
    assert pickle.loads(pickle.dumps(accounts)) == accounts and hash(accounts) == hash(lehr.describe_columns(table))


def _as_polars(table):
    return pl.DataFrame({name: pl.Series(name, table[name].to_list(), strict=False) for name in table})


def test_tables_of_all_kinds_have_the_same_account(table):
    expected = lehr.describe_columns(table)
    plain = {name: table[name].to_numpy() for name in table}
    kinds = {
        "dictionary of arrays": plain,
        "dictionary of lists": {name: table[name].astype(object).where(table[name].notna(), None).tolist() for name in table},
        "objects": table.astype(object),
        "pandas' own types": table.convert_dtypes(),
        "categories": table.assign(plan=table["plan"].astype("category")),
        "polars": _as_polars(table),
        "structured array": table[["id", "revenue", "visits", "noise"]].to_records(index=False),
    }
    for kind, other in kinds.items():
        found = lehr.describe_columns(other)
        for account in found:
            wanted = expected[account.name]
            if account.name in ("empty", "joined"):
                assert (account.role, account.low, account.high) == (wanted.role, wanted.low, wanted.high), kind
            else:
                assert account == wanted, (kind, account, wanted)
        assert len(found) == len(expected) or kind == "structured array"


def test_tables_of_arrow_have_the_same_account(table):
    pa = pytest.importorskip("pyarrow")
    assert repr(lehr.describe_columns(pa.Table.from_pandas(table.drop(columns="empty")))) == repr(lehr.describe_columns(table.drop(columns="empty")))


def test_values_of_python_are_numbers_times_and_texts():
    from decimal import Decimal

    accounts = lehr.describe_columns(
        {
            "decimal": [Decimal("1.5"), None, Decimal("2.5")],
            "day": [datetime.date(2024, 2, 29), None, datetime.date(2023, 1, 1)],
            "time": [datetime.datetime(1970, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))), None, datetime.datetime(1970, 1, 2)],
            "clock": [datetime.time(0, 1), datetime.time(1, 0), None],
            "span": [datetime.timedelta(days=1), datetime.timedelta(0), None],
            "mixed": ["a", 1, None],
        }
    )
    assert (accounts["decimal"].low, accounts["decimal"].missing) == (1.5, 1)
    assert accounts["day"].high == np.datetime64("2024-02-29") and accounts["time"].low == np.datetime64("1970-01-01")
    assert (accounts["clock"].high, accounts["clock"].read_as, accounts["span"].high) == (3600.0, "time of day", 86400.0)
    assert dict(accounts["mixed"].levels) == {"a": 1, "1": 1}


def test_periods_and_zones_are_times():
    periods = pd.Series(pd.period_range("2024-01", periods=3, freq="M"))
    zoned = pd.Series(pd.to_datetime(["2024-01-01 01:00", "2024-06-01 02:00", None])).dt.tz_localize("Europe/Zurich")
    accounts = lehr.describe_columns(pd.DataFrame({"month": periods, "at": zoned}))
    assert accounts["month"].high == np.datetime64("2024-03-01")
    assert accounts["at"].low == np.datetime64("2024-01-01T00:00") and accounts["at"].missing == 1


@pytest.mark.parametrize(
    ("X", "kind", "words"),
    [
        ({"a": [1.0, np.inf]}, ValueError, "row 1.*\"a\".*expected a finite number, found inf"),
        ({"a": [1.0], "b": [1.0, 2.0]}, ValueError, "expected 1 rows"),
        ({"a": []}, ValueError, "0 samples"),
        ({}, ValueError, "0 features"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "several columns of one name: a"),
        ({"a": [[1.0, 2.0]]}, ValueError, "expected one value a row"),
        ([1.0, 2.0], ValueError, "Expected 2D array"),
        (csr_array(np.eye(3)), TypeError, "[Ss]parse"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
    ],
    ids=lambda value: None,
)
def test_what_is_no_table_is_refused(X, kind, words):
    with pytest.raises(kind, match=words):
        lehr.describe_columns(X)


# Reading.

KUNDEN = "Kunde;Umsatz;seit;Newsletter;Ort\nA;1.818,99 €;23.04.2021;ja;Bern\nB;n/a;02.12.2023;nein;Basel\nC;12,50 €;31.01.2022;ja;\n"


def test_a_table_is_read_as_people_have_it(tmp_path):
    (tmp_path / "kunden.csv").write_text(KUNDEN, encoding="utf-8")
    read = lehr.read_table(tmp_path / "kunden.csv")
    assert read["Umsatz"].tolist()[::2] == [1818.99, 12.5] and np.isnan(read["Umsatz"][1])
    assert read["seit"].tolist() == [pd.Timestamp("2021-04-23"), pd.Timestamp("2023-12-02"), pd.Timestamp("2022-01-31")]
    assert read["Newsletter"].dtype == bool and read["Newsletter"].tolist() == [True, False, True]
    assert read["Ort"].tolist()[:2] == ["Bern", "Basel"] and read["Ort"].isna().tolist() == [False, False, True]
    assert read.attrs["lehr"]["columns"]["Umsatz"]["currency"] == "€" and read.attrs["lehr"]["dialect"]["delimiter"] == ";"
    json.dumps(read.attrs)
    accounts = lehr.describe_columns(read)
    assert accounts["Umsatz"].read_as == "number, decimal ',', thousands '.', €"
    assert accounts["Newsletter"].read_as == 'yes or no ("ja" is 1, "nein" is 0)'
    # A column with new values is described by these values.
    assert lehr.describe_columns(read.assign(seit=[1.0, 2.0, 4.0]))["seit"].read_as == "number"


def test_text_bytes_and_files_are_read_alike(tmp_path):
    path = tmp_path / "kunden.csv"
    path.write_text(KUNDEN, encoding="utf-8")
    expected = lehr.read_table(str(path))
    with open(path, "rb") as file:
        others = [lehr.read_table(io.StringIO(KUNDEN)), lehr.read_table(KUNDEN.encode()), lehr.read_table(io.BytesIO(KUNDEN.encode())), lehr.read_table(file)]
    for other in others:
        pd.testing.assert_frame_equal(other, expected)


@pytest.mark.thread_unsafe(reason="all threads share the filters of warnings")
def test_what_is_decided_is_told_and_can_be_overridden():
    ambiguous = b"a;b\n1,234;x\n5,678;y\n"
    with pytest.warns(UserWarning, match="a"):
        lehr.read_table(ambiguous)
    assert lehr.read_table(ambiguous, decimal=",")["a"].tolist() == [1.234, 5.678]
    assert lehr.read_table(ambiguous, decimal=".")["a"].tolist() == [1234.0, 5678.0]
    dates = b"d\n3/4/2021\n5/6/2021\n"
    assert lehr.read_table(dates, dates="day_first")["d"][0] == pd.Timestamp("2021-04-03")
    assert lehr.read_table(dates, dates="month_first")["d"][0] == pd.Timestamp("2021-03-04")
    assert lehr.read_table(b"a,b\n-999,1\n5,2\n", missing="-999")["a"].isna().tolist() == [True, False]
    assert lehr.read_table(b"a,b\n1,1\n5,2\n", text=["a"])["a"].tolist() == ["1", "5"]
    codes = b"a,b\n00042,1\n00007,2\n"
    assert lehr.read_table(codes, number="a")["a"].tolist() == [42.0, 7.0]
    with pytest.warns(UserWarning, match="begins with a 0"):
        assert lehr.read_table(codes)["a"].tolist() == ["00042", "00007"]
    for wrong in ({"text": "c"}, {"number": ["a", "c"]}):
        with pytest.raises(ValueError, match='expected a column "c", found the columns'):
            lehr.read_table(codes, **wrong)
    assert lehr.read_table(b"1,2\n3,4\n", header=False).shape == (2, 2)
    assert lehr.read_table(b"a title\nx|y\n1|2\n3|4\n", skip_lines=1, delimiter="|").columns.tolist() == ["x", "y"]
    assert lehr.read_table("a,b\nZürich,1\nBern,2\n".encode("latin-1"), encoding="latin-1")["a"][0] == "Zürich"
    with pytest.warns(UserWarning, match="Windows-1252"):
        lehr.read_table("a,b\nZürich,1\nBern,2\n".encode("latin-1"))


def test_a_sheet_of_a_workbook_is_read(tmp_path):
    write_workbook(tmp_path / "people.xlsx", "people", [["age"], [41], [37]])
    for sheet in (None, 1, "people"):
        assert lehr.read_table(tmp_path / "people.xlsx", sheet=sheet)["age"].tolist() == [41.0, 37.0]


@pytest.mark.thread_unsafe(reason="other threads import pandas meanwhile")
def test_without_pandas_a_table_is_its_columns(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    read = lehr.read_table(KUNDEN.encode())
    assert read["Umsatz"][0] == 1818.99 and read["seit"].dtype == "datetime64[us]" and read["Ort"].tolist() == ["Bern", "Basel", None]
    assert lehr.describe_columns(read)["seit"].role == "date"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decimal": ";"}, "'decimal' parameter must be one of '.', ','"),
        ({"dates": "dmy"}, "'dates' parameter"),
        ({"encoding": "utf-7"}, "'encoding' parameter"),
        ({"encoding": "none"}, "'encoding' parameter"),
        ({"delimiter": ";;"}, "'delimiter' parameter must be one ASCII character"),
        ({"skip_lines": -1}, "'skip_lines' parameter"),
        ({"missing": [1]}, "'missing' parameter"),
    ],
)
def test_options_that_cannot_be_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        lehr.read_table(KUNDEN.encode(), **options)


def test_faults_of_a_file_are_told_with_their_lines(tmp_path):
    with pytest.raises(ValueError, match="line 3"):
        lehr.read_table(b"a,b\n1,2\n1,2,3\n4,5\n6,7\n")
    with pytest.raises(FileNotFoundError):
        lehr.read_table(tmp_path / "none.csv")


# Preparing.


def test_what_is_chosen_has_a_reason(table):
    preparation = lehr.TablePreparation().fit(table)
    assert preparation.get_feature_names_out().tolist() == ["revenue", "visits", "noise"]
    assert (preparation.scale_, preparation.missing_, preparation.log_) == ("robust", "nearest", {"revenue": 0.0})
    accounts = preparation.columns_
    assert [account.name for account in accounts if account.is_used] == ["revenue", "visits", "noise"]
    assert accounts["revenue"].use.startswith("logarithm") and accounts["again"].use == "the same values as noise"
    assert "`columns`" in accounts["plan"].use and "--" not in repr(accounts)
    assert preparation.notes_ == [f"filled {table['visits'].isna().sum()} missing values, by missing='nearest'"]


def test_logarithms_are_taken_where_they_remove_skew():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=500)
    table = {"log": np.exp(normal), "even": normal, "left": -np.exp(normal), "zeros": np.floor(np.exp(2 * normal)), "shares": np.where(normal < 0, 0, np.exp(2 * normal))}
    preparation = lehr.TablePreparation().fit(table)
    least = table["shares"][table["shares"] > 0].min()

    def is_skewed(values, offset):
        skewness = stats.skew(values)
        return values.min() >= 0 and skewness >= 1.5 and abs(stats.skew(np.log(values + offset))) <= skewness / 2

    offsets = {"log": 0.0, "even": 0.0, "left": 0.0, "zeros": 1.0, "shares": least}
    expected = {name: offsets[name] for name in table if is_skewed(table[name], offsets[name])}
    assert preparation.log_ == expected and {"log", "zeros"} <= expected.keys()
    assert lehr.TablePreparation(auto=False).fit(table).log_ == {}
    assert lehr.TablePreparation(auto=False, log=["log"]).fit(table).log_ == {"log": 0.0}


def test_columns_are_scaled_as_by_scikit_learn(table):
    values = table[["revenue", "noise"]].to_numpy()
    options = {"columns": ["revenue", "noise"], "auto": False}
    np.testing.assert_allclose(lehr.TablePreparation(**options, scale="std").fit_transform(table), StandardScaler().fit_transform(values), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(lehr.TablePreparation(**options).fit_transform(table), values)
    # For 200 rows, these quartiles are halfway between two values, unlike NumPy's default quartiles.
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0, method="averaged_inverted_cdf")
    np.testing.assert_allclose(lehr.TablePreparation(**options, scale="robust").fit_transform(table), (values - middle) / (high - low), rtol=1e-12)
    assert RobustScaler().fit(values).center_.tolist() == middle.tolist()
    logs = lehr.TablePreparation(**options, log=["revenue"]).fit_transform(table)
    np.testing.assert_allclose(logs[:, 0], np.log(values[:, 0]), rtol=1e-14)


def test_missing_values_are_treated_as_asked(table):
    options = {"columns": ["revenue", "visits", "noise"], "auto": False, "scale": "none"}
    gaps = table["visits"].isna().to_numpy()
    visits = table["visits"].to_numpy()

    def found(missing):
        return lehr.TablePreparation(**options, missing=missing).fit_transform(table)[:, 1]

    assert np.isnan(found("skip")[gaps]).all() and (found("median")[gaps] == np.median(visits[~gaps])).all()
    rounded = table.assign(visits=table["visits"].round())
    mode = lehr.TablePreparation(**options, missing="mode").fit_transform(rounded)[gaps, 1]
    assert (mode == rounded["visits"].mode()[0]).all()
    # The median of the five nearest rows with a value, by the columns that both rows have.
    apart = nan_euclidean_distances(table.loc[gaps, options["columns"]], table.loc[~gaps, options["columns"]])
    nearest = np.sort(visits[~gaps][np.argsort(apart, axis=1)[:, :5]], axis=1)[:, 2]
    np.testing.assert_allclose(found("nearest")[gaps], nearest, rtol=1e-12)
    with pytest.raises(ValueError, match='"visits".*expected a value, found none'):
        lehr.TablePreparation(**options).fit(table)
    with pytest.raises(ValueError, match="cannot be 'drop'.*dropna"):
        lehr.TablePreparation(missing="drop").fit(table)
    # The features of a row of another table do not depend on the other rows.
    fitted = lehr.TablePreparation(**options, missing="nearest").fit(table)
    assert (fitted.transform(table)[gaps, 1] == np.median(visits[~gaps])).all()


def test_a_category_weighs_as_one_column(table):
    preparation = lehr.TablePreparation(columns=["plan", "noise"], scale="std")
    features = preparation.fit_transform(table)
    most, least = table["plan"].value_counts().index
    assert preparation.get_feature_names_out().tolist() == [f"plan = {most}", f"plan = {least}", "noise"]
    np.testing.assert_allclose(features.var(axis=0)[:2].sum(), features.var(axis=0)[2], rtol=1e-10)
    shares = preparation.inverse_transform(features)[:, :2]
    np.testing.assert_allclose(shares, np.column_stack([table["plan"] == most, table["plan"] == least]), atol=1e-12)


def test_features_go_back_to_the_units_of_the_columns(table):
    table = table.fillna({"visits": 5.0})
    preparation = lehr.TablePreparation(columns=["revenue", "joined", 2], auto=True)
    back = preparation.inverse_transform(preparation.fit_transform(table))
    days = (table["joined"] - pd.Timestamp(0)).dt.days
    np.testing.assert_allclose(back, np.column_stack([table["revenue"], days, table["visits"]]), rtol=1e-9)
    with pytest.raises(ValueError, match="expected 3 columns, one a feature, found 2"):
        preparation.inverse_transform(np.zeros((1, 2)))


def test_only_categories_are_used_where_there_is_no_measure():
    preparation = lehr.TablePreparation().fit({"city": ["Bern", "Basel"] * 10})
    assert preparation.get_feature_names_out().tolist() == ["city = Basel", "city = Bern"]


@pytest.mark.thread_unsafe(reason="all threads share the filters of warnings")
def test_other_tables_are_told_by_name(table):
    preparation = lehr.TablePreparation(columns=["visits", "plan"], missing="median").fit(table)
    expected = preparation.transform(table)
    np.testing.assert_array_equal(preparation.transform(table[table.columns[::-1]]), expected)
    np.testing.assert_array_equal(preparation.transform(_as_polars(table)), expected)
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- plan"):
        preparation.transform(table.drop(columns="plan"))
    with pytest.warns(UserWarning, match="not there before, which are not used: age"):
        np.testing.assert_array_equal(preparation.transform(table.assign(age=1.0)), expected)
    with pytest.warns(UserWarning, match="there before and not used: noise, again"):
        preparation.transform(table.drop(columns=["noise", "again"]))
    with pytest.warns(UserWarning, match='plan: texts that were not there before, such as "silver", in 1 of 200 rows'):
        preparation.transform(table.assign(plan=["silver", *table["plan"][1:]]))
    with pytest.raises(ValueError, match="visits.*expected numbers, as before"):
        preparation.transform(table.assign(visits="many"))
    with pytest.warns(UserWarning, match="'visits' was read as numbers before, and is now read as yes or no"):
        preparation.transform(table.assign(visits=True))
    with pytest.raises(ValueError, match="X has 2 features, but TablePreparation is expecting 10"):
        preparation.transform(np.zeros((3, 2)))
    by_place = lehr.TablePreparation().fit(table[["revenue", "noise"]].to_numpy())
    with pytest.warns(UserWarning, match="fitted without feature names"):
        by_place.transform(table[["revenue", "noise"]])


@pytest.mark.thread_unsafe(reason="all threads share the filters of warnings")
def test_another_currency_is_told():
    euros, dollars = "id;pay\n1;3,50 €\n2;4,50 €\n3;9,00 €\n", "id;pay\n1;$3.50\n2;$4.50\n3;$9.00\n"
    preparation = lehr.TablePreparation(columns=["pay"]).fit(lehr.read_table(euros.encode()))
    with pytest.warns(UserWarning, match="'pay' was read as numbers in € before, and is now read as numbers in \\$"):
        preparation.transform(lehr.read_table(dollars.encode()))


def test_it_is_one_of_scikit_learns(table, tmp_path):
    preparation = lehr.TablePreparation(columns=["revenue", "plan"], exclude=(), scale="std")
    features = preparation.fit_transform(table)
    for other in (pickle.loads(pickle.dumps(preparation)), clone(preparation).fit(table)):
        np.testing.assert_array_equal(other.transform(table), features)
        assert other.columns_ == preparation.columns_
    preparation.save(tmp_path / "preparation.lehr")
    loaded = lehr.load(tmp_path / "preparation.lehr")
    assert loaded.columns_ == preparation.columns_ and loaded.log_ == preparation.log_
    np.testing.assert_array_equal(loaded.transform(table), features)
    framed = clone(preparation).set_output(transform="pandas").fit_transform(table.set_index("id", drop=False))
    assert framed.columns.tolist() == preparation.get_feature_names_out().tolist() and framed.index.tolist() == table["id"].tolist()
    assert isinstance(clone(preparation).set_output(transform="polars").fit_transform(table), pl.DataFrame)
    columns = ColumnTransformer([("prepared", lehr.TablePreparation(), ["revenue", "visits", "id"]), ("as they are", "passthrough", ["noise"])])
    assert columns.fit(table).get_feature_names_out().tolist() == ["prepared__revenue", "prepared__visits", "as they are__noise"]
    assert columns.transform(table).shape == (ROWS, 3)
    pipe = make_pipeline(lehr.TablePreparation(exclude=["noise"]), lehr.KMeans(2, random_state=0)).fit(table)
    assert np.unique(pipe.predict(table)).tolist() == [0, 1] and pipe.set_params(tablepreparation__scale="std").fit(table)
    with pytest.raises(AttributeError, match="columns_"):
        lehr.TablePreparation().columns_


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"columns": ["none"]}, ValueError, "none"),
        ({"columns": [20]}, ValueError, "position 20, and X has 10 columns"),
        ({"columns": [1.5]}, ValueError, "names \\(str\\) or positions"),
        ({"columns": ["same", "empty"]}, ValueError, "no value in any row"),
        ({"log": ["noise"]}, ValueError, "below 0"),
        ({"scale": "max"}, ValueError, "'scale' parameter of TablePreparation must be a str among {'none', 'std', 'robust'} or None"),
        ({"missing": "mean"}, ValueError, "'missing' parameter of TablePreparation must be a str among {'skip', 'median'"),
        ({"missing": "drop"}, ValueError, "a transformer keeps all rows"),
        ({"auto": "yes"}, ValueError, "'auto' parameter of TablePreparation must be an instance of 'bool'"),
        ({"log": None}, ValueError, "'log' parameter of TablePreparation must be an array-like"),
        ({"exclude": ["revenue", "visits", "noise", "again", "plan", "member"]}, ValueError, "expected a column to compute with"),
    ],
)
def test_what_cannot_be_prepared_is_refused(table, options, kind, words):
    with pytest.raises(kind, match=words):
        lehr.TablePreparation(**options).fit(table)


def test_rows_that_lie_alone_have_no_weight(table):
    planted = table.fillna({"visits": 5.0}).astype({"noise": float})
    planted.loc[[3, 50], ["visits", "noise"]] = [[1e3, 0.0], [5.0, -1e3]]
    preparation = lehr.TablePreparation(log=["revenue"]).fit(planted)
    weights = preparation.sample_weight(planted)
    assert np.flatnonzero(weights == 0).tolist() == [3, 50] and set(weights) == {0.0, 1.0}
    model = lehr.DAClustering(2).fit(preparation.fit_transform(planted), sample_weight=weights)
    assert model.clusters_["n_samples"].min() > 50
    # A row without any value gets no label, and makes no other row isolated.
    planted.loc[[7, 9], ["revenue", "visits", "noise", "again"]] = np.nan
    for missing in ("nearest", "median"):
        preparation = lehr.TablePreparation(log=["revenue"], missing=missing).fit(planted)
        assert np.flatnonzero(preparation.sample_weight(planted) == 0).tolist() == [3, 7, 9, 50]


def test_another_table_may_have_rows_without_values_and_values_without_logarithm(table):
    preparation = lehr.TablePreparation(columns=["revenue", "visits"], log=["revenue"], missing="median").fit(table)
    other = table.head(6).copy()
    other["visits"] = 4.0
    other.loc[other.index[2], ["revenue", "visits"]] = np.nan
    with pytest.warns(UserWarning, match=r"row 3 has no value in any column used \(counted from 1\), and has the features of a typical row"):
        preparation.transform(other)
    other = table.head(6).copy()
    other["visits"] = 4.0
    other.loc[other.index[1], "revenue"] = 0.0
    with pytest.warns(UserWarning, match="\"revenue\": 1 row has a value without a logarithm, taken as missing; the first is 0 in row 2"):
        rows = preparation.transform(other)
    assert np.isfinite(rows).all()


# Explaining.


@pytest.fixture(scope="module")
def explained(table):
    preparation = lehr.TablePreparation()
    rows = preparation.fit_transform(table)
    model = lehr.KMeans(2, random_state=0).fit(rows)
    return table, preparation, rows, model, model.explain(rows, table=table, log=preparation.log_)


def _marks(explanation):
    return {(number, mark.column, mark.level): mark for number, portrait in enumerate(explanation) for mark in portrait.marks}


def test_numbers_are_tested_as_catdes_does(explained):
    table, _, _, model, explanation = explained
    tested = 0
    for (cluster, column, level), mark in _marks(explanation).items():
        if level is not None or column == "joined":
            continue
        is_log = column == "revenue"
        values = np.log(table[column]) if is_log else table[column]
        there = values.notna().to_numpy()
        values, inside = values[there].to_numpy(), (model.labels_ == cluster)[there]
        count, all_rows = inside.sum(), len(values)
        means = values[inside].mean(), values.mean(), values[~inside].mean()
        test = (means[0] - means[1]) / np.sqrt(values.var() / count * (all_rows - count) / (all_rows - 1))
        pooled = np.sqrt((count * values[inside].var() + (all_rows - count) * values[~inside].var()) / all_rows)
        np.testing.assert_allclose([mark.test_value, mark.effect], [test, (means[0] - means[2]) / pooled], rtol=1e-9)
        np.testing.assert_allclose([mark.inside, mark.overall], np.exp(means[:2]) if is_log else means[:2], rtol=1e-9)
        np.testing.assert_allclose(mark.probability, min(1.0, 2 * stats.norm.sf(abs(test)) * explanation.comparisons), rtol=1e-6)
        tested += 1
    assert tested >= 4


def test_texts_are_tested_by_counting_as_catdes_does(explained):
    table, _, _, model, explanation = explained
    marks = [(key, mark) for key, mark in _marks(explanation).items() if key[2] is not None]
    assert {column for (_, column, _), _ in marks} == {"plan"}
    for (cluster, column, level), mark in marks:
        has, inside = (table[column] == level).to_numpy(), model.labels_ == cluster
        drawn = stats.hypergeom(ROWS, has.sum(), inside.sum())
        hits = (has & inside).sum()
        is_more = hits > inside.sum() * has.sum() / ROWS
        tail = drawn.sf(hits - 1) if is_more else drawn.cdf(hits)
        test = stats.norm.isf(tail) * (1 if is_more else -1)
        np.testing.assert_allclose(mark.test_value, test, rtol=1e-6)
        arcs = [2 * np.arcsin(np.sqrt(share)) for share in (has[inside].mean(), has[~inside].mean())]
        np.testing.assert_allclose([mark.inside, mark.overall, mark.effect], [has[inside].mean(), has.mean(), arcs[0] - arcs[1]], rtol=1e-9)
        np.testing.assert_allclose(mark.probability, min(1.0, 2 * tail * explanation.comparisons), rtol=1e-6)


def test_portraits_have_names_rows_and_effects_in_order(explained):
    table, _, rows, model, explanation = explained
    assert len(explanation) == 2 and {portrait.rows for portrait in explanation} == set(np.bincount(model.labels_))
    names = {portrait.name for portrait in explanation}
    assert any("high revenue" in name or "high visits" in name for name in names), names
    for number, portrait in enumerate(explanation):
        effects = [abs(mark.effect) for mark in portrait.marks]
        assert effects == sorted(effects, reverse=True) and min(effects) >= 0.2
        assert all(mark.probability < 0.05 and mark.column not in ("noise", "id", "again") for mark in portrait.marks)
        away = np.linalg.norm(rows - model.cluster_centers_[number], axis=1)
        members = np.flatnonzero(model.labels_ == number)
        assert portrait.typical_row == members[away[members].argmin()]
        assert portrait.extreme_rows == tuple(members[np.argsort(-away[members], kind="stable")][:3])
    lines = repr(explanation).splitlines()
    assert len(lines) == 3 and lines[0].startswith(f"0: {explanation[0].name} (")


def test_the_marks_are_a_frame(explained):
    frame = explained[-1].to_frame()
    assert frame.columns.tolist() == ["cluster", "name", "column", "text", "inside", "overall", "test_value", "probability", "effect"]
    assert len(frame) == sum(len(portrait.marks) for portrait in explained[-1])
    assert set(frame["text"]) == {"", "gold", "basic"}


def test_rules_repeat_the_labels():
    # The values are not sorted, because sorted values would follow the order of the cities.
    x = np.arange(100.0) * 7 % 50
    city = np.where(np.arange(100) < 50, "Bern", "Basel")
    labels = np.where(x > 24, 0, np.where(city == "Bern", 1, 2))
    model = lehr.KMeans(3, init=[[0.0], [25.0], [45.0]]).fit(x[:, None])
    explanation = model.explain(x[:, None], table={"x": x, "city": city}, labels=labels)
    assert explanation.accuracy == 1.0
    assert {(rule.conditions, rule.cluster, rule.rows, rule.purity) for rule in explanation.rules} == {
        (("x > 24",), 0, 50, 1.0),
        (("x <= 24", "city is Bern"), 1, 25, 1.0),
        (("x <= 24", "city is not Bern"), 2, 25, 1.0),
    }


def test_a_table_may_be_the_rows_themselves(table):
    named = table[["visits", "noise"]].fillna(5.0)
    whole = table.assign(visits=named["visits"])
    model = lehr.KMeans(2, random_state=0).fit(named)
    expected = model.explain(named, table=whole)
    assert repr(model.explain(whole)) == repr(expected) and model.explain(whole)[0].typical_row == expected[0].typical_row
    assert repr(model.explain(_as_polars(whole))) == repr(expected)
    assert repr(model.explain({name: whole[name].to_numpy() for name in whole})) == repr(expected)
    # An array is explained by its own columns, under the names of the fitted columns.
    assert {mark.column for mark in model.explain(named.to_numpy())[0].marks} == {"visits"}
    # Other rows are labelled by predict. A table without the model's columns must have the fitted rows.
    other = model.explain(whole[:50])
    assert sum(portrait.rows for portrait in other) == 50
    plain = lehr.KMeans(2, random_state=0).fit(named.to_numpy())
    without = plain.explain(whole[["plan", "member"]])
    assert without[0].typical_row is None and without[0].extreme_rows == () and {mark.column for mark in without[0].marks} == {"plan"}
    with pytest.raises(ValueError, match="neither the columns of the model nor the 200 rows"):
        plain.explain(whole[["plan", "member"]][:50])
    with pytest.raises(ValueError, match="as many rows"):
        model.explain(named, table=whole[:50])
    with pytest.raises(ValueError, match="'labels' parameter"):
        model.explain(named, labels=np.full(ROWS, 0.5))
    with pytest.raises(ValueError, match="expected -1 for rows in no cluster or 0 to 1, found 7"):
        model.explain(named, labels=np.full(ROWS, 7))


def test_rows_in_no_cluster_explain_nothing(table):
    rows = lehr.TablePreparation().fit_transform(table)
    model = lehr.DAClustering(2, outlier_radius=2.0).fit(rows)
    explanation = model.explain(rows, table=table)
    assert (model.labels_ == -1).any()
    assert [portrait.rows for portrait in explanation] == np.bincount(model.predict(rows)[model.predict(rows) >= 0]).tolist()


def test_components_of_a_mixture_are_explained(table):
    rows = lehr.TablePreparation(missing="skip").fit_transform(table)
    model = lehr.DAGaussianMixture(2).fit(rows)
    explanation = model.explain(rows, table=table)
    assert np.isnan(rows).any() and [portrait.rows for portrait in explanation] == np.bincount(model.predict(rows)).tolist()
    first = np.flatnonzero(model.predict(rows) == 0)
    assert explanation[0].typical_row == first[model.score_samples(rows)[first].argmax()]
    assert not hasattr(model, "outliers")


def test_rows_far_out_are_listed_with_the_columns_responsible():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (300, 3)), rng.normal(20, 1, (200, 3))])
    rows[7] -= [0, 30, 0]
    rows[400] += [5, 0, -12]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = lehr.KMeans(2, random_state=0).fit(frame)
    outliers = model.outliers(frame)
    assert [outlier.row for outlier in outliers][:2] == [7, 400] and len(outliers) < 8
    for outlier in outliers:
        away = np.square(rows[outlier.row] - model.cluster_centers_[outlier.cluster])
        np.testing.assert_allclose(outlier.distance, np.sqrt(away.sum()), rtol=1e-12)
        lengths = np.sort(np.linalg.norm(rows - model.cluster_centers_[outlier.cluster], axis=1)[model.labels_ == outlier.cluster])
        last = len(lengths) - 1
        low, high = lengths[last // 4], lengths[last - last // 4]
        np.testing.assert_allclose(outlier.score, outlier.distance / (high + 3 * (high - low)), rtol=1e-12)
        shares = dict(zip("abc", away / away.sum()))
        assert outlier.columns == tuple((name, pytest.approx(shares[name])) for name in sorted(shares, key=shares.get, reverse=True) if shares[name] >= 0.05)
    assert outliers[0].columns[0][0] == "b" and outliers[1].columns[0][0] == "c"
    assert [outlier.row for outlier in model.outliers(csr_array(rows))] == [outlier.row for outlier in outliers]
    lines = repr(outliers).splitlines()
    assert len(lines) == len(outliers) + 1 and lines[1].startswith("row 7: ")
    assert outliers.to_frame()["columns"][0].startswith("b (")
    assert repr(model.outliers(frame[:5])).startswith("none of 5 rows")
    with pytest.raises(ValueError, match="a label for each of 500 rows, found 2"):
        model.outliers(frame, labels=[0, 1])


# The command.
