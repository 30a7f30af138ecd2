"""What a tree costs: seconds against the number of rows, on logarithmic axes.

Uniform noise, where there is nothing to find. Single linkage of few columns grows a little faster
than the rows; all else as their square.

Run it: python examples/linkage_growth.py --out growth.png  (needs matplotlib)
"""

import argparse
import time

import numpy as np

from certus.solvers.linkage import agglomerate

CURVES = {  # (method, columns): the share of the rows that it is given
    ("single", 3): 1.0,
    ("single", 16): 0.25,
    ("ward", 16): 0.25,
    ("centroid", 16): 0.25,
    ("average", 16): 0.05,  # n² distances must fit into memory
    ("complete", 16): 0.05,
}


def seconds_of(X, method, threads, repeats):
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        agglomerate(X, method, threads=threads)
        best = min(best, time.perf_counter() - begin)
    return best


def slope(rows, seconds):
    """b of seconds ∝ rows^b, by least squares on the logarithms of the larger half."""
    half = slice(len(rows) // 2, None)
    return np.polyfit(np.log(rows[half]), np.log(seconds[half]), 1)[0]


def measured(most, threads, repeats):
    """{(method, columns): (rows, seconds)}"""
    rng, curves = np.random.default_rng(0), {}
    for (method, p), share in CURVES.items():
        X = rng.random((max(int(share * most), 64), p))
        rows = np.unique(np.geomspace(len(X) / 32, len(X), 6).astype(int).clip(32))
        agglomerate(X[:32], method)  # compiles
        seconds = np.array([seconds_of(X[:n], method, threads, repeats) for n in rows])
        curves[method, p] = rows, seconds
    return curves


def draw(curves, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for (method, p), (rows, seconds) in curves.items():
        b = slope(rows, seconds)
        ax.loglog(rows, seconds, "o-", label=f"{method}, {p} columns: n^{b:.2f}")
    ax.set(xlabel="rows n", ylabel="seconds", title="Trees of uniform noise")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="file to draw to, e.g. growth.png")
    parser.add_argument("--rows", type=int, default=200_000, help="the most of them")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1, help="of which the best counts")
    given = parser.parse_args()
    curves = measured(given.rows, given.threads, given.repeats)
    for (method, p), (rows, seconds) in curves.items():
        print(f"{method}, {p} columns: {seconds[-1]:.2g} s of {rows[-1]:,} rows,", end=" ")
        print(f"growing as rows^{slope(rows, seconds):.2f}")
    draw(curves, given.out)
