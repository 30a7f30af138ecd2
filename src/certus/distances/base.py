"""The base class of distances: objects that compare rows pair by pair or all with all."""

import copy
from typing import Any, Self

import numpy as np

from .reading import as_rows, is_sparse, two_sides
from .sparse import sparse_pairs

Flag = tuple[str, np.ndarray, str]


class Distance:
    """A distance d(a, b) between rows.

    A subclass defines ``name`` and ``compare``; everything else has defaults. Objects are
    immutable: ``prepare`` returns a copy. A search calls ``prepare`` once, ``read`` once for each
    side, and ``compare`` for each block.

    Attributes
    ----------
    name : str
        scikit-learn's name of the metric, where it has one.
    formula : str
        d(a, b), Δ = a − b.
    embedded_metric : "manhattan", "euclidean", "sqeuclidean", "chebyshev", "minkowski" or None
        The unweighted distance of ``embed``-ed rows that equals this one; None if there is none.
    embedded_p : float or None
        Its order: 1, 2 (also for "sqeuclidean"), infinity, or another p.
    euclidean_like : "euclidean", "sqeuclidean" or None
        ``embedded_metric`` where it is ‖·‖ or ‖·‖², else None.
    missing : bool
        Whether NaN in the rows is allowed.
    note : str or None
        Choices that ``prepare`` made for the rows, in words.
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
        """Return a copy with what is estimated from the rows of a fit; by default ``self``."""
        return self

    def read(self, X: object) -> np.ndarray:
        """Return X, validated, as the numbers that ``compare`` takes; float64 in C order."""
        return as_rows(X, missing=self.missing)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        """Return d(A_i, B_j) of all pairs of rows from ``read``, without further validation."""
        raise NotImplementedError

    def embed(self, X: np.ndarray) -> np.ndarray:
        """Return rows whose ``embedded_metric`` is this distance; float64 in C order."""
        return self.read(X)

    def pairwise(
        self, A: np.ndarray, B: np.ndarray | None = None, *, threads: int | None = None
    ) -> np.ndarray:
        """Return d(A_i, B_j) of all pairs, (n, m); B None: between the rows of A."""
        if is_sparse(A) or is_sparse(B):
            return sparse_pairs(self, A, B, threads)
        rows, others = two_sides(A, B, missing=self.missing)
        return self.compare(rows, others, threads)

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return d(A_i, B_i) row by row, (n,)."""
        rows, others = two_sides(A, B, missing=self.missing)
        if len(rows) != len(others):
            raise ValueError(f"A has {len(rows):,} rows, B has {len(others):,}: they are compared "
                             "row by row")  # fmt: skip
        return self._paired(rows, others)

    def weight_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, *, threads: int | None = None
    ) -> np.ndarray:
        """Return Σ_ij C_ij ∂d(A_i, B_j)/∂w, (p,), for distances with feature weights w."""
        raise TypeError(f"{type(self).__name__} has no derivative with respect to feature weights; "
                        "Manhattan, Euclidean, SquaredEuclidean and PhiS have")  # fmt: skip

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of ``certus.proofs.distances.paired(A, B, name, …)``."""
        return {name: value for name, value in self._given().items() if value is not None}

    def flags(self, X: object) -> list[Flag]:
        """Return rows with degenerate distances, as tuples (code, row numbers, a sentence)."""
        return []

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        distances = [
            self.compare(A[[i]], B[[i]], 1)[0, 0] for i in range(len(A))
        ]  # fmt: skip
        return np.array(distances, dtype=np.float64)

    def _with(self, **attributes: object) -> Self:
        """Return a copy with other attributes."""
        other = copy.copy(self)
        vars(other).update(attributes)
        return other

    def _given(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        given = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        given.pop("note", None)
        return given

    def __repr__(self) -> str:
        arguments = [f"{k}={_short(v)}" for k, v in self._given().items() if v is not None]
        return f"{type(self).__name__}({', '.join(arguments)})"

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
