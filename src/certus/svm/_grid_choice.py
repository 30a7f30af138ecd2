"""Which C and γ: the grid, the best of its scores, and what to know of the choice."""

import threading
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..data.rows import Rows
from ..solvers.lssvm import Point
from ..text.format import count
from ..text.table import Table
from ._kernels import WITH_GAMMA, gamma_of
from ._left_out_scores import name_of_score

if TYPE_CHECKING:
    from .lssvc_cv import LSSVCCV

C_RANGE = (1e-2, 1e4)
GAMMA_RANGE = (1e-2, 1e2)  # times "scale"
TIE = 1e-12  # relative: the same score in another order of adding


def values_of(name: str, given: object, span: tuple[float, float]) -> np.ndarray:
    """Ascending numbers above 0: those given, or so many from ``span`` in equal steps of log."""
    said = f"{name}={given!r}: give a whole number above 0, or numbers above 0"
    if isinstance(given, Integral) and not isinstance(given, bool):
        if int(given) < 1:
            raise ValueError(said)
        return np.geomspace(*span, int(given)) if int(given) > 1 else np.sqrt([span[0] * span[1]])
    try:
        values = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        values = np.empty(0)
    if isinstance(given, str | bool) or values.ndim != 1 or not len(values):
        raise ValueError(said)
    for value in values[~((values > 0) & (values < np.inf))]:
        raise ValueError(f"{name} holds {value}: each must be a finite number above 0")
    return np.unique(values)


def gammas_of(model: "LSSVCCV", rows: Rows) -> np.ndarray:
    """γ to be tried, ascending; [1] where the kernel has none."""
    if callable(model.kernel) or model.kernel not in WITH_GAMMA:
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
    """(γ, C) of the largest score; of equal ones the smallest γ, then the smallest C: the
    smoothest."""
    if np.isnan(scores).all():
        raise ValueError("no C and γ have a score: the scorer gave NaN for each")
    top = np.nanmax(scores)
    g, c = np.argwhere(scores >= top - TIE * abs(top))[0]
    return int(g), int(c)


class BestOfGrid:
    """The best point of a grid whose scores come one by one, from several threads."""

    def __init__(self, shape: tuple[int, int]):
        self.scores = np.full(shape, np.nan)  # NaN: not yet known
        self.score, self.at = float("nan"), (-1, -1)
        self.point: Point | None = None
        self.heard = 0
        self.lock = threading.Lock()

    def hear(self, g: int, c: int, score: float, point: Point) -> None:
        """Take the score of the γ and the C of these numbers, and keep the point if it is best."""
        with self.lock:
            self.heard += 1
            self.scores[g, c] = score
            if not np.isnan(score) and best_of(self.scores) == (g, c):
                self.score, self.at, self.point = score, (g, c), point

    def there(self) -> bool:
        """Return whether there is a point."""
        return self.point is not None

    def message(self) -> str:
        """Return what was kept, in words."""
        return (
            f"after {self.heard} of {count(self.scores.size, 'pair')} of C and gamma; the model of "
            "the best so far was kept"
        )


def table_of(model: "LSSVCCV") -> Table:
    """A row for each γ, with the best C for it."""
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
    return Table(columns, title=title, notes=notes_on(model))


def _with_scores(scores: np.ndarray) -> np.ndarray:
    """A γ without any score shows its first C."""
    none = np.isnan(scores).all(axis=1)
    return np.where(none[:, None], -np.inf, scores)


def notes_on(model: "LSSVCCV") -> list[str]:
    """What to know before trusting the choice."""
    g, c = best_of(model.scores_)
    told = []
    for name, at, tried in (("C", c, model.Cs_), ("gamma", g, model.gammas_)):
        if len(tried) > 1 and at in (0, len(tried) - 1):
            end, more = ("smallest", "smaller") if at == 0 else ("largest", "larger")
            told.append(f"The best {name} is the {end} that was tried: try {more} ones.")
    if model.scores_.size > 1:
        told.append(
            f"The best {name_of_score(model.scoring)} is the largest of {model.scores_.size}: on "
            "new rows expect a little less."
        )
    return told
