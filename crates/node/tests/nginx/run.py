"""Runs whole jobs on a node behind nginx: below a path, with TLS that ends at nginx, over HTTP/1.1 and HTTP/2.

Usage: run.py LEHR

nginx gets the `location` block of docs/guide/nodes.md, so what people copy is what is tested. Clients are curl and the commands of LEHR. The run needs
nginx, openssl and curl; where one is missing it is NOT RUN, with exit code 0, or 1 if LEHR_NGINX_REQUIRED is set.
"""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
GUIDE = HERE.parents[3] / "docs" / "guide" / "nodes.md"
PREFIX = "/lehr"

# As the proxy is called from outside; nothing that a node on loopback would take for itself.
HOST = "lab.example.test"

# A change has to arrive within this time, in seconds. Buffered, it would come with the end of the stream, or after 4 KiB.
PROMPT = 2

CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    gzip on;
    gzip_types text/plain application/json text/event-stream;
    ssl_certificate {folder}/node.pem;
    ssl_certificate_key {folder}/node.key;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        server_name localhost {host};
{location}
    }}
    server {{
        listen 127.0.0.1:{old_port} ssl;
        server_name localhost {host};
{location}
    }}
}}
"""


def program(name):
    """A program of the path, or of where Debian has those of the system."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_port():
    with socket.socket() as looked:
        looked.bind(("127.0.0.1", 0))
        return looked.getsockname()[1]


def location(port):
    """The block of the guide, for a node at this port."""
    block = re.search(r"```nginx\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    assert f"location {PREFIX}/" in block and "127.0.0.1:8420" in block, block
    return block.replace("127.0.0.1:8420", f"127.0.0.1:{port}")


def certificates(folder):
    """An authority, and a certificate that it has signed for `localhost`."""
    extensions = folder / "extensions"
    extensions.write_text("subjectAltName=DNS:localhost,DNS:" + HOST + "\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for command in (
        ["req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test authority"],
        ["req", *key, "-keyout", "node.key", "-out", "node.csr", "-subj", "/CN=localhost"],
        ["x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
         "-extfile", "extensions", "-out", "node.pem"],
    ):
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)


@contextlib.contextmanager
def running(command, **options):
    started = subprocess.Popen(command, **options)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


