"""Answers of databases: Arrow tables, batches and streams of DuckDB, ConnectorX and ADBC. A test starts a PostgreSQL server, if it is installed."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import lehr

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

ROWS = 6_000


def customers():
    """A table with three groups, a text and a column with gaps."""
    generator = np.random.default_rng(0)
    group = np.arange(ROWS) % 3
    return pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "revenue": generator.normal(1000 * group, 20),
            "visits": generator.normal(10 * group, 1),
            "plan": np.array(["free", "basic", "gold"])[group],
            "age": np.where(np.arange(ROWS) % 50 == 0, np.nan, generator.normal(40, 5, ROWS)),
        }
    )


@pytest.fixture(scope="module")
def table():
    return customers()


QUERY = "SELECT revenue / 1000 AS revenue, visits FROM customers ORDER BY id"


def expected(table):
    rows = table[["revenue", "visits"]].assign(revenue=table["revenue"] / 1000)
    return rows, lehr.DAClustering(3).fit(rows)


def check_answers(table, answers):
    """All forms of an answer give the labels and names of the data frame."""
    rows, model = expected(table)
    for answer in answers:
        found = lehr.DAClustering(3).fit(answer())
        assert list(found.feature_names_in_) == ["revenue", "visits"]
        np.testing.assert_array_equal(found.labels_, model.labels_)
        np.testing.assert_array_equal(model.predict(answer()), model.labels_)
    prepared = lehr.TablePreparation(columns=["revenue", "visits"]).fit_transform(answers[0]())
    np.testing.assert_array_equal(prepared, lehr.TablePreparation(columns=["revenue", "visits"]).fit_transform(rows))


def test_every_form_of_an_answer_of_duckdb_is_a_table(table):
    connection = duckdb.connect()
    connection.register("customers", table)
    check_answers(
        table,
        [
            lambda: connection.sql(QUERY).to_arrow_table(),
            lambda: connection.sql(QUERY).to_arrow_reader(1000),
            lambda: connection.sql(QUERY),
            lambda: connection.sql(QUERY).to_arrow_table().combine_chunks().to_batches()[0],
            lambda: connection.sql(QUERY).df(),
        ],
    )


def test_batches_of_an_answer_are_a_stream(table):
    connection = duckdb.connect()
    connection.register("customers", table)
    whole = lehr.MiniBatchKMeans(3, batch_size=1000).fit(connection.sql(QUERY).to_arrow_reader(1000))
    model = lehr.MiniBatchKMeans(3, batch_size=1000)
    for batch in connection.sql(QUERY).to_arrow_reader(1000):
        assert isinstance(batch, pa.RecordBatch)
        model.partial_fit(batch)
    assert list(model.feature_names_in_) == list(whole.feature_names_in_) == ["revenue", "visits"]
    np.testing.assert_allclose(np.sort(model.cluster_centers_, axis=0), np.sort(whole.cluster_centers_, axis=0), atol=0.05)
    assert adjusted_rand_score(table["plan"], model.predict(connection.sql(QUERY))) == 1


def test_texts_and_gaps_of_an_answer_are_prepared_as_those_of_a_frame(table):
    connection = duckdb.connect()
    connection.register("customers", table)
    answer = connection.sql("SELECT * FROM customers ORDER BY id").to_arrow_table()
    preparation = lehr.TablePreparation()
    np.testing.assert_array_equal(preparation.fit_transform(answer), lehr.TablePreparation().fit_transform(table))
    assert "id" not in preparation.get_feature_names_out()


@pytest.fixture(scope="module")
def postgres(table):
    """The address of a PostgreSQL server with the table, which runs as long as the tests."""
    folders = [path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
    found = shutil.which("initdb")
    if found is None and not folders:
        pytest.skip("needs PostgreSQL's initdb")
    binaries = folders[-1] if folders else Path(found).parent
    user = None
    if os.geteuid() == 0:
        import pwd

        try:
            user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
    if user is not None:
        shutil.chown(folder, user)
    data = f"{folder}/data"
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"

    def run(*words):
        subprocess.run(words, check=True, capture_output=True, user=user, cwd=folder, env={**os.environ, "HOME": folder})

    run(str(binaries / "initdb"), "-D", data, "-A", "trust", "-U", "lehr")
    run(str(binaries / "pg_ctl"), "-D", data, "-l", f"{folder}/log", "-w", "-o", settings, "start")
    address = f"postgresql://lehr@127.0.0.1:{port}/postgres"
    try:
        with adbc.connect(address) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("customers", pa.Table.from_pandas(table, preserve_index=False), mode="create")
            connection.commit()
        yield address
    finally:
        run(str(binaries / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.thread_unsafe(reason="starts a server")
def test_answers_of_postgresql_by_adbc_and_connectorx(table, postgres):
    import adbc_driver_postgresql.dbapi

    connectorx = pytest.importorskip("connectorx")
    with adbc_driver_postgresql.dbapi.connect(postgres) as connection, connection.cursor() as cursor:

        def asked(fetch):
            cursor.execute(QUERY)
            return fetch()

        check_answers(
            table,
            [
                lambda: asked(cursor.fetch_arrow_table),
                lambda: asked(cursor.fetch_record_batch),
                lambda: connectorx.read_sql(postgres, QUERY, return_type="arrow"),
            ],
        )
        cursor.execute(QUERY)
        model = lehr.MiniBatchKMeans(3)
        for batch in cursor.fetch_record_batch():
            model.partial_fit(batch)
        assert model.n_samples_seen_ == ROWS
