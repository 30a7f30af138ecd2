"""The definition of nearest rows: by hand, in blocks of any size, and what it refuses."""

import ast
import inspect
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.certificate.data import Data
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.proofs.distances import METRICS
from certus.proofs.neighbors import _row_distances, neighbors
from certus.proofs.neighbors._row_distances import distance, rows_within
from certus.proofs.neighbors._votes import totals, vote_weights

POWERS = ("euclidean", "manhattan", "chebyshev")
each_power = pytest.mark.parametrize("metric", POWERS)


def by_fractions(X, q):
    """Exact squared distances."""
    return [
        sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, q, strict=True)) for x in X.tolist()
    ]


def test_nearest_rows_are_those_of_least_exact_distance(rng):
    X = rng.normal(size=(40, 3)) + 1e8
    d, i = neighbors.nearest(X, X[:5], 4)
    for t in range(5):
        exact = by_fractions(X, X[t].tolist())
        assert i[t].tolist() == sorted(range(40), key=lambda j: (exact[j], j))[:4]
        assert d[t] == pytest.approx([float(exact[j]) ** 0.5 for j in i[t]], rel=1e-14)


def test_ties_go_to_the_first_row():
    X = np.array([[1.0], [0.0], [1.0], [-1.0], [0.0]])
    d, i = neighbors.nearest(X, [[0.0]], 5)
    assert i.tolist() == [[1, 4, 0, 2, 3]]
    assert d.tolist() == [[0, 0, 1, 1, 1]]


def test_without_queries_no_row_is_its_own_neighbour():
    X = np.array([[0.0], [0.0], [3.0]])
    d, i = neighbors.nearest(X, None, 2)
    assert i.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert d.tolist() == [[0, 3], [0, 3], [3, 3]]
    _, within = neighbors.within(X, None, 1.0)
    assert [part.tolist() for part in within] == [[1], [0], []]


def test_a_radius_takes_its_edge_in():
    d, i = neighbors.within([[0.0], [1.0], [2.0]], [[0.0]], 1.0)
    assert i[0].tolist() == [0, 1]
    assert d[0].tolist() == [0, 1]


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-310, 1.0])
@pytest.mark.parametrize("metric", [*POWERS, "minkowski"])
def test_squares_out_of_range_do_no_harm(metric, size):
    params = {"p": 3.0} if metric == "minkowski" else {}
    A, B = np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((1, 2))
    plain = distance(A, B, metric, params)
    assert distance(A * size, B, metric, params) == pytest.approx(plain * size, rel=1e-13)


@pytest.mark.parametrize("metric", sorted(set(METRICS) - {"gower"}))
def test_a_distance_of_one_row_to_many_is_that_of_pairs(metric, rng):
    A = rng.normal(size=(6, 2))
    params = {"mahalanobis": {"V": np.eye(2)}, "seuclidean": {"V": np.ones(2)}}.get(metric, {})
    params = {"p": 3} if metric == "minkowski" else params
    one = distance(A, A[:1], metric, params)
    assert one.tolist() == distance(A, np.repeat(A[:1], 6, axis=0), metric, params).tolist()


# --- the pass over all rows -----------------------------------------------------------------------


def everything(X, Q, reach, metric, params):
    """Return (q, i) of all pairs within reach, by the plain distance."""
    D = np.stack([distance(X, q[None], metric, params) for q in Q])
    return {(q, i) for q, i in np.argwhere(reach[:, None] >= D).tolist()}


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("share", [0.01, 0.6, 2.0])
@pytest.mark.parametrize("slice_", [64, 2**17])
@pytest.mark.parametrize("metric", [*POWERS, "minkowski", "cosine"])
def test_the_pass_finds_every_row_within_reach(metric, slice_, share, columns, rng, monkeypatch):
    monkeypatch.setattr(_row_distances, "BLOCK_DISTANCES", slice_)
    params = {"p": 1.5} if metric == "minkowski" else {}
    X = rng.normal(size=(500, columns)) + 100.0
    X[100:110] = X[:10]
    Q = X[:7]
    D = distance(X, Q[:1], metric, params)
    reach = np.quantile(D, min(share, 1.0)) * np.linspace(0.5, max(1.0, share), 7)
    result = rows_within(X, None, None, Q, reach, metric, params)
    assert set(zip(result.q.tolist(), result.i.tolist(), strict=True)) == everything(
        X, Q, reach, metric, params
    )
    assert result.rows == 500


