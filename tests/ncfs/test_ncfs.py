"""NCFSClassifier: published numbers, predictions by loops, selection, solvers, what is told."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import certus
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.feature_selection import NCFSClassifier
from certus.feature_selection._selection import selected
from tests.contract.problems import weights
from tests.ncfs.ncfs_cases import METRICS, chances, minmax, objective, signal, yangs_toy
from tests.runtime.progress_cases import Recorder

SHARES = {0: 0.2, 1: 0.5, 2: 0.3}
COSTS = np.array([[0, 1, 9], [2, 0, 1.0], [1, 3, 0]])
IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)


def regular():
    """Every metric has a maximum here; the classes have 41, 40 and 39 rows."""
    X, y = signal(3, n=120, P=6, informative=4)
    y[2] = 0
    return X, y


def plain_objective(model, X, y):
    return objective(minmax(X), model.weights_, y[:, None] == y, np.ones(len(y)), 1, 1, "manhattan")


# --- published numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "best", "W"),
    [
        ("manhattan", 118.63372622, [0, 0, 0.5044, 13.6648]),
        ("sqeuclidean", 99.85977034, [0, 0, 2.4462, 17.1864]),
    ],
)
def test_iris(metric, best, W):
    model = NCFSClassifier(metric=metric).fit(*IRIS)
    assert model.objective_ == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(model.weights_, W, atol=1e-4)
    assert model.support_.tolist() == [False, False, True, True]
    assert model.alpha_ == 1
    assert model.certificate_.certified
    assert model.certificate_.status == "local optimum"


def test_balanced_iris_is_one_fiftieth_of_the_plain_one():
    """Classes of 50 rows each: every a is 1/50, and λ = Σa/n is too."""
    plain, balanced = NCFSClassifier().fit(*IRIS), NCFSClassifier(prior="balanced").fit(*IRIS)
    assert balanced.alpha_ == pytest.approx(1 / 50)
    assert balanced.objective_ == pytest.approx(plain.objective_ / 50, rel=1e-12)
    np.testing.assert_allclose(balanced.weights_, plain.weights_, atol=1e-5)


def test_balanced_wine():
    model = NCFSClassifier(0.02, prior="balanced").fit(*WINE)
    assert model.objective_ == pytest.approx(2.16263494105, abs=1e-9)
    assert np.flatnonzero(model.weights_).tolist() == [0, 6, 9, 10, 11, 12]
    assert model.certificate_.certified


def test_the_mean_form_of_matlab():
    X = np.random.RandomState(5489).random_sample(2000).reshape(20, 100).T
    y = X[:, 2] * X[:, 8] / X[:, 14] < 0.4
    model = NCFSClassifier(0.01, form="mean", scale=None).fit(X, y)
    assert model.objective_ == pytest.approx(0.6293401944, abs=1e-9)
    assert model.get_support(indices=True).tolist() == [2, 8, 14]
    np.testing.assert_allclose(
        np.sqrt(model.weights_[[2, 8, 14]]), [2.452, 2.284, 2.471], atol=1e-3
    )
    auto = NCFSClassifier(form="mean", scale=None).fit(X, y)  # 1/n is 0.01 here
    np.testing.assert_allclose(auto.weights_, model.weights_, atol=1e-4)


def test_the_sum_and_the_mean_are_one_problem():
    """Yang's λ = 1 and MATLAB's 1/n."""
    plain, mean = NCFSClassifier().fit(*WINE), NCFSClassifier(form="mean").fit(*WINE)
    assert mean.alpha_ == pytest.approx(1 / 178)
    assert mean.objective_ == pytest.approx(plain.objective_ / 178, rel=1e-12)
    np.testing.assert_allclose(mean.weights_, plain.weights_, atol=1e-5)


def test_yangs_toy():
    found = []
    for seed in range(6):
        model = NCFSClassifier().fit(*yangs_toy(seed))
        assert model.get_support(indices=True).tolist() == [0, 1]
        assert np.count_nonzero(model.weights_) == 2
        found.append(model.weights_[:2])
    np.testing.assert_allclose(np.mean(found, axis=0), [15.8, 7.9], atol=0.6)


# --- what is maximised ----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("prior", ["empirical", "balanced", "uniform", SHARES], ids=str)
def test_the_objective_is_that_of_loops(metric, prior):
    X, y = regular()
    s = weights(1, len(X))
    model = NCFSClassifier(0.05, metric=metric, prior=prior, sigma=0.7).fit(X, y, s)
    S_c = np.bincount(y, s)
    pi = {"uniform": np.full(3, 1 / 3)}.get(str(prior), [0.2, 0.5, 0.3])
    a = {"empirical": s, "balanced": s / S_c[y]}.get(
        str(prior), s.sum() * (np.asarray(pi) / S_c)[y] * s
    )
    alpha = 0.0 if metric == "phi_s" else 0.05
    F = objective(minmax(X), model.weights_, y[:, None] == y, a, 0.7, alpha, metric)
    assert model.objective_ == pytest.approx(F, rel=1e-10)
    assert model.alpha_ == alpha
    assert model.certificate_.certified
    if metric == "phi_s":
        assert model.weights_.sum() == pytest.approx(6)


@pytest.mark.parametrize("metric", METRICS[:3])
@pytest.mark.parametrize("scale", ["minmax", "standard", None])
def test_weights_in_units_give_the_distances_of_the_columns_as_given(metric, scale):
    X, y = signal(2, n=40)
    X = X * [1, 3, 0.5, 2, 1]
    model = NCFSClassifier(0.1, metric=metric, scale=scale).fit(X, y)
    Z = (X - model.shift_) / model.scale_
    power = 1 if metric == "manhattan" else 2
    scaled = (model.weights_ * np.abs(Z[:, None] - Z) ** power).sum(axis=2)
    given = (model.weights_in_units_ * np.abs(X[:, None] - X) ** power).sum(axis=2)
    np.testing.assert_allclose(given, scaled, atol=1e-10 * scaled.max())
    if scale == "minmax":
        np.testing.assert_allclose([Z.min(axis=0), Z.max(axis=0)], [[0] * 5, [1] * 5])
    elif scale == "standard":
        np.testing.assert_allclose([Z.mean(axis=0), Z.std(axis=0)], [[0] * 5, [1] * 5], atol=1e-12)


def test_a_pattern_has_no_weights_in_units():
    assert NCFSClassifier(metric="phi_s").fit(*IRIS).weights_in_units_ is None


def test_right_and_wrong_are_costs_of_one():
    """Σ p [y ≠ y'] = 1 − Σ p [y = y']."""
    plain = NCFSClassifier().fit(*WINE)
    for loss in (1 - np.eye(3), lambda u, v: (u != v).astype(float)):
        model = NCFSClassifier(loss=loss).fit(*WINE)
        assert model.objective_ == pytest.approx(plain.objective_ - 178, rel=1e-10)
        np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-4)
        assert model.alpha_ == 1
        assert model.loo_score_ == plain.loo_score_
        np.testing.assert_array_equal(model.predict(WINE[0]), plain.predict(WINE[0]))


def test_lambda_is_in_units_of_the_costs():
    X, y = signal(3)
    dear = NCFSClassifier(loss=1000 * (1 - np.eye(3))).fit(X, y)
    cheap = NCFSClassifier(loss=1 - np.eye(3)).fit(X, y)
    np.testing.assert_allclose(dear.weights_, cheap.weights_, atol=1e-4)
    assert dear.alpha_ == pytest.approx(1000 * cheap.alpha_)


def test_costs_move_weight_to_the_column_that_saves_most():
    """Column 0 tells class 0 from 1, column 1 tells class 1 from 2."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(scale=0.7, size=(150, 2))
    X[:, 0] += 2.0 * (y == 0)
    X[:, 1] += 2.0 * (y == 2)

    def share(a, b):
        """Importance of column 0 if the mistakes 0–1 cost a and the mistakes 1–2 cost b."""
        L = np.array([[0, a, 1.0], [a, 0, b], [1.0, b, 0]])
        return NCFSClassifier(loss=L).fit(X, y).feature_importances_[0]

    assert share(9, 1) > share(1, 1) + 0.05 > share(1, 9) + 0.1


