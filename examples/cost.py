"""What a step costs: seconds against the number of rows, which is a straight line.

    kmeans    uniform noise, where steps are many and skip the least
    mixture   full covariances, means that start at rows of the data

The seconds are those of a whole fit, its checks and certificate in it, divided by its steps.

Run it: python examples/cost.py kmeans cost.svg  (needs matplotlib)
"""

import argparse
import time
import warnings

import numpy as np

from certus.cluster import KMeans
from certus.exceptions import NotCertifiedWarning
from certus.mixture import GaussianMixture


def kmeans(X, k):
    return KMeans(k, init=X[:k], n_init=1, max_iter=20, tol=0)


def mixture(X, k):
    start = {"weights_init": np.full(k, 1 / k), "means_init": X[:k]}
    wide = np.tile(12 * np.eye(X.shape[1]), (k, 1, 1))  # as the whole cube
    return GaussianMixture(k, max_iter=20, tol=0, precisions_init=wide, **start)


MODELS = {"kmeans": (kmeans, (8, 64)), "mixture": (mixture, (4, 16))}


def seconds_a_step(model_of, X, k, repeats=3):
    """The best of some fits, which all take the same steps."""
    best = np.inf
    for _ in range(repeats):
        model = model_of(X, k)
        begin = time.perf_counter()
        model.fit(X)
        best = min(best, (time.perf_counter() - begin) / model.n_iter_)
    return best


def slope(rows, seconds):
    """b of seconds ∝ rows^b, by least squares on the logarithms of the larger half."""
    half = slice(len(rows) // 2, None)
    return np.polyfit(np.log(rows[half]), np.log(seconds[half]), 1)[0]


def draw(curves, picture, title):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for k, (rows, seconds) in curves.items():
        (line,) = ax.loglog(rows, seconds, "o-", label=f"k = {k}")
        ax.loglog(rows, seconds[-1] * rows / rows[-1], ":", color=line.get_color(), alpha=0.6)
    ax.set(xlabel="rows", ylabel="seconds a step", title=f"{title}; dotted: in proportion to rows")
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(picture, dpi=150, metadata={"Date": None} if picture.endswith("svg") else None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("picture", help="file to draw to, e.g. cost.svg")
    parser.add_argument("--rows", type=int, default=1_000_000, help="the most of them")
    parser.add_argument("--columns", type=int, default=16)
    given = parser.parse_args()
    warnings.simplefilter("ignore", NotCertifiedWarning)  # 20 steps are not meant to arrive
    X = np.random.default_rng(0).random((given.rows, given.columns))
    rows = np.unique(np.geomspace(given.rows / 100, given.rows, 7).astype(int).clip(100))
    model_of, ks = MODELS[given.model]
    seconds_a_step(model_of, X, ks[0], repeats=1)  # compiles
    curves = {}
    for k in ks:
        seconds = np.array([seconds_a_step(model_of, X[:n], k) for n in rows])
        curves[k] = rows, seconds
        print(f"k = {k}: {seconds[-1]:.2e} s a step of {rows[-1]:,} rows,", end=" ")
        print(f"growing as rows^{slope(rows, seconds):.2f}")
    draw(curves, given.picture, f"{given.model}, {given.columns} columns")
