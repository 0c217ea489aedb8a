"""Starts an S3 server on this machine, runs a command beside it, and ends it.

Usage: s3_server.py PROGRAM FOLDER COMMAND...   PROGRAM is versitygw, which checks signatures as Amazon's server does. The server listens on
loopback. Each folder in FOLDER is a bucket, and its files become the bucket's objects. COMMAND gets the server's address and a key in the
environment (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION). The bucket `public` can be read without a key.
"""

import datetime
import hashlib
import hmac
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

REGION = "us-east-1"
#: The seconds that the server gets to start.
PATIENCE = 30
#: Everybody may read the objects of the bucket `public`.
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::public/*"}],
}


def signed(method, host, path, body, key, secret, now, query=""):
    """Returns the headers of a request with signature version 4 of Amazon. `path` is encoded already."""
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    asked = "\n".join([method, path, query, lines, names, digest])
    scope = f"{day}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(asked.encode()).hexdigest()])
    derived = f"AWS4{secret}".encode()
    for part in [day, REGION, "s3", "aws4_request"]:
        derived = hmac.new(derived, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return headers


class Server:
    """A running server, and the key of its owner."""

    def __init__(self, program, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.key, self.secret = secrets.token_hex(10), secrets.token_hex(20)
        buckets, beside = folder / "buckets", folder / "beside"
        buckets.mkdir()
        beside.mkdir()
        words = [program, "--port", f"127.0.0.1:{self.port}", "--quiet", "posix", "--sidecar", beside, buckets]
        environment = {**os.environ, "ROOT_ACCESS_KEY": self.key, "ROOT_SECRET_KEY": self.secret}
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        self.wait()

    def wait(self):
        """Returns when the server accepts connections."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self.process.poll() is not None:
                sys.exit(f"s3_server: the server ended: {self.log.read_text(errors='replace')}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        self.process.kill()
        sys.exit(f"s3_server: the server does not answer within {PATIENCE} s")

    def put(self, name, body=b"", query=""):
        """Makes a bucket, an object, or with a query a property of a bucket."""
        host, path = f"127.0.0.1:{self.port}", "/" + urllib.parse.quote(name)
        now = datetime.datetime.now(datetime.timezone.utc)
        headers = signed("PUT", host, path, body, self.key, self.secret, now, f"{query}=" if query else "")
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("PUT", f"{path}?{query}=" if query else path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"s3_server: {name}: {answer.status} {text.decode(errors='replace')}")

    def fill(self, folder):
        """Copies the files of a folder's folders into buckets of their names."""
        for bucket in sorted(path for path in folder.iterdir() if path.is_dir()):
            self.put(bucket.name)
            for file in sorted(path for path in bucket.rglob("*") if path.is_file()):
                self.put(f"{bucket.name}/{file.relative_to(bucket).as_posix()}", file.read_bytes())
            if bucket.name == "public":
                self.put("public", json.dumps(POLICY).encode(), "policy")

    def environment(self):
        """Returns the variables with which a client finds the server."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": REGION,
        }


def main(words):
    if len(words) < 3:
        sys.exit(__doc__)
    program, folder, command = words[0], Path(words[1]), words[2:]
    with tempfile.TemporaryDirectory() as own:
        server = Server(program, Path(own))
        try:
            server.fill(folder)
            others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
            return subprocess.run(command, env={**others, **server.environment()}, check=False).returncode
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
