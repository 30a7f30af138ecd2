"""Standard errors where the rows of a group go together."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import certus
from certus.exceptions import InferenceError
from certus.linear_model import LinearRegression, LogisticRegression, Ridge
from tests.contract.problems import weights
from tests.inference.inference_cases import noisy


def grouped(seed=0, n=120, k=2):
    """Rows of 15 groups that share a part of their noise, and classes by it."""
    rng = np.random.default_rng(seed)
    X, y = noisy(seed, n, 3)
    groups = rng.integers(0, 15, n)
    y = y + 3 * rng.normal(size=15)[groups]
    return X, y, np.digitize(y, np.quantile(y, np.arange(1, k) / k)), groups


@pytest.mark.parametrize("weighted", [False, True])
def test_linear_errors_and_tests_are_those_of_statsmodels(weighted):
    X, y, _, groups = grouped()
    s = weights(0, len(y)) if weighted else np.ones(len(y))
    s[s == 0] = 0.5  # statsmodels counts rows of weight 0
    found = LinearRegression().fit(X, y, s).inference(X, y, s, cov="cluster", groups=groups)
    fit = sm.WLS(y, sm.add_constant(X), weights=s).fit()
    expected = fit.get_robustcov_results("cluster", groups=groups, use_t=True)
    np.testing.assert_allclose(found.covariance, expected.cov_params(), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.pvalues, expected.pvalues, rtol=1e-7)
    np.testing.assert_allclose(
        np.column_stack([found.conf_int()["low"], found.conf_int()["high"]]),
        expected.conf_int(),
        rtol=1e-8,
    )
    assert found.n_groups == 15
    assert "cluster (15 groups) standard errors" in str(found)


@pytest.mark.parametrize("k", [2, 3])
def test_logistic_errors_are_those_of_statsmodels(k):
    X, _, y, groups = grouped(1, k=k)
    found = (
        LogisticRegression(C=np.inf, tol=1e-12)
        .fit(X, y)
        .inference(X, y, cov="cluster", groups=groups)
    )
    model = sm.Logit if k == 2 else sm.MNLogit
    expected = model(y, sm.add_constant(X)).fit(
        disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": groups}
    )
    np.testing.assert_allclose(found.standard_errors, expected.bse, rtol=1e-6)
    np.testing.assert_allclose(found.pvalues, expected.pvalues, rtol=1e-4)
    with pytest.raises(InferenceError, match="cov='cluster' does not: use cov='classical'"):
        found.conf_int(kind="lr")


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), LogisticRegression(C=np.inf)])
def test_a_group_for_each_row_is_hc0_up_to_its_factor(model):
    X, y, labels, _ = grouped(2)
    y = labels if isinstance(model, LogisticRegression) else y
    model.fit(X, y)
    alone = model.inference(X, y, cov="cluster", groups=np.arange(len(y)))
    n, m = len(y), 4
    factor = n / (n - 1) * (n - 1) / (n - m)
    np.testing.assert_allclose(
        alone.covariance, factor * model.inference(X, y, cov="HC0").covariance, rtol=1e-9
    )


@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression(C=np.inf)])
def test_names_of_groups_and_order_of_rows_do_not_matter(model):
    X, y, labels, groups = grouped(3)
    y = labels if isinstance(model, LogisticRegression) else y
    found = model.fit(X, y).inference(X, y, cov="cluster", groups=groups)
    names = pd.Series([f"patient {99 - g}" for g in groups], dtype="category")
    other = model.inference(X, y, cov="cluster", groups=names)
    np.testing.assert_allclose(other.covariance, found.covariance, rtol=1e-12)
    order = np.random.default_rng(0).permutation(len(y))
    other = model.fit(X[order], y[order]).inference(
        X[order], y[order], cov="cluster", groups=groups[order]
    )
    np.testing.assert_allclose(other.standard_errors, found.standard_errors, rtol=1e-7)


@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression(C=np.inf)])
def test_blocks_and_threads_do_not_show(model, monkeypatch):
    X, y, labels, groups = grouped(4, n=3000)
    y = labels if isinstance(model, LogisticRegression) else y
    whole = model.fit(X, y).inference(X, y, cov="cluster", groups=groups)
    monkeypatch.setattr(certus.data.rows, "BLOCK_BYTES", 1 << 12)
    parts = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            parts.append(model.inference(X, y, cov="cluster", groups=groups).covariance)
    np.testing.assert_allclose(parts[0], whole.covariance, rtol=1e-9, atol=1e-18)
    assert np.array_equal(*parts)


def test_rows_of_weight_zero_and_their_groups_are_absent():
    X, y, _, groups = grouped(5)
    s = np.ones(len(y))
    s[groups < 3] = 0
    found = LinearRegression().fit(X, y, s).inference(X, y, s, cov="cluster", groups=groups)
    some = groups >= 3
    other = LinearRegression().fit(X[some], y[some])
    expected = other.inference(X[some], y[some], cov="cluster", groups=groups[some])
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9)
    assert found.n_groups == 12


def test_groups_that_cannot_be_used_are_refused():
    X, y, _, groups = grouped()
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"cov='cluster' needs groups="):
        model.inference(X, y, cov="cluster")
    with pytest.raises(ValueError, match=r"groups are used by cov='cluster' only"):
        model.inference(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"groups has shape \(119,\).*each of the 120 rows"):
        model.inference(X, y, cov="cluster", groups=groups[1:])
    with pytest.raises(ValueError, match=r"groups has no value for row 7: "):
        model.inference(X, y, cov="cluster", groups=np.where(np.arange(120) == 7, np.nan, groups))
    with pytest.raises(InferenceError, match=r"groups has 1 group: .*two or more"):
        model.inference(X, y, cov="cluster", groups=np.zeros(120))


def test_clustered_errors_are_those_of_repeated_samples():
    """The spread of estimates over samples of clusters, within its own error."""
    rng = np.random.default_rng(6)
    x = np.repeat(rng.normal(size=60), 5)
    estimates, errors = [], []
    groups = np.repeat(np.arange(60), 5)
    for _ in range(300):
        y = x + np.repeat(rng.normal(size=60), 5) + 0.5 * rng.normal(size=300)
        model = LinearRegression().fit(x[:, None], y)
        estimates.append(model.coef_[0])
        found = model.inference(x[:, None], y, cov="cluster", groups=groups)
        errors.append(found.standard_errors[1])
    assert np.std(estimates) == pytest.approx(np.mean(errors), rel=0.15)
    assert model.inference(x[:, None], y).standard_errors[1] < 0.6 * np.mean(errors)
