"""Refusals: errors that are raised on purpose, with the row, the column and the remedy.

Who meets one needs the message, not the path inside certus on which it was found. So the methods
that users call raise it again from one frame. CERTUS_TRACEBACK=full keeps every frame, and the
errors that it came from.
"""

import dis
import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

REFUSE = ("certus", "sklearn")  # libraries whose ValueErrors are meant for the user


def is_deliberate(error: BaseException) -> bool:
    """Return whether a ``raise`` statement of certus or scikit-learn raised the exception.

    A ValueError that NumPy raises in the middle of a computation is no refusal.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    library = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
    instruction = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return library in REFUSE and dis.opname[instruction] in ("RAISE_VARARGS", "RERAISE")


def refuses_in_one_frame(function: Callable[P, Result]) -> Callable[P, Result]:
    """Decorate what users call: its refusals have one frame of certus in their traceback."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError) as error:
            if os.environ.get("CERTUS_TRACEBACK") == "full" or not is_deliberate(error):
                raise
            raise error.with_traceback(None) from None

    return call
