"""Stability selection: frequencies by brute force, drawn rows, bounds, selectors of all kinds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    VarianceThreshold,
    f_regression,
)
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from certus.feature_selection import (
    NCFSClassifier,
    NCFSRegressor,
    StabilityResult,
    stability_selection,
)
from certus.feature_selection._resampling import resamples
from certus.text.proportions import wilson


def relevant(seed, n=60, P=12):
    """Two classes, which the columns 2 and 5 tell apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, P))
    X[:, [2, 5]] += 2 * y[:, None] - 1
    return X, y


class Farthest(SelectorMixin, BaseEstimator):
    """The columns whose class means differ most: quick, and no randomness."""

    def __init__(self, k=2):
        self.k = k

    def fit(self, X, y, sample_weight=None):
        s = np.ones(len(y)) if sample_weight is None else sample_weight
        means = [np.average(X[y == c], axis=0, weights=s[y == c]) for c in np.unique(y)[:2]]
        self.coef_ = means[1] - means[0]
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        mask = np.zeros(len(self.coef_), dtype=bool)
        mask[np.argsort(-abs(self.coef_))[: self.k]] = True
        return mask


# --- frequencies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 0.3, 0.8])
@pytest.mark.parametrize("weighted", [False, True])
def test_frequencies_are_those_of_fits_to_the_rows_drawn(share, weighted):
    X, y = relevant(0)
    s = np.random.default_rng(1).uniform(0.1, 5, size=60) if weighted else None
    found = stability_selection(
        Farthest(), X, y, n_resamples=12, share=share, sample_weight=s, random_state=3
    )
    masks, weights = [], []
    for rows in found.drawn:
        own = {} if s is None else {"sample_weight": s[rows]}
        model = Farthest().fit(X[rows], y[rows], **own)
        masks.append(model.get_support())
        weights.append(abs(model.coef_))
    np.testing.assert_array_equal(found.selected, masks)
    np.testing.assert_array_equal(found.weights, weights)
    np.testing.assert_allclose(found.frequencies, np.mean(masks, axis=0))
    np.testing.assert_array_equal(found.support, found.frequencies >= 0.6)
    assert found.n_selected == 2
    for q in (0.1, 0.5):
        np.testing.assert_allclose(found.quantiles(q), np.quantile(weights, q, axis=0))


def test_frequencies_of_ncfs_are_those_of_fits_by_hand():
    X, y = relevant(0, n=40, P=6)
    found = stability_selection(NCFSClassifier(0.3), X, y, n_resamples=6, random_state=0)
    for b, rows in enumerate(found.drawn):
        model = NCFSClassifier(0.3).fit(X[rows], y[rows])
        np.testing.assert_array_equal(found.selected[b], model.support_)
        np.testing.assert_array_equal(found.weights[b], model.weights_)


@pytest.mark.parametrize("seed", range(5))
def test_relevant_columns_are_stable_and_noise_is_not(seed):
    X, y = relevant(seed, n=120, P=40)
    found = stability_selection(NCFSClassifier(0.6), X, y, n_resamples=10, random_state=seed)
    assert found.get_support(indices=True).tolist() == [2, 5]
    others = np.delete(found.frequencies, [2, 5])
    assert others.max() < 0.5


def test_columns_of_a_regression_are_stable():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 8))
    y = np.sin(6 * X[:, 1]) + X[:, 4]
    found = stability_selection(NCFSRegressor(), X, y, n_resamples=6, random_state=0)
    assert found.get_support(indices=True).tolist() == [1, 4]


def test_on_noise_no_more_are_stable_than_the_bound_says():
    """Mean over data sets of pure noise, all columns alike."""
    rng = np.random.default_rng(0)
    stable, bounds = [], []
    for _ in range(60):
        X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
        found = stability_selection(Farthest(3), X, y, n_resamples=20, random_state=0)
        stable.append(found.support.sum())
        bounds.append(found.false_selections)
    assert bounds[0] == pytest.approx(9 / (0.2 * 30))
    assert 0 < np.mean(stable) <= np.mean(bounds)


