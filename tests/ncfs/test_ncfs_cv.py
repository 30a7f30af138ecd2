"""NCFSClassifierCV: choices, scores without a leak, the last fit, what is told."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, log_loss, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.feature_selection import NCFSClassifier, NCFSClassifierCV
from certus.feature_selection._alpha_result import AlphaChoice
from certus.solvers.ncfs import largest_alpha
from tests.ncfs.ncfs_cases import signal, yangs_toy
from tests.runtime.progress_cases import Recorder

IRIS = load_iris(return_X_y=True)
ALPHAS = [2.0, 0.5, 0.1]


def noise(seed, n=60, P=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, P)), np.arange(n) % 2


def clear(seed=1, n=60, P=5, classes=3):
    """Classes that the first two columns tell apart, nearly."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, P))
    X[:, :2] += np.array([[0, 0], [3, 0], [0, 3]])[y]
    return X, y


def small(**parameters):
    return NCFSClassifierCV(**{"alphas": ALPHAS, "cv": 3, **parameters})


# --- the choice -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "best", "strongest"),
    [
        # means .5 .8 .9, error of the best .1/√2·… = .05: .8 is too low
        ([[0.5, 0.5], [0.8, 0.8], [0.85, 0.95]], 2, 2),
        # error of the best .1: .8 is just within
        ([[0.5, 0.5], [0.8, 0.8], [0.8, 1.0]], 2, 1),
        # the best of equals is the strongest
        ([[0.7, 0.9], [0.9, 0.7], [0.6, 0.8]], 0, 0),
        # errors of others do not count
        ([[0.0, 1.0], [0.8, 0.8], [0.5, 0.5]], 1, 1),
        # weaker ones are not taken for being within
        ([[0.1, 0.1], [0.9, 0.5], [0.65, 0.65]], 1, 1),
        # not a number is not chosen
        ([[np.nan, 1.0], [0.5, 0.7], [0.6, 0.6]], 1, 1),
        # one fold has no spread
        ([[0.7], [0.8], [0.8]], 1, 1),
        # larger is better, below 0 too
        ([[-3.0, -3.0], [-1.0, -2.0], [-1.0, -1.0]], 2, 2),
    ],
)
def test_the_choice_by_hand(scores, best, strongest):
    found = AlphaChoice.of(np.array(scores))
    assert (found.best, found.strongest) == (best, strongest)


def test_standard_errors_are_those_of_a_mean_over_folds():
    scores = np.random.default_rng(0).uniform(size=(4, 7))
    found = AlphaChoice.of(scores)
    np.testing.assert_allclose(found.mean, scores.mean(axis=1))
    np.testing.assert_allclose(found.error, [pd.Series(row).sem() for row in scores])


def test_no_score_at_all_is_an_error():
    with pytest.raises(ValueError, match="no λ has a score in every fold"):
        AlphaChoice.of(np.full((2, 3), np.nan))


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(3))
def test_one_standard_error_takes_no_more_columns_than_the_best(seed):
    X, y = signal(seed, n=75, P=8)
    best, sparser = (NCFSClassifierCV(6, choice=c).fit(X, y) for c in ("best", "1se"))
    np.testing.assert_array_equal(best.scores_, sparser.scores_)
    assert best.chosen_index_ == best.best_index_ == sparser.best_index_
    assert sparser.alpha_ >= best.alpha_
    assert sparser.alpha_ == sparser.alphas_[sparser.chosen_index_]
    assert sparser.support_.sum() <= best.support_.sum()
    mean, error = best.scores_.mean(axis=1), best.scores_.std(axis=1, ddof=1) / np.sqrt(5)
    floor = mean[best.best_index_] - error[best.best_index_]
    assert mean[sparser.chosen_index_] >= floor
    assert (mean[: sparser.chosen_index_] < floor).all()


# --- scores ---------------------------------------------------------------------------------------


def scores_by_hand(X, y, alphas, folds, s=None, metric=None, **parameters):
    """Each λ by itself: NCFSClassifier on the training rows, λ times their share of Σa."""
    out = np.empty((len(alphas), len(folds)))
    weight = np.ones(len(y)) if s is None else s
    for f, (train, test) in enumerate(folds):
        share = weight[train].sum() / weight.sum()
        for a, alpha in enumerate(alphas):
            model = NCFSClassifier(alpha * share, **parameters)
            model.fit(X[train], y[train], None if s is None else s[train])
            if metric is None:
                right = model.predict(X[test]) == y[test]
                out[a, f] = np.average(right, weights=weight[test])
            else:
                out[a, f] = metric(model, X[test], y[test])
    return out


