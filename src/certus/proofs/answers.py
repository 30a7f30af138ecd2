"""Answers of a linear model for a row x, recomputed from the certified parameters.

    score             z = xᵀw + b; for a regression, the prediction
    log link          mean = e^z
    logistic          P(second class) = σ(z),   σ(z) = 1/(1 + e^{−z})
    softmax           P(k) = e^{z_k} / Σ_l e^{z_l}
    against the rest  P(k) = σ(z_k) / Σ_l σ(z_l)
    ordered classes   P(y ≤ k) = σ(c_k − xᵀw)
    class             of the largest score or probability; for two classes, the second if z > 0

Each number has a bound of its rounding error, with ε of the model's float type. An answer that is
further off is wrong.
"""

from typing import Any, NamedTuple

import numpy as np

PRODUCT_ROUNDINGS = (
    8  # times that of one product: a model may centre, scale or sum in another order
)
ELEMENTARY_ROUNDINGS = 64  # of exp, of a sum over classes, and of a quotient
MAX_NAMED_ROWS = 3  # in a message


class Expected(NamedTuple):
    """Expected numbers (m,) or (m, k), and the tolerance of each."""

    value: np.ndarray
    error: np.ndarray


def linear_scores(X: np.ndarray, w: np.ndarray, b: np.ndarray, eps: float) -> Expected:
    """z = Xw + b (m, k). X may be sparse."""
    X = X.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.asarray(abs(X) @ np.abs(w)) + np.abs(b)
        return Expected(np.asarray(X @ w) + b, PRODUCT_ROUNDINGS * (len(w) + 8) * eps * size)


def regression(scores: Expected) -> dict[str, Expected]:
    return {"predict": scores}


def means(scores: Expected, eps: float) -> dict[str, Expected]:
    """Means e^z of a log link."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.exp(scores.value)
        error = np.expm1(scores.error) + ELEMENTARY_ROUNDINGS * eps
        # a mean below the smallest normal number has lost digits
        return {"predict": Expected(mean, mean * error + np.finfo(np.float32).tiny * eps)}


def classification(
    scores: Expected, probabilities: str | None, eps: float
) -> tuple[dict[str, Expected], Expected]:
    """Answers of a classifier with a score for each class, or one score for two classes; and the
    values whose maximum decides the class.

    ``probabilities``: "logistic", "softmax" or "one_vs_rest"; None if the model has none.
    """
    z, e = scores
    two = z.shape[1] == 1
    decision = Expected(z[:, 0], e[:, 0]) if two else scores
    expected = {"decision_function": decision}
    if probabilities is not None:
        P = _softmax(z) if probabilities == "softmax" and not two else _sigmoid(z)
        if two:
            P = np.column_stack([_sigmoid(-z[:, 0]), P[:, 0]])
        elif probabilities == "one_vs_rest":
            P = P / P.sum(axis=1, keepdims=True)
        error = 2 * e.max(axis=1, keepdims=True) * len(P.T) + ELEMENTARY_ROUNDINGS * eps
        expected |= of_probabilities(Expected(P, np.broadcast_to(error, P.shape)))
    deciding = (
        Expected(np.column_stack([-z, z]) / 2, np.column_stack([e, e]) / 2) if two else scores
    )
    return expected, deciding


def ordered_classes(
    latent: Expected, thresholds: np.ndarray, eps: float
) -> tuple[dict[str, Expected], Expected]:
    """Answers of proportional odds, and the values whose maximum decides the class."""
    c = np.asarray(thresholds, dtype=float)
    above = latent.value - c  # (m, K − 1)
    # a model may compute the latent score as a difference from a threshold
    e = latent.error + PRODUCT_ROUNDINGS * eps * np.abs(c).max(initial=0.0)
    up_to = np.column_stack([np.zeros(len(above)), _sigmoid(-above), np.ones(len(above))])
    P = np.diff(up_to, axis=1)
    likely = Expected(P, np.broadcast_to(2 * e + ELEMENTARY_ROUNDINGS * eps, P.shape))
    expected = {"latent": Expected(latent.value[:, 0], e[:, 0]), **of_probabilities(likely)}
    if len(c) == 1:
        expected["decision_function"] = Expected(above[:, 0], e[:, 0])
    else:
        expected["decision_function"] = expected["predict_log_proba"]
    return expected, likely


def of_probabilities(P: Expected) -> dict[str, Expected]:
    """Expected predict_proba and predict_log_proba."""
    p, e = P
    with np.errstate(divide="ignore", invalid="ignore"):
        # |log(p + d) − log p| ≤ |d|/(p − |d|); if p may be 0, log p is not bounded
        error = np.where(p > 2 * e, e / np.where(p > 2 * e, p - e, 1.0) + e, np.inf)
        return {"predict_proba": P, "predict_log_proba": Expected(np.log(p), error)}


def _sigmoid(z: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)))


def _softmax(z: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        E = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(E / E.sum(axis=1, keepdims=True))


# --- wrong answers --------------------------------------------------------------------------------


def other_numbers(
    rows: np.ndarray, answers: dict[str, Any], expected: dict[str, Expected]
) -> list[str]:
    """Messages about answers of each method that differ from the parameters'."""
    messages = []
    for name, right in expected.items():
        if name in answers:
            messages += _wrong_answers(name, rows, answers[name], right)
    return messages


def _wrong_answers(name: str, rows: np.ndarray, answer: object, right: Expected) -> list[str]:
    answer, (value, error) = np.asarray(answer), right
    if answer.dtype.kind not in "biuf":
        return [f"{name} gives no numbers (dtype {answer.dtype})"]
    if value.ndim == 2 and value.shape[1] == 1 and answer.ndim == 1:  # one target: either shape
        value, error = value[:, 0], error[:, 0]
    if answer.shape != value.shape:
        return [
            f"{name} gives numbers of shape {answer.shape} for {len(rows)} rows, but the fitted "
            f"parameters give shape {value.shape}"
        ]
    with np.errstate(invalid="ignore"):
        agrees = (np.abs(answer - value) <= error) | (answer == value) | np.isinf(error)
    wrong = np.argwhere(~agrees)
    messages = [
        f"{name} gives row {rows[at[0]]} {answer[tuple(at)]:.9g}, the fitted parameters make it "
        f"{value[tuple(at)]:.9g}"
        for at in wrong[:MAX_NAMED_ROWS]
    ]
    return _counted(messages, len(np.unique(wrong[:, 0])), len(rows))


def other_classes(
    rows: np.ndarray, answer: object, classes: list[Any], deciding: Expected
) -> list[str]:
    """Messages about rows whose predicted class does not maximise ``deciding``, beyond rounding."""
    answer, (value, error) = np.asarray(answer), deciding
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
    messages = [
        f"predict gives row {rows[i]} {answer.tolist()[i]!r}, the fitted parameters make it "
        f"{classes[int(value[i].argmax())]!r}"
        for i in wrong[:MAX_NAMED_ROWS]
    ]
    return _counted(messages, len(wrong), len(rows))


def _counted(messages: list[str], wrong: int, n_rows: int) -> list[str]:
    if wrong > 1:
        messages[0] += f" ({wrong:,} such rows of {n_rows:,} that were checked)"
    return messages
