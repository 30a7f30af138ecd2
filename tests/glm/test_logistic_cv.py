"""LogisticRegressionCV chooses as scikit-learn does, where scikit-learn's fits converge."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.linear_model as peers
from scipy import sparse
from sklearn.callback import ProgressBar
from sklearn.metrics import f1_score, get_scorer, log_loss, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus.exceptions import (
    CannotVerifyError,
    InferenceError,
    NotCertifiedWarning,
    SeparationWarning,
)
from certus.linear_model import LogisticRegression, LogisticRegressionCV
from certus.solvers.glm import path as paths

CS = (1e-3, 0.1, 10.0)


def classes(seed, n=90, p=4, K=2, labels=None):
    """Overlapping classes along the first columns."""
    rng = np.random.default_rng(seed)
    k = rng.integers(K, size=n)
    X = rng.normal(size=(n, p))
    X[:, 0] += 1.2 * k
    X[:, 1] -= 0.8 * (k == K - 1)
    return X, k if labels is None else np.array(labels)[k]


class Quiet(peers.LogisticRegressionCV):
    def fit(self, X, y, sample_weight=None, **params):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().fit(X, y, sample_weight, **params)


def peer(**parameters):
    """scikit-learn's class, solved as far as it can."""
    parameters = {
        "l1_ratios": (0.0,), "scoring": "neg_log_loss", "solver": "newton-cholesky", "tol": 1e-11,
        "use_legacy_attributes": False, "max_iter": 1000, "Cs": CS, "cv": 3, "random_state": 0,
        **parameters,
    }  # fmt: skip
    return Quiet(**parameters)


def ours(**parameters):
    parameters = {
        "l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False, "Cs": CS,
        "cv": 3, **parameters,
    }  # fmt: skip
    return LogisticRegressionCV(**parameters)


def _centered(values, axis):
    """Without a penalty scores of several classes are known up to a constant."""
    return values - values.mean(axis=axis, keepdims=True) * (values.shape[axis] > 1)


def assert_same(mine, theirs, atol=1e-6):
    np.testing.assert_allclose(mine.scores_, theirs.scores_, rtol=0, atol=atol)
    np.testing.assert_array_equal(mine.C_, theirs.C_)
    np.testing.assert_array_equal(mine.l1_ratio_, theirs.l1_ratio_)
    np.testing.assert_array_equal(mine.Cs_, theirs.Cs_)
    np.testing.assert_array_equal(mine.l1_ratios_, theirs.l1_ratios_)
    for name, axis in (("coefs_paths_", 3), ("coef_", 0), ("intercept_", 0)):
        a, b = (_centered(getattr(model, name), axis) for model in (mine, theirs))
        np.testing.assert_allclose(a, b, rtol=0, atol=100 * atol)
    assert mine.n_iter_.shape == theirs.n_iter_.shape


# --- agreement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"Cs": 5},
        {"Cs": [10.0, 1e-3, 0.1]},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0}},
        {"cv": None},
        {"cv": KFold(4, shuffle=True, random_state=0)},
        {"cv": ShuffleSplit(2, random_state=1)},
        {"cv": [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]},
        {"scoring": None},
        {"scoring": "accuracy"},
        {"scoring": "neg_brier_score"},
        {"scoring": "balanced_accuracy"},
        {"refit": False},
        {"Cs": [1.0, np.inf]},
        {"solver": "newton-cg"},
    ],
    ids=str,
)
def test_scores_choice_and_coefficients_are_scikit_learns(K, parameters):
    X, y = classes(3, K=K)
    theirs = peer(**{**parameters, "solver": "newton-cholesky"}).fit(X, y)
    mine = ours(**parameters).fit(X, y)
    assert_same(mine, theirs)
    assert parameters.get("refit") is False or mine.certificate_.certified


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("refit", [True, False])
def test_ratios_of_the_penalty_are_chosen_as_well(K, refit):
    X, y = classes(3, n=60, K=K)
    X = StandardScaler().fit_transform(X)
    parameters = {"l1_ratios": np.array([0.0, 0.5, 1.0]), "Cs": [0.1, 1.0], "refit": refit}
    theirs = peer(solver="saga", **{**parameters, "tol": 1e-8, "max_iter": 20_000}).fit(X, y)
    mine = ours(**parameters).fit(X, y)
    assert_same(mine, theirs, atol=1e-5)
    assert mine.coefs_paths_.shape == (3, 3, 2, 1 if K == 2 else K, 5)
    assert not refit or mine.certificate_.certified