@pytest.mark.parametrize("name", ["iris", "signal", "text"])
def test_scores_are_those_of_fits_to_the_training_rows_alone(name):
    X, y = {"iris": IRIS, "signal": clear(1, n=80), "text": clear(2, n=70, classes=2)}[name]
    y = np.array(["no", "yes"])[y] if name == "text" else y
    model = small().fit(X, y)
    folds = list(StratifiedKFold(3).split(X, y))
    np.testing.assert_allclose(model.scores_, scores_by_hand(X, y, ALPHAS, folds), atol=1e-12)
    assert model.scores_.shape == model.n_selected_.shape == (3, 3)


def test_weights_count_in_fits_and_scores():
    X, y = clear(1, n=80)
    s = np.random.default_rng(0).integers(0, 4, size=80).astype(float)
    model = small().fit(X, y, s)
    folds = list(StratifiedKFold(3).split(X, y))
    np.testing.assert_allclose(model.scores_, scores_by_hand(X, y, ALPHAS, folds, s), atol=1e-12)
    assert np.abs(model.scores_ - small().fit(X, y).scores_).max() > 0.01


def test_a_scorer_by_name_and_a_function_say_the_same():
    X, y = clear(1, n=80, classes=2)

    def minus_loss(model, X, y):
        return -log_loss(y, model.predict_proba(X), labels=model.classes_)

    named, given = (small(scoring=by).fit(X, y) for by in ("neg_log_loss", minus_loss))
    np.testing.assert_allclose(named.scores_, given.scores_)
    folds = list(StratifiedKFold(3).split(X, y))
    np.testing.assert_allclose(
        named.scores_, scores_by_hand(X, y, ALPHAS, folds, metric=minus_loss), atol=1e-4
    )
    assert named.score(X, y) == pytest.approx(minus_loss(named, X, y))
    assert given.score(X, y) == pytest.approx(minus_loss(given, X, y))


@pytest.mark.parametrize("scoring", ["f1_macro", "precision_macro", "roc_auc_ovr", "neg_log_loss"])
def test_a_scorer_may_meet_models_without_columns_and_folds_without_a_class(scoring):
    X, y = clear(1, n=60)
    y = np.where(np.arange(60) < 4, 3, y)
    if scoring == "roc_auc_ovr":
        y = y % 3  # the area has no meaning without each class
    model = small(alphas=[500.0, 1.0], cv=KFold(5, shuffle=True, random_state=0), scoring=scoring)
    model.fit(X, y)
    assert np.isfinite(model.scores_).all()
    assert (model.n_selected_[0] == 0).all()
    np.testing.assert_allclose(model.scores_[0], model.scores_without_columns_)


def test_scores_without_columns_are_those_of_the_commonest_class():
    X, y = clear(0, n=90, classes=2)
    y[:20] = 0
    model = small().fit(X, y)
    for f, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
        assert model.scores_without_columns_[f] == pytest.approx(np.mean(y[test] == 0))


@pytest.mark.parametrize(
    "cv",
    [
        4,
        KFold(4, shuffle=True, random_state=0),
        ShuffleSplit(2, random_state=1),
        [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))],
    ],
)
def test_folds_are_those_of_the_splitter(cv):
    X, y = clear(1)
    model = small(cv=cv, alphas=[2.0, 0.5]).fit(X, y)
    folds = list((StratifiedKFold(4) if cv == 4 else cv).split(X, y)) if hasattr(
        cv, "split"
    ) or cv == 4 else cv  # fmt: skip
    np.testing.assert_allclose(model.scores_, scores_by_hand(X, y, [2.0, 0.5], folds), atol=1e-12)


def test_groups_are_routed_to_the_splitter():
    X, y = clear(1)
    groups = np.arange(60) // 12
    with pytest.raises(ValueError, match=r"groups can be passed only with .*metadata_routing"):
        small(cv=GroupKFold(5)).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        model = small(cv=GroupKFold(5)).fit(X, y, groups=groups)
        folds = list(GroupKFold(5).split(X, y, groups))
    np.testing.assert_allclose(model.scores_, scores_by_hand(X, y, ALPHAS, folds), atol=1e-12)


