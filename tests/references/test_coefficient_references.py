"""The stored coefficients are optimal for the objectives that are written down with them.

Every objective is, for a loss D and numbers a_j, c_j of each term,

    F(β) = Σ v_i D(y_i, x_iᵀβ + offset_i) + Σ_j a_j |β_j| + ½ Σ_j c_j β_j²,

minimal where, with g = Xᵀ[v (μ − y)] and μ the mean that the score stands for,

    g_j + c_j β_j + a_j sign β_j = 0    (β_j ≠ 0),        |g_j| ≤ a_j    (β_j = 0).

Each program has its own v, a and c.
"""

import re

import numpy as np
import pytest

from tests.references.coefficient_cases import FOLDER, INTERCEPTS, NAMES, Reference, load

MEANS = {
    "gaussian": lambda z: z,
    "binomial": lambda z: 1 / (1 + np.exp(-z)),
    "poisson": np.exp,
}


def family(case: Reference) -> str:
    if "family" in case.settings:
        return case.settings["family"]
    if case.positive is not None:
        return "binomial"
    return "poisson" if case.settings.get("model") == "PoissonRegressor" else "gaussian"


def likelihood(case):
    """lm, glm: v = w, no penalty."""
    return case.w, 0.0, 0.0


def glmnet(case):
    """v = w/Σw; λ [α Σ s_j |β_j| + (1 − α)/2 Σ s_j² β_j² / s_y], s with divisor Σw."""
    s = case.settings
    return standardized(case, s["lambda"], s["alpha"], s["standardize"], lambda w: w.sum())


def spark(case):
    """Spark minimises as glmnet; divisors are Σw − Σw²/Σw (n − 1), n if its solver is "normal"."""
    s = case.settings
    divisor = np.sum if s["solver"] == "normal" else lambda w: w.sum() - (w @ w) / w.sum()
    return standardized(case, s["regParam"], s["elasticNetParam"], s["standardization"], divisor)


def standardized(case, strength, share, standardize, divisor):
    w, X, y = case.w, case.X, case.y

    def deviations(columns):
        centred = columns - np.average(columns, axis=0, weights=w)
        return np.sqrt(w @ centred**2 / divisor(w))

    s = deviations(X) if standardize else np.ones(X.shape[1])
    s = np.where([term in INTERCEPTS for term in case.terms], 0.0, s)
    s_y = deviations(y) if family(case) == "gaussian" else 1.0
    return w / w.sum(), strength * share * s, strength * (1 - share) * s**2 / s_y


def statsmodels(case):
    """Likelihoods v = w; penalties of every column, constant or not, on Σ/n except for Logit."""
    s, n = case.settings, len(case.y)
    if "alpha" not in s:
        return likelihood(case)
    alpha = np.broadcast_to(s["alpha"], len(case.terms))
    if s["model"] == "Logit.fit_regularized":
        return case.w, alpha, 0.0
    return case.w / n, alpha * s["L1_wt"], alpha * (1 - s["L1_wt"])


def scikit_learn(case):
    s, n = case.settings, case.w.sum()
    slopes = np.array([term not in INTERCEPTS for term in case.terms], dtype=float)
    match s["model"]:
        case "liblinear":  # the intercept is one of the penalised coefficients
            lasso = s["penalty"] == "l1"
            return s["C"] * case.w, float(lasso), float(not lasso)
        case "LogisticRegression":
            return s["C"] * case.w, 0.0, slopes
        case "Ridge":
            return case.w, 0.0, s["alpha"] * slopes
        case "ElasticNet":
            l1, l2 = s["alpha"] * s["l1_ratio"], s["alpha"] * (1 - s["l1_ratio"])
            return case.w / n, l1 * slopes, l2 * slopes
        case "PoissonRegressor":
            return case.w / n, 0.0, s["alpha"] * slopes


PRESETS = {
    "lm": likelihood,
    "glm": likelihood,
    "glmnet": glmnet,
    "spark": spark,
    "statsmodels": statsmodels,
    "scikit-learn": scikit_learn,
}


def violation(case: Reference) -> float:
    """By how much the conditions are missed, as a share of the sums that they consist of."""
    X, beta = case.X, case.coefficients
    v, a, c = PRESETS[case.settings["preset"]](case)
    residuals = MEANS[family(case)](X @ beta + case.shift) - case.y
    slope = X.T @ (v * residuals) + c * beta
    missed = np.where(
        beta != 0, np.abs(slope + a * np.sign(beta)), np.maximum(np.abs(slope) - a, 0)
    )
    terms = np.abs(X).T @ (v * np.abs(residuals)) + c * np.abs(beta) + a
    return float(np.max(missed / terms))


OPTIMAL = [name for name in NAMES if load(name).optimal]


@pytest.mark.parametrize("name", OPTIMAL)
def test_reference_is_optimal_for_its_objective(name):
    case = load(name)
    assert violation(case) <= case.precision


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(OPTIMAL)))
def test_fit_that_stopped_elsewhere_is_far_from_optimal(name):
    assert violation(load(name)) > 0.01


@pytest.mark.parametrize("name", OPTIMAL)
def test_one_percent_of_a_coefficient_is_seen(name):
    case = load(name)
    term, value = max(case.full.items(), key=lambda item: abs(item[1]))
    case.full[term] = value * 1.01
    assert violation(case) > case.precision


@pytest.mark.parametrize("name", NAMES)
def test_table_has_every_coefficient_but_zeros(name):
    case = load(name)
    cells = [cell.strip(' "') for line in case.table.splitlines() for cell in line.split(",")]
    numbers = np.array([float(cell) for cell in cells if re.fullmatch(r"-?\d[\d.e+-]*", cell)])
    for value in filter(None, case.full.values()):
        assert np.any(np.isclose(numbers, value, rtol=5e-4, atol=5e-5))


@pytest.mark.parametrize("name", NAMES)
def test_reference_is_small_and_names_no_machine(name):
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert 40 <= len(load(name).y) <= 200
    assert len(text) < 16_000
    assert not any(word in text for word in ("/tmp", "/home", "/work", "/usr"))
