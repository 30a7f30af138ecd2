"""LS-SVMs of an RBF kernel, K_ij = exp(−γ‖x_i − x_j‖²), two classes, 20 columns.

    fit               min ½‖w‖² + C/2 Σ e²,  e = y − f;  F = 1 + gap/f₀, the gap by duality:
                      P − D = C/2 Σ (e − β/C)²,  f₀ = C/2 Σ (y − ȳ)²
    fit and predict   the same and the scores of 10,000 other rows; F adds the largest error of some
    grid 10×10        C and γ of least leave-one-out error: F = 1 + that error, of the pair chosen

numpy builds K and solves the whole system by LU. SVC minimises the hinge loss, KernelRidge has no
intercept: each is judged by the gap of its own problem, over P of the best constant f.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.generators import labeled_rows
from benchmarks.harness import Row, Suite
from benchmarks.lssvm_peers import new_rows, signs

C, GAMMA, P = 1.0, 0.05, 20
BLOCK = 500  # rows of K at a time
SOME = 100  # of the scores that are looked at
SAME = 1e-3  # libsvm's default tol leaves about 1e-4
AS_GOOD = 0.05  # folds choose another pair now and then


def rbf(A, B, gamma):
    squares = ((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T).clip(0)
    return np.exp(-gamma * squares)


def relative_gap(row, X, y):
    t = signs(y)

    def of(model):
        beta, C = np.asarray(model.beta_), row.params["C"]
        blocks = range(0, len(X), BLOCK)
        gamma = row.params["gamma"]
        Kb = np.concatenate([rbf(X[i : i + BLOCK], X, gamma) @ beta for i in blocks])
        f = Kb + model.b_
        if model.loss == "hinge":
            gap = beta @ Kb + C * np.maximum(0, 1 - t * f).sum() - t @ beta
            return 1 + abs(gap) / (2 * C * min((t > 0).sum(), (t < 0).sum()))
        e = t - f
        mean = 0.0 if "no intercept" in model.loss else t.mean()
        return 1 + ((e - beta / C) ** 2).sum() / ((t - mean) ** 2).sum()

    return of


def relative_gap_and_scores(row, X, y):
    gap, new = relative_gap(row, X, y), new_rows(X.shape[1])[:SOME]

    def of(model):
        scores = rbf(new, X, row.params["gamma"]) @ model.beta_ + model.b_
        return gap(model) + np.abs(model.scores_[:SOME] - scores).max()

    return of


def left_out_error(row, X, y):
    """Leave-one-out error of the chosen pair, by the inverse of the system: e_i = β_i/(A⁻¹)_ii."""
    t, n = signs(y), len(X)

    def of(model):
        A = np.ones((n + 1, n + 1))
        A[1:, 1:] = rbf(X, X, model.gamma_) + np.eye(n) / model.C_
        A[0, 0] = 0.0
        inverse = np.linalg.inv(A)
        e = (inverse @ np.r_[0.0, t])[1:] / np.diagonal(inverse)[1:]
        return 1 + np.mean(t * (t - e) <= 0)

    return of


CERTUS, NUMPY = libraries.certus_lssvm(), libraries.numpy_lssvm()
SVC, RIDGE = libraries.sklearn_lssvm("SVC"), libraries.sklearn_lssvm("KernelRidge")
LEAVE_ONE_OUT = libraries.grid_search_lssvm("leave-one-out")
FOLDS = libraries.grid_search_lssvm(5)
PEERS = NUMPY, SVC, RIDGE, LEAVE_ONE_OUT, FOLDS
MACHINES = NUMPY, SVC, RIDGE


def row(name, estimator, n, objective, peers, **settings):
    without = tuple(peer.name for peer in PEERS if peer not in peers)
    settings = {"params": {"C": C, "gamma": GAMMA}, "excess_limit": SAME, "least": 1.0} | settings
    return Row(name, estimator, n, P, objective, labeled_rows, without=without, **settings)


def fit(n, peers=MACHINES, threads=None, **settings):
    name = f"m={n:,} fit" if threads is None else f"m={n:,} 1 thread fit"
    return row(name, "Fit", n, relative_gap, peers, threads=threads, **settings)


def fit_and_predict(n, peers=MACHINES, **settings):
    name = f"m={n:,} fit and predict"
    return row(name, "FitAndPredict", n, relative_gap_and_scores, peers, **settings)


def grid(n, peers, **settings):
    params = {"Cs": tuple(np.logspace(-2, 3, 10)), "gammas": tuple(np.logspace(-4, 0, 10))}
    return row(
        f"m={n:,} grid 10×10", "Grid", n, left_out_error, peers, params=params,
        excess_limit=AS_GOOD, least=np.inf, **settings,
    )  # fmt: skip


ONCE = {"repeats": 1}

SUITE = Suite(
    name="lssvm",
    contestants=(CERTUS, *PEERS),
    rows=(
        fit(2_000),
        fit(2_000, threads=1),
        fit(8_000),
        fit(20_000, peers=(NUMPY, SVC), **ONCE),
        fit_and_predict(2_000),
        fit_and_predict(8_000),
        fit_and_predict(20_000, peers=(NUMPY, SVC), **ONCE),
        grid(200, peers=(LEAVE_ONE_OUT, FOLDS), **ONCE),
        grid(500, peers=(FOLDS,)),
        grid(2_000, peers=(FOLDS,), **ONCE),
    ),
)
