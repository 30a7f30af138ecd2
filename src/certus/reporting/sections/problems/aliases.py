"""D-ALIAS: columns that are copies of others, or sums of them.

Columns of numbers are centred and divided by their norms; from left to right, a column is aliased
if what the columns kept before leave of it is below 1e-7 of it (``solvers.linalg.aliases``). Two
columns of categories are aliased if each category of one is a category of the other.
"""

import numpy as np

from ....solvers.linalg.aliases import find_aliases
from ...arrays import CategoryCodes, sample_of_rows
from ...content.data import DataProblem
from ...content.phrases import digits3
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, columns_text, quoted, verb

CODE = "D-ALIAS"
MAX_ROWS = 2_000  # on which sums are looked for; those that are found are checked on all rows
MAX_SUM_COLUMNS = 200  # O(rows · columns²) beyond
MAX_RESIDUAL = 1e-6  # of an alias on all rows, as a share of the column's spread
MIN_CORRELATION = 0.99  # of columns that are nearly copies
MAX_PAIR_COLUMNS = 2_000


def find(view: DataView) -> list[DataProblem]:
    """Return exact aliases, and pairs of columns that nearly are."""
    exact = _exact(view) | _renamed(view)
    found = []
    if exact:
        n, some = len(exact), list(exact.values())[:3]
        more = f" and {n - 3} more" if n > 3 else ""
        found.append(DataProblem(
            CODE,
            f"{columns_text(n)} {verb(n, 'repeats', 'repeat')} others: {'; '.join(some)}{more}",
            WARNING, tuple(exact)[:MAX_COLUMNS_NAMED], (), view.n,
            "Predictions do not suffer, but the effects of such columns cannot be told apart: only "
            "their sum has a meaning.",
            f"Drop {quoted(list(exact))}.",
            "Models used all of them.",
        ))  # fmt: skip
    near = _nearly(view, set(exact))
    if near:
        n = len(near)
        a, b, r = near[0]
        found.append(DataProblem(
            CODE, f"{columns_text(n, 'pair')} of columns {verb(n, 'is', 'are')} nearly the same: "
            + "; ".join(f"'{a}' and '{b}'" for a, b, _ in near[:3])
            + (f" and {n - 3} more" if n > 3 else ""),
            INFO, tuple(dict.fromkeys(c for pair in near for c in pair[:2]))[:MAX_COLUMNS_NAMED],
            (), view.n,
            f"The correlation of '{a}' and '{b}' is {digits3(r)}. Effects of such columns are hard "
            "to tell apart, and their intervals are wide.",
            "Keep the one that is easier to measure, if both say the same.",
            "Models used all of them.",
        ))  # fmt: skip
    return found


def _exact(view: DataView) -> dict[str, str]:
    """Aliased columns of numbers, with the equation of each."""
    names = [c.name for c in view.number_columns]
    complete = np.flatnonzero(~np.isnan(view.numbers).any(axis=1))
    varies = np.flatnonzero(view.n_distinct > 1)
    rows = complete[sample_of_rows(len(complete), MAX_ROWS)]
    if not 2 <= len(varies) <= MAX_SUM_COLUMNS or len(rows) < 2 * len(varies) + 10:
        return _copies(view)
    X = view.numbers[np.ix_(rows, varies)]
    center = X.mean(axis=0)
    norm = np.linalg.norm(X - center, axis=0)
    varies, X, center, norm = (v[..., norm > 0] for v in (varies, X, center, norm))
    A = (X - center) / norm
    # columns differ in length by rounding only, so singular values are those of the correlations
    rank = int(np.linalg.matrix_rank(A, tol=1e-8 * np.sqrt(len(varies))))
    if rank == len(varies):
        return {}
    aliases = find_aliases(A, norm, 1 / norm, rank)
    found = {}
    for t, column in enumerate(aliases.columns[: aliases.coef.shape[1]]):
        parts = [(float(c), varies[aliases.kept[i]]) for i, c in enumerate(aliases.coef[:, t]) if c]
        j = varies[column]
        constant = _constant(view, j, parts, complete)
        if parts and constant is not None:
            terms = _terms([(c, names[i]) for c, i in parts], constant)
            found[names[j]] = f"'{names[j]}' = {terms}"
    return found


