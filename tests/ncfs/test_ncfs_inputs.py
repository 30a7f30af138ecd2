"""What NCFS does with data that are odd, and with parameters that mean nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.feature_selection import NCFSClassifier, NCFSRegressor
from certus.preprocessing import PolynomialBasis
from tests.house.naming import without_address
from tests.ncfs.ncfs_cases import METRICS, chances, signal

BOTH = pytest.mark.parametrize("cls", [NCFSClassifier, NCFSRegressor], ids=lambda c: c.__name__)
no_optimum_is_right = pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
degenerate_is_right = pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")


def finite(model, X):
    for name in ("weights_", "objective_", "loo_score_", "alpha_", "shift_", "scale_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert (model.weights_ >= 0).all()
    assert np.isfinite(model.predict(X)).all()


# --- units ----------------------------------------------------------------------------------------


@no_optimum_is_right
@degenerate_is_right
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e4, 1e12, 1e60])
def test_columns_that_nobody_scaled_give_finite_numbers(metric, size):
    X, y = signal(0, n=30)
    model = NCFSClassifier(metric=metric, scale=None, max_iter=50).fit(X * size, y)
    finite(model, X * size)
    P = model.predict_proba(X * size)
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize("scale", ["minmax", "standard"])
def test_scaled_inside_the_unit_of_columns_changes_nothing(scale):
    X, y = signal(1)
    here = NCFSClassifier(0.2, scale=scale).fit(X, y)
    size = 2.0 ** np.array([-300, -20, 0, 20, 300])
    there = NCFSClassifier(0.2, scale=scale).fit(X * size, y)
    np.testing.assert_array_equal(there.weights_, here.weights_)
    np.testing.assert_allclose(there.weights_in_units_ * size, here.weights_in_units_, rtol=1e-15)


@pytest.mark.parametrize(
    ("scale", "dtype", "size", "remedy"),
    [
        (None, float, 1e200, "use scale='minmax'"),
        ("minmax", float, 1e200, "divide it by a power of 10"),
        (None, np.float32, 1e35, "use scale='minmax'"),
    ],
)
def test_numbers_whose_distances_overflow_are_refused(scale, dtype, size, remedy):
    X, y = signal(2)
    X = X.copy()
    X[:, 3] *= size
    with pytest.raises(
        ValueError, match=f"column 3 of X reaches .*, where distances overflow: {remedy}"
    ):
        NCFSClassifier(scale=scale).fit(X.astype(dtype), y)


# --- rows and columns that say little -------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("scale", ["minmax", None])
def test_a_column_that_never_changes_weighs_nothing(metric, alpha, scale):
    X, y = signal(3, n=120, P=6, informative=4)
    X = X / 8
    here = NCFSClassifier(alpha, metric=metric, scale=scale, max_iter=2000).fit(X, y)
    there = NCFSClassifier(alpha, metric=metric, scale=scale, max_iter=2000).fit(
        np.insert(X, 2, 7.0, axis=1), y
    )
    assert there.weights_[2] == 0
    assert not there.support_[2]
    W = np.delete(there.weights_, 2)
    if metric == "phi_s":
        assert there.weights_.sum() == pytest.approx(7)
        W *= 6 / 7
    np.testing.assert_allclose(W, here.weights_, atol=1e-9 * W.max())
    assert there.certificate_.certified


def test_columns_that_never_change_at_all_say_nothing():
    _, y = signal(4)
    message = "All weights are 0, so no column is selected: none makes nearby rows agree better"
    with pytest.warns(DegenerateWarning, match=message):
        model = NCFSClassifier().fit(np.ones((60, 3)), y)
    assert model.weights_.tolist() == [0, 0, 0]
    assert model.certificate_.certified
    np.testing.assert_allclose(model.predict_proba([[1.0, 2, 3]]), [[1 / 3] * 3])


def test_a_class_of_one_row_is_named():
    X, y = signal(5)
    names = np.array(["a", "b", "c", "rare"], dtype=object)
    y[7] = 3
    message = r"Class 'rare' \(row 7\) has one row: it has no neighbour of its class, so it counts"
    with pytest.warns(DegenerateWarning, match=message) as caught:
        model = NCFSClassifier().fit(X, names[y])
    assert [w.filename for w in caught] == [__file__]
    assert model.certificate_.certified
    assert model.predict_proba(X).shape == (60, 4)


def test_with_costs_a_class_of_one_row_can_be_answered_better_and_worse():
    X, y = signal(5)
    y[7] = 3
    model = NCFSClassifier(0.2, loss=lambda u, v: abs(u - v)).fit(X, y)  # no warning
    assert model.certificate_.certified


def test_equal_rows_of_different_classes_are_chances_of_one_half():
    X, y = signal(6, classes=2, n=40)
    with pytest.warns(DegenerateWarning, match="All weights are 0"):
        NCFSClassifier().fit(np.vstack([X, X]), np.concatenate([y, 1 - y]))
    few = np.concatenate([y, 1 - y[:6]])
    model = NCFSClassifier(0.1).fit(np.vstack([X, X[:6]]), few)
    assert model.certificate_.certified
    P = model.predict_proba(X[:6])
    assert (P.max(axis=1) < 0.9).all()


@BOTH
def test_too_few_rows_are_refused_with_their_number(cls):
    with pytest.raises(ValueError, match=r"n_samples=2: .* give 3 rows or more"):
        cls().fit([[1.0], [2.0]], [0, 1])


@degenerate_is_right
@BOTH
def test_three_rows_and_one_column_are_enough(cls):
    model = cls(0.01).fit([[0.0], [0.1], [1.0]], [0, 0, 1])
    assert model.weights_.shape == (1,)
    assert model.certificate_.certified


@pytest.mark.parametrize("seed", range(3))
def test_one_column(seed):
    X, y = signal(seed, P=1, informative=1)
    model = NCFSClassifier(0.05).fit(X, y)
    assert model.support_.tolist() == [True]
    assert model.certificate_.certified


def test_one_class_is_refused():
    X, _ = signal(7)
    with pytest.raises(ValueError, match="only one class, 'yes'"):
        NCFSClassifier().fit(X, ["yes"] * 60)


@pytest.mark.parametrize("P", [1, 3])
def test_patterns_need_two_columns_that_vary(P):
    X, y = signal(8, P=P, informative=1)
    X = np.where(np.arange(P) == 0, X, 1.0)
    message = (
        "metric='phi_s' compares patterns of at least two columns, and X has 1 column that varies"
    )
    with pytest.raises(ValueError, match=message):
        NCFSClassifier(metric="phi_s").fit(X, y)


def test_patterns_of_two_columns_are_all_alike():
    """Two numbers about their mean are ±d: F does not depend on W, and W stays where it is."""
    X, y = signal(9, P=2)
    model = NCFSClassifier(metric="phi_s").fit(X, y)
    assert model.weights_.tolist() == [1, 1]
    assert model.certificate_.certified


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [60, 300_000])
def test_what_is_not_finite_is_named_by_row_and_column(cls, bad, n):
    X = np.ones((n, 4))
    X[5, 2] = bad
    what = "1 missing value" if np.isnan(bad) else "1 infinite value"
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(ValueError, match=rf"column 'c' has {what} \(.*row 5\): impute"):
        cls().fit(frame, np.arange(n) % 2)
    model = cls(0.1).fit(*signal(0, n=60, P=4))
    with pytest.raises(ValueError, match=rf"column 2 of X has {what}"):
        model.predict(X)


@BOTH
def test_sparse_rows_are_refused_with_the_remedy(cls):
    X, y = signal(10)
    with pytest.raises(TypeError, match=r"Sparse data was passed, but NCFS.* use X.toarray\(\)"):
        cls().fit(csr_array(X), y)
    model = cls().fit(X, y)
    with pytest.raises(TypeError, match="Sparse data"):
        model.predict(csr_array(X))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, bool])
def test_whole_and_short_numbers_are_taken_as_the_numbers_they_are(dtype):
    X, y = signal(11)
    X = np.clip(np.abs(np.round(3 * X)), 0, 100).astype(dtype)
    here, there = NCFSClassifier(0.2).fit(X, y), NCFSClassifier(0.2).fit(X.astype(float), y)
    np.testing.assert_array_equal(here.weights_, there.weights_)


@pytest.mark.parametrize(
    "layout", [np.asfortranarray, lambda X: X[::-1][::-1], lambda X: X.tolist()]
)
def test_any_layout_gives_the_same_bits(layout):
    X, y = signal(12)
    here, there = NCFSClassifier().fit(X, y), NCFSClassifier().fit(layout(X), y)
    np.testing.assert_array_equal(here.weights_, there.weights_)


def test_lazy_rows_are_read():
    X, y = signal(13)
    lazy = PolynomialBasis(degree=2, lazy=True).fit(X)
    here = NCFSClassifier().fit(lazy.transform(X), y)
    there = NCFSClassifier().fit(np.asarray(lazy.transform(X)), y)
    np.testing.assert_array_equal(here.weights_, there.weights_)
    np.testing.assert_array_equal(
        here.predict(lazy.transform(X)), there.predict(np.asarray(lazy.transform(X)))
    )


# --- weights and labels ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (np.r_[-1.0, np.ones(59)], r"Negative values .* \(first: row 0, -1\)"),
        (np.zeros(60), "at least one non-zero"),
        (np.ones(59), "X has 60 rows, sample_weight has 59"),
        (np.r_[np.nan, np.ones(59)], "sample_weight has 1 missing value"),
        (
            (np.arange(60) % 3 > 0).astype(float),
            "class 0 has no row whose sample_weight is above 0",
        ),
    ],
)
def test_bad_weights_are_named(s, message):
    with pytest.raises(ValueError, match=message):
        NCFSClassifier().fit(*signal(14), s)


@pytest.mark.parametrize("solver", ["lbfgs", "yang"])
def test_rows_of_weight_zero_are_not_asked_but_answer(solver):
    X, y = signal(3, n=90)
    s = np.r_[np.zeros(60), np.ones(30)]
    model = NCFSClassifier(0.05, solver=solver).fit(X, y, s)
    finite(model, X)
    assert model.weights_[:2].sum() > model.weights_[2:].sum()
    twice = NCFSClassifier(0.05, solver=solver).fit(X, y, s)
    np.testing.assert_array_equal(twice.weights_, model.weights_)
    P = model.predict_proba(X)
    Z = (X - model.shift_) / model.scale_
    truth = chances(Z, model.weights_, 1.0, "manhattan", Z) @ np.eye(3)[y]
    np.testing.assert_allclose(P, truth, atol=1e-10)  # all 90 rows answer
    assert NCFSClassifier().fit(X, y, s).alpha_ == pytest.approx(30 / 90)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 60), "Unknown label type: continuous. .* use a regressor"),
        (np.r_[np.nan, np.ones(59)], "y has 1 missing label"),
        (np.ones((60, 2)), r"got an array of shape \(60, 2\)"),
        (np.ones(59), "X has 60 rows, y has 59"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        NCFSClassifier().fit(signal(16)[0], y)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0}, "sigma=0: give a finite number above 0"),
        ({"sigma": -1.0}, "sigma=-1.0: give a finite number above 0"),
        ({"sigma": "wide"}, "sigma='wide'"),
        ({"alpha": -1}, "alpha=-1: give a number that is not negative, or 'auto'"),
        ({"alpha": np.inf}, "alpha=inf"),
        ({"alpha": "Auto"}, "alpha='Auto'"),
        ({"metric": "manhatan"}, r"metric='manhatan': give one of .* Did you mean 'manhattan'\?"),
        ({"solver": "sgd"}, r"solver='sgd': give one of 'lbfgs', 'yang'"),
        ({"solver": "lbgfs"}, r"solver='lbgfs': give one of .* Did you mean 'lbfgs'\?"),
        ({"form": "means"}, "Did you mean 'mean'"),
        ({"scale": "min-max"}, "Did you mean 'minmax'"),
        ({"prior": "balance"}, "Did you mean 'balanced'"),
        (
            {"prior": [0.5, 0.2, 0.2]},
            r"\[0.5, 0.2, 0.2\] sums to 0.9: give shares that sum to 1",
        ),
        ({"prior": [1.5, -0.5, 0]}, "give shares that are not negative"),
        ({"prior": [0.5, 0.5]}, "3 shares in the order 0, 1, 2"),
        (
            {"prior": {0: 0.5, 1: 0.5}},
            "prior does not name 2: give a share for each of",
        ),
        ({"prior": {0: 0.5, 1: 0.5, 9: 0.0}}, "prior names 9"),
        (
            {"loss": np.eye(2)},
            r"shape \(2, 2\), and there are 3 classes: give a matrix of shape",
        ),
        ({"loss": "squared"}, r"loss has shape \(0,\), and there are 3 classes"),
        ({"loss": np.full((3, 3), np.nan)}, r"loss holds nan at \(0, 0\): costs must be finite"),
        ({"loss": lambda u, v: u}, r"loss\(classes.* has shape \(3, 1\)"),
        (
            {"threshold": "max*0.1"},
            r"threshold='max\*0.1': give a number of at least 0, or text",
        ),
        ({"threshold": "0.1*most"}, "threshold="),
        ({"threshold": "x*max"}, "threshold="),
        ({"threshold": -0.1}, "threshold=-0.1"),
        ({"threshold": None}, "threshold=None"),
        ({"n_features_to_select": 6}, "n_features_to_select=6: X has 5 columns, ask for at most 5"),
        ({"n_features_to_select": 0}, "n_features_to_select=0: give a whole number above 0"),
        ({"n_features_to_select": 1.5}, "n_features_to_select=1.5"),
        ({"n_features_to_select": True}, "n_features_to_select=True"),
        ({"max_iter": 0}, "max_iter=0: give a whole number above 0"),
        ({"tol": -1e-3}, "tol=-0.001"),
        ({"tol": [1e-3, 1e-4]}, "give one number"),
        ({"step": 0.0}, "step=0.0: give a finite number above 0, or 'auto'"),
        ({"warm_start": "yes"}, "warm_start='yes': give True or False"),
        ({"verbose": -1}, "verbose=-1"),
    ],
    ids=without_address,
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        NCFSClassifier(**parameters).fit(*signal(17))


@BOTH
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls):
    X, y = signal(18)
    model = cls(0.2).fit(X, y)
    before = model.predict(X), model.certificate_
    with pytest.raises(ValueError):
        model.fit(np.full((60, 3), np.nan), y)
    np.testing.assert_array_equal(model.predict(X), before[0])
    assert model.certificate_ is before[1]


def test_a_threshold_above_all_weights_selects_nothing_and_says_so():
    X, y = signal(19)
    message = (
        r"No column is selected: the largest weight is [\d.]+, below threshold=1000.0. Lower the"
    )
    with pytest.warns(DegenerateWarning, match=message):
        model = NCFSClassifier(threshold=1000.0).fit(X, y)
    assert not model.support_.any()
    assert model.weights_.any()


def test_a_tol_that_rounding_cannot_reach_is_warned_of():
    X, y = signal(20)
    with pytest.warns(NotCertifiedWarning):
        model = NCFSClassifier(tol=0.0).fit(X, y)
    assert model.certificate_.residual < 1e-6
    assert model.certificate_.tol == 1e-12
