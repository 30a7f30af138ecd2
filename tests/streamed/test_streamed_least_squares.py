"""LinearRegression, Ridge and RidgeCV on streamed rows: the bits of the fit on arrays."""

import numpy as np
import pytest
import sklearn.linear_model as sk
from sklearn.base import clone
from sklearn.model_selection import KFold, ShuffleSplit

import certus
from certus.exceptions import AliasWarning, CannotVerifyError
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from tests.streamed.linear_cases import CASES, N, P, assert_equal_bits, draw, table_of
from tests.streams import GuardedTable

MODELS = [
    LinearRegression(),
    LinearRegression(positive=True),
    LinearRegression(fit_intercept=False),
    Ridge(0.5),
    Ridge(1e-9, positive=True),
    RidgeCV(),
    RidgeCV([1e-3, 10.0], fit_intercept=False),
]
ignores_aliases = pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")


@ignores_aliases
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_streamed_fit_has_the_bits_of_the_fit_on_arrays(model, case, small_blocks):
    X, y, s = CASES[case]()
    table = table_of(X, y, s)
    streamed, arrays = clone(model).fit(table), clone(model).fit(X, y, s)
    assert_equal_bits(streamed, arrays)
    np.testing.assert_array_equal(streamed.predict(table), arrays.predict(X))
    certificate = certus.verify(streamed, table)
    assert certificate.status == streamed.certificate_.status
    assert certificate.objective == streamed.certificate_.objective


def test_compiled_sums_of_many_rows_have_the_bits_of_arrays():
    X, y, s = draw(n=1 << 17, p=40, weights=True)  # above KERNEL_WORK
    assert_equal_bits(LinearRegression().fit(table_of(X, y, s)), LinearRegression().fit(X, y, s))


@pytest.mark.parametrize("threads", [1, 3])
def test_streamed_fit_has_the_same_bits_on_any_number_of_threads(threads, small_blocks):
    X, y, s = draw(weights=True)
    with certus.config_context(threads=threads):
        streamed = Ridge().fit(table_of(X, y, s))
    np.testing.assert_array_equal(streamed.coef_, Ridge().fit(X, y, s).coef_)


def test_aliased_columns_of_a_table_are_named():
    X, y, _ = CASES["aliased"]()
    names = [f"column {j}" for j in range(X.shape[1])]
    with pytest.warns(AliasWarning, match="column 6"):
        model = LinearRegression().fit(table_of(X, y, names=names))
    assert model.rank_ == P
    assert list(model.feature_names_in_) == names


@pytest.mark.parametrize(
    "model",
    [
        sk.LinearRegression(), sk.LinearRegression(positive=True), sk.Ridge(2.0), sk.RidgeCV(),
        sk.Lasso(0.1, tol=1e-10), sk.ElasticNet(0.1, tol=1e-10),
    ],
    ids=str,
)  # fmt: skip
def test_a_model_of_scikit_learn_is_verified_on_streamed_rows(model, small_blocks):
    X, y, s = draw(weights=True)
    model.fit(X, y, sample_weight=s)
    table = table_of(X, y, s)
    assert certus.verify(model, table).status == "optimal"
    model.coef_ = model.coef_ * 1.3
    assert certus.verify(model, table).status == "not optimal"


