"""Attacks a node as hostile clients, crashes and bad disks do, and checks that it keeps its promises.

Usage: hostile.py [--short] [--only NAME]... LEHR

LEHR is the command to attack. Each attack starts its own node on a port that the system chooses, in a folder that is removed afterwards. Two promises hold:

- Memory stays below a bound, which each attack states, and honest clients are answered within seconds.
- No acknowledged data are lost or altered without a report: an answer says so, `/ready` counts a degraded service, or the start is refused.

The short form is a gate: it takes less than a minute. The full form attacks with the numbers that once broke a node. `--only` names attacks. The tool uses only the
standard library. Exit code 0: all promises held; 1: one was broken; 2: usage.
"""

import gzip
import http.client
import json
import os
import random
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

MIB = 1 << 20
# The seconds that an honest client waits.
PATIENCE_S = 10.0
# The memory of a node without much data: program, threads, buffers.
IDLE_BYTES = 128 * MIB
UNSENT_BYTES = 32 * MIB
CSV = b"x,y\n" + b"".join(b"%d,%d\n" % (row, row % 7) for row in range(200))


class Broken(Exception):
    """A promise that the node did not keep."""


def expect(is_kept, promise):
    if not is_kept:
        raise Broken(promise)


class Node:
    """A node in its own process."""

    def __init__(self, command, folder, *options, limits=()):
        self.folder = Path(folder)
        self.log = open(self.folder.parent / "node.log", "ab")
        services = ["lehr/records=/notes", "lehr.datasets=/datasets", "lehr.clustering=/clustering"]
        arguments = [command, "serve", "--listen", "127.0.0.1:0", "--keep", str(folder), *options]
        for service in services:
            arguments += ["--start", service]

        def prepare():
            for kind, most in limits:
                resource.setrlimit(kind, (most, most))

        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=self.log, preexec_fn=prepare)
        line = self.process.stdout.readline().decode()
        self.started = bool(line)
        self.port = int(line.strip().rpartition(":")[2]) if line else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(60)
        self.process.stdout.close()
        self.log.close()
        return code

    def peak_bytes(self):
        """Returns the largest resident memory of the node so far."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise Broken("the node has ended")

    def ask(self, method, path, body=None, kind="application/json", timeout=PATIENCE_S):
        """Returns the status and the body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            headers = {"content-type": kind} if body is not None else {}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def note(self, key, value):
        return self.ask("POST", "/notes:upsert", {"key": key, "value": value})[0] == 200

    def notes(self):
        status, body = self.ask("GET", "/notes")
        return json.loads(body)["records"] if status == 200 else None

    def upload(self, name, data=CSV, kind="text/csv", timeout=60):
        return self.ask("POST", f"/datasets:upload?name={name}", data, kind, timeout)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def is_kind(self, bound_bytes, attack):
        """Checks that the node serves an honest client, and that its memory is below a bound."""
        resident = self.peak_bytes()
        expect(resident < bound_bytes, f"{attack}: {resident / MIB:.0f} MiB were resident, more than {bound_bytes / MIB:.0f}")
        begun = time.monotonic()
        status, _ = self.ask("GET", "/health")
        took = time.monotonic() - begun
        expect(status == 200 and took < PATIENCE_S, f"{attack}: /health answers {status} after {took:.1f} s")
        return resident


# The part of HTTP/2 that is needed to misuse it.


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def text(value):
    data = value.encode()
    return (bytes([len(data)]) if len(data) < 127 else bytes([127, len(data) - 127])) + data


def headers(path, method="GET"):
    fields = [(":method", method), (":scheme", "http"), (":authority", "127.0.0.1"), (":path", path)]
    return b"".join(b"\x00" + text(name) + text(value) for name, value in fields)


DATA, HEADERS, RST, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def settings(**values):
    ids = {"window": 4}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack("!HI", ids[name], value) for name, value in values.items()))


def send_until_refused(connection, piece, times):
    """Sends data that a node should not accept for ever, until the node ends the connection."""
    connection.settimeout(5)
    try:
        for _ in range(times):
            connection.sendall(piece)
    except OSError:
        pass


