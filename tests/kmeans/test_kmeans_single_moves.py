"""k-means goes on from Lloyd's fixed points as long as the move of a single row lowers J."""

import numpy as np
import pytest
from scipy import sparse

import certus
from certus.cluster import KMeans
from certus.proofs.kmeans.kmeans import gain_of_move
from certus.solvers.kmeans import single_moves

SEEDS = range(3)


def noise(seed, n=150, p=3):
    return np.random.default_rng(seed).uniform(size=(n, p))


def largest_gain(X, labels, k, s=None):
    """By brute force: what the best move of one row gains, of rows that leave others behind."""
    s_of = np.ones(len(X)) if s is None else s
    return max(
        gain_of_move(X, labels, i, b, s)
        for i in range(len(X))
        for b in range(k)
        if b != labels[i] and s_of[i] < 0.999 * s_of[labels == labels[i]].sum()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_move_of_a_row_lowers_the_objective(seed):
    X = noise(seed, n=60)
    start = X[:5]
    model = KMeans(5, init=start, tol=0).fit(X)
    assert largest_gain(X, model.labels_, 5) <= 1e-12 * model.inertia_
    lloyd = KMeans(5, init=start, tol=0, single_moves=False).fit(X)
    assert model.inertia_ <= lloyd.inertia_
    text = " ".join(model.certificate_.explain().split())
    assert "no row's move to another cluster lowers it by more than" in text
    assert "would lower it" not in text.split("Single rows")[1].split("(Hartigan")[0]


def test_a_line_that_lloyds_steps_leave_too_early():
    X = np.array([[0.0], [1.0], [2.0], [5.4], [9.0]])
    start = np.array([[2.1], [9.0]])  # the means of {0, 1, 2, 5.4} and {9}: nothing is nearer
    stuck = KMeans(2, init=start, single_moves=False).fit(X)
    assert stuck.inertia_ == pytest.approx(16.52)
    assert "moving row 3 from cluster 0 to 1" in stuck.certificate_.explain()
    model = KMeans(2, init=start).fit(X)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert model.inertia_ == pytest.approx(8.48)
    assert certus.verify(model, X).status == "local optimum"
    assert certus.verify(model, X, by="page").status == "local optimum"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [0, 1 << 22], ids=["passes", "sweeps"])
def test_few_rows_and_many_end_where_no_move_counts(seed, most, monkeypatch):
    monkeypatch.setattr(single_moves, "MAX_SWEPT_WORK", most)
    monkeypatch.setattr("certus.solvers.kmeans.small.MAX_SMALL_WORK", most // 64)
    X = noise(seed, n=400)
    model = KMeans(6, random_state=seed).fit(X)
    assert model.certificate_.certified
    assert model.certificate_._finding.move is None
    assert model.certificate_._finding.moves_at_most <= 1e-6
    assert largest_gain(X, model.labels_, 6) <= 1e-6 * model.inertia_


@pytest.mark.parametrize("most", [0, 1 << 22], ids=["passes", "sweeps"])
def test_sparse_rows_move_as_dense_ones_do(most, monkeypatch):
    monkeypatch.setattr(single_moves, "MAX_SWEPT_WORK", most)
    X = np.round(noise(0, n=300, p=5) * 64) * (noise(1, n=300, p=5) < 0.5)
    start = X[:7]
    dense = KMeans(7, init=start, tol=0).fit(X)
    thin = KMeans(7, init=start, tol=0).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    assert dense.inertia_ == pytest.approx(thin.inertia_, rel=1e-12)
    lloyd = KMeans(7, init=start, tol=0, single_moves=False).fit(X)
    assert dense.inertia_ < lloyd.inertia_


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [0, 1 << 22], ids=["passes", "sweeps"])
def test_a_weight_of_two_is_the_row_twice(seed, most, monkeypatch):
    monkeypatch.setattr(single_moves, "MAX_SWEPT_WORK", most)
    X = noise(seed, n=80)
    s = np.random.default_rng(seed).integers(1, 4, size=80)
    weighted = KMeans(6, init=X[:6], tol=0).fit(X, sample_weight=s)
    repeated = KMeans(6, init=X[:6], tol=0).fit(np.repeat(X, s, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, s), repeated.labels_)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-12)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)
    assert largest_gain(X, weighted.labels_, 6, s.astype(float)) <= 1e-12 * weighted.inertia_


def test_a_weight_of_zero_moves_nothing():
    X, s = noise(0, n=90), np.ones(90)
    s[60:] = 0
    with_them = KMeans(5, init=X[:5], tol=0).fit(X, sample_weight=s)
    without = KMeans(5, init=X[:5], tol=0).fit(X[:60])
    np.testing.assert_array_equal(with_them.labels_[:60], without.labels_)


def test_a_shift_and_a_power_of_two_change_no_move():
    X = np.round(noise(2, n=120) * 1024)
    plain = KMeans(6, init=X[:6], tol=0).fit(X)
    for Z in (X + 2.0**20, X * 2.0**40):
        other = KMeans(6, init=Z[:6], tol=0).fit(Z)
        np.testing.assert_array_equal(plain.labels_, other.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [0, 1 << 22], ids=["passes", "sweeps"])
def test_same_bits_on_any_number_of_threads(dtype, most, monkeypatch):
    monkeypatch.setattr(single_moves, "MAX_SWEPT_WORK", most)
    X = noise(3, n=5000, p=4).astype(dtype)
    fits = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            fits.append(KMeans(12, random_state=0).fit(X))
    np.testing.assert_array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert fits[0].certificate_._finding.move is None


@pytest.mark.parametrize("most", [0, 1 << 22], ids=["passes", "sweeps"])
def test_a_table_gives_the_bits_of_an_array(most, monkeypatch, tmp_path):
    monkeypatch.setattr(single_moves, "MAX_SWEPT_WORK", most)
    X = np.repeat(noise(4, n=1500, p=4), 2, axis=0)
    np.save(tmp_path / "rows.npy", X)
    array = KMeans(9, init=X[:18:2]).fit(X)
    with certus.open_rows(str(tmp_path / "rows.npy")) as table:
        streamed = KMeans(9, init=X[:18:2]).fit(table)
    np.testing.assert_array_equal(array.cluster_centers_, streamed.cluster_centers_)
    np.testing.assert_array_equal(array.labels_, streamed.labels_)
    lloyd = KMeans(9, init=X[:18:2], single_moves=False).fit(X)
    assert array.inertia_ < lloyd.inertia_


def test_callbacks_and_max_iter_count_all_steps():
    X = noise(5, n=200)
    whole = KMeans(6, init=X[:6], tol=0).fit(X)
    assert [point.iteration for point in whole.certificate_.trace] == list(
        range(1, whole.n_iter_ + 1)
    )
    with pytest.warns(certus.exceptions.NotCertifiedWarning, match="max_iter=3"):
        short = KMeans(6, init=X[:6], tol=0, max_iter=3).fit(X)
    assert short.n_iter_ == 3
    with pytest.raises(ValueError, match="single_moves"):
        KMeans(2, single_moves="yes").fit(X)


def test_keys_of_equal_rows_are_equal_and_others_differ():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    (keys,) = single_moves._keys(X, None, None)[0]
    assert len(np.unique(keys)) == 3
    np.testing.assert_array_equal(keys, single_moves._keys(sparse.csr_array(X), None, None)[0][0])
    grid = np.array(np.meshgrid(*[np.arange(-9.0, 9)] * 3)).reshape(3, -1).T
    assert len(np.unique(single_moves._keys(grid, None, None)[0][0])) == len(grid)
