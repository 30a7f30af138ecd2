"""Clusters and trees in the table of laws: partitions, centres, objectives and heights."""

from typing import Any

import numpy as np

from certus.cluster import (
    AgglomerativeClustering,
    BisectingKMeans,
    DivisiveClustering,
    KMeans,
    MiniBatchKMeans,
    VariableClustering,
)
from tests.contract.families.answers import (
    WITHOUT_WEIGHTS,
    Answer,
    Case,
    Part,
    Sample,
    noise,
    unlabeled_clouds,
)

DRAWN_BATCHES = "batches are drawn from the rows in their order"
DRAWS_FOLLOW_WEIGHTS = "batches are drawn from rows: which ones depends on how many there are"

DRAWN_START = "a start is drawn from the rows in their order"
START_OF_ALL_ROWS = {
    "zero weight": "a start that is a function of the rows gets all of them, whatever they weigh"
}


def partition(model: Any, sample: Sample) -> Answer:
    """Centres, J = Σ s_i ‖x_i − μ‖², and who is with whom."""
    return {
        "labels": Part(model.labels_, rows=True, names=True),
        "centres": Part(model.cluster_centers_, unit=1, columns=True, moves=True),
        "inertia": Part(model.inertia_, unit=2, heft=1),
        "predicted": Part(model.predict(sample.queries)),
        "distances": Part(model.transform(sample.queries), unit=1, measured=True),
    }


def tree(model: Any, sample: Sample) -> Answer:
    return {
        "labels": Part(model.labels_, rows=True, names=True),
        "heights": Part(np.sort(model.tree_.heights), unit=1),
    }


def tree_of_columns(model: Any, sample: Sample) -> Answer:
    return {
        "labels": Part(model.labels_, columns=True, names=True),
        "heights": Part(np.sort(model.tree_.heights)),  # of correlations, which have no unit
    }


def kmeans(**how: Any) -> Any:
    def make(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> KMeans:
        return KMeans(5, init="k-means++" if start is None else start, tol=0, **how)

    return make


def minibatch(start: Any = None, unit: float = 1.0, heft: float = 1.0) -> MiniBatchKMeans:
    return MiniBatchKMeans(
        5, init="k-means++" if start is None else start, batch_size=20, max_iter=5,
        reassignment_ratio=0.0, random_state=0, n_init=1,
    )  # fmt: skip


def ends(X: np.ndarray, n_clusters: int, random_state: Any) -> np.ndarray:
    """A start that depends on the rows and not on their order: the ends of the widest column."""
    column = X[:, np.ptp(X, axis=0).argmax()]
    return X[[column.argmin(), column.argmax()]]


def bisecting(init: Any = ends, **how: Any) -> Any:
    return lambda start=None, unit=1.0, heft=1.0: BisectingKMeans(
        4, init=init, tol=0, random_state=0, **how
    )


# a k-d tree for few rows, too
SINGLE_BY_TREE = (
    "certus.solvers.linkage.fit:MIN_TREE_ROWS_FACTOR",
    "certus.solvers.linkage.boruvka:TASK_ROWS",
)


def agglomerative(linkage: str) -> Case:
    return Case(
        f"AgglomerativeClustering, {linkage}",
        lambda start=None, unit=1.0, heft=1.0: AgglomerativeClustering(4, linkage=linkage),
        noise, tree, far=30, exempt=WITHOUT_WEIGHTS,
        blocks=SINGLE_BY_TREE if linkage == "single" else (),
    )  # fmt: skip


def mixed_columns(seed: int, n: int) -> tuple[np.ndarray, None]:
    """Columns that share three sources, in parts that differ: as many as give threads work."""
    p = 8 if n < 100 else 300
    X, _ = noise(seed, n, 3)
    rest, _ = noise(seed + 1000, n, p)
    return X[:, np.arange(p) % 3] + rest * np.linspace(0.2, 0.6, p), None


FLOAT32_CENTERS = 1e-6
# bounds and blocks for few rows, too
BOUNDS = ("certus.solvers.kmeans.small:MAX_SMALL_WORK", "certus.solvers.kmeans.bounds:BLOCK_ROWS")
CLUSTERS = [
    Case("KMeans", kmeans(), noise, partition, k=5, far=36, blocks=BOUNDS,
         rtol_float32=FLOAT32_CENTERS),
    Case("KMeans, clouds", kmeans(), unlabeled_clouds, partition, k=5, far=36, blocks=BOUNDS,
         rtol_float32=FLOAT32_CENTERS),
    Case("KMeans, Elkan", kmeans(algorithm="elkan"), noise, partition, k=5, far=36, blocks=BOUNDS,
         rtol_float32=FLOAT32_CENTERS),
    Case("MiniBatchKMeans", minibatch, unlabeled_clouds, partition, k=5, far=26,
         rtol_float32=FLOAT32_CENTERS,
         exempt={"permute rows": DRAWN_BATCHES,
                 "weight is repetition": DRAWS_FOLLOW_WEIGHTS,
                 "zero weight": DRAWS_FOLLOW_WEIGHTS}),
    Case("BisectingKMeans", bisecting(), noise, partition, far=26,
         rtol_float32=FLOAT32_CENTERS,
         exempt=START_OF_ALL_ROWS),
    Case("BisectingKMeans, drawn starts", bisecting("k-means++"), noise, partition,
         rtol_float32=FLOAT32_CENTERS,
         exempt={"permute rows": DRAWN_START, "weight is repetition": DRAWN_START}),
    Case("BisectingKMeans, largest cluster", bisecting(bisecting_strategy="largest_cluster"),
         noise, partition, rtol_float32=FLOAT32_CENTERS, exempt=START_OF_ALL_ROWS),
    *map(agglomerative, ("ward", "single", "complete", "average", "weighted", "centroid",
                         "median")),
    Case("DivisiveClustering", lambda start=None, unit=1.0, heft=1.0: DivisiveClustering(4),
         noise, tree, far=30, exempt=WITHOUT_WEIGHTS),
    Case("VariableClustering", lambda start=None, unit=1.0, heft=1.0: VariableClustering(3),
         mixed_columns, tree_of_columns, exempt=WITHOUT_WEIGHTS),
]  # fmt: skip
