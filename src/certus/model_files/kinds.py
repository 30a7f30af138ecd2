"""The classes whose objects a model file may hold, and what is kept of each.

Three kinds of them:

    records      dataclasses and named tuples, by their fields: certificates and their parts
    parts        losses, penalties, solvers, distances, trees: the attributes named here
    estimators   parameters, and fitted attributes (``states.py``, ``transformers.py``)

A class is found by its public name in this table, never by a name in the file. An attribute that
the table does not name is refused when a model is saved, and when a file is read.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Protocol, cast

from ..exceptions import ModelFileError
from .states import STATES
from .transformers import TRANSFORMERS
from .values import ATTRIBUTES

PARAMETERS = "parameters"
NOT_THE_MODEL = ("_sklearn_version", "_skl_callbacks")
OF_MACHINE = ("n_jobs", "memory", "verbose")
MAX_DEGREE = 1000


class Kind(Protocol):
    """Storage of the objects of one class."""

    def state_of(self, value: object, where: str) -> dict[str, object]:
        """Return the state of an object that a file stores."""

    def restore(self, state: dict[str, object]) -> object:
        """The object again."""


@dataclass(frozen=True)
class Record:
    """A dataclass or named tuple. ``left_out``: fields that are not the model's, such as times."""

    cls: type
    left_out: Mapping[str, object]

    def _names(self) -> list[str]:
        if is_dataclass(self.cls):
            return [f.name for f in fields(self.cls)]
        return list(cast(Iterable[str], getattr(self.cls, "_fields")))  # noqa: B009

    def state_of(self, value: object, where: str) -> dict[str, object]:
        return {n: getattr(value, n) for n in self._names() if n not in self.left_out}

    def restore(self, state: dict[str, object]) -> object:
        expected = {n for n in self._names() if n not in self.left_out}
        _require_known(self.cls.__name__, state, expected)
        return self.cls(**state, **self.left_out)


@dataclass(frozen=True)
class Part:
    """An object that is its attributes; where the table names just the arguments of the
    constructor, it is made by that, and what it derives from them is not kept."""

    cls: type
    attributes: tuple[str, ...]

    @property
    def _by_constructor(self) -> bool:
        return set(inspect.signature(self.cls).parameters) == set(self.attributes)

    def state_of(self, value: object, where: str) -> dict[str, object]:
        if self._by_constructor:
            return {name: getattr(value, name) for name in self.attributes}
        state = {k: v for k, v in vars(value).items() if not self._is_derived(k)}
        _require_kept(self.cls.__name__, where, state, self.attributes)
        return state

    def _is_derived(self, name: str) -> bool:
        """Whether the attribute is a cached property or only affects how the object is printed."""
        return name == "_typed" or isinstance(getattr(self.cls, name, None), cached_property)

    def restore(self, state: dict[str, object]) -> object:
        _require_known(self.cls.__name__, state, self.attributes)
        if self._by_constructor:
            return self.cls(**state)
        value: object = object.__new__(self.cls)
        vars(value).update(state)
        return value


@dataclass(frozen=True)
class Estimator:
    """An estimator: its parameters, and what ``fit`` set."""

    cls: type
    attributes: tuple[str, ...]

    def state_of(self, value: object, where: str) -> dict[str, object]:
        parameters = value.get_params(deep=False)  # type: ignore[attr-defined]
        kept = value.__getstate__()
        assert isinstance(kept, dict)
        state = {k: v for k, v in kept.items() if k not in parameters and k not in NOT_THE_MODEL}
        _require_kept(self.cls.__name__, where, state, self.attributes)
        kept_parameters = {k: v for k, v in parameters.items() if not self._is_of_machine(k)}
        return {PARAMETERS: kept_parameters, ATTRIBUTES: state}

    def _is_of_machine(self, parameter: str) -> bool:
        """Whether a parameter concerns the machine (workers, a cache on disk), not the model."""
        return self.cls.__module__.startswith("sklearn.") and parameter in OF_MACHINE

    def restore(self, state: dict[str, object]) -> object:
        name = self.cls.__name__
        _require_known(name, state, (PARAMETERS, ATTRIBUTES))
        parameters, attributes = state.get(PARAMETERS), state.get(ATTRIBUTES)
        if not isinstance(parameters, dict) or not isinstance(attributes, dict):
            raise ModelFileError(f"{name} needs parameters and attributes")
        allowed = [p for p in inspect.signature(self.cls).parameters if not self._is_of_machine(p)]
        _require_known(name, parameters, allowed)
        _require_known(name, attributes, self.attributes)
        if not _has_plausible_degree(attributes):
            raise ModelFileError(f"{name} has a degree that no fit would give it")
        model = self.cls(**parameters)
        if self.cls.__module__.startswith("sklearn."):
            vars(model).update(attributes)  # __setstate__ would look for a version of pickle
        else:
            model.__setstate__({**vars(model), **attributes})
        return model


