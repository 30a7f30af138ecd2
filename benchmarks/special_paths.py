"""What each special path of a solver gains: fits with it and without it, in one process.

    python -m benchmarks.special_paths [NAME …] [--repeats N]

A path that gains less than 1.5 times at its best is not worth its lines.
"""

import argparse
import math
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

from benchmarks.measure import round_robin, seconds_of


@dataclass(frozen=True)
class Path:
    """``fit(with_it)`` returns an objective; ``without`` switches the path off where it is not a
    parameter of the model."""

    name: str
    case: str
    fit: Callable[[bool], float]
    without: Callable[[], AbstractContextManager[object]] = nullcontext


def kmeans_small(n: int, k: int, p: int) -> Path:
    from certus.cluster import KMeans

    X = np.random.default_rng(0).normal(size=(n, p))

    def fit(_: bool) -> float:
        return float(KMeans(k, n_init=10, random_state=0).fit(X).inertia_)

    def off() -> AbstractContextManager[object]:
        return patch("certus.solvers.kmeans.lloyd_loop.is_small", lambda *_: False)

    return Path("kmeans/small", f"n={n:,} k={k} p={p}, 10 starts", fit, off)


def screened_gram(n: int, p: int, support: int) -> Path:
    from certus.linear_model import Lasso

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    w = np.zeros(p)
    w[:support] = 1.0
    y = X @ w + rng.normal(size=n)

    def fit(_: bool) -> float:
        return Lasso(alpha=0.1).fit(X, y).certificate_.objective

    def off() -> AbstractContextManager[object]:
        return patch("certus.solvers.lasso.screened_gram.ScreenedGram.suits", lambda *_: False)

    return Path("lasso/screened_gram", f"n={n:,} p={p:,}, {support} used", fit, off)


def em_lbfgs(apart: float) -> Path:
    from certus.mixture import GaussianMixture

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(2000, 4)), rng.normal(size=(2000, 4)) + apart])

    def fit(with_it: bool) -> float:
        solver = "lbfgs" if with_it else "em"
        model = GaussianMixture(3, solver=solver, random_state=0, max_iter=5000, tol=1e-9)
        return -model.fit(X).certificate_.objective

    return Path("mixture/lbfgs", f"4,000 rows, three components for two, {apart} apart", fit)


PATHS: dict[str, Callable[[], Path]] = {
    "kmeans-small": lambda: kmeans_small(150, 3, 4),
    "kmeans-small-edge": lambda: kmeans_small(1000, 4, 8),
    "screened-gram": lambda: screened_gram(200_000, 200, 10),
    "screened-gram-many": lambda: screened_gram(100_000, 300, 60),
    "em-lbfgs": lambda: em_lbfgs(1.5),
    "em-lbfgs-far": lambda: em_lbfgs(6.0),
}


def measured(path: Path, repeats: int) -> tuple[float, float, float, float]:
    """Best seconds with and without, and the objectives (lower is better)."""
    objective = {True: math.nan, False: math.nan}

    def timed(with_it: bool) -> float:
        with nullcontext() if with_it else path.without(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, objective[with_it] = seconds_of(lambda: path.fit(with_it))
        return seconds

    for with_it in (True, False):
        timed(with_it)  # compiles
    calls = {"with": lambda: timed(True), "without": lambda: timed(False)}
    seconds = {name: min(s) for name, s in round_robin(calls, repeats, 30.0).items()}
    return seconds["with"], seconds["without"], objective[True], objective[False]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or of {', '.join(PATHS)}")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    for name in given.names:
        if name not in PATHS:
            parser.error(f"no path {name!r}: there are {', '.join(PATHS)}")
    print("| path | case | with, s | without, s | gain | objective with / without |")
    print("|---|---|---|---|---|---|")
    for name in given.names or PATHS:
        path = PATHS[name]()
        here, there, f, g = measured(path, given.repeats)
        row = f"| {path.name} | {path.case} | {here:.4f} | {there:.4f} | {there / here:.2f} |"
        print(f"{row} {f:.7g} / {g:.7g} |", flush=True)


if __name__ == "__main__":
    main()
