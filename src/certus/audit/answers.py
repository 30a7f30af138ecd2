"""Answers of a fitted model's public methods at some of its rows.

They are compared with the certified parameters, so that an edited attribute that changes answers
is noticed, whatever its name. The methods are called on a copy of the model without column names,
since the rows have no names here.
"""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

if TYPE_CHECKING:
    from ..data.rows import Rows


SAMPLED_ROWS = 64
SAMPLED_ELEMENTS = 1 << 20  # of X, over all sampled rows
LIBRARIES = ("certus", "sklearn")
TABLE_ATTRIBUTES = ("feature_names_in_", "_sklearn_output_config")  # dropped in the copy


@dataclass(frozen=True, eq=False)
class Answers:
    """Return values of a model's methods for some rows."""

    rows: np.ndarray  # numbers of the rows
    X: Any  # the rows themselves
    by_method: dict[str, np.ndarray]
    failures: tuple[str, ...] = ()  # methods that raised an exception, in words

    def __len__(self) -> int:
        return len(self.rows)


def sampled_rows(n: int, count: int) -> np.ndarray:
    """Numbers of at most ``count`` of n rows, the last among them.

    Multiples of the golden ratio avoid the periods of any pattern in the rows.
    """
    if n <= count:
        return np.arange(n)
    i = (np.arange(count - 1) * 0.6180339887498949 % 1.0 * n).astype(np.intp)
    return np.unique(np.append(i, n - 1))


def call_methods(
    model: object, rows: "Rows", methods: Sequence[str], count: int = SAMPLED_ROWS
) -> Answers:
    """Call those methods that the model has, for at most ``count`` rows."""
    n, p = rows.shape
    i = sampled_rows(n, max(1, min(count, SAMPLED_ELEMENTS // max(p, 1))))
    X = rows.take(i).block(0, len(i))[0]
    if issparse(X):  # scikit-learn's loops take 32-bit indices only
        X = csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    plain_model = without_column_names(model)
    by_method, failures = {}, []
    for name in methods:
        if not _is_of_a_library(model, name):
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                by_method[name] = np.asarray(getattr(plain_model, name)(X))
            except Exception as error:  # any exception: an attribute may be of the wrong kind
                failures.append(f"{name} fails: {type(error).__name__}: {error}")
    return Answers(i, X, by_method, tuple(failures))


def without_column_names(model: object) -> Any:
    """Return a shallow copy without column names, which works on one thread."""
    plain_model = copy.copy(model)
    for name in TABLE_ATTRIBUTES:
        vars(plain_model).pop(name, None)
    if "_n_threads" in vars(plain_model):  # a number below 1 ends the process in OpenMP
        vars(plain_model)["_n_threads"] = 1
    return plain_model


def _is_of_a_library(model: object, name: str) -> bool:
    """Return whether the model has the method, and it is that of certus or scikit-learn.

    A method that the user overrode does not count. One that depends on parameters
    (``predict_proba`` of some losses) may be missing.
    """
    for cls in type(model).__mro__:
        if name in vars(cls):
            of_library = cls.__module__.partition(".")[0] in LIBRARIES
            return of_library and hasattr(model, name)
    return False
