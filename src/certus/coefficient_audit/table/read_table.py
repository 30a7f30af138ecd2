"""Tables of coefficients as programs write them: which column is what, with every digit kept.

A file is read as text. Headers are compared without case, spaces and points: ``std.error`` of R,
``Std. Error``, ``StdErr`` of SAS and ``std err`` of statsmodels are one column.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ...data.frames import library_of
from ...exceptions import TableError
from .printed import PrintedColumn, is_missing, number_text, printed_column

TERM = ("term", "variable", "parameter", "feature", "name", "effect", "predictor", "covariate",
        "processedinput", "rowname", "rownames", "unnamed0", "index", "column", "")  # fmt: skip
ESTIMATE = ("estimate", "coefficient", "coefficients", "coef", "coeff", "weight", "beta", "b",
            "value", "s0", "s1", "params")  # fmt: skip
STD_ERROR = ("stderror", "stderr", "standarderror", "se", "stderrs", "bse")
LEVEL = ("classval0", "level", "level1")
RESPONSE = ("response", "ylevel", "classvalue", "equation")
STEP = ("step", "lambda")
INTERCEPTS = ("(intercept)", "intercept", "const", "_cons", "bias", "(const)", "__intercept__")


@dataclass(frozen=True, eq=False)
class CoefficientTable:
    """Terms with their estimates; a level beside a term is that of a factor."""

    terms: tuple[str, ...]
    levels: tuple[str, ...]  # "" where a term has none
    estimates: PrintedColumn
    errors: PrintedColumn | None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The terms, each with its level."""
        pairs = zip(self.terms, self.levels, strict=True)
        return tuple(f"{term} {level}".strip() for term, level in pairs)


def read_coefficients(table: Any) -> CoefficientTable:
    """Return the table of a path, a frame, a mapping or a Series of coefficients."""
    if isinstance(table, str | PathLike):
        header, rows, comma = _of_file(Path(table))
    elif isinstance(table, Mapping):
        header, comma = ["term", "estimate"], False
        rows = [[str(term), value] for term, value in table.items()]
    else:
        header, rows = _of_frame(table)
        comma = False
    return _table(header, rows, comma)


def is_intercept(term: str) -> bool:
    """Return whether a term is the intercept by its name."""
    return term.strip().strip("`").casefold() in INTERCEPTS


# --- from files and frames ------------------------------------------------------------------------


def _of_file(path: Path) -> tuple[list[str], list[list[Any]], bool]:
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise TableError(f"there is no file '{path}'") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read as text: {error}") from error
    first = text.split("\n", 1)[0]
    delimiter = max("\t;,|", key=first.count)
    if not first.count(delimiter):
        raise TableError(f"{path.name} has one column: a table of coefficients has two or more")
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    lines = [[cell.strip() for cell in line] for line in reader if any(c.strip() for c in line)]
    if len(lines) < 2:
        raise TableError(f"{path.name} has no rows below its header")
    header, *rows = lines
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise TableError(
                f"{path.name}: line {number} has {len(row)} fields and the header {len(header)}: "
                "quote names that hold the delimiter"
            )
    comma = delimiter == ";" and any("," in c and number_text(c, True) for r in rows for c in r)
    return header, rows, comma


def _of_frame(table: Any) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of a frame; a pandas index of text is a column of terms."""
    library = library_of(table)
    if library is None:
        raise TypeError(
            f"a table of coefficients is a frame, a mapping from term to estimate or the path of a "
            f"CSV file, not {type(table).__name__}"
        )
    if library == "pandas" and hasattr(table, "iloc"):
        if table.ndim == 1:
            pairs = zip(table.index, table.array, strict=True)
            return ["term", "estimate"], [[str(k), v] for k, v in pairs]
        if all(isinstance(label, str) for label in table.index) and len(table.index):
            table = table.reset_index(names="" if "" not in table.columns else None)
        names = [str(name) for name in table.columns]
        columns = [list(table.iloc[:, j].array) for j in range(len(names))]
    else:
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        names = list(frame.columns)
        columns = [frame[name].to_list() for name in names]
    return names, [
        ["" if cell is None else cell for cell in row] for row in zip(*columns, strict=True)
    ]


# --- which column is what -------------------------------------------------------------------------


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _find(header: Sequence[str], known: Iterable[str]) -> int | None:
    plain = [_plain(name) for name in header]
    return next((plain.index(name) for name in known if name in plain), None)


def _table(header: list[str], rows: list[list[Any]], comma: bool) -> CoefficientTable:
    term, estimate = _find(header, TERM), _find(header, ESTIMATE)
    if len(header) == 2 and (term is None or estimate is None):
        term, estimate = 0, 1
    if term is None or estimate is None:
        missing = "terms (term)" if term is None else "estimates (estimate)"
        raise TableError(
            f"the table has no column of {missing}: its columns are {', '.join(map(repr, header))}"
        )
    _require_single_fit(header, rows)
    error, level = _find(header, STD_ERROR), _find(header, LEVEL)
    freedom = _find(header, ("df",))
    terms, levels, texts, errors, notes = [], [], [], [], []
    for number, row in enumerate(rows, 1):
        name, beside = str(row[term]).strip(), "" if level is None else str(row[level]).strip()
        se = "" if error is None else str(row[error])
        if is_missing(str(row[estimate])):
            notes.append(f"'{name}' has no estimate: its column was left out of the fit")
            continue
        text = number_text(row[estimate], comma)
        if text is None:
            raise TableError(
                f"row {number} of the table ('{name}') has the estimate {str(row[estimate])!r}, "
                "which is no number"
            )
        if freedom is not None and str(row[freedom]).strip() == "0" and float(text) == 0:
            continue  # SAS prints the reference level with 0
        terms.append(name)
        levels.append("" if is_missing(beside) else beside)
        texts.append(text)
        errors.append(None if is_missing(se) else number_text(row[error or 0], comma))
    _require_distinct(terms, levels)
    known = [one for one in errors if one is not None]
    if known and len(known) < len(errors):  # a level printed as 0, without an error
        kept = [j for j, se in enumerate(errors) if se is not None or float(texts[j]) != 0]
        terms, levels = [terms[j] for j in kept], [levels[j] for j in kept]
        texts, errors = [texts[j] for j in kept], [errors[j] for j in kept]
    complete = known if len(known) == len(errors) else None
    return CoefficientTable(
        tuple(terms), tuple(levels), printed_column(texts),
        printed_column(complete) if complete else None, tuple(notes),
    )  # fmt: skip


def _require_single_fit(header: list[str], rows: list[list[Any]]) -> None:
    """Refuse tables of several fits or several classes."""
    for known, what in ((STEP, "several penalties"), (RESPONSE, "several classes")):
        j = _find(header, known)
        values = [] if j is None else list(dict.fromkeys(str(row[j]) for row in rows))
        if len(values) > 1:
            raise TableError(
                f"the table holds the coefficients of {what}: column {header[j or 0]!r} has "
                f"{values[0]}, {values[1]}{', …' if len(values) > 2 else ''}. Give the rows of one"
            )


def _require_distinct(terms: list[str], levels: list[str]) -> None:
    if not terms:
        raise TableError("the table has no estimates")
    seen: set[tuple[str, str]] = set()
    for pair in zip(terms, levels, strict=True):
        if pair in seen:
            raise TableError(f"the table has two rows for {' '.join(pair).strip()!r}: give one")
        seen.add(pair)
