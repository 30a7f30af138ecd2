"""Mixtures in the table of laws: densities and responsibilities at rows that no fit saw.

Components have no names: who answers for which rows is compared by Σ_k r_ik r_jk of pairs of rows.
"""

from typing import Any

import numpy as np

from certus.mixture import (
    BernoulliMixture,
    GaussianMixture,
    MultinomialMixture,
    PoissonMixture,
)
from tests.contract.families.answers import (
    NO_ORIGIN,
    NO_UNIT,
    Answer,
    Case,
    Part,
    Sample,
    unlabeled_clouds,
)


def responsibilities(model: Any, sample: Sample) -> np.ndarray:
    R = model.predict_proba(sample.queries)
    return R @ R.T


def density(model: Any, sample: Sample) -> Answer:
    """log p(x) is of a density: in another unit it has another level, by log c for each column."""
    level = sample.X.shape[1] * np.log(sample.unit)
    return {
        "log density": Part(model.score_samples(sample.queries) + level),
        "mean log-likelihood": Part(model.lower_bound_ + level),
        "responsibilities": Part(responsibilities(model, sample)),
        "means": Part(model.means_, unit=1, columns=True, moves=True),
        "weights": Part(model.weights_),
    }


def probability(model: Any, sample: Sample) -> Answer:
    return {
        "log probability": Part(model.score_samples(sample.queries)),
        "mean log-likelihood": Part(model.lower_bound_),
        "responsibilities": Part(responsibilities(model, sample)),
        "weights": Part(np.sort(model.weights_)),
    }


COUNTED = {"scale weights": "weights are counts, beside 1e-6 imaginary rows in each component"}


def gaussian(shape: str, reg_covar: Any = "relative") -> Case:
    """A start is given, so that nothing is drawn: means at rows, spreads of one unit."""
    P = {"full": np.stack([np.eye(3)] * 3), "tied": np.eye(3), "diag": np.ones((3, 3))}

    def make(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> GaussianMixture:
        return GaussianMixture(
            3, covariance_type=shape, tol=1e-11, means_init=start, weights_init=np.full(3, 1 / 3),
            precisions_init=P.get(shape, np.ones(3)) / unit**2, reg_covar=reg_covar,
            random_state=0,
        )  # fmt: skip

    return Case(
        f"GaussianMixture, {shape}, reg_covar={reg_covar}", make, unlabeled_clouds, density,
        rtol=1e-6, rtol_float32=1e-6, exempt={} if reg_covar == 0 else COUNTED,
        blocks=("certus.solvers.mixture.gaussian:BLOCK_ELEMENTS",),
    )  # fmt: skip


PROFILES = np.array([[9.0, 1, 1, 1, 5, 1], [1, 9, 1, 1, 1, 5], [1, 1, 9, 5, 1, 1]])


def yes_or_no(seed: int, n: int) -> tuple[np.ndarray, None]:
    rng = np.random.default_rng(seed)
    return (rng.random((n, 24)) < np.tile(PROFILES, 4)[np.arange(n) % 3] / 10).astype(float), None


def counts(seed: int, n: int) -> tuple[np.ndarray, None]:
    rng = np.random.default_rng(seed)
    return rng.poisson(2 * PROFILES[np.arange(n) % 3]).astype(float), None


def of_counts(cls: Any, data: Any, largest: float = np.inf) -> Case:
    """The prior counts beside weights. Starts are drawn, and components are so far apart that all
    starts lead to one optimum."""
    return Case(
        cls.__name__,
        lambda start=None, unit=1.0, heft=1.0: cls(
            3, prior=1e-3 * heft, tol=1e-11, n_init=4, random_state=0
        ),
        data, probability, rtol=1e-5, rtol_float32=1e-5,
        largest=largest, exempt={"shift": NO_ORIGIN, "scale X": NO_UNIT},
        blocks=("certus.solvers.mixture.counts:BLOCK_ELEMENTS",),
    )  # fmt: skip


MIXTURES = [
    *(gaussian(shape, r) for shape in ("full", "tied", "diag", "spherical")
      for r in ("relative", 0)),
    of_counts(BernoulliMixture, yes_or_no, 1.0),
    of_counts(PoissonMixture, counts),
    of_counts(MultinomialMixture, counts),
]  # fmt: skip
