"""What every estimator promises, in one table. A new model adds its lines to ``ESTIMATORS``.

A law says how the answer changes when the problem does. Every estimator keeps every law, except
those it is exempt from, and an exemption says why. ``contract/`` runs the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from certus.exceptions import AliasWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from problems import Problem, regression

LAWS = {
    "shift": "X + 1cᵀ: the same w; b takes up the shift",
    "scale X": "cX, with the penalty times c²: w/c",
    "scale columns": "XD: D⁻¹w",
    "scale y": "cy: cw and cb",
    "permute rows": "the same w and b",
    "permute columns": "w permuted",
    "weight is repetition": "weight 3 is the row three times",
    "zero weight": "weight 0 is no row",
    "scale weights": "cs, with the penalty times c: the same w and b",
    "float32": "float32 data are the same numbers in float64",
    "threads": "the same bits on any number of threads",
    "block size": "other blocks, same answer up to rounding",
}

PENALTY_HAS_UNITS = "the penalty is in the user's units, column by column"
NORM_HAS_UNITS = "the least norm is that in the user's units"
NO_INTERCEPT = "without an intercept the shifted columns span another space"
LEAVES_OUT_ROWS = (
    "the choice of α leaves out a row; of a row that stands there twice, one copy stays"
)
FOLDS = "folds are runs of rows, so the choice of α depends on which rows there are and their order"


@dataclass(frozen=True)
class Law:
    """One estimator in the table."""

    name: str
    make: Callable[..., Any]  # make(penalty=c): with its penalties times c
    problem: Callable[..., Problem] = regression  # of a seed; n, p may be given
    shape: tuple[int, int] = (60, 4)
    targets: int | None = None
    exempt: dict[str, str] = field(default_factory=dict)
    warns: type[Warning] | None = None  # what a fit to these data rightly warns of
    # how the solver's answer is spoiled, to see whether the certificate notices
    solver: str = "certus.solvers.least_squares:solve"
    # fitted attributes whose edit a check of the data need not notice, with the reason
    no_claim: dict[str, str] = field(default_factory=dict)

    def draw(self, seed: int, shape: tuple[int, int] | None = None) -> Problem:
        n, p = shape or self.shape
        return self.problem(seed, n, p, self.targets)

    def large(self, seed: int = 0) -> Problem:
        """Enough rows (or columns) for several blocks on several threads."""
        n, p = self.shape
        return self.draw(seed, (n, 100_000 // n) if n <= p else (20_000, p))

    def __str__(self) -> str:
        return self.name


def positive(seed: int, n: int, p: int, k: int | None = None) -> Problem:
    """The best w ≥ 0 has zeros: two columns pull the wrong way."""
    X, y, _ = regression(seed, n, p, k, signs=False)
    pull = 3 * X[:, :2].sum(axis=1)
    return Problem(X, y - (pull if k is None else pull[:, None]))


def ridge(**parameters: Any) -> Callable[..., Ridge]:
    alpha = np.asarray(parameters.pop("alpha", 2.0))
    return lambda penalty=1.0: Ridge(alpha=alpha * penalty, **parameters)


def ridge_cv(**parameters: Any) -> Callable[..., RidgeCV]:
    alphas = np.asarray(parameters.pop("alphas", (0.01, 1.0, 100.0)))
    return lambda penalty=1.0: RidgeCV(alphas=alphas * penalty, **parameters)


def linear(**parameters: Any) -> Callable[..., LinearRegression]:
    return lambda penalty=1.0: LinearRegression(**parameters)


UNITS = {"scale columns": PENALTY_HAS_UNITS}
ITERATIONS = {"n_iter_": "always 1, it says that nothing iterated"}
ALIASED = {"aliased_": "which of several dependent columns is called the repeated one is a custom"}
FOLDS_SCORE = {
    "best_score_": "recomputing it means to refit every fold; a note says that it was not"
}

ESTIMATORS = [
    Law("LinearRegression", linear()),
    Law("LinearRegression, no intercept", linear(fit_intercept=False),
        exempt={"shift": NO_INTERCEPT}),
    Law("LinearRegression, two targets", linear(), targets=2),
    Law("LinearRegression, w ≥ 0", linear(positive=True), positive),
    Law("LinearRegression, w ≥ 0, no intercept", linear(positive=True, fit_intercept=False),
        positive, exempt={"shift": NO_INTERCEPT}),
    Law("LinearRegression, n < p", linear(), shape=(12, 30), warns=AliasWarning,
        exempt={"scale columns": NORM_HAS_UNITS}, no_claim=ALIASED),
    Law("Ridge", ridge(), exempt=UNITS, no_claim=ITERATIONS),
    Law("Ridge, no intercept", ridge(fit_intercept=False), no_claim=ITERATIONS,
        exempt={**UNITS, "shift": NO_INTERCEPT}),
    Law("Ridge, α for each target", ridge(alpha=[0.5, 8.0]), targets=2, exempt=UNITS,
        no_claim=ITERATIONS),
    Law("Ridge, w ≥ 0", ridge(positive=True), positive, exempt=UNITS, no_claim=ITERATIONS),
    Law("Ridge, n < p", ridge(), shape=(12, 30), exempt=UNITS, no_claim=ITERATIONS),
    Law("RidgeCV", ridge_cv(), exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, one α", ridge_cv(alphas=[2.0]), exempt=UNITS),
    Law("RidgeCV, no intercept", ridge_cv(fit_intercept=False),
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS, "shift": NO_INTERCEPT}),
    Law("RidgeCV, α for each target", ridge_cv(alpha_per_target=True), targets=2,
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, two targets, errors kept", ridge_cv(store_cv_results=True), targets=2,
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, n < p", ridge_cv(), shape=(12, 30),
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, five folds", ridge_cv(cv=5), no_claim=FOLDS_SCORE,
        exempt={**UNITS, **dict.fromkeys(("weight is repetition", "zero weight", "permute rows"),
                                         FOLDS)}),
]  # fmt: skip


def keeping(law: str) -> list[Law]:
    """The estimators that promise a law."""
    assert law in LAWS
    return [case for case in ESTIMATORS if law not in case.exempt]
