"""Normal rows with missing entries: marginal densities and conditional moments.

With o the observed entries of x and m the missing ones, x ~ N(μ, C):

    log p(x_o) = log N(x_o; μ_o, C_oo)
    E[x_m | x_o] = μ_m + G(x_o − μ_o),   G = C_mo C_oo⁻¹,      Cov[x_m | x_o] = C_mm − G C_om

A row without observed entries has likelihood 1. NaN marks a missing entry. C_oo is factored once
for rows with the same entries missing, and patterns with as many missing entries are factored in
one call.
"""

from typing import Any, NamedTuple

import numpy as np

CODE_BITS = 31  # of columns in a number that tells patterns apart
MAX_GROUP_NUMBERS = 1 << 16  # of the matrices and rows of a group; at p=20, 2^19 took twice as long


class Normal(NamedTuple):
    """Normal distribution N(μ, C)."""

    mean: np.ndarray
    C: np.ndarray


class PatternGroup(NamedTuple):
    """Patterns with as many observed columns, a line each."""

    observed: np.ndarray  # columns, (patterns, q)
    missing: np.ndarray  # columns, (patterns, p − q)
    rows: np.ndarray  # (patterns, w); the first row of a pattern fills its line
    counted: np.ndarray  # (patterns, w), False for rows that fill a line


def complete(X: np.ndarray) -> tuple[Any, np.ndarray]:
    """Index of the rows without NaN (a slice if there are no others), and of the others."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.sum(dtype=float))
    if finite:
        return slice(None), np.empty(0, dtype=np.intp)
    missing = np.isnan(X).any(axis=1)
    return np.flatnonzero(~missing), np.flatnonzero(missing)


class GroupedRows(NamedTuple):
    """Rows with missing entries, and their patterns."""

    X: np.ndarray
    groups: list[PatternGroup]


def grouped(X: np.ndarray) -> GroupedRows:
    """Return rows with their patterns of observed entries."""
    if not len(X):
        return GroupedRows(X, [])
    observed, p = ~np.isnan(X), X.shape[1]
    code = np.zeros(len(X), dtype=np.int64)
    for j in range(0, p, CODE_BITS):
        bits = observed[:, j : j + CODE_BITS]
        code = (code << CODE_BITS) + np.dot(bits, np.int64(1) << np.arange(bits.shape[1]))
        code = np.unique(code, return_inverse=True)[1].ravel()
    lines = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    lines.sort(key=lambda rows: (np.count_nonzero(observed[rows[0]]), len(rows)))
    groups: list[list[np.ndarray]] = []  # lines of each
    for rows in lines:
        q = np.count_nonzero(observed[rows[0]])
        last = groups[-1] if groups else []
        together = (
            last
            and np.count_nonzero(observed[last[0][0]]) == q
            and len(rows) <= 4 * len(last[0])
            and (len(last) + 1) * p * (p + len(rows)) <= MAX_GROUP_NUMBERS
        )
        if together:
            last.append(rows)
        else:
            groups.append([rows])
    return GroupedRows(X, [_group(observed, lines) for lines in groups])


def _group(observed: np.ndarray, lines: list[np.ndarray]) -> PatternGroup:
    width, first = max(map(len, lines)), np.array([rows[0] for rows in lines])
    masks = observed[first]
    q = int(masks[0].sum())
    rows = np.repeat(first[:, None], width, axis=1)
    for line, of_pattern in zip(rows, lines, strict=True):
        line[: len(of_pattern)] = of_pattern
    counted = np.arange(width) < np.array([len(one) for one in lines])[:, None]
    o, m = (np.nonzero(mask)[1].reshape(len(lines), -1) for mask in (masks, ~masks))
    return PatternGroup(o[:, :q], m, rows, counted)


def _block(C: np.ndarray, i: np.ndarray, j: np.ndarray) -> Any:
    """Submatrices C_ij of each pattern."""
    return C[i[:, :, None], j[:, None, :]]


def observed_log_density(grouped_rows: GroupedRows, normal: Normal) -> np.ndarray:
    """Log density of the observed entries of each row."""
    X, groups = grouped_rows
    out = np.zeros(len(X))
    for o, _, rows, _ in groups:
        if o.shape[1]:
            L = np.linalg.cholesky(_block(normal.C, o, o))
            D = X[rows[:, None, :], o[:, :, None]] - normal.mean[o][:, :, None]
            Z = np.linalg.solve(L, D)
            log_det = 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
            log_det += o.shape[1] * np.log(2 * np.pi)
            out[rows] = -0.5 * ((Z * Z).sum(axis=1) + log_det[:, None])
    return out


def expected_moments(
    grouped_rows: GroupedRows, w: np.ndarray, normal: Normal
) -> tuple[np.ndarray, np.ndarray]:
    """Expectations E[x − μ | x_o] of each row, and the sum Σ w Cov[x | x_o]."""
    X, groups = grouped_rows
    D, extra = np.zeros(X.shape), np.zeros(normal.C.shape)
    for o, m, rows, counted in groups:
        cov = _block(normal.C, m, m)
        if o.shape[1]:
            C_om = _block(normal.C, o, m)
            G_T = np.linalg.solve(_block(normal.C, o, o), C_om)
            D_o = X[rows[:, :, None], o[:, None, :]] - normal.mean[o][:, None, :]
            D[rows[:, :, None], o[:, None, :]] = D_o
            D[rows[:, :, None], m[:, None, :]] = np.matmul(D_o, G_T)
            cov = cov - np.matmul(G_T.swapaxes(1, 2), C_om)
        total = np.where(counted, w[rows], 0.0).sum(axis=1)
        np.add.at(extra, (m[:, :, None], m[:, None, :]), total[:, None, None] * cov)
    return D, extra
