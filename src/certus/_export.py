"""A certificate as a script: the definition's own source, the parameters, and a loader.

The script needs NumPy and the user's arrays, nothing of certus. That of a classifier reads labels
(numbers or text) and knows the classes.
"""

import ast
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._explain_left_out import among
from ._files import write_whole
from .exceptions import CertificateError

if TYPE_CHECKING:
    from .certificate import Certificate

HEAD = '''"""Recompute what a {model} claims, from its data and the definition below.

Needs NumPy only.

    python {name} X.npy y.npy [weights.npy]         (or .csv files, without a header; sparse X as
                                                     .npz from scipy.sparse.save_npz, CSR)

Minimised: {formula}
Claimed:   objective {objective!r}, {claim}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""

import sys
'''

TAIL = '''

class Sparse:
    """CSR rows; those that are asked for come with their zeros."""

    def __init__(self, parts):
        if bytes(parts["format"].item()) != b"csr":
            raise ValueError("a sparse X must be CSR: X.tocsr() before save_npz")
        self.data, self.indices, self.indptr = parts["data"], parts["indices"], parts["indptr"]
        self.shape, self.dtype = tuple(int(side) for side in parts["shape"]), self.data.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        rows = np.arange(len(self))[rows]
        starts, counts = self.indptr[rows], self.indptr[rows + 1] - self.indptr[rows]
        i = np.repeat(np.arange(len(rows)), counts)
        e = np.arange(len(i)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        out = np.zeros((len(rows), self.shape[1]), dtype=self.dtype)
        np.add.at(out, (i, self.indices[e]), self.data[e])
        return out


class Data:
    """Rows as the definition asks for them, in blocks of at most {block} rows."""

    def __init__(self, X, y, s):
        self.X, self.y, self.s, self.shape = X, y, s, X.shape
        self.sparse, self.threads = isinstance(X, Sparse), 1
        blocks = len(X) // {block}
        self.depth = min({block}, len(X)) + max(1, blocks).bit_length() + blocks
        self.eps = float(np.finfo(np.float32 if X.dtype == np.float32 else float).eps)

    def _rows(self, rows):
        return self.X[rows], self.y[rows], None if self.s is None else self.s[rows]

    def take(self, rows):
        return self._rows(rows)

    def all_rows(self):
        X = self.X[:]
        return X if X.dtype in (np.float32, np.float64) else X.astype(float)

    def sample(self, count):
        n = len(self.X)
        if count >= n:
            return self
        spread = np.arange(count) * 0.6180339887498949 % 1.0 * n
        return Data(*self._rows(np.unique(spread.astype(int))))

    def some(self, count):
        return self.sample(count)._rows(slice(None))

    def reduce(self, statistic, *args, combine=None, beside=(), square=False, **_):
        step = max({block}, self.shape[1] // 2) if square else {block}
        if self.sparse and not square:  # blocks get their zeros back
            step = max(16, min(step, 2**24 // self.shape[1]))
        total = None
        for start in range(0, len(self.X), step):
            rows = slice(start, start + step)
            part = statistic(*self._rows(rows), *(a[rows] for a in beside), *args)
            if total is None:
                total = part
            elif combine is None:
                fields = [a + b for a, b in zip(total, part)]
                total = tuple(fields) if type(part) is tuple else type(part)(*fields)
            else:
                total = combine(total, part)
        return total


def load(path):
    if path.endswith(".npy"):
        return np.load(path, allow_pickle=False)
    if path.endswith(".npz"):
        return Sparse(np.load(path, allow_pickle=False))
    return np.loadtxt(path, delimiter=",", ndmin=1)
'''

