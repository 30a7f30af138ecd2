"""A covariance matrix that can be inverted: as it is, or shrunk towards its diagonal.

    V̂ = S½ [(1 − ρ) K + ρ I] S½,   K the correlation matrix, S the variances

ρ after Ledoit and Wolf (2004), computed on standardised columns, so that units do not matter:
ρ = Σ_i ‖z_i z_iᵀ − K‖² / (n² ‖K − I‖²), at most 1.
"""

from typing import NamedTuple

import numpy as np

from ..text.format import count, listed, number

LEAST = 1e-8  # of ρ, where shrinking is needed at all
SINGULAR = 1e-12  # smallest over largest eigenvalue of K below which digits of V⁻¹ are noise


class Estimate(NamedTuple):
    """V, R with RᵀR = V⁻¹ (0 for features that do not vary), and what was done in words."""

    V: np.ndarray
    R: np.ndarray
    note: str | None


def estimate(V: np.ndarray, Z: np.ndarray | None = None) -> Estimate:
    """V usable for a distance; Z are the centred rows that V comes from, if it is no gift."""
    scale = np.sqrt(np.maximum(np.diag(V), 0.0))
    used = np.flatnonzero(scale > 0)
    told = []
    if len(used) < len(scale):
        told.append(left_out(np.flatnonzero(scale == 0)))
    s = scale[used]
    K = V[np.ix_(used, used)] / np.outer(s, s)
    eigenvalues, Q = np.linalg.eigh(K)
    largest = eigenvalues[-1] if len(s) else 1.0
    if len(s) and eigenvalues[0] < -1e-8 * largest:
        raise ValueError(
            f"V has correlations with a negative eigenvalue ({number(eigenvalues[0], 2)}): "
            "those of a covariance matrix have none"
        )
    few = Z is not None and len(Z) <= len(used)
    if len(s) and (few or eigenvalues[0] <= SINGULAR * len(s) * largest):
        rho = LEAST if Z is None else _intensity(Z[:, used] / s, K)
        eigenvalues = (1 - rho) * eigenvalues + rho
        why = (
            f"{count(len(Z), 'row')} are too few for {count(len(used), 'column')}"
            if few and Z is not None
            else "V is singular"
        )
        told.append(f"{why}: shrunk towards its diagonal by {number(rho, 3)}")
    R = np.zeros((len(s), len(scale)))
    R[:, used] = ((Q / np.sqrt(eigenvalues)).T) / s
    full = np.zeros_like(V)
    full[np.ix_(used, used)] = np.dot(Q * eigenvalues, Q.T) * np.outer(s, s)
    shrunk = any("shrunk" in t for t in told if t)
    return Estimate(full if shrunk else V, R, "; ".join(t for t in told if t) or None)


def _intensity(Z: np.ndarray, K: np.ndarray) -> float:
    """ρ for standardised rows Z (their squares add up to n − 1 in each column)."""
    n = len(Z)
    lengths = np.einsum("ij,ij->i", Z, Z)
    size = float((K**2).sum())
    spread = (float((lengths**2).sum()) - n * size) / n**2
    away = size - len(K)  # ‖K − I‖², for K has ones on its diagonal
    rho = 1.0 if away <= 0 else min(1.0, spread / away)
    return max(rho, LEAST)


def factor_of_inverse(VI: np.ndarray) -> np.ndarray:
    """R with RᵀR = VI, which may be singular but not indefinite."""
    try:
        return np.linalg.cholesky(VI).T
    except np.linalg.LinAlgError:
        eigenvalues, Q = np.linalg.eigh(VI)
        if eigenvalues[0] < -1e-10 * abs(eigenvalues[-1]):
            raise ValueError(
                f"VI has a negative eigenvalue ({number(float(eigenvalues[0]), 2)}): squares of "
                "distances would be negative"
            ) from None
        return (Q * np.sqrt(np.maximum(eigenvalues, 0.0))).T


def left_out(columns: np.ndarray) -> str | None:
    """That features which do not vary are not used."""
    if not len(columns):
        return None
    one = len(columns) == 1
    which = f"{'column' if one else 'columns'} {listed([str(j) for j in columns], 5)}"
    return f"{which} {'does' if one else 'do'} not vary and {'was' if one else 'were'} left out"
