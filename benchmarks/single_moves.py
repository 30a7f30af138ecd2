"""CPU time of k-means with moves of single rows over that without, on noise and on blobs.

Run it: python -m benchmarks.single_moves
"""

import itertools
import time
import warnings

import numpy as np

from certus.cluster import KMeans

SIZES = [(2_000, 8, 5, 5), (50_000, 16, 1, 2), (200_000, 16, 1, 2)]  # n, p, seeds, repetitions


def noise(n, p, k):
    return np.random.default_rng(0).uniform(size=(n, p))


def blobs(n, p, k):
    rng = np.random.default_rng(0)
    return 4 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + rng.normal(size=(n, p))


def seconds(X, k, seeds, single_moves):
    """Return the CPU time of fits from several seeds, and the objective of the last."""
    begin = time.process_time()
    for seed in range(seeds):
        model = KMeans(k, random_state=seed, single_moves=single_moves).fit(X)
    return time.process_time() - begin, model.inertia_


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for (n, p, seeds, repetitions), k, make in itertools.product(SIZES, (8, 64), (noise, blobs)):
        X = make(n, p, k)
        KMeans(k, max_iter=3, random_state=0).fit(X)  # compiles
        runs = [
            [seconds(X, k, seeds, moves) for moves in (True, False)] for _ in range(repetitions)
        ]
        with_moves, without = (min(run[i][0] for run in runs) for i in (0, 1))
        gain = 1 - runs[0][0][1] / runs[0][1][1]
        print(
            f"{n:,} × {p}, k = {k}, {make.__name__}: time × {with_moves / without:.2f}, "
            f"objective lower by {100 * gain:.2g} %",
            flush=True,
        )
