"""The certified parameters: arguments of the proof's ``check``.

An exported script holds them, so they are numbers, arrays, text and containers of these. Which
names occur depends on the definition; a name has the same type wherever it occurs.
"""

from collections.abc import Callable, Mapping
from typing import TypedDict

import numpy as np

Function = Callable[..., object]  # of the user


class Term(TypedDict, total=False):
    """A loss or a penalty, by its name and numbers."""

    name: str
    l1: float
    l2: float


class Theta(TypedDict, total=False):
    """Components of a mixture: normal ones, or ``values``, a row each."""

    means: np.ndarray
    covariances: np.ndarray
    values: np.ndarray


class Votes(TypedDict, total=False):
    """Predictions of the neighbours. ``names``: classes of each output."""

    weights: str | np.ndarray
    predicted: np.ndarray
    probabilities: list[np.ndarray]
    names: list[np.ndarray]


class Parameters(TypedDict, total=False):
    """Arguments of ``check``, besides the data."""

    # linear models: scores x^T w + b
    w: np.ndarray
    b: np.ndarray
    thresholds: np.ndarray
    alpha: float | np.ndarray
    C: float | np.ndarray
    l1: float
    l2: float
    delta: float
    loss: Term | str | Function | None
    penalty: Term
    divisor: str | None
    fit_intercept: bool
    intercept_scaling: float | None
    positive: bool
    one_vs_rest: bool
    class_weight: str | np.ndarray | None
    direction: tuple[np.ndarray, np.ndarray] | None
    offset: bool
    # kernel machines
    beta: np.ndarray
    pairs: np.ndarray
    kernel: str | Function
    gamma: float | str
    degree: float
    coef0: float
    density: tuple[int, bool] | None
    epsilon: float | None
    # neighbours
    query_pairs: np.ndarray
    start: np.ndarray
    distances: np.ndarray
    indices: np.ndarray
    k: int | None
    radius: float | None
    votes: Votes | None
    metric: str | Function | None
    metric_params: Mapping[str, object] | None
    # trees
    merges: np.ndarray
    method: str
    labels: np.ndarray | None
    n_clusters: int
    threshold: float | None
    columns: bool
    absolute: bool
    representatives: np.ndarray
    precision: float
    core_alpha: float
    edges: np.ndarray
    probabilities: np.ndarray
    least_size: int
    most_size: int
    leaves: bool
    rounding: float
    # k-means
    centers: np.ndarray
    unit: float  # of sums of squares that float64 cannot hold
    ties: np.ndarray
    bound: bool
    ours: bool
    # mixtures
    family: str
    weights: np.ndarray
    theta: Theta
    added: float
    constant: np.ndarray
    single: bool
    # NCFS
    batch_size: int | None
    W: np.ndarray
    sigma: float
    gains: np.ndarray | None
    prior: str | np.ndarray | None
    mean: bool
    shift: np.ndarray
    scale: float | np.ndarray | None
