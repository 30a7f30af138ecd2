"""Class labels of any kind as indices into the sorted classes, and the weights of classes.

    y_i = classes[k_i],  classes ascending, as numpy.unique gives them

Labels may be whole numbers (of any type), True and False, or text; in arrays, lists, Series, Arrow
columns, categories. What cannot be a label is named with its row and a remedy.
"""

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ..text.format import count, listed
from ..text.suggestions import did_you_mean
from .frames import labels_from_frame, ordered_categories

if TYPE_CHECKING:
    from .rows import Rows

MAX_COUNTED_RANGE = 1 << 16  # whole numbers in a range up to this are counted, not sorted
# so many different numbers, with fewer rows for each than this, raise a doubt
MIN_DOUBTED_CLASSES, MIN_ROWS_PER_CLASS = 50, 4
MIN_DOUBTED_ROWS = 20  # as in scikit-learn: with fewer rows, classes may be most of the rows


def read_labels(y: Any, n: int) -> tuple[np.ndarray, bool]:
    """Return y as (n,) numbers or text, of one kind and none missing; and whether it was (n, 1)."""
    if issparse(y):
        raise ValueError("y is sparse: give one label a row, e.g. y.toarray().ravel()")
    if np.ma.is_masked(y):
        _refuse_missing(np.flatnonzero(np.ma.getmaskarray(y).ravel()))
    values = _as_array(labels_from_frame(y))
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 1):
        raise ValueError(
            f"y should be a 1d array, got an array of shape {values.shape} instead: give one label "
            "a row; of several targets each is a model of its own (sklearn.multioutput)"
        )
    if len(values) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {count(n, 'row')}, "
            f"y has {len(values):,}"
        )
    return _of_one_kind(values.ravel()), values.ndim == 2


def read_outputs(y: Any, n: int) -> tuple[list[np.ndarray], int]:
    """Return the columns of y, each as from ``read_labels``, and the dimension of y."""
    values = _as_array(labels_from_frame(y.toarray() if issparse(y) else y))
    if values.ndim != 2 or values.shape[1] == 0 or np.ma.is_masked(y):
        labels, column = read_labels(y, n)
        return [labels], 1 + column
    columns = []
    for t in range(values.shape[1]):
        try:
            columns.append(read_labels(values[:, t], n)[0])
        except (TypeError, ValueError) as error:
            if values.shape[1] > 1:
                error.add_note(f"in output {t} of y")
            raise
    return columns, 2


def _as_array(y: object) -> np.ndarray:
    if isinstance(y, np.ndarray):
        return y
    try:
        values = np.asarray(y)
        # [1, 'a'] and [nan, 'a'] would become text silently
        objects = np.asarray(y, dtype=object) if values.dtype.kind in "US" else values
    except ValueError as error:
        raise ValueError("y should be a 1d array: give one label a row") from error
    return values if set(map(type, objects.ravel().tolist())) == {str} else objects


def _of_one_kind(values: np.ndarray) -> np.ndarray:
    kind = values.dtype.kind
    if kind == "O":
        return _objects(values)
    if kind == "f":
        _require_whole(values)
    elif kind in "mM":
        _refuse_missing(np.flatnonzero(np.isnat(values)))
        raise ValueError(f"y holds dates or times (first: {values[0]}): make them text or numbers")
    elif kind == "S":
        raise TypeError(
            "Support for labels represented as bytes is not supported: decode them, e.g. "
            "y.astype(str)"
        )
    elif kind == "c":
        raise ValueError("Complex data not supported: y must hold labels")
    elif kind not in "biuUT":
        raise ValueError(f"Unknown label type: {values.dtype}. Give whole numbers or text")
    return values


def _objects(values: np.ndarray) -> np.ndarray:
    """Return objects that are all text, or all numbers as an array of numbers."""
    if set(map(type, values)) == {str}:
        return values
    _refuse_missing([i for i, value in enumerate(values) if _is_missing(value)])
    kinds = [_kind(value) for value in values]
    strange = next((value for value, kind in zip(values, kinds, strict=True) if not kind), None)
    if strange is not None:
        raise ValueError(
            f"Unknown label type: {type(strange).__name__} (first: {strange!r}). Give whole "
            "numbers or text"
        )
    if len(set(kinds)) > 1:
        text, other = kinds.index("text"), kinds.index("number")
        raise ValueError(
            f"y mixes text and numbers (Mix of label input types: {values[text]!r} in row {text}, "
            f"{values[other]!r} in row {other}): give labels of one kind, e.g. [str(v) for v in y]"
        )
    if kinds[:1] == ["text"]:
        return np.array([str(value) for value in values], dtype=object)
    numeric = np.array(values.tolist())
    if numeric.dtype.kind not in "biuf":
        raise ValueError("Unknown label type: whole numbers too large for 64 bits. Make them text")
    if numeric.dtype.kind == "f":
        _require_whole(numeric)
    return numeric


def _kind(value: object) -> str | None:
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, (numbers.Real, np.bool_)) else None


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Real) and bool(value != value)


