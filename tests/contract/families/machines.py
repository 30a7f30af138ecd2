"""NCFS, kernel machines, bases and prior correction in the table of laws."""

from typing import Any

import numpy as np

from certus.exceptions import NotCertifiedWarning
from certus.feature_selection import NCFSClassifier, NCFSClassifierCV, NCFSRegressor
from certus.linear_model import LogisticRegression
from certus.metrics import CalibratedClassifier, PriorCorrectedClassifier
from certus.preprocessing import GaussianBasis, PolynomialBasis, SigmoidBasis
from certus.svm import LSSVC, LSSVCCV, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC
from tests.contract.families.answers import (
    WITHOUT_WEIGHTS,
    Answer,
    Case,
    Part,
    Sample,
    classes,
    noise,
    numbers,
    two_classes,
)

# --- NCFS -----------------------------------------------------------------------------------------

STILL_ANSWERS = {
    "weight is repetition": "weights are of rows that are asked, and a copy of a row is its"
    " nearest neighbour",
    "zero weight": "a row of weight 0 is not asked, and still answers",
}
BATCHES = "batches are consecutive rows, and rows of different batches are not compared"
FOLDS = "folds are drawn from the rows in their order, so the choice of λ depends on it"
PANELS = (
    "certus.solvers.ncfs.problem:PANEL_ELEMENTS",
    "certus.solvers.ncfs.problem:SLICE_ELEMENTS",
)


def column_weights(model: Any, sample: Sample) -> Answer:
    """W is of columns that were scaled inside: no unit is left in it."""
    f = getattr(model, "predict_proba", model.predict)(sample.queries)
    return {
        "W": Part(model.weights_, columns=True),
        "objective": Part(model.objective_, heft=1),
        "predictions": Part(f),
    }


def ncfs(cls: Any, **how: Any) -> Any:
    """λ counts beside sums over rows, in the unit of their weights."""
    return lambda start=None, unit=1.0, heft=1.0: cls(0.5 * heft, tol=1e-9, **how)


