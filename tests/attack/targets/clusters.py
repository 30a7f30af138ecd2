"""Clusters, trees, mixtures and neighbours of certus."""

from typing import Any

from certus import cluster, mixture, neighbors

from .target import Generator, Target, coin, pick

METRICS = ("euclidean", "euclidean", "manhattan", "chebyshev", "cosine", "correlation")


def seed(rng: Generator) -> int:
    return int(rng.integers(1000))


def kmeans(rng: Generator, p: int) -> Any:
    return cluster.KMeans(
        int(rng.integers(1, 6)), n_init=pick(rng, 1, 3), random_state=seed(rng),
        max_iter=pick(rng, 1, 2, 300, 300), init=pick(rng, "k-means++", "random"),
    )  # fmt: skip


def mini_batch(rng: Generator, p: int) -> Any:
    return cluster.MiniBatchKMeans(
        int(rng.integers(1, 6)), n_init=1, random_state=seed(rng), batch_size=16
    )


def bisecting(rng: Generator, p: int) -> Any:
    return cluster.BisectingKMeans(int(rng.integers(1, 6)), random_state=seed(rng))


def agglomerative(rng: Generator, p: int) -> Any:
    linkage = pick(rng, "ward", "average", "complete", "single", "weighted", "centroid", "median")
    squared = linkage in ("ward", "centroid", "median")
    return cluster.AgglomerativeClustering(
        int(rng.integers(1, 5)), linkage=linkage,
        metric="euclidean" if squared else pick(rng, *METRICS),
    )  # fmt: skip


def divisive(rng: Generator, p: int) -> Any:
    return cluster.DivisiveClustering(int(rng.integers(1, 5)), metric=pick(rng, *METRICS[:4]))


def variables(rng: Generator, p: int) -> Any:
    return cluster.VariableClustering(
        1, metric=pick(rng, "correlation", "cosine"), absolute=coin(rng),
        linkage=pick(rng, "average", "complete", "single"),
    )  # fmt: skip


def gaussian(rng: Generator, p: int) -> Any:
    return mixture.GaussianMixture(
        int(rng.integers(1, 4)), covariance_type=pick(rng, "full", "tied", "diag", "spherical"),
        tol=pick(rng, 1e-3, 1e-8), random_state=seed(rng), max_iter=pick(rng, 1, 20, 500),
        reg_covar=pick(rng, "relative", "relative", 1e-6, 0.0),
    )  # fmt: skip


def counts(kind: Any) -> Any:
    def make(rng: Generator, p: int) -> Any:
        return kind(int(rng.integers(1, 4)), random_state=seed(rng), max_iter=pick(rng, 2, 500))

    return make


def nearest(rng: Generator, p: int) -> Any:
    return neighbors.NearestNeighbors(
        n_neighbors=int(rng.integers(1, 7)), metric=pick(rng, *METRICS),
        algorithm=pick(rng, "auto", "brute", "kd_tree") if coin(rng, 0.3) else "auto",
    )  # fmt: skip


def neighbor_votes(kind: Any) -> Any:
    def make(rng: Generator, p: int) -> Any:
        return kind(
            n_neighbors=int(rng.integers(1, 7)), metric=pick(rng, *METRICS),
            weights=pick(rng, "uniform", "distance"),
        )  # fmt: skip

    return make


def radius_votes(kind: Any) -> Any:
    def make(rng: Generator, p: int) -> Any:
        return kind(radius=pick(rng, 0.5, 2.0, 10.0), metric=pick(rng, *METRICS[:4]))

    return make


TARGETS = [
    Target("KMeans", "rows", kmeans, share=4),
    Target("MiniBatchKMeans", "rows", mini_batch, share=0.5),
    Target("BisectingKMeans", "rows", bisecting, share=0.5),
    Target("AgglomerativeClustering", "rows", agglomerative, weighted=False, rows=24, share=2),
    Target("DivisiveClustering", "rows", divisive, weighted=False, rows=20, share=0.7),
    Target("VariableClustering", "rows", variables, weighted=False, share=0.7),
    Target("GaussianMixture", "rows", gaussian, rows=30, columns=3, share=2),
    Target("BernoulliMixture", "bits", counts(mixture.BernoulliMixture), share=0.7),
    Target("PoissonMixture", "counts", counts(mixture.PoissonMixture), share=0.7),
    Target("MultinomialMixture", "counts", counts(mixture.MultinomialMixture), share=0.7),
    Target("NearestNeighbors", "rows", nearest, weighted=False, share=1.5),
    Target("KNeighborsClassifier", "classes", neighbor_votes(neighbors.KNeighborsClassifier),
           weighted=False, share=0.7),
    Target("KNeighborsRegressor", "numbers", neighbor_votes(neighbors.KNeighborsRegressor),
           weighted=False, share=0.7),
    Target("RadiusNeighborsClassifier", "classes",
           radius_votes(neighbors.RadiusNeighborsClassifier), weighted=False, share=0.5),
    Target("RadiusNeighborsRegressor", "numbers",
           radius_votes(neighbors.RadiusNeighborsRegressor), weighted=False, share=0.5),
]  # fmt: skip
