"""Fitted models whose certificate holds, one or more of every class that ``verify`` reads."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn import cluster as their_cluster
from sklearn import kernel_ridge as their_kernel_ridge
from sklearn import linear_model as their_linear_model
from sklearn import mixture as their_mixture
from sklearn import neighbors as their_neighbors
from sklearn import svm as their_svm

from certus import cluster, feature_selection, linear_model, mixture, neighbors, svm
from certus.penalties import MCP, Box, GroupL2
from tests.contract.problems import amounts, classification, ordered, regression
from tests.contract.problems import counts as events


@dataclass(frozen=True)
class EditCase:
    """A model with the rows it is fitted on."""

    name: str
    make: Callable[[], Any]
    data: Callable[[], tuple[Any, Any]]
    finish: Callable[[Any, Any, Any], None] | None = None  # what makes the fit exact

    def __str__(self) -> str:
        return self.name

    def fit(self) -> tuple[Any, Any, Any]:
        """(the fitted model, X, y)."""
        X, y = self.data()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self.make()
            model = model.fit(X) if y is None else model.fit(X, y)
            if self.finish is not None:
                self.finish(model, X, y)
        return model, X, y


def numbers(k: int | None = None, n: int = 60) -> Callable[[], tuple[Any, Any]]:
    def draw() -> tuple[Any, Any]:
        X, y, _ = regression(3, n=n, k=k)
        return X, y + 30

    return draw


def labels(K: int = 2, names: Any = None) -> Callable[[], tuple[Any, Any]]:
    def draw() -> tuple[Any, Any]:
        X, y, _ = classification(3, classes=K)
        y = y.astype(int)
        return X + 1, y if names is None else np.asarray(names)[y]

    return draw


def drawn(problem: Callable[[int], Any]) -> Callable[[], tuple[Any, Any]]:
    return lambda: problem(3)[:2]


def sparse(data: Callable[[], tuple[Any, Any]]) -> Callable[[], tuple[Any, Any]]:
    def draw() -> tuple[Any, Any]:
        X, y = data()
        return csr_array(X), y

    return draw


def stages() -> tuple[Any, Any]:
    X, y, _ = ordered(3)
    return X, y.astype(int)


def blobs() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(3, 4)) * 6
    return np.vstack([c + rng.normal(size=(20, 4)) for c in centers]), None


def overlapping() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(2, 3)) * 1.5
    return np.vstack([c + rng.normal(size=(150, 3)) for c in centers]), None


def three_points() -> tuple[Any, Any]:
    """Batches of rows end at the optimum where clusters are points."""
    points = np.array([[0.0, 1.0, 2.0], [8.0, -3.0, 0.5], [-6.0, 4.0, 9.0]])
    return np.repeat(points, [20, 25, 30], axis=0), None


def bits() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    p = np.repeat([[0.9, 0.8, 0.1, 0.2, 0.5], [0.1, 0.2, 0.9, 0.7, 0.4]], 60, axis=0)
    return (rng.uniform(size=p.shape) < p).astype(float), None


def counts() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    rate = np.repeat([[9.0, 8.0, 1.0, 2.0, 5.0], [1.0, 2.0, 9.0, 7.0, 4.0]], 60, axis=0)
    return rng.poisson(rate).astype(float), None


TIGHT = {"tol": 1e-12, "max_iter": 100_000}
THREE = ["a", "b", "c"]


def case(name: str, make: Any, data: Any, **how: Any) -> EditCase:
    return EditCase(name, lambda: make(**how), data)


def exact_sgd_regressor(model: Any, X: Any, y: Any) -> None:
    """(1/n) Σ ½r² + α/2 ‖w‖² is ridge regression with nα."""
    exact = their_linear_model.Ridge(alpha=len(X) * model.alpha, solver="cholesky").fit(X, y)
    model.coef_, model.intercept_ = exact.coef_, np.array([exact.intercept_])


def exact_sgd_classifier(model: Any, X: Any, y: Any) -> None:
    """(1/n) Σ log loss + α/2 ‖w‖² is logistic regression with C = 1/nα."""
    C = 1 / (len(X) * model.alpha)
    exact = their_linear_model.LogisticRegression(C=C, tol=1e-12, max_iter=10_000).fit(X, y)
    model.coef_, model.intercept_ = exact.coef_, exact.intercept_


L, T = linear_model, their_linear_model
N, TN = neighbors, their_neighbors
C, TC = cluster, their_cluster
OURS = [
    case("LinearRegression", L.LinearRegression, numbers()),
    case("LinearRegression, two targets", L.LinearRegression, numbers(2)),
    case("LinearRegression, w ≥ 0", L.LinearRegression, numbers(), positive=True),
    case("Ridge", L.Ridge, numbers(), alpha=0.5),
    case("Ridge, two targets", L.Ridge, numbers(2), alpha=[0.5, 2.0]),
    case("Ridge, no intercept", L.Ridge, numbers(), fit_intercept=False),
    case("RidgeCV", L.RidgeCV, numbers()),
    case("RidgeCV, folds", L.RidgeCV, numbers(), cv=3),
    case("Lasso", L.Lasso, numbers(), alpha=0.1),
    case("Lasso, sparse X", L.Lasso, sparse(numbers()), alpha=0.1),
    case("ElasticNet", L.ElasticNet, numbers(), alpha=0.1),
    case("LassoCV", L.LassoCV, numbers(), cv=3),
    case("ElasticNetCV", L.ElasticNetCV, numbers(), cv=3, l1_ratio=[0.5, 1.0]),
    case("PenalizedRegressor", L.PenalizedRegressor, numbers()),
    case("PenalizedRegressor, Huber", L.PenalizedRegressor, numbers(), loss="huber"),
    case("PenalizedRegressor, MCP", L.PenalizedRegressor, numbers(), penalty=MCP(0.1)),
    case("PenalizedRegressor, groups", L.PenalizedRegressor, numbers(),
         penalty=GroupL2(groups=[[0, 1], [2, 3]], strength=0.5)),
    case("PenalizedRegressor, box", L.PenalizedRegressor, numbers(),
         penalty=Box(-1.0, 1.0)),
    case("PoissonRegressor", L.PoissonRegressor, drawn(events), alpha=0.1),
    case("PoissonRegressor, no penalty", L.PoissonRegressor, drawn(events), alpha=0.0),
    case("GammaRegressor", L.GammaRegressor, drawn(amounts), alpha=0.1),
    case("GammaRegressor, elastic net", L.GammaRegressor, drawn(amounts), alpha=0.1, l1_ratio=0.5),
    case("LogisticRegression", L.LogisticRegression, labels()),
    case("LogisticRegression, text", L.LogisticRegression, labels(2, THREE)),
    case("LogisticRegression, three classes", L.LogisticRegression, labels(3, THREE)),
    case("LogisticRegression, sparse coef_", lambda: L.LogisticRegression(l1_ratio=1.0, C=0.1),
         labels(3)),
    case("LogisticRegression, balanced", L.LogisticRegression, labels(),
         class_weight="balanced"),
    case("LogisticRegression, no penalty", L.LogisticRegression, labels(), C=np.inf),
    case("LogisticRegressionCV", L.LogisticRegressionCV, labels(), cv=3, Cs=3),
    case("FirthLogisticRegression", L.FirthLogisticRegression, labels()),
    case("OrdinalRegression", L.OrdinalRegression, stages),
    case("PenalizedClassifier", L.PenalizedClassifier, labels(), tol=1e-9),
    case("PenalizedClassifier, softmax", L.PenalizedClassifier, labels(3),
         loss="softmax", tol=1e-9),
    case("PenalizedClassifier, Huber", L.PenalizedClassifier, labels(3), loss="huber",
         tol=1e-9),
    case("PenalizedClassifier, squared hinge", L.PenalizedClassifier, labels(),
         loss="squared_hinge", tol=1e-9),
    case("LinearSVC", svm.LinearSVC, labels(), **TIGHT),
    case("LinearSVC, hinge, three classes", svm.LinearSVC, labels(3), loss="hinge", **TIGHT),
    case("LSSVC", svm.LSSVC, labels()),
    case("LSSVC, three classes", svm.LSSVC, labels(3, THREE)),
    case("LSSVR", svm.LSSVR, numbers()),
    case("LSSVR, two targets", svm.LSSVR, numbers(2)),
    case("LSSVCCV", svm.LSSVCCV, labels(), Cs=[0.1, 1.0], gammas=[0.1, 1.0]),
    case("DensityWeightedLSSVC", svm.DensityWeightedLSSVC, labels()),
    case("DensityWeightedLSSVC, primal", svm.DensityWeightedLSSVC, labels(),
         formulation="primal"),
    case("DensityWeightedSVC", svm.DensityWeightedSVC, labels()),
    case("DensityWeightedSVC, three classes", svm.DensityWeightedSVC, labels(3)),
    case("NearestNeighbors", N.NearestNeighbors, lambda: (numbers()()[0], None)),
    case("KNeighborsClassifier", N.KNeighborsClassifier, labels(3, THREE)),
    case("KNeighborsRegressor", N.KNeighborsRegressor, numbers(), weights="distance"),
    case("RadiusNeighborsClassifier", N.RadiusNeighborsClassifier, labels(), radius=1.5),
    case("RadiusNeighborsRegressor", N.RadiusNeighborsRegressor, numbers(), radius=1.5),
    case("KMeans", C.KMeans, blobs, n_clusters=3, random_state=0),
    case("MiniBatchKMeans", C.MiniBatchKMeans, three_points, n_clusters=3, random_state=0),
    case("BisectingKMeans", C.BisectingKMeans, blobs, n_clusters=3, random_state=0),
    case("AgglomerativeClustering", C.AgglomerativeClustering, blobs, n_clusters=3),
    case("AgglomerativeClustering, average", C.AgglomerativeClustering, blobs,
         n_clusters=3, linkage="average", metric="manhattan"),
    case("AgglomerativeClustering, threshold", C.AgglomerativeClustering, blobs,
         n_clusters=None, distance_threshold=9.0),
    case("DivisiveClustering", C.DivisiveClustering, blobs, n_clusters=3),
    case("VariableClustering", C.VariableClustering, blobs, n_clusters=2),
    case("GaussianMixture", mixture.GaussianMixture, overlapping, n_components=2, random_state=0),
    *(case(f"GaussianMixture, {shape}", mixture.GaussianMixture, overlapping,
           n_components=2, random_state=0, covariance_type=shape)
      for shape in ("diag", "tied", "spherical")),
    case("BernoulliMixture", mixture.BernoulliMixture, bits, n_components=2, random_state=0),
    case("PoissonMixture", mixture.PoissonMixture, counts, n_components=2, random_state=0),
    case("MultinomialMixture", mixture.MultinomialMixture, counts, n_components=2,
         random_state=0),
    case("NCFSClassifier", feature_selection.NCFSClassifier, labels()),
    case("NCFSClassifierCV", feature_selection.NCFSClassifierCV, labels(), cv=3,
         alphas=[0.01, 0.1]),
    case("NCFSRegressor", feature_selection.NCFSRegressor, numbers()),
]  # fmt: skip
THEIRS = [
    case("sklearn LinearRegression", T.LinearRegression, numbers()),
    case("sklearn LinearRegression, two targets", T.LinearRegression, numbers(2)),
    case("sklearn Ridge", T.Ridge, numbers(), alpha=0.5),
    case("sklearn RidgeCV", T.RidgeCV, numbers()),
    case("sklearn Lasso", T.Lasso, numbers(), alpha=0.1, **TIGHT),
    case("sklearn ElasticNet", T.ElasticNet, numbers(), alpha=0.1, **TIGHT),
    case("sklearn LassoCV", T.LassoCV, numbers(), cv=3, **TIGHT),
    case("sklearn ElasticNetCV", T.ElasticNetCV, numbers(), cv=3, **TIGHT),
    case("sklearn LassoLars", T.LassoLars, numbers(), alpha=0.1),
    case("sklearn LassoLarsCV", T.LassoLarsCV, numbers(), cv=3),
    case("sklearn LassoLarsIC", T.LassoLarsIC, numbers()),
    case("sklearn HuberRegressor", T.HuberRegressor, numbers(), tol=1e-10, max_iter=10_000),
    case("sklearn PoissonRegressor", T.PoissonRegressor, drawn(events), alpha=0.1, **TIGHT),
    case("sklearn GammaRegressor", T.GammaRegressor, drawn(amounts), alpha=0.1, **TIGHT),
    replace(case("sklearn SGDRegressor", T.SGDRegressor, numbers(), alpha=0.1,
                 random_state=0), finish=exact_sgd_regressor),
    case("sklearn LogisticRegression", T.LogisticRegression, labels(), tol=1e-10,
         max_iter=10_000),
    case("sklearn LogisticRegression, three classes", T.LogisticRegression, labels(3, THREE),
         tol=1e-10, max_iter=10_000),
    case("sklearn LogisticRegressionCV", T.LogisticRegressionCV, labels(), cv=3, Cs=3,
         tol=1e-10, max_iter=10_000, l1_ratios=(0.0,), use_legacy_attributes=False),
    replace(case("sklearn SGDClassifier", T.SGDClassifier, labels(), loss="log_loss",
                 alpha=0.02, random_state=0), finish=exact_sgd_classifier),
    case("sklearn RidgeClassifier", T.RidgeClassifier, labels(), alpha=0.5),
    case("sklearn RidgeClassifier, three classes", T.RidgeClassifier, labels(3, THREE)),
    case("sklearn RidgeClassifierCV", T.RidgeClassifierCV, labels()),
    case("sklearn LinearSVC", their_svm.LinearSVC, labels(), tol=1e-9, max_iter=100_000,
         random_state=0),
    case("sklearn SVC", their_svm.SVC, labels(), tol=1e-9),
    case("sklearn SVC, three classes", their_svm.SVC, labels(3, THREE), tol=1e-9),
    case("sklearn SVC, linear", their_svm.SVC, labels(), tol=1e-9, kernel="linear"),
    case("sklearn KernelRidge", their_kernel_ridge.KernelRidge, numbers(), kernel="rbf", gamma=0.3),
    case("sklearn NearestNeighbors", TN.NearestNeighbors, lambda: (numbers()()[0], None)),
    case("sklearn KNeighborsClassifier", TN.KNeighborsClassifier, labels(3, THREE)),
    case("sklearn KNeighborsClassifier, brute", TN.KNeighborsClassifier, labels(),
         algorithm="brute"),
    case("sklearn KNeighborsRegressor", TN.KNeighborsRegressor, numbers(),
         weights="distance"),
    case("sklearn RadiusNeighborsClassifier", TN.RadiusNeighborsClassifier, labels(),
         radius=1.5),
    case("sklearn RadiusNeighborsRegressor", TN.RadiusNeighborsRegressor, numbers(),
         radius=1.5),
    case("sklearn KMeans", TC.KMeans, blobs, n_clusters=3, tol=0, random_state=0, n_init=1),
    case("sklearn MiniBatchKMeans", TC.MiniBatchKMeans, three_points, n_clusters=3,
         random_state=0, n_init=1),
    case("sklearn BisectingKMeans", TC.BisectingKMeans, blobs, n_clusters=3,
         random_state=0, tol=0),
    case("sklearn AgglomerativeClustering", TC.AgglomerativeClustering, blobs, n_clusters=3,
         compute_distances=True),
    case("sklearn FeatureAgglomeration", TC.FeatureAgglomeration, blobs, n_clusters=2),
    case("sklearn HDBSCAN", TC.HDBSCAN, blobs, copy=True),
    case("sklearn GaussianMixture", their_mixture.GaussianMixture, overlapping, n_components=2,
         tol=1e-12, max_iter=5000, random_state=0),
    *(case(f"sklearn GaussianMixture, {shape}", their_mixture.GaussianMixture, overlapping,
           n_components=2, tol=1e-12, max_iter=5000, random_state=0, covariance_type=shape)
      for shape in ("diag", "tied", "spherical")),
]  # fmt: skip
CASES = [*OURS, *THEIRS]
QUICK = [
    case
    for case in CASES
    if case.name
    in {
        "LinearRegression", "Ridge", "Lasso", "LogisticRegression",
        "LogisticRegression, three classes", "OrdinalRegression", "LinearSVC", "LSSVC",
        "KNeighborsClassifier", "KMeans", "AgglomerativeClustering", "GaussianMixture",
        "NCFSClassifier", "sklearn Ridge", "sklearn LogisticRegression", "sklearn SVC",
        "sklearn KMeans",
    }
]  # fmt: skip