def test_a_function_of_labels_that_are_text_is_asked_for_the_labels_themselves():
    X, y = signal(4)
    names = np.array(["low", "mid", "top"])
    size = {"low": 0, "mid": 1, "top": 5}

    def apart(u, v):
        of = np.vectorize(size.get)
        return abs(of(u) - of(v))

    by_name = NCFSClassifier(loss=apart).fit(X, names[y])
    by_matrix = NCFSClassifier(loss=abs(np.subtract.outer([0, 1, 5], [0, 1, 5]))).fit(X, y)
    np.testing.assert_array_equal(by_name.weights_, by_matrix.weights_)
    np.testing.assert_array_equal(by_name.predict(X), names[by_matrix.predict(X)])


# --- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_probabilities_are_those_of_loops(metric, dtype):
    X, y = signal(5, n=40)
    new = np.random.default_rng(0).normal(size=(17, 5)).astype(dtype)
    model = NCFSClassifier(0.1, metric=metric, sigma=1.3).fit(X.astype(dtype), y)
    Z, queries = ((rows - model.shift_) / model.scale_ for rows in (X, new))
    P = chances(Z, model.weights_, 1.3, metric, queries) @ np.eye(3)[y]
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.predict_proba(new), P, atol=rtol)
    np.testing.assert_array_equal(model.predict(new), P.argmax(axis=1))
    assert model.score(new, P.argmax(axis=1)) == 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("loss", [None, COSTS], ids=["plain", "costs"])