def test_a_lasso_of_the_path_has_exact_zeros():
    X, y = classes(3)
    model = ours(l1_ratios=[1.0], Cs=[0.02, 1.0]).fit(X, y)
    assert (model.coefs_paths_[:, 0, 0, 0, :-1] == 0).sum() > 3
    assert model.l1_ratio_ == 1.0
    assert model.certificate_.certified


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "accuracy"])
def test_weights_count_in_fits_and_scores(K, scoring):
    X, y = classes(4, K=K)
    s = np.random.default_rng(0).integers(0, 4, size=len(y)).astype(float)
    mine = ours(scoring=scoring).fit(X, y, s)
    assert_same(mine, peer(scoring=scoring).fit(X, y, s))
    without = ours(scoring=scoring).fit(X, y)
    assert np.abs(mine.scores_ - without.scores_).max() > 1e-3
    assert certus.verify(mine, X, y, s).certified


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, pd.DataFrame, np.float32])
def test_sparse_rows_frames_and_float32_give_the_same_scores(K, form):
    X, y = classes(5, K=K)
    X = np.round(16 * X) / 16
    X[np.abs(X) < 0.5] = 0
    mine = ours().fit(form(X) if form is not np.float32 else X.astype(form), y)
    assert_same(mine, peer().fit(X, y))


@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"], [False, True], [7, 3, 5]])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "balanced_accuracy"])
def test_labels_of_any_kind(labels, scoring):
    X, y = classes(6, K=len(labels), labels=labels)
    mine, theirs = ours(scoring=scoring).fit(X, y), peer(scoring=scoring).fit(X, y)
    assert_same(mine, theirs)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))
    assert mine.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)


def test_the_f_score_of_text_is_that_of_the_second_class():
    X, y = classes(6, labels=["no", "yes"])
    assert_same(ours(scoring="f1").fit(X, y), peer(scoring="f1").fit(X, y))
    of_no = make_scorer(f1_score, pos_label="no")  # a wish is obeyed
    scores = ours(scoring=of_no).fit(X, y).scores_
    assert not np.array_equal(scores, ours(scoring="f1").fit(X, y).scores_)


def test_averages_over_classes_score_two_classes_too():
    X, y = classes(6, labels=["no", "yes"])
    folds = list(StratifiedKFold(3).split(X, y))
    result = ours(scoring="f1_macro", cv=folds, Cs=[0.1]).fit(X, y).scores_.ravel()
    one = LogisticRegression(C=0.1)
    np.testing.assert_allclose(result, cross_val_score(one, X, y, scoring="f1_macro", cv=folds))


@pytest.mark.parametrize("K", [2, 3])
def test_liblinears_intercept_is_penalised_in_folds_and_at_the_end(K):
    X, y = classes(7, K=K)
    X += 1.0
    model = ours(solver="liblinear", intercept_scaling=3.0)
    if K > 2:
        with pytest.raises(ValueError, match="liblinear"):
            model.fit(X, y)
        return
    model.fit(X, y)
    theirs = peer(solver="liblinear", intercept_scaling=3.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.scores_, theirs.scores_, atol=1e-5)
    assert model.certificate_.certified
    last = LogisticRegression(C=model.C_, solver="liblinear", intercept_scaling=3.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, last.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, last.intercept_, atol=1e-5)
    free = ours().fit(X, y)
    assert np.abs(model.scores_ - free.scores_).max() > 1e-4


