r"""Choice of λ from cross-validation scores.

    mean_a = Σ_f score_af/F        se_a = √(Σ_f (score_af − mean_a)²/(F − 1))/√F

"best": the largest mean; ties go to the strongest λ. "1se": the strongest λ whose mean is at least
that of the best minus its standard error, since these rows do not distinguish the two.
"""

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.labels import named
from ..text.format import count, number
from ..text.table import ResultTable
from ._types import Folds

if TYPE_CHECKING:
    from .ncfs_cv import NCFSClassifierCV

CHOICES = ("1se", "best")
EVIDENCE_STD_ERRORS = 2.0  # above the score without columns: about 95 %
TIE_RTOL = 1e-12  # of means of the same scores in another order


class AlphaChoice(NamedTuple):
    """Mean scores with their standard errors, and the indices of the λ they favour."""

    mean: np.ndarray  # (A,)
    error: np.ndarray  # (A,): standard errors; 0 where there is one fold
    best: int
    strongest: int  # within one standard error of the best

    @classmethod
    def of(cls, scores: np.ndarray) -> "AlphaChoice":
        """Choose from ``scores`` (A, folds), the strongest λ first; NaN excludes a λ."""
        folds = scores.shape[1]
        mean = scores.mean(axis=1)
        error = scores.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros(len(mean))
        if np.isnan(mean).all():
            raise ValueError("no λ has a score in every fold: the scorer gave NaN for each")
        top = float(np.nanmax(mean))
        best = int(np.flatnonzero(mean >= top - TIE_RTOL * abs(top))[0])
        within = np.flatnonzero(mean >= mean[best] - error[best])  # False for NaN
        return cls(mean, error, best, int(within[0]))


def read_alphas(alphas: object) -> int | np.ndarray:
    """Return the number of values of λ, or the given values, the strongest first."""
    message = f"alphas={alphas!r}: give a whole number of at least 2, or numbers above 0"
    if isinstance(alphas, Integral) and not isinstance(alphas, bool):
        if alphas < 2:
            raise ValueError(message)
        return int(alphas)
    try:
        values = np.array(alphas, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if isinstance(alphas, str) or values.ndim != 1 or not len(values):
        raise ValueError(message)
    for value in values[~((values > 0) & (values < np.inf))]:
        raise ValueError(f"alphas holds {value}: λ must be a finite number above 0")
    if (np.diff(values) > 0).all():
        return values[::-1].copy()
    if not (np.diff(values) < 0).all():
        raise ValueError(
            f"alphas={alphas!r} are not in order: give each λ once, rising or falling "
            "(np.unique(alphas))"
        )
    return values


def require_folds(folds: Folds, classes: np.ndarray, k: np.ndarray, s: np.ndarray | None) -> None:
    """Raise ValueError unless each fold trains on every class and leaves rows out."""
    if not folds:
        raise ValueError("cv gives no folds")
    labels = classes.tolist()
    for f, (train, test) in enumerate(folds, 1):
        weight = np.bincount(k[train], None if s is None else s[train], len(classes))
        if not (weight > 0).all():
            label = labels[int(np.argmin(weight))]
            raise ValueError(
                f"fold {f} of {len(folds)} has no row of class {label!r} to learn from: use fewer "
                "folds, or StratifiedKFold; a class of one row cannot be left out, so merge it "
                f"with another or drop it (the classes are {named(classes)})"
            )
        if not len(k[test]):
            raise ValueError(f"fold {f} of {len(folds)} leaves no row out: there is no score")


# --- tables and notes -----------------------------------------------------------------------------


def table(model: "NCFSClassifierCV") -> ResultTable:
    """Table with a row for each λ."""
    choice = AlphaChoice.of(model.scores_)
    n_selected = model.n_selected_
    marks = [
        " and ".join(
            word for word, a in (("best", choice.best), ("taken", model.chosen_index_)) if a == row
        )
        for row in range(len(choice.mean))
    ]
    columns = {
        "alpha": model.alphas_,
        score_name(model.scoring): choice.mean,
        "std error": choice.error,
        "columns": n_selected.mean(axis=1),
        "fewest": n_selected.min(axis=1),
        "most": n_selected.max(axis=1),
        "": marks,
    }
    folds = model.scores_.shape[1]
    title = f"{score_name(model.scoring).capitalize()} on rows left out, {count(folds, 'fold')}"
    return ResultTable(columns, title=title, notes=notes(model, choice))


def notes(model: "NCFSClassifierCV", choice: AlphaChoice) -> list[str]:
    """Caveats about the choice."""
    lines, last = [], len(choice.mean) - 1
    without = float(np.mean(model.scores_without_columns_))
    best, score = choice.mean[choice.best], score_name(model.scoring)
    if best - EVIDENCE_STD_ERRORS * choice.error[choice.best] <= without:
        lines.append(
            f"No evidence that columns help: without any the {score} is {number(without, 4)}, "
            f"at best {number(float(best), 4)} with them."
        )
    elif choice.best == last:
        lines.append("The best λ is the weakest that was tried: try weaker ones.")
    elif choice.best == 0 and not isinstance(model.alphas, Integral):
        lines.append("The best λ is the strongest that was tried: try stronger ones.")
    lines.append(
        f"The best {score} is the largest of {last + 1}: on new rows expect a little less."
    )
    return lines


def score_name(scoring: object) -> str:
    """Name of the score for tables and plots."""
    if scoring is None:
        return "accuracy"
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return str(name).replace("_", " ")
