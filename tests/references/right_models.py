"""Right tables of coefficients: random fits by NumPy or scikit-learn, rounded to random digits."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn.linear_model as peers

KINDS = (
    "least squares", "logistic", "poisson", "ridge", "logistic ridge", "poisson ridge",
    "elastic net", "glmnet lasso", "glmnet ridge", "liblinear l2", "liblinear l1",
)  # fmt: skip
MEANS = {
    "gaussian": lambda z: (z, np.ones_like(z)),
    "logistic": lambda z: (1 / (1 + np.exp(-z)), 1 / (2 + np.exp(z) + np.exp(-z))),
    "poisson": lambda z: (np.exp(z), np.exp(z)),
}


@dataclass
class RightModel:
    """A rounded table, its rows, and what the audit must find."""

    kind: str
    table: dict[str, str]
    X: dict[str, np.ndarray]
    y: np.ndarray
    preset: str
    strengths: dict[str, float] = field(default_factory=dict)
    sample_weight: np.ndarray | None = None

    def audit(self, **changed: Any) -> Any:
        import certus

        given = {"table": self.table, "X": self.X, "y": self.y} | changed
        given.setdefault("sample_weight", self.sample_weight)
        return certus.audit_coefficients(
            given.pop("table"), given.pop("X"), given.pop("y"), **given
        )


def newton(family, X, y, s, penalty=0.0, penalise=None):
    """Minimise Σ s ℓ + ½ Σ penaltyⱼ βⱼ², to rounding; the first column is the intercept's."""
    c = penalty * (np.arange(X.shape[1]) > 0 if penalise is None else penalise)
    beta = np.zeros(X.shape[1])
    if family == "poisson":
        beta[0] = np.log(np.average(y, weights=s) + 1e-3)
    for _ in range(60):
        mean, curvature = MEANS[family](X @ beta)
        slope = X.T @ (s * (mean - y)) + c * beta
        step = np.linalg.solve((X.T * (s * curvature)) @ X + np.diag(c * np.ones(len(beta))), slope)
        beta = beta - step * min(1.0, 2.0 / np.abs(X @ step).max(initial=1e-9))
    return beta


def right_model(seed: int) -> RightModel:
    """Return a model of the kind that the seed stands for."""
    rng = np.random.default_rng([2026, seed])
    kind = KINDS[seed % len(KINDS)]
    n, p = int(rng.integers(60, 200)), int(rng.integers(2, 6))
    numbers = np.round(rng.normal(size=(n, p)) * 10 ** rng.uniform(-0.5, 1.0, p), 2)
    columns = {f"x{j + 1}": numbers[:, j] for j in range(p)}
    unit = numbers / numbers.std(axis=0)
    score = 0.3 + unit @ rng.uniform(-0.8, 0.8, p)
    design, names = [numbers], list(columns)
    if kind in ("least squares", "logistic", "poisson") and rng.uniform() < 0.6:
        group = rng.choice(["a", "b", "c"], n)
        columns["group"] = group
        design.append(np.column_stack([group == "b", group == "c"]).astype(float))
        names += ["groupb", "groupc"]
        score = score + (group == "b") * 0.5
    X = np.column_stack([np.ones(n), *design])
    weighted = kind != "liblinear l1" and rng.uniform() < 0.3
    s = np.round(rng.uniform(0.5, 3, n), 1) if weighted else np.ones(n)
    family = (
        "logistic" if "logistic" in kind or "liblinear" in kind
        else "poisson" if "poisson" in kind else "gaussian"
    )  # fmt: skip
    if family == "gaussian":
        y = np.round(score + rng.normal(size=n), 2)
    elif family == "logistic":
        y = (rng.uniform(size=n) < 1 / (1 + np.exp(-score))).astype(float)
    else:
        y = rng.poisson(np.exp(score * 0.7)).astype(float)
    strength = float(f"{10 ** rng.uniform(-2, -0.3):.2g}")
    beta, preset, strengths = fitted(kind, family, X, y, s, strength)
    digits = int(rng.choice([4, 5, 6, 8, 15]))
    table = {
        name: f"{value:.{digits}g}"
        for name, value in zip(["(Intercept)", *names], beta, strict=True)
    }
    weights = s if weighted else None
    return RightModel(kind, table, columns, y, preset, strengths, weights)


def fitted(kind, family, X, y, s, strength):
    """Return coefficients, the name of their objective and its strengths."""
    n, W = len(y), s.sum()
    sd = np.sqrt(np.average((X - np.average(X, axis=0, weights=s)) ** 2, axis=0, weights=s))
    y_sd = np.sqrt(np.average((y - np.average(y, weights=s)) ** 2, weights=s))
    match kind:
        case "least squares" | "logistic" | "poisson":
            preset = "least_squares" if kind == "least squares" else kind
            return newton(family, X, y, s), preset, {}
        case "ridge":
            alpha = float(f"{strength * n:.2g}")
            return newton(family, X, y, s, alpha), "sklearn.Ridge", {"alpha": alpha}
        case "logistic ridge":
            C = float(f"{1 / (strength * n):.2g}")
            beta = newton(family, X, y, s, 1 / C)
            return beta, "sklearn.LogisticRegression", {"C": C, "l1_ratio": 0.0}
        case "poisson ridge":
            beta = newton(family, X, y, s / W, strength)
            return beta, "sklearn.PoissonRegressor", {"alpha": strength}
        case "liblinear l2":
            C = float(f"{1 / (strength * n):.2g}")
            beta = newton(family, X, y, s, 1 / C, np.ones(X.shape[1]))
            return beta, "liblinear.l2", {"C": C}
        case "liblinear l1":
            C = float(f"{1 / (strength * n) + 10 / n:.2g}")
            model = peers.LogisticRegression(
                C=C, l1_ratio=1, solver="liblinear", tol=1e-12, max_iter=100_000, random_state=0
            ).fit(X[:, 1:], y)
            return np.append(model.intercept_, model.coef_[0]), "liblinear.l1", {"C": C}
        case "glmnet ridge":
            scaled = np.column_stack([X[:, 0], X[:, 1:] / sd[1:]])
            beta = newton(family, scaled, y, s / W, strength / y_sd)
            beta[1:] /= sd[1:]
            return beta, "glmnet.gaussian", {"lambda": strength, "alpha": 0.0}
        case "glmnet lasso":
            alpha, ratio, scale = strength, 1.0, sd[1:]
            preset, strengths = "glmnet.gaussian", {"lambda": strength, "alpha": 1.0}
        case "elastic net":
            alpha, ratio, scale = strength, 0.7, 1.0
            preset, strengths = "sklearn.ElasticNet", {"alpha": strength, "l1_ratio": 0.7}
    model = peers.ElasticNet(alpha=alpha, l1_ratio=ratio, tol=1e-15, max_iter=1_000_000)
    model.fit(X[:, 1:] / scale, y, sample_weight=s)
    return np.append(model.intercept_, model.coef_ / scale), preset, strengths
