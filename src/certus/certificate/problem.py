"""The model inside, the rows that reach it, and what it claims of them; else a refusal in words.

model, X, y ─► wrappers taken off ─► rows, checked ─► reader ─► claim
"""

from collections.abc import Iterator, Sized
from contextlib import contextmanager
from typing import NamedTuple

from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import audit
from ..data.frames import require_same_order
from ..data.rows import Rows
from ..data.validation import data_for_verify
from ..exceptions import CannotVerifyError
from ..sources.collections import is_collection, open_collection
from ..text.suggestions import nearest
from .offsets import offsets, with_offsets

N_NEAREST = 3  # classes that a refusal names
LIST_OF_MODELS = 'docs/certificates.md, "What can be audited"'


class Given(NamedTuple):
    """The innermost model with X and y as it was given them, and what goes with the rows."""

    inner: audit.Unwrapped
    sample_weight: ArrayLike | None
    offset: ArrayLike | None
    exposure: ArrayLike | None
    parts: audit.InnerModels | None = None  # of a model that consists of several


def unwrapped(
    model: object,
    X: object,
    y: object,
    sample_weight: ArrayLike | None,
    offset: ArrayLike | None,
    exposure: ArrayLike | None,
) -> Given:
    """Return the model inside pipelines and searches, fitted and known, or a model's parts."""
    if is_collection(X):
        X, y, sample_weight = open_collection(model, X, y, sample_weight), None, None
    try:
        require_same_order(X, y, sample_weight)
    except ValueError as error:
        raise CannotVerifyError(str(error)) from error
    try:
        if audit.is_result(model):
            inner, sample_weight, offset = _of_statsmodels(
                model, X, y, sample_weight, offset, exposure
            )
            exposure = None
        elif X is None:
            raise ValueError(f"give the rows that this {type(model).__name__} was fitted on: X=…")
        else:
            inner = audit.unwrap(model, X, y)
            parts = audit.parts_of(inner.model, inner.X, inner.y, sample_weight)
            if parts is not None:
                return Given(inner, sample_weight, offset, exposure, parts)
        if not audit.known(inner.model):
            raise CannotVerifyError(unknown_model(inner.model))
        if hasattr(inner.model, "fit"):  # a Tree has none
            check_is_fitted(inner.model)
    except NotFittedError as error:
        raise CannotVerifyError(f"{type(model).__name__} is not fitted: fit it first") from error
    except AttributeError as error:
        raise CannotVerifyError(audit.why_unreadable(model, error)) from error
    except CannotVerifyError:
        raise
    except ValueError as error:  # a step refuses the rows
        raise CannotVerifyError(str(error)) from error
    return Given(inner, sample_weight, offset, exposure)


@contextmanager
def in_words(model: object) -> Iterator[None]:
    """Refuse in words what a reader or a proof cannot read of a model."""
    try:
        yield
    except CannotVerifyError:
        raise
    except audit.READING_ERRORS as error:
        raise CannotVerifyError(audit.why_unreadable(model, error)) from error


def read_given(given: Given) -> tuple[Rows, audit.Reading]:
    """Return the rows that reach the model, and its claim."""
    model = given.inner.model
    rows = data_for_verify(model, given.inner.X, given.inner.y, given.sample_weight)
    has_offset = getattr(model, "has_offset_", False)
    if given.offset is not None or given.exposure is not None or has_offset:
        rows = _with_offsets(model, rows, given.offset, given.exposure)
    return rows, read_claim(model, rows)


def read_claim(model: object, rows: Rows) -> audit.Reading:
    """Return the claim of a fitted model on its rows."""
    try:
        return audit.read(model, rows)
    except ValueError as error:
        raise CannotVerifyError(str(error)) from error


def _with_offsets(model: object, rows: Rows, offset: object, exposure: object) -> Rows:
    """Rows with the offsets beside their targets, for a model that was fitted with some."""
    if not hasattr(model, "has_offset_"):
        raise CannotVerifyError(
            f"{type(model).__name__} models have no offset: leave offset and exposure out"
        )
    try:
        return with_offsets(rows, offset, exposure)
    except (TypeError, ValueError) as error:
        raise CannotVerifyError(str(error)) from error


def unknown_model(model: object) -> str:
    """Message for a model that no reader knows: the classes with the most similar names."""
    name, known = type(model).__name__, audit.readable()
    similar = nearest(name, known, N_NEAREST) or known[:N_NEAREST]
    return (
        f"{name} cannot be audited: certus has no definition of what it minimises. What can, with "
        f"a similar name: {', '.join(similar)}. All {len(known)} classes: {LIST_OF_MODELS}"
    )


def _of_statsmodels(
    result: object, X: object, y: object, s: object, offset: object, exposure: object
) -> tuple[audit.Unwrapped, ArrayLike | None, ArrayLike | None]:
    """Return a result's model with rows, weights and offset, those of its fit where none is given.

    A result whose claim is not known, and rows that do not fit it, raise ValueError.
    """
    n = len(y) if isinstance(y, Sized) else int(getattr(result, "nobs", 0))
    own = audit.with_rows(result, X, y, s, offsets(offset, exposure, n))
    inner = audit.Unwrapped(own.fit, own.X, own.y, (), evidence=own.evidence, same_rows=own.same)
    return inner, own.sample_weight, own.offset
