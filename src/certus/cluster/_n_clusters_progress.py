"""Progress of ``choose_n_clusters``: a callback, or a line on a terminal or in a notebook."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ..text.format import printable

SECONDS_OF_SILENCE = 1.0  # before the first line, so that quick calls print nothing
SECONDS_BETWEEN_LINES = 0.3
MIN_SHARE = 0.05  # done, before a time left is printed


class Stopped(Exception):
    """Raised in a task whose callback returned True."""


class ScoringProgress:
    """Counts the steps that are done, and reports them."""

    def __init__(self, callback: Callable[[int, int], Any] | None):
        self.done, self.total = 0, 0
        self.lock = threading.Lock()
        self.line = _Line() if callback is None and _is_watched() else None
        self.callback = callback or (self.line.show if self.line is not None else None)

    def step(self) -> None:
        """Report that one more step is done; raise ``Stopped`` if the callback returns True."""
        with self.lock:
            self.done += 1
            if self.callback is not None and self.callback(self.done, self.total) is True:
                raise Stopped

    def where(self) -> str:
        """Return how far it came."""
        return f"after {self.done:,} of {self.total:,} steps"

    def __enter__(self) -> "ScoringProgress":
        return self

    def __exit__(self, *_: object) -> None:
        if self.line is not None:
            self.line.clear()


class _Line:
    """A line on standard error that is rewritten, and removed at the end."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.next, self.width = self.began + SECONDS_OF_SILENCE, 0

    def show(self, done: int, of: int) -> None:
        now = time.monotonic()
        if now < self.next or sys.stderr is None:
            return
        self.next = now + SECONDS_BETWEEN_LINES
        left = (now - self.began) * (of - done) / done
        time_left = f", about {left + 0.5:.0f} s left" if done >= MIN_SHARE * of else ""
        text = f"choose_n_clusters: {done} of {of} steps{time_left} (Ctrl-C keeps what there is)"
        text = printable(text, sys.stderr.encoding)
        print(f"\r{text:<{self.width}}", end="", file=sys.stderr, flush=True)
        self.width = len(text)

    def clear(self) -> None:
        if self.width and sys.stderr is not None:
            print(f"\r{'':<{self.width}}\r", end="", file=sys.stderr, flush=True)
            self.width = 0


def _is_watched() -> bool:
    """Whether standard error is a terminal or the output of a notebook's cell."""
    stream = sys.stderr
    if stream is None:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")