def test_forms_are_one_problem():
    X, y = clear(1, n=80)
    plain = NCFSClassifierCV(6, cv=3).fit(X, y)
    mean = NCFSClassifierCV(6, cv=3, form="mean").fit(X, y)
    np.testing.assert_allclose(mean.alphas_, plain.alphas_ / 80)
    np.testing.assert_array_equal(mean.scores_, plain.scores_)
    assert mean.chosen_index_ == plain.chosen_index_


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
def test_other_metrics_and_priors(metric):
    X, y = clear(3, n=60)
    model = small(metric=metric, prior="balanced", alphas=[0.3, 0.05, 0.01]).fit(X, y)
    assert model.scores_.max() > 0.5
    assert model.certificate_.status == "local optimum"


# --- no leak --------------------------------------------------------------------------------------


def test_scores_on_noise_stay_at_chance_and_selection_outside_the_folds_would_not():
    inside, outside = [], []
    for seed in range(6):
        X, y = noise(seed, 40, 100)
        model = small(alphas=[0.2], cv=5).fit(X, y)
        inside.append(model.scores_.mean())
        chosen = X[:, model.support_]
        outside.append(small(alphas=[0.2], cv=5).fit(chosen, y).scores_.mean())
    # a mean over 240 rows has an error of .032
    assert abs(np.mean(inside) - 0.5) < 0.1
    assert np.mean(outside) > 0.65


def test_a_row_that_is_left_out_has_no_say():
    """Whatever stands in it: its own scale, its own class."""
    X, y = clear(1)
    fold = [(np.arange(45), np.arange(45, 60))]
    before = small(cv=fold).fit(X, y)
    other = X.copy()
    other[45:] *= 1000
    after = small(cv=fold).fit(other, y)
    np.testing.assert_array_equal(before.n_selected_, after.n_selected_)
    flipped = y.copy()
    flipped[45:] = (y[45:] + 1) % 3
    np.testing.assert_array_equal(small(cv=fold).fit(X, flipped).n_selected_, before.n_selected_)


def test_the_score_of_the_whole_method_on_noise_is_chance():
    scores = []
    for seed in range(4):
        X, y = noise(seed, 40, 8)
        with warnings.catch_warnings():
            # rightly: nothing is there
            warnings.simplefilter("ignore", DegenerateWarning)
            warnings.simplefilter("ignore", NotCertifiedWarning)
            scores += list(cross_val_score(small(alphas=[1.0, 0.3, 0.1], cv=2), X, y, cv=4))
    assert abs(np.mean(scores) - 0.5) < 0.15


# --- the last fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_last_fit_is_as_good_as_one_at_alpha(seed):
    X, y = clear(seed, n=80, P=12)
    model = NCFSClassifierCV(6, cv=3).fit(X, y)
    alone = NCFSClassifier(model.alpha_).fit(X, y)
    assert model.objective_ >= alone.objective_ - 1e-7 * 80
    assert model.certificate_.certified
    found = certus.verify(model, X, y)
    assert found.certified
    assert "the choice of alpha_ was not recomputed" in found.explain()


def test_it_has_all_of_a_classifier():
    X, y = IRIS
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = NCFSClassifierCV(5, cv=3).fit(frame, y)
    plain = NCFSClassifier(model.alpha_).fit(frame, y)
    np.testing.assert_allclose(model.weights_, plain.weights_, atol=1e-4)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(frame))
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(frame), atol=1e-5)
    np.testing.assert_array_equal(model.transform(frame), plain.transform(frame))
    assert model.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    missing = {name for name in vars(plain) if name.endswith("_")} - set(vars(model))
    assert not missing


def test_yangs_two_columns_are_found_among_a_hundred():
    X, y = yangs_toy(0)
    model = NCFSClassifierCV(8, cv=3).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1]
    assert model.scores_[model.chosen_index_].mean() > 0.9


def test_noise_is_called_noise():
    with pytest.warns(DegenerateWarning, match="All weights are 0"):
        model = NCFSClassifierCV([1.0, 0.5], cv=3).fit(*noise(0))
    assert not model.support_.any()
    assert "No evidence that columns help" in " ".join(model.table().notes)


def test_a_lambda_that_leaves_nothing_of_all_rows_is_passed_over(monkeypatch):
    X, y = clear(1, n=80)
    model = small(alphas=[2.0, 1.0, 0.5])
    plain = model._better_start

    def nothing_at_the_strongest(task, W):
        start, found = plain(task, W)
        return start, found and task.problem.alpha < 2

    monkeypatch.setattr(model, "_better_start", nothing_at_the_strongest)
    monkeypatch.setattr(
        AlphaChoice, "of", classmethod(lambda cls, s: cls(s.mean(axis=1), s.std(axis=1), 0, 0))
    )
    model.fit(X, y)
    assert (model.best_index_, model.chosen_index_, model.alpha_) == (0, 1, 1.0)


