r"""Where Lloyd's iteration starts.

*k-means++* (greedy): rows are drawn with probability s_i d_i / Σ s d, d_i the least squared
distance to the centres chosen so far; of a few drawn at once that one becomes a centre which
leaves the least potential Σ s min(d, ‖x − y‖²). One look at the rows a centre.

*k-means‖*: a few rounds, each drawing about 2k rows at once with probability 2k·s_i d_i / Σ s d;
k-means++ among those, weighted by the rows that are nearest to them.
"""

import numpy as np
from scipy.sparse import issparse

from ...data.rows import Rows
from .assigner import nearest_centers
from .bounds import about
from .candidates import Candidates
from .lloyd import lloyd
from .small import is_small

ROUNDS = 5  # of k-means‖
DRAWN = 2  # times k, in a round
POLISH = 10  # steps of Lloyd among the drawn


def plus_plus(
    rows: Rows, k: int, random_state: np.random.RandomState, trials: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(centers, their rows). ``trials``: rows drawn at once, 2 + ⌊log k⌋ if None.

    O(n·k·trials·p), and memory for 12 bytes a row. Draws as scikit-learn does.
    """
    trials = trials or 2 + int(np.log(k))
    chosen = np.empty(k, dtype=np.intp)
    chosen[0] = first_row(rows, random_state)
    if is_small(rows, trials):
        from ...kernels.kmeans.small_start import small_plus_plus

        uniform = random_state.uniform(size=(k - 1, trials))
        s = np.empty(0) if rows.s is None else rows.s
        X = np.ascontiguousarray(rows.X)
        small_plus_plus(X, s, about(rows)[1], uniform, chosen)
        return X[chosen].astype(float), chosen
    of = Candidates(rows, k)
    of.take_first(those(rows, chosen[:1]))
    for number in range(1, k):
        drawn = of.draw(random_state.uniform(size=trials))
        Y = those(rows, drawn)
        chosen[number] = drawn[of.take_best(number, Y)]
    return of.centers, chosen


def first_row(rows: Rows, random_state: np.random.RandomState) -> int:
    at, n = random_state.random_sample(), rows.shape[0]
    if rows.s is None:
        return min(int(at * n), n - 1)
    cumulated = np.cumsum(rows.s)
    return int(min(np.searchsorted(cumulated, at * cumulated[-1], side="right"), n - 1))


def those(rows: Rows, i: np.ndarray) -> np.ndarray:
    """Rows by their numbers, as floats."""
    X, _, _ = rows.take(i).block(0, len(i))
    return np.asarray(X.toarray() if issparse(X) else X, dtype=float)


def random_rows(
    rows: Rows, k: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """k distinct rows, with probabilities as their weights. Draws as scikit-learn does."""
    n = rows.shape[0]
    s = np.ones(n) if rows.s is None else rows.s
    p = s / s.sum()
    chosen = random_state.choice(n, size=k, replace=False, p=p)
    return those(rows, chosen), chosen


def parallel(
    rows: Rows, k: int, random_state: np.random.RandomState, rounds: int = ROUNDS
) -> np.ndarray:
    """k-means‖: O(rounds·n·k·p), by products of matrices; for large n and k."""
    n = rows.shape[0]
    s = np.ones(n) if rows.s is None else rows.s
    drawn = np.array([first_row(rows, random_state)])
    label, d2 = nearest_centers(rows, those(rows, drawn))
    for _ in range(rounds):
        share = DRAWN * k * s * d2
        total = float((s * d2).sum())
        if not total > 0:
            break
        new = np.flatnonzero(random_state.random_sample(n) * total < share)
        if not len(new):
            continue
        at, nearer = nearest_centers(rows, those(rows, new))
        better = nearer < d2
        label[better], d2[better] = len(drawn) + at[better], nearer[better]
        drawn = np.concatenate([drawn, new])
    mass = np.bincount(label, s, len(drawn))
    drawn, mass = drawn[mass > 0], mass[mass > 0]
    some = Rows(those(rows, drawn), s=mass, threads=rows.threads)
    if len(drawn) < k:  # few distinct rows: fill up at random
        others = np.setdiff1d(np.arange(n), drawn)
        more = random_state.choice(others, size=k - len(drawn), replace=False)
        return np.vstack([some.X, those(rows, more)])
    centers, _ = plus_plus(some, k, random_state)
    return lloyd(some, centers, max_iter=POLISH).centers