MAIN = """

{labels}def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__)
        return 2
    try:
{read}
    except (OSError, ValueError, KeyError) as error:
        print(f"the data could not be read: {{error}}")
        return 2
    shapes = X.shape, y.shape, (len(X),) if s is None else s.shape
    fitted = {shape!r}, ({shape[0]}, {columns}), ({shape[0]},)
    if shapes != fitted:
        print(f"X, y and weights have shapes {{shapes}}, the model was fitted on {{fitted}}")
        return 2
{coding}    found = check(Data(X, y, s), tol={tol!r}, **PARAMETERS)
    print(f"objective {{found['objective']!r}}, claimed {objective!r}")
    print(f"{what}, claimed {gap:.3g}")
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * abs({objective!r}) + {slack!r}
    holds = bool(same and found["residual"] <= {tol!r})
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""

NUMBERS = {
    "labels": "",
    "read": """\
        X, y, s = (*map(load, arguments), None)[:3]
        X = X if isinstance(X, Sparse) else X.reshape(len(X), -1)
        y = np.asarray(y, dtype=float).reshape(len(X), -1)""",
    "columns": 'len(PARAMETERS["b"])',
    "coding": "",
}

CLASSES = {
    "labels": '''CLASSES = {classes}
NUMBER = {{name: k for k, label in enumerate(CLASSES) for name in (label, str(label))}}


def load_labels(path):
    """The index of each row's class, from labels in .npy or in lines of text."""
    if path.endswith(".npy"):
        return np.array([number_of(label) for label in np.load(path, allow_pickle=False).ravel()])
    with open(path, encoding="utf-8-sig") as file:
        lines = [line.strip() for line in file if line.strip()]
    return np.array([number_of(line.strip("\\"'")) for line in lines])


def number_of(label):
    """As it is; what is no class as text, as a number."""
    label = label.item() if isinstance(label, np.generic) else label
    try:
        return float(NUMBER[label] if label in NUMBER else NUMBER[float(label)])
    except (KeyError, ValueError):
        raise ValueError(f"{{label!r}} is none of the classes {{CLASSES}}") from None


''',
    "read": """\
        X, s = load(arguments[0]), load(arguments[2]) if len(arguments) == 3 else None
        X = X if isinstance(X, Sparse) else X.reshape(len(X), -1)
        y = load_labels(arguments[1]).reshape(-1, 1)""",
    "columns": "1",
    "coding": "",
}

SIGNS = """\
    # ±1: a column for each class, of two classes the second's alone
    weight = {weight}
    if weight is not None:
        s = weight[y[:, 0].astype(int)] * (1.0 if s is None else s)
    y = np.where(y == np.arange(1 if len(CLASSES) == 2 else 0, len(CLASSES)), 1.0, -1.0)
"""


def _source(module: str, seen: set[str]) -> list[str]:
    """Sources of a definition and of the definitions it builds on, those first."""
    if module in seen:
        return []
    seen.add(module)
    text = inspect.getsource(import_module(module))
    lines, before = text.splitlines(), []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("certus."):
            before += _source(node.module or "", seen)
            for i in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[i] = ""
    return [*before, "\n".join(lines).rstrip()]


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray):
        # repr of a Python float has all its digits
        values, kind = (
            repr(value.tolist()),
            "float" if value.dtype.kind == "f" else value.dtype.name,
        )
        values = values.replace("inf", "np.inf").replace("nan", "np.nan")
        return f"np.array({values}, dtype={kind!r}).reshape({value.shape!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))},)"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, float) and np.isinf(value):
        return f"float('{value}')"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _targets(labels: Any) -> dict[str, str]:
    """How the script reads y."""
    if labels is None:
        return NUMBERS
    coding = SIGNS.format(weight=_literal(labels.weight)) if labels.coding == "signs" else ""
    classes = repr(labels.classes.tolist())
    return {**CLASSES, "labels": CLASSES["labels"].format(classes=classes), "coding": coding}


def require_certified(c: "Certificate") -> None:
    if not c.certified:
        raise CertificateError(f"nothing to export: the model is {c.status}")


def assembled(c: "Certificate", values: dict[str, Any], head: str, main: str, what: str) -> str:
    """Head, definition, parameters (``what`` they are), a reader of data, and what is done."""
    parameters = ",\n".join(f"    {k!r}: {_literal(v)}" for k, v in c.parameters.items())
    body = "\n\n\n".join(_source(c.definition, set()))
    return (
        head.format(**values)
        + "\n# --- the definition, as certus uses it ---\n\n"
        + body
        + f"\n\n# --- {what} ---\n\nPARAMETERS = {{\n{parameters},\n}}\n"
        + TAIL.format(**values)
        + main.format(**values)
    )


def script(certificate: "Certificate", name: str = "check.py") -> str:
    c = certificate
    require_certified(c)
    gap, near, found = c.gap, "at most {} above the best possible", "{found['gap']:.3g}"
    if c.bound is None and "gain" in c.found:
        gap, near, found = c.found["gain"], "one more step would gain {}", "{found['gain']:.3g}"
    elif c.bound is None and "convex" in c.found:
        gap, near = c.residual, "no slope is more than {} of the largest there can be"
        found = "{found['residual']:.3g}"
    elif c.bound is None:
        gap, near = c.residual * c.found["null_objective"], "one more Newton step would gain {}"
        found = "{found['residual'] * found['null_objective']:.3g}"
    values = {
        "model": c.model, "formula": c.formula, "objective": c.objective, "gap": gap,
        "slack": gap if "convex" not in c.found or c.bound is not None else 0.0,
        "shape": c.shape, "tol": c.tol, "name": name, "block": 1024,
        "claim": near.format(repr(gap)) + _among(c), "what": near.format(found),
        **_targets(c.labels),
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "the model's parameters")


def _among(c: "Certificate") -> str:
    """Which models the claim speaks of, for a docstring: names of columns may hold anything."""
    return among(c).replace("\\", "/").replace('"', "'")


def export(certificate: "Certificate", path: Any, script: Callable[..., str] = script) -> None:
    """Write the script, whole or not at all."""
    write_whole(path, script(certificate, Path(path).name))
