"""The rows of ``certus demo``: a model and a data set, fitted by certus and by scikit-learn.

A new model only adds its row to ``ROWS``. Data come with scikit-learn or are drawn
here, so nothing is downloaded.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..certificate import Certificate, verify
from ..exceptions import NotCertifiedWarning

Data = tuple[Any, Any]


@dataclass(frozen=True)
class Row:
    """One model on one data set. ``model``: a class that both libraries have under that name."""

    name: str  # what a person types
    model: str
    about: str  # the data, in a few words
    data: Callable[[], Data]
    parameters: dict[str, Any] = field(default_factory=dict)
    expects: str = "optimal"  # the status that the data deserve
    alone: bool = False  # scikit-learn has no such model

    @property
    def call(self) -> str:
        """Ridge(positive=True)."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.model.rsplit('.', 1)[-1]}({given})"


class AuditedFit(NamedTuple):
    """One library's answer, audited."""

    certificate: Certificate
    warned: list[str]  # "AliasWarning: 1 of 3 columns repeats …"


class Shown(NamedTuple):
    row: Row
    ours: AuditedFit
    theirs: AuditedFit | None

    @property
    def right(self) -> bool:
        """Our answer is what the data deserve."""
        return self.ours.certificate.status == self.row.expects

    @property
    def times(self) -> float:
        """scikit-learn's objective as a multiple of ours."""
        assert self.theirs is not None
        ours, theirs = self.ours.certificate.objective, self.theirs.certificate.objective
        return theirs / ours if ours > 0 else np.inf if theirs > 0 else 1.0

    @property
    def below(self) -> float:
        """Return how far a maximised objective of scikit-learn is below ours, per row."""
        assert self.theirs is not None
        ours, theirs = self.ours.certificate, self.theirs.certificate
        return (ours.objective - theirs.objective) / ours.shape[0]


def fit_both(row: Row) -> Shown:
    """Fit with both libraries and audit both answers from the same data."""
    X, y = row.data()
    theirs = None if row.alone else _fit("sklearn", row, X, y)
    return Shown(row, _fit("certus", row, X, y), theirs)


