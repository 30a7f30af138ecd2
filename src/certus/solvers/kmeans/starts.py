r"""Starting centres of Lloyd's iteration.

*k-means++* (greedy): rows are drawn with probability s_i d_i / Σ s d, where d_i is the squared
distance to the nearest centre so far; of the few drawn at once, the one that leaves the smallest
potential Σ s min(d, ‖x − y‖²) becomes a centre. One pass over the rows for each centre.

*k-means‖*: a few rounds, each drawing about 2k rows at once with probability 2k·s_i d_i / Σ s d;
then k-means++ among the drawn rows, each weighted by the rows that are nearest to it.

Of streamed rows, both draw from a sample (``start_rows``): k-means++ would read them k times.
"""

import numpy as np
from scipy.sparse import issparse

from ...data.rows import Rows
from .assigner import nearest_centers
from .bounds import origin_and_scale
from .candidates import Candidates
from .draws import start_rows
from .lloyd_loop import lloyd
from .small import is_small

PARALLEL_ROUNDS = 5  # rounds of k-means‖
OVERSAMPLING = 2  # rows drawn in a round of k-means‖, as a multiple of k
POLISH_STEPS = 10  # Lloyd steps among the rows that k-means‖ has drawn


def plus_plus(
    rows: Rows, k: int, random_state: np.random.RandomState, trials: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw k centres by k-means++, and return them with their row numbers.

    ``trials``: candidates drawn at once, 2 + ⌊log k⌋ if None. O(n·k·trials·p), and 12 bytes of
    memory a row. The random numbers are used as in scikit-learn. Row numbers of streamed rows are
    those of the sample.
    """
    rows = start_rows(rows, k)
    trials = trials or 2 + int(np.log(k))
    chosen = np.empty(k, dtype=np.intp)
    chosen[0] = first_row(rows, random_state)
    if is_small(rows, trials):
        from ...kernels.kmeans.small_start import small_plus_plus

        uniform = random_state.uniform(size=(k - 1, trials))
        s = np.empty(0) if rows.s is None else rows.s
        X = np.ascontiguousarray(rows.X)
        small_plus_plus(X, s, origin_and_scale(rows)[1], uniform, chosen)
        return X[chosen].astype(float), chosen
    candidates = Candidates(rows, k)
    candidates.take_first(gather_rows(rows, chosen[:1]))
    for number in range(1, k):
        drawn = candidates.draw(random_state.uniform(size=trials))
        Y = gather_rows(rows, drawn)
        chosen[number] = drawn[candidates.take_best(number, Y)]
    return candidates.centers, chosen


def first_row(rows: Rows, random_state: np.random.RandomState) -> int:
    """Draw one row with probability proportional to its weight."""
    u, n = random_state.random_sample(), rows.shape[0]
    if rows.s is None:
        return min(int(u * n), n - 1)
    cumulated = np.cumsum(rows.s)
    return int(min(np.searchsorted(cumulated, u * cumulated[-1], side="right"), n - 1))


def gather_rows(rows: Rows, i: np.ndarray) -> np.ndarray:
    """Return the rows i as a dense float64 array."""
    X, _, _ = rows.take(i).block(0, len(i))
    return np.asarray(X.toarray() if issparse(X) else X, dtype=float)


def random_rows(
    rows: Rows, k: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Draw k distinct rows by weight, and return them with their numbers; as in scikit-learn."""
    rows = start_rows(rows, k)
    n = rows.shape[0]
    s = np.ones(n) if rows.s is None else rows.s
    p = s / s.sum()
    chosen = random_state.choice(n, size=k, replace=False, p=p)
    return gather_rows(rows, chosen), chosen


def parallel(
    rows: Rows, k: int, random_state: np.random.RandomState, rounds: int = PARALLEL_ROUNDS
) -> np.ndarray:
    """Return k centres by k-means‖: O(rounds·n·k·p) in matrix products, for large n and k."""
    rows = start_rows(rows, k)
    n = rows.shape[0]
    s = np.ones(n) if rows.s is None else rows.s
    drawn = np.array([first_row(rows, random_state)])
    label, d2 = nearest_centers(rows, gather_rows(rows, drawn))
    for _ in range(rounds):
        chance = OVERSAMPLING * k * s * d2
        total = float((s * d2).sum())
        if not total > 0:
            break
        new = np.flatnonzero(random_state.random_sample(n) * total < chance)
        if not len(new):
            continue
        nearest_new, d2_new = nearest_centers(rows, gather_rows(rows, new))
        better = d2_new < d2
        label[better], d2[better] = len(drawn) + nearest_new[better], d2_new[better]
        drawn = np.concatenate([drawn, new])
    mass = np.bincount(label, s, len(drawn))
    drawn, mass = drawn[mass > 0], mass[mass > 0]
    drawn_rows = Rows(gather_rows(rows, drawn), s=mass, threads=rows.threads)
    if len(drawn) < k:  # few distinct rows: fill up at random
        others = np.setdiff1d(np.arange(n), drawn)
        extra = random_state.choice(others, size=k - len(drawn), replace=False)
        return np.vstack([drawn_rows.X, gather_rows(rows, extra)])
    centers, _ = plus_plus(drawn_rows, k, random_state)
    return lloyd(drawn_rows, centers, max_iter=POLISH_STEPS).centers
