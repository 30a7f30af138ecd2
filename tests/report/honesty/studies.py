"""The studies: noise, planted signal, and coverage of the interval."""

import warnings
from typing import NamedTuple
from unittest import mock

import numpy as np

from certus.reporting.content.data import Problems
from certus.reporting.procedure import run_procedure
from certus.reporting.procedure.candidates import candidates_for
from certus.reporting.procedure.choose import choose
from certus.reporting.procedure.encoding import Training, target_of
from certus.reporting.procedure.measures import measure_of, value
from certus.reporting.procedure.outer import fitted_candidates, guess_of
from certus.reporting.sections import problems, verdict
from certus.reporting.settings import Settings
from tests.report.honesty import tables

LOGISTIC, RIDGE = Settings(models=("logistic",), threads=1), Settings(models=("ridge",), threads=1)
NEIGHBORS = Settings(models=("knn",), threads=1)
NONE_FOUND = Problems("", (), ())
N_FRESH = 100  # fresh training sets, whose mean score is the truth
N_NEW_ROWS = 20_000


class Case(NamedTuple):
    """A kind of table whose interval must cover the truth."""

    name: str
    task: str
    signal: float
    settings: Settings


CASES = (
    Case("two classes, no signal", "two classes", 0.0, LOGISTIC),
    Case("two classes, weak signal", "two classes", 0.4, LOGISTIC),
    Case("two classes, strong signal", "two classes", 1.2, LOGISTIC),
    Case("numbers, weak signal", "numbers", 0.3, RIDGE),
    Case("numbers, strong signal", "numbers", 1.0, RIDGE),
)


def codes_found(rows, settings):
    """Codes of the data problems, and the kind of verdict."""
    result = run_procedure(rows, settings)
    found = problems.find(rows, settings, None, result)
    kind = verdict.make(rows, settings, result, found).kind
    return {problem.code for problem in found.problems}, kind


def leak_is_named(seed):
    """Does a copy of the target give D-LEAK, and no triumph?"""
    codes, kind = codes_found(tables.rows_of(tables.with_copy_of_target(seed)), LOGISTIC)
    return "D-LEAK" in codes and kind == "suspiciously good"


def groups_are_named(seed):
    """Do rows of the same patients in several folds give D-GROUP?"""
    codes, _ = codes_found(tables.rows_of(tables.with_repeated_patients(seed)), NEIGHBORS)
    return "D-GROUP" in codes


def claims_signal(seed, signal):
    """Does the verdict on this table say yes?"""
    rows = tables.rows_of(tables.two_classes(seed, signal=signal))
    result = run_procedure(rows, LOGISTIC)
    return verdict.make(rows, LOGISTIC, result, NONE_FOUND).kind in ("yes", "suspiciously good")


def made(case, seed, n=tables.N_ROWS):
    """Prepared rows of a case."""
    make = tables.numbers if case.task == "numbers" else tables.two_classes
    return tables.rows_of(make(seed, n, case.signal), case.task)


def mean_score(case, n_fresh=N_FRESH):
    """Mean score on new rows of the procedure, trained on fresh tables of the same size."""
    new = made(case, 10**6, N_NEW_ROWS)
    measure, target = measure_of(case.task), target_of(new)
    fold = np.zeros(new.n, dtype=int)
    scores = []
    for seed in range(n_fresh):
        rows = made(case, 10**5 + seed)
        train = Training.of(rows, np.arange(rows.n))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice = choose(train, candidates_for(rows, case.settings), 0, lambda _: None)
            model, _ = fitted_candidates(train, choice, 0)[
                choice.scored[choice.chosen].candidate.key
            ]
        guess = guess_of(train, new.n)
        scores.append(value(measure, target, model.output(new.X), fold, guess, None))
    return float(np.mean(scores))


def interval_of(case, seed):
    """The interval and value that a report on one table gives."""
    with mock.patch("certus.reporting.procedure.outer.reference_output", return_value=None):
        return run_procedure(made(case, seed), case.settings).measure
