"""NCFS in batches: F is a mean over batches of consecutive rows, and all of it is recomputed."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import certus
from certus import config_context
from certus.exceptions import DegenerateWarning
from certus.feature_selection import NCFSClassifier, NCFSRegressor
from tests.ncfs.ncfs_cases import METRICS, curve, minmax, objective, signal

N, SIZE = 130, 24  # six batches, of 21 and 22 rows
EDGES = [i * N // 6 for i in range(7)]


def mixed(seed=0, n=N):
    """Rows of three classes in random order."""
    X, y = signal(seed, n=n)
    order = np.random.default_rng(seed).permutation(n)
    return X[order], y[order]


def mean_over_batches(X, y, W, gain, metric, alpha, s):
    """F by loops: the mean over batches, of which each is a problem without penalty."""
    parts = [
        objective(X[a:b], W, gain(y[a:b]), s[a:b], 1.0, 0.0, metric) for a, b in pairwise(EDGES)
    ]
    return np.mean(parts) - alpha * W.sum()


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")  # phi_s, few columns
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_the_mean_over_batches(metric, weighted):
    X, y = mixed()
    s = np.random.default_rng(1).uniform(0.5, 2, size=N)
    s = s if weighted else np.ones(N)
    model = NCFSClassifier(0.3, metric=metric, batch_size=SIZE).fit(X, y, s)
    lam = 0.0 if metric == "phi_s" else 0.3
    F = mean_over_batches(
        minmax(X), y, model.weights_, lambda y: (y[:, None] == y).astype(float), metric, lam, s
    )
    assert model.objective_ == pytest.approx(F, rel=1e-9)
    assert model.certificate_.objective == pytest.approx(F, rel=1e-9)
    assert model.certificate_.certified == (metric != "phi_s")
    assert model.batch_size_ == SIZE


@pytest.mark.parametrize("metric", METRICS[:2])
def test_weights_are_stationary_by_differences(metric):
    X, z = curve(0, n=N)
    model = NCFSRegressor(0.05, metric=metric, batch_size=SIZE).fit(X, z)
    W, h = model.weights_, 1e-5

    def F(W):
        return mean_over_batches(
            minmax(X), z, W, lambda y: -np.abs(y[:, None] - y), metric, 0.05, np.ones(N)
        )

    assert 0 < np.count_nonzero(W) < len(W)
    for l, e in enumerate(np.eye(len(W))):
        if W[l] > 0:
            assert abs(F(W + h * e) - F(W - h * e)) / (2 * h) < 1e-5
        else:
            assert F(W + h * e) < F(W)


@pytest.mark.parametrize("how", [{}, {"form": "mean"}, {"prior": "balanced"}], ids=str)
def test_one_batch_of_all_rows_is_the_problem_of_all_rows(how):
    X, y = mixed()
    whole, batch = (NCFSClassifier(batch_size=m, **how).fit(X, y) for m in (None, N))
    np.testing.assert_allclose(batch.weights_, whole.weights_, rtol=1e-9)
    assert batch.objective_ == pytest.approx(whole.objective_, rel=1e-12)
    assert batch.alpha_ == pytest.approx(whole.alpha_, rel=1e-12)
    assert batch.loo_score_ == whole.loo_score_
    np.testing.assert_allclose(batch.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_forms_are_the_same_problem_in_batches_too():
    X, y = mixed()
    sums, means = (NCFSClassifier(form=form, batch_size=65).fit(X, y) for form in ("sum", "mean"))
    assert sums.alpha_ == pytest.approx(1.0)
    assert means.alpha_ == pytest.approx(2 / N)
    np.testing.assert_allclose(means.weights_, sums.weights_, rtol=1e-5, atol=1e-9)


def test_repeated_batches_have_the_weights_of_one():
    """F is a mean over batches, so λ keeps its meaning however many batches there are."""
    X, y = mixed(n=60)
    one = NCFSClassifier().fit(X, y)
    many = NCFSClassifier(batch_size=60).fit(np.tile(X, (5, 1)), np.tile(y, 5))
    np.testing.assert_allclose(many.weights_, one.weights_, rtol=1e-6, atol=1e-9)
    assert many.objective_ == pytest.approx(one.objective_, rel=1e-9)


@pytest.mark.parametrize(
    "how", [{"metric": m} for m in METRICS[:3]] + [{"solver": "yang"}], ids=str
)
def test_same_bits_on_any_number_of_threads(how):
    X, y = mixed(n=600)
    found = []
    for threads in (1, 3):
        with config_context(threads=threads):
            found.append(NCFSClassifier(0.3, batch_size=50, max_iter=400, **how).fit(X, y))
    np.testing.assert_array_equal(found[0].weights_, found[1].weights_)
    for name in ("objective_", "loo_score_", "alpha_", "n_iter_"):
        assert getattr(found[0], name) == getattr(found[1], name)
    assert found[0].certificate_.residual == found[1].certificate_.residual


def test_predictions_come_from_as_many_rows_as_a_batch_has():
    X, y = mixed()
    model = NCFSClassifier(0.2, batch_size=SIZE).fit(X, y)
    kept = model._fit_rows
    assert len(kept) == len(np.unique(kept)) == SIZE
    W, Z = model.weights_, minmax(X)
    E = np.exp(-(np.abs(Z[:, None] - Z[kept]) @ W))
    P = E @ np.eye(3)[y[kept]] / E.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), P, rtol=1e-10, atol=1e-14)


def test_leave_one_out_scores_are_within_batches():
    X, z = curve(1, n=N)
    model = NCFSRegressor(0.05, batch_size=SIZE, loss="squared").fit(X, z)
    Z, predicted = minmax(X), np.empty(N)
    for a, b in pairwise(EDGES):
        E = np.exp(-(np.abs(Z[a:b, None] - Z[a:b]) @ model.weights_))
        np.fill_diagonal(E, 0)
        predicted[a:b] = E @ z[a:b] / E.sum(axis=1)
    R2 = 1 - ((z - predicted) ** 2).sum() / ((z - z.mean()) ** 2).sum()
    assert model.loo_score_ == pytest.approx(R2, rel=1e-9)


def test_auto_lambda_of_a_regression_is_the_mean_loss_within_batches():
    X, z = curve(2, n=N)
    model = NCFSRegressor(batch_size=SIZE).fit(X, z)
    losses = [np.abs(z[a:b, None] - z[a:b])[~np.eye(b - a, dtype=bool)] for a, b in pairwise(EDGES)]
    assert model.alpha_ == pytest.approx(np.concatenate(losses).mean(), rel=1e-12)


def test_float32_rows_are_compared_in_float64():
    X, y = mixed()
    X = X.astype(np.float32)
    one, other = (NCFSClassifier(0.2, batch_size=SIZE).fit(Z, y) for Z in (X, X.astype(float)))
    np.testing.assert_array_equal(one.weights_, other.weights_)


def test_a_model_file_keeps_the_batches(tmp_path):
    X, y = mixed()
    model = NCFSClassifier(0.2, batch_size=SIZE).fit(X, y)
    certus.save(model, tmp_path / "batches.certus")
    loaded = certus.load(tmp_path / "batches.certus")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert certus.verify(loaded, X, y).certified
    assert loaded.batch_size_ == SIZE


def test_a_fit_to_all_rows_forgets_the_batches():
    X, y = mixed()
    model = NCFSClassifier(0.2, batch_size=SIZE).fit(X, y).set_params(batch_size=None).fit(X, y)
    assert model.batch_size_ is None
    assert model._fit_rows is None
    assert certus.verify(model, X, y).certified


# --- the certificate ------------------------------------------------------------------------------


def test_the_certificate_says_what_was_compared():
    X, y = mixed()
    c = NCFSClassifier(0.2, batch_size=SIZE).fit(X, y).certificate_
    text = c.explain()
    assert "j in the batch of i: at most 24 consecutive rows" in text
    assert "does not compare rows of different batches" in text
    assert "each row by the others of its batch" in text
    assert c._finding.batches == 6


@pytest.mark.parametrize(
    "how", [{}, {"form": "mean", "alpha": 0.002}, {"prior": "uniform"}], ids=str
)
def test_the_residual_is_not_below_the_slopes_in_high_precision(how):
    judges = pytest.importorskip("tests.attack.judges.ncfs")
    from tests.attack.judges.linear_problems import Rows

    X, y = mixed(n=40)
    s = np.random.default_rng(2).uniform(0.5, 2, size=40)
    model = NCFSClassifier(**{"alpha": 0.1, "batch_size": 15, **how}).fit(X, y, s)
    assert model.weights_.any()
    assert model.certificate_.certified
    assert judges.judge(model.certificate_, model, Rows(X, y, s)) == []


def test_weights_of_other_batches_are_refused():
    X, y = mixed()
    model = NCFSClassifier(0.3, batch_size=SIZE).fit(X, y)
    order = np.random.default_rng(5).permutation(N)
    assert not certus.verify(model, X[order], y[order]).certified
    whole = NCFSClassifier(0.3).fit(X, y)
    whole.batch_size_, whole._fit_rows = SIZE, np.arange(N)
    assert not certus.verify(whole, X, y).certified


def test_rows_stored_for_prediction_must_be_rows_of_the_data():
    X, y = mixed()
    model = NCFSClassifier(0.2, batch_size=SIZE).fit(X, y)
    kept = model._fit_rows
    for wrong, message in (
        (kept + N, "numbers that are not of 130 rows"),
        (kept[::-1], "do not ascend"),
        (np.arange(SIZE), "differs"),
    ):
        model._fit_rows = wrong
        assert message in certus.verify(model, X, y).explain()


# --- orders that make batches alike ---------------------------------------------------------------


def test_rows_sorted_by_class_are_refused_with_the_remedy():
    X, y = mixed()
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"order that depends on the class.*Shuffle the rows"):
        NCFSClassifier(batch_size=SIZE).fit(X[order], y[order])
    NCFSClassifier().fit(X[order], y[order])  # all rows at once: any order


def test_rows_sorted_by_value_are_refused_with_the_remedy():
    X, z = curve(0, n=N)
    order = np.argsort(z)
    with pytest.raises(ValueError, match=r"order that depends on y.*Shuffle the rows"):
        NCFSRegressor(batch_size=SIZE).fit(X[order], z[order])


def test_rows_that_are_partly_sorted_are_remarked_upon():
    X, y = mixed(n=600)
    y = (y > 0).astype(int)
    drifting = np.argsort(y + 0.7 * np.random.default_rng(0).normal(size=600))
    with pytest.warns(DegenerateWarning, match="of the variance of the class lies between batches"):
        NCFSClassifier(0.1, batch_size=50).fit(X[drifting], y[drifting])


def test_a_class_without_two_rows_in_a_batch_is_named():
    X, y = mixed()
    y = y.copy()
    y[[3, 100]] = 7
    with pytest.warns(DegenerateWarning, match="Class 7 has no two rows in one batch of 24"):
        NCFSClassifier(batch_size=SIZE).fit(X, y)


def test_a_class_without_weight_is_refused():
    X, y = mixed()
    with pytest.raises(ValueError, match="class 2 has no row whose"):
        NCFSClassifier(batch_size=SIZE).fit(X, y, (y < 2).astype(float))


@pytest.mark.parametrize("size", [3, 0, 2.5, True, "auto"])
def test_a_batch_has_ten_rows_or_more(size):
    with pytest.raises(ValueError, match="batch_size="):
        NCFSClassifier(batch_size=size).fit(*mixed())


def test_missing_values_are_named():
    X, y = mixed()
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        NCFSClassifier(batch_size=SIZE).fit(X, y)


def test_a_refused_fit_leaves_no_model():
    X, y = mixed()
    model = NCFSClassifier(batch_size=SIZE)
    with pytest.raises(ValueError, match="Shuffle"):
        model.fit(X[np.argsort(y)], np.sort(y))
    with pytest.raises(NotFittedError):
        model.predict(X)