def _constant(
    view: DataView, j: int, parts: list[tuple[float, int]], rows: np.ndarray
) -> float | None:
    """The constant of the equation, if it holds in all rows; None if it does not."""
    x = view.numbers[rows, j]
    rest = x - sum(c * view.numbers[rows, i] for c, i in parts)
    if np.ptp(rest) > MAX_RESIDUAL * np.ptp(x):
        return None
    constant = float(np.median(rest))
    return constant if abs(constant) > MAX_RESIDUAL * np.ptp(x) else 0.0


def _terms(parts: list[tuple[float, str]], constant: float, most: int = 4) -> str:
    """The right side of an equation: 'price' + 0.2 × 'tax' − 3."""
    terms = []
    for c, name in parts[:most]:
        factor = "" if abs(abs(c) - 1) < 1e-6 else f"{digits3(abs(c))} × "
        terms.append((c < 0, f"{factor}'{name}'"))
    if len(parts) > most:
        terms.append((False, f"{len(parts) - most} more"))
    if constant:
        terms.append((constant < 0, digits3(abs(constant))))
    text = f"−{terms[0][1]}" if terms[0][0] else terms[0][1]
    return text + "".join(f" {'−' if minus else '+'} {term}" for minus, term in terms[1:])


def _copies(view: DataView) -> dict[str, str]:
    """Columns of numbers that are multiples of an earlier one: equal when standardised."""
    seen: dict[bytes, str] = {}
    found = {}
    for j, column in enumerate(view.number_columns):
        x = view.numbers[:, j]
        if view.n_distinct[j] < 3:
            continue
        z = x - np.nanmean(x)
        spread = np.sqrt(np.nanmean(z**2))
        if not spread > 0:
            continue
        z = np.round(z / spread * np.sign(z[np.nanargmax(np.abs(z))]), 9) + 0.0
        key = z.tobytes()
        other = seen.setdefault(key, column.name)
        if other != column.name:
            found[column.name] = f"'{column.name}' is a multiple of '{other}'"
    return found


def _renamed(view: DataView) -> dict[str, str]:
    """Columns of categories that are another column under other names."""
    found: dict[str, str] = {}
    by_shape: dict[tuple[int, ...], list[tuple[str, CategoryCodes]]] = {}
    for name, column in view.categories.items():
        if len(column.levels) < 2:
            continue
        shape = tuple(sorted(column.counts.tolist()))
        for other, codes in by_shape.setdefault(shape, []):
            pairs = np.unique(np.stack([column.codes, codes.codes]), axis=1)
            n_values = [len(np.unique(side)) for side in pairs]
            if pairs.shape[1] == n_values[0] == n_values[1]:
                found[name] = f"'{name}' has the categories of '{other}'"
                break
        by_shape[shape].append((name, column))
    return found


def _nearly(view: DataView, exact: set[str]) -> list[tuple[str, str, float]]:
    columns = [
        j
        for j, c in enumerate(view.number_columns)
        if c.name not in exact and view.n_distinct[j] > 2
    ]
    if not 2 <= len(columns) <= MAX_PAIR_COLUMNS or view.n < 30:
        return []
    X = view.numbers[sample_of_rows(view.n, MAX_ROWS)][:, columns]
    X = X - np.nanmean(X, axis=0)
    X = np.nan_to_num(X)
    norm = np.linalg.norm(X, axis=0)
    norm[norm == 0] = 1.0
    R = np.abs((X / norm).T @ (X / norm))
    pairs = np.argwhere(np.triu(R >= MIN_CORRELATION, 1))
    names = [view.number_columns[j].name for j in columns]
    ranked = sorted(pairs.tolist(), key=lambda p: -R[p[0], p[1]])
    return [(names[a], names[b], float(R[a, b])) for a, b in ranked]
