r"""The gain by chance alone, from resampled rows: for penalised models and doubtful likelihoods.

    G_b = L_b(θ_new + √(n/n_old) (θ_{b+1} − θ_new)) − L_b(θ_b),     b = 1 … B, cyclic

L_b is the mean loss of n rows drawn with replacement from the new ones, and θ_b the optimum of the
objective on them. θ_new takes the place of the truth: θ_b is then the refit, and a second draw,
drawn nearer to θ_new by √(n/n_old), the old optimum of n_old rows. Without n_old it is θ_new.

Each θ_b is proven optimal, like any refit. Draws are weights of the rows: how often each is drawn.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..audit import Reading
from ..certificate.decisions.comparison import certified_refit, row_weights
from ..certificate.proving import as_defined
from ..data.rows import Rows
from ..refits import NoRefitError
from .losses import Parameters, row_losses

MOVING = ("w", "b", "thresholds")
MAX_FAILED_SHARE = 0.1  # of the resamples, that have no optimum

OnStep = Callable[[int, int], object]


def mean_loss(reading: Reading, parameters: Parameters, rows: Rows) -> float:
    """Return Σ u ℓ/Σ u, u the factors of the rows in the objective."""
    defined = as_defined(rows, reading.labels)
    u = row_weights(reading, defined)
    return float(u @ np.where(u > 0, row_losses(reading, parameters, defined), 0.0) / u.sum())


def gains_by_chance(
    at_refit: Reading, rows: Rows, r: float, n_resamples: int, seed: int, tol: float,
    on_step: OnStep | None,
) -> np.ndarray:  # fmt: skip
    """Return G_b of the resamples that have an optimum; ``at_refit``: the claim at θ_new."""
    rng = np.random.default_rng(seed)
    drawn: list[np.ndarray] = []
    refits: list[Parameters] = []
    for b in range(n_resamples):
        counts = _counts(rng, rows)
        try:
            found, _ = certified_refit(at_refit, _weighted(rows, counts), tol)
        except NoRefitError:
            failed = b + 1 - len(refits)
            if failed > MAX_FAILED_SHARE * n_resamples:
                raise NoRefitError("too many resamples of them have no optimum") from None
        else:
            drawn.append(counts)
            refits.append(found.parameters)
        if on_step is not None:
            on_step(b + 1, n_resamples)
    truth = at_refit.parameters
    return np.array([
        mean_loss(at_refit, _towards(truth, refits[b + 1 - len(refits)], np.sqrt(r)), resample)
        - mean_loss(at_refit, refits[b], resample)
        for b, resample in enumerate(_weighted(rows, counts) for counts in drawn)
    ])  # fmt: skip


def _counts(rng: np.random.Generator, rows: Rows) -> np.ndarray:
    """How often each row is drawn; rows of weight 0 are not there."""
    there = np.ones(rows.shape[0]) if rows.s is None else np.asarray(rows.s) > 0
    n = int(there.sum())
    return rng.multinomial(n, there / n).astype(float)


def _weighted(rows: Rows, counts: np.ndarray) -> Rows:
    return rows.with_targets(rows.y, counts if rows.s is None else counts * rows.s)


def _towards(truth: Parameters, other: Parameters, share: float) -> Parameters:
    """θ_new + share · (θ_b − θ_new)."""
    moved: dict[str, Any] = {
        name: np.asarray(truth[name]) + share * (np.asarray(other[name]) - np.asarray(truth[name]))
        for name in MOVING
        if truth.get(name) is not None
    }
    return {**truth, **moved}
