"""Coefficients of a linear model in ONNX: the columns it reads, scaled, and one score of them.

    z = Σⱼ wⱼ(aⱼ x_{c(j)} + cⱼ) + b

A graph is followed from its inputs through steps that scale or choose columns to the first product
with constants. ONNX keeps what a model predicts with, not what it minimised: its coefficients are
audited like those of a printed table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import MissingExtraError, ModelFileError

if TYPE_CHECKING:
    import onnx

# significant digits that survive float32, in which most programs write: 6e-8 of a number
FLOAT32_DIGITS = 6
FLOAT64_DIGITS = 15
INTERCEPT = "(Intercept)"
# steps that leave numbers as they are: rows with missing values are refused later
PASSES = (
    "Cast", "Identity", "Reshape", "Squeeze", "Flatten", "Dropout", "IsNaN", "Imputer",
)  # fmt: skip
ENDS_OF_CLASSIFIERS = ("LinearClassifier", "Sigmoid", "Softmax", "ArgMax", "ZipMap", "LabelEncoder")


@dataclass(frozen=True)
class OnnxColumns:
    """Columns a·x[at] + c of the inputs."""

    at: np.ndarray
    a: np.ndarray
    c: np.ndarray


@dataclass(frozen=True)
class OnnxCoefficients:
    """What a graph computes: one score of scaled columns."""

    columns: OnnxColumns
    w: np.ndarray  # (p,)
    b: float
    digits: int
    is_classifier: bool
    positive_class: Any = None  # None: the last in order
    names: tuple[str, ...] | None = None  # of the inputs, where each is a column
    n_inputs: int = 0

    def estimates(self, names: "list[str]") -> dict[str, str]:
        """Return a table of coefficients with the digits that the file keeps."""
        found = {INTERCEPT: self._text(self.b)} if self.b or not self.columns.c.any() else {}
        return found | {name: self._text(w) for name, w in zip(names, self.w, strict=True)}

    def _text(self, value: float) -> str:
        return f"{value:.{self.digits - 1}e}"


def read(path: Path) -> OnnxCoefficients:
    """Read the linear model of a file; other graphs raise ``ModelFileError``."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("ONNX files need onnx: pip install 'certus[onnx]'") from error
    try:
        graph = onnx.load(str(path), load_external_data=False).graph
        return _Follower(graph).followed()
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}") from error
    except Exception as error:  # whatever a damaged file makes the library stumble over
        raise ModelFileError(
            f"{path} cannot be read as ONNX: {type(error).__name__}: {error}"
        ) from error


