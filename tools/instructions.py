"""Counts the instructions of Lehr's kernels on 64-bit ARM, and those of C loops for the same work.

Times under emulation mean nothing, but a processor would execute the same number of instructions. Compiles the loops (lab/runners/c) with
aarch64-linux-gnu-gcc -O3 -ffast-math, and examples of `lehr-numerics` and `lehr-distances`; runs both under qemu-aarch64 with a plugin that counts.
Half of the difference between three steps and one step is a step without the start of the program.

Usage: instructions.py [PART]    only the kernels whose names contain PART. Needs what `make test-arm` needs, and QEMU 4.2 to 8.1 for the plugin.
"""

import re
import struct
import subprocess
import sys
from pathlib import Path

import arm

FOLDER = arm.ROOT / "target" / "instructions"
C = arm.ROOT / "lab" / "runners" / "c"
EXAMPLES = arm.folder() / arm.TARGET / "release" / "examples"
COUNTED = re.compile(r"^instructions (\d+)$", re.MULTILINE)
CLUSTERS = 10
# Rows, dimensions and temperature: large blocks of rows in few and in many dimensions, and a small block in many.
PROBLEMS = {"2-D": (4096, 2, 0.02), "16-D": (2048, 16, 0.5), "64-D": (2048, 64, 2.0), "64-D, 64 rows": (64, 64, 2.0)}
MATRIX = (64, 2048)
TYPES = {"f32": "float", "f64": "double"}


def mixed(count):
    """Returns numbers from -1/2 to 1/2 in irregular order: the fractions of multiples of the golden section."""
    return [(place * 0.6180339887498949) % 1.0 - 0.5 for place in range(1, count + 1)]


def problem(rows, dimension, temperature):
    """Writes a problem in the format that floor.c describes."""
    path = FOLDER / f"{rows}-{dimension}.bin"
    values = mixed(rows * dimension)
    centers = mixed(CLUSTERS * dimension + 997)[997:]
    numbers = [rows, dimension, CLUSTERS, temperature, *values, *[1.0] * rows, *centers, *[-2.302585092994046] * CLUSTERS]
    path.write_bytes(struct.pack(f"<{len(numbers)}d", *numbers))
    return str(path)


def compiled():
    """Compiles all programs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    flags = ["-O3", "-ffast-math", "-Wall"]
    commands = [["cc", "-O2", "-Wall", "-shared", "-fPIC", "-o", FOLDER / "count.so", C / "instructions.c"]]
    commands.append([arm.COMPILER, *flags, "-o", FOLDER / "floor", C / "floor.c", "-lm", "-lpthread"])
    commands += [[arm.COMPILER, *flags, f"-DREAL={kind}", "-o", FOLDER / f"loops-{kind}", C / "loops.c"] for kind in TYPES.values()]
    for crate in ("numerics", "distances"):
        commands.append(["cargo", "build", "--quiet", "--release", "--target", arm.TARGET, "-p", f"lehr-{crate}", "--example", f"{crate}_steps"])
    for command in commands:
        subprocess.run(command, cwd=arm.ROOT, env=arm.environment(), check=True)


def instructions(command, said=""):
    """Returns the number of instructions that a program executes."""
    run = [arm.EMULATOR, "-L", arm.LIBRARIES, "-plugin", FOLDER / "count.so", "-d", "plugin", *command]
    done = subprocess.run(run, input=said, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return int(COUNTED.search(done.stdout).group(1))


def a_step(command, said=""):
    """Returns the instructions of one step. The number of steps is the last word of the command, or of its input."""
    def steps(count):
        return instructions([*command, str(count)]) if not said else instructions(command, f"{said} {count}\n")

    return (steps(3) - steps(1)) // 2


def cases():
    """Yields (name, our command, C's command, C's input) for each kernel."""
    numerics, distances = EXAMPLES / "numerics_steps", EXAMPLES / "distances_steps"
    for kind, name in TYPES.items():
        for shape, (rows, dimension, temperature) in PROBLEMS.items():
            file = problem(rows, dimension, temperature)
            yield f"soft assignment, {shape}, {kind}", [numerics, file, "soft", kind], [FOLDER / "floor", file], f"{kind} 1"
            if rows > 64:
                loop = [FOLDER / f"loops-{name}", "nearest", str(dimension), str(rows), str(CLUSTERS)]
                yield f"nearest centre, {shape}, {kind}", [numerics, file, "nearest", kind], loop, ""
        file = problem(*MATRIX, 1.0)
        loop = [FOLDER / f"loops-{name}", "products", *map(str, MATRIX), str(CLUSTERS)]
        yield f"rows of dissimilarities by {CLUSTERS} columns, {kind}", [numerics, file, "products", kind], loop, ""
    yield "bits in common, 1,047 bits", [distances, "bits"], [FOLDER / "loops-double", "bits"], ""
    yield "local alignments, 16 bits", [distances, "alignments"], [FOLDER / "loops-double", "alignments"], ""


def main(words):
    part = words[0] if words else ""
    told = arm.missing()
    if told:
        raise SystemExit("\n".join(f"instructions: {line}" for line in told))
    compiled()
    print("| kernel, one step | instructions | C loop | ratio |\n| --- | ---: | ---: | ---: |")
    for name, ours, loop, said in cases():
        if part in name:
            our, its = a_step(ours), a_step(loop, said)
            print(f"| {name} | {our:,} | {its:,} | {our / its:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
