"""Warnings that point at the user's line.

    user's line ─► Pipeline.fit ─► wrappers of fit ─► fit ─► helpers ─► warn_user

``warn_user`` walks up the stack until it has left certus and the libraries that call certus on the
user's behalf. Any number of helpers may therefore stand between ``fit`` and a warning.
"""

import sys
import warnings

from ..text.format import printable

# scikit-learn calls estimators through joblib; functools and contextlib hold wrappers of functions
LIBRARY_PACKAGES = frozenset({"certus", "sklearn", "joblib", "functools", "contextlib"})


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the file and line of the innermost frame that is the user's own code.

    Where there is none (a worker process runs nothing else), the outermost frame is named.
    """
    stacklevel, frame = 2, sys._getframe(1)  # level 1 is this function
    while (
        frame.f_back is not None and _package(frame.f_globals.get("__name__")) in LIBRARY_PACKAGES
    ):
        stacklevel, frame = stacklevel + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=stacklevel)


def _package(module: object) -> str:
    """The top-level package of a module's name; a frame without one belongs to the user."""
    return module.partition(".")[0] if isinstance(module, str) else ""