def test_the_left_out_score_is_that_of_loops(metric, loss):
    X, y = regular()
    s = weights(2, len(X))
    model = NCFSClassifier(0.5, metric=metric, loss=loss).fit(X, y, s)
    P = chances(minmax(X), model.weights_, 1.0, metric) @ np.eye(3)[y]
    predicted = P.argmax(axis=1) if loss is None else (P @ loss).argmin(axis=1)
    assert model.loo_score_ == pytest.approx((s * (predicted == y)).sum() / s.sum())
    assert 0.3 < model.loo_score_ < 1


def test_predict_gives_the_class_of_the_least_expected_cost():
    X, y = signal(7, n=90, classes=2)
    y = np.array(["healthy", "ill"])[y]
    L = np.array([[0, 1.0], [20.0, 0]])  # an ill one that is missed costs 20
    model = NCFSClassifier(loss=L).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X) == "ill", 20 * P[:, 1] > P[:, 0])


def test_without_weights_the_shares_of_the_classes_are_predicted():
    X, y = signal(8, classes=2, informative=0)
    y[:10] = 0
    with pytest.warns(DegenerateWarning, match=r"All weights are 0, so no column is selected"):
        model = NCFSClassifier(1000.0).fit(X, y)
    assert not model.weights_.any()
    assert model.certificate_.certified
    np.testing.assert_allclose(model.predict_proba(X[:3]), np.tile(np.bincount(y) / 60, (3, 1)))
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(X).shape == (60, 0)
    assert model.feature_importances_.tolist() == [0] * 5


def test_an_alpha_that_is_called_low_enough_is():
    X, y = signal(9)
    with pytest.warns(DegenerateWarning) as caught:
        NCFSClassifier(1000.0).fit(X, y)
    limit = float(str(caught[0].message).split("Lower alpha below ")[1].split(",")[0])
    assert NCFSClassifier(0.95 * limit).fit(X, y).weights_.any()


# --- selection ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "columns"),
    [
        ({"threshold": 0.0}, [0, 1, 6, 9, 10, 11, 12]),
        ({"threshold": 2.0}, [0, 6, 9, 11, 12]),
        ({"threshold": "0.5*max"}, None),
        ({"threshold": "max"}, None),
        ({"threshold": "mean"}, None),
        ({"threshold": "2*median"}, None),
        ({"n_features_to_select": 3}, None),
        ({"n_features_to_select": 0.25}, None),
        ({"n_features_to_select": 0.01}, None),
        ({"n_features_to_select": 7, "threshold": 1e9}, [0, 1, 6, 9, 10, 11, 12]),
    ],
    ids=str,
)
def test_what_is_selected(how, columns):
    model = NCFSClassifier(**how).fit(*WINE)
    W = model.weights_
    least = {"0.5*max": W.max() / 2, "max": W.max(), "mean": W.mean(), "2*median": 2 * np.median(W)}
    most = {3: 3, 0.25: 3, 0.01: 1}
    if columns is None and "threshold" in how:
        columns = np.flatnonzero((least[how["threshold"]] <= W) & (W > 0))
    elif columns is None:
        columns = np.sort(np.argsort(-W)[: most[how["n_features_to_select"]]])
    assert model.get_support(indices=True).tolist() == list(columns)
    np.testing.assert_array_equal(model.transform(WINE[0]), WINE[0][:, columns])
    back = model.inverse_transform(model.transform(WINE[0]))
    assert back.shape == (178, 13)
    np.testing.assert_array_equal(back[:, columns], WINE[0][:, columns])


