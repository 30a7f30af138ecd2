"""Edits of fitted models: what changes an answer must not certify.

An edit is *missed* if the edited model certifies although its claim is false in high precision, or
although it answers otherwise and the certificate is about the parameters as they were. It is not
covered where a certificate is about a sample of the rows, and says so.
"""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import certus

from .judges.judge import judge
from .judges.verdict import NotJudged
from .trials import EXPECTED, Outcome, Trial, rows_of

EDITS_OF_A_MODEL = 3
SAME = 1e-6  # relative: answers that differ by less are the same
SAMPLED = ("certus.proofs.neighbors.neighbors",)


def one_percent(rng: Any, value: np.ndarray) -> Any:
    return (value * 1.01).astype(value.dtype) if value.dtype.kind == "f" else value + 1


def sign(rng: Any, value: np.ndarray) -> Any:
    return -value


def swap(rng: Any, value: np.ndarray) -> Any:
    return value[::-1].copy()


def one_entry(rng: Any, value: np.ndarray) -> Any:
    value = value.copy()
    i = tuple(int(rng.integers(n)) for n in value.shape)
    value[i] = value[i] * 1.01 + (value[i] == 0)
    return value


def shorter(rng: Any, value: np.ndarray) -> Any:
    return value[..., :-1]


def longer(rng: Any, value: np.ndarray) -> Any:
    return np.concatenate([value, value[..., -1:]], axis=-1)


def not_a_number(rng: Any, value: np.ndarray) -> Any:
    value = value.astype(float)
    value[tuple(int(rng.integers(n)) for n in value.shape)] = np.nan
    return value


def as_float16(rng: Any, value: np.ndarray) -> Any:
    return value.astype(np.float16)


def as_integers(rng: Any, value: np.ndarray) -> Any:
    return np.round(value).astype(int)


def transposed(rng: Any, value: np.ndarray) -> Any:
    return value.T.copy()


EDITS: list[Callable[[Any, np.ndarray], Any]] = [
    one_percent, sign, swap, one_entry, shorter, longer, not_a_number, as_float16, as_integers,
    transposed,
]  # fmt: skip


def editable(model: Any) -> dict[str, np.ndarray]:
    """Fitted attributes that hold numbers."""
    found = {}
    for name, value in vars(model).items():
        public = name.endswith("_") and not name.startswith("_")
        if public and isinstance(value, np.ndarray | float | int | np.number):
            array = np.asarray(value)
            if array.dtype.kind in "fiu" and array.size:
                found[name] = array
    return found


def answers(model: Any, X: Any) -> list[np.ndarray] | None:
    """What a model says of rows; None where it cannot be asked."""
    counts = vars(model).get("_n_support")  # libsvm reads as many rows, whether they exist or not
    if counts is not None and any(
        np.shape(vars(model)[name])[-1 if "coef" in name else 0] != np.sum(counts)
        for name in ("support_", "support_vectors_", "_dual_coef_")
    ):
        return None
    found = []
    for name in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            try:
                found.append(np.asarray(getattr(model, name)(X)))
            except Exception:
                return None
    return found


def differ(before: list[np.ndarray], after: list[np.ndarray]) -> bool:
    if len(before) != len(after):
        return True
    for a, b in zip(before, after, strict=True):
        if a.shape != b.shape:
            return True
        if a.dtype.kind in "fiu" and b.dtype.kind in "fiu":
            size = SAME * np.abs(a).max(initial=0.0)
            if not np.allclose(a, b, rtol=SAME, atol=size, equal_nan=True):
                return True
        elif not np.array_equal(a, b):
            return True
    return False


def attack(t: Trial, model: Any, outcome: Outcome) -> None:
    """Some edits of a certified model, counted in the outcome."""
    rng = np.random.default_rng([20261117, t.seed, 9])
    attributes = editable(model)
    if not attributes or not (hasattr(model, "predict") or hasattr(model, "transform")):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = answers(copy.deepcopy(model), t.X)  # arrays in the order that edited copies have
        if not before:
            return
        certificate = certus.verify(model, t.X, t.y, t.s, **t.offset)
        if not certificate.certified:
            return
        for _ in range(EDITS_OF_A_MODEL):
            name = list(attributes)[rng.integers(len(attributes))]
            edit = EDITS[rng.integers(len(EDITS))]
            _one(t, model, name, edit, rng, before, certificate, outcome)


def _one(
    t: Trial, model: Any, name: str, edit: Any, rng: Any, before: list[np.ndarray],
    certificate: Any, outcome: Outcome,
) -> None:  # fmt: skip
    value = np.asarray(vars(model)[name])
    try:
        new = edit(rng, value if value.ndim else value.reshape(1))
    except (ValueError, IndexError, OverflowError):
        return
    new = new if value.ndim else np.asarray(new).ravel()[0] if np.size(new) else None
    if new is None:
        return
    edited = copy.deepcopy(model)
    setattr(edited, name, new)
    after = answers(edited, t.X)
    if after is None or not differ(before, after):
        return  # it says so itself, or nothing changed
    outcome.edits += 1
    description = f"{edit.__name__} of {name}"
    try:
        found = certus.verify(edited, t.X, t.y, t.s, **t.offset)
    except EXPECTED:
        return
    except Exception as error:
        outcome.crash = f"verify after {description}: {type(error).__name__}: {error}"
        return
    if not found.certified:
        return
    if _same_claim(found, certificate):
        if found.definition in SAMPLED:
            outcome.uncovered += 1
        else:
            outcome.missed.append(
                f"{description}: answers differ, and the certificate is as before"
            )
        return
    try:
        faults = judge(found, edited, rows_of(t, found))
    except NotJudged:
        return
    if faults:
        outcome.missed.append(f"{description}: {'; '.join(map(str, faults))}")


def _same_claim(found: Any, before: Any) -> bool:
    """Is a certificate about the parameters, and the classes, of the model before its edit?"""
    a, b = (c.labels and c.labels.classes.tolist() for c in (found, before))
    return a == b and _as_before(found.parameters, before.parameters)


def _as_before(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_as_before(a[k], b[k]) for k in a)
    try:
        return bool(np.array_equal(a, b))
    except Exception:
        return False
