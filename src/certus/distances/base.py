"""What a distance is: a small object that compares rows, alone or all with all."""

import copy
from typing import Any, Self

import numpy as np

from .reading import as_rows, is_sparse, two_sides
from .sparse import sparse_pairs

Flag = tuple[str, np.ndarray, str]


class Distance:
    """A distance d(a, b) between rows.

    Subclass it and give ``name`` and ``compare``; what else is here has defaults. Objects are
    not changed after they are made: ``prepare`` returns a copy. A search calls ``prepare`` once,
    ``read`` once for each side, and ``compare`` for each block.

    Attributes
    ----------
    name : str
        scikit-learn's name of the metric, where it has one.
    formula : str
        d(a, b), Δ = a − b.
    embedded_metric : "manhattan", "euclidean", "sqeuclidean", "chebyshev", "minkowski" or None
        The plain, unweighted distance of ``embed``-ed rows that equals this one; None: no such.
    embedded_p : float or None
        Its order: 1, 2 (also for "sqeuclidean"), infinity, or another p.
    euclidean_like : "euclidean", "sqeuclidean" or None
        The same, where it is ‖·‖ or ‖·‖².
    missing : bool
        Are NaN in the rows allowed?
    note : str or None
        What ``prepare`` had to decide, in words.
    """

    name: str = ""
    formula: str = ""
    embedded_metric: str | None = None
    embedded_p: float | None = None
    missing: bool = False
    note: str | None = None

    @property
    def euclidean_like(self) -> str | None:
        return self.embedded_metric if self.embedded_p == 2 else None

    def prepare(self, X: object) -> "Distance":
        """A distance that has learnt what it needs from the rows of a fit; here, nothing."""
        return self

    def read(self, X: object) -> np.ndarray:
        """X checked, as the numbers that ``compare`` takes; float64 in C order."""
        return as_rows(X, missing=self.missing)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        """d(A_i, B_j) of all pairs of rows that ``read`` returned; nothing is checked again."""
        raise NotImplementedError

    def embed(self, X: np.ndarray) -> np.ndarray:
        """Rows whose plain ``embedded_metric`` is this distance; float64 in C order."""
        return self.read(X)

    def pairwise(
        self, A: np.ndarray, B: np.ndarray | None = None, *, threads: int | None = None
    ) -> np.ndarray:
        """d(A_i, B_j) of all pairs, (n, m); B None: of the rows of A among themselves."""
        if is_sparse(A) or is_sparse(B):
            return sparse_pairs(self, A, B, threads)
        rows, others = two_sides(A, B, missing=self.missing)
        return self.compare(rows, others, threads)

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """d(A_i, B_i), row by row, (n,)."""
        rows, others = two_sides(A, B, missing=self.missing)
        if len(rows) != len(others):
            raise ValueError(f"A has {len(rows):,} rows, B has {len(others):,}: they are compared "
                             "row by row")  # fmt: skip
        return self._paired(rows, others)

    def weight_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, *, threads: int | None = None
    ) -> np.ndarray:
        """Σ_ij C_ij ∂d(A_i, B_j)/∂w, (p,), for distances with feature weights w."""
        raise TypeError(f"{type(self).__name__} has no derivative with respect to feature weights; "
                        "Manhattan, Euclidean, SquaredEuclidean and PhiS have")  # fmt: skip

    def parameters(self) -> dict[str, Any]:
        """What ``paired(A, B, name, **parameters)`` of ``certus.proofs.distances`` needs."""
        return {name: value for name, value in self._given().items() if value is not None}

    def flags(self, X: object) -> list[Flag]:
        """Rows for which the distance says little: (code, their numbers, a sentence) each."""
        return []

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        one_by_one = [
            self.compare(A[[i]], B[[i]], 1)[0, 0] for i in range(len(A))
        ]  # fmt: skip
        return np.array(one_by_one, dtype=np.float64)

    def _with(self, **found: object) -> Self:
        """A copy with other attributes."""
        other = copy.copy(self)
        vars(other).update(found)
        return other

    def _given(self) -> dict[str, Any]:
        """What the constructor was given."""
        own = vars(self).items()
        return {name: value for name, value in own if name != "note" and not name.startswith("_")}

    def __repr__(self) -> str:
        shown = [f"{k}={_short(v)}" for k, v in self._given().items() if v is not None]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[k], theirs[k]) for k in mine
        )

    __hash__ = None  # type: ignore[assignment]


def _short(value: object) -> str:
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"<array {value.shape}>"
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)