@each_power
def test_sparse_rows_and_single_precision_are_passed_alike(metric, rng):
    X = rng.normal(size=(300, 30)) * (rng.random((300, 30)) < 0.2)
    Q, reach = X[:5], np.full(5, 2.5)
    expected = everything(X, Q, reach, metric, {})
    for block in (csr_array(X), CSR(csr_array(X))[0:300]):
        result = rows_within(block, None, None, Q, reach, metric, {})
        assert set(zip(result.q.tolist(), result.i.tolist(), strict=True)) == expected
    single = X.astype(np.float32)
    result = rows_within(single, None, None, Q, reach, metric, {})
    assert set(zip(result.q.tolist(), result.i.tolist(), strict=True)) == everything(
        single, Q, reach, metric, {}
    )


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_pass_sees_rows_whose_squares_are_out_of_range(size, rng):
    X = rng.normal(size=(50, 3)) * size
    Q, reach = X[:2], np.full(2, size)
    result = rows_within(X, None, None, Q, reach, "euclidean", {})
    assert set(zip(result.q.tolist(), result.i.tolist(), strict=True)) == everything(
        X, Q, reach, "euclidean", {}
    )


# --- answers --------------------------------------------------------------------------------------


def claim(X, query_rows, k=3, metric="euclidean", **params):
    """The answers of a correct model."""
    rows = np.asarray(query_rows)
    d, i = neighbors.nearest(X, X[rows], k, metric, **params)
    return {
        "query_pairs": np.column_stack([rows, rows]), "start": np.arange(len(rows) + 1) * k,
        "distances": d.ravel(), "indices": i.ravel(), "k": k, "metric": metric,
        "metric_params": params, "ours": True,
    }  # fmt: skip


def wrong(X, answer):
    return neighbors.check(Data(Rows(np.asarray(X))), **answer)["wrong"]


@pytest.mark.parametrize("metric", sorted(set(METRICS) - {"gower", "mahalanobis", "seuclidean"}))
def test_right_answers_are_accepted(metric, rng):
    X = rng.normal(size=(60, 2))
    assert wrong(X, claim(X, [0, 7, 59], metric=metric)) == []


def test_nobody_to_name_hides_nobody_else():
    X = np.array([[0.0, np.nan], [np.nan, np.nan], [0.5, np.nan], [3.0, np.nan], [1.0, np.nan]])
    answer = claim(X, [0, 1], k=2, metric="nan_euclidean")
    assert answer["indices"].tolist() == [0, 2, -1, -1]
    answer["indices"][1], answer["distances"][1] = 3, 3 * 2**0.5
    X[[2, 4]] = X[[4, 2]]  # the nearest is now the last row
    answer["indices"][1] = 3
    assert wrong(X, answer)[0].startswith("row 0: row 4 at ")


@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_powers_of_any_order_are_right_to_rounding(size, rng):
    X = rng.normal(size=(60, 3)) * size
    answer = claim(X, [0, 7, 59], metric="minkowski", p=1.5)
    answer["distances"] = np.abs(X[answer["indices"]] - X[np.repeat([0, 7, 59], 3)]) / size
    answer["distances"] = (answer["distances"] ** 1.5).sum(axis=1) ** (1 / 1.5) * size
    assert wrong(X, answer) == []


@pytest.mark.parametrize("shift", [0.0, 1e8])
@each_power
def test_right_answers_among_many_ties_are_accepted(metric, shift, rng):
    X = rng.integers(0, 3, size=(200, 2)) + shift
    assert wrong(X, claim(X, [0, 50, 199], k=20, metric=metric)) == []


def test_a_row_that_was_missed_is_named(rng):
    X = rng.normal(size=(60, 2))
    answer = claim(X, [17], k=4)
    near, far = answer["indices"][2], neighbors.nearest(X, X[[17]], 5)[1][0, 4]
    answer["indices"] = np.array([*answer["indices"][[0, 1, 3]], far])
    answer["distances"] = distance(X[answer["indices"]], X[17][None], "euclidean", {})
    (message,) = wrong(X, answer)
    assert message.startswith(f"row 17: row {near} at ")
    assert f"was missed; row {far} was named at" in message