# The attacks.


def with_state(node, size):
    """Fills the state with notes of this many bytes."""
    piece = "x" * (MIB // 2)
    for number in range(size // len(piece)):
        expect(node.note(f"large{number}", piece), "a note is taken")


def slow_readers(command, folder, short):
    """Lets many clients request large states, tables and documents and read nothing, over HTTP/1.1 and HTTP/2."""
    size = (2 if short else 8) * MIB
    with Node(command, folder, "--unsent-max", str(UNSENT_BYTES)) as node:
        with_state(node, size)
        rows = b"x,y,name\n" + b"".join(b"%d.5,%d,row %d\n" % (row, row % 7, row) for row in range(60_000))
        status, body = node.upload("rows", rows)
        expect(status == 200, f"an upload is answered {status}: {body[:200]}")
        bound = IDLE_BYTES + UNSENT_BYTES + 8 * size
        readers, count = [], 40 if short else 100
        for path in (b"/notes", b"/datasets:read?name=rows", b"/notes:find?key=large0"):
            for _ in range(count):
                reader = node.connect()
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.sendall(b"GET %s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" % path)
                readers.append(reader)
            time.sleep(1)
            node.is_kind(bound, f"slow readers of {path.decode()} over HTTP/1.1")
        for _ in range(2 if short else 4):
            reader = node.connect()
            reader.sendall(PREFACE + settings(window=0))
            for stream in range(100 if short else 200):
                reader.sendall(frame(HEADERS, 5, 2 * stream + 1, headers("/notes")))
            readers.append(reader)
        time.sleep(1)
        resident = node.is_kind(bound, "slow readers over HTTP/2")
        [reader.close() for reader in readers]
        return f"{len(readers)} connections, {resident / MIB:.0f} MiB of {bound / MIB:.0f}"


def floods(command, folder, short):
    """Sends endless frames: resets, pings, settings and continued headers; also opens connections that do nothing."""
    times = 20_000 if short else 200_000
    with Node(command, folder, "--connections", "64", "--connections-per-address", "64") as node:
        stream = iter(range(1, 1 << 30, 2))
        attacks = {
            "rapid reset": lambda: b"".join(
                frame(HEADERS, 5, number, headers("/health")) + frame(RST, 0, number, b"\0\0\0\x08")
                for number in [next(stream) for _ in range(100)]
            ),
            "pings": lambda: frame(PING, 0, 0, b"12345678") * 100,
            "settings": lambda: settings(window=65535) * 100,
        }
        for name, piece in attacks.items():
            attacker = node.connect()
            attacker.sendall(PREFACE + settings(window=65535))
            attacker.settimeout(5)
            try:
                for _ in range(times // 100):
                    attacker.sendall(piece())
            except OSError:
                pass
            node.is_kind(2 * IDLE_BYTES, name)
            attacker.close()
        attacker = node.connect()
        attacker.sendall(PREFACE + settings(window=65535) + frame(HEADERS, 1, 1, headers("/health")))
        send_until_refused(attacker, frame(CONTINUATION, 0, 1, b"\x00" + text("x") + text("y" * 200)) * 50, times // 50)
        node.is_kind(2 * IDLE_BYTES, "headers that go on")
        attacker.close()
        idle = []
        for _ in range(200):
            connection = node.connect()
            connection.sendall(PREFACE + settings(window=65535))
            idle.append(connection)
        resident = node.is_kind(2 * IDLE_BYTES, "idle connections")
        [connection.close() for connection in idle]
        return f"{times} frames of 4 kinds, 200 idle connections, {resident / MIB:.0f} MiB of {2 * IDLE_BYTES / MIB:.0f}"


def gzip_bombs(command, folder, short):
    """Sends small packed bodies that unpack to large ones."""
    pieces = 22 if short else 120
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(b"x,y\n")
    piece = b"1,2\n" * 1_000_000
    for _ in range(pieces):
        bomb += packer.compress(piece)
    bomb += packer.flush()
    with Node(command, folder) as node:
        bound = IDLE_BYTES + 512 * MIB
        status, _ = node.upload("bomb", bomb)
        expect(400 <= status < 500, f"a packed file that becomes too large is answered {status}")
        molecules = gzip.compress(b"C\n" * (2_000_000 if short else 8_000_000))
        status, _ = node.ask("POST", "/datasets:upload?name=molecules&format=smiles", molecules, "application/octet-stream", 60)
        expect(status == 413, f"small molecules with large fingerprints are answered {status}")
        nested = gzip.compress(gzip.compress(CSV))
        status, _ = node.upload("nested", nested)
        expect(400 <= status < 500, f"a packed file within another is answered {status}")
        state = json.loads(node.ask("GET", "/datasets")[1])
        expect(not state["datasets"], f"what ended in an error has left {list(state['datasets'])}")
        resident = node.is_kind(bound, "gzip bomb")
        return f"{len(bomb)} bytes that become {pieces * len(piece) / MIB:.0f} MiB, {resident / MIB:.0f} MiB of {bound / MIB:.0f}"


class Acknowledged:
    """The data that a node has acknowledged."""

    def __init__(self):
        self.notes, self.datasets, self.jobs, self.uploads = {}, {}, [], {}

    def check(self, node, attack):
        """Checks that all acknowledged data exist, or that the node reports a loss."""
        ready = json.loads(node.ask("GET", "/ready")[1])
        is_reported = ready.get("degraded", 0) > 0 or not ready.get("is_ready", True)
        found = node.notes()
        if found is None:
            expect(is_reported, f"{attack}: the notes are gone and /ready says {ready}")
        else:
            for key, value in self.notes.items():
                expect(found.get(key) == value or is_reported, f"{attack}: note {key} is {found.get(key)!r}, it was {value!r}")
        status, body = node.ask("GET", "/datasets")
        state = json.loads(body) if status == 200 else {}
        there, pieces = state.get("datasets", {}), state.get("uploads", {})
        for name, checksum in self.datasets.items():
            if name not in there:
                expect(is_reported, f"{attack}: data set {name} is gone and /ready says {ready}")
                continue
            status, body = node.ask("POST", "/datasets:read", {"name": name})
            if status == 200:
                expect(there[name]["checksum"] == checksum or is_reported, f"{attack}: data set {name} was altered")
                values = json.loads(body)
                expect(len(json.dumps(values)) > 100, f"{attack}: data set {name} is empty")
            else:
                expect(b"damaged" in body or is_reported, f"{attack}: data set {name} answers {status}: {body[:200]}")
        for name, size in self.uploads.items():
            expect(pieces.get(name, {}).get("offset") == size or is_reported, f"{attack}: the upload {name} is {pieces.get(name)}")
        status, body = node.ask("GET", "/clustering")
        there = json.loads(body).get("jobs", {}) if status == 200 else {}
        for job in self.jobs:
            expect(there.get(job, {}).get("state") == "done" or is_reported, f"{attack}: the job {job} is {there.get(job)}")


def kills(command, folder, short):
    """Ends the node by kill -9 while clients write, and checks that all acknowledged data exist."""
    rounds, acknowledged, chance = 3 if short else 20, Acknowledged(), random.Random(1)
    written = uploads = 0
    for turn in range(rounds):
        with Node(command, folder) as node:
            expect(node.started, f"round {turn}: the node does not start")
            acknowledged.check(node, f"round {turn}")
            over = threading.Event()

            def write(worker):
                number = 0
                while not over.is_set():
                    key, number = f"{turn}-{worker}-{number}", number + 1
                    try:
                        if node.note(key, number):
                            acknowledged.notes[key] = number
                    except (OSError, http.client.HTTPException):
                        return

            def bring(worker):
                number = 0
                while not over.is_set():
                    name, number = f"set{turn}-{worker}-{number}", number + 1
                    try:
                        status, body = node.upload(name, CSV + b"%d,%d\n" % (turn, number))
                        if status == 200:
                            acknowledged.datasets[name] = json.loads(body)["checksum"]
                    except (OSError, http.client.HTTPException):
                        return

            workers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
            workers += [threading.Thread(target=bring, args=(worker,)) for worker in range(2)]
            [worker.start() for worker in workers]
            time.sleep(0.3 + chance.random())
            node.end(signal.SIGKILL)
            over.set()
            [worker.join() for worker in workers]
    with Node(command, folder) as node:
        acknowledged.check(node, "the end")
        written, uploads = len(acknowledged.notes), len(acknowledged.datasets)
    return f"{rounds} rounds, {written} notes and {uploads} data sets"


def kept(command, folder):
    """Makes a folder with data of each kind; also returns the acknowledged data."""
    acknowledged = Acknowledged()
    with Node(command, folder) as node:
        for number in range(5):
            expect(node.note(f"key{number}", number), "a note is taken")
            acknowledged.notes[f"key{number}"] = number
        status, body = node.upload("sites")
        expect(status == 200, f"an upload is answered {status}: {body[:200]}")
        acknowledged.datasets["sites"] = json.loads(body)["checksum"]
        status, body = node.ask("POST", "/clustering:run", {"input": {"points": "sites"}, "options": {"clusters": 2}})
        expect(status == 200, f"a job is answered {status}: {body[:200]}")
        job = json.loads(body)["job"]
        status, body = node.ask("POST", "/clustering:wait", {"job": job}, timeout=60)
        expect(json.loads(body)["state"] == "done", f"the job ends as {body[:200]}")
        acknowledged.jobs.append(job)
        status, body = node.ask("POST", "/datasets:begin", {"name": "half", "format": "csv"})
        expect(status == 200, f"an upload is answered {status}: {body[:200]}")
        status, body = node.ask("POST", "/datasets:append?name=half&offset=0", CSV, "application/octet-stream")
        expect(status == 200, f"a piece is answered {status}: {body[:200]}")
        acknowledged.uploads["half"] = len(CSV)
        node.end()
    return acknowledged


def damage(command, folder, short):
    """Flips bits in each kept file, truncates, empties and removes it, and starts the node twice each time, as a supervisor does. Also removes states with their copies."""
    acknowledged = kept(command, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    expect(len(files) >= 5, f"{len(files)} files are kept")
    kinds = ["flipped", "removed"] if short else ["flipped", "cut", "emptied", "removed"]
    cases = [(path, kind) for path in files for kind in kinds]
    if short:
        cases = random.Random(2).sample(cases, min(8, len(cases)))
    for path, kind in cases:
        copy = folder.parent / "copy"
        shutil.copytree(folder, copy)
        victim = copy / path.relative_to(folder)
        data = bytearray(victim.read_bytes())
        if kind == "removed":
            victim.unlink()
        else:
            if kind == "flipped" and data:
                data[len(data) // 2] ^= 4
            victim.write_bytes({"cut": data[: len(data) // 2], "emptied": b""}.get(kind, data))
        attack = f"{path.relative_to(folder)} {kind}"
        refused = []
        for turn in range(2):
            before = contents(copy)
            with Node(command, copy) as node:
                refused.append(not node.started)
                if node.started:
                    acknowledged.check(node, f"{attack}, start {turn + 1}")
                    node.end()
                else:
                    expect(contents(copy) == before, f"{attack}: a start that is refused changes files")
        expect(refused[0] == refused[1], f"{attack}: start 1 is refused: {refused[0]}, start 2: {refused[1]}")
        if refused[0]:
            # An operator restores the file from a backup.
            victim.write_bytes(path.read_bytes())
        with Node(command, copy) as node:
            expect(node.started, f"{attack}: refused although the file is restored")
            acknowledged.check(node, f"{attack}, and restored")
        shutil.rmtree(copy)
    states = sorted(path for path in files if path.suffix == ".json")
    for path in states[:1] if short else states:
        copy = folder.parent / "copy"
        shutil.copytree(folder, copy)
        victim = copy / path.relative_to(folder)
        victim.unlink()
        victim.with_name(victim.name + ".copy").unlink()
        for turn in range(2):
            with Node(command, copy) as node:
                if node.started:
                    acknowledged.check(node, f"{path.relative_to(folder)} removed with its copy, start {turn + 1}")
                    node.end()
        shutil.rmtree(copy)
    return f"{len(cases)} damages of {len(files)} files, two starts each"


def contents(folder):
    """Returns the bytes of each file in a folder, by name."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def full_disk(command, folder, short):
    """Limits the size of files and, as root, fills a disk."""
    acknowledged = Acknowledged()
    with Node(command, folder, limits=[(resource.RLIMIT_FSIZE, MIB)]) as node:
        refused = 0
        for number in range(24):
            try:
                if node.note(f"n{number}", "x" * (MIB // 8)):
                    acknowledged.notes[f"n{number}"] = "x" * (MIB // 8)
                else:
                    refused += 1
            except (OSError, http.client.HTTPException):
                raise Broken("a limit on the size of files ends the node") from None
        expect(refused, "more was taken than a file may have")
        node.is_kind(2 * IDLE_BYTES, "a limit on the size of files")
    with Node(command, folder) as node:
        acknowledged.check(node, "after a limit on the size of files")
    disk = folder.parent / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        return f"{refused} writes refused by a limit; no rights to mount a small disk"
    try:
        acknowledged, refused = Acknowledged(), 0
        with Node(command, disk / "keep") as node:
            for number in range(24):
                if node.note(f"n{number}", "x" * (MIB // 8)):
                    acknowledged.notes[f"n{number}"] = "x" * (MIB // 8)
                else:
                    refused += 1
            status, body = node.upload("large", b"x\n" + b"1.25\n" * 200_000)
            expect(status in (200, 507), f"an upload to a full disk is answered {status}: {body[:200]}")
            expect(refused, "more was taken than the disk has")
            acknowledged.check(node, "a full disk")
            node.end(signal.SIGKILL)
        with Node(command, disk / "keep") as node:
            expect(node.started, "the node does not start on a full disk")
            acknowledged.check(node, "after a full disk")
    finally:
        subprocess.run(["umount", disk], check=True)
    return f"{refused} writes refused, {len(acknowledged.notes)} kept"


def few_descriptors(command, folder, short):
    """Opens more connections than the node has file descriptors, and checks that it serves an honest client."""
    with Node(command, folder, limits=[(resource.RLIMIT_NOFILE, 128)]) as node:
        expect(node.note("before", 1), "a note is taken")
        idle = []
        for _ in range(300):
            try:
                idle.append(node.connect())
            except OSError:
                break
        served = 0
        for attempt in range(5):
            try:
                served += node.note("during", attempt)
            except (OSError, http.client.HTTPException):
                time.sleep(0.5)
        expect(served, "no honest client is served while descriptors are few")
        [connection.close() for connection in idle]
        resident = node.is_kind(IDLE_BYTES, "few descriptors")
        expect(node.notes().get("before") == 1, "a note is lost while descriptors are few")
        return f"{len(idle)} connections for 128 descriptors, {resident / MIB:.0f} MiB of {IDLE_BYTES / MIB:.0f}"


ATTACKS = [slow_readers, floods, gzip_bombs, few_descriptors, full_disk, kills, damage]


def main(arguments):
    short, only, command = False, [], None
    rest = iter(arguments)
    for argument in rest:
        if argument == "--short":
            short = True
        elif argument == "--only":
            only.append(next(rest, ""))
        elif command is None and not argument.startswith("-"):
            command = str(Path(argument).resolve())
        else:
            print(__doc__, file=sys.stderr)
            return 2
    names = {attack.__name__ for attack in ATTACKS}
    if command is None or not os.access(command, os.X_OK) or not set(only) <= names:
        print(f"hostile: expected the command to attack, and of attacks {', '.join(sorted(names))}", file=sys.stderr)
        return 2
    broken = 0
    for attack in ATTACKS:
        if only and attack.__name__ not in only:
            continue
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "keep").mkdir()
            try:
                outcome = "ok      " + attack(command, Path(folder) / "keep", short)
            except Broken as promise:
                outcome, broken = f"BROKEN  {promise}", broken + 1
                log = (Path(folder) / "node.log").read_text(errors="replace").splitlines()
                outcome += "".join(f"\n        node: {line}" for line in log[-5:])
        print(f"{attack.__name__:16} {time.monotonic() - begun:5.1f} s  {outcome}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
