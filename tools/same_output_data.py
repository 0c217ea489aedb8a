"""Writes the small inputs of same_output.py that are not in datasets/.

The values come from datasets/, or are counted. Nothing is random, so every call writes the same bytes.
"""

import csv
import gzip
import io
import math
import struct
from pathlib import Path

DATASETS = Path(__file__).resolve().parent.parent / "datasets"
# The letters of amino acids. The number of three bases chooses one, not as in nature.
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
# A workflow with a job of every method over points, one after the other, so that the order of their results is always the same.
METHODS = """\
name = "methods"
output = "${read.rows} rows, ${map.figures.order} along the line"

[services."/datasets"]
contract = "lehr.datasets"

[services."/clustering"]
contract = "lehr.clustering"
after = ["/datasets"]

[services."/mixture"]
contract = "lehr.mixture"
after = ["/datasets"]

[services."/gtm"]
contract = "lehr.gtm"
after = ["/datasets"]

[steps.read]
service = "/datasets"
operation = "open"
with = { name = "flowers", path = "iris.csv", id = "label", replace = true }

[steps.cluster]
service = "/clustering"
operation = "run"
with = { input = "flowers", options = { clusters = 3, scale = "std" } }
job = true
after = ["read"]

[steps.means]
service = "/clustering"
operation = "run"
with = { input = "flowers", options = { clusters = 4, method = "kmeans", starts = 3 } }
job = true
after = ["cluster"]

[steps.mixture]
service = "/mixture"
operation = "run"
with = { input = "flowers", options = { components = 2, covariance = "diagonal" } }
job = true
after = ["means"]

[steps.map]
service = "/gtm"
operation = "run"
with = { input = "flowers", options = { dimensions = 1, nodes = 12, basis = 4, scale = "std" } }
job = true
after = ["mixture"]
"""
FAULTY = """\
name = "faulty"

[services."/datasets"]
contract = "lehr.datasets"

[steps.read]
service = "/datasets"
operation = "opn"
with = { nam = "flowers" }
"""


def text(path):
    """Returns a file of datasets/ as text, unpacked if it is packed."""
    content = (DATASETS / path).read_bytes()
    return (gzip.decompress(content) if path.endswith(".gz") else content).decode("utf-8")


def rows(path, delimiter=","):
    """Returns the header of a table of datasets/, and its rows as texts."""
    header, *table = csv.reader(io.StringIO(text(path)), delimiter=delimiter)
    return header, table


def table(header, body, delimiter=","):
    """Returns a table as text."""
    return "".join(delimiter.join(row) + "\n" for row in ([header] if header else []) + body)


