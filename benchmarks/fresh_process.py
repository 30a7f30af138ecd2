"""Call a function in a fresh Python process, pinned to as many CPUs as it may use.

Import times, peak memory and thread limits are properties of a process: none can be measured twice
in the same one. Pinning is the one thread limit that every library obeys (OpenBLAS, OpenMP, TBB
and Numba all count the CPUs they may run on when they load), so it is set before anything else is
imported. Where the system has no affinity, environment variables limit what they can.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class FreshProcessFailed(RuntimeError):
    """The process ended without an answer: killed, out of memory, or an exception (on stderr)."""


def call_in_fresh_process(function, *args, threads=None):
    """function(*args) in a fresh process; both travel by pickle, functions by their import path."""
    environment = environment_for(threads)
    command = [sys.executable, "-m", "benchmarks.fresh_process", str(threads or 0)]
    done = subprocess.run(
        command, input=pickle.dumps((function, args)), stdout=subprocess.PIPE, env=environment
    )
    if done.returncode != 0:
        raise FreshProcessFailed(f"{function.__name__} ended with exit code {done.returncode}")
    return pickle.loads(done.stdout)


def environment_for(threads):
    """This process's environment, with the repository importable and the thread limits set."""
    environment = dict(os.environ)
    search = [str(REPOSITORY), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, search))
    if threads is not None:
        environment.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    return environment


def available_cpus():
    """The CPUs this process may run on, as a sorted list of their numbers."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pin_to(threads):
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, available_cpus()[:threads])


def answer_the_parent():
    """Read (function, args) from stdin, write the result to stdout."""
    pin_to(int(sys.argv[1]))
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not end up inside the answer
    function, args = pickle.load(sys.stdin.buffer)
    with answer:
        pickle.dump(function(*args), answer)


if __name__ == "__main__":
    answer_the_parent()
