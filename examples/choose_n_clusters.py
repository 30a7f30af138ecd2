"""How many clusters? Three methods beside what noise gives, on blobs and on noise; BIC on strips.

Run it: python examples/choose_n_clusters.py clusters.png  (needs matplotlib)
"""

import argparse

import numpy as np

from certus.cluster import choose_n_clusters

CENTERS = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])


def blobs(rows, seed=0):
    """Three normal blobs, six standard deviations apart."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 2)) + CENTERS[np.arange(rows) % 3]


def strips(rows, seed=0):
    """Two long clusters side by side, which k-means cuts across."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 2)) * [6, 1] + np.array([[0, 0], [0, 6]])[np.arange(rows) % 2]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="file to draw to, e.g. clusters.png")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="less noise to compare with")
    given = parser.parse_args()
    how = {"n_references": 6, "n_resamples": 6} if given.quick else {}
    choice = choose_n_clusters(blobs(given.rows), range(1, 8), random_state=0, **how)
    print(choice.explain())
    choice.plot().figure_.savefig(given.picture)
    noise = np.random.default_rng(1).uniform(size=(given.rows, 2))
    print(choose_n_clusters(noise, range(1, 8), random_state=0, **how).explain())
    of_strips = strips(given.rows)
    print(choose_n_clusters(of_strips, range(1, 4), methods="bic", random_state=0, **how).explain())
