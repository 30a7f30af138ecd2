"""Clustered errors, ordinal inference and nested models on streamed rows: the bits of arrays."""

import numpy as np
import pytest

from certus.inference import compare
from certus.linear_model import LinearRegression, LogisticRegression, OrdinalRegression
from tests.streamed import class_cases
from tests.streamed.linear_cases import draw, table_of
from tests.streams import cut_small


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks of few rows."""
    cut_small(monkeypatch, 1 << 13)


def groups(n):
    return np.random.default_rng(0).integers(0, 12, n)


def test_clustered_errors_of_linear_models(small_blocks):
    X, y, s = draw(weights=True)
    s[:5] = 0
    model = LinearRegression().fit(table_of(X, y, s))
    found = model.inference(table_of(X, y, s), cov="cluster", groups=groups(len(y)))
    expected = model.inference(X, y, s, cov="cluster", groups=groups(len(y)))
    np.testing.assert_array_equal(found.covariance, expected.covariance)


@pytest.mark.parametrize("K", [2, 3])
def test_clustered_errors_of_logistic_models(K, small_blocks):
    X, k, s = class_cases.draw(K, weights=True)
    table, y = class_cases.table_of(X, k, s), class_cases.LABELS[k]
    model = LogisticRegression(C=np.inf).fit(table)
    found = model.inference(table, cov="cluster", groups=groups(len(y)))
    expected = model.inference(X, y, s, cov="cluster", groups=groups(len(y)))
    np.testing.assert_array_equal(found.covariance, expected.covariance)


def test_ordinal_models_and_brants_test(small_blocks):
    X, _, s = class_cases.draw(weights=True)
    z = X @ np.arange(6.0) + 20 * np.random.default_rng(1).logistic(size=len(X))
    k = np.digitize(z, np.quantile(z, [0.2, 0.5, 0.9]))
    table, y = class_cases.table_of(X, k, s), class_cases.LABELS[k]
    model = OrdinalRegression(categories=class_cases.LABELS).fit(table)
    found, expected = model.inference(table), model.inference(X, y, s)
    np.testing.assert_array_equal(found.covariance, expected.covariance)
    np.testing.assert_array_equal(found.lr_pvalues, expected.lr_pvalues)
    assert found.proportional_odds().statistic == expected.proportional_odds().statistic


def test_nested_models_are_recognised_on_tables(small_blocks):
    X, y, s = draw(weights=True)
    results = []
    for columns in (X[:, :2], X):
        table = table_of(columns, y, s)
        results.append(LinearRegression().fit(table).inference(table))
    expected = [LinearRegression().fit(A, y, s).inference(A, y, s) for A in (X[:, :2], X)]
    assert (
        compare(*results).pvalue
        == compare(*expected).pvalue
        == compare(results[0], expected[1]).pvalue
    )