# --- drawn rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [40, 41, 43])
def test_halves_come_in_complementary_pairs_and_hold_half_of_every_class(seed, n):
    y = np.arange(n) % 3
    found = stability_selection(
        Farthest(), np.random.default_rng(0).normal(size=(n, 3)), y, n_resamples=8,
        random_state=seed,
    )  # fmt: skip
    first, second = found.drawn[::2], found.drawn[1::2]
    np.testing.assert_array_equal(first, ~second)
    for c in range(3):
        sizes = found.drawn[:, y == c].sum(axis=1)
        assert set(sizes) <= {np.sum(y == c) // 2, -(-np.sum(y == c) // 2)}
    assert abs(first.sum(axis=1) - second.sum(axis=1)).max() <= 1
    assert len({row.tobytes() for row in found.drawn}) == 8


def test_every_row_is_as_likely_as_any_other():
    rng = np.random.RandomState(0)
    strata = np.repeat([0, 1, 2], [5, 8, 13])
    drawn = resamples(strata, list("abc"), 0.5, 4000, rng).mean(axis=0)
    np.testing.assert_allclose(drawn, 0.5, atol=1e-12)  # pairs
    drawn = resamples(strata, list("abc"), 0.4, 4000, rng).mean(axis=0)
    for c, size in enumerate((5, 8, 13)):
        np.testing.assert_allclose(drawn[strata == c], int(0.4 * size) / size, atol=0.05)


def test_other_shares_are_counted_by_class():
    drawn = resamples(np.repeat([0, 1], [100, 50]), ["a", "b"], 0.29, 3, np.random.RandomState(0))
    assert drawn[:, :100].sum(axis=1).tolist() == [29, 29, 29]
    assert drawn[:, 100:].sum(axis=1).tolist() == [14, 14, 14]


def test_numbers_are_not_taken_for_classes():
    X, _ = relevant(0)
    y = np.round(10 * X[:, 0]).astype(int)  # some values stand alone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for selector in (NCFSRegressor(), SelectFromModel(Lasso(0.1))):
            found = stability_selection(selector, X, y, n_resamples=2, random_state=0)
            assert found.drawn.sum(axis=1).tolist() == [30, 30]
    kbest = stability_selection(
        SelectKBest(f_regression, k=2), X, X[:, 3] + 0.1 * X[:, 4], n_resamples=4
    )
    assert kbest.frequencies[3] == 1


def test_a_seed_gives_the_same_and_another_something_else():
    X, y = relevant(0)
    a, b, c = (
        stability_selection(Farthest(), X, y, n_resamples=6, random_state=r) for r in (0, 0, 1)
    )
    np.testing.assert_array_equal(a.drawn, b.drawn)
    np.testing.assert_array_equal(a.weights, b.weights)
    assert not np.array_equal(a.drawn, c.drawn)


@pytest.mark.parametrize("estimator", [NCFSClassifier(), Farthest()], ids=repr)
def test_the_same_bits_on_any_number_of_threads(estimator):
    X, y = relevant(0)
    a, b = (
        stability_selection(estimator, X, y, n_resamples=7, random_state=0, threads=t)
        for t in (1, 3)
    )
    for name in ("selected", "weights", "drawn", "frequencies"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_selectors_that_draw_are_given_their_seeds():
    X, y = relevant(0)
    forest = SelectFromModel(RandomForestClassifier(5), max_features=2)
    a, b = (
        stability_selection(forest, X, y, n_resamples=4, random_state=0, threads=t) for t in (1, 2)
    )
    np.testing.assert_array_equal(a.weights, b.weights)
    fixed = clone(forest).set_params(estimator__random_state=7)
    found = stability_selection(fixed, X, y, n_resamples=2, random_state=0)
    rows = found.drawn[0]
    mine = RandomForestClassifier(5, random_state=7).fit(X[rows], y[rows])
    np.testing.assert_array_equal(found.weights[0], mine.feature_importances_)
    assert forest.estimator.random_state is None, "the estimator is left as it was"
    assert not hasattr(forest, "estimator_")


# --- intervals and bounds -------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_are_wilsons(k, confidence):
    known = binomtest(k, 20).proportion_ci(confidence, method="wilson")
    np.testing.assert_allclose(wilson(np.array([k]), 20, confidence)[0], known, atol=1e-12)


def test_the_bound_is_meinshausen_and_buehlmanns():
    X, y = relevant(0)
    found = stability_selection(Farthest(3), X, y, n_resamples=10, threshold=0.9, random_state=0)
    assert found.n_selected == 3
    assert found.false_selections == pytest.approx(9 / ((2 * 0.9 - 1) * 12))
    assert "are expected to be ones that half of the rows select with a chance of 0.25" in str(
        found.notes[0]
    )


@pytest.mark.parametrize(
    ("how", "why"),
    [({"threshold": 0.5}, "threshold is not above 0.5"), ({"share": 0.6}, "share is not 0.5")],
)
def test_without_a_theorem_there_is_no_bound(how, why):
    X, y = relevant(0)
    found = stability_selection(Farthest(), X, y, n_resamples=4, random_state=0, **how)
    assert found.false_selections is None
    assert f"No bound on false selections is known: {why}." in found.notes[0]


def test_a_bound_that_says_nothing_is_called_so():
    X, y = relevant(0)
    found = stability_selection(Farthest(11), X, y, n_resamples=4, random_state=0)
    assert found.false_selections > 12
    assert "That bound is useless here" in found.notes[0]


# --- selectors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "weighed"),
    [
        (NCFSClassifier(0.6), True),
        (SelectFromModel(LogisticRegression()), True),
        (SelectKBest(k=2), False),
        (RFE(LogisticRegression(), n_features_to_select=2), False),
        (VarianceThreshold(), False),
        (make_pipeline(StandardScaler(), SelectFromModel(LogisticRegression())), True),
        (make_pipeline(StandardScaler(), NCFSClassifier(0.6)), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_selector_will_do(estimator, weighed):
    X, y = relevant(0, n=100)
    found = stability_selection(estimator, X, y, n_resamples=6, random_state=0)
    assert found.support[[2, 5]].all()
    assert (found.weights is not None) == weighed
    assert ("weight" in found.table().columns) == weighed
    if weighed:
        assert found.quantiles(0.5)[[2, 5]].min() > 0
    else:
        with pytest.raises(ValueError, match="the selector has no weights"):
            found.quantiles()


def test_several_classes_of_coefficients_are_one_weight():
    X, y = relevant(0, n=90)
    y = np.arange(90) % 3
    found = stability_selection(SelectFromModel(LogisticRegression()), X, y, n_resamples=2,
                                random_state=0)  # fmt: skip
    rows = found.drawn[1]
    coef = LogisticRegression().fit(X[rows], y[rows]).coef_
    np.testing.assert_allclose(found.weights[1], np.linalg.norm(coef, axis=0))


def test_sparse_rows_and_frames_are_drawn_from():
    X, y = relevant(0)
    X = np.where(abs(X) > 0.5, X, 0)
    plain = stability_selection(SelectKBest(k=2), X, y, n_resamples=4, random_state=0)
    thin = stability_selection(SelectKBest(k=2), sparse.csr_array(X), y, n_resamples=4,
                               random_state=0)  # fmt: skip
    np.testing.assert_array_equal(plain.selected, thin.selected)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    labels = pd.Series(np.array(["ill", "well"])[y])
    framed = stability_selection(SelectKBest(k=2), frame, labels, n_resamples=4, random_state=0)
    np.testing.assert_array_equal(plain.selected, framed.selected)
    assert framed.names[5] == "gene 5"
    assert plain.names[5] == "column 5"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n_resamples": 1}, "n_resamples=1: give at least 2"),
        ({"n_resamples": 0}, "n_resamples=0: give a whole number above 0"),
        ({"n_resamples": 2.5}, "n_resamples=2.5: give a whole number above 0"),
        ({"share": 0.0}, r"share=0.0: give a share above 0 and below 1"),
        ({"share": 1.0}, r"share=1.0: .*all rows would be the same each time"),
        ({"share": 1.5}, r"share=1.5: give a share above 0 and below 1"),
        ({"share": "half"}, r"share='half': give a share"),
        ({"share": 0.02}, r"class 0 has 30 rows, and a share of 0.02 of that is none"),
        ({"threshold": 0.0}, r"threshold=0.0: give a share above 0 and up to 1"),
        ({"threshold": 1.1}, r"threshold=1.1: give a share above 0 and up to 1"),
        ({"confidence": 1.0}, r"confidence=1.0: give a share above 0 and below 1"),
        ({"threads": 0}, r"threads=0: give a whole number above 0"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        stability_selection(Farthest(), *relevant(0), **how)


def test_what_does_not_select_is_refused():
    with pytest.raises(TypeError, match=r"LogisticRegression has no get_support: give a selector"):
        stability_selection(LogisticRegression(), *relevant(0))
    pipe = make_pipeline(PolynomialFeatures(2), SelectKBest(k=2))
    with pytest.raises(ValueError, match=r"chooses among 91 columns, and X has 12: a step before"):
        stability_selection(pipe, *relevant(0), n_resamples=2)


def test_few_rows_are_refused_with_the_class():
    X, y = relevant(0, n=20)
    y = np.where(np.arange(20) == 3, "rare", "common")
    with pytest.raises(ValueError, match=r"class 'rare' has 1 row, and a share of 0.5"):
        stability_selection(Farthest(), X, y)
    with pytest.raises(ValueError, match=r"n_samples=3: give 4 rows or more"):
        stability_selection(Farthest(), X[:3], [0, 1, 0])
    with pytest.raises(ValueError, match=r"X has 20 rows, y has 19"):
        stability_selection(Farthest(), X, np.arange(19) % 2)
    with pytest.raises(ValueError, match=r"share=0.1 of 12 rows is 1"):
        stability_selection(NCFSRegressor(), X[:12], X[:12, 0], share=0.1)


def test_an_error_in_a_fit_names_the_resample():
    X, y = relevant(0)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="column 3") as caught:
        stability_selection(NCFSClassifier(), X, y, n_resamples=4, random_state=0)
    assert "in resample" in caught.value.__notes__[0]


# --- progress and Ctrl-C --------------------------------------------------------------------------


def test_progress_is_reported_after_each_resample():
    heard = []
    stability_selection(
        Farthest(), *relevant(0), n_resamples=5, on_progress=lambda *now: heard.append(now)
    )
    assert heard == [(t, 5) for t in range(1, 6)]


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_keeps_what_was_found_and_says_so(threads):
    X, y = relevant(0)
    whole = stability_selection(Farthest(), X, y, n_resamples=10, random_state=0)

    def stop(done, of):
        if done == 5:
            raise KeyboardInterrupt

    found = stability_selection(
        Farthest(), X, y, n_resamples=10, random_state=0, on_progress=stop, threads=threads
    )
    B = len(found.selected)
    assert B in (5, 6), "a fit under way is finished"
    assert found.stopped == f"by you after {B} of 10 resamples"
    assert repr(found).endswith(f"of {B} resamples; stopped by you after {B} of 10 resamples)")
    assert any(note.startswith("Stopped by you") for note in found.notes)
    if B == 5:
        assert any("1 resample lacks the other half" in note for note in found.notes)
    kept = [row.tobytes() for row in whole.drawn]
    for rows, mask in zip(found.drawn, found.selected, strict=True):
        np.testing.assert_array_equal(mask, whole.selected[kept.index(rows.tobytes())])
    np.testing.assert_allclose(found.frequencies, found.selected.mean(axis=0))


def test_ctrl_c_before_anything_is_known_goes_on_its_way():
    def stop(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stability_selection(Farthest(), *relevant(0), on_progress=stop, threads=1)


def test_warnings_of_resamples_are_reported_together():
    X, y = relevant(0, n=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stability_selection(NCFSClassifier(50.0), X, y, n_resamples=4, random_state=0)
    assert not found.support.any()
    note = found.notes[-1]
    assert note.startswith("4 warnings in 4 fits, first DegenerateWarning: All weights are 0")


# --- what people see ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown():
    X, y = relevant(0)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    return stability_selection(Farthest(), frame, y, n_resamples=20, random_state=0)


def test_the_table_has_the_most_frequent_first(shown):
    table = shown.table()
    assert len(table) == 12
    assert (np.diff(table["frequency"]) <= 0).all()
    assert set(table["column"][:2]) == {"gene 2", "gene 5"}
    assert table["stable"].tolist()[:2] == ["yes", "yes"]
    j = list(shown.names).index(table["column"][4])
    assert table["95 % low"][4] == shown.intervals[j, 0]
    assert table["weight"][4] == np.median(shown.weights[:, j])
    assert str(table).startswith("Selected in 20 resamples of 30 rows of 60\ncolumn")


def test_the_result_is_a_frame_and_a_box(shown):
    assert isinstance(shown, StabilityResult)
    frame = shown.to_frame()
    assert frame.index[0] in ("gene 2", "gene 5")
    assert frame.loc["gene 2", "frequency"] == shown.frequencies[2]
    assert "<table>" in shown._repr_html_()
    assert repr(shown) == str(shown)
    assert repr(shown) == (
        "StabilityResult(2 of 12 columns are selected in at least 60 % of 20 resamples)"
    )
    assert shown.get_support().tolist() == shown.support.tolist()


def test_a_notebook_is_not_flooded():
    X, y = relevant(0, P=300)
    found = stability_selection(Farthest(), X, y, n_resamples=4, random_state=0)
    html = found._repr_html_()
    assert html.count("<tr>") == 21
    assert "280 more columns: table() has them all." in html
    assert len(found.table()) == 300


def test_names_of_the_selected_columns_are_those_of_the_frame():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    X[:, 3] += 3 * y
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    options = {"n_resamples": 10, "random_state": 0}
    found = stability_selection(NCFSClassifier(), frame, y, **options)
    assert found.get_feature_names_out().tolist() == ["d"]
    assert found.get_feature_names_out(list("wxyz")).tolist() == ["z"]
    with pytest.raises(ValueError, match=r"equal to number of features \(4\), got 3"):
        found.get_feature_names_out(list("wxy"))
    plain = stability_selection(NCFSClassifier(), X, y, **options)
    assert plain.get_feature_names_out().tolist() == ["column 3"]
