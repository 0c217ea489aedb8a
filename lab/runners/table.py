"""Reads the table that the harness writes for runners: little-endian doubles n, d, weighted (0 or 1), then n x d values, then n weights."""

import json
import sys

import numpy


def read(path):
    """Returns (values n x d, weights or None) of the table at `path`."""
    numbers = numpy.fromfile(path, dtype="<f8")
    rows, dimension, weighted = int(numbers[0]), int(numbers[1]), bool(numbers[2])
    values = numbers[3 : 3 + rows * dimension].reshape(rows, dimension)
    weights = numbers[3 + rows * dimension :] if weighted else None
    return values, weights


def serve(answer):
    """Reads a JSON request from each line and writes the JSON that `answer(request)` returns, until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