def test_solvers_without_a_way_back_go_one_way():
    X, y = clear(1)
    model = small(solver="yang", tol=1e-9, cv=2).fit(X, y)
    exact = small(cv=2).fit(X, y)
    assert np.abs(model.scores_ - exact.scores_).max() < 0.11
    assert model.solver_ == "yang"


@pytest.fixture
def coarse(monkeypatch):
    """Paths of few rows and columns as those of many."""
    for name, value in (("MAX_EXACT_WORK", 0), ("MAX_EXACT_COLUMNS", 3)):
        monkeypatch.setattr(f"certus.feature_selection._fold_path.{name}", value)


@pytest.mark.costly
@pytest.mark.parametrize("metric", ["manhattan", "sqeuclidean", "euclidean"])
def test_a_coarse_path_chooses_the_same(coarse, monkeypatch, metric):
    X, y = clear(1, n=120, P=30)
    rough = NCFSClassifierCV(8, metric=metric, cv=3).fit(X, y)
    monkeypatch.undo()
    model = NCFSClassifierCV(8, metric=metric, cv=3).fit(X, y)
    assert rough.chosen_index_ == model.chosen_index_
    np.testing.assert_array_equal(rough.support_, model.support_)
    np.testing.assert_allclose(rough.weights_, model.weights_, rtol=1e-3, atol=1e-3)
    assert np.abs(rough.scores_.mean(axis=1) - model.scores_.mean(axis=1)).max() < 0.05
    assert rough.certificate_.certified


def test_a_coarse_path_keeps_the_digits_of_columns_far_from_0(coarse):
    X, y = clear(1, n=90, P=20)
    near, far = (NCFSClassifierCV(5, cv=3, scale=None).fit(X + c, y) for c in (0.0, 2.0**30))
    assert near.chosen_index_ == far.chosen_index_
    np.testing.assert_allclose(near.scores_, far.scores_, atol=0.04)
    np.testing.assert_allclose(near.weights_, far.weights_, rtol=1e-3, atol=1e-3)


def test_a_coarse_path_of_numbers_too_large_for_float32(coarse):
    X, y = clear(1, n=90, P=20)
    model = NCFSClassifierCV([2.0, 0.5], cv=3, scale=None, sigma=1e60).fit(X * 1e60, y)
    assert np.isfinite(model.scores_).all()
    assert model.scores_.max() > 0.8


