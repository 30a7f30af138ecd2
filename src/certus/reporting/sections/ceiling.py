"""How good any model could be: the Cover–Hart bracket of the Bayes error (``certus.neighbors``).

    (K − 1)/K·(1 − √(1 − K/(K − 1)·R)) ≤ R* ≤ R,  R the error of one nearest neighbour

in standardised columns. R is estimated with copies left out, since a copy is its own neighbour.
"""

import numpy as np

from ...neighbors import bayes_error_bracket
from ..content.answer import Ceiling
from ..content.phrases import count, percent, share
from ..content.values import ReportTable, TableColumn
from ..prepared import Prepared
from ..procedure.encoding import encoder_for
from ..procedure.folds import MIN_SHARE_DISTINCT
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.answers import answered

MAX_QUERIES = 5_000  # rows that are predicted
MAX_ROWS = 20_000  # rows that are searched
MAX_RARE_SHARE = 0.1  # share of the rows outside the commonest class
CAVEAT = (
    "Measured, not proven: the bracket holds for infinitely many rows of these columns. With few "
    "rows or many columns one neighbour errs more than its limit, so a better model may exist than "
    "the bracket allows; other columns could lower it too."
)


def make(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Ceiling | None:
    """The bracket beside the procedure's error; None for numbers."""
    if prepared.task == "numbers":
        return None
    rows = _rows(prepared, settings.seed)
    labels = prepared.codes()[rows]
    if len(np.unique(labels)) < 2:
        return None
    A = encoder_for(prepared.columns, prepared.n).fit_transform(prepared.X)
    bracket = bayes_error_bracket(
        np.asarray(A, dtype=float)[rows], labels, sample=MAX_QUERIES, random_state=settings.seed,
        confidence=settings.confidence,
    )  # fmt: skip
    error, guess = _errors(prepared, result)
    upper = min(bracket.upper, guess)  # the best model is no worse than a constant answer
    lower = min(bracket.lower, upper)
    between = f"between {share(lower)} and {share(upper)}"
    text = (
        f"With these columns, even the best possible model would answer {between} of rows wrongly "
        f"(Cover–Hart: one nearest neighbour errs in {share(bracket.R)} of "
        f"{count(bracket.n, 'row')}). The procedure errs in {share(error)}; always answering the "
        f"commonest class, in {share(guess)}. {_reading(error, lower, upper, guess)} {CAVEAT}"
    )
    low, high = bracket.interval
    level = percent(settings.confidence)
    table = ReportTable(
        "Shares of rows with a wrong answer",
        (TableColumn("of", "text"), TableColumn("share", "share"), TableColumn("low", "share"),
         TableColumn("high", "share"), TableColumn("n", "count")),
        (
            ("one nearest neighbour", bracket.R, low, high, bracket.n),
            ("the best possible model, at least", lower, min(bracket.confident[0], lower), None,
             bracket.n),
            ("the best possible model, at most", upper, None, min(bracket.confident[1], guess),
             bracket.n),
            ("the procedure", error, None, None, answered(prepared, result).n),
            ("the commonest class", guess, None, None, prepared.n),
        ),
        (f"low and high: {level} interval of one neighbour's error, and the bounds at its ends.",),
    )  # fmt: skip
    return Ceiling(lower, upper, bracket.n, error, text, table)


def _rows(prepared: Prepared, seed: int) -> np.ndarray:
    """One row of each set of copies, unless most rows are copies; at most ``MAX_ROWS``."""
    first = np.unique(prepared.duplicates, return_index=True)[1]
    rows = np.sort(first) if len(first) >= MIN_SHARE_DISTINCT * prepared.n else None
    rows = np.arange(prepared.n) if rows is None else rows
    if len(rows) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(seed).permutation(rows)[:MAX_ROWS])
    return rows


def _errors(prepared: Prepared, result: ProcedureResult) -> tuple[float, float]:
    """Shares of wrong answers of the procedure (its most probable class) and of the commonest."""
    found = answered(prepared, result)
    predicted = found.output.argmax(axis=1) if found.output.ndim == 2 else found.output >= 0.5
    wrong = float(np.average(predicted.astype(int) != found.target, weights=found.weights))
    sizes = np.bincount(found.target, weights=found.weights)
    return wrong, 1 - float(sizes.max() / sizes.sum())


def _reading(error: float, lower: float, upper: float, guess: float) -> str:
    if guess < MAX_RARE_SHARE:
        return (
            "With so rare a class hardly any answer is wrong, so this count says little: the "
            "verdict's AUC says more."
        )
    if error < lower:
        return "The procedure is below the bracket: these rows are too few for it."
    if lower == upper:
        return "One neighbour is no better than that, so the bracket says nothing here."
    gain = share(error - lower)
    where = "within" if error <= upper else "above"
    return f"That is {where} the bracket: a better model could save up to {gain} of the rows."