def test_of_equal_weights_the_first_column_is_selected():
    X, y = signal(10)
    X = np.column_stack([X[:, 2], X[:, 0], X[:, 0], X[:, 1]])  # the same column twice
    model = NCFSClassifier(n_features_to_select=1).fit(X, y)
    assert model.weights_[1] == pytest.approx(model.weights_[2], rel=1e-9)
    assert model.get_support(indices=True).tolist() in ([1], [3])
    W = np.array([1.0, 2.0, 2.0, 0.0])
    assert selected(W, 0.0, 1).tolist() == [False, True, False, False]
    assert selected(W, 0.0, 4).tolist() == [True, True, True, False]


def test_more_columns_than_have_weight_are_not_made_up():
    message = (
        r"n_features_to_select asks for 3 columns, but only 2 have a weight above 0 and are sel"
    )
    with pytest.warns(DegenerateWarning, match=message):
        model = NCFSClassifier(n_features_to_select=3).fit(*IRIS)
    assert model.support_.sum() == 2


def test_importances_are_shares():
    model = NCFSClassifier().fit(*IRIS)
    assert model.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.feature_importances_ * model.weights_.sum(), model.weights_)


# --- solvers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "share"),
    [
        ({"solver": "yang"}, 0.01),
        ({"solver": "yang", "step": 0.05, "tol": 1e-4}, 0.05),
    ],
    ids=str,
)
def test_yangs_ascent_comes_near_claims_no_optimum_and_does_not_warn(how, share):
    best = NCFSClassifier().fit(*WINE)
    start = best.certificate_.trace[0].objective
    model = NCFSClassifier(**how).fit(*WINE)
    assert 0 < best.objective_ - model.objective_ < share * (best.objective_ - start)
    assert not model.certificate_.certified
    assert model.certificate_.status == "not a local optimum"
    assert model.solver_ == "yang"
    again = NCFSClassifier(**how).fit(*WINE)
    np.testing.assert_array_equal(again.weights_, model.weights_)


def test_yangs_ascent_that_max_iter_ends_is_warned_of():
    with pytest.warns(NotCertifiedWarning, match="max_iter=5"):
        NCFSClassifier(solver="yang", max_iter=5).fit(*WINE)


def test_a_warm_start_goes_on_where_the_fit_before_ended():
    X, y = signal(11, n=90, P=8)
    model = NCFSClassifier(0.2, warm_start=True).fit(X, y)
    first = model.n_iter_, model.weights_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0 < first[0]
    np.testing.assert_array_equal(model.weights_, first[1])
    model.set_params(alpha=0.25).fit(X, y)
    assert model.certificate_.certified
    cold = NCFSClassifier(0.25).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    model.fit(X[:, :5], y)  # other columns: from the start
    np.testing.assert_array_equal(model.weights_, NCFSClassifier(0.25).fit(X[:, :5], y).weights_)


def test_a_start_from_one_weight_says_nothing_of_patterns():
    model = NCFSClassifier(metric="phi_s", warm_start=True).fit(*IRIS)
    best = model.objective_
    model.weights_ = np.array([4.0, 0, 0, 0])
    assert model.fit(*IRIS).objective_ == pytest.approx(best, rel=1e-6)


