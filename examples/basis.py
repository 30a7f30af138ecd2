"""A noisy curve, fitted by a straight-line model of basis functions:  y = Σ wⱼ φⱼ(x) + b.

Each basis gets more functions than it needs and a ridge penalty, chosen by exact leave-one-out.
Run it: python examples/basis.py basis.png  (needs matplotlib)
"""

import argparse

import numpy as np
from sklearn.pipeline import make_pipeline

from certus.linear_model import RidgeCV
from certus.plotting.style import curve, style
from certus.preprocessing import GaussianBasis, PolynomialBasis, SigmoidBasis

BASES = {
    "powers": PolynomialBasis(degree=12),
    "bumps": GaussianBasis(n_centers=25),
    "steps": SigmoidBasis(n_centers=25),
}


def truth(x):
    """A wave that quickens, and a step."""
    return np.sin(8 * x**2) + (x > 0.4)


def noisy(rows, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 1.5, size=rows))
    return x[:, None], truth(x) + rng.normal(0, 0.3, size=rows)


def fits(X, y):
    """{name: fitted pipeline}."""
    alphas = np.logspace(-8, 2, 41)
    return {name: make_pipeline(basis, RidgeCV(alphas)).fit(X, y) for name, basis in BASES.items()}


def left_out(model):
    """Root mean squared error on rows left out, at the penalty that was chosen."""
    return np.sqrt(-model[-1].best_score_)


def draw(X, y, models, path):
    grid = np.linspace(X.min() - 0.15, X.max() + 0.15, 600)[:, None]
    with style() as plt:
        figure, ax = plt.subplots()
        ax.plot(X, y, ".", color="#999999", markersize=3, label="rows")
        ax.plot(grid, truth(grid), **curve(0), linewidth=1, label="truth")
        for i, (name, model) in enumerate(models.items(), 1):
            ax.plot(grid, model.predict(grid), **curve(i), label=name)
        ax.set(xlabel="x", ylabel="y", ylim=(y.min() - 0.5, y.max() + 0.5))
        ax.legend(ncols=2)
        figure.savefig(path)
        plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="file to draw to, e.g. basis.png")
    parser.add_argument("--rows", type=int, default=300)
    given = parser.parse_args()
    X, y = noisy(given.rows)
    models = fits(X, y)
    for name, model in models.items():
        ridge = model[-1]
        print(f"{name:8} α = {ridge.alpha_:.1e}  error on rows left out {left_out(model):.3f}")
        print(f"         {ridge.certificate_}")
    draw(X, y, models, given.picture)