# --- attributes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("ratios", [None, (0.0,)])
@pytest.mark.parametrize("intercept", [True, False])
def test_attributes_have_scikit_learns_shapes_and_values(K, legacy, refit, ratios, intercept):
    X, y = classes(1, K=K, labels=["r", "s", "t"][:K])
    parameters = {
        "use_legacy_attributes": legacy, "refit": refit, "l1_ratios": ratios,
        "fit_intercept": intercept,
    }  # fmt: skip
    theirs = peer(**parameters).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        mine = ours(**parameters).fit(X, y)
    for name in ("C_", "l1_ratio_", "Cs_", "l1_ratios_", "coef_", "intercept_", "n_iter_"):
        a, b = np.asarray(getattr(mine, name)), np.asarray(getattr(theirs, name))
        assert a.shape == b.shape, name
        if name in ("C_", "l1_ratio_", "Cs_", "l1_ratios_"):
            np.testing.assert_array_equal(a, b, name)
    for name in ("coefs_paths_", "scores_"):
        a, b = getattr(mine, name), getattr(theirs, name)
        assert type(a) is type(b)
        if legacy:
            assert list(a) == list(b)
            a, b = np.array(list(a.values())), np.array(list(b.values()))
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_defaults_are_scikit_learns_without_its_warnings():
    X, y = classes(1)
    mine = LogisticRegressionCV().fit(X, y)  # warnings are errors here
    theirs = Quiet(tol=1e-8, max_iter=1000).fit(X, y)
    np.testing.assert_array_equal(mine.C_, theirs.C_)
    assert list(mine.scores_) == list(theirs.scores_)
    np.testing.assert_allclose(mine.scores_[1], theirs.scores_[1])
    assert mine.coefs_paths_[1].shape == theirs.coefs_paths_[1].shape
    np.testing.assert_array_equal(mine.l1_ratio_, theirs.l1_ratio_)


def test_of_equal_scores_the_first_in_the_order_given_is_taken():
    X, y = classes(2)

    def constant(model, X, y):
        return 1.0

    for Cs in ([0.1, 10.0, 1.0], [10.0, 0.1, 1.0]):
        chosen = ours(Cs=Cs, scoring=constant).fit(X, y).C_
        assert chosen == Cs[0]


def test_a_path_does_not_depend_on_the_order_of_its_penalties():
    X, y = classes(2, K=3)
    up, down = ours(Cs=[0.01, 1.0]).fit(X, y), ours(Cs=[1.0, 0.01]).fit(X, y)
    np.testing.assert_array_equal(up.coefs_paths_, down.coefs_paths_[:, :, ::-1])


def test_folds_are_solved_to_the_same_digits_whatever_tol_is():
    X, y = classes(2)
    loose, tight = ours(tol=0.5).fit(X, y), ours(tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(loose.scores_, tight.scores_)


# --- certificates ---------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_the_last_fit_is_certified_at_the_choice(K):
    X, y = classes(8, K=K)
    model = ours().fit(X, y)
    again = certus.verify(model, X, y)
    assert again.certified
    assert any("was not recomputed" in note for note in again.notes)
    model.coef_ = model.coef_ * 1.01
    assert not certus.verify(model, X, y).certified


def test_another_C_than_the_fitted_one_is_refused():
    X, y = classes(8)
    model = ours().fit(X, y)
    model.C_ /= 3
    assert not certus.verify(model, X, y).certified


def test_averages_carry_no_certificate_and_say_why():
    X, y = classes(8)
    model = ours(refit=False).fit(X, y)
    assert model.certificate_ is None
    with pytest.raises(CannotVerifyError, match="averages the coefficients of its folds"):
        certus.verify(model, X, y)
    assert "Optimal" not in model._repr_html_()


def test_a_fold_that_stops_early_warns_of_nothing_but_the_last_fit_does():
    X, y = classes(8)
    with pytest.warns(NotCertifiedWarning, match="max_iter=1") as caught:
        ours(max_iter=1, Cs=[1e4]).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_separated_folds_without_a_penalty_end():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] >= 20).astype(int)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    model = ours(Cs=[0.1, np.inf], cv=cv, scoring="accuracy").fit(X, y)
    assert model.C_ == 0.1  # both are right on every row: the first
    assert np.isfinite(model.coefs_paths_).all()
    with pytest.warns(SeparationWarning):
        last = ours(Cs=[np.inf], cv=cv).fit(X, y)
    assert last.certificate_.status == "no finite optimum"


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_class_that_a_fold_does_not_hold_gets_no_probability_there(K, intercept):
    X, y = classes(9, n=60, K=K)
    cv = [(np.flatnonzero(y != k), np.flatnonzero(y == k)) for k in range(K)]
    model = ours(cv=cv, fit_intercept=intercept, Cs=[1.0]).fit(X, y)
    assert np.isfinite(model.scores_).all()
    assert model.certificate_.certified
    if intercept:  # each fold is asked about one class alone, which it has never seen
        probability = np.exp(model.scores_)
        assert (probability < 1e-10).all()


