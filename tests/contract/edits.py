"""Edits of fitted models: every attribute that ``vars`` shows, every way to spoil it.

    places(model)            every attribute, also those of objects, lists and dicts inside
    edits_of(value)          the values that stand in for it
    answers(model, X)        what the model says when it is asked, by every public method
    changed(before, after)   whether an edit changed what it says beyond rounding

Nothing is listed by hand, so an attribute that a model gains is edited too.
"""

import copy
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

METHODS = (
    "predict", "decision_function", "predict_proba", "predict_log_proba", "transform",
    "score_samples", "kneighbors", "radius_neighbors", "latent", "get_support",
)  # fmt: skip
# the claim itself; the seed of a fit that is over; threads, of which a number below 1 ends the
# process inside scikit-learn
OPAQUE = ("certificate_", "random_state", "_n_threads")
MOVES = 1e-3  # of the largest answer: an optimum is known to tol = 1e-6 in squares
DEPTH = 3


class Place(NamedTuple):
    """One attribute, by the steps that lead to it."""

    path: tuple[tuple[str, Any], ...]  # ("attribute", name) or ("item", key)

    def __str__(self) -> str:
        shown = (f".{key}" if how == "attribute" else f"[{key!r}]" for how, key in self.path)
        return "".join(shown).lstrip(".")

    @property
    def attribute(self) -> str:
        return str(self.path[0][1])

    def get(self, model: Any) -> Any:
        for how, key in self.path:
            model = vars(model)[key] if how == "attribute" else model[key]
        return model

    def owner(self, model: Any) -> Any:
        return Place(self.path[:-1]).get(model)

    def set(self, model: Any, value: Any) -> None:
        how, key = self.path[-1]
        if how == "attribute":
            vars(self.owner(model))[key] = value
        else:
            self.owner(model)[key] = value

    def delete(self, model: Any) -> None:
        how, key = self.path[-1]
        if how == "attribute":
            del vars(self.owner(model))[key]
        else:
            del self.owner(model)[key]


def places(model: Any) -> Iterator[Place]:
    """Every attribute of a model and of what it holds."""
    yield from _inside(model, (), DEPTH)


def _inside(thing: Any, path: tuple[tuple[str, Any], ...], depth: int) -> Iterator[Place]:
    if hasattr(thing, "__dict__"):
        steps = [("attribute", name) for name in vars(thing)]
    elif isinstance(thing, list):
        steps = [("item", i) for i in range(min(len(thing), 3))]
    elif isinstance(thing, dict):
        steps = [("item", key) for key in list(thing)[:3]]
    else:
        return
    for step in steps:
        if step[1] in OPAQUE or str(step[1]).startswith(("_callback", "_sklearn_")):
            continue
        place = Place((*path, step))
        yield place
        value = place.get(thing) if not path else _at(thing, step)
        if depth > 1 and _is_ours_to_open(value):
            yield from _inside(value, place.path, depth - 1)


def _at(thing: Any, step: tuple[str, Any]) -> Any:
    return vars(thing)[step[1]] if step[0] == "attribute" else thing[step[1]]


def _is_ours_to_open(value: Any) -> bool:
    if isinstance(value, list | dict):
        return True
    module = type(value).__module__
    opened = module.startswith(("certus", "sklearn")) and not isinstance(value, type)
    return opened and hasattr(value, "__dict__")


# --- edits ----------------------------------------------------------------------------------------


def edits_of(value: Any, choices: Any = ()) -> Iterator[tuple[str, Any]]:
    """(name, the value edited), each different from it."""
    for choice in choices:
        if not isinstance(value, str) or choice != value:
            yield f"= {choice!r}", choice
    if isinstance(value, bool | np.bool_):
        yield "not", not value
    elif isinstance(value, int | float | np.integer | np.floating):
        yield from _of_number(value)
    elif isinstance(value, str):
        yield "other text", value + "x"
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        yield from _of_numbers(value)
    elif isinstance(value, np.ndarray) and value.size > 1:
        yield from _of_order(value)
        yield "objects", value.astype(object)
    elif issparse(value):
        yield "1 %", value * 1.01
        yield "sign", -value
    elif isinstance(value, list | tuple) and len(value) > 1:
        yield "reversed", type(value)(value[::-1]) if not hasattr(value, "_fields") else value
        yield "shorter", value[:-1]
    elif value is None:
        yield "1", 1
    if value is not None:
        yield "None", None


