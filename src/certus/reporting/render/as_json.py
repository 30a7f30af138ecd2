"""A report's content as JSON: every field, in the order of the dataclasses, unrounded.

NaN is null, an infinite number the text "infinite" or "−infinite": JSON has neither.
"""

import json
import math
from dataclasses import fields, is_dataclass

from ..content.document import ReportContent

INDENT = 1  # spaces: lines that a diff can show, in a third of the bytes of 4


def render(content: ReportContent) -> str:
    """Return the text of report.json."""
    return json.dumps(plain(content), ensure_ascii=False, indent=INDENT, allow_nan=False) + "\n"


def plain(value: object) -> object:
    """Return a value of the content in dictionaries, lists, text and finite numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else "infinite" if value > 0 else "−infinite"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"a content holds plain values, not {type(value).__name__}")
