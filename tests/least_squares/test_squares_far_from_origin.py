"""Least squares on columns far from the origin: a rounded mean must not pass for curvature."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.certificate.data import Data as _Data
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.proofs.least_squares import least_squares as definition

OFFSET = -1e10
SPACING = 2.0**-19  # of the floats near OFFSET
ROWS = 24


def problem_of(seed: int, kept: str, alpha: float) -> tuple[definition.LeastSquaresFit, np.ndarray]:
    """One column of two or three neighbouring floats, and its rows with their weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([OFFSET + SPACING * (rng.random(ROWS) < 0.2), rng.normal(size=ROWS)])
    X[0, 0], X[1, 0] = OFFSET, OFFSET + SPACING
    y, s = rng.normal(size=(ROWS, 1)), rng.uniform(0.5, 2.0, ROWS)
    source = CSR(csr_array(X)) if kept == "sparse" else X
    data = _Data(Rows(source, y, s))
    w, b = np.zeros((2, 1)), np.zeros(1)
    return definition.LeastSquaresFit(data, w, b, alpha, True, False), np.column_stack([X, s])


def exact_gram(rows: np.ndarray) -> list[list[Fraction]]:
    """X̃ᵀSX̃ of the first two columns, with the weights in the third."""
    x = [[Fraction(float(v)) for v in row] for row in rows]
    S = sum(row[2] for row in x)
    mean = [sum(row[2] * row[j] for row in x) / S for j in range(2)]
    return [
        [sum(r[2] * (r[i] - mean[i]) * (r[j] - mean[j]) for r in x) for j in range(2)]
        for i in range(2)
    ]


def lies_below(lam: float, d: np.ndarray, gram: list[list[Fraction]]) -> bool:
    """Is λ·diag(d²) ⪯ G, in exact fractions?"""
    a, c = (gram[j][j] - Fraction(lam) * Fraction(float(d[j])) ** 2 for j in range(2))
    return a >= 0 and c >= 0 and a * c >= gram[0][1] ** 2


@pytest.mark.parametrize("kept", ["sparse", "dense"])
@pytest.mark.parametrize("seed", range(12))
def test_curvature_of_some_rows_is_none_that_a_rounded_mean_made(seed: int, kept: str) -> None:
    problem, rows = problem_of(seed, kept, 0.0)
    lam, d = definition.subset_curvature(problem)
    assert lies_below(max(lam, 0.0), d, exact_gram(rows))


@pytest.mark.parametrize("kept", ["sparse", "dense"])
@pytest.mark.parametrize("seed", range(12))
def test_factor_of_all_rows_is_that_of_columns_about_their_true_means(
    seed: int, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, rows = problem_of(seed, kept, 1e-11)
    problem.take_columns()
    found = {}
    monkeypatch.setattr(
        definition, "from_all_rows", lambda _, factor, *rest: found.setdefault("factor", factor)
    )
    problem.answer_from_all_rows(1e-6, None)
    R = found["factor"].R * found["factor"].scale
    gram = np.array(exact_gram(rows), dtype=float)
    np.testing.assert_allclose(np.diagonal(R.T @ R), np.diagonal(gram), rtol=1e-12)
