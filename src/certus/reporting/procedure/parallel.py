"""Tasks side by side: on threads, or where a back end of joblib that the user entered runs them.

    with joblib.parallel_config(backend="dask"):
        certus.report(…)

A task that runs elsewhere is given its rows and returns its answers; what it is doing meanwhile is
not known here.
"""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from ...engines.workers import (
    REMEDY,
    Versions,
    differences,
    require_equal_workers,
    versions,
)
from ...exceptions import WorkersDifferError
from .candidates.base import CandidateModel
from .choose import Tick
from .encoding import Training
from .folds import Fold
from .outer import OuterFold
from .refit import Refit
from .tasks import run_task

# the numbers of a report depend on them
PACKAGES = ("certus", "numpy", "scipy", "numba", "scikit-learn", "pyarrow")

Numbered = tuple[int, OuterFold | Refit]


def run_on_threads(
    folds: Sequence[Fold | None], all_rows: Training, candidates: Sequence[CandidateModel],
    seed: int, n_threads: int, on_scored: Tick, on_reference: Callable[[], None],
) -> Iterator[Numbered]:  # fmt: skip
    """Yield results with the places of their folds, as they are finished."""
    from joblib import Parallel, delayed

    given = all_rows, candidates, seed, on_scored, on_reference
    if n_threads == 1:
        for i, fold in enumerate(folds):
            yield i, run_task(fold, *given)
        return
    pool = Parallel(n_jobs=n_threads, backend="threading", return_as="generator_unordered")
    yield from pool(delayed(_numbered)(i, fold, *given) for i, fold in enumerate(folds))


def _numbered(i: int, *args: Any) -> Numbered:
    return i, run_task(*args)


def entered_backend() -> Any | None:
    """Return the joblib back end that the user entered; None for threads of this process."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return None if getattr(backend, "supports_sharedmem", False) else backend


def run_on_backend(
    backend: Any, folds: Sequence[Fold | None], all_rows: Training,
    candidates: Sequence[CandidateModel], seed: int, n_jobs: int,
) -> Iterator[Numbered]:  # fmt: skip
    """Yield results with the places of their folds, as they are finished.

    ``n_jobs``: tasks at a time, where neither the back end nor ``parallel_config`` sets them.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    here = versions(PACKAGES)
    client = getattr(backend, "client", None)  # of Dask: workers are compared before the work
    if client is not None:
        require_equal_workers(client, PACKAGES)
    unordered = backend.supports_return_generator
    pool = Parallel(
        n_jobs=get_active_backend()[1] or n_jobs,
        batch_size=1,
        pre_dispatch="n_jobs",  # after Ctrl-C no others start
        return_as="generator_unordered" if unordered else "list",
    )
    # rows as arguments of their own: Dask sends each of them once, not with every task
    found = pool(
        delayed(_elsewhere)(here, i, fold, candidates, seed, **vars(all_rows))
        for i, fold in enumerate(folds)
    )
    if not unordered:
        yield from found
        return
    with closing(found):  # what is left of the tasks is cancelled
        yield from found


def _elsewhere(
    expected: Versions, i: int, fold: Fold | None, candidates: Sequence[CandidateModel],
    seed: int, **rows: Any,
) -> Numbered:  # fmt: skip
    """Run a task in another process, whose packages must be those of the report's."""
    found = differences(versions(PACKAGES), expected)
    if found:
        raise WorkersDifferError(
            f"The worker {os.getpid()} on {platform.node()} has {found}. {REMEDY}"
        )
    return i, run_task(fold, Training(**rows), candidates, seed, _ignored, _ignored)


def _ignored(*_: object) -> None:
    """Report nothing: no progress is seen from here."""