def _fit(library: str, row: Row, X: object, y: object) -> AuditedFit:
    module, _, name = row.model.rpartition(".")
    model = getattr(import_module(f"{library}.{module}"), name)(**row.parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    # the verdict is printed in any case
    others = [w for w in caught if not issubclass(w.category, NotCertifiedWarning)]
    return AuditedFit(verify(model, X, y), [f"{w.category.__name__}: {w.message}" for w in others])


# --- the data -------------------------------------------------------------------------------------


def _diabetes() -> Data:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, y


def _cancer() -> Data:
    """The mean radius of a tumour from the other 29 measurements, as they come."""
    from sklearn.datasets import load_breast_cancer

    X, _ = load_breast_cancer(return_X_y=True)
    return X[:, 1:], X[:, 0]


def _wine() -> Data:
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return X, y


def _scales() -> Data:
    rng = np.random.default_rng(0)
    income, dose = 2e6 * rng.normal(size=1000), rng.normal(size=1000)
    return np.column_stack([income, dose]), 3 * dose + 0.15 * rng.normal(size=1000)


def _timestamps() -> Data:
    rng = np.random.default_rng(0)
    seconds, sensor = 1.7e9 + 3600.0 * np.arange(1000), rng.normal(size=1000)
    drift = 1e-7 * (seconds - seconds[0])
    return np.column_stack([seconds, sensor]), 2 * sensor + drift + 0.1 * rng.normal(size=1000)


def _polynomial() -> Data:
    rng = np.random.default_rng(0)
    x = np.linspace(0, 100, 400)
    return x[:, None] ** np.arange(1, 5), np.sin(x / 10) + 0.1 * rng.normal(size=400)


def _float32() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(1000, 1, size=(500_000, 3)).astype(np.float32)
    y = X @ np.array([1, 2, 3], dtype=np.float32) + 0.1 * rng.normal(size=500_000)
    return X, y.astype(np.float32)


def _aliased() -> Data:
    rng = np.random.default_rng(0)
    price, tax = rng.normal(20, 5, size=300), rng.normal(3, 1, size=300)
    return np.column_stack([price, tax, price + tax]), price - 2 * tax + rng.normal(size=300)


def _cancer_kinds() -> Data:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, y


def _scaled_cancer() -> Data:
    X, y = _cancer_kinds()
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


def _shifted() -> Data:
    """The pressure lies far from 0 beside its spread."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = X[:, 0] - X[:, 1] + rng.logistic(size=2000) > 0
    X[:, 0] += 3000
    return X, y


def _separated() -> Data:
    rng = np.random.default_rng(0)
    size = np.concatenate([rng.uniform(0.5, 3.4, 42), rng.uniform(3.6, 9, 18)])
    return np.column_stack([rng.normal(60, 10, 60), size]), np.repeat(
        ["benign", "malignant"], [42, 18]
    )


def _steps() -> Data:
    """The progression of a disease as a number from 0 to 4, a fifth of the rows each."""
    X, y = _diabetes()
    return X, np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y)


def _digits() -> Data:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y


def _satellites() -> Data:
    """Places in metres from the centre of the Earth's orbit."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 600)
    return rng.normal(kind[:, None], 0.5, size=(600, 3)) + 1.5e11, kind


def _accidents() -> Data:
    """Accidents by age in days, metres driven and town; in the last town there were none."""
    rng = np.random.default_rng(0)
    days, metres = rng.uniform(6500, 30_000, 2000), 1e3 * rng.lognormal(9, 0.7, 2000)
    town = rng.integers(0, 4, 2000)
    mean = np.exp(1 - days / 20_000 + 0.3 * (town == 1)) * np.sqrt(metres / 1e7) * (town < 3)
    return np.column_stack([days, metres, np.eye(4)[town][:, 1:]]), rng.poisson(mean)


def _costs() -> Data:
    """Costs of the accidents by age in days and income in dollars."""
    rng = np.random.default_rng(0)
    days, income = rng.uniform(6500, 30_000, 2000), rng.lognormal(10, 0.5, 2000)
    mean = np.exp(8 - days / 20_000 + income / 1e5)
    return np.column_stack([days, income]), mean * rng.gamma(2.0, 0.5, 2000)


def _evenly_spread() -> Data:
    """No clusters at all: Lloyd's steps are many and small."""
    return np.random.default_rng(0).uniform(size=(3000, 2)), None


def _arrivals() -> Data:
    """A minute's spread, in seconds since 1970."""
    return 1.7e9 + np.random.default_rng(0).normal(0, 60, size=(500, 1)), None


def _spectra() -> Data:
    """Three substances whose spectra differ in the eighth digit."""
    rng = np.random.default_rng(0)
    kind, shape = rng.integers(0, 3, 300), 1 + np.abs(np.sin(np.linspace(0, 9, 50)))
    own, noise = rng.normal(size=(3, 50)), rng.normal(size=(300, 50))
    return shape * (1 + 1e-8 * own[kind] + 3e-9 * noise), kind


def _sparse() -> Data:
    """Towns one-hot, income in dollars beside them."""
    rng = np.random.default_rng(0)
    town = sparse.csr_array((np.ones(20_000), (np.arange(20_000), rng.integers(0, 300, 20_000))))
    income = rng.lognormal(10, 1, size=(20_000, 1))
    X = sparse.hstack([town, sparse.csr_array(income)], format="csr")
    return X, town @ rng.normal(size=300) + 1e-5 * income[:, 0] + rng.normal(size=20_000)


ROWS = (
    Row("diabetes", "linear_model.LinearRegression", "load_diabetes", _diabetes),
    Row("scales", "linear_model.LinearRegression", "columns in millions and in ones", _scales),
    Row("timestamps", "linear_model.LinearRegression", "hourly, time in seconds since 1970",
        _timestamps),
    Row("polynomial", "linear_model.LinearRegression", "four powers of x from 0 to 100",
        _polynomial),
    Row("aliased", "linear_model.LinearRegression", "price, tax and their sum", _aliased),
    Row("ridge", "linear_model.Ridge", "load_diabetes", _diabetes, {"alpha": 0.1}),
    Row("float32", "linear_model.LinearRegression", "float32 values around 1000", _float32),
    Row("cancer", "linear_model.Ridge", "load_breast_cancer, unscaled", _cancer,
        {"solver": "sparse_cg"}),
    Row("sparse", "linear_model.Ridge", "one-hot towns and income, sparse", _sparse),
    Row("wine", "linear_model.Ridge", "load_wine", _wine, {"positive": True}),
    Row("ridge-cv", "linear_model.RidgeCV", "load_diabetes", _diabetes,
        {"alphas": (0.01, 0.1, 1.0)}),
    Row("lasso", "linear_model.Lasso", "four powers of x from 0 to 100", _polynomial,
        {"alpha": 0.01}),
    Row("elastic-net", "linear_model.ElasticNet", "load_wine", _wine, {"alpha": 0.01}),
    Row("lasso-cv", "linear_model.LassoCV", "load_diabetes", _diabetes),
    Row("logistic", "linear_model.LogisticRegression", "load_breast_cancer, unscaled",
        _cancer_kinds),
    Row("shifted", "linear_model.LogisticRegression", "one column around 3,000",
        _shifted),
    Row("saga", "linear_model.LogisticRegression", "load_breast_cancer, unscaled", _cancer_kinds,
        {"solver": "saga", "max_iter": 10_000, "random_state": 0}),
    Row("separated", "linear_model.LogisticRegression", "size tells kinds apart",
        _separated, {"C": np.inf}, expects="no finite optimum"),
    Row("firth", "linear_model.FirthLogisticRegression", "size tells kinds apart", _separated,
        expects="stationary", alone=True),
    Row("ordinal", "linear_model.OrdinalRegression", "load_diabetes, in five steps", _steps,
        alone=True),
    Row("softmax", "linear_model.LogisticRegression", "load_wine, three classes", _wine),
    Row("counts", "linear_model.PoissonRegressor", "accidents by age in days, metres driven, town",
        _accidents, {"alpha": 1e-3}),
    Row("zeros", "linear_model.PoissonRegressor", "accidents, none of them in one town",
        _accidents, {"alpha": 0}, expects="no finite optimum"),
    Row("amounts", "linear_model.GammaRegressor", "costs by age in days, income", _costs,
        {"alpha": 0}),
    Row("neighbors", "neighbors.KNeighborsClassifier", "load_digits", _digits, expects="exact"),
    Row("far", "neighbors.KNeighborsClassifier", "far from 0",
        _satellites, {"algorithm": "brute"}, expects="exact"),
    Row("kmeans", "cluster.KMeans", "load_digits", _digits,
        {"n_clusters": 10, "random_state": 0}, expects="local optimum"),
    Row("many-steps", "cluster.KMeans", "evenly spread", _evenly_spread,
        {"n_clusters": 20, "random_state": 0}, expects="local optimum"),
    Row("tree", "cluster.AgglomerativeClustering", "spectra alike to 8 digits", _spectra,
        {"n_clusters": 3, "metric": "cosine", "linkage": "average"}, expects="exact"),
    Row("mixture", "mixture.GaussianMixture", "Unix times", _arrivals,
        {"covariance_type": "diag"}, expects="local optimum"),
    Row("hinge", "svm.LinearSVC", "load_breast_cancer, unscaled", _cancer_kinds,
        {"loss": "hinge", "random_state": 0}),
    Row("lssvm", "svm.LSSVC", "load_digits, ten classes", _digits, {"C": 10.0}, alone=True),
    Row("density", "svm.DensityWeightedSVC", "load_breast_cancer, to [0, 1]", _scaled_cancer,
        {"C": 10.0}, alone=True),
    Row("ncfs", "feature_selection.NCFSClassifier", "load_wine, columns that tell", _wine,
        expects="local optimum", alone=True),
)  # fmt: skip