def _has_plausible_degree(attributes: Mapping[str, object]) -> bool:
    """Whether the columns of a polynomial of this degree can be made in reasonable time."""
    degrees = [attributes.get(name, 0) for name in ("_degree", "_max_degree", "_min_degree")]
    return all(type(degree) is int and 0 <= degree <= MAX_DEGREE for degree in degrees)


def _require_kept(name: str, where: str, state: Iterable[str], known: Iterable[str]) -> None:
    extra = sorted(set(state) - set(known))
    if extra:
        raise ModelFileError(
            f"{where or 'the model'} is a {name} with the attribute {extra[0]!r}, which is not one "
            "that a file holds: delete it, or set it again after loading"
        )


def _require_known(name: str, state: Iterable[str], known: Iterable[str]) -> None:
    extra = sorted(set(state) - set(known))
    if extra:
        raise ModelFileError(f"a {name} has no {extra[0]!r}")


# --- the table ------------------------------------------------------------------------------------

SECONDS_UNKNOWN = {"seconds": float("nan")}  # equal models give equal files
RECORDS: dict[str, Mapping[str, object]] = {
    "certus.certificate.certificate.Certificate": SECONDS_UNKNOWN,
    "certus.certificate.fingerprint.Fingerprint": {},
    "certus.certificate.decisions.record.Decisions": {},
    "certus.audit.labels.Labels": {},
    "certus.proofs.ncfs._claims.Score": {},
    "certus.neighbors._abstention.Fallback": {},
    "certus.audit.column_steps.ColumnStep": {},
    "certus.runtime.progress.TracePoint": SECONDS_UNKNOWN,
    **{f"certus.certificate.findings.{name}": {} for name in (
        "GlobalFinding", "StationaryFinding", "UndefinedFinding", "ClusterFinding",
        "MixtureFinding", "SelectionFinding", "ExactFinding", "NeighborFinding", "TreeFinding",
    )},
    **{f"certus.certificate.facts.{name}": {} for name in (
        "Iteration", "LeftOutDirection", "Repeat", "ColumnSpread", "RestartSummary", "RowMove",
        "Collapse",
        "SeparationProof", "SeparatingColumn", "Combination", "Ordering", "Falling", "SquaresFacts",
        "PenalizedFacts", "ClassFacts", "CountFacts", "FirthFacts", "KernelFacts",
    )},
}  # fmt: skip
STEP_RULE = ("sufficient_decrease", "shrink", "curvature", "length", "share")
FIRST_ORDER = ("start", "change", "random_state", "name")
PARTS: dict[str, tuple[str, ...]] = {
    "certus.cluster.Tree": (
        "merges", "method", "metric", "metric_params", "scale", "X", "names", "rows", "dtype",
    ),
    "certus.losses.Squared": (), "certus.losses.Logistic": (), "certus.losses.Softmax": (),
    "certus.losses.Poisson": (), "certus.losses.Gamma": (),
    "certus.losses.SquaredHinge": (), "certus.losses.Huber": ("delta",),
    "certus.penalties.L1": ("strength", "positive"),
    "certus.penalties.L2": ("strength", "positive"),
    "certus.penalties.ElasticNet": ("strength", "l1_ratio", "positive"),
    "certus.penalties.NonNegative": (),
    "certus.penalties.MCP": ("strength", "gamma"), "certus.penalties.SCAD": ("strength", "gamma"),
    "certus.penalties.Box": ("lower", "upper"),
    "certus.penalties.Simplex": ("total",),
    "certus.penalties.GroupL2": ("strength", "groups"),
    **{f"certus.solvers.{name}": STEP_RULE
       for name in ("Backtracking", "Fixed", "Lipschitz", "Wolfe")},
    "certus.solvers.LBFGS": ("memory", "line_search"),
    "certus.solvers.Newton": (), "certus.solvers.NewtonCG": (),
    "certus.solvers.CoordinateDescent": (),
    "certus.solvers.ProximalGradient": ("accelerated", "name"),
    "certus.solvers.Subgradient": ("rule", "c"),
    "certus.solvers.GradientDescent": (*FIRST_ORDER, "step_rule"),
    "certus.solvers.HeavyBall": (*FIRST_ORDER, "step_rule", "beta"),
    "certus.solvers.Nesterov": (*FIRST_ORDER, "step_rule", "beta"),
    "certus.solvers.SAGA": (*FIRST_ORDER, "step_length", "order"),
    "certus.solvers.first_order.schedules.Geometric": ("decay",),
    "certus.solvers.SGD": (
        *FIRST_ORDER, "step_length", "order", "momentum", "schedule", "batch_size", "average",
    ),
    **{f"certus.distances.{name}": ("w", "name")
       for name in ("Boolean", "BrayCurtis", "Canberra", "Correlation", "Cosine", "Euclidean",
                    "Hamming", "Haversine", "Manhattan", "PhiS", "Spearman", "SquaredEuclidean")},
    "certus.distances.Chebyshev": ("p", "w"), "certus.distances.Minkowski": ("p", "w"),
    "certus.distances.NanEuclidean": ("min_overlap",),
    "certus.distances.StandardizedEuclidean": ("V", "_V", "_R", "_center", "note"),
    "certus.distances.Mahalanobis": ("V", "VI", "_V", "_R", "_center", "note"),
    "certus.distances.Gower": (
        "categorical", "ranges", "w", "min_overlap", "_categories", "_ranges", "_kinds",
        "_categorical",
    ),
}  # fmt: skip


