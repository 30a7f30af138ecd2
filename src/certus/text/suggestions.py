"""Names that a person may have meant."""

import difflib
from collections.abc import Iterable

MAX_LISTED = 30


def nearest(name: object, known: Iterable[object], most: int) -> list[str]:
    """The known names that are most like ``name``, the likest first. Case does not count.

    Of dotted names the last part is compared, each only once: svm.SVC stands for every SVC.
    """
    names: dict[str, str] = {}
    for one in known:
        names.setdefault(str(one).rpartition(".")[2].casefold() or str(one).casefold(), str(one))
    close = difflib.get_close_matches(str(name).casefold(), names, most, cutoff=0.4)
    return [names[one] for one in close]


def did_you_mean(name: object, known: Iterable[object]) -> str | None:
    """The known name that is most like ``name``; None: none is. Case does not count."""
    names = {str(k).casefold(): str(k) for k in known}
    close = difflib.get_close_matches(str(name).casefold(), names, 1)
    return names[close[0]] if close else None


def unknown(what: str, name: str, known: Iterable[object], where: str = "") -> str:
    """ "No column 'defualted' in loans.csv. Did you mean 'defaulted'?", or the list of names."""
    names = [str(k) for k in known]
    place = f" in {where}" if where else ""
    close = did_you_mean(name, names)
    if close is not None:
        return f"No {what} '{name}'{place}. Did you mean '{close}'?"
    listed = ", ".join(names[:MAX_LISTED]) + (", …" if len(names) > MAX_LISTED else "")
    return f"No {what} '{name}'{place}. There is: {listed}."
