"""The grid of C and γ, the choice of the best score, and notes on the choice."""

import threading
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Rows
from ..solvers.lssvm import GridPoint
from ..text.format import count
from ..text.table import ResultTable
from ._kernels import KERNELS_WITH_GAMMA, gamma_of
from ._left_out_scores import name_of_score

if TYPE_CHECKING:
    from .lssvc_cv import LSSVCCV

C_RANGE = (1e-2, 1e4)
GAMMA_RANGE = (1e-2, 1e2)  # multiples of "scale"
TIE_TOLERANCE = 1e-12  # relative: scores that differ by rounding only


def values_of(name: str, given: object, span: tuple[float, float]) -> np.ndarray:
    """Return the positive numbers given, ascending, or a given count, log-spaced over ``span``."""
    remedy = f"{name}={given!r}: give a whole number above 0, or numbers above 0"
    if isinstance(given, Integral) and not isinstance(given, bool):
        if int(given) < 1:
            raise ValueError(remedy)
        return np.geomspace(*span, int(given)) if int(given) > 1 else np.sqrt([span[0] * span[1]])
    try:
        values = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        values = np.empty(0)
    if isinstance(given, str | bool) or values.ndim != 1 or not len(values):
        raise ValueError(remedy)
    for value in values[~((values > 0) & (values < np.inf))]:
        raise ValueError(f"{name} contains {value}: each must be a finite number above 0")
    return np.unique(values)


def gammas_of(model: "LSSVCCV", rows: Rows) -> np.ndarray:
    """Return the values of γ to try, ascending; [1] where the kernel has none."""
    if callable(model.kernel) or model.kernel not in KERNELS_WITH_GAMMA:
        return np.ones(1)
    if isinstance(model.gammas, str):
        if model.gammas not in ("scale", "auto"):
            raise ValueError(
                f"gammas={model.gammas!r}: give 'scale', 'auto', a whole number, or numbers above 0"
            )
        return np.array([gamma_of(model.gammas, model.kernel, rows)])
    scale = gamma_of("scale", model.kernel, rows)
    low, high = GAMMA_RANGE
    return values_of("gammas", model.gammas, (low * scale, high * scale))


def best_of(scores: np.ndarray) -> tuple[int, int]:
    """Return the indices (γ, C) of the largest score.

    Ties go to the smallest γ, then to the smallest C: the smoothest model.
    """
    if np.isnan(scores).all():
        raise ValueError("no pair of C and γ has a score: the scorer returned NaN for each")
    top = np.nanmax(scores)
    g, c = np.argwhere(scores >= top - TIE_TOLERANCE * abs(top))[0]
    return int(g), int(c)


class BestOfGrid:
    """The best point so far of a grid whose scores are added by several threads."""

    def __init__(self, shape: tuple[int, int]):
        self.scores = np.full(shape, np.nan)  # NaN: not computed yet
        self.score, self.at = float("nan"), (-1, -1)
        self.point: GridPoint | None = None
        self.n_scored = 0
        self.lock = threading.Lock()

    def add(self, g: int, c: int, score: float, point: GridPoint) -> None:
        """Add the score of the γ and C of these indices, and store the point if it is the best."""
        with self.lock:
            self.n_scored += 1
            self.scores[g, c] = score
            if not np.isnan(score) and best_of(self.scores) == (g, c):
                self.score, self.at, self.point = score, (g, c), point

    def has_point(self) -> bool:
        """Return whether there is a point."""
        return self.point is not None

    def message(self) -> str:
        """Describe which model was kept."""
        return (
            f"after {self.n_scored} of {count(self.scores.size, 'pair')} of C and gamma; the model "
            "of the best so far was kept"
        )


def table_of(model: "LSSVCCV") -> ResultTable:
    """Return a table with a row for each γ and its best C."""
    at = np.array([best_of(row[None])[1] for row in _with_scores(model.scores_)])
    score, g = name_of_score(model.scoring), best_of(model.scores_)[0]
    rows = np.arange(len(at))
    columns = {
        "gamma": model.gammas_,
        "best C": model.Cs_[at],
        score: model.scores_[rows, at],
        "": ["taken" if row == g else "" for row in rows],
    }
    title = (
        f"{score.capitalize()} of rows left out one at a time, for "
        f"{count(len(model.gammas_), 'value')} of gamma and {len(model.Cs_)} of C"
    )
    return ResultTable(columns, title=title, notes=notes_on(model))


def _with_scores(scores: np.ndarray) -> np.ndarray:
    """Replace NaN by −∞ for a γ without any score, so that its first C is shown."""
    none = np.isnan(scores).all(axis=1)
    return np.where(none[:, None], -np.inf, scores)


def notes_on(model: "LSSVCCV") -> list[str]:
    """Return notes on the choice: values at the ends of the grid, optimism of the best score."""
    g, c = best_of(model.scores_)
    notes = []
    for name, at, tried in (("C", c, model.Cs_), ("gamma", g, model.gammas_)):
        if len(tried) > 1 and at in (0, len(tried) - 1):
            end, direction = ("smallest", "smaller") if at == 0 else ("largest", "larger")
            notes.append(f"The best {name} is the {end} that was tried: try {direction} ones.")
    if model.scores_.size > 1:
        notes.append(
            f"The best {name_of_score(model.scoring)} is the largest of {model.scores_.size}: "
            "expect slightly less on new rows."
        )
    return notes
