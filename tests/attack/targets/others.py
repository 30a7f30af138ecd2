"""Models of scikit-learn and SciPy, as ``certus.verify`` reads them."""

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn import cluster, kernel_ridge, linear_model, mixture, neighbors, svm

from certus.cluster import Tree

from ..containers import dense_values
from .clusters import METRICS, seed
from .target import Generator, Target, class_weight, coin, pick, strength


def plain(kind: Any, **parameters: Any) -> Any:
    """A model whose parameters are drawn one by one."""

    def make(rng: Generator, p: int) -> Any:
        return kind(**{name: draw(rng) for name, draw in parameters.items()})

    return make


def logistic(rng: Generator, p: int) -> Any:
    C = np.inf if coin(rng) else strength(rng, -3, 6)
    return linear_model.LogisticRegression(
        C=C, fit_intercept=coin(rng, 0.8), tol=pick(rng, 1e-4, 1e-10), max_iter=300,
        solver=pick(rng, "lbfgs", "newton-cholesky"),
    )  # fmt: skip


def linear_svc(rng: Generator, p: int) -> Any:
    return svm.LinearSVC(C=strength(rng, -3, 2), tol=1e-10, max_iter=20_000, random_state=0,
                         loss=pick(rng, "squared_hinge", "hinge"))  # fmt: skip


def logistic_cv(rng: Generator, p: int) -> Any:
    ratio = pick(rng, 0.0, 0.0, 0.5, 1.0)
    solvers = ("lbfgs", "newton-cholesky", "liblinear") if ratio == 0.0 else ("saga",)
    return linear_model.LogisticRegressionCV(
        Cs=3, cv=2, l1_ratios=(ratio,), fit_intercept=coin(rng, 0.8),
        solver=pick(rng, *solvers), tol=pick(rng, 1e-4, 1e-10), max_iter=300,
        class_weight=pick(rng, None, None, "balanced"), random_state=0,
        use_legacy_attributes=coin(rng), scoring="accuracy",
    )  # fmt: skip


def softmax_cv(rng: Generator, p: int) -> Any:
    model = logistic_cv(rng, p)
    return model if model.solver != "liblinear" else model.set_params(solver="lbfgs")


def ridge_classifier_cv(rng: Generator, p: int) -> Any:
    return linear_model.RidgeClassifierCV(
        alphas=10.0 ** np.arange(-6, 4, 3), fit_intercept=coin(rng, 0.8),
        cv=pick(rng, None, None, 3), class_weight=class_weight(rng),
    )  # fmt: skip


def features(rng: Generator, p: int) -> Any:
    linkage = pick(rng, "ward", "average", "complete", "single")
    return cluster.FeatureAgglomeration(
        min(p, int(rng.integers(1, 4))), linkage=linkage, compute_distances=coin(rng),
        metric="euclidean" if linkage == "ward" else pick(rng, "euclidean", "manhattan", "cosine"),
    )  # fmt: skip


def scipy_tree(rng: Generator, p: int) -> Any:
    method = pick(rng, "ward", "average", "complete", "single", "weighted", "centroid", "median")
    metric = "euclidean" if method in ("ward", "centroid", "median") else pick(rng, *METRICS)
    name = {"manhattan": "cityblock"}.get(metric, metric)

    def of_rows(X: Any) -> Any:
        return Tree(scipy_linkage(dense_values(X), method, name), method=method, metric=metric)

    return of_rows


INTERCEPT = {"fit_intercept": lambda rng: coin(rng, 0.8)}
SEED = {"random_state": seed}
ALPHA = {"alpha": lambda rng: strength(rng, -8, 1)}
TIGHT = {"tol": lambda rng: pick(rng, 1e-4, 1e-12), "max_iter": lambda rng: 20_000}
POSITIVE = {"positive": lambda rng: coin(rng, 0.2)}
LOG_LINK = {
    "alpha": lambda rng: 0.0 if coin(rng, 0.3) else strength(rng, -9, 2),
    "tol": lambda rng: pick(rng, 1e-4, 1e-10),
    "solver": lambda rng: pick(rng, "lbfgs", "newton-cholesky"),
    "max_iter": lambda rng: 300,
}
SGD = {**SEED, "max_iter": lambda rng: 200, "alpha": lambda rng: pick(rng, 1e-4, 0.1)}
GAMMA = {"gamma": lambda rng: pick(rng, "scale", "auto", 0.5)}
NEIGHBORS = {
    "metric": lambda rng: pick(rng, *METRICS),
    "weights": lambda rng: pick(rng, "uniform", "distance"),
}
RADIUS = {"radius": lambda rng: pick(rng, 0.5, 2.0, 10.0)}
CLUSTERS = {"n_clusters": lambda rng: int(rng.integers(1, 6)), **SEED}

