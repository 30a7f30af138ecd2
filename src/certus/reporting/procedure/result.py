"""What the procedure found: inputs of the sections that describe models."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..content.answer import ModelComparison
from ..content.values import MeasureEstimate

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from ...certificate import Certificate


class Predictor(Protocol):
    """A fitted model that answers rows of the table, calibrated where that was needed.

    ``output(X)``: numbers (n,); two classes: the probability of the positive class (n,); more
    classes: probabilities (n, K) in the order of ``Prepared.labels``.
    """

    def output(self, X: "pa.Table") -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class OuterPredictions:
    """Answers to held-out rows, each by a model that had not seen the row."""

    output: np.ndarray  # (n,) or (n, K), as ``Predictor.output``; NaN where a row has none
    fold: np.ndarray  # (n,) outer fold of each row; −1 for rows without an answer


@dataclass(frozen=True, eq=False)
class ProcedureResult:
    """The chosen model and the honest score of the way in which it was chosen."""

    comparison: ModelComparison
    key: str  # of the chosen candidate: "logistic", "knn", …
    name: str
    pipeline: "Pipeline"  # fitted on all rows; its last step is a certus estimator
    predictor: Predictor  # the pipeline with its calibration
    calibration: str  # what calibration did, in a sentence; "" if nothing
    certificate: "Certificate"  # ``verify`` of the pipeline, on all rows
    other_certificates: tuple[tuple[str, "Certificate"], ...]  # of the other candidates, refitted
    measure: MeasureEstimate  # the verdict's, with interval and baseline
    others: tuple[MeasureEstimate, ...]
    how: str
    outer: OuterPredictions  # of the whole procedure
    by_candidate: dict[str, OuterPredictions]
    reference: OuterPredictions | None  # the boosted tree
    reference_measure: MeasureEstimate | None
    threshold: float | None  # two classes, with its reason
    threshold_reason: str
    seconds: dict[str, float] = field(default_factory=dict)  # by step: for run.json
    cut: tuple[str, ...] = ()  # what --budget or Ctrl-C left out
    stopped: bool = False
    rows: np.ndarray | None = None  # of Prepared that ``pipeline`` was fitted on; None: all

    @property
    def model(self) -> "BaseEstimator":
        """The certus estimator of the pipeline, without its calibration."""
        last: BaseEstimator = self.pipeline[-1]
        return getattr(last, "estimator_", last)
