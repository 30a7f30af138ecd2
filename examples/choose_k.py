"""How many neighbours? The error on rows left out for every k, and the limits of the Bayes error.

Two classes, noisy columns. Run it: python examples/choose_k.py k.png  (needs matplotlib)
"""

import argparse

import numpy as np

from certus.neighbors import bayes_error_bracket, choose_k


def moons(rows, seed=0, noise=0.35):
    """Two half circles that reach into each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=rows)
    angle = rng.uniform(0, np.pi, size=rows)
    side = 1 - 2 * y
    X = np.column_stack([side * np.cos(angle) + y, side * np.sin(angle) + 0.5 * y])
    return X + rng.normal(0, noise, size=X.shape), y


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="file to draw to, e.g. k.png")
    parser.add_argument("--rows", type=int, default=600)
    given = parser.parse_args()
    X, y = moons(given.rows)
    choice = choose_k(X, y, range(1, given.rows // 3, 2))
    print(choice)
    print(choice.advice)
    print(bayes_error_bracket(X, y).text)
    choice.plot().figure_.savefig(given.picture)
