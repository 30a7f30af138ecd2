"""Optimisers against passes over the data: how far each is above the optimum.

    Q(w, b) = (1/n) Σ_i log(1 + exp(−y_i(w·x_i + b))) + λ/2·‖w‖²,   λ = 0.01

on scikit-learn's breast_cancer, columns standardised. Newton's answer, by its duality gap within
1e-12 of the optimum, is what the others are measured against.

Run it: python examples/optimisers.py optimisers.svg  (needs matplotlib)
"""

import argparse
import warnings

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from certus.exceptions import NotCertifiedWarning
from certus.linear_model import PenalizedClassifier
from certus.penalties import L2
from certus.plotting import ConvergenceDisplay
from certus.solvers import LBFGS, SAGA, SGD, GradientDescent, HeavyBall, Nesterov, Newton

SOLVERS = {
    "gradient descent": GradientDescent(),
    "heavy ball": HeavyBall(beta=0.9),
    "Nesterov": Nesterov(),
    "SGD": SGD(step=0.05, schedule="constant"),
    "SGD, averaged": SGD(step=0.05, schedule="constant", average=10),
    "SAGA": SAGA(),
    "L-BFGS": LBFGS(),
    "Newton": Newton(),
}


def fitted(passes, tol=1e-13):
    """{name: model}, each stopped after so many steps or at the optimum."""
    X, y = load_breast_cancer(return_X_y=True)
    X, models = scale(X), {}
    for name, solver in SOLVERS.items():
        model = PenalizedClassifier("logistic", L2(0.01), solver, tol=tol, max_iter=passes)
        with warnings.catch_warnings(action="ignore", category=NotCertifiedWarning):
            models[name] = model.fit(X, y, sample_weight=1 / len(y))  # F = Q: weights sum to 1
    return models


def excesses(models, passes):
    """Q − Q* where each is after so many passes, Q* within Newton's gap."""
    best = models["Newton"].certificate_.bound
    for name, model in models.items():
        so_far = [point for point in model.certificate_.trace if point.passes <= passes]
        yield name, so_far[-1].passes, so_far[-1].objective - best


def draw(models, picture, passes):
    import matplotlib

    matplotlib.use("Agg")
    display = ConvergenceDisplay.from_estimators(models, x="passes")
    display.ax_.set(xlim=(0, passes), ylim=(1e-10, 1), ylabel="Q − Q*")
    with matplotlib.rc_context({"svg.hashsalt": "certus"}):  # the same file each time
        svg = {"metadata": {"Date": None}} if picture.endswith("svg") else {}
        display.figure_.savefig(picture, **svg)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="file to draw to, e.g. optimisers.svg")
    parser.add_argument("--passes", type=int, default=100)
    given = parser.parse_args()
    models = fitted(given.passes)
    for name, passes, excess in excesses(models, given.passes):
        print(f"{name:18} {excess:.1e} above the optimum after {passes:.0f} passes")
    draw(models, given.picture, given.passes)
