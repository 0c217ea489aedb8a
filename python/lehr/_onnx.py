"""Models in the format of ONNX, which inference servers and other languages read.

A graph takes rows ``X`` of shape (n_samples, n_features), and returns what the estimator's methods return, up to rounding. Metadata of the file has the names of
the columns.
"""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehr import _native

#: The version of ONNX's operators. All operators of a graph exist since this version.
_OPERATORS = 18


class Graph:
    """A graph of operators that is being built. Values are known by their names."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, values: Any, dtype: Any = None) -> str:
        """Adds a constant; by default in the precision of the graph."""
        from onnx import numpy_helper

        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values, dtype=self.dtype if dtype is None else dtype), name))
        return name

    def apply(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Adds an operator, and returns the name of its output."""
        from onnx import helper

        name = output or f"{operator}{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def squares(self, centers: NDArray[Any]) -> str:
        """Adds the squared distances from each row to each centre, as sums of squared differences."""
        away = self.apply("Sub", self.apply("Unsqueeze", "X", self.constant([1], np.int64)), self.constant(centers[None]))
        return self.apply("ReduceSum", self.apply("Mul", away, away), self.constant([2], np.int64), keepdims=0)

    def model(self, name: str, columns: list[str], outputs: dict[str, tuple[Any, int | None]]) -> Any:
        """Completes the model. ``outputs`` has the type and the width of each output; the width ``None`` means one number for each row."""
        from onnx import checker, helper

        def described(name: str, dtype: Any, width: int | None) -> Any:
            shape: list[str | int | None] = ["n_samples"] if width is None else ["n_samples", width]
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

        graph = helper.make_graph(
            self._nodes,
            name,
            [described("X", self.dtype, len(columns))],
            [described(output, dtype, width) for output, (dtype, width) in outputs.items()],
            self._constants,
        )
        # The oldest version of the format that has these operators, for older readers.
        model = helper.make_model(graph, producer_name="lehr", producer_version=_native.__version__, opset_imports=[helper.make_opsetid("", _OPERATORS)], ir_version=8)
        helper.set_model_props(model, {"columns": json.dumps(columns)})
        checker.check_model(model, full_check=True)
        return model


def of_clusters(centers: NDArray[Any], radius: float | None, columns: list[str]) -> Any:
    """Returns a model with the outputs ``label`` and ``distances``. A row farther than the radius from every centre gets the label -1."""
    graph = Graph(centers.dtype)
    squares = graph.squares(centers)
    distances = graph.apply("Sqrt", squares, output="distances")
    if radius is None:
        graph.apply("ArgMin", squares, output="label", axis=1, keepdims=0)
    else:
        nearest = graph.apply("ArgMin", squares, axis=1, keepdims=0)
        least = graph.apply("ReduceMin", distances, graph.constant([1], np.int64), keepdims=0)
        is_outside = graph.apply("Greater", least, graph.constant(radius))
        graph.apply("Where", is_outside, graph.constant(-1, np.int64), nearest, output="label")
    return graph.model("clusters", columns, {"label": (np.int64, None), "distances": (graph.dtype, len(centers))})


def of_mixture(weights: NDArray[Any], means: NDArray[Any], factors: NDArray[Any], dtype: Any, columns: list[str]) -> Any:
    """Returns a model with the outputs ``label``, ``probabilities`` and ``log_density``.

    ``factors`` has an upper triangular matrix for each component, with ``precision = factor @ factor.T``.
    """
    components, dimension = means.shape
    graph = Graph(dtype)
    # K x N x D: the differences from each mean, in units in which the component is round.
    away = graph.apply("Sub", graph.apply("Unsqueeze", "X", graph.constant([0], np.int64)), graph.constant(means[:, None]))
    scaled = graph.apply("MatMul", away, graph.constant(factors))
    squares = graph.apply("ReduceSumSquare", scaled, graph.constant([2], np.int64), keepdims=0)
    logarithms = np.log(weights) + np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1) - 0.5 * dimension * np.log(2 * np.pi)
    halved = graph.apply("Mul", graph.apply("Transpose", squares, perm=[1, 0]), graph.constant(-0.5))
    joint = graph.apply("Add", halved, graph.constant(logarithms))
    density = graph.apply("ReduceLogSumExp", joint, graph.constant([1], np.int64), keepdims=1)
    graph.apply("Squeeze", density, graph.constant([1], np.int64), output="log_density")
    graph.apply("Exp", graph.apply("Sub", joint, density), output="probabilities")
    graph.apply("ArgMax", joint, output="label", axis=1, keepdims=0)
    return graph.model("mixture", columns, {"label": (np.int64, None), "probabilities": (dtype, components), "log_density": (dtype, None)})


def of_map(means: NDArray[Any], nodes: NDArray[Any], variance: float, columns: list[str]) -> Any:
    """Returns a model with the outputs ``positions`` and ``responsibilities``."""
    graph = Graph(means.dtype)
    logits = graph.apply("Mul", graph.squares(means), graph.constant(-0.5 / variance))
    responsibilities = graph.apply("Softmax", logits, output="responsibilities", axis=1)
    graph.apply("MatMul", responsibilities, graph.constant(nodes), output="positions")
    return graph.model("map", columns, {"positions": (graph.dtype, nodes.shape[1]), "responsibilities": (graph.dtype, len(nodes))})


def write(model: Any, path: str | PathLike[str]) -> None:
    """Writes a model as a whole, or not at all."""
    _native.write_bytes(os.fspath(path), model.SerializeToString())
