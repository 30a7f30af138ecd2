"""How an exported script reads X, y and the weights, and which shapes these should have."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .literals import literal

if TYPE_CHECKING:
    from ...audit import Labels
    from ..certificate import Certificate

CLASSES = '''CLASSES = {classes}
NUMBER = {{name: k for k, label in enumerate(CLASSES) for name in (label, str(label))}}


def load_labels(path):
    """The index of each row's class, from labels in .npy or in lines of text."""
    if path.endswith(".npy"):
        return np.array([number_of(label) for label in np.load(path, allow_pickle=False).ravel()])
    with open(path, encoding="utf-8-sig") as file:
        lines = [line.strip() for line in file if line.strip()]
    return np.array([number_of(line.strip("\\"'")) for line in lines])


def number_of(label):
    """As it is; what is no class as text, as a number."""
    label = label.item() if isinstance(label, np.generic) else label
    try:
        return float(NUMBER[label] if label in NUMBER else NUMBER[float(label)])
    except (KeyError, ValueError):
        raise ValueError(f"{{label!r}} is none of the classes {{CLASSES}}") from None


'''

SIGNS = """\
    # ±1: a column for each class, of two classes the second's alone
    weight = {weight}
    if weight is not None:
        s = weight[y[:, 0].astype(int)] * (1.0 if s is None else s)
    y = np.where(y == np.arange(1 if len(CLASSES) == 2 else 0, len(CLASSES)), 1.0, -1.0)
"""

NO_TARGETS = "np.zeros((len(X), 0))"
NUMBERS = "np.asarray(load(arguments[1]), dtype=float).reshape(len(X), -1)"
LABELS = "load_labels(arguments[1]).reshape(-1, 1)"
WEIGHTS = "(len(X),) if s is None else s.shape"


@dataclass(frozen=True)
class Reader:
    """Expressions of the script."""

    wanted: tuple[int, ...]  # how many files
    named: str  # what has the shapes
    shapes: str
    fitted: str  # the shapes of the fit
    y: str = NO_TARGETS
    s: str = "None"
    labels: str = ""  # code that knows the classes
    coding: str = ""  # … and that turns their numbers into targets


def rows_alone(c: "Certificate") -> Reader:
    """X, and nothing else."""
    return Reader((1,), "X has shape", "X.shape", repr(c.shape))


def rows_and_weights(c: "Certificate") -> Reader:
    """X, and weights if there were any."""
    fitted = f"{c.shape!r}, ({c.shape[0]},)"
    shapes = f"X.shape, {WEIGHTS}"
    return Reader((1, 2), "X and weights have shapes", shapes, fitted, s=_weights(1))


def with_targets(c: "Certificate", y: str, columns: int | str, wanted: tuple[int, ...]) -> Reader:
    """X, y and weights; ``y``: how it is read, ``columns``: how many it has."""
    shapes = f"X.shape, y.shape, {WEIGHTS}"
    fitted = f"{c.shape!r}, ({c.shape[0]}, {columns}), ({c.shape[0]},)"
    return Reader(
        wanted, "X, y and weights have shapes", shapes, fitted, y, _weights(2),
        "" if c.labels is None else _class_code(c.labels), _coding(c.labels),
    )  # fmt: skip


def targets(c: "Certificate", columns: int | str) -> Reader:
    """Labels of a classifier, else numbers in ``columns`` columns."""
    if c.labels is None:
        return with_targets(c, NUMBERS, columns, (2, 3))
    return with_targets(c, LABELS, 1, (2, 3))


def _weights(file: int) -> str:
    return f"load(arguments[{file}]) if len(arguments) == {file + 1} else None"


def _class_code(labels: "Labels") -> str:
    return CLASSES.format(classes=repr(labels.classes.tolist()))


def _coding(labels: "Labels | None") -> str:
    if labels is None or labels.coding != "signs":
        return ""
    return SIGNS.format(weight=literal(labels.weight))
