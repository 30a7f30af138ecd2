"""One benchmark row: the same data and the same problem for every library, in one process.

    seconds     best of several `.fit(X, y)`, round-robin; validation and certificate included
    excess      (F(θ) − F_best) / |F_best|, F evaluated by plain NumPy in float64 from the fitted
                coef_ and intercept_, F_best the lowest of all contestants in the row
    cold start  wall seconds of a fresh interpreter that imports the library and fits a small set
    memory      peak growth of a fresh process during one fit, as a multiple of the bytes of X
    ratio       a peer's seconds / the first contestant's: above 1, the first one is faster

A `Row` says what is fitted, a `Contestant` who fits it; neither knows the other. Both travel to
fresh processes by pickle, so their functions live at the top of a module.
"""

import contextlib
import gc
import importlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.entry import Entry, NotOffered, empty_cell
from benchmarks.fresh_process import (
    FreshProcessFailed,
    available_cpus,
    call_in_fresh_process,
    environment_for,
)
from benchmarks.measure import OtherProcesses, extra_memory_of, round_robin, seconds_of
from benchmarks.tightening import relative_excess, tighten

SMALL_SIDE, SMALL_OTHER_SIDE = 20, 200  # the cold-start data, tall or wide as the row's
LEAST_BYTES_FOR_MEMORY = 1_000_000  # below, pages and allocator slack drown what a fit needs


def always(model):
    return True


def no_context(threads):
    return contextlib.nullcontext()


@dataclass(frozen=True)
class Contestant:
    """A library with estimators under scikit-learn's names.

    Parameters
    ----------
    name : heading in the tables.
    package : what `import` takes; timed by the import row.
    module : where the estimators are, e.g. "sklearn.linear_model".
    distribution : name under which the version is looked up.
    ran_itself : function(fitted model) → bool; False if the library passed the work to another.
    context : function(threads or None) → context manager around every fit.
    params : constructor parameters of its own, such as a solver, over those of the row.
    tolerances : values of tol from loose to tight; the loosest that reaches the row's excess limit
        is used (tightening.py). Empty: the row's tol.
    """

    name: str
    package: str
    module: str
    distribution: str
    ran_itself: Callable = always
    context: Callable = no_context
    params: dict = field(default_factory=dict)
    tolerances: tuple[float, ...] = ()

    def new_model(self, row):
        try:
            module = importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            if error.name not in (self.package, self.module):
                raise  # the library is there and broken
            raise NotOffered from error
        estimator = getattr(module, row.estimator, None)
        if estimator is None:
            raise NotOffered
        return estimator(**row.constructor_params() | self.params)

    def timed_fit(self, row, X, y):
        """(seconds, fitted model) of one fit; the constructor is not timed, as it does nothing."""
        model = self.new_model(row)
        with self.context(row.threads):
            seconds, _ = seconds_of(lambda: model.fit(X, y))
        if not self.ran_itself(model):
            raise NotOffered
        return seconds, model


@dataclass(frozen=True)
class Options:
    """How much to measure: rounds per row, seconds per contestant, and the two slow columns."""

    repeats: int = 5
    budget: float = 20.0
    cold_start: bool = True
    memory: bool = True


