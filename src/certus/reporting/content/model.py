"""Section 5 and the parts of the page that compute with the chosen model."""

from dataclasses import dataclass

from .values import Interval, Note, ReportTable


@dataclass(frozen=True)
class Effect:
    """A coefficient in the table's own units, or an odds ratio, with sign, unit and interval."""

    column: str  # as in the table
    level: str | None  # of a category; None for numbers
    reference: str | None  # the level it is compared with
    unit: str  # "per 1", "per 10 years", "'red' against 'white'"
    estimate: float  # coefficient
    interval: Interval | None
    ratio: float | None  # exp(coefficient) for odds ratios
    ratio_interval: Interval | None
    p_value: float | None
    of_class: str | None = None  # softmax: the class of the score


@dataclass(frozen=True)
class SelectedColumn:
    """A column of a model that selects columns (lasso, NCFS): weight and selection frequency."""

    column: str
    weight: float
    frequency: float  # share of resamples in which it was selected
    n_resamples: int


@dataclass(frozen=True)
class WhatItUses:
    """Section 5. At most 20 effects are on the page, all in the JSON."""

    kind: str  # "odds ratios", "coefficients", "weights", "none"
    text: str
    effects: tuple[Effect, ...] = ()
    selected: tuple[SelectedColumn, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Slider:
    """One input of what-if: the positions of a slider, or the levels of a category.

    ``scores[k][j]``: what position j adds to the score of class k (one row for two classes and for
    numbers).
    """

    column: str
    labels: tuple[str, ...]  # rounded quantiles "3.2", or levels
    scores: tuple[tuple[float, ...], ...]
    start: int  # position of the median or of the commonest level


@dataclass(frozen=True)
class WhatIf:
    """What-if in the static page: a score is intercept + Σ of the sliders' contributions.

    ``link``: "identity" (numbers), "logistic" (two classes: p = 1 / (1 + exp(−z))), "softmax"
    (p_k ∝ exp(z_k)) or "cumulative" (ordered classes: P(y ≤ k) = 1 / (1 + exp(−(cuts_k − z)))).
    The interval of a score is z ± width · √(vᵀ V v), with v the position's values of the columns;
    ``design[slider][position]`` is its sparse part of v as (index, value) pairs, and V is given by
    the rows of ``root`` (V = root·rootᵀ). Without ``root`` the page shows no interval and says why.
    """

    link: str
    outputs: tuple[str, ...]  # classes, or the target
    intercepts: tuple[float, ...]
    cuts: tuple[float, ...]
    sliders: tuple[Slider, ...]
    design: tuple[tuple[tuple[tuple[int, float], ...], ...], ...]
    root: tuple[tuple[float, ...], ...] | None
    width: float  # quantile of the interval, 1.96
    interval_note: str
    others_note: str = ""  # columns without a slider stay at their median


@dataclass(frozen=True)
class Vote:
    """A neighbour of an explained case."""

    row: int
    answer: str
    distance: float


@dataclass(frozen=True)
class Case:
    """An explained row: why it was predicted so."""

    kind: str  # "typical", "borderline", "wrong"
    row: int  # as in the file, from 1
    predicted: str
    probability: float | None
    actual: str
    text: str
    reasons: tuple[tuple[str, float], ...]  # column and what it adds to the score
    neighbors: tuple[Vote, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()  # only with show_rows


@dataclass(frozen=True)
class Cases:
    """Section 8."""

    text: str
    cases: tuple[Case, ...]
    table: ReportTable | None = None
