"""Validation of shares of classes: π_k > 0, Σ π_k = 1."""

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.labels import named

SUM_TOLERANCE = 1e-6  # of Σ π_k − 1: shares that users type are rounded


def read_prior(name: str, value: object, classes: np.ndarray) -> np.ndarray:
    """Return (K,) shares from that of the second of two classes, a dict by label, or a sequence."""
    K = len(classes)
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        if K != 2:
            raise ValueError(
                f"{name}={value!r} is one share, but the classes are {named(classes)}: give a dict "
                "with a share for each"
            )
        shares = np.array([1.0 - float(value), float(value)])
    elif isinstance(value, Mapping):
        shares = _from_mapping(name, value, classes)
    else:
        shares = _from_sequence(name, value, classes)
    if not (np.isfinite(shares).all() and (shares > 0).all() and (shares < 1).all()):
        raise ValueError(f"{name}={value!r}: give shares above 0 and below 1")
    if abs(shares.sum() - 1) > SUM_TOLERANCE:
        raise ValueError(f"{name}={value!r} sums to {shares.sum():.6g}: shares must sum to 1")
    return shares / shares.sum()


def _from_mapping(name: str, value: Mapping[Any, Any], classes: np.ndarray) -> np.ndarray:
    labels = classes.tolist()
    unknown = [label for label in value if label not in labels]
    missing = [label for label in labels if label not in value]
    if unknown or (missing and not len(missing) == 1 == len(labels) - 1):
        raise ValueError(
            f"{name} has shares of {', '.join(map(repr, value))}, but the classes are "
            f"{named(classes)}"
        )
    given = {label: float(share) for label, share in value.items()}
    for label in missing:  # one of two
        given[label] = 1.0 - sum(given.values())
    return np.array([given[label] for label in labels])


def _from_sequence(name: str, value: object, classes: np.ndarray) -> np.ndarray:
    try:
        shares = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        shares = np.zeros(())
    if isinstance(value, (str, bool)) or shares.shape != (len(classes),):
        raise ValueError(
            f"{name}={value!r}: give the share of {classes.tolist()[-1]!r}, a dict by label, or "
            f"one share for each of {named(classes)}"
        )
    return shares
