"""Trials in worker processes: one that hangs is ended and counted, and the campaign goes on."""

import multiprocessing
import os
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from .trials import Outcome, run, trial

Case = tuple[int, str | None, str | None]  # seed, target, generator


def outcome_of(case: Case, edits: bool) -> Outcome:
    """The outcome of one case; whatever the judge raises is its own fault, and told."""
    t = trial(*case)
    try:
        outcome, model = run(t)
        if edits and model is not None and outcome.certified and not outcome.faults:
            from .edits import attack

            attack(t, model, outcome)
    except Exception:
        text = traceback.format_exc(limit=-4)
        return Outcome(case[0], t.target.name, str(t), crash=f"in the judge: {text}")
    return outcome


def _work(pipe: Connection, edit_every: int) -> None:
    pipe.send(None)  # everything is imported
    while True:
        case = pipe.recv()
        if case is None:
            return
        pipe.send(outcome_of(case, edit_every > 0 and case[0] % edit_every == 0))


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    case: Case | None = None
    since: float = 0.0


class Campaign:
    """``jobs`` worker processes; a trial may take ``limit`` seconds.

    ``edit_every``: one trial in so many is followed by edits of its fitted model.
    """

    def __init__(self, jobs: int = 1, limit: float = 60.0, edit_every: int = 4):
        self.context = multiprocessing.get_context("spawn")
        self.limit, self.edit_every = limit, edit_every
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # of each worker
        self.workers = [self._new() for _ in range(jobs)]

    def _new(self) -> _Worker:
        here, there = self.context.Pipe()
        process = self.context.Process(target=_work, args=(there, self.edit_every), daemon=True)
        process.start()
        there.close()
        here.recv()  # time counts from here
        return _Worker(process, here)

    def outcomes(self, cases: Iterable[Case], seconds: float) -> Iterator[Outcome]:
        """Outcomes as they come, until the cases or the time are used up."""
        todo, ends = iter(cases), time.monotonic() + seconds
        for worker in self.workers:
            self._next(worker, todo)
        while any(worker.case is not None for worker in self.workers):
            busy = [worker for worker in self.workers if worker.case is not None]
            ready = wait([worker.pipe for worker in busy], timeout=min(1.0, self.limit))
            late = time.monotonic() > ends
            for i, worker in enumerate(self.workers):
                if worker.case is None:
                    continue
                if worker.pipe in ready:
                    yield self._answer(i)
                elif time.monotonic() - worker.since > self.limit:
                    yield self._hung(i)
                else:
                    continue
                if not late:
                    self._next(self.workers[i], todo)

    def _next(self, worker: _Worker, todo: Iterator[Case]) -> None:
        worker.case = next(todo, None)
        worker.since = time.monotonic()
        if worker.case is not None:
            worker.pipe.send(worker.case)

    def _answer(self, i: int) -> Outcome:
        worker = self.workers[i]
        case, worker.case = worker.case, None
        assert case is not None
        try:
            outcome: Outcome = worker.pipe.recv()
        except EOFError:  # the process is gone
            self.workers[i] = self._new()
            return Outcome(case[0], case[1] or "", str(case), crash="the process died")
        return outcome

    def _hung(self, i: int) -> Outcome:
        case = self.workers[i].case
        assert case is not None
        self.workers[i].process.kill()
        self.workers[i] = self._new()
        t = trial(*case)
        return Outcome(case[0], t.target.name, str(t), status="over the time limit")

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill()