def test_a_coarse_path_has_the_same_bits_on_any_number_of_threads(coarse):
    X, y = clear(1, n=90, P=30)
    one, two = (NCFSClassifierCV(5, cv=3, n_jobs=threads).fit(X, y) for threads in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_callbacks_hear_of_every_fit_of_a_coarse_path(coarse):
    recorder = Recorder()
    X, y = clear(1, n=90, P=30)
    NCFSClassifierCV(8, cv=3).set_callbacks(recorder).fit(X, y)
    folds = [text for text in recorder.heard if text.startswith("end fold")]
    assert 3 * 8 < len(folds) <= 3 * 2 * 8


def test_the_same_bits_on_any_number_of_threads():
    X, y = clear(1, n=90, P=20)
    one, two = small(n_jobs=1).fit(X, y), small(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_a_second_fit_forgets_the_first():
    model = small().fit(*clear(2))
    again, once = model.fit(*clear(1)), small().fit(*clear(1))
    np.testing.assert_array_equal(again.weights_, once.weights_)
    assert set(vars(again)) == set(vars(once))


# --- the grid -------------------------------------------------------------------------------------


def test_alphas_fall_from_the_strongest_that_matters():
    X, y = clear(1, n=80)
    model = NCFSClassifierCV(4, cv=3).fit(X, y)
    task = NCFSClassifier()._prepare(
        certus.data.rows.Rows(X, y[:, None].astype(float)), np.arange(3)
    )
    assert model.alphas_[0] == pytest.approx(largest_alpha(task.problem))
    np.testing.assert_allclose(model.alphas_[1:] / model.alphas_[:-1], 0.1)


def test_alphas_may_rise_or_fall():
    X, y = clear(1)
    fall, rise = small(alphas=[2.0, 0.5]).fit(X, y), small(alphas=(0.5, 2.0)).fit(X, y)
    assert fall.alphas_.tolist() == rise.alphas_.tolist() == [2.0, 0.5]
    np.testing.assert_array_equal(fall.scores_, rise.scores_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alphas": [1.0, 0.0]}, r"alphas holds 0.0: λ must be a finite number above 0"),
        ({"alphas": [1.0, -2.0]}, r"alphas holds -2.0: λ must be"),
        ({"alphas": [1.0, np.inf]}, r"alphas holds inf: λ must be"),
        ({"alphas": [1.0, np.nan]}, r"alphas holds nan: λ must be"),
        ({"alphas": [1.0, 3.0, 2.0]}, r"alphas=\[1.0, 3.0, 2.0\] are not in order: .*np.uniq"),
        ({"alphas": [1.0, 1.0]}, r"are not in order"),
        ({"alphas": 1}, r"alphas=1: give a whole number of at least 2, or numbers above 0"),
        ({"alphas": True}, r"alphas=True: give"),
        ({"alphas": []}, r"alphas=\[\]: give"),
        ({"alphas": "auto"}, r"alphas='auto': give"),
        ({"alphas": [[1.0]]}, r"alphas=\[\[1.0\]\]: give"),
        ({"choice": "min"}, r"choice='min'"),
        ({"metric": "phi_s"}, r"metric='phi_s' has no λ to choose, .* NCFSClassifier\(metric"),
        ({"sigma": 0}, r"sigma=0: give a finite number above 0"),
        ({"scoring": "no_such"}, r"no_such"),
        ({"n_jobs": 0}, r"n_jobs=0 has no meaning"),
        ({"cv": []}, r"cv gives no folds"),
        ({"cv": [(np.arange(60), [])]}, r"fold 1 of 1 leaves no row out"),
        ({"cv": [(np.arange(2), [3])]}, r"fold 1 of 1 has no row of class 2 to learn from"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        small(**parameters).fit(*clear(1))


def test_a_class_missing_in_a_fold_is_named():
    X, y = clear(1, classes=2)
    y = np.array(["plain", "other"])[y]
    y[7] = "lone"
    with (
        pytest.warns(UserWarning, match="least populated class"),
        pytest.raises(
            ValueError, match=r"of 3 has no row of class 'lone' to learn from: use fewer folds"
        ),
    ):
        small().fit(X, y)
    with pytest.raises(ValueError, match=r"fold 1 of 5 has no row of class 'a' to learn from"):
        small(cv=KFold(5)).fit(X, np.repeat(["a", "b"], [12, 48]))


def test_a_class_without_weight_in_a_fold_is_named():
    X, y = clear(1, classes=2)
    s = np.ones(60)
    s[(y == 1) & (np.arange(60) > 20)] = 0
    with pytest.raises(ValueError, match=r"fold 1 of 3 has no row of class 1 to learn from"):
        small(cv=KFold(3)).fit(X, y, s)


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = small().fit(*clear(1))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((20, 5), np.nan), np.arange(20) % 2)
    assert vars(model) == before


# --- what people see ------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_lambda():
    model = small(choice="1se").fit(*IRIS)
    table = model.table()
    assert len(table) == 3
    np.testing.assert_array_equal(table["alpha"], ALPHAS)
    np.testing.assert_allclose(table["accuracy"], model.scores_.mean(axis=1))
    np.testing.assert_allclose(table["columns"], model.n_selected_.mean(axis=1))
    assert table[""].tolist()[model.chosen_index_] in ("taken", "best and taken")
    assert str(table).startswith("Accuracy on rows left out, 3 folds\nalpha  accuracy  std error")
    assert "<table>" in table._repr_html_()
    assert list(table.to_pandas().index) == ALPHAS
    assert "the largest of 3" in str(table)


def test_the_table_says_when_the_grid_ends_too_early():
    X, y = clear(0, n=60, P=30)
    weak = small(alphas=[2.5, 1.5], choice="best").fit(X, y)
    strong = small(alphas=[1.0, 0.001], choice="best").fit(X, y)
    assert weak.best_index_ == 1
    assert "The best λ is the weakest that was tried" in " ".join(weak.table().notes)
    assert strong.best_index_ == 0
    assert "The best λ is the strongest that was tried" in " ".join(strong.table().notes)


def test_tables_of_a_scorer_carry_its_name():
    def my_own_score(model, X, y):
        return f1_score(y, model.predict(X), average="macro")

    names = {
        "neg_log_loss": "neg log loss",
        my_own_score: "my own score",
        make_scorer(f1_score, average="macro"): "score",
    }
    for scoring, name in names.items():
        model = small(scoring=scoring, cv=2, alphas=[1.0, 0.5]).fit(*clear(1))
        assert model.table().columns[1] == name


def test_an_unfitted_model_has_no_table():
    for method in ("table", "plot"):
        with pytest.raises(NotFittedError):
            getattr(small(), method)()


def test_verbose_says_how_folds_and_the_last_fit_go(capsys):
    small(verbose=1).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("NCFSClassifierCV: fold 1 of 3, accuracy 1 at λ = ")
    assert [line.split(",")[0] for line in lines[:3]] == [
        f"NCFSClassifierCV: fold {f} of 3" for f in (1, 2, 3)
    ]
    assert lines[-1].startswith("NCFSClassifierCV: iteration ")


def test_callbacks_hear_of_every_fit():
    recorder = Recorder()
    model = small().set_callbacks(recorder).fit(*IRIS)
    folds = [text for text in recorder.heard if text.startswith("end fold")]
    assert len(folds) == 2 * 3 * 3
    assert f"end iteration {len(folds) + model.n_iter_ - 1}" in recorder.heard
    small().set_callbacks(ProgressBar()).fit(*IRIS)


def test_ctrl_c_in_the_folds_keeps_what_the_folds_found():
    calls = []

    def stop(model, X, y):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return 0.0

    model = small(scoring=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*IRIS)
    assert model.certificate_.status == "stopped"


def test_ctrl_c_in_the_last_fit_keeps_the_best_so_far():
    class Stop(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name == "iteration":
                raise KeyboardInterrupt
            return super().on_fit_task_end(estimator, context, fitted_estimator=fitted_estimator)

    X, y = load_wine(return_X_y=True)
    model = small(alphas=[2.0, 0.5], cv=2).set_callbacks(Stop())
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert "NCFSClassifierCV stopped by you" in caught.value.__notes__[0]
    assert model.certificate_.status == "stopped"
    assert model.predict(X).shape == (178,)
    assert len(model.table()) == 2


# --- among others ---------------------------------------------------------------------------------


def test_every_parameter_and_fitted_attribute_is_documented():
    model = small().fit(pd.DataFrame(clear()[0], columns=list("abcde")), clear()[1])
    doc = inspect.getdoc(NCFSClassifierCV)
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    for name in [*inspect.signature(NCFSClassifierCV).parameters, *fitted]:
        assert name in doc, f"{name} is not documented"


def test_its_parameters_are_those_of_a_classifier_but_for_alpha():
    own, plain = NCFSClassifierCV().get_params(), NCFSClassifier().get_params()
    assert set(plain) - set(own) == {"alpha", "warm_start", "batch_size"}
    more = {"alphas": 20, "cv": 5, "choice": "1se", "scoring": None, "n_jobs": None}
    shared = {name: value for name, value in plain.items() if name in own}
    assert own == {**shared, **more}


def test_a_copy_predicts_the_same_bits_and_a_clone_knows_nothing():
    X, y = clear()
    model = small().fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert str(twin.table()) == str(model.table())
    assert certus.verify(twin, X, y).certified
    assert not [name for name in vars(clone(model)) if name.endswith("_")]


def test_weights_are_routed_to_the_fit_and_to_a_scorer_that_asks():
    X, y = clear(n=90)
    X[:, :2] *= 0.5
    s = np.random.default_rng(0).uniform(0, 3, size=90)
    scorer = make_scorer(f1_score, average="macro")
    with sklearn.config_context(enable_metadata_routing=True):
        heard = small(scoring=scorer.set_score_request(sample_weight=True))
        deaf = small(
            scoring=make_scorer(f1_score, average="macro").set_score_request(sample_weight=False)
        )
        for model in (heard, deaf):
            model.set_fit_request(sample_weight=True).fit(X, y, sample_weight=s)
    np.testing.assert_array_equal(heard.n_selected_, deaf.n_selected_)
    assert np.abs(heard.scores_ - deaf.scores_).max() > 1e-3
    np.testing.assert_array_equal(heard.n_selected_, small().fit(X, y, s).n_selected_)


NOT_COPIES = {
    "check_sample_weight_equivalence_on_dense_data": "weight 2 is not the row twice: that would "
    "also be its own nearest neighbour, and fall into two folds"
}


@parametrize_with_checks(
    [NCFSClassifierCV(3, cv=3)], expected_failed_checks=lambda model: NOT_COPIES
)
@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")  # some fit noise
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