@pytest.mark.parametrize(("ours", "forgiven"), [(True, 1e-12), (False, 1e-5)])
def test_a_wrong_distance_is_named(ours, forgiven, rng):
    X = rng.normal(size=(60, 2))
    answer = claim(X, [3, 17]) | {"ours": ours}
    answer["distances"][4] *= 1 + forgiven
    (message,) = wrong(X, answer)
    assert message.startswith(f"row 17: row {answer['indices'][4]} is stated to be at ")
    answer["distances"][4] /= (1 + forgiven) * (1 - forgiven / 1e4)
    assert wrong(X, answer) == []


def test_what_is_no_number_and_what_is_no_row_are_wrong(rng):
    X = rng.normal(size=(60, 2))
    for name, value, message in (
        ("distances", np.nan, "stated to be at inf"),
        ("distances", np.inf, "stated to be at inf"),
        ("indices", 60, "row 60 is named, but there are 60"),
        ("indices", -1, "row -1 is named"),
    ):
        answer = claim(X, [3])
        answer[name][1] = value
        assert message in wrong(X, answer)[0]
    answer = claim(X, [3])
    answer["indices"][2], answer["distances"][2] = answer["indices"][1], answer["distances"][1]
    assert "is named twice" in wrong(X, answer)[0]


def test_the_wrong_order_is_wrong(rng):
    X = rng.normal(size=(60, 2))
    answer = claim(X, [3])
    for name in ("indices", "distances"):
        answer[name] = answer[name][[0, 2, 1]]
    assert "are in the wrong order: the farther first" in wrong(X, answer)[0]
    assert "the wrong order" in wrong(X, answer | {"ours": False})[0]


TIED = np.array([[0.0], [1.0], [-1.0], [1.0], [5.0]])


def test_of_equal_rows_the_first_comes_first_in_certus_and_anywhere_elsewhere():
    answer = claim(TIED, [0])
    assert answer["indices"].tolist() == [0, 1, 2]
    answer["indices"] = np.array([0, 2, 1])
    assert "of equal distances the first row comes first" in wrong(TIED, answer)[0]
    assert wrong(TIED, answer | {"ours": False}) == []


@pytest.mark.parametrize("kept", [1, 2])
def test_a_row_passed_over_for_a_later_equal_one_is_named(kept):
    answer = claim(TIED, [0])
    answer["indices"] = np.array([0, kept, 3])
    passed, named = 3 - kept, 3 if kept == 1 else 2
    (message,) = wrong(TIED, answer)
    assert f"row {named} was named and row {passed}, at the same distance 1, was not" in message
    assert wrong(TIED, answer | {"ours": False}) == []


def test_rows_that_cannot_be_compared_are_infinitely_far():
    X = np.array([[0.0, np.nan], [np.nan, 1.0], [1.0, np.nan], [np.nan, np.nan]])
    answer = claim(X, [0, 3], k=3, metric="nan_euclidean")
    assert answer["indices"].tolist() == [0, 2, -1, -1, -1, -1]
    assert wrong(X, answer) == []
    answer["indices"][2:4] = 1, 2  # some row, or nobody: both are no neighbours
    assert wrong(X, answer) == []
    answer["distances"][2] = np.nan
    assert wrong(X, answer) == []
    answer["distances"][1] = np.nan
    assert wrong(X, answer) == [f"row 0: row 2 is stated to be at inf, but it is at {2**0.5:.6g}"]
    answer["indices"][1] = -1
    assert wrong(X, answer)[0].startswith("row 0: row 2 at 1.41421 was missed; row -1 was named")


@pytest.mark.parametrize("rows", [16, 100, 4096])
def test_blocks_of_any_size_find_the_same(rows, rng, monkeypatch):
    X = rng.normal(size=(1000, 3))
    answer = claim(X, [5, 400, 999])
    answer["distances"] = answer["distances"] * 2
    answer["indices"][5] = 17
    monkeypatch.setattr(Data, "_block_rows", lambda *_: rows)
    assert [message.split(":")[0] for message in wrong(X, answer)] == [
        "row 5",
        "row 400",
        "row 999",
    ]


