"""Whitening of covariances that were rounded so that they are not symmetric."""

from fractions import Fraction

import numpy as np
import pytest

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.mixture._accurate_whitening import whiten


def rounded_unevenly(seed: int, p: int, condition: float, off: float) -> np.ndarray:
    """A covariance whose entries above the diagonal are off by a share of themselves."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(p, p)))[0]
    C = np.dot(Q * np.geomspace(1, 1 / condition, p), Q.T)
    C = 0.5 * (C + C.T)
    return np.asarray(C + np.triu(off * rng.normal(size=(p, p)) * np.abs(C), 1))


def eliminated(C: np.ndarray, u: np.ndarray) -> tuple[Fraction, Fraction]:
    """|C| and uᵀC⁻¹u in exact fractions."""
    A = [[*map(Fraction, row), Fraction(v)] for row, v in zip(C.tolist(), u.tolist(), strict=True)]
    det, p = Fraction(1), len(C)
    for j in range(p):
        det *= A[j][j]
        for i in range(p):
            if i != j:
                times = A[i][j] / A[j][j]
                A[i] = [a - times * b for a, b in zip(A[i], A[j], strict=True)]
    return det, sum((Fraction(float(u[j])) * A[j][p] / A[j][j] for j in range(p)), Fraction(0))


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-7, 1e-6, 1e-5])
@pytest.mark.parametrize("condition", [1e1, 1e3, 1e5])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_not_symmetric_is_part_of_the_error(
    seed: int, condition: float, off: float
) -> None:
    C = rounded_unevenly(seed, 4, condition, off)
    found = whiten(C)
    for u in np.random.default_rng(seed + 100).normal(size=(20, 4)):
        det, square = eliminated(C, u)
        assert abs(found.log_det - np.log(float(det))) <= found.log_det_error + 1e-14
        z = np.dot(found.W, u)
        slope = found.R + 1.1 * gamma(len(u) + 8) * found.kappa
        assert abs(float(np.dot(z, z) - float(square))) <= slope * float(square) * (1 + 1e-6)


def test_a_little_asymmetry_counts_by_its_square() -> None:
    C = rounded_unevenly(0, 4, 1e2, 1e-6)
    assert whiten(C).R <= 1e-8
