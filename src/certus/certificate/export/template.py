"""The script of a certificate: the page, the parameters, and a loader of the user's files.

    head        what is claimed, and how the script is called
    page        its terms and itself, without imports of ours
    model       PROBLEMS: the arguments of ``check``
    loader      columns by name, labels as numbers, the steps of a pipeline
"""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ...definitions.terms import claim as claims
from ...definitions.terms.targets import NoTargets
from ..pages.lines import terms_of
from ..pages.problem import Problem
from .literals import Literals

if TYPE_CHECKING:
    from ..certificate import Certificate

HEAD = '''"""Check what a {model} claims, from its data. Needs NumPy alone.

    python {name} {usage}

Files are .npy, .csv (a header is understood) or .npz (CSR, of scipy.sparse.save_npz).
{claimed}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""
import csv
import sys
'''
WITH_TARGETS = "X.npy y.npy [weights.npy]       or: data.csv TARGET [WEIGHTS], columns by name"
WITHOUT_TARGETS = "X.npy [weights.npy]"

MODEL = """
# --- the model ---
{arrays}SHAPE, OBJECTIVE, SLACK = {shape}, {objective}, {slack}
COLUMNS = {columns}
CLASSES = {classes}
PROBLEMS = [{problems}]
"""

LOADER = '''
# --- the data ---
def table(path):
    """Columns of a file by name: those of a CSV file's header, else 0, 1, …"""
    if path.endswith(".csv"):
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
        header = not any(label(cell) != cell or cell in NUMBER for cell in rows[0])
        return dict(zip(rows.pop(0) if header else range(len(rows[0])), np.array(rows).T))
    A = np.load(path)
    if path.endswith(".npz"):
        sparse, A = A, np.zeros(A["shape"])
        i = np.repeat(np.arange(len(A)), np.diff(sparse["indptr"]))
        np.add.at(A, (i, sparse["indices"]), sparse["data"])
    return dict(enumerate(A.reshape(len(A), -1).T))

def label(value):  # 1, 1.0 and "1" are one label
    try:
        return float(value)
    except ValueError:
        return str(value)
NUMBER = {{key: k for k, value in enumerate(CLASSES) for key in (label(value), str(value))}}

def column(given, T):
    return T[given] if given in T else np.column_stack(list(table(given).values()))
'''

STEPS = '''
def prepared(T, name, fill, category, shift, scale):
    """A column as the pipeline made it."""
    v = [fill if str(v) in ("", "NA", "nan") else v for v in T[name].tolist()]
    if category is not None:
        v = [label(cell) == label(category) for cell in v]
    return (np.array(v).astype(float) - shift) / scale
'''