def npy(descr, values, shape, is_fortran=False):
    """Returns an array in NPY version 1.0. `descr` is its element type, as NumPy writes it."""
    head = f"{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': {shape}, }}"
    # The values begin at a multiple of 64 bytes.
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = descr[0].replace("|", "<") + {"f8": "d", "f4": "f", "u1": "B"}[descr[1:]]
    body = struct.pack(f"{code[0]}{len(values)}{code[1]}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode("ascii") + body


def fasta(records):
    """Returns pairs of a name and a sequence as FASTA."""
    return "".join(f">{name}\n{letters}\n" for name, letters in records)


def arrays():
    """Returns iris and digits as arrays, and half a matrix of squared distances, some of them missing."""
    _, iris = rows("iris/iris.csv")
    flowers = [[float(value) for value in row[:4]] for row in iris]
    _, digits = rows("digits/digits.csv.gz")
    pixels = [[float(row[column]) for row in digits] for column in range(64)]
    # No function of the system's mathematical library is used, so the bytes are the same on every machine.
    pairs = [sum((x - y) * (x - y) for x, y in zip(a, b)) for place, a in enumerate(flowers) for b in flowers[place + 1 :]]
    pairs = [math.nan if place % 97 == 5 else value for place, value in enumerate(pairs)]
    return {
        "iris.npy": npy("<f8", [value for row in flowers for value in row], (150, 4)),
        # This array is column by column and big-endian, as Fortran programs write it.
        "digits.npy": npy(">f4", [value for column in pixels for value in column], (len(digits), 64), True),
        "pairs.npy": npy("<f8", pairs, (len(pairs),)),
    }


def sparse():
    """Returns the first 600 digits by their values that are not 0, in both formats of sparse rows."""
    _, digits = rows("digits/digits.csv.gz")
    cells = [[(column, value) for column, value in enumerate(row[:64], start=1) if value != "0"] for row in digits[:600]]
    svm = "".join("0 " + " ".join(f"{column}:{value}" for column, value in row) + "\n" for row in cells)
    entries = [f"{place} {column} {value}\n" for place, row in enumerate(cells, start=1) for column, value in row]
    head = f"%%MatrixMarket matrix coordinate real general\n{len(cells)} 64 {len(entries)}\n"
    return {
        "digits.svm": svm,
        "digits.mtx": head + "".join(entries),
        "digits_weights.csv": "weight\n" + "".join(f"{1 + place % 4}\n" for place in range(len(cells))),
    }


def bits():
    """Returns the first 700 compounds as fingerprints and as packed bits, 200 others, and weights of the first."""
    lines = text("compounds/nci_aids_keys1047.fps.gz").splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    body = lines[len(head) :]
    # FPS has the lowest bit of a byte first, packed bits the highest.
    packed = [int(f"{byte:08b}"[::-1], 2) for line in body[:700] for byte in bytes.fromhex(line.split()[0])]
    ids = [line.split()[1] for line in body[:700]]
    return {
        "compounds.fps": "".join(head + body[:700]),
        "more_compounds.fps": "".join(head + body[700:900]),
        "compounds.npy": npy("|u1", packed, (700, 131)),
        "activities.csv": "id,active\n" + "".join(f"{name},{int(place % 9 == 0)}\n" for place, name in enumerate(ids)),
        "compounds_weights.csv": "id,weight\n" + "".join(f"{name},{1 + place % 3}\n" for place, name in enumerate(reversed(ids))),
    }


def sequences():
    """Returns 150 evenly chosen Alu repeats, 40 others, the same cut to one length, and proteins made of them."""
    records = []
    for record in text("alu/alu_human.fasta.gz").split(">")[1:]:
        name, letters = record.split("\n", 1)
        records.append((name.split()[0], letters.replace("\n", "")))
    chosen, others = records[::65][:150], records[32::240][:40]

    def protein(letters):
        codons = (letters[place : place + 3] for place in range(0, 240, 3))
        return "".join(AMINO_ACIDS[sum("ACGT".find(base) * 4**power for power, base in enumerate(codon)) % 20] for codon in codons)

    return {
        "alu.fasta": fasta(chosen),
        # These are enough sequences for a run that can be stopped.
        "many_alu.fasta": fasta(records[::13]),
        # Each sequence occurs twice, for --collapse.
        "alu_twice.fasta": fasta(chosen[:60] + [(f"{name}-again", letters) for name, letters in chosen[:20]]),
        "more_alu.fasta": fasta(others),
        "aligned.fasta": fasta([(name, letters[:240]) for name, letters in chosen[:100]]),
        "proteins.fasta": fasta([(name, protein(letters)) for name, letters in chosen[:60]]),
    }


def tables():
    """Returns tables with missing values, with other separators, and with a row for each region."""
    header, iris = rows("iris/iris.csv")
    gaps = [
        ["" if (place + 3 * column) % 11 == 0 and column < 4 else value for column, value in enumerate(row)]
        for place, row in enumerate(iris)
    ]
    patients_header, patients = rows("patients/nhanes_2009_2012_sample.csv.gz")
    columns = [patients_header.index(name) for name in ("row", "Age", "Weight", "Height", "Pulse", "BPSysAve", "TotChol")]
    few = [[row[column] for column in columns] for row in patients[:600]]
    census_header, census = rows("census/blocks_nv_ut_wv_2020.csv.gz")
    inhabited = [row for row in census[::7] if row[1] != "0"]
    regions = [
        [name, people, people if int(people) < 60 else "0", str(len(people)), longitude, latitude]
        for name, people, longitude, latitude in inhabited[::20]
    ]
    return {
        "iris_gaps.csv": table(header, gaps),
        "patients.csv": table(patients_header, patients[:400]),
        # These are enough rows for a run that can be stopped.
        "many_patients.csv": table(patients_header, patients[:1400]),
        "patients_few.csv": table([patients_header[column] for column in columns], few),
        "census.csv": table(census_header, inhabited),
        # This table has no header, and another separator.
        "census.txt": table(None, [row[1:] for row in inhabited], ";"),
        "regions.csv": table(["id", "people", "in_small_blocks", "digits", "lon", "lat"], regions),
    }


def faults():
    """Returns files that the command must refuse, each with a report."""
    header, iris = rows("iris/iris.csv")
    lines = table(header, iris).splitlines(keepends=True)
    return {
        "ragged.csv": "".join(lines[:3]) + "5.1,3.5\n" + "".join(lines[3:6]) + "1,2,3,4,5,6\n" + "".join(lines[6:]),
        "not_finite.csv": "".join(lines[:4]) + "NaN,3.5,1.4,0.2,0\n" + "".join(lines[4:8]) + "4.9,inf,1.4,0.2,0\n",
        "words.csv": "x,y\n1,2\n3,four\n",
        "degrees.csv": "lon,lat,pop\n-117.6,39.9,3\n-117.7,139.9,4\n400,39.9,5\n",
        "negative.csv": "x,y,weight\n1,2,1\n3,4,-1\n",
        "empty.csv": "",
        "header.csv": "x,y\n",
        "cut.csv.gz": (DATASETS / "digits/digits.csv.gz").read_bytes()[:20000],
        "cut.npy": arrays()["iris.npy"][:1000],
        "letters.fasta": ">a\nACGTAC\n>b\nACG!AC\n",
        "words.svm": "1 2:1 3:1\n0 1:one\n",
        "short.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 1\n",
        "uneven.fps": "#FPS1\n#num_bits=16\n0f0f\ta\n0f\tb\n",
        "no_model.json": '{"kind": "something else"}\n',
        "faulty.toml": FAULTY,
    }


def workflows():
    """Returns a workflow, and the table that it reads."""
    return {"methods.toml": METHODS, "iris.csv": text("iris/iris.csv")}


def write(folder):
    """Writes all inputs to a new folder."""
    folder.mkdir()
    for group in (arrays, sparse, bits, sequences, tables, faults, workflows):
        for name, content in group().items():
            content = content if isinstance(content, bytes) else content.encode("utf-8")
            (folder / name).write_bytes(content)
