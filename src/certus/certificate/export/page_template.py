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

from ...definitions.terms.targets import NoTargets
from ..pages.lines import terms_of
from ..pages.problem import Problem
from .page_literals import Literals

if TYPE_CHECKING:
    from ..certificate import Certificate

HEAD = '''"""Check what a {model} claims, from its data. Needs NumPy alone.

    python {name} {usage}
    Files: .npy, .csv (with or without a header), .npz (CSR, by scipy.sparse.save_npz).
{claimed}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""
'''
MOST_LINES = 150
MOST_KEPT = 3  # paragraphs of a page's text that every script has: what it is about, the objective
CLAIM = '''class Claim(NamedTuple):
    """It holds where ``miss`` (objective − bound, or a missed condition) ≤ tol · scale."""
    kind: str
    objective: float
    miss: float
    scale: float
    tol: float
    bound: float | None = None'''
WITH_TARGETS = "X.npy y.npy [weights.npy]       or: data.csv TARGET [WEIGHTS], columns by name"
WITHOUT_TARGETS = "X.npy [weights.npy]"
IMPORTS = ("import csv, sys", "import numpy as np", "from typing import NamedTuple")

MODEL = """
# --- the model ---
{arrays}SHAPE, OBJECTIVE, SLACK = {shape}, {objective}, {slack}
COLUMNS, CLASSES = {columns}, {classes}
PROBLEMS = [{problems}]
"""

LOADER = """
# --- the data ---
def table(path):  # columns by name: of a CSV file's header, else by number
    if path.endswith(".csv"):
        with open(path, newline="", encoding="utf-8-sig") as f: rows = list(csv.reader(f))
        header = not any(label(cell) != cell or cell in NUMBER for cell in rows[0])
        return dict(zip(rows.pop(0) if header else range(len(rows[0])), np.array(rows).T))
    A = np.load(path)
    if path.endswith(".npz"):
        i = np.repeat(np.arange(A["shape"][0]), np.diff(A["indptr"]))
        sparse, A = A, np.zeros(A["shape"])
        np.add.at(A, (i, sparse["indices"]), sparse["data"])
    return dict(enumerate(A.reshape(len(A), -1).T))

def label(value):  # 1, 1.0 and "1" are one label
    try: return float(value)
    except ValueError: return str(value)
NUMBER = {key: k for k, value in enumerate(CLASSES) for key in (label(value), str(value))}
"""

STEPS = """
def prepared(T, name, fill, category, shift, scale):  # a column as the pipeline made it
    v = [fill if str(v) in ("", "NA", "nan") else v for v in T[name].tolist()]
    if category is not None:
        v = [label(cell) == label(category) for cell in v]
    return (np.array(v).astype(float) - shift) / scale
"""

MAIN = """
def main(files):
    try:
        T = table(files[0])
        X = np.column_stack({X})
        more = [T[f] if f in T else np.column_stack([*table(f).values()]) for f in files[1:]]
        y, s = {y}, more[{weights}].ravel().astype(float) if more[{weights}:] else np.ones(len(X))
        if X.shape != SHAPE or {{len(X)}} != {{len(s){length}}}:
            raise ValueError(f"X is {{X.shape}}, the fit's is {{SHAPE}}; or y has another length")
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        print(f"the data could not be read: {{error!r}}", __doc__, sep="\\n")
        return 2
    claims = [check({rows}, *targets(y, s), **given) for targets, given in PROBLEMS]
    kind, (objective, miss, scale) = claims[0].kind, np.sum([c[1:4] for c in claims], axis=0)
    holds = miss <= claims[0].tol * scale and abs(objective - OBJECTIVE) <= SLACK
    print(f"{{kind}}: objective {{objective:.15g}}, claimed {{OBJECTIVE!r}}")
    print(f"missed by {{miss:.3g}}, {{miss / (scale or 1):.3g}} of its scale")
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
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
        X=_X(c), y=_y(c, targets), length=", len(y)" if targets else "",
        weights=1 if targets else 0, rows=_rows(problems[0].constant),
    )  # fmt: skip
    steps = STEPS if c._steps is not None else ""
    rest = model + LOADER + steps + main
    page = import_module(f"certus.definitions.{problems[0].page}")
    paragraphs = inspect.getdoc(page).split("\n\n")  # type: ignore[union-attr]
    while True:
        body = "\n\n".join(_sources(problems, "\n".join(paragraphs)))
        text = head + _dense(body + rest)
        if text.count("\n") <= MOST_LINES or len(paragraphs) <= MOST_KEPT:
            return Script(text, literals)
        # the objective stays, and the derivation is left to the page
        paragraphs[-2:] = [f"The whole text: {page.__name__}."]


def _dense(text: str) -> str:
    """Python source with a blank line before definitions and none within them."""
    text = re.sub(r"\n\n+(?=[ )\]])", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def _slack(c: "Certificate") -> float:
    """By how much the objective of a page may differ: by rounding, and the gap that is left."""
    if c.kind == "exact":  # the objective counts what is wrong
        return float("inf")
    return 1e-9 * abs(c.objective) + (c.gap if c.bound is not None else 0.0)


def _columns(c: "Certificate") -> str:
    """Names of columns, with the steps of a pipeline where they are known."""
    if c._steps is not None:
        return "[" + ", ".join(repr(tuple(step)) for step in c._steps) + "]"
    return repr(list(c.feature_names or ()))


def _X(c: "Certificate") -> str:
    if c._steps is not None:
        return "[prepared(T, *step) for step in COLUMNS]"
    names = "(COLUMNS if set(COLUMNS) & set(T) else T)" if c.feature_names else "T"
    return f"[T[name].astype(float) for name in {names} if name not in files[1:]]"


def _y(c: "Certificate", targets: bool) -> str:
    if not targets:
        return "None"
    if c.labels is None:
        return "more[0].astype(float)"
    return "np.array([NUMBER[label(v)] for v in more[0].ravel().tolist()])"


def _rows(constant: float | None) -> str:
    return "X" if constant is None else f"np.column_stack([X, np.full(len(X), {constant!r})])"


# --- sources --------------------------------------------------------------------------------------


def _sources(problems: list[Problem], text: str) -> Iterator[str]:
    """Imports, terms and page, in the order in which they need each other; ``text``: its own."""
    page = import_module(f"certus.definitions.{problems[0].page}")
    terms = dict.fromkeys(t for p in problems for t in terms_of([p.targets, p.arguments]))
    modules = [*(import_module(term.__module__) for term in terms), page]
    parts = [_without_imports(inspect.getsource(module)) for module in modules]
    imports = {*IMPORTS, *(line for part in parts for line in part.imports)}
    yield "\n".join(sorted(imports))
    yield CLAIM
    yield from (inspect.getsource(term).rstrip() for term in terms)
    code = re.sub(r'^r?""".*?"""', "", parts[-1].text, count=1, flags=re.DOTALL)
    yield f'r"""{text}\n"""\n{code.lstrip()}'


class Source(NamedTuple):
    """A module without its imports, and those that are not ours."""

    imports: list[str]
    text: str


def _without_imports(text: str) -> Source:
    lines, imports = text.splitlines(), []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            rows = range(node.lineno - 1, node.end_lineno or node.lineno)
            if not (getattr(node, "module", None) or "").startswith("certus."):
                imports.append(" ".join(lines[i].strip() for i in rows))
            for i in rows:
                lines[i] = ""
    return Source(imports, "\n".join(lines).strip())