def test_weight_that_gathers_in_one_column_is_no_pattern():
    X, y = signal(1, n=40)
    message = (
        r"F has no maximum with metric='phi_s' here: it rises while all weight moves to column"
    )
    with pytest.warns(NotCertifiedWarning, match=message) as caught:
        model = NCFSClassifier(metric="phi_s").fit(X, y)
    assert len(caught) == 1
    assert model.weights_.max() > 5 * (1 - 1e-6)
    assert model.objective_ == pytest.approx(
        objective(minmax(X), model.weights_, y[:, None] == y, np.ones(40), 1, 0, "phi_s"), rel=1e-6
    )


# --- what is told ---------------------------------------------------------------------------------


def test_max_iter_that_ends_a_fit_is_named():
    with pytest.warns(
        NotCertifiedWarning, match=r"NCFSClassifier stopped at max_iter=2 before"
    ) as caught:
        model = NCFSClassifier(max_iter=2).fit(*WINE)
    assert [w.filename for w in caught] == [__file__]
    assert model.n_iter_ == 2
    assert not model.certificate_.certified
    assert certus.verify(model, *WINE).status == "not a local optimum"


def test_one_warning_says_all():
    """A fit that max_iter ends, with a class of one row."""
    X, y = signal(12)
    y = y + 1
    y[5] = 0
    with pytest.warns(
        NotCertifiedWarning, match=r"max_iter=1 .* Class 0 \(row 5\) has one row"
    ) as caught:
        NCFSClassifier(max_iter=1).fit(X, y)
    assert len(caught) == 1


def test_the_trace_never_falls():
    model = NCFSClassifier().fit(*WINE)
    F = np.array([point.objective for point in model.certificate_.trace])
    assert (np.diff(F) >= 0).all()
    assert len(F) == model.n_iter_ + 1
    assert F[-1] == pytest.approx(model.objective_, rel=1e-12)
    assert F[0] == pytest.approx(99.46347316, abs=1e-7)  # W = 1


def test_verbose_prints_a_line_for_each_step(capsys):
    model = NCFSClassifier(verbose=1).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "NCFSClassifier: iteration 0, objective 78.24799364"
    assert len(lines) == model.n_iter_ + 1
    NCFSClassifier().fit(*IRIS)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_callbacks_hear_of_every_step(dtype):
    X, y = WINE
    recorder = Recorder()
    model = NCFSClassifier().set_callbacks(recorder).fit(X.astype(dtype), y)
    ends = [what for what in recorder.heard if what.startswith("end iteration")]
    assert len(ends) == model.n_iter_
    assert recorder.given[0][3] == 1000
    first = recorder.models[0]  # a model after one step
    assert first.n_iter_ == 1
    assert first.objective_ < model.objective_
    assert first.predict(X).shape == y.shape


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_callback_ends_the_fit_with_the_weights_it_has(dtype):
    X, y = WINE
    model = NCFSClassifier().set_callbacks(Recorder(stop_after=2))
    with pytest.warns(NotCertifiedWarning, match="stopped by a callback after 2 iterations"):
        model.fit(X.astype(dtype), y)
    assert model.certificate_.status == "stopped"
    assert model.n_iter_ == 2
    F = plain_objective(model, X.astype(dtype), y)
    assert model.objective_ == pytest.approx(F, rel=1e-10)


@pytest.mark.parametrize("solver", ["lbfgs", "yang"])
def test_ctrl_c_keeps_the_best_weights_so_far(solver):
    class Impatient(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name == "iteration" and context.task_id == 2:
                raise KeyboardInterrupt

    X, y = WINE
    model = NCFSClassifier(solver=solver).fit(*IRIS)
    model.set_callbacks(Impatient())
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert "the best one so far was kept" in caught.value.__notes__[0]
    assert model.certificate_.status == "stopped"
    best = max(point.objective for point in model.certificate_.trace)
    F = plain_objective(model, X, y)
    assert model.objective_ == pytest.approx(F, rel=1e-10)
    assert model.objective_ == pytest.approx(best, rel=1e-12)
    assert model.predict(X).shape == y.shape
    assert model.support_.shape == (13,)


def test_nothing_is_no_optimum_where_there_is_signal():
    model = NCFSClassifier().fit(*IRIS)
    model.weights_ = np.zeros(4)
    assert not certus.verify(model, *IRIS).certified