def _refuse_missing(rows: Sequence[int] | np.ndarray) -> None:
    if len(rows):
        shown = ", ".join(map(str, rows[:5])) + (", …" if len(rows) > 5 else "")
        noun = "row" if len(rows) == 1 else "rows"
        raise ValueError(
            f"y has {count(len(rows), 'missing label')} (Input y contains NaN; {noun} {shown}): "
            "drop the rows, or give them a class of their own"
        )


def _require_whole(values: np.ndarray) -> None:
    if np.isfinite(values).all():
        broken = np.flatnonzero(values != np.floor(values))
        if len(broken):
            raise ValueError(
                f"Unknown label type: continuous. y holds numbers that are not whole (first: row "
                f"{broken[0]}, {values[broken[0]]:g}), and a classifier needs classes: use a "
                "regressor, or cut y into classes"
            )
        return
    _refuse_missing(np.flatnonzero(np.isnan(values)))
    row = int(np.flatnonzero(np.isinf(values))[0])
    raise ValueError(f"y holds an infinite label (row {row}): Input y contains infinity")


# --- labels as indices ----------------------------------------------------------------------------


def encode(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (classes, k) with values = classes[k], classes ascending."""
    kind = values.dtype.kind
    if kind in "OUT":
        labels = values.tolist()
        distinct = sorted(set(labels))
        number = {label: k for k, label in enumerate(distinct)}
        k = np.fromiter(map(number.__getitem__, labels), dtype=np.intp, count=len(labels))
        return np.array(distinct, dtype=values.dtype), k
    if kind == "b":
        classes, k = encode(values.view(np.uint8))
        return classes.astype(bool), k
    least, most = values.min().item(), values.max().item()
    if most - least < MAX_COUNTED_RANGE and most < 1 << 62:
        wide = values if kind == "f" else values.astype(np.int64)  # int8 − int8 may overflow
        offset = (wide - least if least else wide).astype(np.intp, copy=False)
        there = np.flatnonzero(np.bincount(offset))
        if len(there) == most - least + 1:  # consecutive numbers
            return (there + least).astype(values.dtype), offset
        place = np.cumsum(np.bincount(there)) - 1
        return (there + least).astype(values.dtype), place[offset]
    classes, k = np.unique(values, return_inverse=True)
    return classes, k


def encode_as(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return k with values = known[k]; raise ValueError with the first unknown label."""
    classes, k = encode(values)
    number = {label: j for j, label in enumerate(known.tolist())}
    for label in classes.tolist():
        if label not in number:
            row = int(np.argmax(k == classes.tolist().index(label)))
            raise ValueError(
                f"y holds {label!r} (row {row}), which is not among the model's classes "
                f"{named(known)}: give the y of the fit"
            )
    return np.array([number[label] for label in classes.tolist()], dtype=np.intp)[k]


def named(classes: np.ndarray) -> str:
    return listed([repr(label) for label in classes.tolist()])


def require_two_classes(classes: np.ndarray, n: int) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()[0]!r} ({count(n, 'row')}), and a "
            "classifier needs at least 2 classes in the data: give rows of another class too"
        )


def looks_continuous(classes: np.ndarray, n: int) -> str | None:
    """Return a warning if these look like numbers rather than classes, else None.

    Above half as many classes as rows it is scikit-learn's own warning. Many whole numbers that
    few rows share are doubted as well: a classifier of K classes needs K times the work.
    """
    if n <= MIN_DOUBTED_ROWS or len(classes) <= round(0.5 * n):
        K, numeric = len(classes), classes.dtype.kind in "iuf"
        if not numeric or K < MIN_DOUBTED_CLASSES or n >= MIN_ROWS_PER_CLASS * K:
            return None
        return (
            f"y holds {len(classes):,} different numbers in {count(n, 'row')}, from "
            f"{classes.min():g} to {classes.max():g}: they look like numbers rather than classes, "
            "and a model of so many classes takes long. Use a regressor, such as "
            "LinearRegression; or make few classes of them, e.g. with numpy.digitize"
        )
    what = "every row has a class of its own" if len(classes) == n else f"{len(classes):,} classes"
    return (
        f"The number of unique classes is greater than 50% of the number of samples ({what} in "
        f"{count(n, 'row')}). `y` could be an id column, or represent a regression problem, not a "
        "classification problem. For numbers use a regressor, such as LinearRegression"
    )


def require_weight(classes: np.ndarray, k: np.ndarray, s: np.ndarray | None) -> None:
    """Raise ValueError unless every class has a row of positive weight."""
    weight = np.bincount(k, weights=s, minlength=len(classes))
    for label, total in zip(classes.tolist(), weight, strict=True):
        if not total > 0:
            why = "no row in y" if s is None else "no row whose sample_weight is above 0"
            raise ValueError(f"class {label!r} has {why}: drop the class, or give it rows")


# --- classes in an order --------------------------------------------------------------------------


