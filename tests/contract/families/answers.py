"""What a row of the table of laws is: an estimator, its data, and its answer in comparable parts.

A law changes the problem (``Sample``) in a known way, so that every part of the answer (``Part``)
changes in a known way, too:

    X + c      parts that lie where the rows lie (centres) move by c
    cX         a part of degree d in the unit of X grows by cᵈ
    cs         a part of degree d in the weights grows by cᵈ
    order      parts that belong to rows or columns follow them

Queries and given starts are rows, and change as X does; ``make`` gets the units, so that penalties,
radii and bandwidths can be given in them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

QUERIES = 12  # rows that no fit sees
EPS = np.finfo(float).eps

NO_WEIGHTS = "fit takes no weights of rows"
NO_ORIGIN = "counts have an origin: what is shifted is no count"
NO_UNIT = "counts have no unit: what is scaled is no count"
WITHOUT_WEIGHTS = dict.fromkeys(
    ("weight is repetition", "zero weight", "scale weights"), NO_WEIGHTS
)


@dataclass(frozen=True)
class Sample:
    """A problem, and how it came from the one that was drawn."""

    X: np.ndarray
    y: np.ndarray | None
    queries: np.ndarray  # the rows that are predicted
    start: np.ndarray  # rows where an iteration begins, if it takes a start
    origin: np.ndarray  # the number that each row was drawn with
    s: np.ndarray | None = None
    unit: float = 1.0  # X was multiplied by it,
    heft: float = 1.0  # and s by this

    def on_rows(self, change: Callable[[np.ndarray], np.ndarray], **more: Any) -> "Sample":
        """The sample with X, the queries and the start changed in the same way."""
        moved = {name: change(getattr(self, name)) for name in ("X", "queries", "start")}
        return replace(self, **moved, **more)

    def take(self, rows: np.ndarray) -> "Sample":
        """The sample of these rows, in this order; a row may be taken several times."""
        return replace(
            self,
            X=self.X[rows],
            y=None if self.y is None else self.y[rows],
            s=None if self.s is None else self.s[rows],
            origin=self.origin[rows],
        )


@dataclass(frozen=True)
class Part:
    """One array of an answer, and what it follows when the problem changes."""

    value: Any
    unit: float = 0.0  # degree in the unit of X
    heft: float = 0.0  # degree in the unit of the weights
    rows: bool = False  # the first axis belongs to the rows of the fit
    columns: bool = False  # the last axis belongs to the columns
    moves: bool = False  # it lies where the rows lie
    measured: bool = False  # from what moves, whose last digits are coarser far away
    names: bool = False  # names of clusters: only who shares one counts


Answer = dict[str, Part]


@dataclass(frozen=True)
class Case:
    """One estimator in the table."""

    name: str
    make: Callable[..., Any]  # make(start=None, unit=1.0, heft=1.0)
    data: Callable[..., tuple[np.ndarray, np.ndarray | None]]  # of a seed and a number of rows
    answer: Callable[[Any, Sample], Answer]
    n: int = 48
    large: int = 400  # rows whose work is shared among threads
    k: int = 3  # rows of a start
    rtol: float = 1e-9  # of the largest entry of a part
    rtol_float32: float = 1e-9  # the same for float32 data, whose answer may be in float32
    largest: float = np.inf  # value that a column may hold
    far: int = 20  # the largest shift is 2 to this power
    exempt: dict[str, str] = field(default_factory=dict)
    blocks: tuple[str, ...] = ()  # "module:NAME", sizes of blocks besides those of Rows
    warns: tuple[type[Warning], ...] = ()  # what a fit to these data rightly warns of

    @property
    def exemptions(self) -> dict[str, str]:
        return self.exempt

    def draw(self, seed: int, n: int | None = None) -> Sample:
        n = n or self.n
        X, y = self.data(seed, n + QUERIES)
        return Sample(
            X=X[:n],
            y=None if y is None else y[:n],
            queries=X[n:],
            start=X[: self.k],
            origin=np.arange(n),
        )

    def fit(self, sample: Sample) -> tuple[Any, Answer]:
        """The fitted model, and its answer."""
        model = self.make(start=sample.start, unit=sample.unit, heft=sample.heft)
        targets = () if sample.y is None else (sample.y,)
        weights = {} if sample.s is None else {"sample_weight": sample.s}
        model.fit(sample.X, *targets, **weights)
        return model, self.answer(model, sample)

    @property
    def takes_weights(self) -> bool:
        return "scale weights" not in self.exempt or self.exempt["scale weights"] != NO_WEIGHTS

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Change:
    """How a law changes the problem, as far as parts of answers follow it."""

    shift: Any = 0.0
    unit: float = 1.0
    heft: float = 1.0
    columns: np.ndarray | None = None  # the order of the columns


def assert_same(
    there: tuple[Sample, Answer],
    here: tuple[Sample, Answer],
    rtol: float,
    change: Change | None = None,
) -> None:
    """Every part of the answer there is that here, changed as the problem was."""
    change = change or Change()
    assert there[1].keys() == here[1].keys() != set()
    for name, part in here[1].items():
        ours, truth = (np.asarray(answer[name].value) for _, answer in (there, here))
        if part.rows:
            ours, truth = _of_common_rows(there[0], ours, here[0], truth)
        if part.columns and change.columns is not None:
            truth = truth[..., change.columns]
        assert ours.shape == truth.shape, name
        if part.names:
            assert _same_partition(ours, truth), name
            continue
        truth = truth * change.unit**part.unit * change.heft**part.heft
        atol = rtol * np.abs(truth).max(initial=0.0)
        if part.moves or part.measured:
            atol += 4 * EPS * np.abs(change.shift).max()
        shift = change.shift if part.moves else 0.0
        np.testing.assert_allclose(ours - shift, truth, rtol=0, atol=atol, err_msg=name)


def assert_same_bits(there: Answer, here: Answer) -> None:
    assert there.keys() == here.keys() != set()
    for name, part in here.items():
        np.testing.assert_array_equal(there[name].value, part.value, err_msg=name)


def _of_common_rows(
    there: Sample, ours: np.ndarray, here: Sample, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Entries of the rows that both samples have, in the order there."""
    place = {row: i for i, row in reversed(list(enumerate(here.origin)))}
    common = [i for i, row in enumerate(there.origin) if row in place]
    assert common
    return ours[common], truth[[place[there.origin[i]] for i in common]]


