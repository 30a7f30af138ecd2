"""Lasso and elastic net on streamed rows: all sums of products, and no copies of columns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, ShuffleSplit

import certus
from certus.data import memory
from certus.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV
from tests.streamed.linear_cases import CASES, N, assert_equal_bits, draw, table_of
from tests.streams import GuardedTable

MODELS = [
    Lasso(0.05),
    Lasso(0.2, positive=True),
    ElasticNet(0.1, fit_intercept=False),
    ElasticNet(0.01, l1_ratio=0.0),
    Lasso(0.0),
]
CHOICES = [LassoCV(alphas=6, cv=3), ElasticNetCV(l1_ratio=[0.2, 1.0], alphas=4, cv=KFold(4))]
one_target = [case for case in CASES if case != "two targets"]
# without an intercept, columns far from 0 are nearly the same, and the fit is not certified
not_certified = ("ElasticNet(alpha=0.1, fit_intercept=False)", "far from 0")
pytestmark = [
    # Lasso(0.0) is least squares, which names repeated columns
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_streamed_fit_has_the_bits_of_the_fit_on_arrays(model, case, small_blocks):
    X, y, s = CASES[case]()
    table = table_of(X, y, s)
    with np.errstate(all="raise", under="ignore"):
        streamed = clone(model).fit(table)
    assert_equal_bits(streamed, clone(model).fit(X, y, s))
    np.testing.assert_array_equal(streamed.predict(table), streamed.predict(X))
    certified = (str(model), case) != not_certified
    assert streamed.certificate_.certified == certified
    assert certus.verify(streamed, table).certified == certified


@pytest.mark.parametrize("case", one_target)
@pytest.mark.parametrize("model", CHOICES, ids=str)
def test_streamed_choice_has_the_bits_of_the_choice_on_arrays(model, case, small_blocks):
    X, y, s = CASES[case]()
    table = table_of(X, y, s)
    streamed = clone(model).fit(table)
    assert_equal_bits(streamed, clone(model).fit(X, y, s))
    assert certus.verify(streamed, table).certified


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_more_columns_than_a_working_set_agree_with_copied_columns(fit_intercept, weights):
    X, y, s = draw(n=1500, p=650, weights=weights)  # arrays: columns are copied as needed
    model = Lasso(0.3, fit_intercept=fit_intercept)
    streamed, arrays = clone(model).fit(table_of(X, y, s)), clone(model).fit(X, y, s)
    assert streamed.certificate_.certified
    assert 5 < np.count_nonzero(arrays.coef_) < 600
    f, g = streamed.certificate_, arrays.certificate_
    assert abs(f.objective - g.objective) <= f.gap + g.gap
    np.testing.assert_allclose(streamed.coef_, arrays.coef_, atol=1e-4)
    assert certus.verify(streamed, table_of(X, y, s)).certified


def test_many_rows_of_few_columns_agree_with_screened_columns():
    X, y, _ = draw(n=1 << 16, p=130)  # arrays: a subsample screens the columns
    streamed, arrays = Lasso(1.0).fit(table_of(X, y)), Lasso(1.0).fit(X, y)
    assert streamed.certificate_.certified
    np.testing.assert_allclose(streamed.coef_, arrays.coef_, atol=1e-6)


@pytest.mark.parametrize("n", [40, 4000])
def test_sums_that_do_not_fit_in_memory_are_refused_with_a_remedy(n, monkeypatch):
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 1 << 10)
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 15)
    X, y, s = draw(n=n, p=60)
    for model in (Lasso(), LassoCV(), ElasticNet(l1_ratio=0)):
        with pytest.raises(MemoryError, match=r"select columns, open_rows\(…, columns=…\)"):
            model.fit(table_of(X, y, s))


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (ShuffleSplit(2), "numbers of the rows of each fold"),
        (KFold(3, shuffle=True), "numbers of the rows of each fold"),
        (2 * N, "use fewer folds"),
    ],
)
def test_folds_that_are_no_ranges_are_refused(cv, words):
    X, y, _ = draw()
    with pytest.raises(ValueError, match=words):
        LassoCV(cv=cv).fit(table_of(X, y))


def test_a_fold_without_weight_is_refused():
    X, y, _ = draw()
    s = np.ones(N)
    s[N // 5 :] = 0.0
    with pytest.raises(ValueError, match="fold 0: all rows of its training or test part"):
        LassoCV().fit(table_of(X, y, s))


def test_a_warm_start_continues_on_a_table(small_blocks):
    X, y, s = draw(weights=True)
    model = Lasso(0.1, warm_start=True).fit(table_of(X, y, s))
    cold = Lasso(0.05).fit(table_of(X, y, s))
    warm = model.set_params(alpha=0.05).fit(table_of(X, y, s))
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
    assert warm.certificate_.certified


@pytest.mark.parametrize("model", [*MODELS, *CHOICES], ids=str)
@pytest.mark.parametrize("case", ["weights", "nearly dependent"])
def test_no_step_reads_more_than_a_share_of_the_rows(model, case, small_blocks):
    X, y, s = CASES[case]()
    s = None if s is None else np.tile(s, 4)
    table = GuardedTable(np.tile(X, (4, 1)), np.tile(y, 4), s, most=N)
    fitted = clone(model).fit(table)
    assert certus.verify(fitted, table).certified
    assert fitted.score(table) > 0.5
    assert 0 < table.largest <= N
