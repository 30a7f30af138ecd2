"""What ``open_rows`` was asked for with a collection, and how parts are made of its chunks."""

from typing import Any, NamedTuple

import numpy as np

from ..columns import Columns, chosen_columns
from ..encoding import BatchEncoder
from ..first_pass import Roles
from ..targets import distinct_targets, holds_labels
from .collection import Collection, collection_of, is_frame
from .parts import ChunkKind, PartPlan

TARGET, WEIGHTS = "target", "weights"  # names of what comes beside X


class Request(NamedTuple):
    """What ``open_rows`` was asked for: columns by name, or collections beside X."""

    source: Any
    columns: Any
    target: Any
    weights: Any
    classes: Any
    drop_first: bool
    missing: bool

    @property
    def is_frame(self) -> bool:
        return is_frame(self.source)

    @property
    def target_beside(self) -> Any:
        """The target if it is a collection or an array, else None."""
        return None if self.target is None or self._is_name(self.target) else self.target

    @property
    def weights_beside(self) -> Any:
        return None if self.weights is None or self._is_name(self.weights) else self.weights

    def _is_name(self, value: Any) -> bool:
        names = [value] if isinstance(value, str) else value
        named = isinstance(names, (list, tuple)) and all(isinstance(n, str) for n in names)
        return named and (self.is_frame or isinstance(self.source, (list, tuple)))

    def collections(self) -> tuple[Collection, Collection | None, Collection | None]:
        """Return X, targets and weights as chunks; None for those that are columns of X."""
        y, s = self.target_beside, self.weights_beside
        return (
            collection_of(self.source, "X"),
            None if y is None else collection_of(y, TARGET),
            None if s is None else collection_of(s, WEIGHTS),
        )


class _Header(NamedTuple):
    """The columns of a frame, as ``chosen_columns`` takes them from a file."""

    name: str
    schema: Any


def plan_of(
    request: Request,
    X: ChunkKind,
    y: ChunkKind | None,
    has_targets: bool,
    has_weights: bool,
) -> tuple[Columns, PartPlan]:
    """Return the columns by their roles, and how parts are made."""
    if X.schema is not None:
        target = None if has_targets else request.target
        weights = None if has_weights else request.weights
        frame = chosen_columns([_Header("the frame", X.schema)], request.columns, target, weights)  # type: ignore[list-item]
    else:
        require_no_names(request)
        frame = None
    features = tuple(map(str, range(X.width))) if frame is None else frame.features
    kinds = dict.fromkeys(features, X.kind) if frame is None else dict(frame.kinds)
    targets = () if frame is None else frame.targets
    weighing = None if frame is None else frame.weights
    if y is not None:
        names = [TARGET] if y.width == 1 else [f"{TARGET} {j}" for j in range(y.width)]
        targets = tuple(f"{name}" for name in names)
        kinds |= dict.fromkeys(targets, y.kind)
    if has_weights:
        weighing = WEIGHTS
        kinds[WEIGHTS] = "real"
    chosen = Columns(features, targets, weighing, kinds)
    labels = holds_labels(chosen, request.classes)
    is_beside = has_targets or has_weights
    beside = Columns((), targets if has_targets else (), WEIGHTS if has_weights else None, kinds)
    is_array = frame is None
    roles = Roles(
        [f"column {name}" if is_array else f"column '{name}'" for name in features],
        [f"'{name}'" if has_targets else f"column '{name}'" for name in targets],
        f"'{WEIGHTS}'" if has_weights else f"column '{weighing}'",
        [kinds[name] == "text" and not is_array for name in features],
        request.missing,
    )
    dtype = np.dtype(np.float32 if X.kind == "float32" else np.float64)
    if frame is not None:
        dtype = BatchEncoder(frame, False).dtype
    distinct = distinct_targets(chosen, request.classes)
    return chosen, PartPlan(frame, beside if is_beside else None, roles, distinct, labels, dtype)


def require_no_names(request: Request) -> None:
    """Refuse names of columns where X is arrays, which have none."""
    if request.columns is not None:
        raise ValueError(
            "columns names those of a frame: select the columns of a Dask array by slicing it"
        )
    for value, beside, option in (
        (request.target, request.target_beside, TARGET),
        (request.weights, request.weights_beside, WEIGHTS),
    ):
        if value is not None and beside is None:
            raise ValueError(
                f"{option}={value!r} names a column, and blocks of arrays have no names: give a "
                "collection or an array with an entry for every row"
            )
