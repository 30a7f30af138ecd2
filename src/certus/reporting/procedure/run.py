"""The procedure: choose and refit on all rows, and score the whole choice on outer folds.

The tasks, one for all rows and one for each outer fold, run in parallel; their answers do not
depend on how many do, nor on where. Ctrl-C leaves those that are done.
"""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from ...exceptions import TableError
from ...runtime.config import effective_threads
from ..prepared import Prepared
from ..settings import Settings
from .assemble import assembled
from .budget import Plan, plan_for, units_of
from .candidates.base import CandidateModel
from .encoding import Training
from .folds import Fold, kept_together, n_outer, split, strata_of
from .outer import OuterFold
from .parallel import entered_backend, run_on_backend, run_on_threads
from .progress import Progress, Silent
from .refit import Refit
from .result import ProcedureResult
from .tasks import one_thread, quiet

# with 150 rows and 5 columns two threads take twice as long as one: Python runs one at a time
MIN_CELLS_IN_PARALLEL = 20_000


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
    given = (None, *folds), all_rows, plan.candidates, settings.seed
    done: dict[int, OuterFold | Refit] = {}
    stopped = False
    with quiet, one_thread():
        try:
            for i, found in _results(prepared, settings, meter, *given):
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


def _results(
    prepared: Prepared, settings: Settings, meter: "_Meter", folds: Sequence[Fold | None],
    all_rows: Training, candidates: Sequence[CandidateModel], seed: int,
) -> Iterator[tuple[int, OuterFold | Refit]]:  # fmt: skip
    """Yield the results of all folds, from wherever the user wants them to run."""
    n_threads = settings.threads or effective_threads()
    backend = entered_backend()
    if backend is None:
        if prepared.n * len(prepared.columns) < MIN_CELLS_IN_PARALLEL:
            n_threads = 1
        yield from run_on_threads(
            folds, all_rows, candidates, seed, n_threads, meter.scored, meter.reference
        )
        return
    for i, found in run_on_backend(backend, folds, all_rows, candidates, seed, n_threads):
        yield i, found
        meter.finished(i, len(folds) - 1)


def _can_train(all_rows: Training, rows: np.ndarray) -> bool:
    return all_rows.task == "numbers" or len(np.unique(all_rows.target[rows])) > 1


class _Meter:
    """Counts the work of all tasks, and reports it."""

    def __init__(self, progress: Progress, plan: Plan, n_outer: int):
        from threading import Lock

        self.progress, self.plan = progress, plan
        self.of, self.done, self.lock = plan.units(n_outer), 0, Lock()

    def scored(self, candidate: CandidateModel) -> None:
        """A candidate was scored on an inner fold."""
        self._add(candidate.name, units_of(self.plan.costs[candidate.key]))

    def reference(self) -> None:
        """The reference was fitted on an outer fold."""
        self._add("boosted trees, for reference", units_of(self.plan.reference))

    def finished(self, i: int, n_outer: int) -> None:
        """A task was finished elsewhere: that of all rows (0), or of an outer fold."""
        if i == 0:
            self._add("the choice on all rows is done", self.plan.refit_units)
        else:
            self._add(f"outer fold {i} of {n_outer} is done", self.plan.outer_units)

    def _add(self, name: str, units: int) -> None:
        with self.lock:
            self.done = min(self.of, self.done + units)
            self.progress.step(name, self.done, self.of)
