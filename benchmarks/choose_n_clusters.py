"""Time of choose_n_clusters at its defaults, on two overlapping groups in two columns.

Run it: python -m benchmarks.choose_n_clusters
"""

import time

import numpy as np

from certus.cluster import choose_n_clusters

ROWS, SHARE_OF_SECOND = 10_000, 0.3

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 2)) + 2.0 * (rng.random((ROWS, 1)) < SHARE_OF_SECOND)
    cpu, wall = time.process_time(), time.perf_counter()
    choice = choose_n_clusters(X, random_state=0)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"{cpu:.0f} s of CPU time, {wall:.0f} s; {choice.verdict}")
