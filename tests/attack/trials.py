"""A trial: one target on one problem, a deterministic function of its seed."""

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import certus
from certus import exceptions

from . import labels
from .containers import contained, dense_values
from .generators import GENERATORS
from .judges.judge import judge
from .judges.linear_problems import Rows
from .judges.verdict import Fault, NotJudged
from .targets import TARGETS
from .targets.target import Generator, Target

# what a user may be told; anything else that is raised is a crash
EXPECTED = (ValueError, TypeError, *(
    e for e in vars(exceptions).values() if isinstance(e, type) and issubclass(e, Exception)
))  # fmt: skip


class NotFitted(Exception):
    """Another library raised an error in its own fit: there is nothing to certify."""


WIDE = 0.08  # of the problems have more columns than rows


@dataclass
class Trial:
    seed: int
    target: Target
    generator: str
    container: str
    model: Any  # not fitted
    X: Any
    y: Any
    s: np.ndarray | None
    o: np.ndarray | None = None  # offsets

    def __str__(self) -> str:
        shape = "×".join(map(str, self.X.shape))
        given = ", weights" * (self.s is not None)
        given += ", offsets" * (self.o is not None)
        return f"{self.model!r} on {self.generator} {shape} in {self.container}{given}"

    @property
    def offset(self) -> dict[str, np.ndarray]:
        return {} if self.o is None else {"offset": self.o}


@dataclass
class Outcome:
    seed: int
    target: str
    words: str = ""
    status: str = ""
    certified: bool = False
    faults: list[Fault] = field(default_factory=list)
    crash: str = ""
    refused: bool = False
    judged: bool = False
    seconds: float = 0.0  # of fit and certificate
    judging: float = 0.0
    missed: list[str] = field(default_factory=list)
    edits: int = 0
    uncovered: int = 0


def trial(seed: int, only: str | None = None, generator: str | None = None) -> Trial:
    """The trial of a seed; ``only`` and ``generator`` name the target and the kind of rows.

    Choice, model and data have streams of their own: a case that names both stays the same when
    targets or generators are added.
    """
    choice, of_model, rng = (np.random.default_rng([20261117, seed, part]) for part in range(3))
    names = list(TARGETS)
    shares = np.array([TARGETS[name].share for name in names])
    drawn = names[choice.choice(len(names), p=shares / shares.sum())]
    target = TARGETS[only or drawn]
    kinds = list(GENERATORS)
    kind = generator or kinds[choice.integers(len(kinds))]
    p = int(rng.integers(1, target.columns + 1))
    n = int(rng.integers(max(8, min(p + 2, target.rows)), target.rows + 1))
    if rng.random() < WIDE:
        n, p = int(rng.integers(6, 10)), int(rng.integers(8, 13))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = target.make(of_model, p)
        X = _rows(rng, target, kind, n, p)
        container, stored = contained(rng, X, target.sparse)
        y = _targets(rng, target, dense_values(stored))
    s = labels.weights(rng, n) if target.weighted else None
    o = labels.offsets(rng, n) if target.offset else None
    return Trial(seed, target, kind, container, model, stored, y, s, o)


def _rows(rng: Generator, target: Target, name: str, n: int, p: int) -> np.ndarray:
    X = GENERATORS[name](rng, n, p)
    if target.task == "counts":
        return np.abs(np.round(3 * rng.normal(size=(n, p))))
    if target.task == "bits":
        return np.greater(X, np.median(X, axis=0)).astype(float)
    return X


def _targets(rng: Generator, target: Target, X: np.ndarray) -> Any:
    if target.task in ("rows", "counts", "bits"):
        return None
    if target.task == "numbers":
        return labels.numbers(rng, X)
    if target.task == "several numbers":
        return labels.numbers(rng, X, 2)
    if target.task in ("events", "amounts"):
        return labels.events(rng, X) if target.task == "events" else labels.amounts(rng, X)
    K = 2 if target.task == "two classes" else int(rng.integers(3, 5))
    return labels.classes(rng, X, K)


def run(t: Trial) -> tuple[Outcome, Any]:
    """Fit, certify and judge; and the fitted model, or None."""
    outcome, started = Outcome(t.seed, t.target.name, str(t)), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, certificate = fitted(t)
            _spoken(certificate)
    except NotFitted as error:
        outcome.refused, outcome.status = True, f"refused: {str(error)[:100]}"
        return outcome, None
    except EXPECTED as error:
        outcome.refused = True
        outcome.status = f"refused: {str(error)[:100]}"
        if isinstance(error, np.linalg.LinAlgError | UnicodeError):
            outcome.crash = f"{type(error).__name__}: {error}"
        return outcome, None
    except Exception as error:
        outcome.crash = f"{type(error).__name__}: {error}"
        return outcome, None
    finally:
        outcome.seconds = time.perf_counter() - started
    outcome.status, outcome.certified = certificate.status, certificate.certified
    started = time.perf_counter()
    try:
        outcome.faults, outcome.judged = judge(certificate, model, rows_of(t, certificate)), True
    except NotJudged as error:
        outcome.words += f" (not judged: {error})"
    outcome.judging = time.perf_counter() - started
    return outcome, model


def fitted(t: Trial) -> tuple[Any, Any]:
    """The fitted model and its certificate."""
    more = t.offset | ({} if t.s is None else {"sample_weight": t.s})
    if t.target.tree:
        model = t.model(t.X)
    else:
        try:
            model = t.model.fit(t.X, **more) if t.y is None else t.model.fit(t.X, t.y, **more)
        except Exception as error:
            if type(t.model).__module__.startswith("certus."):
                raise
            raise NotFitted(f"{type(error).__name__}: {error}") from error
    certificate = vars(model).get("certificate_")
    if certificate is None:
        certificate = certus.verify(model, t.X, t.y, t.s, **t.offset)
    return model, certificate


def _spoken(certificate: Any) -> None:
    """Every way in which a certificate is put into words."""
    for words in (
        certificate.explain,
        certificate.note,
        certificate._repr_html_,
        certificate.to_json,
    ):
        words()
    repr(certificate)


def rows_of(t: Trial, certificate: Any) -> Rows:
    """The stored floats, with targets as the definition reads them."""
    X, y, s, coded = dense_values(t.X), t.y, t.s, certificate.labels
    eps = float(np.finfo(t.X.dtype).eps) if t.X.dtype.kind == "f" else 2.0**-52
    if y is None:
        return Rows(X, None, s, eps)
    if coded is None:
        Y = np.asarray(y, dtype=float).reshape(len(X), -1)
        return Rows(X, Y if t.o is None else np.column_stack([Y, t.o]), s, eps)
    index = np.array([coded.classes.tolist().index(label) for label in y.tolist()])
    if coded.coding == "index":
        return Rows(X, index, s, eps)
    first = 1 if len(coded.classes) == 2 else 0
    Y = np.where(index[:, None] == np.arange(first, len(coded.classes)), 1.0, -1.0)
    if coded.weight is not None:
        s = coded.weight[index] * (1.0 if s is None else s)
    return Rows(X, Y, s, eps)
