"""Options as people write them: costs, durations, lists of names, and the command they make."""

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypedDict

from ..exceptions import UsageError
from .settings import Settings

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
COST_NAMES = {"fp": "cost_false_positive", "fn": "cost_false_negative"}
SHOWN_AS = {"cost_false_positive": "cost", "cost_false_negative": "cost"}


class Costs(TypedDict, total=False):
    """The settings that ``cost`` makes."""

    cost_false_positive: float
    cost_false_negative: float


def names_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names, of a sequence or separated by commas."""
    if given is None:
        return ()
    names = given.split(",") if isinstance(given, str) else given
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def seconds_of(given: str | float | None) -> float | None:
    """Seconds of "5m", "90s", "1h" or a number."""
    if given is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", str(given).casefold())
    if found is None or found[2] not in SECONDS or not float(found[1]) > 0:
        raise UsageError(f"budget={given!r}: give a duration, such as 90s, 5m or 1h")
    return float(found[1]) * SECONDS[found[2]]


def cost_of(given: str | Mapping[str, float] | None) -> Costs:
    """The costs of "fp=1,fn=20", or of a mapping with these names."""
    if given is None:
        return {}
    if isinstance(given, str):
        pairs = [part.partition("=")[::2] for part in given.split(",") if part.strip()]
        given = {name.strip(): _number(value) for name, value in pairs}
    costs = {name: float(value) for name, value in given.items()}
    wrong = set(costs) != set(COST_NAMES)
    if wrong or not all(math.isfinite(c) and c > 0 for c in costs.values()):
        raise UsageError("cost: give both errors a cost above 0, such as fp=1,fn=20")
    return {"cost_false_positive": costs["fp"], "cost_false_negative": costs["fn"]}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def command_of(sources: Sequence[str], settings: Settings) -> str:
    """The command with these settings, for tables of these names."""
    words = ["certus", "report", *sources]
    default = Settings()
    for option in fields(Settings):
        value = getattr(settings, option.name)
        if value == getattr(default, option.name) or option.name in SHOWN_AS:
            continue
        words.append(f"--{option.name.replace('_', '-')}")
        if value is not True:
            words.append(",".join(value) if isinstance(value, tuple) else f"{value}")
    if settings.cost_false_positive is not None and settings.cost_false_negative is not None:
        costs = f"fp={settings.cost_false_positive:g},fn={settings.cost_false_negative:g}"
        words += ["--cost", costs]
    return shlex.join(words)
