"""What a linear model answers for a row x, from the parameters that were certified.

    score             z = xᵀw + b; of a regression the prediction itself
    logistic          P(second class) = σ(z),   σ(z) = 1/(1 + e^{−z})
    softmax           P(k) = e^{z_k} / Σ_l e^{z_l}
    against the rest  P(k) = σ(z_k) / Σ_l σ(z_l)
    ordered classes   P(y ≤ k) = σ(c_k − xᵀw)
    class             that of the largest score or probability; of two classes the second if z > 0

Each number comes with the most by which rounding can have moved it, with ε that of the floats the
model works in. An answer that is farther off is wrong.
"""

from typing import Any, NamedTuple

import numpy as np

ROUNDINGS = 8  # times those of one product: a model may centre, scale or add in another order
ELEMENTARY = 64  # roundings of exp, of a sum over classes, and of a quotient
NAMED = 3  # answers told


class Expected(NamedTuple):
    """Numbers (m,) or (m, k), and how far an answer may be from each."""

    value: np.ndarray
    error: np.ndarray


def linear_scores(X: np.ndarray, w: np.ndarray, b: np.ndarray, eps: float) -> Expected:
    """z = Xw + b (m, k). X may be sparse."""
    X = X.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.asarray(abs(X) @ np.abs(w)) + np.abs(b)
        return Expected(np.asarray(X @ w) + b, ROUNDINGS * (len(w) + 8) * eps * size)


def regression(scores: Expected) -> dict[str, Expected]:
    return {"predict": scores}


def classification(
    scores: Expected, probabilities: str | None, eps: float
) -> tuple[dict[str, Expected], Expected]:
    """Answers of a classifier with a score for each class, or one for two; and what decides.

    ``probabilities``: "logistic", "softmax" or "one_vs_rest"; None where the model has none.
    """
    z, e = scores
    two = z.shape[1] == 1
    plain = Expected(z[:, 0], e[:, 0]) if two else scores
    expected = {"decision_function": plain}
    if probabilities is not None:
        P = _softmax(z) if probabilities == "softmax" and not two else _sigmoid(z)
        if two:
            P = np.column_stack([_sigmoid(-z[:, 0]), P[:, 0]])
        elif probabilities == "one_vs_rest":
            P = P / P.sum(axis=1, keepdims=True)
        error = 2 * e.max(axis=1, keepdims=True) * len(P.T) + ELEMENTARY * eps
        expected |= of_probabilities(Expected(P, np.broadcast_to(error, P.shape)))
    decides = Expected(np.column_stack([-z, z]) / 2, np.column_stack([e, e]) / 2) if two else scores
    return expected, decides


def ordered_classes(
    latent: Expected, thresholds: np.ndarray, eps: float
) -> tuple[dict[str, Expected], Expected]:
    """Answers of proportional odds, and what decides."""
    c = np.asarray(thresholds, dtype=float)
    above = latent.value - c  # (m, K − 1)
    # latent is computed as a difference to a threshold
    e = latent.error + ROUNDINGS * eps * np.abs(c).max(initial=0.0)
    up_to = np.column_stack([np.zeros(len(above)), _sigmoid(-above), np.ones(len(above))])
    P = np.diff(up_to, axis=1)
    likely = Expected(P, np.broadcast_to(2 * e + ELEMENTARY * eps, P.shape))
    expected = {"latent": Expected(latent.value[:, 0], e[:, 0]), **of_probabilities(likely)}
    if len(c) == 1:
        expected["decision_function"] = Expected(above[:, 0], e[:, 0])
    else:
        expected["decision_function"] = expected["predict_log_proba"]
    return expected, likely


def of_probabilities(P: Expected) -> dict[str, Expected]:
    """predict_proba, and its logarithm."""
    p, e = P
    with np.errstate(divide="ignore", invalid="ignore"):
        # |log(p + d) − log p| ≤ |d|/(p − |d|); where p may be 0, nothing is known of log p
        error = np.where(p > 2 * e, e / np.where(p > 2 * e, p - e, 1.0) + e, np.inf)
        return {"predict_proba": P, "predict_log_proba": Expected(np.log(p), error)}


def _sigmoid(z: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)))


def _softmax(z: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        E = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(E / E.sum(axis=1, keepdims=True))


# --- what is wrong --------------------------------------------------------------------------------


def other_numbers(
    rows: np.ndarray, answers: dict[str, Any], expected: dict[str, Expected]
) -> list[str]:
    """What each method says that the parameters do not."""
    found = []
    for name, right in expected.items():
        if name in answers:
            found += _other(name, rows, answers[name], right)
    return found


def _other(name: str, rows: np.ndarray, answer: object, right: Expected) -> list[str]:
    answer, (value, error) = np.asarray(answer), right
    if answer.dtype.kind not in "biuf":
        return [f"{name} gives no numbers (dtype {answer.dtype})"]
    if value.ndim == 2 and value.shape[1] == 1 and answer.ndim == 1:  # of one target: either shape
        value, error = value[:, 0], error[:, 0]
    if answer.shape != value.shape:
        return [
            f"{name} gives numbers of shape {answer.shape} for {len(rows)} rows, the fitted "
            f"parameters of shape {value.shape}"
        ]
    with np.errstate(invalid="ignore"):
        near = (np.abs(answer - value) <= error) | (answer == value) | np.isinf(error)
    wrong = np.argwhere(~near)
    found = [
        f"{name} gives row {rows[at[0]]} {answer[tuple(at)]:.9g}, the fitted parameters make it "
        f"{value[tuple(at)]:.9g}"
        for at in wrong[:NAMED]
    ]
    return _counted(found, len(np.unique(wrong[:, 0])), len(rows))


def other_classes(
    rows: np.ndarray, answer: object, classes: list[Any], decides: Expected
) -> list[str]:
    """Rows that predict gives another class than the largest of what decides, beyond rounding."""
    answer, (value, error) = np.asarray(answer), decides
    if answer.shape != (len(rows),):
        return [f"predict gives answers of shape {answer.shape} for {len(rows)} rows"]
    if len(classes) != value.shape[1]:
        return [f"classes_ holds {len(classes)} classes, the fitted parameters {value.shape[1]}"]
    number = {label: k for k, label in enumerate(classes)}
    k = np.array([number.get(label, -1) for label in answer.tolist()])
    m = np.arange(len(rows))
    with np.errstate(invalid="ignore"):
        best = (value - error).max(axis=1)
        wrong = np.flatnonzero((k < 0) | ~(value[m, k] + error[m, k] >= best))
    found = [
        f"predict gives row {rows[i]} {answer.tolist()[i]!r}, the fitted parameters make it "
        f"{classes[int(value[i].argmax())]!r}"
        for i in wrong[:NAMED]
    ]
    return _counted(found, len(wrong), len(rows))


def _counted(found: list[str], wrong: int, asked: int) -> list[str]:
    if wrong > 1:
        found[0] += f" ({wrong:,} such rows of {asked:,} that were asked)"
    return found
