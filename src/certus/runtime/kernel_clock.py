"""Time that this process spends on kernels before they run, and what people are told of it.

Importing the compiler, compiling kernels and loading them from disk is paid once, by whatever fit
comes first, so traces of fits leave it out. A person at a terminal or in a notebook is told when
compiling begins, and how long it took.
"""

import sys
import threading
import time


class KernelClock:
    """Clock that runs while at least one thread imports, loads or compiles kernels."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries, self._since, self._total = 0, 0.0, 0.0
        self._announced = False
        self._compiled, self._reported = 0.0, 0.0  # seconds of compiling; those that were told

    def __enter__(self) -> None:
        with self._lock:
            if self._entries == 0:
                self._since = time.perf_counter()
            self._entries += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entries -= 1
            if self._entries == 0:
                self._total += time.perf_counter() - self._since

    def seconds(self) -> float:
        """Return the seconds spent so far."""
        with self._lock:
            running = time.perf_counter() - self._since if self._entries else 0.0
            return self._total + running

    def now(self) -> float:
        """Return a time in seconds that stands still while the clock runs."""
        return time.perf_counter() - self.seconds()

    def compiling(self, kernel: str) -> None:
        """Tell a person, once, that kernels are being compiled, beginning with this one."""
        if not self._announced:
            self._announced = True
            _tell(
                f"Compiling kernels for this CPU, beginning with {kernel}: seconds to tens of "
                "seconds, once…"
            )

    def compiled(self, seconds: float) -> None:
        """Count seconds of compiling, which ``report`` tells."""
        self._compiled += seconds

    def report(self) -> None:
        """Tell a person how long kernels were compiled since the last report, if they were."""
        seconds, self._reported = self._compiled - self._reported, self._compiled
        if seconds:
            _tell(f"Compiled in {seconds:.1f} s. `certus warm` compiles all kernels beforehand.")


def _tell(text: str) -> None:
    """Print to standard error if a person reads it: at a terminal, or in a notebook."""
    stream = sys.stderr
    if stream is None:
        return
    notebook = type(stream).__module__.partition(".")[0] == "ipykernel"
    if notebook or stream.isatty():
        print(text, file=stream)


kernel_clock = KernelClock()