def test_errors_on_the_rows_of_the_choice_are_refused():
    X, y = classes(1)
    with pytest.raises(InferenceError, match="Split the data"):
        ours().fit(X, y).inference(X, y)


# --- metadata -------------------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_groups_reach_the_splitter():
    X, y = classes(10)
    groups = np.random.default_rng(0).integers(6, size=len(y))
    mine = ours(cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert_same(mine, peer(cv=GroupKFold(3)).fit(X, y, groups=groups))
    assert_same(mine, peer(cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("wanted", [True, False])
def test_the_scorer_gets_the_weights_it_asks_for(wanted):
    X, y = classes(11)
    s = np.random.default_rng(1).uniform(0.1, 3, size=len(y))
    scorer = get_scorer("neg_log_loss").set_score_request(sample_weight=wanted)
    mine, theirs = (
        make(scoring=scorer).set_fit_request(sample_weight=True) for make in (ours, peer)
    )
    assert_same(mine.fit(X, y, sample_weight=s), theirs.fit(X, y, sample_weight=s))
    assert mine.score(X, y) == pytest.approx(-log_loss(y, mine.predict_proba(X)))


def test_without_routing_what_cannot_be_routed_is_refused():
    X, y = classes(1)
    with pytest.raises(ValueError, match="groups can be passed only with"):
        ours().fit(X, y, groups=y)
    with pytest.raises(ValueError, match="groups can be passed only with"):
        ours().fit(X, y).score(X, y, groups=y)


def test_score_weighs_rows():
    X, y = classes(1)
    s = np.arange(len(y), dtype=float)
    model = ours(scoring="accuracy").fit(X, y)
    assert model.score(X, y, sample_weight=s) == pytest.approx(
        s @ (model.predict(X) == y) / s.sum()
    )


# --- in company -----------------------------------------------------------------------------------


def test_in_a_pipeline_and_a_search():
    X, y = classes(12, K=3)
    pipeline = make_pipeline(StandardScaler(), ours())
    search = GridSearchCV(pipeline, {"logisticregressioncv__fit_intercept": [True, False]}, cv=3)
    search.fit(X, y)
    assert certus.verify(search, X, y).certified


class Recorder:
    """A callback that writes down the tasks it hears of."""

    def __init__(self):
        self.names, self.most, self.models = [], None, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.names.append(context.task_name)
        self.most = context.max_subtasks if context.parent is None else self.most

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.models.append(fitted_estimator)


def test_callbacks_hear_of_every_fold_and_then_of_every_step():
    X, y = classes(1)
    recorder = Recorder()
    model = ours(max_iter=20)
    model.set_callbacks(recorder)
    model.fit(X, y)
    steps = len(model.certificate_.trace) - 1
    assert recorder.names[1:] == ["fold"] * 9 + ["iteration"] * steps
    assert steps > 0
    assert recorder.most == 9 + 20


def test_a_progress_bar_runs_to_its_end(capsys):
    X, y = classes(1)
    model = ours(max_iter=20)
    model.set_callbacks(ProgressBar())
    assert model.fit(X, y).certificate_.certified


def test_an_interrupt_before_the_first_fit_leaves_the_model_as_it_was(monkeypatch):
    X, y = classes(1)
    model = ours().fit(X, y)
    before = vars(model).copy()

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(paths, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1, y)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": 0}, "Cs=0"),
        ({"Cs": []}, "Cs=.*whole number, or numbers above 0"),
        ({"Cs": [1.0, -1.0]}, "above 0"),
        ({"Cs": "ten"}, "Cs='ten'"),
        ({"l1_ratios": [0.5, 2]}, "from 0 .ridge. to 1"),
        ({"l1_ratios": []}, "l1_ratios"),
        ({"l1_ratios": "wrn"}, "Did you mean 'warn'"),
        ({"solver": "lbgfs"}, "Did you mean 'lbfgs'"),
        ({"refit": "yes"}, "refit='yes'"),
        ({"use_legacy_attributes": 1}, "use_legacy_attributes=1"),
        ({"scoring": "acuracy"}, "acuracy"),
        ({"class_weight": "equal"}, "class_weight='equal'"),
    ],
    ids=str,
)
def test_a_parameter_without_a_meaning_is_named(parameters, message):
    X, y = classes(1)
    with pytest.raises(ValueError, match=message):
        ours(**parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning")
@parametrize_with_checks([LogisticRegressionCV(Cs=3, cv=3)])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
