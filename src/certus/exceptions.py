"""Warnings and errors of certus."""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "AliasWarning",
    "CannotVerifyError",
    "CertificateError",
    "DegenerateWarning",
    "InferenceError",
    "MissingExtraError",
    "ModelFileError",
    "NotCertifiedError",
    "NotCertifiedWarning",
    "NotEuclideanWarning",
    "OrderWarning",
    "RangeWarning",
    "SeparationWarning",
    "SourceChangedError",
    "TableError",
    "UnitsWarning",
    "UsageError",
    "WorkersDifferError",
]


class NotCertifiedWarning(ConvergenceWarning):
    """The fit's claim was recomputed from the data and does not hold."""


class AliasWarning(UserWarning):
    """Some columns repeat others, so their coefficients are not unique."""


class SeparationWarning(UserWarning):
    """The classes are separated by a hyperplane: coefficients grow without limit."""


class DegenerateWarning(UserWarning):
    """The data cannot support the requested model; the nearest one that exists was fitted."""


class NotEuclideanWarning(UserWarning):
    """Centroid, median or ward linkage was used with distances that are not Euclidean."""


class OrderWarning(UserWarning):
    """Text classes were ordered alphabetically, which may not be the intended order."""


class RangeWarning(UserWarning):
    """Squares of the data overflow or underflow, so the objective is stated in other units."""


class UnitsWarning(UserWarning):
    """Some columns have so much larger a spread that they alone determine the distances."""


class CannotVerifyError(ValueError):
    """There is nothing to check: an unknown or unfitted model, or rows that do not fit it."""


class CertificateError(ValueError):
    """A certificate does not contain what was requested, such as a trace or a script."""


class NotCertifiedError(ValueError):
    """The claim of a fit does not hold, and ``Audited(on_fail="raise")`` wanted an error."""


class InferenceError(ValueError):
    """There is no theory for the requested standard errors, intervals or p-values."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is damaged, unsafe, too new, or no model file."""


class TableError(ValueError):
    """A table cannot be read, or does not have the columns that a model needs."""


class MissingExtraError(ImportError):
    """A library that certus does not need otherwise is not installed; the message says how."""


class UsageError(ValueError):
    """A command was called with options that do not go together, or with an unknown name."""


class WorkersDifferError(RuntimeError):
    """Workers of a cluster lack certus, or have other versions of it or of NumPy."""


class ChunkFailedError(RuntimeError):
    """A chunk of a Dask collection could not be computed; its cause is what its graph raised."""


class SourceChangedError(TableError):
    """A source of streamed rows is not what it was when ``open_rows`` read it first."""
