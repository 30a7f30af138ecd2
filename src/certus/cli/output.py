"""What a command prints: results to stdout, progress and warnings to stderr.

Colours are left out where the reader cannot show them (NO_COLOR, TERM=dumb, pipes), characters that
the terminal cannot encode become ASCII, and lines are wrapped to its width. ``--json`` prints one
object with ``schema_version`` instead of text.
"""

import json
import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

import numpy as np

from ..text.format import printable as encodable

SCHEMA_VERSION = 1
MAX_WIDTH = 100
MIN_WIDTH = 40
INDENT = 15  # of explain(): wrapped lines continue below the text
NARROW = 60  # columns; below, wrapped lines begin near the margin
NARROW_INDENT = 2
# Control characters, which names in a table or a file may hold: a terminal would obey them.
CONTROLS = {
    i: f"\\x{i:02x}" if i < 256 else f"\\u{i:04x}"
    for i in (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F),
              *range(0x2066, 0x206A))
}  # fmt: skip
COLORS = {"good": "32", "bad": "1;31", "poor": "33", "dim": "2", "strong": "1"}


def width() -> int:
    """Columns of the terminal, within reason."""
    return max(MIN_WIDTH, min(MAX_WIDTH, shutil.get_terminal_size().columns))


def printable(text: str, encoding: str | None = None) -> str:
    """The text without control characters, in ASCII where the encoding has no more."""
    return encodable(text.translate(CONTROLS), encoding)


def indent() -> int:
    """Columns before a wrapped line: below the text where there is room."""
    return INDENT if width() >= NARROW else NARROW_INDENT


def paint(text: str, tone: str, stream: TextIO | None = None) -> str:
    """Return text in a colour if the stream is a terminal with colours and NO_COLOR is not set."""
    stream = stream or sys.stdout
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{COLORS[tone]}m{text}\x1b[0m" if wanted and stream.isatty() else text


def result(text: str = "") -> None:
    """Print a line of the result, which may hold colours of ours."""
    print(encodable(text))


def wrapped(text: str, first: int = 0, rest: int = 0) -> None:
    """Print a result, wrapped to the terminal; ``first`` and ``rest`` are indents of its lines."""
    wrapper = textwrap.TextWrapper(
        width(), initial_indent=" " * first, subsequent_indent=" " * rest
    )
    print(wrapper.fill(printable(text)))


def written(path: str) -> None:
    """Print which file was written."""
    result(f"{'Written':<{INDENT}}{path}")


def note(text: str) -> None:
    """Print a line about the work to stderr."""
    for line in textwrap.wrap(_encodable(text), width(), subsequent_indent="  ") or [""]:
        print(paint(line, "dim", sys.stderr), file=sys.stderr, flush=True)


@contextmanager
def warnings_noted() -> Iterator[list[str]]:
    """Print the warnings of a block to stderr, each once; yields the list that they come to."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)  # for programmers
        yield texts
    texts += dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    for text in texts:
        note(text)


def error(text: str) -> None:
    """Print why the command cannot go on, wrapped where a terminal would cut words."""
    for line in f"certus: {_encodable(text)}".splitlines():
        fits = not sys.stderr.isatty() or len(line) <= width()
        for part in [line] if fits else textwrap.wrap(line, width(), subsequent_indent="  "):
            print(part, file=sys.stderr)


def _encodable(text: str) -> str:
    encoding = sys.stderr.encoding or "ascii"
    return printable(text, encoding)


def explained(text: str, skip: tuple[str, ...] = ()) -> None:
    """Print an ``explain()``, wrapped below its labels, without the lines of some labels."""
    first, *lines = text.splitlines()
    tone = "good" if first.startswith("[OK]") else "bad" if first.startswith("[!!]") else "poor"
    for line in textwrap.wrap(printable(first), width(), subsequent_indent=" " * indent()):
        print(paint(line, tone))
    for line in lines:
        if not line.startswith(skip):
            wrapped(line, rest=indent())


def json_result(kind: str, values: Mapping[str, object]) -> None:
    """Print one JSON object; numbers that are not finite become text."""
    document = {"schema_version": SCHEMA_VERSION, "kind": kind, **values}
    print(json.dumps(_plain(document), ensure_ascii=True, indent=2, allow_nan=False))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        if set(value) == {"$float"}:  # as model files write inf and NaN
            return value["$float"]
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
