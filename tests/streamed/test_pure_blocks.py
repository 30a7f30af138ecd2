"""Functions of blocks can be sent to other processes, and share no memory with what they are given.

Every function is pickled with its arguments before it is called, and the copies are called.
"""

import numpy as np
import pytest
from sklearn.base import clone

import certus
from certus.data.rows import Rows
from certus.linear_model import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RidgeCV,
)
from certus.solvers.glm import dispatch
from certus.solvers.separation import scaled_rows
from tests.streamed import class_cases
from tests.streamed.linear_cases import CASES, assert_equal_bits, table_of

MODELS = [
    LinearRegression(),
    LinearRegression(positive=True),
    Ridge(),
    RidgeCV(),
    RidgeCV(cv=3),
    Lasso(0.1),
    ElasticNet(0.1, fit_intercept=False),
    LassoCV(alphas=4),
    ElasticNetCV(alphas=4, cv=3),
]
CLASSIFIERS = [
    LogisticRegression(),
    LogisticRegression(C=np.inf),
    LogisticRegression(l1_ratio=0.5, class_weight="balanced"),
    LogisticRegression(solver="newton-cg"),
    LogisticRegression(class_weight={"low": 0.0}),
    OrdinalRegression(),
    OrdinalRegression(alpha=0.5),
]
pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.OrderWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]


@pytest.mark.parametrize("case", [case for case in CASES if case != "two targets"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_blocks_of_the_linear_families_are_pure(model, case, pure_blocks):
    X, y, s = CASES[case]()
    table = table_of(X, y, s)
    fitted = clone(model).fit(table)
    certus.verify(fitted, table)
    np.testing.assert_array_equal(fitted.predict(table), fitted.predict(X))
    assert fitted.score(table) <= 1
    assert len(set(pure_blocks)) > 2
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("case", class_cases.CASES)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_blocks_of_classifiers_are_pure(model, case, K, pure_blocks, monkeypatch):
    monkeypatch.setattr(dispatch, "MIN_SAMPLING_ELEMENTS", 0)
    monkeypatch.setattr(scaled_rows, "MAX_LOADED_ELEMENTS", 0)
    X, k, s = class_cases.CASES[case](K)
    table = class_cases.table_of(X, k, s)
    fitted = clone(model).fit(table)
    certus.verify(fitted, table)
    np.testing.assert_array_equal(fitted.predict_proba(table), fitted.predict_proba(X))
    assert fitted.score(table) <= 1
    assert len(set(pure_blocks)) > 2
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


def test_blocks_of_compiled_passes_are_pure(pure_blocks):
    X, k, s = class_cases.draw(3, n=200_000, weights=True)
    for classes in (2, 3):
        table = class_cases.table_of(X, np.minimum(k, classes - 1), s)
        assert LogisticRegression().fit(table).certificate_.certified
        assert LogisticRegression(solver="newton-cg").fit(table).certificate_.certified
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("case", ["weights", "aliased", "nearly dependent"])
def test_blocks_of_logistic_inference_are_pure(case, C, K, pure_blocks):
    X, k, s = class_cases.CASES[case](K)
    table = class_cases.table_of(X, k, s)
    model = LogisticRegression(C=C).fit(table)
    assert model.inference(table, cov="HC0").n > 0
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


@pytest.mark.parametrize("cov", ["classical", "HC3"])
@pytest.mark.parametrize("case", ["weights", "two targets", "aliased"])
def test_blocks_of_inference_are_pure(case, cov, pure_blocks):
    X, y, s = CASES[case]()
    model = Ridge([0.1, 2.0] if case == "two targets" else 0.5).fit(table_of(X, y, s))
    before = len(pure_blocks)
    assert model.inference(table_of(X, y, s), cov=cov).n > 0
    assert len(pure_blocks) > before


def test_pickled_blocks_have_the_bits_of_the_fit(pure_blocks):
    X, y, s = CASES["weights"]()
    assert_equal_bits(Lasso(0.1).fit(table_of(X, y, s)), Lasso(0.1).fit(X, y, s))


def test_what_is_not_pure_is_noticed(pure_blocks):
    rows = Rows(*table_of(*CASES["weights"]()).arrays)
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local"):
        rows.reduce(lambda X, y, s: (X.sum(),))
    with pytest.raises(AssertionError, match="_first returns a view"):
        rows.reduce(_first)


def _first(X, y, s):
    return (X[0],)
