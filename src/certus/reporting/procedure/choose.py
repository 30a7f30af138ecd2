"""The choice of a model: inner folds score each candidate, the simplest within one standard error
of the best is taken.

For each candidate and each parameter of its grid: scores of the rows that an inner fold left out,
by a model fitted on the others. The parameter is chosen by the log loss where scores are those of a
likelihood, by the squared error of numbers, else by the measure; ties go to the smoothest model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit, log_softmax

from ...metrics.calibrated import calibration
from .candidates.base import CandidateModel, Parameter
from .encoding import Encoded, Training, encoded
from .fitting import Calibration, sample
from .folds import N_STRATA, Fold, split
from .measures import Measure, measure_of, value

N_INNER_FOLDS = 5
MAX_ROWS_SCORED = 4000  # of an inner fold's held-out rows, by candidates that use a sample
REFUSALS = (ValueError, np.linalg.LinAlgError, FloatingPointError)

Tick = Callable[[CandidateModel], None]  # called when a candidate has been scored on an inner fold


@dataclass(frozen=True, eq=False)
class Scored:
    """A candidate with the parameter that was chosen for it, and its score on inner folds."""

    candidate: CandidateModel
    parameter: Parameter
    score: float | None  # None: there were no inner folds, or it failed
    standard_error: float | None
    calibration: Calibration | None
    failed: bool = False


@dataclass(frozen=True, eq=False)
class Choice:
    """All candidates, and which one the rule takes."""

    scored: tuple[Scored, ...]
    chosen: int
    n_folds: int


def choose(
    train: Training, candidates: Sequence[CandidateModel], seed: int, on_scored: Tick
) -> Choice:
    """Score the candidates on inner folds of these rows, and choose."""
    measure = measure_of(train.task)
    folds = inner_folds(train, seed)
    grids: dict[str, tuple[Parameter, ...]] = {}
    left_out: dict[str, np.ndarray] = {}
    failed: set[str] = set()
    fold_of = {c.key: np.full(train.n, -1) for c in candidates}
    guess = np.full(train.n, np.nan)
    for f, (rows, held_out) in enumerate(folds):
        part = train.take(rows)
        data, B = encoded(part, train.X.take(held_out))
        guess[held_out] = np.average(data.target, weights=data.s)
        for candidate in candidates:
            if candidate.key in failed:
                continue
            some = sample(_strata(part), candidate.most_rows, seed)
            most = None if candidate.most_rows is None else MAX_ROWS_SCORED
            asked = sample(_strata(train)[held_out], most, seed)
            if candidate.key not in grids:
                grids[candidate.key] = candidate.grid(len(some), data.A.shape[1])
                shape = (len(grids[candidate.key]), train.n, train.n_outputs)
                left_out[candidate.key] = np.full(shape, np.nan)
            given = data if len(some) == part.n else data.take(some)
            z = _scores(candidate, given, B[asked], grids[candidate.key])
            if z is None:
                failed.add(candidate.key)
                continue
            left_out[candidate.key][:, held_out[asked]] = z
            fold_of[candidate.key][held_out[asked]] = f
            on_scored(candidate)
    scored = []
    for candidate in candidates:
        if candidate.key in failed or not folds:
            n = train.n if candidate.most_rows is None else min(train.n, candidate.most_rows)
            grid = candidate.grid(n, len(train.columns))
            middle = grid[len(grid) // 2]
            has_failed = candidate.key in failed
            scored.append(Scored(candidate, middle, None, None, _identity(candidate, train),
                                 has_failed))  # fmt: skip
            continue
        scored.append(_scored(
            candidate, grids[candidate.key], left_out[candidate.key], fold_of[candidate.key],
            train, guess, measure,
        ))  # fmt: skip
    return Choice(tuple(scored), _one_standard_error(scored), len(folds))


def inner_folds(train: Training, seed: int) -> list[Fold]:
    """Inner folds with at least two classes to train on; none where a class has a single row."""
    strata = _strata(train)
    n_folds = min(N_INNER_FOLDS, train.n // 2)
    if train.task == "two classes":
        n_folds = min(n_folds, int(np.bincount(strata, minlength=2).min()))
    if n_folds < 2:
        return []
    folds = split(n_folds, strata, train.together, train.times, seed)
    if train.task == "numbers":
        return folds
    return [fold for fold in folds if len(np.unique(strata[fold[0]])) > 1]


def _strata(train: Training) -> np.ndarray:
    if train.task != "numbers":
        return train.target
    edges = np.quantile(train.target, np.linspace(0, 1, N_STRATA + 1)[1:-1])
    return np.searchsorted(np.unique(edges), train.target, side="right")


def _scores(
    candidate: CandidateModel, data: Encoded, B: np.ndarray, grid: tuple[Parameter, ...]
) -> np.ndarray | None:
    """Scores of the grid; None where the model refuses these rows."""
    try:
        z = candidate.scores(data, B, grid)
    except REFUSALS:
        return None
    return z if np.isfinite(z).all() else None


def _scored(
    candidate: CandidateModel, grid: tuple[Parameter, ...], z: np.ndarray, fold: np.ndarray,
    train: Training, guess: np.ndarray, measure: Measure,
) -> Scored:  # fmt: skip
    """The best parameter, its score and standard error over folds, and the calibration."""
    known = fold >= 0
    target = train.target
    s = np.ones(train.n) if train.s is None else train.s
    flat = z[:, :, 0] if train.n_outputs == 1 else z
    if candidate.is_calibrated:
        quality = [-_loss(part[known], target[known], s[known], train.task) for part in flat]
    else:
        quality = [
            float(np.nanmean(_by_fold(measure, target, part, fold, guess, s))) for part in flat
        ]
    best = int(np.nanargmax(quality)) if not np.isnan(quality).all() else len(grid) // 2
    by_fold = _by_fold(measure, target, flat[best], fold, guess, s)
    by_fold = by_fold[np.isfinite(by_fold)]
    score = float(by_fold.mean()) if len(by_fold) else None
    error = float(by_fold.std(ddof=1) / np.sqrt(len(by_fold))) if len(by_fold) > 1 else None
    platt = None
    if not candidate.is_calibrated and train.task != "numbers":
        platt = calibration(flat[best][known], target[known], s[known])
    return Scored(candidate, grid[best], score, error, platt)


def _identity(candidate: CandidateModel, train: Training) -> Calibration | None:
    """The calibration where no row was left out to estimate one: scores are taken as log-odds."""
    if candidate.is_calibrated or train.task == "numbers":
        return None
    return 1.0, np.zeros(train.n_outputs)


def _by_fold(
    measure: Measure, target: np.ndarray, output: np.ndarray, fold: np.ndarray,
    guess: np.ndarray, s: np.ndarray,
) -> np.ndarray:  # fmt: skip
    found = []
    for f in range(int(fold.max()) + 1):
        rows = fold == f
        found.append(value(measure, target, output, np.where(rows, f, -1), guess, s))
    return np.array(found)


def _loss(z: np.ndarray, target: np.ndarray, s: np.ndarray, task: str) -> float:
    """Mean squared error of numbers, mean log loss of scores."""
    if task == "numbers":
        losses = (target - z) ** 2
    elif z.ndim == 1:
        losses = -log_expit(np.where(target == 1, z, -z))
    else:
        losses = -log_softmax(z, axis=1)[np.arange(len(z)), target]
    return float(np.average(losses, weights=s))


def _one_standard_error(scored: Sequence[Scored]) -> int:
    """The simplest candidate whose score is within one standard error of the best."""
    usable = [i for i, one in enumerate(scored) if not one.failed]
    known = [i for i in usable if scored[i].score is not None]
    if not known:
        return min(usable or range(len(scored)), key=lambda i: scored[i].candidate.rank)
    scores = {i: scored[i].score or 0.0 for i in known}
    best = max(known, key=lambda i: (scores[i], -scored[i].candidate.rank))
    least = scores[best] - (scored[best].standard_error or 0.0)
    return min((i for i in known if scores[i] >= least), key=lambda i: scored[i].candidate.rank)
