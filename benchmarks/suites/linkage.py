"""Whole trees of rows, Euclidean distances.

    F = Σ_t h_t,   the heights of all n − 1 merges

Without ties there is one tree, and with it one F: libraries agree to rounding, whatever they skip
on the way. The smallest F counts as right, so a tree that is wrong shows in its own row or in all
others'. Noise is uniform: nothing to find, and hubs that are nearest to many.
"""

from benchmarks import libraries
from benchmarks.generators import blobs_64, uniform_noise
from benchmarks.harness import Row, Suite

SAME = 1e-6  # excess: float64 agrees to 1e-13, a matrix in float32 to 1e-8


def heights(row, X, y):
    return lambda model: float(model.heights_.sum())


CERTUS = libraries.certus_linkage()
FLOAT32 = libraries.certus_linkage("float32")
SCIPY, SKLEARN = libraries.scipy_linkage(), libraries.sklearn_linkage()
MATRIX, VECTORS = libraries.fastcluster("linkage"), libraries.fastcluster("linkage_vector")
CONTESTANTS = CERTUS, FLOAT32, SCIPY, MATRIX, VECTORS, SKLEARN
OF_MATRIX = "complete", "average", "weighted"  # certus without a matrix has nothing in float32


def tree(name, method, **settings):
    defaults = {
        "objective": heights,
        "params": {"method": method},
        "generator": uniform_noise,
        "excess_limit": SAME,
        "without": () if method in OF_MATRIX else (FLOAT32.name,),
    }
    return Row(f"{method} {name}", "Linkage", **defaults | settings)


def large(name, method, **settings):
    """Where a matrix would not fit."""
    without = tuple(c.name for c in CONTESTANTS if c not in (CERTUS, VECTORS))
    return tree(name, method, without=without, repeats=1, **settings)


MIDDLE = {"n": 20_000, "p": 16}
METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")

SUITE = Suite(
    name="linkage",
    contestants=CONTESTANTS,
    rows=(
        *(tree("p=16 noise", method, **MIDDLE) for method in METHODS),
        *(tree("p=16 noise 1 thread", m, threads=1, **MIDDLE) for m in ("average", "ward")),
        *(tree("p=16 blobs", m, generator=blobs_64, **MIDDLE) for m in ("single", "ward")),
        large("p=3 noise", "single", n=200_000, p=3),
        large("p=16 noise large", "single", n=100_000, p=16),
        large("p=16 noise large", "ward", n=100_000, p=16),
    ),
)