def _of_number(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if isinstance(value, int | np.integer):
        yield "+ 1", kind(value + 1)
        yield "− 1", kind(value - 1)
        yield "doubled", kind(2 * value)
    else:
        yield "1 %", kind(value * 1.01)
        yield "+ 1", kind(value + 1)
        yield "int", 0 if not np.isfinite(value) else int(value)
    if value != 0:
        yield "sign", kind(-value)
        yield "zero", kind(0)
    yield "nan", float("nan")
    yield "inf", float("inf")
    yield "text", str(value)
    yield "an array of one", np.array([value])
    yield "float32", np.float32(value)


def _of_numbers(a: np.ndarray) -> Iterator[tuple[str, Any]]:
    whole = a.dtype.kind in "biu"
    if a.dtype.kind == "b":
        yield "not", ~a
        yield "one other", _with(a, 0, not a.flat[0]) if a.size else a
    elif whole:
        yield "+ 1", a + 1
    else:
        yield "1 %", a * 1.01
        yield "float32", a.astype(np.float32)
        yield "float16", a.astype(np.float16)
        yield "int", a.astype(int) if np.isfinite(a).all() else np.zeros(a.shape, int)
        yield "nan everywhere", np.full_like(a, np.nan)
    if a.dtype.kind != "b":
        yield "sign", -a
    if a.size:
        big = int(np.argmax(np.abs(np.nan_to_num(a.astype(float)))))
        last = a.size - 1
        if whole and a.dtype.kind != "b":
            yield "one + 1", _with(a, big, a.flat[big] + 1)
            yield "last + 1", _with(a, last, a.flat[last] + 1)
        elif not whole:
            yield "one by 1 %", _with(a, big, a.flat[big] * 1.01)
            size = float(np.abs(a.flat[big])) or 1.0
            yield "last entry", _with(a, last, a.flat[last] + 0.3 * size)
            yield "sign of one", _with(a, big, -a.flat[big])
            yield "nan", _with(a, last, np.nan)
            yield "inf", _with(a, last, np.inf)
        yield "zeros", np.zeros_like(a)
    yield "objects", a.astype(object)
    yield "text", a.astype(str)
    yield "list", a.tolist()
    yield "another axis", a[..., None]
    if a.ndim:
        yield "first axis twice", a[None]
        yield from _of_order(a)
    if a.ndim > 1:
        yield "transposed", a.T
        yield "flat", a.ravel()
        yield "last column dropped", a[..., :-1]
        if a.shape[-1] > 1:
            b = a.copy()
            b[..., [0, 1]] = a[..., [1, 0]]
            yield "columns swapped", b


def _of_order(a: np.ndarray) -> Iterator[tuple[str, Any]]:
    if len(a) > 1:
        swapped = a.copy()
        swapped[[0, -1]] = a[[-1, 0]]
        yield "swapped", swapped
        yield "reversed", a[::-1].copy()
        yield "one dropped", a[:-1]
        yield "first dropped", a[1:]
    if len(a):
        yield "one more", np.concatenate([a, a[-1:]])
        yield "empty", a[:0]


def _with(a: np.ndarray, at: int, value: Any) -> np.ndarray:
    edited = a.copy()
    edited.flat[at] = value
    return edited


def same(a: Any, b: Any) -> bool:
    """Is the edit none at all (zeros for zeros)?"""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        numbers = a.dtype.kind in "biuf" and b.dtype.kind in "biuf"
        return bool(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=numbers))
    return type(a) is type(b) and isinstance(a, int | float | str | bool) and a == b


