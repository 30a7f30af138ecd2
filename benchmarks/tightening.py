"""The loosest tolerance at which a contestant's answer is within the row's excess limit.

A tol means something else to every solver, so that seconds at equal tol say nothing. Contestants
with a ladder of tolerances walk down it, untimed, until

    F(θ) − F_best ≤ excess_limit · |F_best|

with F_best the lowest objective of all fits of the row, a tight reference among them. It can fall
while the others walk: then those who stood still are asked again, until nobody has to move. Who
comes to the end of the ladder, or would take longer than PATIENCE for a fit, did not reach the
limit; the seconds of the last fit stand, and the tables mark them.
"""

import contextlib
import signal
import sys

import numpy as np

from benchmarks.entry import empty_cell, iterations_of

REFERENCE_TOL = 1e-12
PATIENCE = 60.0  # seconds of one fit; compiled loops cannot be interrupted and end by max_iter


class TookTooLong(BaseException):
    """No Exception, so that neither a solver nor the entry takes it for a failure."""


def tighten(entries, objective, reference=None, best=np.inf):
    """Choose the tol of every entry; (F_best, {name: [seconds]} of those who did not reach it)."""
    if reference is not None:
        _, model = fit_with_patience(reference, REFERENCE_TOL)
        best = best if model is None else min(best, float(objective(model)))
    walks = {name: Walk(entry) for name, entry in entries.items()}
    moving = True
    while moving:
        moving = False
        for walk in walks.values():
            if walk.must_go_on(best):
                walk.step(objective, best)
                best = min(best, walk.objective)
                moving = True
    behind = {name: walk for name, walk in walks.items() if not walk.is_within(best)}
    for walk in behind.values():
        walk.entry.model = walk.model
    return best, {name: [walk.seconds] for name, walk in behind.items()}


def relative_excess(objective, best):
    return (objective - best) / max(abs(best), np.finfo(float).tiny)


class Walk:
    """One entry on its ladder: the fit at the rung where it stands."""

    def __init__(self, entry):
        self.entry = entry
        self.rungs_below = list(entry.contestant.tolerances or [entry.row.tol])
        self.seconds, self.model, self.objective = 0.0, None, np.inf

    def is_within(self, best):
        excess = relative_excess(self.objective, best) if np.isfinite(best) else np.inf
        return excess <= self.entry.row.excess_limit

    def must_go_on(self, best):
        return bool(self.rungs_below) and not self.is_within(best)

    def step(self, objective, best):
        """Fit at the next rung; one that takes too long or fails is the last, and not stood on."""
        tol, rung_before = self.rungs_below.pop(0), self.entry.row
        seconds, model = fit_with_patience(self.entry, tol)
        if model is None:
            self.rungs_below, self.entry.row = [], rung_before
            if self.model is None and not self.entry.cell["skipped"]:
                self.entry.drop_out(empty_cell("took too long"))
            return
        self.seconds, self.model, self.objective = seconds, model, float(objective(model))
        excess = relative_excess(self.objective, min(best, self.objective))
        report(self.entry, tol, f"{seconds:.3g} s, {iterations_of(model)} iterations, {excess:.1e}")


def fit_with_patience(entry, tol):
    """(seconds, model) at this tol; (inf, None) if it took too long or failed."""
    try:
        with time_limit(PATIENCE):
            return entry.fit_at(tol)
    except TookTooLong:
        report(entry, tol, "took too long")
        return np.inf, None


def report(entry, tol, what):
    name = f"{entry.row.name}, {entry.contestant.name}"
    print(f"  {name}: tol {tol or 'default'}, {what}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def time_limit(seconds):
    """TookTooLong in the block after so many seconds, where the system has an alarm."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number, frame):
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