def test_a_point_halfway_between_two_rows_can_be_asked_for(rng):
    X = rng.normal(size=(50, 2))
    q = X[3] + (X[8] - X[3]) / 2
    d, i = neighbors.nearest(X, q[None], 3)
    answer = claim(X, [3]) | {"distances": d[0], "indices": i[0], "query_pairs": np.array([[3, 8]])}
    assert wrong(X, answer) == []
    answer["distances"] = d[0] * 1.1
    assert wrong(X, answer)[0].startswith("the point halfway between rows 3 and 8: ")


# --- within a radius ------------------------------------------------------------------------------


def within_claim(X, query_rows, r):
    rows = np.asarray(query_rows)
    d, i = neighbors.within(X, X[rows], r)
    start = np.concatenate([[0], np.cumsum([len(part) for part in i])])
    return {
        "query_pairs": np.column_stack([rows, rows]), "start": start,
        "distances": np.concatenate(d),
        "indices": np.concatenate(i), "radius": r, "ours": True,
    }  # fmt: skip


def test_rows_within_a_radius_are_all_and_no_others(rng):
    X = rng.normal(size=(60, 2))
    answer = within_claim(X, [3], 0.8)
    assert wrong(X, answer) == []
    fewer = {k: answer[k][1:] for k in ("indices", "distances")}
    fewer["start"] = answer["start"] - [0, 1]
    message = wrong(X, answer | fewer)[0]
    assert f"row {answer['indices'][0]} at " in message
    assert "was missed; the radius is 0.8" in message
    i = np.setdiff1d(np.arange(60), answer["indices"])[:1]
    more = {
        "indices": np.append(answer["indices"], i), "start": answer["start"] + [0, 1],
        "distances": np.append(answer["distances"], distance(X[i], X[[3]], "euclidean", {})),
    }  # fmt: skip
    assert "is outside the radius 0.8" in wrong(X, answer | more)[0]
    back = {k: answer[k][::-1] for k in ("indices", "distances")}
    assert "rows within a radius are in ascending order" in wrong(X, answer | back)[0]
    assert wrong(X, answer | back | {"ours": False}) == []


def test_nobody_within_a_radius_is_an_answer():
    X = np.array([[0.0], [2.0]])
    answer = {
        "query_pairs": np.array([[0, 1]]),
        "start": np.array([0, 0]),
        "radius": 0.5,
        "ours": True,
    }
    none = {"distances": np.empty(0), "indices": np.empty(0, dtype=int)}
    assert wrong(X, answer | none) == []
    assert "row 0 at 1 was missed" in wrong(X, answer | none | {"radius": 1.5})[0]


# --- votes ----------------------------------------------------------------------------------------


def test_votes_are_one_each_or_one_over_the_distance():
    d, one = np.array([1.0, 2.0, 4.0]), np.ones(3)
    assert vote_weights(d, one, "uniform").tolist() == [1, 1, 1]
    assert vote_weights(d, one, "distance").tolist() == [1, 0.5, 0.25]
    assert vote_weights(d - 1, one, "distance").tolist() == [1, 0, 0]
    assert vote_weights(d, np.array([0.0, 2.0, 1.0]), "distance").tolist() == [0, 2, 0.5]
    assert vote_weights(d, one, np.array([3.0, np.inf, 1.0])).tolist() == [0, 1, 0]
    assert vote_weights(np.array([1.0, np.inf, 2.0]), one, "uniform").tolist() == [1, 0, 1]
    assert vote_weights(d * 1e-320, one, "distance") == pytest.approx([1, 0.5, 0.25], rel=1e-3)
    assert totals([0, 2, 2], [1.0, 0.5, 0.25], 4).tolist() == [1, 0, 0.75, 0]


def test_sources_in_one_script_have_no_name_twice():
    seen = {}
    for name in ("linalg.linear_sums", "distances", "neighbors._row_distances",
                 "neighbors._answers", "neighbors._votes", "neighbors.neighbors"):  # fmt: skip
        module = import_module(f"certus.proofs.{name}")
        for node in ast.parse(inspect.getsource(module)).body:
            targets = getattr(node, "targets", [])
            named = [node.name] if hasattr(node, "name") else [t.id for t in targets]
            for each in named:
                assert each not in seen, f"{each} is in {seen.get(each)} and in {name}"
                seen[each] = name
