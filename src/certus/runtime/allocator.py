"""Memory that a pass frees stays with the process until its end.

A block's temporaries have a few MB. Where the C library returns what is freed to the system at
once, each block gets fresh pages, which the system clears first. Dask asks for that on its workers
(``MALLOC_TRIM_THRESHOLD_``): a logistic fit to 1,000,000 × 16 then took 0.134 s of CPU time instead
of 0.077. So the thresholds are raised while calls run, and are what they were before afterwards.
"""

import ctypes
import os
import sys
import threading
from typing import Any

# numbers of glibc's mallopt
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
TRIM_VARIABLE, MMAP_VARIABLE = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
KEPT_BYTES = 1 << 26  # of freed memory, which the threads of a worker use again
MAX_REUSED_BYTES = 1 << 23  # of one array; larger ones come from the system, and return there
DEFAULT_MMAP_BYTES = 1 << 17  # glibc's


class KeptMemory:
    """The thresholds are raised from the first entry to the last exit, if they were lowered."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.entries = 0
        self.trim = _lowered_threshold()
        self.library: Any = None  # glibc, once it was needed

    def __enter__(self) -> None:
        if self.trim is None:
            return
        with self.lock:
            self.entries += 1
            if self.entries == 1:
                self._set(KEPT_BYTES, MAX_REUSED_BYTES)

    def __exit__(self, *_: object) -> None:
        if self.trim is None:
            return
        with self.lock:
            self.entries -= 1
            if self.entries == 0:
                self._set(self.trim, _number(MMAP_VARIABLE) or DEFAULT_MMAP_BYTES)

    def _set(self, trim: int, mmap: int) -> None:
        if self.library is None:
            self.library = ctypes.CDLL(None)
        mallopt = getattr(self.library, "mallopt", None)
        if mallopt is not None:
            mallopt(M_TRIM_THRESHOLD, trim)
            mallopt(M_MMAP_THRESHOLD, mmap)


def _lowered_threshold() -> int | None:
    """Return the threshold that the environment sets; None: the C library chooses by itself."""
    found = _number(TRIM_VARIABLE) if sys.platform == "linux" else None
    return found if found is not None and found < KEPT_BYTES else None


def _number(variable: str) -> int | None:
    value = os.environ.get(variable, "")
    return int(value) if value.isdigit() else None


kept_memory = KeptMemory()