def in_order(known: np.ndarray, categories: object, y: object, k: np.ndarray | None) -> np.ndarray:
    """Return the sorted classes ``known`` of y in the requested order: that of ``categories``, or
    ("auto") that of y's type, or the sorted one. ``k``: the class of each row, if in memory."""
    labels = known.tolist()
    if isinstance(categories, str) and categories == "auto":
        of_type = ordered_categories(y)
        ordered = labels if of_type is None else [label for label in of_type if label in labels]
        return np.array(ordered, dtype=known.dtype)
    if isinstance(categories, str) or not np.iterable(categories):
        raise ValueError(f"categories={categories!r}: give 'auto', or the classes in their order")
    ordered = [v.item() if isinstance(v, np.generic) else v for v in categories]
    twice = next((label for j, label in enumerate(ordered) if label in ordered[:j]), None)
    if twice is not None:
        raise ValueError(f"categories has {twice!r} twice: name each class once")
    for j, label in enumerate(labels):
        if label not in ordered:
            row = "" if k is None else f" (row {int(np.argmax(k == j))})"
            raise ValueError(
                f"y holds {label!r}{row}, which is not among "
                f"categories={ordered!r}: put it in its place there, or drop its rows"
            )
    for label in ordered:
        if label not in labels:
            raise ValueError(
                f"categories has {label!r}, and y has no row of it (it holds {named(known)}): its "
                "two thresholds would be one. Leave it out"
            )
    return np.array(ordered, dtype=known.dtype)


def guessed_order(known: np.ndarray, categories: object, y: object) -> str | None:
    """Return a warning about classes in alphabetical order; None if their type has an order."""
    labels = known.tolist()
    has_order = not isinstance(categories, str) or ordered_categories(y) is not None
    if has_order or len(labels) < 3 or not isinstance(labels[0], str):
        return None
    return (
        f"the classes were put in the order of text, {' < '.join(map(repr, labels[:5]))}"
        f"{' < …' if len(labels) > 5 else ''}. If that is not theirs, give "
        "categories=[lowest, …, highest]"
    )


# --- weights of classes ---------------------------------------------------------------------------


def class_weights(
    class_weight: object, classes: np.ndarray, k: np.ndarray, s: np.ndarray | None
) -> np.ndarray | None:
    """c_k for each class; "balanced": c_k = Σs / (K · Σs over class k)."""
    if class_weight is None:
        return None
    total = np.bincount(k, weights=s, minlength=len(classes)).astype(float)
    return class_weights_of_totals(class_weight, classes, total)


def class_weights_of_rows(
    class_weight: object, classes: np.ndarray, rows: "Rows"
) -> np.ndarray | None:
    """Return ``class_weights`` of rows whose targets (n, 1) are class indices."""
    if class_weight is None:
        return None
    (total,) = rows.reduce_targets(_totals, len(classes))
    return class_weights_of_totals(class_weight, classes, total)


def _totals(y: np.ndarray, s: np.ndarray | None, n_classes: int) -> tuple[np.ndarray]:
    """Return Σ s of each class of one block."""
    return (np.bincount(y[:, 0].astype(np.intp), s, n_classes).astype(float),)


def class_weights_of_totals(
    class_weight: object, classes: np.ndarray, total: np.ndarray
) -> np.ndarray:
    """Return ``class_weights`` from Σ s of each class."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        there = total > 0  # a class without weight cannot be balanced
        mean = total.sum() / len(classes)
        return np.divide(mean, total, out=np.zeros(len(classes)), where=there)
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight={class_weight!r}: give None, 'balanced', or a dict from class to weight"
        )
    keys = [_key(label, class_weight) for label in classes.tolist()]
    unknown = [label for label in class_weight if label not in keys]
    if unknown and None in keys:  # as in scikit-learn: labels that y does not hold are allowed
        raise ValueError(
            f"class_weight names {listed([repr(label) for label in unknown])}, and the classes are "
            f"{named(classes)}{_meant(unknown[0], classes)}"
        )
    for label in keys:
        if label is not None:
            _require_weight(label, class_weight[label])
    c = np.array([1.0 if key is None else float(class_weight[key]) for key in keys])
    if not (c * total).any():
        raise ValueError(f"class_weight={class_weight!r} leaves no row a weight above 0")
    return c


def _key(label: Any, class_weight: dict[Any, Any]) -> Any:
    """Return the dict's key for a label, or None; text of digits may be keyed by its number."""
    if label in class_weight:
        return label
    try:
        return int(label) if int(label) in class_weight else None
    except ValueError:
        return None


def _require_weight(label: object, weight: object) -> None:
    if not (isinstance(weight, numbers.Real) and 0 <= float(weight) < float("inf")):
        raise ValueError(
            f"class_weight of {label!r} is {weight!r}: give a finite number that is not negative"
        )


def _meant(label: object, classes: np.ndarray) -> str:
    """ ". Did you mean 'yes'?", if a class is like this label."""
    known = {str(c): c for c in classes.tolist()}
    close = did_you_mean(label, known)
    return f". Did you mean {known[close]!r}?" if close is not None else ""


def places_among(numbers: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the place of each y among ascending whole numbers, as floats; y is one of them."""
    if numbers[-1] - numbers[0] == len(numbers) - 1:  # consecutive: a tenth of a search's time
        return y - float(numbers[0])
    return np.searchsorted(numbers, y).astype(float)