TARGETS = [
    Target("sklearn LinearRegression", "numbers",
           plain(linear_model.LinearRegression, **INTERCEPT, **POSITIVE), share=1.5),
    Target("sklearn Ridge", "numbers",
           plain(linear_model.Ridge, alpha=lambda rng: strength(rng, -12, 6), **INTERCEPT)),
    Target("sklearn RidgeCV", "numbers", plain(linear_model.RidgeCV), share=0.3),
    Target("sklearn Lasso", "numbers",
           plain(linear_model.Lasso, **ALPHA, **INTERCEPT, **POSITIVE, **TIGHT)),
    Target("sklearn ElasticNet", "numbers",
           plain(linear_model.ElasticNet, **ALPHA, **INTERCEPT, **TIGHT)),
    Target("sklearn LassoCV", "numbers", plain(linear_model.LassoCV, cv=lambda rng: 3), share=0.2),
    Target("sklearn LassoLars", "numbers",
           plain(linear_model.LassoLars, **ALPHA, **INTERCEPT), weighted=False, sparse=False,
           share=0.5),
    Target("sklearn ElasticNetCV", "numbers",
           plain(linear_model.ElasticNetCV, cv=lambda rng: 3, alphas=lambda rng: 5,
                 l1_ratio=lambda rng: pick(rng, 0.5, [0.1, 0.9], 1.0), **INTERCEPT, **POSITIVE,
                 **TIGHT), share=0.3),
    Target("sklearn LassoLarsCV", "numbers",
           plain(linear_model.LassoLarsCV, cv=lambda rng: 3, **INTERCEPT, **POSITIVE),
           weighted=False, sparse=False, share=0.3),
    Target("sklearn LassoLarsIC", "numbers",
           plain(linear_model.LassoLarsIC, criterion=lambda rng: pick(rng, "aic", "bic"),
                 **INTERCEPT, **POSITIVE), weighted=False, sparse=False, share=0.3),
    Target("sklearn HuberRegressor", "numbers",
           plain(linear_model.HuberRegressor, max_iter=lambda rng: 200,
                 tol=lambda rng: 1e-9, alpha=lambda rng: pick(rng, 0.0, 1e-4, 1.0)), share=0.7),
    Target("sklearn PoissonRegressor", "events",
           plain(linear_model.PoissonRegressor, **LOG_LINK, **INTERCEPT), columns=5, share=0.7),
    Target("sklearn GammaRegressor", "amounts",
           plain(linear_model.GammaRegressor, **LOG_LINK, **INTERCEPT), columns=5, share=0.7),
    Target("sklearn SGDRegressor", "numbers", plain(linear_model.SGDRegressor, **SGD), share=0.3),
    Target("sklearn LogisticRegression", "two classes", logistic, share=1.5),
    Target("sklearn LogisticRegression, three classes", "classes", logistic, rows=30, columns=4),
    Target("sklearn LogisticRegressionCV", "two classes", logistic_cv, share=0.2),
    Target("sklearn LogisticRegressionCV, three classes", "classes", softmax_cv, rows=30,
           columns=4, share=0.2),
    Target("sklearn SGDClassifier", "two classes",
           plain(linear_model.SGDClassifier, **SGD,
                 loss=lambda rng: pick(rng, "log_loss", "hinge", "squared_hinge")), share=0.3),
    Target("sklearn RidgeClassifier", "classes",
           plain(linear_model.RidgeClassifier, alpha=lambda rng: strength(rng, -6, 3)), share=0.5),
    Target("sklearn RidgeClassifierCV", "classes", ridge_classifier_cv, share=0.3),
    Target("sklearn LinearSVC", "two classes", linear_svc, rows=25, columns=4, share=0.4),
    Target("sklearn SVC", "two classes",
           plain(svm.SVC, **GAMMA, tol=lambda rng: pick(rng, 1e-3, 1e-10), C=strength,
                 max_iter=lambda rng: 50_000), rows=22, share=0.3),
    Target("sklearn KernelRidge", "numbers",
           plain(kernel_ridge.KernelRidge, alpha=lambda rng: strength(rng, -6, 2),
                 kernel=lambda rng: pick(rng, "rbf", "linear", "laplacian")), rows=25, share=0.4),
    Target("sklearn KMeans", "rows", plain(cluster.KMeans, **CLUSTERS, n_init=lambda rng: 1),
           share=1.5),
    Target("sklearn MiniBatchKMeans", "rows",
           plain(cluster.MiniBatchKMeans, **CLUSTERS, n_init=lambda rng: 1,
                 batch_size=lambda rng: 16, max_iter=lambda rng: 20), share=0.2),
    Target("sklearn BisectingKMeans", "rows", plain(cluster.BisectingKMeans, **CLUSTERS),
           share=0.2),
    Target("sklearn AgglomerativeClustering", "rows",
           plain(cluster.AgglomerativeClustering, compute_distances=lambda rng: coin(rng),
                 linkage=lambda rng: pick(rng, "ward", "average", "complete", "single")),
           sparse=False, weighted=False, rows=24),
    Target("sklearn FeatureAgglomeration", "rows", features, sparse=False, weighted=False,
           columns=12, share=0.5),
    Target("sklearn HDBSCAN", "rows",
           plain(cluster.HDBSCAN, copy=lambda rng: True,
                 min_cluster_size=lambda rng: int(rng.integers(2, 6)),
                 min_samples=lambda rng: pick(rng, None, 1, 2, 4),
                 metric=lambda rng: pick(rng, *METRICS), alpha=lambda rng: pick(rng, 1.0, 1.5),
                 algorithm=lambda rng: pick(rng, "auto", "brute"),
                 cluster_selection_method=lambda rng: pick(rng, "eom", "leaf")),
           sparse=False, weighted=False, rows=24, share=0.5),
    Target("sklearn GaussianMixture", "rows",
           plain(mixture.GaussianMixture, **SEED, tol=lambda rng: pick(rng, 1e-3, 1e-10),
                 max_iter=lambda rng: 300, n_components=lambda rng: int(rng.integers(1, 4)),
                 covariance_type=lambda rng: pick(rng, "full", "tied", "diag", "spherical")),
           sparse=False, weighted=False, rows=30, columns=3),
    Target("sklearn NearestNeighbors", "rows",
           plain(neighbors.NearestNeighbors, n_neighbors=lambda rng: int(rng.integers(1, 6))),
           weighted=False, sparse=False, share=0.5),
    Target("sklearn KNeighborsClassifier", "classes",
           plain(neighbors.KNeighborsClassifier, n_neighbors=lambda rng: int(rng.integers(1, 6))),
           weighted=False, sparse=False, share=0.3),
    Target("sklearn KNeighborsRegressor", "numbers",
           plain(neighbors.KNeighborsRegressor, **NEIGHBORS,
                 n_neighbors=lambda rng: int(rng.integers(1, 6))),
           weighted=False, share=0.3),
    Target("sklearn RadiusNeighborsClassifier", "classes",
           plain(neighbors.RadiusNeighborsClassifier, **NEIGHBORS, **RADIUS),
           weighted=False, share=0.3),
    Target("sklearn RadiusNeighborsRegressor", "numbers",
           plain(neighbors.RadiusNeighborsRegressor, **NEIGHBORS, **RADIUS),
           weighted=False, share=0.3),
    Target("SciPy linkage", "rows", scipy_tree, weighted=False, sparse=False, rows=24, share=1.5,
           tree=True),
]  # fmt: skip
