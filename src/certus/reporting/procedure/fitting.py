"""A candidate fitted on training rows: a pipeline, with its calibration inside."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import Pipeline

from .candidates.base import CandidateModel, Parameter
from .encoding import Encoded, Training, encoder_for

if TYPE_CHECKING:
    import pyarrow as pa

    from ...certificate import Certificate

Calibration = tuple[float, np.ndarray]  # slope and intercepts, in the order of ``labels``


@dataclass(frozen=True, eq=False)
class PipelinePredictor:
    """A fitted pipeline as a ``Predictor``."""

    pipeline: Pipeline
    labels: tuple[object, ...]
    positive: int | None

    def output(self, X: "pa.Table") -> np.ndarray:
        """Numbers; the probability of the positive class; or those of all classes (n, K)."""
        if not self.labels:
            return np.asarray(self.pipeline.predict(X), dtype=float).ravel()
        P = np.asarray(self.pipeline.predict_proba(X), dtype=float)
        place = {label: j for j, label in enumerate(self.pipeline[-1].classes_.tolist())}
        if self.positive is not None:
            return P[:, place[self.labels[self.positive]]]
        found = np.zeros((len(P), len(self.labels)))
        for k, label in enumerate(self.labels):
            if label in place:
                found[:, k] = P[:, place[label]]
        return found

    def certificate(self, train: Training) -> "Certificate":
        """The claim of the model, recomputed from the rows that it was fitted on."""
        from ...certificate import verify

        return verify(self.pipeline, train.X, train.y, sample_weight=train.s)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Training rows with their encoding, from which candidates are fitted."""

    train: Training
    encoder: Pipeline
    data: Encoded

    @classmethod
    def encoding(cls, train: Training) -> "EncodedRows":
        """The encoding of these rows."""
        encoder = encoder_for(train.columns, train.n)
        A = np.asarray(encoder.fit_transform(train.X), dtype=float)
        return cls(train, encoder, Encoded(A, train.target, train.s, train.n_outputs, train.task))


def fitted(
    rows: EncodedRows,
    candidate: CandidateModel,
    parameter: Parameter,
    calibration: Calibration | None,
) -> PipelinePredictor:
    """The candidate with this parameter on these rows; all of them, even if there are many."""
    train = rows.train
    model = candidate.model(rows.data, parameter, _present(train))
    if calibration is not None:
        from ...metrics import CalibratedClassifier

        slope, intercept = _in_order(calibration, train)
        model = CalibratedClassifier(model, slope=slope, intercept=intercept)
    model.fit(rows.data.A, train.y, sample_weight=train.s)
    steps = [*rows.encoder.steps, ("model", model)]
    return PipelinePredictor(Pipeline(steps), train.labels, train.positive)


def sample(strata: np.ndarray, most: int | None, seed: int) -> np.ndarray:
    """At most so many row numbers, in order; each stratum keeps its share."""
    n = len(strata)
    if most is None or n <= most:
        return np.arange(n)
    order = np.lexsort((np.random.default_rng(seed).random(n), strata))
    return np.sort(order[np.linspace(0, n - 1, most).round().astype(np.intp)])


def _present(train: Training) -> tuple[object, ...]:
    """Labels that occur in these rows, in the order of all."""
    there = set(train.y.tolist()) if train.labels else set()
    return tuple(label for label in train.labels if label in there)


def _in_order(calibration: Calibration, train: Training) -> tuple[float, list[float]]:
    """Slope and intercepts for the classes in the model's order, which is that of sorted labels."""
    slope, intercept = calibration
    classes = np.unique(train.y).tolist()
    if train.positive is not None:
        is_second = classes[-1] == train.labels[train.positive]
        return slope, [float(intercept[0] if is_second else -intercept[0])]
    place = {label: k for k, label in enumerate(train.labels)}
    b = [float(intercept[place[label]]) for label in classes]
    return slope, b if len(b) > 2 else [b[1] - b[0]]
