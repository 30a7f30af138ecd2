"""The tests that CI runs: those that once failed, and about 200 of the others."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .outcome import Summary

FILE = Path(__file__).parent / "subset.txt"
OTHERS = "# others, chosen by a hash of their names"
COUNT = 200
SECONDS = 1.0  # a test that takes longer is left to the campaign


def read() -> list[str]:
    """Return the tests in ``subset.txt``."""
    return [line for line in FILE.read_text().splitlines() if line and line[0] != "#"]


def write(summary: Summary) -> None:
    """Choose the others anew from the tests that passed; the earlier failures stay."""
    earlier = FILE.read_text().partition(OTHERS)[0]
    kept = set(earlier.splitlines())
    able = [test for test, seconds in summary.passed.items() if seconds < SECONDS]
    chosen = sorted(sorted(set(able) - kept, key=_hash)[:COUNT])
    FILE.write_text("\n".join([earlier.rstrip("\n"), OTHERS, *chosen, ""]))


def _hash(test: str) -> bytes:
    return hashlib.sha256(test.encode()).digest()