@dataclass(frozen=True)
class Row:
    """One problem.

    Parameters
    ----------
    name : first column of the tables.
    estimator, params : class name and constructor parameters, the same for all contestants.
    objective : function(row, X, y) → function(model) → float, the F of the excess.
    generator : function(n, p, seed, dtype, order) → X, y.
    threads : CPUs the row may use; None is all there are.
    tol : stopping tolerance for the constructor; None is each library's default.
    excess_limit : above it, an answer does not count as the optimum and is marked.
    repeats : rounds, if not those of the options.
    without : names of contestants left out, for instance as far too slow.
    density : share of X that is stored; below 1, X is sparse.
    reference : contestant whose fit at REFERENCE_TOL, not timed, tells others how low F gets.
    least : the least F can be, where that is known, as for ratios to an optimum; no reference then.
    value : as `objective`: a number to report besides, where F is no value but, say, a distance.
    """

    name: str
    estimator: str
    n: int
    p: int
    objective: Callable
    generator: Callable
    params: dict = field(default_factory=dict)
    seed: int = 0
    dtype: str = "float64"
    order: str = "C"
    threads: int | None = None
    tol: float | None = None
    excess_limit: float = 1e-6
    repeats: int | None = None
    without: tuple[str, ...] = ()
    density: float = 1.0
    reference: Contestant | None = None
    least: float = np.inf
    value: Callable | None = None

    def constructor_params(self):
        return self.params if self.tol is None else self.params | {"tol": self.tol}

    def data(self):
        return self.generator(self.n, self.p, self.seed, np.dtype(self.dtype), self.order)

    def data_bytes(self):
        """Bytes of X; an entry of sparse rows has a column number of four bytes besides."""
        entry = np.dtype(self.dtype).itemsize + (0 if self.density == 1 else 4)
        return int(self.n * self.p * self.density * entry)

    def small(self):
        """A row of the same kind whose fit is all overhead."""
        tall = self.n >= self.p
        n, p = (SMALL_OTHER_SIDE, SMALL_SIDE) if tall else (SMALL_SIDE, SMALL_OTHER_SIDE)
        return replace(self, n=min(n, self.n), p=min(p, self.p))

    def divided_by_ten(self):
        return replace(
            self,
            n=max(self.n // 10, min(self.n, 100)),
            p=max(self.p // 10, min(self.p, 5)),
            repeats=self.repeats and max(self.repeats // 10, 1),
        )

    def facts(self):
        """What the results must say about the row."""
        return {
            "row": self.name,
            "estimator": self.estimator,
            "params": {key: np.asarray(value).tolist() for key, value in self.params.items()},
            "generator": self.generator.__name__,
            "seed": self.seed,
            "n": self.n,
            "p": self.p,
            "dtype": self.dtype,
            "order": self.order,
            "threads": self.threads or len(available_cpus()),
            "tol": self.tol,
            "excess_limit": self.excess_limit,
        }

    def measure(self, contestants, options):
        """(cells of all contestants, CPUs that other processes used meanwhile)."""
        entered = [c for c in contestants if c.name not in self.without]
        cells = {c.name: empty_cell("left out") for c in contestants}
        try:
            measured, others = call_in_fresh_process(
                contest, self, entered, options, threads=self.threads
            )
            cells |= measured
        except FreshProcessFailed as error:
            print(f"{self.name}: {error}", file=sys.stderr)
            cells |= {c.name: empty_cell("process failed", failed=True) for c in entered}
            others = None
        present = [c for c in entered if cells[c.name]["seconds"] is not None]
        if options.cold_start:
            add_cold_starts(cells, present, self)
        if options.memory and self.data_bytes() >= LEAST_BYTES_FOR_MEMORY:
            add_memory(cells, present, self)
        return cells, others


@dataclass(frozen=True)
class ImportRow:
    """Wall seconds of a fresh interpreter that runs `import package` and nothing else."""

    name: str = "import"

    def divided_by_ten(self):
        return self

    def facts(self):
        nothing = dict.fromkeys(
            ("estimator", "generator", "seed", "n", "p", "dtype", "order", "tol", "excess_limit")
        )
        return {"row": self.name, "params": {}, "threads": len(available_cpus()), **nothing}

    def measure(self, contestants, options):
        cells = {c.name: empty_cell() for c in contestants}
        calls = {c.name: (lambda c=c: import_seconds(c.package)) for c in contestants}
        other_processes = OtherProcesses()
        all_seconds = round_robin(calls, options.repeats, options.budget)
        others = other_processes.cpus_used()
        for name, seconds in all_seconds.items():
            if np.isfinite(seconds[0]):
                cells[name].update(seconds=min(seconds), all_seconds=seconds)
            else:
                cells[name].update(skipped="import failed")
        return cells, others


@dataclass(frozen=True)
class Suite:
    """Rows and contestants; the first contestant is the one the ratios are about."""

    name: str
    contestants: tuple[Contestant, ...]
    rows: tuple[Row | ImportRow, ...]

    def run(self, options):
        """Yield one result per row: its facts, a cell per contestant, the ratios."""
        for row in self.rows:
            cells, others = row.measure(self.contestants, options)
            home, *peers = (contestant.name for contestant in self.contestants)
            ratios = {peer: ratio(cells[peer]["seconds"], cells[home]["seconds"]) for peer in peers}
            fastest = fastest_of({peer: cells[peer] for peer in peers}, row.facts()["excess_limit"])
            facts = {"suite": self.name, **row.facts(), "cpus_used_by_others": others}
            yield {**facts, "cells": cells, "ratios": ratios, "fastest_peer": fastest}


def ratio(peer_seconds, home_seconds):
    if peer_seconds is None or home_seconds is None:
        return None
    return peer_seconds / home_seconds


def fastest_of(cells, excess_limit):
    """Name of the fastest whose answer is within the limit, None if there is none."""
    solved = {
        name: cell["seconds"]
        for name, cell in cells.items()
        if cell["seconds"] is not None and (cell["excess"] or 0.0) <= (excess_limit or 0.0)
    }
    return min(solved, key=solved.get, default=None)


def contest(row, contestants, options):
    """({name: cell with seconds, objective and excess}, CPUs others used), in this process."""
    X, y = row.data()
    entries = {contestant.name: Entry(contestant, row, X, y) for contestant in contestants}
    ready = {name: entry for name, entry in entries.items() if entry.warmed_up()}
    objective = row.objective(row, X, y)
    best, did_not_reach = row.least, {}
    if any(contestant.tolerances for contestant in contestants):
        best, did_not_reach = tighten(ready, objective, reference_entry(row, X, y), best)
    calls = {name: e.fit_once for name, e in ready.items() if name not in did_not_reach}
    gc.collect()
    repeats = row.repeats or options.repeats
    other_processes = OtherProcesses()
    seconds = did_not_reach | round_robin(calls, repeats, options.budget)
    others = other_processes.cpus_used()
    for name, entry in entries.items():
        if entry.model is not None:
            model = entry.model
            entry.record(seconds[name], float(objective(model)))
            entry.cell["value"] = row.value and float(row.value(row, X, y)(model))
    cells = {name: entry.cell for name, entry in entries.items()}
    add_excess(cells, best)
    return cells, others


def reference_entry(row, X, y):
    return row.reference and Entry(row.reference, row, X, y)


def add_excess(cells, best=np.inf):
    """Relative excess of each objective over the lowest one, or over `best` if that is lower."""
    found = {name: c["objective"] for name, c in cells.items() if c["objective"] is not None}
    best = min(best, *found.values(), np.inf)
    for name, objective in found.items():
        cells[name]["excess"] = relative_excess(objective, best)


def add_cold_starts(cells, contestants, row):
    """Best of two fresh interpreters each, round-robin."""

    def cold_start(contestant):
        small = replace(row.small(), tol=cells[contestant.name]["tol"])
        return call_in_fresh_process(fit_small, contestant, small, threads=row.threads)

    calls = {c.name: (lambda c=c: seconds_of(lambda: cold_start(c))[0]) for c in contestants}
    with contextlib.suppress(FreshProcessFailed):
        for name, seconds in round_robin(calls, 2, np.inf).items():
            cells[name]["cold_start_seconds"] = min(seconds)


def fit_small(contestant, small):
    contestant.timed_fit(small, *small.data())


def add_memory(cells, contestants, row):
    for contestant in contestants:
        with contextlib.suppress(FreshProcessFailed):
            fitted = replace(row, tol=cells[contestant.name]["tol"])
            extra, method = call_in_fresh_process(
                memory_of_fit, contestant, fitted, threads=row.threads
            )
            cells[contestant.name].update(
                extra_memory=None if extra is None else extra / row.data_bytes(),
                extra_memory_bytes=extra,
                extra_memory_method=method,
            )


def memory_of_fit(contestant, row):
    """(bytes a fit needs on top of the data, method); a small fit first loads all code."""
    fit_small(contestant, row.small())
    X, y = row.data()
    return extra_memory_of(lambda: contestant.timed_fit(row, X, y))


def import_seconds(package):
    """Wall seconds of `python -c "import package"`, infinite if that fails."""
    command = [sys.executable, "-c", f"import {package}"]
    seconds, done = seconds_of(
        lambda: subprocess.run(command, stderr=subprocess.DEVNULL, env=environment_for(None))
    )
    return seconds if done.returncode == 0 else np.inf