def all_edits(model: Any, wanted: Any = None) -> Iterator[tuple[Place, str, Any]]:
    """(place, name of the edit, an edited deep copy of the model); ``wanted``: names, or all."""
    choices = choices_of(model)
    for place in list(places(model)):
        try:
            value = place.get(copy.deepcopy(model))
        except (KeyError, TypeError):  # a cache that copies leave behind
            continue
        alternatives = choices.get(place.attribute, ()) if len(place.path) == 1 else ()
        for name, edited in edits_of(value, alternatives):
            if not same(value, edited) and (wanted is None or name in wanted):
                other = copy.deepcopy(model)
                place.set(other, edited)
                yield place, name, other
        other = copy.deepcopy(model)
        if _edited_in_place(place.get(other)):
            yield place, "in place", other
        other = copy.deepcopy(model)
        place.delete(other)
        yield place, "deleted", other


def _edited_in_place(array: Any) -> bool:
    """Change the last entry of an array of floats where it stands."""
    floats = isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size
    if not floats or not array.flags.writeable:
        return False
    array.flat[-1] += 0.3 * (np.nanmax(np.abs(array)) or 1.0)
    return True


def choices_of(model: Any) -> dict[str, list[Any]]:
    """What each constructor parameter may be instead, where that is a list of words."""
    found: dict[str, list[Any]] = {}
    for name, constraints in getattr(model, "_parameter_constraints", {}).items():
        options: list[Any] = []
        for constraint in constraints if isinstance(constraints, list) else []:
            options += [o for o in getattr(constraint, "options", ()) if isinstance(o, str)]
        found[name] = sorted(options)
    return found


# --- answers --------------------------------------------------------------------------------------


def answers(model: Any, X: Any) -> dict[str, Any]:
    """What every public method says of X; an exception's name where it raises one."""
    found: dict[str, Any] = {}
    if not hasattr(type(model), "predict"):  # trees: labels are all they say
        found["labels_"] = _partition(vars(model).get("labels_", "gone"))
    for name in METHODS:
        try:
            method = getattr(model, name, None)
        except Exception as error:  # a property that reads what is not there
            found[name] = type(error).__name__
            continue
        if method is None:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                answer = method() if name == "get_support" else method(X)
            except Exception as error:
                found[name] = type(error).__name__
                continue
        if issparse(answer):
            answer = answer.toarray()
        if isinstance(answer, tuple | list):
            for i, part in enumerate(answer):
                found[f"{name}[{i}]"] = part
        else:
            found[name] = answer
    return found


def _partition(labels: Any) -> Any:
    """Labels numbered as they appear: their numbers are names, the same rows stand together."""
    try:
        _, first, k = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    except TypeError:
        return labels
    return labels if isinstance(labels, str) else np.argsort(np.argsort(first))[k]


def changed(before: dict[str, Any], after: dict[str, Any], moves: float = MOVES) -> list[str]:
    """The methods that say something else, or nothing any more."""
    found = []
    for name, was in before.items():
        now = after.get(name, "gone")
        if isinstance(was, str):
            continue
        if isinstance(now, str):
            found.append(f"{name} ({now})")
        elif not _alike(np.asarray(was), np.asarray(now), moves):
            found.append(name)
    return found


def _alike(a: np.ndarray, b: np.ndarray, moves: float) -> bool:
    if a.shape != b.shape and {a.shape, b.shape} == {a.shape[:1], (*a.shape[:1], 1)}:
        a, b = a.ravel(), b.ravel()  # of one target: as y was, (n,) or (n, 1)
    if a.shape != b.shape:
        return False
    if a.dtype == object and a.size and isinstance(a.flat[0], np.ndarray):  # rows of their own
        pairs = zip(a.flat, b.flat, strict=True)
        return all(_alike(np.asarray(x), np.asarray(y), moves) for x, y in pairs)
    try:
        x, y = a.astype(float), b.astype(float)
    except (TypeError, ValueError):
        return bool(np.array_equal(a, b))
    if a.dtype.kind in "biu":
        return bool(np.array_equal(x, y))
    finite = np.isfinite(x)
    size = np.abs(x[finite]).max(initial=0.0)
    exact = np.array_equal(x[~finite], y[~finite], equal_nan=True)
    return bool(exact and (np.abs(x[finite] - y[finite]) <= moves * size).all())
