"""One task of the procedure: choose on training rows, fit, answer the rows that were held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .candidates.base import CandidateModel
from .choose import REFUSALS, Choice, Tick, choose
from .encoding import Training
from .fitting import EncodedRows, PipelinePredictor, fitted, sample
from .reference import reference_output

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class OuterFold:
    """Answers to the rows of an outer fold, by models that had not seen them."""

    held_out: np.ndarray  # row numbers
    choice: Choice
    guess: np.ndarray  # the baseline's: mean or class shares of the training rows
    by_candidate: dict[str, np.ndarray]
    reference: np.ndarray | None

    @property
    def output(self) -> np.ndarray:
        """Answers of the chosen model."""
        return self.by_candidate[self.choice.scored[self.choice.chosen].candidate.key]


def answered(
    all_rows: Training, rows: np.ndarray, held_out: np.ndarray,
    candidates: Sequence[CandidateModel], seed: int, on_scored: Tick,
    on_reference: Callable[[], None],
) -> OuterFold:  # fmt: skip
    """Repeat the whole choice on the training rows of an outer fold."""
    train, X = all_rows.take(rows), all_rows.X.take(held_out)
    choice = choose(train, candidates, seed, on_scored)
    models = fitted_candidates(train, choice, seed)
    chosen = choice.scored[choice.chosen].candidate.key
    if chosen not in models:
        raise ValueError(f"{chosen} was chosen, and refuses the training rows of a fold")
    by_candidate = {key: model.output(X) for key, (model, _) in models.items()}
    reference = reference_output(train, X, seed)
    on_reference()
    return OuterFold(held_out, choice, guess_of(train, len(held_out)), by_candidate, reference)


def fitted_candidates(
    train: Training, choice: Choice, seed: int
) -> dict[str, tuple[PipelinePredictor, np.ndarray]]:
    """Each candidate with its parameter, fitted, and the rows that it was given."""
    found = {}
    encoded: dict[int, EncodedRows] = {}  # by number of rows
    for one in choice.scored:
        if one.failed:
            continue
        strata = np.zeros(train.n, dtype=np.intp) if train.task == "numbers" else train.target
        rows = sample(strata, one.candidate.most_rows, seed)
        if len(rows) not in encoded:
            given = train if len(rows) == train.n else train.take(rows)
            encoded[len(rows)] = EncodedRows.encoding(given)
        try:
            model = fitted(encoded[len(rows)], one.candidate, one.parameter, one.calibration)
        except REFUSALS:
            continue
        found[one.candidate.key] = (model, rows)
    return found


def guess_of(train: Training, n: int) -> np.ndarray:
    """The baseline's answer for n rows: the mean, the share of the positive, or class shares."""
    if train.n_outputs == 1:
        return np.full(n, np.average(train.target, weights=train.s))
    shares = np.bincount(train.target, weights=train.s, minlength=train.n_outputs)
    return np.tile(shares / shares.sum(), (n, 1))
