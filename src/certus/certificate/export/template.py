"""The text of a script: what is claimed, the model, and a loader of the user's files.

head        what is claimed, and how the script is called
            the page and its terms stand here (``sources.py``)
model       PROBLEMS: the arguments of ``check``
loader      columns by name, labels as numbers, the steps of a pipeline
main        reads the files, runs the page and says whether the claim holds
"""

HEAD = '''"""Check what a {model} claims, from its data. Needs NumPy alone.

    python {name} {usage}
    Files: .npy, .csv (with or without a header), .npz (CSR, by scipy.sparse.save_npz).
{claimed}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""
'''
WITH_TARGETS = "X.npy y.npy [weights.npy]       or: data.csv TARGET [WEIGHTS], columns by name"
WITH_OFFSETS = (
    "X.npy y.npy offset.npy [weights.npy]       or: data.csv TARGET OFFSET [WEIGHTS], columns by "
    "name\n    Offsets are log exposures, and may also be a second column of y."
)
WITH_WEIGHTS = "X.npy [weights.npy]"
ROWS_ALONE = "X.npy"
IMPORTS = ("import csv, sys", "import numpy as np", "from collections import namedtuple")

CLAIM = """\
# a claim holds where miss (objective − bound, or a missed condition) ≤ tol · scale
Claim = namedtuple("Claim", "kind objective miss scale tol bound", defaults=[None])"""

MODEL = """
# --- the model ---
{arrays}SHAPE, OBJECTIVE, SLACK, CLASSES = {shape}, {objective}, {slack}, {classes}
COLUMNS = {columns}
PROBLEMS = [{problems}]
"""

LOADER = """
# --- the data ---
def table(path):  # columns by name: of a CSV file's header, else by number
    if path.endswith(".csv"):
        with open(path, newline="", encoding="utf-8-sig") as f:
            rows = [[cell or "nan" for cell in row] for row in csv.reader(f) if row]
        numeric = any(label(cell) != cell or cell in NUMBER for cell in rows[0])
        header = not numeric or (COLUMNS and {*map(str, COLUMNS)} <= {*rows[0]})
        return dict(zip(rows.pop(0) if header else range(len(rows[0])), np.array(rows).T))
    A = np.load(path)
    if path.endswith(".npz"):
        if A["format"].item() != b"csr":
            raise ValueError("sparse X must be CSR: X.tocsr() before save_npz")
        i, sparse, A = np.repeat(np.arange(SHAPE[0]), np.diff(A["indptr"])), A, np.zeros(A["shape"])
        np.add.at(A, (i, sparse["indices"]), sparse["data"])
    return dict(enumerate(A.reshape(len(A), -1).T))

def label(value):  # 1, 1.0 and "1" are one label
    try: return float(value)
    except ValueError: return str(value)
NUMBER = {key: k for k, value in enumerate(CLASSES) for key in (label(value), str(value))}
"""

LABELS = """
def numbers(values):
    for v in values:
        if label(v) not in NUMBER: raise ValueError(f"{v!r} is none of the classes {CLASSES}")
    return np.array([NUMBER[label(v)] for v in values])
"""

# sparse rows of a .npz file: no step of a pipeline reads them
READ_SPARSE_ROWS = """\
    if path.endswith(".npz"):
        if A["format"].item() != b"csr":
            raise ValueError("sparse X must be CSR: X.tocsr() before save_npz")
        i, sparse, A = np.repeat(np.arange(SHAPE[0]), np.diff(A["indptr"])), A, np.zeros(A["shape"])
        np.add.at(A, (i, sparse["indices"]), sparse["data"])
"""

# rows of a CSV file; a pipeline may have been fitted on one with other delimiters
READ_ROWS = """\
        with open(path, newline="", encoding="utf-8-sig") as f:
            rows = [[cell or "nan" for cell in row] for row in csv.reader(f) if row]
"""
READ_ANY_ROWS = """\
        with open(path, newline="", encoding="utf-8-sig") as f: lines = f.read().splitlines(True)
        mark = max(",;\\t|", key="".join(lines[:1]).count)
        rows = [r for r in csv.reader(lines, delimiter=mark) if r]
        rows = [[point(cell.strip(), mark) or "nan" for cell in row] for row in rows]
"""

# marks of missing values, as certus.tables reads them
MISSING = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN", "NaT", "<NA>", "NULL", "null",
    "#N/A", "#NA", "-", "--", "?", ".",
)  # fmt: skip
MISSING_NUMBERS = (
    "None", "none", "missing", "Missing", "nil", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
    "#NULL!",
)  # fmt: skip
STEPS = """
import re
STEPS = {steps}
MISSING = {missing}
MISSING_NUMBERS = {missing_numbers}
def point(cell, mark):  # a number with a decimal comma, where commas do not separate the fields
    comma = re.fullmatch(r"([+-]?[0-9.]+),([0-9]+)", cell) if mark != "," else None
    return f"{{comma[1].replace('.', '')}}.{{comma[2]}}" if comma else cell

def prepared(T, name, fill, category, shift, scale):  # a column as the pipeline made it
    gone = MISSING if isinstance(category, str) else MISSING + MISSING_NUMBERS
    v = [fill if str(v) in gone else v for v in T[name].tolist()]
    if isinstance(category, str): v = [str(cell) == category for cell in v]
    elif category is not None: v = [label(cell) == label(category) for cell in v]
    return (np.array(v).astype(float) - shift) / scale
"""

MAIN = """
def main(files):
    try:
        if len(files) not in {counts}: raise ValueError(f"{{len(files)}} files were named")
        T = table(files[0])
        X = np.column_stack({X})
        more = [T[f] if f in T else np.column_stack([*table(f).values()]) for f in files[1:]]
{offset}        y, s = {y}, {s}
        if X.shape != SHAPE or {{len(X)}} != {{len(s){length}}}:
            raise ValueError(f"X is {{X.shape}}, the fit's is {{SHAPE}}; or y has another length")
    except (OSError, ValueError, KeyError, IndexError, TypeError, MemoryError) as error:
        print(f"the data could not be read: {{error!r}}", __doc__, sep="\\n")
        return 2
    claims = [check({rows}, *targets(y, s), **given) for targets, given in PROBLEMS]
{report}
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
"""

# targets and offsets as the two columns of y
JOIN_OFFSETS = """\
        if more[0].size == len(X): more[:2] = [np.column_stack(more[:2])]
"""

OPTIMUM_REPORT = """\
    objective = sum(c.objective for c in claims)
    print(f"{claims[0].kind}: objective {objective:.15g}, claimed {OBJECTIVE!r}")
    print(*(f"missed by {c.miss:.3g}, at most {c.tol * c.scale:.3g}" for c in claims), sep="\\n")
    holds = all(c.miss <= c.tol * c.scale for c in claims) and abs(objective - OBJECTIVE) <= SLACK\
"""
EXACT_REPORT = """\
    print(f"{claims[0].miss:g} answers are wrong")
    holds = claims[0].miss <= claims[0].tol"""
REFUTED_REPORT = """
    print({texts}, sep="\\n")
    holds = False  # what certus found besides, which the page does not recompute"""
