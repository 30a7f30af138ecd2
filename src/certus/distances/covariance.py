"""An invertible covariance matrix: V itself, or V shrunk towards its diagonal.

    V̂ = S½ [(1 − ρ) K + ρ I] S½,   K the correlation matrix, S the variances

ρ follows Ledoit and Wolf (2004), computed on standardised columns, so that units do not matter:
ρ = Σ_i ‖z_i z_iᵀ − K‖² / (n² ‖K − I‖²), at most 1.
"""

from typing import NamedTuple

import numpy as np

from ..text.format import count, listed, number

MIN_SHRINKAGE = 1e-8  # the smallest ρ where shrinking is needed
MIN_EIGENVALUE_RATIO = 1e-12  # of K, smallest to largest; below, V⁻¹ has no correct digits


class Estimate(NamedTuple):
    """V, R with RᵀR = V⁻¹ (0 for features that do not vary), and a note on changes to V."""

    V: np.ndarray
    R: np.ndarray
    note: str | None


def estimate(V: np.ndarray, Z: np.ndarray | None = None) -> Estimate:
    """Return an invertible V; Z are the centred rows it was computed from, None if V is given."""
    scale = np.sqrt(np.maximum(np.diag(V), 0.0))
    used = np.flatnonzero(scale > 0)
    notes = []
    if len(used) < len(scale):
        notes.append(left_out(np.flatnonzero(scale == 0)))
    s = scale[used]
    K = V[np.ix_(used, used)] / np.outer(s, s)
    eigenvalues, Q = np.linalg.eigh(K)
    largest = eigenvalues[-1] if len(s) else 1.0
    if len(s) and eigenvalues[0] < -1e-8 * largest:
        raise ValueError(
            f"V has correlations with a negative eigenvalue ({number(eigenvalues[0], 2)}): "
            "those of a covariance matrix have none"
        )
    too_few_rows = Z is not None and len(Z) <= len(used)
    if len(s) and (too_few_rows or eigenvalues[0] <= MIN_EIGENVALUE_RATIO * len(s) * largest):
        rho = MIN_SHRINKAGE if Z is None else _intensity(Z[:, used] / s, K)
        eigenvalues = (1 - rho) * eigenvalues + rho
        reason = (
            f"{count(len(Z), 'row')} are too few for {count(len(used), 'column')}"
            if too_few_rows and Z is not None
            else "V is singular"
        )
        notes.append(f"{reason}: shrunk towards its diagonal by {number(rho, 3)}")
    R = np.zeros((len(s), len(scale)))
    R[:, used] = ((Q / np.sqrt(eigenvalues)).T) / s
    full = np.zeros_like(V)
    full[np.ix_(used, used)] = np.dot(Q * eigenvalues, Q.T) * np.outer(s, s)
    shrunk = any("shrunk" in t for t in notes if t)
    return Estimate(full if shrunk else V, R, "; ".join(t for t in notes if t) or None)


def _intensity(Z: np.ndarray, K: np.ndarray) -> float:
    """Return ρ for standardised rows Z (the squares in each column sum to n − 1)."""
    n = len(Z)
    lengths = np.einsum("ij,ij->i", Z, Z)
    size = float((K**2).sum())
    spread = (float((lengths**2).sum()) - n * size) / n**2
    distance_to_identity = size - len(K)  # ‖K − I‖², since K has a unit diagonal
    rho = 1.0 if distance_to_identity <= 0 else min(1.0, spread / distance_to_identity)
    return max(rho, MIN_SHRINKAGE)


def factor_of_inverse(VI: np.ndarray) -> np.ndarray:
    """Return R with RᵀR = VI, which may be singular but not indefinite."""
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
    """Return a note that constant features are not used; None if there are none."""
    if not len(columns):
        return None
    one = len(columns) == 1
    which = f"{'column' if one else 'columns'} {listed([str(j) for j in columns], 5)}"
    return f"{which} {'does' if one else 'do'} not vary and {'was' if one else 'were'} left out"
