"""Data, and tables printed from optima of every preset with a given number of digits."""

from typing import Any

import numpy as np

from certus.coefficient_audit.judge import LossAndPenalty
from certus.coefficient_audit.matching import Matcher
from certus.coefficient_audit.objective import DesignMatrix
from certus.coefficient_audit.optimum import minimize
from certus.coefficient_audit.presets import PRESETS, Preset

SCALES = (1.0, 5.0, 0.3, 1.0)
LEVELS = ("north", "south", "west")
STRENGTHS = {  # of each preset's own parameters, at which a few coefficients matter
    "lambda": 0.05, "regParam": 0.05, "C": 0.5, "alpha": 0.05, "elasticNetParam": 0.5,
    "l1_ratio": 0.5, "L1_wt": 0.5,
}  # fmt: skip
OF_SUMS = ("sklearn.Ridge", "MASS.lm.ridge", "statsmodels.Logit")  # their strengths grow with n


def rows(seed: int, loss: str, n: int = 150, weighted: bool = False) -> dict[str, Any]:
    """Return columns x1 … x4 and region, the target y and weights w."""
    rng = np.random.default_rng([seed, n])
    X = {f"x{j + 1}": np.round(rng.normal(size=n) * s, 3) for j, s in enumerate(SCALES)}
    X["region"] = rng.choice(LEVELS, size=n)
    z = 0.4 + 0.8 * X["x1"] - 0.2 * X["x2"] + 1.5 * X["x3"] + 0.7 * (X["region"] == "south")
    y = {
        "gaussian": lambda: np.round(2 * z + rng.normal(size=n), 3),
        "logistic": lambda: (rng.uniform(size=n) < 1 / (1 + np.exp(-z))).astype(int),
        "poisson": lambda: rng.poisson(np.exp(0.4 * z)),
        "gamma": lambda: np.round(np.exp(0.4 * z) * rng.gamma(3, 1 / 3, size=n), 4) + 0.01,
    }[loss]()
    w = rng.integers(1, 5, size=n).astype(float) if weighted else None
    return {"X": X, "y": y, "w": w}


def design(data: dict[str, Any]) -> DesignMatrix:
    """Return the design of x1 … x4 and the region, its first level the reference."""
    X = data["X"]
    columns = [X[f"x{j}"] for j in range(1, 5)] + [(X["region"] == r) * 1.0 for r in LEVELS[1:]]
    names = ("x1", "x2", "x3", "x4", "regionsouth", "regionwest")
    y = np.asarray(data["y"], dtype=float)
    return DesignMatrix(names, np.column_stack(columns), y, data["w"], None, True)


def strengths(preset: Preset, shape: str) -> dict[str, float]:
    """Return strengths of a preset, in its own parameters."""
    if not preset.strength:
        return {}
    value = STRENGTHS[preset.strength]
    value = 5.0 if preset.name.startswith(OF_SUMS) else value
    share = {"l1": 1.0, "l2": 0.0}.get(shape, 0.5)
    return {preset.strength: value, **({preset.share: share} if preset.share else {})}


def optimum(preset: Preset, shape: str, of: DesignMatrix) -> dict[str, float]:
    """Return the coefficients of a preset, by term."""
    matcher = Matcher(of, (preset.loss,))
    structure = matcher.structure_of(preset, shape)  # type: ignore[arg-type]
    objective = matcher.objective(structure)
    v, values = np.zeros(1 + len(of.names)), strengths(preset, shape)
    for _ in range(100):  # Spark's working weights are those of the solution
        facts = of.facts(matcher.objective(LossAndPenalty(preset.loss, "none")).working_weights(v))
        found = minimize(objective, *preset.lambdas(values, facts), np.zeros(len(v)))
        before, v = v, found.v / objective.d
        if np.abs(v - before).max() <= 1e-14 * np.abs(v).max():
            break
    return dict(zip(("(Intercept)", *of.names), v.tolist(), strict=True))


def rounded(coefficients: dict[str, float], digits: int) -> dict[str, str]:
    """Return the coefficients as text, each with so many significant digits."""
    return {term: f"{value:.{digits}g}" for term, value in coefficients.items()}


CASES = [(preset, shape) for preset in PRESETS for shape in preset.shapes]
IDS = [f"{preset.name}-{shape}" for preset, shape in CASES]
