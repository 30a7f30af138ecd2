"""Progress on stderr: one line that is rewritten on a terminal, a few lines elsewhere."""

import sys
import threading
import time
from typing import TextIO

from ..text.format import printable
from . import output

LEAST_SECONDS = {True: 0.2, False: 15.0}  # between two lines; on a terminal, and elsewhere
SECONDS_BEFORE_GUESSING = 3.0  # of work, and MIN_SHARE of it, until a time left is printed
MIN_SHARE = 0.03


class ProgressLine:
    """Prints what is being done, and about how long it will take."""

    def __init__(self, stream: TextIO | None = None):
        self.stream = stream or sys.stderr
        self.is_terminal = self.stream.isatty()
        self.began = self.shown = time.monotonic()
        self.width, self.of = 0, 0
        self.lock = threading.Lock()

    def step(self, name: str, done: int, of: int) -> None:
        """``name`` is being done now; ``done`` of ``of`` units lie behind (0 of 0: unknown)."""
        with self.lock:
            now = time.monotonic()
            if of != self.of:
                self.of, self.began = of, now
            if now - self.shown >= LEAST_SECONDS[self.is_terminal]:
                self.shown = now
                self._print(f"{name}{self._left(done, of, now - self.began)}")

    def note(self, text: str) -> None:
        """Print a line that stays."""
        with self.lock:
            self._clear()
            output.note(text)

    def _left(self, done: int, of: int, passed: float) -> str:
        """The share that is done, and the time left."""
        if not of:
            return " …"
        share = f" · {100 * done // of} %"
        if done < MIN_SHARE * of or passed < SECONDS_BEFORE_GUESSING:
            return share
        return f"{share} · about {duration(passed * (of - done) / done)} left"

    def _print(self, text: str) -> None:
        text = printable(text, self.stream.encoding or "ascii")
        if self.is_terminal:
            text = text[: output.width() - 1]
            print(f"\r{text:<{self.width}}", end="", file=self.stream, flush=True)
            self.width = len(text)
        else:
            print(text, file=self.stream, flush=True)

    def close(self) -> None:
        """Remove the line from the terminal."""
        with self.lock:
            self._clear()

    def _clear(self) -> None:
        if self.is_terminal and self.width:
            print(f"\r{'':<{self.width}}\r", end="", file=self.stream, flush=True)
            self.width = 0


def duration(seconds: float) -> str:
    """40 s, 3 min, 2 h: rounded up.

    >>> duration(0.4), duration(61), duration(7300)
    ('1 s', '2 min', '3 h')
    """
    for unit, size, most in (("s", 1, 60), ("min", 60, 3600)):
        if seconds <= most:
            return f"{max(1, -(-seconds // size)):.0f} {unit}"
    return f"{-(-seconds // 3600):.0f} h"
