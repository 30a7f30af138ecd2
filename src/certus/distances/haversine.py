"""The angle between two points on a sphere."""

import numpy as np

from .base import Distance
from .blocks import by_row_blocks


class Haversine(Distance):
    """d(a, b) = 2 arcsin √(sin²(Δφ/2) + cos φ_a cos φ_b sin²(Δλ/2)), an angle in radians.

    Rows are (latitude φ, longitude λ) in radians. Times 6,371 km it is a distance on earth.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.distances import Haversine
    >>> oslo, rome = np.radians([[59.91, 10.75]]), np.radians([[41.90, 12.50]])
    >>> (6371 * Haversine().pairwise(oslo, rome)).round()
    array([[2006.]])
    """

    name = "haversine"
    formula = "the angle between two points"

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        _require_places(A)
        return by_row_blocks(
            lambda rows: _angle(A[rows, None], B[None]), len(A), len(B), 4, threads
        )

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        _require_places(A)
        return _angle(A, B)


def _require_places(A: np.ndarray) -> None:
    if A.shape[1] != 2:
        raise ValueError(
            f"haversine needs 2 columns, latitude and longitude in radians; X has {A.shape[1]}"
        )


def _angle(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    half = np.sin((A - B) / 2) ** 2
    inside = half[..., 0] + np.cos(A[..., 0]) * np.cos(B[..., 0]) * half[..., 1]
    return 2 * np.arcsin(np.sqrt(np.minimum(inside, 1.0)))