MAIN = """
def main(files):
    try:
        T = table(files[0])
        X = np.column_stack({X})
{y}        s = column(files[{weights}], T).astype(float).ravel() if len(files) > {weights} else np.ones(len(X))
    except (OSError, ValueError, KeyError, IndexError) as error:
        print(f"the data could not be read: {{error!r}}", __doc__, sep="\\n")
        return 2
    if X.shape != SHAPE or len(s) != len(X){shapes}:
        print(f"X has shape {{X.shape}}, the model was fitted on {{SHAPE}}; y and weights have a row each")
        return 2
    claim = total([check({rows}, *targets(y, s), **given) for targets, given in PROBLEMS])
    print(f"{{claim.kind}}: objective {{claim.objective!r}}, claimed {{OBJECTIVE!r}}")
    print(f"missed by {{claim.miss:.3g}}, {{claim.miss / (claim.scale or 1):.3g}} of its scale")
    same = abs(claim.objective - OBJECTIVE) <= 1e-9 * abs(OBJECTIVE) + SLACK
    print("the claim holds" if claim.holds and same else "THE CLAIM DOES NOT HOLD")
    return 0 if claim.holds and same else 1

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


class Script(NamedTuple):
    """The text of a script, and the arrays of the file beside it."""

    text: str
    literals: Literals


def assembled(c: "Certificate", problems: list[Problem], claimed: str, name: str) -> Script:
    """The script of a certificate whose page is called for ``problems``."""
    targets = not isinstance(problems[0].targets, NoTargets)
    literals = Literals()
    calls = [
        f"({literals.source(p.targets)}, {literals.source({**p.arguments, 'tol': c.tol})})"
        for p in problems
    ]
    classes = "()" if c.labels is None else repr(c.labels.classes.tolist())
    head = HEAD.format(
        model=c.model, name=name, claimed=claimed,
        usage=WITH_TARGETS if targets else WITHOUT_TARGETS,
    )  # fmt: skip
    model = MODEL.format(
        arrays='ARRAYS = np.load(__file__[:-3] + ".npz")\n' if literals.arrays else "",
        shape=c.shape, objective=literals.source(c.objective), slack=literals.source(_slack(c)),
        columns=_columns(c), classes=classes, problems=",\n    ".join(calls),
    )  # fmt: skip
    main = MAIN.format(
        X=_X(c), y=_y(c, targets), weights=2 if targets else 1,
        shapes=" or len(y) != len(X)" if targets else "", rows=_rows(problems[0].constant),
    )  # fmt: skip
    body = "\n\n".join(_sources(problems))
    steps = STEPS if c._steps is not None else ""
    text = head + body + "\n" + model + LOADER.format() + steps + main
    return Script(re.sub(r"\n{3,}", "\n\n", text), literals)


def _slack(c: "Certificate") -> float:
    """By how much the objective of a page may differ: by the gap that the proof left open."""
    return c.gap if c.bound is not None else 0.0


def _columns(c: "Certificate") -> str:
    """Names of columns, with the steps of a pipeline where they are known."""
    if c._steps is not None:
        return "[" + ", ".join(repr(tuple(step)) for step in c._steps) + "]"
    return repr(list(c.feature_names or ()))


def _X(c: "Certificate") -> str:
    if c._steps is not None:
        return "[prepared(T, *step) for step in COLUMNS]"
    names = "COLUMNS if set(COLUMNS) & set(T) else T" if c.feature_names else "T"
    return f"[T[name].astype(float) for name in {names}]"


def _y(c: "Certificate", targets: bool) -> str:
    if not targets:
        return "        y = None\n"
    if c.labels is None:
        return "        y = column(files[1], T).astype(float)\n"
    return (
        "        y = np.array([NUMBER[label(v)] for v in column(files[1], T).ravel().tolist()])\n"
    )


def _rows(constant: float | None) -> str:
    return "X" if constant is None else f"np.column_stack([X, np.full(len(X), {constant!r})])"


# --- sources --------------------------------------------------------------------------------------


def _sources(problems: list[Problem]) -> Iterator[str]:
    """Imports, terms and page, in the order in which they need each other."""
    page = import_module(f"certus.definitions.{problems[0].page}")
    text = inspect.getsource(page)
    terms = dict.fromkeys(t for p in problems for t in terms_of([p.targets, p.arguments]))
    imports, rest = _without_imports(inspect.getsource(claims))
    own_imports, own = _without_imports(text)
    lines = {"import numpy as np": None} | dict.fromkeys([*imports, *own_imports])
    yield "\n".join(sorted(lines, key=lambda line: (line.startswith("import"), line)))
    yield rest
    yield from (inspect.getsource(term).rstrip() for term in terms)
    yield own


def _without_imports(text: str) -> tuple[list[str], str]:
    """The import lines of a source that are not ours, and its other lines."""
    lines, imports = text.splitlines(), []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            rows = range(node.lineno - 1, node.end_lineno or node.lineno)
            if not (getattr(node, "module", None) or "").startswith("certus."):
                imports.append(" ".join(lines[i].strip() for i in rows))
            for i in rows:
                lines[i] = ""
    return imports, "\n".join(lines).strip()
