"""What every estimator promises, in one table. A new model adds its lines to ``ESTIMATORS``.

A law says how the answer changes when the problem does. Every estimator keeps every law, except
those it is exempt from, and an exemption says why. ``ESTIMATORS`` are those with coefficients,
``ANSWERS`` all others: ``families/answers.py`` says what a row is, files beside it hold the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from certus.exceptions import AliasWarning
from certus.linear_model import (
    ElasticNet,
    ElasticNetCV,
    FirthLogisticRegression,
    GammaRegressor,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    OrdinalRegression,
    PenalizedClassifier,
    PenalizedRegressor,
    PoissonRegressor,
    Ridge,
    RidgeCV,
)
from certus.penalties import L1, L2
from certus.svm import LinearSVC
from tests.contract.families.answers import Case
from tests.contract.families.clusters import CLUSTERS
from tests.contract.families.machines import KERNEL_MACHINES, OTHERS, SELECTORS
from tests.contract.families.mixtures import MIXTURES
from tests.contract.families.neighbors import NEIGHBORS
from tests.contract.problems import Problem, amounts, classification, counts, ordered, regression

LAWS = {
    "shift": "X + 1cᵀ: the same w; b takes up the shift",
    "scale X": "cX, with the penalty times c² (L1: times c): w/c",
    "scale columns": "XD: D⁻¹w",
    "shift y": "y + c: the same w; b + c",
    "scale y": "cy (L1: with the penalty times c): cw and cb",
    "order of classes": "labels renamed so that they sort the other way: −w and −b, or permuted",
    "permute rows": "the same w and b",
    "permute columns": "w permuted",
    "weight is repetition": "weight 3 is the row three times",
    "zero weight": "weight 0 is no row",
    "scale weights": "cs, with the penalty times c unless the loss is a mean: the same w and b",
    "float32": "float32 data are the same numbers in float64",
    "threads": "the same bits on any number of threads",
    "block size": "other blocks, same answer up to rounding",
}

PENALTY_HAS_UNITS = "the penalty is in the user's units, column by column"
NORM_HAS_UNITS = "the least norm is that in the user's units"
LABELS = "labels are names: they have no size and no origin"
NUMBERS = "a number is not the name of a class"
LOG_LINK = "the mean is the exponential of a score: its origin is 0, its unit is in b alone"
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
    classes: int | None = None  # of a classifier
    degree: int = 2  # of the penalty in w
    mean: bool = False  # the loss is a mean: weights are shares
    exempt: dict[str, str] = field(default_factory=dict)
    # if it iterates: a tol that is as small as can be, and how near its answers then are
    tol: float | None = None
    rtol: float = 0.0  # of the largest coefficient
    warns: type[Warning] | None = None  # what a fit to these data rightly warns of
    # how the solver's answer is spoiled, to see whether the certificate notices
    solver: str = "certus.solvers.least_squares.least_squares:solve"
    # fitted attributes whose edit a check of the data need not notice, with the reason
    no_claim: dict[str, str] = field(default_factory=dict)

    def draw(self, seed: int, shape: tuple[int, int] | None = None) -> Problem:
        n, p = shape or self.shape
        return self.problem(seed, n, p, self.classes or self.targets)

    @property
    def exemptions(self) -> dict[str, str]:
        if self.classes is None:
            return {"order of classes": NUMBERS, **self.exempt}
        return {"shift y": LABELS, "scale y": LABELS, **self.exempt}

    def spoil(self, y: np.ndarray, rows: Any, value: float) -> np.ndarray:
        """Targets that differ from y in some rows."""
        y = y.copy()
        y[rows] = value if self.classes is None else (y[rows] + 1) % self.classes
        return y

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


def logistic(**parameters: Any) -> Callable[..., LogisticRegression]:
    C = parameters.pop("C", 0.5)
    return lambda penalty=1.0: LogisticRegression(C=C / penalty, **parameters)


def lasso(kind: Any = Lasso, **parameters: Any) -> Callable[..., Any]:
    alpha = parameters.pop("alpha", 0.1)
    return lambda penalty=1.0: kind(alpha=alpha * penalty, **parameters)


def lasso_cv(kind: Any = LassoCV, **parameters: Any) -> Callable[..., Any]:
    alphas = np.array([0.02, 0.1, 0.5])
    return lambda penalty=1.0: kind(alphas=alphas * penalty, cv=3, **parameters)


def sparse_regressor(name: str, make: Callable[..., Any], *args: Any, **more: Any) -> Law:
    claims = {
        "n_iter_": "the answer is the same however many steps led to it",
        "dual_gap_": "the solver's word, which the certificate's gap replaces",
    }
    if "CV" in name:
        claims |= dict.fromkeys(("mse_path_",), OF_FOLDS)
        claims |= {
            "alphas_": "they repeat what was asked for",
            "alpha_": "an α nearby has nearly the same optimum",
            "l1_ratio_": "an l nearby has nearly the same optimum",
        }
        laws = ("weight is repetition", "zero weight", "permute rows")
        more["exempt"] = {**more.get("exempt", {}), **dict.fromkeys(laws, FOLDS)}
    return Law(
        name, make, *args, solver="certus.solvers.lasso.elastic_net_path:fit_one",
        no_claim=claims, mean=True, tol=1e-12,
        **{"degree": 1, "rtol": 1e-6} | more | {"exempt": {**UNITS, **more.get("exempt", {})}},
    )  # fmt: skip


def regressor(name: str, make: Callable[..., Any], **more: Any) -> Law:
    return with_parts(
        Law(
            name, make, solver="certus.solvers.glm.dispatch:solve", tol=1e-12,
            no_claim={"n_iter_": "the answer is the same however many steps led to it"},
            **{"degree": 1, "rtol": 1e-6} | more | {"exempt": {**UNITS, **more.get("exempt", {})}},
        )
    )  # fmt: skip


def classifier(name: str, make: Callable[..., Any], classes: int = 2, **more: Any) -> Law:
    return Law(
        name, make, classification, classes=classes, solver="certus.solvers.glm.dispatch:solve",
        no_claim={"n_iter_": "the answer is the same however many steps led to it"},
        tol=1e-12, rtol=1e-6,  # √tol
        **{"shape": (90, 4)} | more,
    )  # fmt: skip


def logistic_cv(**parameters: Any) -> Callable[..., LogisticRegressionCV]:
    Cs = np.array([0.05, 0.5])
    return lambda penalty=1.0: LogisticRegressionCV(
        Cs=Cs / penalty, cv=3, use_legacy_attributes=False, **parameters
    )


def penalized(loss: str, **parameters: Any) -> Callable[..., PenalizedClassifier]:
    return lambda penalty=1.0: PenalizedClassifier(loss, L2(2 * penalty), **parameters)


def firth(**parameters: Any) -> Callable[..., FirthLogisticRegression]:
    return lambda penalty=1.0: FirthLogisticRegression(**parameters)


def ordinal(name: str, classes: int, alpha: float = 0.0, **more: Any) -> Law:
    case = classifier(
        name, lambda penalty=1.0: OrdinalRegression(alpha=alpha * penalty), classes, **more
    )
    return replace(case, problem=ordered, solver="certus.solvers.glm.ordinal:minimize")


def log_link(kind: Any, name: str = "", problem: Any = counts, **parameters: Any) -> Law:
    alpha, more = parameters.pop("alpha", 0.3), parameters.pop("more", {})
    exempt = {"shift y": LOG_LINK, "scale y": LOG_LINK, **more.pop("exempt", {})}
    return Law(
        kind.__name__ + name, lambda penalty=1.0: kind(alpha=alpha * penalty, **parameters),
        problem, solver="certus.solvers.glm.dispatch:solve", mean=True, tol=1e-12, rtol=1e-6,
        no_claim={
            "n_iter_": "the answer is the same however many steps led to it",
            "has_offset_": "the other value makes the check ask for offsets",
        },
        exempt=exempt, **more,
    )  # fmt: skip


def linear_svc(**parameters: Any) -> Callable[..., LinearSVC]:
    C = parameters.pop("C", 0.5)
    return lambda penalty=1.0: LinearSVC(C=C / penalty, **parameters)


def hinge(name: str, *, several: int = 2, **parameters: Any) -> Law:
    case = classifier(
        f"LinearSVC, hinge{name}", linear_svc(loss="hinge", **parameters), several,
        exempt={**UNITS, **PENALIZED_INTERCEPT},
    )  # fmt: skip
    return replace(
        case, solver="certus.solvers.hinge.dispatch:solve",
        no_claim={**case.no_claim, "dual_coef_": "a proof: another point may prove as much"},
    )  # fmt: skip


def with_folds(case: Law) -> Law:
    silent = dict.fromkeys(("coefs_paths_", "scores_", "n_iter_"), OF_FOLDS)
    silent |= dict.fromkeys(("Cs_", "l1_ratios_"), "they repeat what was asked for")
    silent |= {"C_": "a C nearby has nearly the same optimum", "l1_ratio_": "1 % of 0 is nothing"}
    laws = ("weight is repetition", "zero weight", "permute rows")
    return replace(case, no_claim=silent, exempt={**case.exempt, **dict.fromkeys(laws, FOLDS)})


def with_parts(case: Law) -> Law:
    parts = dict.fromkeys(("loss_", "penalty_"), "an object, which says what was minimised")
    return replace(case, no_claim={**case.no_claim, **parts})


def linear(**parameters: Any) -> Callable[..., LinearRegression]:
    return lambda penalty=1.0: LinearRegression(**parameters)


# of the labels 0, 1, … and of the same renamed to 9, 8, …
CLASS_WEIGHT = {0: 3.0, 1: 0.5, 9: 3.0, 8: 0.5}

COUNTS = {"scale weights": "weights are counts of rows, which log det I grows more slowly than"}
UNITS = {"scale columns": PENALTY_HAS_UNITS}
THROUGH_THE_ORIGIN = dict.fromkeys(("shift", "shift y"), NO_INTERCEPT)
TWO_DEGREES = "L1 grows with w and L2 with its square: no one factor undoes both"
PENALIZED_INTERCEPT = {
    "shift": "what the intercept takes up of a shift is penalised",
    "scale X": "the constant column, whose coefficient is penalised, keeps its unit",
}
ITERATIONS = {"n_iter_": "always 1, it says that nothing iterated"}
ALIASED = {"aliased_": "which of several dependent columns is called the repeated one is a custom"}
OF_FOLDS = "recomputing it means to refit every fold; a note says that it was not"
FOLDS_SCORE = {"best_score_": OF_FOLDS}

ESTIMATORS = [
    Law("LinearRegression", linear()),
    Law("LinearRegression, no intercept", linear(fit_intercept=False),
        exempt=THROUGH_THE_ORIGIN),
    Law("LinearRegression, two targets", linear(), targets=2),
    Law("LinearRegression, w ≥ 0", linear(positive=True), positive),
    Law("LinearRegression, w ≥ 0, no intercept", linear(positive=True, fit_intercept=False),
        positive, exempt=THROUGH_THE_ORIGIN),
    Law("LinearRegression, n < p", linear(), shape=(12, 30), warns=AliasWarning,
        exempt={"scale columns": NORM_HAS_UNITS}, no_claim=ALIASED),
    Law("Ridge", ridge(), exempt=UNITS, no_claim=ITERATIONS),
    Law("Ridge, no intercept", ridge(fit_intercept=False), no_claim=ITERATIONS,
        exempt={**UNITS, **THROUGH_THE_ORIGIN}),
    Law("Ridge, α for each target", ridge(alpha=[0.5, 8.0]), targets=2, exempt=UNITS,
        no_claim=ITERATIONS),
    Law("Ridge, w ≥ 0", ridge(positive=True), positive, exempt=UNITS, no_claim=ITERATIONS),
    Law("Ridge, n < p", ridge(), shape=(12, 30), exempt=UNITS, no_claim=ITERATIONS),
    Law("RidgeCV", ridge_cv(), exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, one α", ridge_cv(alphas=[2.0]), exempt=UNITS),
    Law("RidgeCV, no intercept", ridge_cv(fit_intercept=False),
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS,
                **THROUGH_THE_ORIGIN}),
    Law("RidgeCV, α for each target", ridge_cv(alpha_per_target=True), targets=2,
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, two targets, errors kept", ridge_cv(store_cv_results=True), targets=2,
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, n < p", ridge_cv(), shape=(12, 30),
        exempt={**UNITS, "weight is repetition": LEAVES_OUT_ROWS}),
    Law("RidgeCV, five folds", ridge_cv(cv=5), no_claim=FOLDS_SCORE,
        exempt={**UNITS, **dict.fromkeys(("weight is repetition", "zero weight", "permute rows"),
                                         FOLDS)}),
    sparse_regressor("Lasso", lasso()),
    sparse_regressor("Lasso, no intercept", lasso(fit_intercept=False), exempt=THROUGH_THE_ORIGIN),
    sparse_regressor("Lasso, two targets", lasso(), targets=2),
    sparse_regressor("Lasso, w ≥ 0", lasso(positive=True), positive),
    sparse_regressor("Lasso, n < p", lasso(), shape=(30, 50)),
    sparse_regressor("Lasso, many columns", lasso(), shape=(40, 700)),
    sparse_regressor("ElasticNet", lasso(ElasticNet),
                     exempt={"scale X": TWO_DEGREES, "scale y": TWO_DEGREES}),
    sparse_regressor("ElasticNet, many columns, w ≥ 0",
                     lasso(ElasticNet, alpha=0.5, l1_ratio=0.9, positive=True), positive,
                     shape=(40, 700), rtol=1e-5,
                     exempt={"scale X": TWO_DEGREES, "scale y": TWO_DEGREES}),
    regressor("PenalizedRegressor", lambda penalty=1.0: PenalizedRegressor("squared", L2(penalty)),
              degree=2),
    regressor("PenalizedRegressor, L1",
              lambda penalty=1.0: PenalizedRegressor("squared", L1(9.0 * penalty))),
    regressor("PenalizedRegressor, Huber",
              lambda penalty=1.0: PenalizedRegressor("huber", L2(penalty)),
              degree=2, exempt={"scale y": "δ is in the units of y, and stays"}),
    log_link(PoissonRegressor, more={"exempt": UNITS}),
    log_link(PoissonRegressor, ", no penalty", alpha=0.0),
    log_link(PoissonRegressor, ", no intercept", fit_intercept=False,
             more={"exempt": {**UNITS, "shift": NO_INTERCEPT}}),
    log_link(PoissonRegressor, ", L1", l1_ratio=1.0, alpha=0.01,
             more={"degree": 1, "exempt": UNITS}),
    log_link(PoissonRegressor, ", L1 and L2", l1_ratio=0.5,
             more={"exempt": {**UNITS, "scale X": TWO_DEGREES}}),
    log_link(PoissonRegressor, ", n < p", more={"shape": (12, 30), "exempt": UNITS}),
    log_link(PoissonRegressor, ", by conjugate gradients", solver="newton-cg",
             more={"exempt": UNITS}),
    log_link(GammaRegressor, "", amounts, more={"exempt": UNITS}),
    log_link(GammaRegressor, ", no penalty", amounts, alpha=0.0),
    log_link(GammaRegressor, ", no penalty, no intercept", amounts, alpha=0.0, fit_intercept=False,
             more={"exempt": {"shift": NO_INTERCEPT}}),
    log_link(GammaRegressor, ", L1", amounts, l1_ratio=1.0, alpha=0.01,
             more={"degree": 1, "exempt": UNITS}),
    sparse_regressor("LassoCV", lasso_cv()),
    sparse_regressor("ElasticNetCV", lasso_cv(ElasticNetCV, l1_ratio=[0.2, 0.9]),
                     exempt={"scale X": TWO_DEGREES, "scale y": TWO_DEGREES}),
    classifier("LogisticRegression", logistic(), exempt=UNITS),
    classifier("LogisticRegression, no intercept", logistic(fit_intercept=False),
               exempt={**UNITS, "shift": NO_INTERCEPT}),
    classifier("LogisticRegression, no penalty", logistic(C=np.inf)),
    classifier("LogisticRegression, no penalty, no intercept",
               logistic(C=np.inf, fit_intercept=False), exempt={"shift": NO_INTERCEPT}),
    classifier("LogisticRegression, weights of classes", logistic(class_weight=CLASS_WEIGHT),
               exempt=UNITS),
    classifier("LogisticRegression, balanced", logistic(class_weight="balanced"), exempt=UNITS),
    classifier("LogisticRegression, by conjugate gradients", logistic(solver="newton-cg"),
               exempt=UNITS),
    classifier("LogisticRegression, penalised intercept",
               logistic(solver="liblinear", intercept_scaling=2.0),
               exempt={**UNITS, **PENALIZED_INTERCEPT}),
    classifier("LogisticRegression, n < p", logistic(), shape=(12, 30), exempt=UNITS),
    classifier("LogisticRegression, L1", logistic(l1_ratio=1.0), degree=1, exempt=UNITS),
    classifier("LogisticRegression, L1, no intercept",
               logistic(l1_ratio=1.0, fit_intercept=False), degree=1,
               exempt={**UNITS, "shift": NO_INTERCEPT}),
    # scikit-learn compares its weights with repetitions to seven digits: a default fit has six
    classifier("LogisticRegression, L1, n < p", logistic(l1_ratio=1.0, C=2.0, tol=1e-8),
               shape=(30, 50), degree=1, exempt=UNITS),
    classifier("LogisticRegression, L1 and L2, balanced",
               logistic(l1_ratio=0.5, class_weight="balanced"),
               exempt={**UNITS, "scale X": TWO_DEGREES}),
    classifier("LogisticRegression, three classes", logistic(), 3, exempt=UNITS),
    classifier("LogisticRegression, three classes, L1", logistic(l1_ratio=1.0), 3, degree=1,
               exempt=UNITS),
    classifier("LogisticRegression, three classes, L1 and L2", logistic(l1_ratio=0.5), 3,
               exempt={**UNITS, "scale X": TWO_DEGREES}),
    classifier("LogisticRegression, three classes, no intercept", logistic(fit_intercept=False), 3,
               exempt={**UNITS, "shift": NO_INTERCEPT}),
    classifier("LogisticRegression, three classes, no penalty", logistic(C=np.inf), 3),
    classifier("LogisticRegression, three classes, balanced, by conjugate gradients",
               logistic(class_weight="balanced", solver="newton-cg"), 3, exempt=UNITS),
    classifier("LogisticRegression, three classes, n < p", logistic(), 3, shape=(15, 30),
               exempt=UNITS),
    with_folds(classifier("LogisticRegressionCV", logistic_cv(), exempt=UNITS)),
    with_folds(classifier("LogisticRegressionCV, three classes, by log loss",
                          logistic_cv(scoring="neg_log_loss"), 3, exempt=UNITS)),
    with_parts(classifier("PenalizedClassifier, squared hinge", penalized("squared_hinge"),
                          exempt=UNITS)),
    with_parts(classifier("PenalizedClassifier, squared error, no intercept",
                          penalized("squared", fit_intercept=False),
                          exempt={**UNITS, "shift": NO_INTERCEPT})),
    with_parts(classifier("PenalizedClassifier, Huber, three classes", penalized("huber"), 3,
                          exempt=UNITS)),
    with_parts(classifier("PenalizedClassifier, softmax", penalized("softmax"), 3, exempt=UNITS)),
    replace(classifier("FirthLogisticRegression", firth(), exempt=COUNTS),
            solver="certus.solvers.glm.firth:minimize"),
    replace(classifier("FirthLogisticRegression, no intercept", firth(fit_intercept=False),
                       exempt={**COUNTS, "shift": NO_INTERCEPT}),
            solver="certus.solvers.glm.firth:minimize"),
    ordinal("OrdinalRegression", 3),
    ordinal("OrdinalRegression, two classes", 2),
    ordinal("OrdinalRegression, five classes, with a penalty", 5, 2.0, exempt=UNITS),
    hinge(""),
    hinge(", weights of classes", class_weight={0: 1.5, 1: 0.8, 9: 1.5, 8: 0.8}),
    hinge(", three classes, balanced", several=3, class_weight="balanced"),
    replace(hinge(", no intercept", fit_intercept=False),
            exempt={**UNITS, "shift": NO_INTERCEPT}),
    replace(hinge(", many columns", fit_intercept=False), shape=(30, 1100),
            exempt={**UNITS, "shift": NO_INTERCEPT}),
    classifier("LinearSVC", linear_svc(intercept_scaling=2.0),
               exempt={**UNITS, **PENALIZED_INTERCEPT}),
    classifier("LinearSVC, L1", linear_svc(penalty="l1"), degree=1,
               exempt={**UNITS, **PENALIZED_INTERCEPT}),
    classifier("LinearSVC, three classes, balanced", linear_svc(class_weight="balanced"), 3,
               exempt={**UNITS, **PENALIZED_INTERCEPT}),
]  # fmt: skip

ANSWERS: list[Case] = [
    *CLUSTERS, *MIXTURES, *NEIGHBORS, *SELECTORS, *KERNEL_MACHINES, *OTHERS,
]  # fmt: skip

Row = TypeVar("Row", Law, Case)


def keeping(law: str, table: list[Row]) -> list[Row]:
    """The estimators of a table that promise a law."""
    assert law in LAWS
    return [case for case in table if law not in case.exemptions]