def ncfs_cv(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> NCFSClassifierCV:
    return NCFSClassifierCV(np.array([0.5, 2.0]) * heft, cv=3, tol=1e-9)


def ncfs_case(name: str, make: Any, data: Any = classes, **more: Any) -> Case:
    exempt = {**STILL_ANSWERS, **more.pop("exempt", {})}
    return Case(
        name, make, data, column_weights, n=48, rtol=1e-5, rtol_float32=1e-4, exempt=exempt,
        blocks=PANELS, warns=(NotCertifiedWarning,),  # rounding hides so small a residual
        **more,
    )  # fmt: skip


SELECTORS = [
    ncfs_case("NCFSClassifier", ncfs(NCFSClassifier)),
    *(
        ncfs_case(f"NCFSClassifier, {metric}", ncfs(NCFSClassifier, metric=metric))
        for metric in ("sqeuclidean", "euclidean", "phi_s")
    ),
    ncfs_case("NCFSRegressor", ncfs(NCFSRegressor), numbers),
    ncfs_case(
        "NCFSClassifier in batches",
        ncfs(NCFSClassifier, batch_size=16),
        exempt={"permute rows": BATCHES},
    ),
    ncfs_case(
        "NCFSRegressor in batches",
        ncfs(NCFSRegressor, batch_size=16),
        numbers,
        exempt={"permute rows": BATCHES},
    ),
    ncfs_case("NCFSClassifierCV", ncfs_cv, exempt={"permute rows": FOLDS}),
]

# --- kernel machines ------------------------------------------------------------------------------

LEAVES_OUT = "the choice of C leaves out a row; of a row that stands there twice, one copy stays"
DENSITY = {
    "weight is repetition": "a copy of a row is its nearest neighbour and makes it denser, a"
    " weight does not",
    "zero weight": "a row of weight 0 has no loss, and still makes its neighbours denser",
}
ONE_VARIANCE = {
    "shift": "gamma='scale' is scikit-learn's: one variance of all entries, so that columns share"
    " an origin",
}


def scores(model: Any, sample: Sample) -> Answer:
    f = getattr(model, "decision_function", model.predict)(sample.queries)
    return {"scores": Part(f), "objective": Part(model.objective_)}


def machine(cls: Any, **how: Any) -> Any:
    """C counts beside weights, and gamma beside squares of X."""
    return lambda start=None, unit=1.0, heft=1.0: cls(2.0 / heft, **{"gamma": 0.2 / unit**2, **how})


def linear_machine(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> LSSVC:
    """½‖w‖² + ½C Σ s e²: of rows c times as large, w is a c-th."""
    return LSSVC(2.0 / heft / unit**2, kernel="linear")


def linear_scores(model: Any, sample: Sample) -> Answer:
    return {
        "scores": Part(model.decision_function(sample.queries)),
        "objective": Part(model.objective_, unit=-2),
    }


def chosen(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> LSSVCCV:
    return LSSVCCV(np.array([0.5, 5.0]) / heft, np.array([0.05, 0.5]) / unit**2)


TILES = (
    "certus.solvers.lssvm.tiles:BAND_ROWS",
    "certus.solvers.lssvm.kernel:TILE_ROWS",
    "certus.solvers.lssvm.kernel:TILE_COLUMNS",
    "certus.solvers.lssvm.inverse:BLOCK_COLUMNS",
)
KERNEL_MACHINES = [
    Case("LSSVC", machine(LSSVC), classes, scores, rtol=1e-8, blocks=TILES),
    Case("LSSVC, two classes, balanced", machine(LSSVC, class_weight="balanced"), two_classes,
         scores, rtol=1e-8, blocks=TILES),
    Case("LSSVC, gamma of the rows", machine(LSSVC, gamma="scale"), classes, scores, rtol=1e-8,
         blocks=TILES, exempt=ONE_VARIANCE),
    # far away rounding hides in the linear kernel what rows differ by, and a warning says so
    Case("LSSVC, linear", linear_machine, classes, linear_scores, rtol=1e-8, blocks=TILES, far=6),
    Case("LSSVR", machine(LSSVR), numbers, scores, rtol=1e-8, blocks=TILES),
    Case("LSSVCCV", chosen, classes, scores, rtol=1e-8, blocks=TILES,
         exempt={"weight is repetition": LEAVES_OUT}),
    Case("DensityWeightedLSSVC", machine(DensityWeightedLSSVC), classes, scores, rtol=1e-8,
         blocks=TILES, exempt=DENSITY),
    # certified to 1e-6 of the objective, and the root of that in f
    Case("DensityWeightedSVC", machine(DensityWeightedSVC, tol=1e-6), classes, scores, rtol=1e-3,
         rtol_float32=1e-3, exempt=DENSITY),
]  # fmt: skip

# --- bases and prior correction -------------------------------------------------------------------


def products(model: Any, sample: Sample) -> Answer:
    """BBᵀ of the basis functions at rows, whatever their order."""
    B = np.asarray(model.transform(sample.queries), dtype=float)
    return {"products": Part(B @ B.T)}


def basis(cls: Any, *args: Any) -> Case:
    return Case(
        cls.__name__, lambda start=None, unit=1.0, heft=1.0: cls(*args), noise, products,
        rtol_float32=1e-5, exempt=WITHOUT_WEIGHTS,
    )  # fmt: skip


def corrected(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> PriorCorrectedClassifier:
    model = LogisticRegression(C=0.5 / heft / unit**2, tol=1e-12)
    return PriorCorrectedClassifier(model, prevalence=[0.2, 0.8])


def calibrated(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> CalibratedClassifier:
    model = LogisticRegression(C=0.5 / heft / unit**2, tol=1e-12)
    return CalibratedClassifier(model, slope=0.5, intercept=0.3)


def probabilities(model: Any, sample: Sample) -> Answer:
    return {"probabilities": Part(model.predict_proba(sample.queries))}


OTHERS = [
    basis(PolynomialBasis, 3),
    basis(GaussianBasis, 5),
    basis(SigmoidBasis, 5),
    Case("CalibratedClassifier", calibrated, two_classes, probabilities, rtol=1e-6,
         rtol_float32=1e-6, warns=(NotCertifiedWarning,)),
    Case("PriorCorrectedClassifier", corrected, two_classes, probabilities, rtol=1e-6,
         rtol_float32=1e-6, warns=(NotCertifiedWarning,)),
]  # fmt: skip