@cache
def _kind(name: str) -> Kind:
    """Return the storage of the class with this public name."""
    module, _, cls_name = name.rpartition(".")
    cls = getattr(import_module(module), cls_name)
    if name in RECORDS:
        return Record(cls, RECORDS[name])
    if name in PARTS:
        return Part(cls, PARTS[name])
    if name in STATES:
        return Estimator(cls, STATES[name].attributes)
    return Estimator(cls, TRANSFORMERS[name])


ALL_NAMES = (*RECORDS, *PARTS, *STATES, *TRANSFORMERS)
_BY_CLASS_NAME: dict[str, list[str]] = {}
for _name in ALL_NAMES:
    _BY_CLASS_NAME.setdefault(_name.rpartition(".")[2], []).append(_name)


def _functions() -> dict[str, Callable[..., object]]:
    from ..solvers.first_order import schedules

    return {f.__name__: f for f in (schedules.constant, schedules.inverse, schedules.inverse_root)}


class KindTable:
    """The table above, as the codec of values sees it."""

    def function_name(self, value: object) -> str | None:
        return next((name for name, f in _functions().items() if f is value), None)

    def function(self, name: str) -> object:
        if name not in _functions():
            raise ModelFileError(f"the function {name!r} is not one that a file may hold")
        return _functions()[name]

    def state_of(self, value: object, where: str) -> tuple[str, dict[str, object]] | None:
        name = name_of(value)
        return None if name is None else (name, _kind(name).state_of(value, where))

    def restore(self, name: str, state: dict[str, object]) -> object:
        if name not in ALL_NAMES:
            raise ModelFileError(f"the class {name!r} is not one that a file may hold")
        try:
            return _kind(name).restore(state)
        except ModelFileError:
            raise
        except Exception as error:  # a state that no fit gives may break anything
            raise ModelFileError(f"{name} cannot be restored: {error!r}") from error


def name_of(value: object) -> str | None:
    """The public name of an object's class; None: it is not in the table."""
    cls = type(value)
    for name in _BY_CLASS_NAME.get(cls.__name__, ()):
        module, _, cls_name = name.rpartition(".")
        same_library = cls.__module__.partition(".")[0] == module.partition(".")[0]
        if same_library and getattr(import_module(module), cls_name) is cls:
            return name
    return None
