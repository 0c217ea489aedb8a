"""A whole job by the client that openapi-python-client has generated.

Usage: job.py URL TABLE
"""

import io
import sys
from pathlib import Path

from lehr_client import Client
from lehr_client.api.lehr_clustering import clustering_predict, clustering_result, clustering_run, clustering_wait
from lehr_client.api.lehr_datasets import datasets_read, datasets_upload
from lehr_client.models import (
    LehrClusteringOptions,
    LehrClusteringOrder,
    LehrClusteringPredict,
    LehrClusteringRows,
    LehrClusteringState,
    LehrClusteringWaitFor,
    LehrDatasetsRead,
    LehrDatasetsUploadForm,
    LehrProblem,
)
from lehr_client.types import File


def rows(piece):
    return [row.additional_properties for row in piece.json]


def main(url, table):
    client = Client(url)
    file = File(io.BytesIO(Path(table).read_bytes()), Path(table).name, "text/csv")
    form = LehrDatasetsUploadForm(file=file, name="python-client", id="site")
    uploaded = datasets_upload.sync(client=client, body=form)
    assert uploaded.rows == 60, uploaded
    read = datasets_read.sync(client=client, body=LehrDatasetsRead(name="python-client", to=3))
    assert [row["site"] for row in rows(read)] == ["s0", "s1", "s2"], read

    order = LehrClusteringOrder(input_="python-client", options=LehrClusteringOptions(clusters=3))
    job = clustering_run.sync(client=client, body=order).job
    ended = clustering_wait.sync(client=client, body=LehrClusteringWaitFor(job=job))
    assert ended.state == LehrClusteringState.DONE, ended
    labels = rows(clustering_result.sync(client=client, body=LehrClusteringRows(job=job, table="labels")))
    clusters = [row["cluster"] for row in labels]
    assert clusters == clusters[:3] * 20 and len(set(clusters)) == 3, labels[:6]

    asked = LehrClusteringPredict(job=job, dataset="python-client")
    predicted = rows(clustering_predict.sync(client=client, body=asked))
    assert [row["cluster"] for row in predicted] == clusters, predicted[:6]
    refused = clustering_wait.sync(client=client, body=LehrClusteringWaitFor(job="nothing"))
    assert isinstance(refused, LehrProblem) and refused.code == "unknown_entry", refused
    print(f"{len(labels)} labels, {len(predicted)} predicted")


if __name__ == "__main__":
    main(*sys.argv[1:])