def _same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


# --- data -----------------------------------------------------------------------------------------


def on_grid(X: np.ndarray) -> np.ndarray:
    """Multiples of 2⁻¹⁶: shifts by whole numbers are exact, and equal distances are rare."""
    return np.round(X * 2**16) / 2**16


def noise(seed: int, n: int, p: int = 3) -> tuple[np.ndarray, None]:
    """Rows without clusters."""
    return on_grid(np.random.default_rng(seed).uniform(-4, 4, size=(n, p))), None


def clouds(seed: int, n: int, p: int = 3, k: int = 3, apart: float = 6.0) -> Any:
    """(X, labels): clouds whose middles are ``apart`` spreads away along the axes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    middles = apart * np.eye(k, p) * (1 + 0.2 * np.arange(k))[:, None]
    return on_grid(middles[y] + rng.normal(size=(n, p))), y


def unlabeled_clouds(seed: int, n: int) -> tuple[np.ndarray, None]:
    return clouds(seed, n)[0], None


def classes(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that overlap."""
    X, y = clouds(seed, n, p=4, apart=2.0)
    return X, y


def two_classes(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    return clouds(seed, n, k=2, apart=2.0)


def numbers(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """y = sin 2x₀ + x₁ + noise."""
    rng = np.random.default_rng(seed)
    X = on_grid(rng.normal(size=(n, 3)))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)
