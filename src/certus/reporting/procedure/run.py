"""The procedure: choose and refit on all rows, and score the whole choice on outer folds.

The tasks, one for all rows and one for each outer fold, run in parallel; their answers do not
depend on how many do. Ctrl-C leaves those that are done.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from ...exceptions import TableError
from ...runtime.config import config_context, effective_threads
from ..prepared import Prepared
from ..settings import Settings
from .assemble import assembled
from .budget import UNITS_PER_SECOND, Plan, plan_for
from .candidates.base import CandidateModel
from .choose import choose
from .encoding import Training
from .folds import kept_together, n_outer, split, strata_of
from .outer import OuterFold, answered
from .progress import Progress, Silent
from .refit import Refit, refitted
from .result import ProcedureResult

# with 150 rows and 5 columns two threads take twice as long as one: Python runs one at a time
MIN_CELLS_IN_PARALLEL = 20_000

Task = Callable[[], OuterFold | Refit]


def run_procedure(
    prepared: Prepared, settings: Settings, progress: Progress | None = None
) -> ProcedureResult:
    """Choose, score, refit and certify.

    Raises ``TableError`` where there are too few rows for any fold. A KeyboardInterrupt ends the
    work; with a refitted model and an outer fold at hand the result is what was finished, with
    ``stopped`` set, else the interrupt is raised again.
    """
    began = time.perf_counter()
    together, sentence = kept_together(prepared)
    folds = split(
        n_outer(prepared, together), strata_of(prepared), together, prepared.times, settings.seed
    )
    all_rows = Training.of(prepared, together)
    folds = [fold for fold in folds if _can_train(all_rows, fold[0])]
    if not folds:
        raise TableError("no part of the rows can be held out: the others lack a class")
    plan = plan_for(prepared, settings, len(folds))
    meter = _Meter(progress or Silent(), plan, len(folds))
    tasks: list[Task] = [partial(_refit, all_rows, plan, settings.seed, meter)]
    tasks += [partial(_outer, all_rows, fold, plan, settings.seed, meter) for fold in folds]
    done: dict[int, OuterFold | Refit] = {}
    stopped = False
    with _quiet(), _one_thread():
        try:
            for i, found in _in_parallel(tasks, tasks_at_a_time(prepared, settings)):
                done[i] = found  # noqa: PERF403  # an interrupt keeps those that are done
        except KeyboardInterrupt:
            stopped = True
            if 0 not in done or len(done) < 2:
                raise
    refit = done.pop(0)
    outer = [done[i] for i in sorted(done)]
    assert isinstance(refit, Refit)
    seconds = {"choice, refit and outer folds": time.perf_counter() - began}
    return assembled(
        prepared, settings, plan, together, sentence, refit,
        [fold for fold in outer if isinstance(fold, OuterFold)], len(folds), stopped, seconds,
    )  # fmt: skip


def tasks_at_a_time(prepared: Prepared, settings: Settings) -> int:
    """How many tasks run side by side; one where a fit is so short that threads only wait."""
    if prepared.n * len(prepared.columns) < MIN_CELLS_IN_PARALLEL:
        return 1
    return settings.threads or effective_threads()


def _can_train(all_rows: Training, rows: np.ndarray) -> bool:
    return all_rows.task == "numbers" or len(np.unique(all_rows.target[rows])) > 1


@contextmanager
def _one_thread() -> Iterator[None]:
    """Tasks run side by side: none of them starts threads of its own."""
    from threadpoolctl import threadpool_limits

    with config_context(threads=1), threadpool_limits(1):
        yield


def _refit(all_rows: Training, plan: Plan, seed: int, meter: "_Meter") -> Refit:
    with _one_thread():
        choice = choose(all_rows, plan.candidates, seed, meter.scored)
        return refitted(all_rows, choice, seed)


def _outer(
    all_rows: Training, fold: tuple[np.ndarray, np.ndarray], plan: Plan, seed: int, meter: "_Meter"
) -> OuterFold:
    with _one_thread():
        return answered(all_rows, *fold, plan.candidates, seed, meter.scored, meter.reference)


def _in_parallel(tasks: list[Task], n_threads: int) -> Iterator[tuple[int, OuterFold | Refit]]:
    """Results with the places of their tasks, as they are finished."""
    from joblib import Parallel, delayed

    if n_threads == 1:
        for i, task in enumerate(tasks):
            yield i, task()
        return
    pool = Parallel(n_jobs=n_threads, backend="threading", return_as="generator_unordered")
    found: Iterable[tuple[int, OuterFold | Refit]] = pool(
        delayed(_numbered)(i, task) for i, task in enumerate(tasks)
    )
    yield from found


def _numbered(i: int, task: Task) -> tuple[int, OuterFold | Refit]:
    return i, task()


@contextmanager
def _quiet() -> Iterator[None]:
    """Warnings of single fits are not shown: the certificates of the kept models are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Meter:
    """Counts the work of all tasks, and reports it."""

    def __init__(self, progress: Progress, plan: Plan, n_outer: int):
        from threading import Lock

        self.progress, self.plan = progress, plan
        self.of, self.done, self.lock = plan.units(n_outer), 0, Lock()

    def scored(self, candidate: CandidateModel) -> None:
        """A candidate was scored on an inner fold."""
        self._add(candidate.name, self.plan.costs[candidate.key])

    def reference(self) -> None:
        """The reference was fitted on an outer fold."""
        self._add("boosted trees, for reference", self.plan.reference)

    def _add(self, name: str, seconds: float) -> None:
        with self.lock:
            self.done = min(self.of, self.done + max(1, round(seconds * UNITS_PER_SECOND)))
            self.progress.step(name, self.done, self.of)