class _Follower:
    """Follows a graph from its inputs to the first product with constants."""

    def __init__(self, graph: "onnx.GraphProto"):
        from onnx import numpy_helper

        self.graph, self.to_array = graph, numpy_helper.to_array
        self.constants = {one.name: self.to_array(one) for one in graph.initializer}
        self.values: dict[str, OnnxColumns] = {}
        self.dtypes: list[np.dtype] = []
        self.names = self._read_inputs()

    def _read_inputs(self) -> tuple[str, ...] | None:
        inputs = [one for one in self.graph.input if one.name not in self.constants]
        widths = [self._width(one) for one in inputs]
        ends = np.cumsum(widths)
        for one, end, width in zip(inputs, ends, widths, strict=True):
            at = np.arange(end - width, end)
            self.values[one.name] = OnnxColumns(at, np.ones(width), np.zeros(width))
        self.n_inputs = int(ends[-1])
        single = len(inputs) == self.n_inputs and len(inputs) > 1
        return tuple(one.name for one in inputs) if single else None

    def _width(self, given: "onnx.ValueInfoProto") -> int:
        dims = given.type.tensor_type.shape.dim
        width = dims[-1].dim_value if len(dims) == 2 else 0
        if not width:
            raise ModelFileError(f"has an input of unknown width, {given.name}")
        return int(width)

    def followed(self) -> OnnxCoefficients:
        for node in self.graph.node:
            step: Callable[[Any], OnnxCoefficients | None] | None = getattr(
                self, f"_{node.op_type.lower()}", None
            )
            if node.op_type == "Constant":
                self.constants[node.output[0]] = self.to_array(node.attribute[0].t)
            elif node.op_type in PASSES:
                self._same(node)
            elif step is None:
                raise ModelFileError(
                    f"is no linear model of scaled columns: it has a step {node.op_type}"
                )
            elif (found := step(node)) is not None:
                return self._described(found)
        raise ModelFileError("holds no linear model: no product with constants was found")

    def _described(self, found: OnnxCoefficients) -> OnnxCoefficients:
        kinds = {node.op_type for node in self.graph.node}
        # float32 wherever one of the numbers is: attributes of ONNX-ML are
        single = any(dtype.itemsize < 8 for dtype in self.dtypes)
        return replace(
            found, names=self.names, n_inputs=self.n_inputs,
            digits=FLOAT32_DIGITS if single else FLOAT64_DIGITS,
            is_classifier=bool(kinds & set(ENDS_OF_CLASSIFIERS)),
        )  # fmt: skip

    # --- steps that scale and choose columns ---

    def _same(self, node: Any) -> None:
        if node.input[0] in self.values:
            self.values[node.output[0]] = self.values[node.input[0]]

    def _concat(self, node: Any) -> None:
        parts = [self._columns(name) for name in node.input]
        at, a, c = (np.concatenate([getattr(one, k) for one in parts]) for k in ("at", "a", "c"))
        self.values[node.output[0]] = OnnxColumns(at, a, c)

    _featurevectorizer = _concat

    def _where(self, node: Any) -> None:
        mask, value, name = node.input
        made = {out: one for one in self.graph.node for out in one.output}
        if mask not in made or made[mask].op_type != "IsNaN" or value not in self.constants:
            raise ModelFileError("is no linear model of scaled columns: it has a step Where")
        self.values[node.output[0]] = self._columns(name)

    def _gather(self, node: Any) -> None:
        X, i = self._columns(node.input[0]), self._constant(node.input[1]).ravel()
        if self._attributes(node).get("axis") != 1:
            raise ModelFileError("is no linear model of scaled columns: it chooses rows")
        self.values[node.output[0]] = OnnxColumns(X.at[i], X.a[i], X.c[i])

    def _scaler(self, node: Any) -> None:
        X, given = self._columns(node.input[0]), self._attributes(node)
        a = np.broadcast_to(given.get("scale", [1.0]), X.a.shape)
        offset = np.broadcast_to(given.get("offset", [0.0]), X.a.shape)
        self.dtypes.append(np.dtype(np.float32))
        self.values[node.output[0]] = OnnxColumns(X.at, a * X.a, a * (X.c - offset))

    def _sub(self, node: Any) -> None:
        X, v = self._with_constant(node)
        self.values[node.output[0]] = OnnxColumns(X.at, X.a, X.c - v)

    def _add(self, node: Any) -> None:
        X, v = self._with_constant(node, either=True)
        self.values[node.output[0]] = OnnxColumns(X.at, X.a, X.c + v)

    def _mul(self, node: Any) -> None:
        X, v = self._with_constant(node, either=True)
        self.values[node.output[0]] = OnnxColumns(X.at, X.a * v, X.c * v)

    def _div(self, node: Any) -> None:
        X, v = self._with_constant(node)
        self.values[node.output[0]] = OnnxColumns(X.at, X.a / v, X.c / v)

    # --- the product ---

    def _matmul(self, node: Any) -> OnnxCoefficients:
        X, W = self._columns(node.input[0]), self._constant(node.input[1])
        after = [one for one in self.graph.node if node.output[0] in one.input]
        b = np.zeros(1)
        if len(after) == 1 and after[0].op_type == "Add":
            other = [name for name in after[0].input if name != node.output[0]]
            b = self._constant(other[0])
        return self._one_score(X, W, b)

    def _gemm(self, node: Any) -> OnnxCoefficients:
        given = self._attributes(node)
        W = self._constant(node.input[1]) * given.get("alpha", 1.0)
        b = self._constant(node.input[2]) if len(node.input) > 2 else np.zeros(1)
        W = W.T if given.get("transB") else W
        return self._one_score(self._columns(node.input[0]), W, b * given.get("beta", 1.0))

    def _linearregressor(self, node: Any) -> OnnxCoefficients:
        given = self._attributes(node)
        self.dtypes.append(np.dtype(np.float32))
        X, w = self._columns(node.input[0]), np.array(given["coefficients"], dtype=float)
        return self._one_score(X, w.reshape(-1, len(X.at)).T, given.get("intercepts", [0.0]))

    def _linearclassifier(self, node: Any) -> OnnxCoefficients:
        given = self._attributes(node)
        self.dtypes.append(np.dtype(np.float32))
        X = self._columns(node.input[0])
        W = np.array(given["coefficients"], dtype=float).reshape(-1, len(X.at)).T
        b = np.array(given.get("intercepts", np.zeros(W.shape[1])), dtype=float)
        labels = given.get("classlabels_ints") or given.get("classlabels_strings") or []
        if W.shape[1] == 2 and np.array_equal(W[:, 0], -W[:, 1]):  # both signs are written
            W, b = W[:, 1:], b[1:]
        found = self._one_score(X, W, b)
        return replace(found, positive_class=labels[-1]) if len(labels) == 2 else found

    def _one_score(self, X: OnnxColumns, W: np.ndarray, b: Any) -> OnnxCoefficients:
        W, b = np.asarray(W).reshape(len(X.at), -1), np.ravel(np.asarray(b, dtype=float))
        if W.shape[1] != 1:
            raise ModelFileError(
                f"has {W.shape[1]} scores a row: models of two classes or one number are audited"
            )
        return OnnxCoefficients(X, W[:, 0].astype(float), float(b[0]), FLOAT64_DIGITS, False)

    # --- values ---

    def _columns(self, name: str) -> OnnxColumns:
        if name not in self.values:
            raise ModelFileError(f"is no linear model of scaled columns: {name} is made otherwise")
        return self.values[name]

    def _constant(self, name: str) -> np.ndarray:
        if name not in self.constants:
            raise ModelFileError(f"multiplies or adds what is no constant: {name}")
        value: np.ndarray = np.asarray(self.constants[name])
        if value.dtype.kind == "f":
            self.dtypes.append(value.dtype)
            return value.astype(float)
        return value

    def _with_constant(self, node: Any, either: bool = False) -> tuple[OnnxColumns, np.ndarray]:
        first, second = node.input
        if either and first in self.constants:
            first, second = second, first
        return self._columns(first), np.ravel(self._constant(second))

    def _attributes(self, node: Any) -> dict[str, Any]:
        from onnx import helper

        found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        return {
            k: [v.decode() if isinstance(v, bytes) else v for v in value]
            if k == "classlabels_strings" else value
            for k, value in found.items()
        }  # fmt: skip