@contextlib.contextmanager
def node(lehr, *options, **more):
    """A node at a port that the system chooses."""
    with running([lehr, "serve", "--listen", "127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True, **more) as serving:
        yield serving.stdout.readline().strip()


def wait_for(what, seconds=20):
    """What comes of a question, as soon as that is something."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, f"nothing came within {seconds} s"
        time.sleep(0.05)
    return found


def sites(count=60):
    """Three groups of rows, far from each other."""
    middles = [(0, 0), (10, 0), (0, 10)]
    rows = [f"s{row},{middles[row % 3][0] + row % 7 / 10},{middles[row % 3][1] + row % 5 / 10}" for row in range(count)]
    return "\n".join(["site,x,y", *rows]) + "\n"


class Curl:
    """curl with one version of HTTP."""

    def __init__(self, url, folder, version):
        self.url, self.version = url, version
        self.command = ["curl", "--silent", "--show-error", "--cacert", str(folder / "ca.pem"), f"--http{version}"]
        # No name server knows it.
        self.command += ["--connect-to", f"{HOST}::127.0.0.1:"]

    def ask(self, path, *options, expected=200):
        """The answer's text."""
        told = ["--write-out", "\\n%{http_code} %{http_version}"]
        ended = subprocess.run([*self.command, *told, *options, self.url + path], capture_output=True, text=True, check=True)
        text, _, last = ended.stdout.rpartition("\n")
        assert last == f"{expected} {self.version}", f"{path}: {last}: {text}"
        return text

    def post(self, path, document, **options):
        return json.loads(self.ask(path, "--json", json.dumps(document), **options))

    def events(self, path):
        return running([*self.command, "--no-buffer", self.url + path], stdout=subprocess.PIPE, text=True)


def event(stream):
    """The next event of a stream: what it is called, and its data."""
    name = None
    for line in stream:
        if line.startswith("event: "):
            name = line.removeprefix("event: ").strip()
        elif line.startswith("data: "):
            return name, json.loads(line.removeprefix("data: "))
    raise AssertionError("the stream has ended")


def whole_job(curl, folder):
    """From a file to a file, with events on the way."""
    name = f"sites-{curl.version.replace('.', '-')}"
    (folder / "sites.csv").write_text(sites())
    uploaded = json.loads(curl.ask("/datasets:upload", "-F", f"file=@{folder}/sites.csv", "-F", f"name={name}", "-F", "id=site"))
    assert uploaded["rows"] == 60, uploaded
    with curl.events("/clustering:events") as watching:
        assert event(watching.stdout)[0] == "seed"
        job = curl.post("/clustering:run", {"input": name, "options": {"clusters": 3}})["job"]
        heard = []
        while "ended" not in heard:
            kind, data = event(watching.stdout)
            assert kind == "change", (kind, data)
            heard.append(data["operation"])
        assert heard[:2] == ["run", "start"], heard
    labels = curl.ask(f"/clustering:result?job={job}&table=labels", "-H", "accept: text/csv")
    rows = list(csv.DictReader(io.StringIO(labels)))
    groups = [{row["cluster"] for row in rows[start::3]} for start in range(3)]
    assert len(rows) == 60 and len(set.union(*groups)) == 3 and all(len(group) == 1 for group in groups), rows[:3]
    return f"{len(rows)} labels, {len(heard)} changes heard"


def prompt_events(curl, direct):
    """Changes come at once, one by one, and none waits for the next."""
    with curl.events("/notes:events") as watching:
        assert event(watching.stdout)[0] == "seed"
        longest = 0
        for turn in range(5):
            began = time.monotonic()
            direct.post("/notes:upsert", {"key": f"{curl.version}-{turn}", "value": {"turn": turn}})
            kind, data = event(watching.stdout)
            longest = max(longest, time.monotonic() - began)
            assert (kind, data["body"]["value"]) == ("change", {"turn": turn}), data
        assert longest < PROMPT, f"a change took {longest:.1f} s"
    return f"the slowest of 5 changes took {longest * 1000:.0f} ms"


def pages(curl):
    """A browser comes from the prefix to the viewer, with everything that its page names."""
    headers = ["-H", "accept: text/html,*/*;q=0.8", "--location"]
    page = curl.ask("/", *headers)
    assert "<html" in page and curl.ask("", *headers) == page
    named = [name for name in re.findall(r'(?:src|href)="([^"]+)"', page) if not name.startswith("data:")]
    for name in named:
        assert not name.startswith("/"), f"{name} is not below the prefix"
        assert curl.ask(f"/~/{name}")
    # What the page's scripts ask has its origin, that of a page elsewhere another.
    own = curl.url.removesuffix(PREFIX)
    note = ["--json", '{"key": "page", "value": {}}', "-H"]
    curl.ask("/notes:upsert", *note, f"origin: {own}", "-H", "sec-fetch-site: same-origin")
    curl.ask("/notes:upsert", *note, "origin: https://elsewhere.example.test", expected=403)
    return f"the page and {len(named)} files of it"


def large_bodies(curl, folder):
    """More than nginx takes by default (1 MiB)."""
    (folder / "large.csv").write_text(sites(250_000))
    taken = json.loads(curl.ask("/datasets:upload", "-F", f"file=@{folder}/large.csv", "-F", f"name=large-{curl.version[0]}", "-F", "id=site"))
    assert taken["rows"] == 250_000, taken
    return f"{(folder / 'large.csv').stat().st_size / 1e6:.1f} MB taken"


def commands(lehr, url, folder):
    """What `lehr` asks of a node, asked through the proxy."""
    trust = ["--ca", str(folder / "ca.pem")]

    def told(*words, expected=0):
        ended = subprocess.run([lehr, *words, *trust], capture_output=True, text=True, check=False)
        assert ended.returncode == expected, f"{words}: {ended.returncode}: {ended.stderr}"
        return ended.stdout + ended.stderr

    assert "/clustering" in told("ls", url) and "/clustering" in told("ls", f"{url}/")
    told("submit", f"{url}/notes", "upsert", '{"key": "loom", "value": {"shafts": 8}}')
    assert json.loads(told("get", f"{url}/notes"))["records"]["loom"] == {"shafts": 8}
    name = f"from-command-{url.split(':')[2].split('/')[0]}"
    told("upload", str(folder / "sites.csv"), f"{url}/datasets", "--id", "site", "--name", name)
    job = json.loads(told("submit", f"{url}/clustering", "run", json.dumps({"input": name, "options": {"clusters": 3}})))["job"]
    assert '"done"' in told("query", f"{url}/clustering", "wait", json.dumps({"job": job}))
    with running([lehr, "watch", f"{url}/notes", "--count", "1", *trust], stdout=subprocess.PIPE, text=True) as watching:
        assert "loom" in watching.stdout.readline()
        began = time.monotonic()
        told("submit", f"{url}/notes", "upsert", '{"key": "shuttle", "value": {}}')
        assert "shuttle" in watching.stdout.readline() and time.monotonic() - began < PROMPT + 2
        assert watching.wait(20) == 0
    said = told("get", f"{url}/nowhere", expected=1)
    assert "no service" in said, said
    return "ls, get, submit, query, upload, watch"


def joined(lehr, url, folder):
    """A second node finds the services of the first behind the proxy, and its jobs work with data that are there."""
    trust = ["--ca", str(folder / "ca.pem")]
    # Results are data sets of the first node, called as the service.
    far = f"/far-{url.split(':')[2].split('/')[0]}"
    manifest = folder / "second.toml"
    manifest.write_text(f'[services."{far}"]\ncontract = "lehr.clustering"\npartners = {{ datasets = "{url}/datasets" }}\n')
    with node(lehr, "--join", url, "--manifest", str(manifest), *trust, stderr=subprocess.DEVNULL) as second:
        direct = Curl(second, folder, "1.1")

        def known():
            found = json.loads(direct.ask("/nodes:find?contract=lehr/records"))
            return found == [f"{url}/notes"]

        wait_for(known)
        state = json.loads(direct.ask("/nodes"))
        assert url in json.dumps(state) and '"up"' in json.dumps(state), state
        job = direct.post(f"{far}:run", {"input": "sites-2", "options": {"clusters": 3}})["job"]
        ended = direct.post(f"{far}:wait", {"job": job})
        assert ended["state"] == "done", ended
    return "found, up, and its data clustered"


def addresses(curl, folder):
    """The node's log has the client's address, not the proxy's."""
    curl.ask("/notes", "-H", "x-forwarded-for: 192.0.2.7")
    # nginx adds the client, which is on this machine and trusted as a proxy; the word before it then counts.
    line = wait_for(lambda: [line for line in (folder / "node.log").read_text().splitlines() if "192.0.2.7" in line])[0]
    assert json.loads(line)["address"] == "192.0.2.7", line
    return "the log names the client"


def main(lehr):
    missing = [name for name in ("nginx", "openssl", "curl") if program(name) is None]
    if missing:
        print(f"nginx: NOT RUN, not installed: {', '.join(missing)}", file=sys.stderr)
        return 1 if os.environ.get("LEHR_NGINX_REQUIRED") else 0
    with tempfile.TemporaryDirectory() as kept, contextlib.ExitStack() as ends:
        folder = Path(kept)
        # nginx, started by root, gives its work to a user that has to reach the folder.
        folder.chmod(0o755)
        certificates(folder)
        port, old_port = free_port(), free_port()
        # At the first address nginx speaks both, at the second HTTP/1.1 only, which is for clients that would choose HTTP/2.
        url, only_old = f"https://localhost:{port}{PREFIX}", f"https://localhost:{old_port}{PREFIX}"
        log = ends.enter_context((folder / "node.log").open("w"))
        options = ["--start", "lehr/records=/notes", "--keep", str(folder / "kept"), "--log", "info", "--trust-proxy", "127.0.0.1"]
        at = ends.enter_context(node(lehr, *options, "--allow-origin", f"https://{HOST}:{port}", stderr=log))
        configuration = CONFIGURATION.format(folder=folder, host=HOST, port=port, old_port=old_port, location=location(int(at.rsplit(":", 1)[1])))
        (folder / "nginx.conf").write_text(configuration)
        ends.enter_context(running([program("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]))
        direct = Curl(at, folder, "1.1")
        outside = f"https://{HOST}:{port}"
        old, new = Curl(outside + PREFIX, folder, "1.1"), Curl(outside + PREFIX, folder, "2")
        wait_for(lambda: subprocess.run([*old.command, f"{old.url}/health"], capture_output=True, check=False).returncode == 0)
        failed = 0
        for name, check in [
            ("whole job, HTTP/1.1", lambda: whole_job(old, folder)),
            ("whole job, HTTP/2", lambda: whole_job(new, folder)),
            ("events, HTTP/1.1", lambda: prompt_events(old, direct)),
            ("events, HTTP/2", lambda: prompt_events(new, direct)),
            ("pages, HTTP/1.1", lambda: pages(old)),
            ("pages, HTTP/2", lambda: pages(new)),
            ("large body, HTTP/1.1", lambda: large_bodies(old, folder)),
            ("large body, HTTP/2", lambda: large_bodies(new, folder)),
            ("addresses", lambda: addresses(old, folder)),
            ("commands, HTTP/1.1", lambda: commands(lehr, only_old, folder)),
            ("commands, HTTP/2", lambda: commands(lehr, url, folder)),
            ("join, HTTP/1.1", lambda: joined(lehr, only_old, folder)),
            ("join, HTTP/2", lambda: joined(lehr, url, folder)),
        ]:
            try:
                print(f"nginx: {name}: {check()}", flush=True)
            except (AssertionError, KeyError, ValueError, subprocess.CalledProcessError) as cause:
                failed += 1
                said = getattr(cause, "stderr", None) or ""
                print(f"nginx: {name}: FAILED: {cause!r} {said}", file=sys.stderr, flush=True)
        if failed:
            print((folder / "error.log").read_text(), file=sys.stderr)
        return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(str(Path(sys.argv[1]).resolve())))
