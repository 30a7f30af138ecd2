"""The result of the procedure, from the tasks that were finished."""

from collections.abc import Sequence

import numpy as np

from ...text.format import count
from ..content.answer import Candidate as ComparedCandidate
from ..content.answer import ModelComparison
from ..content.values import MeasureEstimate
from ..prepared import Prepared
from ..settings import Settings
from .budget import Plan
from .candidates import BASELINE_KEY, name_of, note_of_sample
from .choose import Scored
from .encoding import target_of
from .intervals import estimate
from .measures import measure_of, value
from .other_measures import other_estimates
from .outer import OuterFold
from .refit import Refit
from .result import OuterPredictions, ProcedureResult
from .threshold import threshold_for_classes

RULE = (
    "The simplest model whose mean score on the inner folds is within one standard error of the "
    "best one's is chosen."
)
TEXT_OF_MEASURE = {
    "two classes": "how often a row of '{positive}' is ranked above another row",
    "classes": "how often a row is ranked rightly between two classes, the mean over pairs",
    "ordered classes": "how often a row is ranked rightly between two classes, the mean over pairs",
    "numbers": "the share of the variance that is explained",
}


def assembled(
    prepared: Prepared, settings: Settings, plan: Plan, together: np.ndarray, sentence: str,
    refit: Refit, folds: Sequence[OuterFold], n_folds: int, stopped: bool,
    seconds: dict[str, float],
) -> ProcedureResult:  # fmt: skip
    """Put answers of all folds together, and measure them."""
    n, q = prepared.n, folds[0].output.shape[1:]
    target, s = target_of(prepared), prepared.weights
    measure = measure_of(prepared.task)
    fold = np.full(n, -1)
    guess = np.full((n, *q), np.nan)
    for f, found in enumerate(folds):
        fold[found.held_out], guess[found.held_out] = f, found.guess
    outer = _together(n, q, fold, [(found.held_out, found.output) for found in folds])
    keys = [c.key for c in plan.candidates]
    by_candidate = {
        key: _together(n, q, fold, [
            (found.held_out, found.by_candidate.get(key)) for found in folds
        ]) for key in keys
    }  # fmt: skip
    by_candidate = {key: one for key, one in by_candidate.items() if (one.fold >= 0).any()}
    reference = _together(n, q, fold, [(found.held_out, found.reference) for found in folds])

    def measured(answers: OuterPredictions, text: str = "") -> MeasureEstimate:
        return estimate(
            measure, target, answers.output, answers.fold, guess, s, together,
            settings.confidence, settings.seed, text,
        )  # fmt: skip

    positive = None if prepared.positive is None else prepared.classes[prepared.positive]
    text = TEXT_OF_MEASURE[prepared.task].format(positive=positive)
    chosen = refit.choice.scored[refit.choice.chosen]
    outer_scores = {
        key: value(measure, target, one.output, one.fold, guess, s)
        for key, one in by_candidate.items()
    }
    n_inner = refit.choice.n_folds
    threshold, reason = threshold_for_classes(prepared, settings)
    has_reference = bool((reference.fold >= 0).any())
    return ProcedureResult(
        comparison=ModelComparison(
            _compared(prepared, refit, folds, outer_scores, measure.name, measure.baseline),
            measure.baseline, RULE, len(folds), n_inner,
        ),
        key=chosen.candidate.key, name=name_of(chosen.candidate, prepared),
        pipeline=refit.model.pipeline, predictor=refit.model,
        calibration=_calibration_told(chosen), certificate=refit.certificate,
        other_certificates=tuple(
            (name_of(c, prepared), refit.others[c.key]) for c in plan.candidates
            if c.key in refit.others
        ),
        measure=measured(outer, text),
        others=other_estimates(prepared, outer, guess, together, settings),
        how=_how(prepared, plan, folds, n_inner, sentence),
        outer=outer, by_candidate=by_candidate,
        reference=reference if has_reference else None,
        reference_measure=measured(reference, text) if has_reference else None,
        threshold=threshold, threshold_reason=reason, seconds=seconds,
        cut=(*plan.cut, *_stopped_told(stopped, len(folds), n_folds)), stopped=stopped,
        rows=refit.rows,
    )  # fmt: skip


def _together(
    n: int, q: tuple[int, ...], fold: np.ndarray,
    parts: Sequence[tuple[np.ndarray, np.ndarray | None]],
) -> OuterPredictions:  # fmt: skip
    """Answers of all folds; rows of a fold without answers are in no fold."""
    output, answered = np.full((n, *q), np.nan), np.full(n, -1)
    for held_out, found in parts:
        if found is not None:
            output[held_out], answered[held_out] = found, fold[held_out]
    return OuterPredictions(output, answered)


def _compared(
    prepared: Prepared, refit: Refit, folds: Sequence[OuterFold], outer_scores: dict[str, float],
    measure: str, baseline: float,
) -> tuple[ComparedCandidate, ...]:  # fmt: skip
    guess = "the mean" if prepared.task == "numbers" else "the shares of the classes"
    rows = [ComparedCandidate(
        BASELINE_KEY, "Baseline", "", measure, baseline, None, baseline, 0, 0, False, prepared.n,
        f"always answers {guess}; never chosen",
    )]  # fmt: skip
    ranks = sorted(one.candidate.rank for one in refit.choice.scored)
    chosen = [fold.choice.scored[fold.choice.chosen].candidate.key for fold in folds]
    for i, one in enumerate(refit.choice.scored):
        c = one.candidate
        note = note_of_sample(c, prepared.n)
        if c.key not in refit.n_rows:
            note = "could not be fitted to these rows"
        parameters = c.words(one.parameter) if c.key in refit.n_rows else ""
        score = outer_scores.get(c.key)
        rows.append(ComparedCandidate(
            c.key, name_of(c, prepared), parameters, measure, one.score, one.standard_error,
            score if score is not None and np.isfinite(score) else None, chosen.count(c.key),
            ranks.index(c.rank) + 1, i == refit.choice.chosen, refit.n_rows.get(c.key, 0), note,
        ))  # fmt: skip
    return tuple(rows)


def _calibration_told(chosen: Scored) -> str:
    if chosen.calibration is None:
        return ""
    return (
        "Its scores are no probabilities: a logistic curve (Platt's method) was fitted to the "
        "scores of rows that were left out."
    )


def _how(
    prepared: Prepared, plan: Plan, folds: Sequence[OuterFold], n_inner: int, sentence: str
) -> str:
    models = count(len(plan.candidates), "model")
    compared = "models were compared" if len(plan.candidates) > 1 else "model was tuned"
    inner = f"on {count(n_inner, 'inner fold')}" if n_inner else "without inner folds"
    outer = count(len(folds), "outer fold")
    if prepared.times is not None:
        outer += " in the order of time, each after the rows that trained its models"
    how = f"{outer}; in each, {models.split()[0]} {compared} {inner}"
    return f"{how}; {sentence}" if sentence else how


def _stopped_told(stopped: bool, done: int, of: int) -> tuple[str, ...]:
    return (f"stopped by you after {done} of {count(of, 'outer fold')}",) if stopped else ()
