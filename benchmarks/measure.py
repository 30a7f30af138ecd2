"""The three measurements: seconds of a call, peak memory of a call, and the machine they ran on.

Seconds are taken round-robin, one call of each contestant per round with a rotating first, and the
best of all rounds counts. A contestant that has used up its budget of seconds sits out the rounds
after the second. Round-robin spreads noise over all contestants, but they do not suffer alike:
on two busy cores, Ridge on a two-thread OpenBLAS took 3 to 14 times as long as on one thread. So
the CPU time that other processes took is measured too, and a row that had to share says so.
"""

import contextlib
import ctypes
import importlib
import importlib.metadata
import math
import os
import platform
import sys
import time
from pathlib import Path

from benchmarks.fresh_process import available_cpus

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
CPUS = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
REST = 0.1  # seconds: threads of a library that just ran go on spinning for a while


def seconds_of(call):
    """(seconds, result) of call(), free to run on every CPU: some libraries pin the thread that
    imports them to one, where all that run after them would stay."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, CPUS)
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def round_robin(timed_calls, repeats, budget):
    """Seconds of every round of each contestant: {name: [seconds, …]}.

    timed_calls: {name: function() → seconds}. Each runs at most `repeats` times, and after the
    second not again once another round would pass `budget` seconds. One that fails (an infinite
    time) does not run again.
    """
    seconds = {name: [] for name in timed_calls}
    names = list(timed_calls)
    last = 0.0
    for round_number in range(repeats):
        first = round_number % max(len(names), 1)
        for name in names[first:] + names[:first]:
            spent = seconds[name]
            within_budget = len(spent) < 2 or sum(spent) + min(spent) <= budget
            if within_budget and math.inf not in spent:
                time.sleep(REST if last > REST / 10 else 0.0)
                last = timed_calls[name]()
                spent.append(last)
    return seconds


class OtherProcesses:
    """CPUs that other processes kept busy since this object was made, of those we may run on."""

    def __init__(self):
        self.wall, self.busy, self.own = time.perf_counter(), busy_seconds(), own_cpu_seconds()

    def cpus_used(self):
        """None where the system does not tell."""
        if self.busy is None:
            return None
        others = (busy_seconds() - self.busy) - (own_cpu_seconds() - self.own)
        return max(others, 0.0) / (time.perf_counter() - self.wall)


def busy_seconds():
    """Seconds that our CPUs were not idle since the system started, None where it is not told."""
    ours = {f"cpu{number}" for number in available_cpus()}
    try:
        lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    except OSError:
        return None
    # user nice system idle iowait irq softirq steal; guest time is in user already
    ticks = (list(map(int, fields[1:9])) for fields in lines if fields[0] in ours)
    return sum(sum(t) - t[3] - t[4] for t in ticks) / os.sysconf("SC_CLK_TCK")


def own_cpu_seconds():
    """CPU seconds of this process and of the children it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def extra_memory_of(call):
    """(bytes, method) by which the process grew at the peak of call(), bytes None if unknown.

    Linux: the kernel's high-water mark of resident memory, reset before the call. Elsewhere: the
    growth of the highest mark since the process began, which is a lower bound.
    """
    if reset_high_water_mark():
        before = kilobytes("VmRSS")
        call()
        return 1024 * max(kilobytes("VmHWM") - before, 0), "high-water mark of the call"
    try:
        import resource
    except ImportError:  # Windows
        return None, "not available"
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return unit * (after - before), "growth of the process's peak (lower bound)"


def reset_high_water_mark():
    """Set VmHWM to the memory in use now; False where the kernel does not offer it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # freed memory still resident would be reused, unseen
    try:
        CLEAR_REFS.write_text("5")
    except OSError:
        return False
    return True


def kilobytes(field):
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise LookupError(f"{STATUS} has no {field}")


def machine():
    """What the numbers depend on, and nothing that names a host, a user or a path."""
    return {
        "cpu": cpu_name(),
        "cores": len(available_cpus()),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "blas": blas_libraries(),
    }


def cpu_name():
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def blas_libraries():
    """Name, version and kernel of each BLAS that NumPy and SciPy load."""
    import scipy.linalg  # noqa: F401  SciPy brings a BLAS of its own
    from threadpoolctl import threadpool_info

    fields = ("internal_api", "version", "architecture")
    loaded = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    return sorted({" ".join(str(lib.get(field)) for field in fields) for lib in loaded})


def version_of(distribution, package):
    """Version of an installed library, or of one that is merely on the path; None if absent."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(distribution)
    try:
        return getattr(importlib.import_module(package), "__version__", None)
    except ImportError:
        return None