def test_an_edited_model_and_other_rows_are_refused(small_blocks):
    X, y, s = draw(weights=True)
    model = Ridge().fit(table_of(X, y, s))
    other = y.copy()
    other[np.flatnonzero(s)[N // 2]] += 1
    assert certus.verify(model, table_of(X, other, s)).status == "other rows"
    assert certus.verify(model, table_of(X, y, None)).status == "other rows"
    model.coef_[0] += 0.1
    assert certus.verify(model, table_of(X, y, s)).status == "not optimal"


def test_targets_and_columns_that_differ_from_the_fit_are_refused():
    X, y, _ = draw()
    names = [f"x{j}" for j in range(P)]
    table = table_of(X, y, names=names)
    model = Ridge().fit(table)
    for wrong, words in [
        (table_of(X[:, :3], y), "expecting 6 features"),
        (table_of(X, y, names=names[::-1]), "order"),
        (table_of(X), "has no target"),
        (table_of(X, draw(k=2)[1]), "the model has 1 target, y has 2"),
        (table_of(X, np.zeros(N), classes=np.array(["a", "b"])), "predicts numbers"),
    ]:
        with pytest.raises(CannotVerifyError, match=words):
            certus.verify(model, wrong)
        with pytest.raises(ValueError, match=words):
            model.score(wrong)
    with pytest.raises(ValueError, match="y was given beside streamed rows"):
        model.fit(table, y)
    with pytest.raises(ValueError, match="sample_weight was given beside"):
        model.score(table, None, np.ones(N))
    with pytest.raises(ValueError, match="open_rows"):
        Ridge().fit(table_of(X))


@pytest.mark.parametrize(
    ("factor", "rows"),
    [(1e155, slice(None)), (1e155, slice(1, 2)), (1e-200, slice(None))],
    ids=["large", "large outside the sample", "small"],
)
def test_targets_whose_squares_leave_the_range_of_floats_are_refused(factor, rows):
    X, y, _ = draw()
    y[rows] *= factor
    for given in ((X, y), (table_of(X, y),)):
        with pytest.raises(ValueError, match=r"y reaches .* by a power of 10"):
            LinearRegression().fit(*given)


# --- RidgeCV by folds -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["plain", "weights", "two targets"])
@pytest.mark.parametrize("cv", [3, KFold(4)], ids=str)
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_folds_of_a_table_choose_what_folds_of_arrays_choose(scoring, cv, case, small_blocks):
    X, y, s = CASES[case]()
    model = RidgeCV([1e-2, 1e3, 1e5], cv=cv, scoring=scoring)
    streamed, arrays = clone(model).fit(table_of(X, y, s)), clone(model).fit(X, y, s)
    assert streamed.alpha_ == arrays.alpha_
    np.testing.assert_allclose(streamed.best_score_, arrays.best_score_, rtol=1e-10)
    np.testing.assert_array_equal(streamed.coef_, arrays.coef_)
    assert streamed.certificate_.certified
    assert certus.verify(streamed, table_of(X, y, s)).certified


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"store_cv_results": True}, "numbers for every row"),
        ({"scoring": "r2"}, "predictions of all rows at once"),
        ({"cv": 3, "scoring": "max_error"}, "use scoring=None or 'r2'"),
        ({"cv": ShuffleSplit(2)}, "numbers of the rows of each fold"),
        ({"cv": KFold(3, shuffle=True)}, "numbers of the rows of each fold"),
        ({"cv": 7000}, "use fewer folds"),
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": 3, "alpha_per_target": True}, "incompatible"),
    ],
)
def test_what_needs_numbers_of_every_row_is_refused_in_words(options, words):
    X, y, _ = draw()
    with pytest.raises(ValueError, match=words):
        RidgeCV(**options).fit(table_of(X, y))


def test_a_fold_without_weight_is_refused():
    X, y, _ = draw()
    s = np.ones(N)
    s[: N // 3] = 0.0
    with pytest.raises(ValueError, match="fold 0: all rows of its training or test part"):
        RidgeCV(cv=3).fit(table_of(X, y, s))


def test_leave_one_out_needs_two_rows_of_positive_weight():
    X, y, _ = draw()
    s = np.zeros(N)
    s[7] = 1.0
    with pytest.raises(ValueError, match="at least 2 rows"):
        RidgeCV().fit(table_of(X, y, s))


# --- memory ---------------------------------------------------------------------------------------


@ignores_aliases
@pytest.mark.parametrize("model", [*MODELS, RidgeCV(cv=3)], ids=str)
@pytest.mark.parametrize("case", ["weights", "nearly dependent"])
def test_no_step_reads_more_than_a_share_of_the_rows(model, case, small_blocks):
    X, y, s = CASES[case]()
    table = GuardedTable(np.tile(X, (16, 1)), np.tile(y, 16), _tiled(s), most=4 * N)
    fitted = clone(model).fit(table)
    assert certus.verify(fitted, table).certified
    assert fitted.score(table) > 0.5
    assert len(fitted.predict(table)) == 16 * N
    assert 0 < table.largest <= 4 * N


def _tiled(s):
    return None if s is None else np.tile(s, 16)
