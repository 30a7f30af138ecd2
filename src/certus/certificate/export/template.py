"""The script of a certificate: one template, and the slots that a family fills.

    head      what is claimed, and how the script is called
    reader    which files hold X, y and the weights, and which shapes these should have
    report    what is printed of the finding; it sets ``holds``

Between them stand the source of the definition, the parameters, and a reader of rows in blocks.
"""

import ast
import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from .literals import literal
from .readers import Reader

if TYPE_CHECKING:
    from ..certificate import Certificate

HEAD = '''"""Recompute what a {model} {does}, from its data and the definition below.

Needs NumPy only.

    python {name} {usage}

{claimed}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""

import sys
'''

LOADER = '''

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
    if len(arguments) not in {wanted}:
        print(__doc__)
        return 2
    try:
        X = load(arguments[0])
        X = X if isinstance(X, Sparse) else X.reshape(len(X), -1)
        y = {y}
        s = {s}
    except (OSError, ValueError, KeyError) as error:
        print(f"the data could not be read: {{error}}")
        return 2
    shapes = {shapes}
    fitted = {fitted}
    if shapes != fitted:
        print(f"{named} {{shapes}}, the model was fitted on {{fitted}}")
        return 2
{coding}    found = check(Data(X, y, s), tol={tol!r}, **PARAMETERS)
{report}
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Slots:
    """What a family puts into the template."""

    claimed: str  # lines of the script's docstring
    usage: str  # the files, and which formats they may have
    reader: Reader
    report: str
    parameters: str  # what they are
    does: str = "claims"
    block: int = 1024  # rows at a time


def assembled(c: "Certificate", slots: Slots, name: str) -> str:
    """Head, definition, parameters, a reader of data, and what is done."""
    parameters = ",\n".join(f"    {k!r}: {literal(v)}" for k, v in c.parameters.items())
    body = "\n\n\n".join(sources(c.definition, set()))
    reader = slots.reader
    return (
        HEAD.format(
            model=c.model, does=slots.does, name=name, usage=slots.usage, claimed=slots.claimed
        )
        + "\n# --- the definition, as certus uses it ---\n\n"
        + body
        + f"\n\n# --- {slots.parameters} ---\n\nPARAMETERS = {{\n{parameters},\n}}\n"
        + LOADER.format(block=slots.block)
        + MAIN.format(tol=c.tol, report=slots.report.rstrip(), **vars(reader))
    )


def sources(module: str, seen: set[str]) -> list[str]:
    """Sources of a definition and of the definitions it builds on, those first."""
    if module in seen:
        return []
    seen.add(module)
    text = inspect.getsource(import_module(module))
    lines, before = text.splitlines(), []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("certus."):
            before += sources(node.module or "", seen)
            for i in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[i] = ""
    return [*before, "\n".join(lines).rstrip()]
