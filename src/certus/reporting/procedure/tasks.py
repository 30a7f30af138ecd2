"""A task of the procedure: the choice and the refit on all rows, or an outer fold.

Tasks are functions of values that can be sent to other processes. Each runs on one thread: others
run beside it.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from ...runtime.config import config_context
from ...runtime.pool import blas_limiter
from .candidates.base import CandidateModel
from .choose import Tick, choose
from .encoding import Training
from .folds import Fold
from .outer import OuterFold, answered
from .refit import Refit, refitted


def run_task(
    fold: Fold | None, all_rows: Training, candidates: Sequence[CandidateModel], seed: int,
    on_scored: Tick, on_reference: Callable[[], None],
) -> OuterFold | Refit:  # fmt: skip
    """Return the answers of an outer fold; None: the model of all rows."""
    with quiet, one_thread():
        if fold is not None:
            return answered(all_rows, *fold, candidates, seed, on_scored, on_reference)
        return refitted(all_rows, choose(all_rows, candidates, seed, on_scored), seed)


@contextmanager
def one_thread() -> Iterator[None]:
    """Context in which certus, BLAS and OpenMP start no threads."""
    from threadpoolctl import threadpool_limits

    # BLAS has one setting for a process, whose tasks overlap; OpenMP has one for each thread
    with config_context(threads=1), blas_limiter, threadpool_limits(1, user_api="openmp"):
        yield


class _Quiet:
    """Context without warnings, from the first entry to the last exit of a process's tasks.

    Warnings of single fits are not shown: the certificates of the kept models are.
    """

    def __init__(self) -> None:
        self.lock, self.entries = Lock(), 0
        self.caught = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self.lock:
            if self.entries == 0:
                self.caught = warnings.catch_warnings()
                self.caught.__enter__()
                warnings.simplefilter("ignore")
            self.entries += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.entries -= 1
            if self.entries == 0:
                self.caught.__exit__(None, None, None)


quiet = _Quiet()
