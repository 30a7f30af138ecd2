"""Which failures of an estimator are refusals of its data or parameters, and which are bugs.

An estimator refuses by a ``raise`` statement, with the row, the column and the remedy; a parameter
as "C=-1: give …". A ValueError that NumPy raises in the middle of a computation is no refusal.
"""

import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..exceptions import ModelFileError, TableError, UsageError
from ..runtime.refusals import is_deliberate


@contextmanager
def refusals(model: object) -> Iterator[None]:
    """Turn what the model refuses into ``TableError``, or ``UsageError`` for its parameters.

    None: where there is no model, and so no parameter of it.
    """
    try:
        yield
    except (ModelFileError, TableError, UsageError):
        raise
    except (ValueError, TypeError) as error:
        if not is_deliberate(error):
            raise
        if _names_parameter(model, error):
            raise UsageError(str(error)) from error
        if isinstance(error, TypeError):
            raise
        raise TableError(str(error)) from error


def _names_parameter(model: object, error: Exception) -> bool:
    """Is it about a parameter? ValueErrors begin with "C=-1: " or with "class_weight names "; type
    errors name it somewhere."""
    if model is None:
        return False
    words = re.findall(r"\w+", str(error)) if isinstance(error, TypeError) else []
    words += re.findall(r"^(\w+)(?:=| names )", str(error))
    return bool(set(words) & set(inspect.signature(type(model)).parameters))
