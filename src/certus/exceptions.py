"""What certus warns of and refuses."""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "AliasWarning",
    "CannotVerifyError",
    "CertificateError",
    "DegenerateWarning",
    "InferenceError",
    "MissingExtraError",
    "ModelFileError",
    "NotCertifiedWarning",
    "NotEuclideanWarning",
    "OrderWarning",
    "SeparationWarning",
    "TableError",
    "UnitsWarning",
    "UsageError",
]


class NotCertifiedWarning(ConvergenceWarning):
    """The fit's claim was recomputed from the data and does not hold."""


class AliasWarning(UserWarning):
    """Some columns repeat others, so their coefficients are not unique."""


class SeparationWarning(UserWarning):
    """The classes are separated by a hyperplane: coefficients grow without limit."""


class DegenerateWarning(UserWarning):
    """The data do not hold what was asked for; what they do hold was taken."""


class NotEuclideanWarning(UserWarning):
    """A linkage of centres was asked for distances that have none: it means little."""


class OrderWarning(UserWarning):
    """Classes of text were put in the order of text, which may not be theirs."""


class UnitsWarning(UserWarning):
    """Some columns spread so much more than others that distances are theirs alone."""


class CannotVerifyError(ValueError):
    """There is nothing to check: an unknown or unfitted model, or rows that do not fit it."""


class CertificateError(ValueError):
    """A certificate was asked for something that it does not hold."""


class InferenceError(ValueError):
    """Standard errors, intervals or p-values were asked for where theory has none."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is damaged, unsafe, too new, or no model file."""


class TableError(ValueError):
    """A table cannot be read, or does not have the columns that a model needs."""


class MissingExtraError(ImportError):
    """A library that certus does not need otherwise is not installed; the message says how."""


class UsageError(ValueError):
    """A command was called with options that do not go together, or with an unknown name."""
