"""LogisticRegression: tol, max_iter, warm starts and verbose."""

import re
import warnings

import numpy as np
import pytest

from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LogisticRegression
from tests.contract.problems import classification
from tests.references.logistic_peers import agree, classes


@classes
@pytest.mark.parametrize("solver", ["newton-cg", "newton-cholesky"])
@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-10])
def test_tol_is_obeyed(K, tol, solver):
    X, y, _ = classification(5, n=400, classes=K)
    c = LogisticRegression(tol=tol, solver=solver).fit(X, y).certificate_
    assert c.certified
    assert c.tol == min(tol, 1e-6)
    assert c.residual <= c.tol


def test_a_tol_of_zero_is_as_far_as_float64_goes():
    X, y, _ = classification(5)
    c = LogisticRegression(tol=0).fit(X, y).certificate_
    assert c.certified
    assert c.tol == 1e-12


@classes
@pytest.mark.parametrize("max_iter", [0, 1])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_fit_that_is_cut_short_says_by_how_much(K, max_iter, C):
    X, y, _ = classification(5, n=400, classes=K)
    model = LogisticRegression(max_iter=max_iter, C=C)
    with pytest.warns(
        NotCertifiedWarning, match=f"stopped at max_iter={max_iter} before"
    ) as warned:
        model.fit(X, y)
    assert [w.filename for w in warned] == [__file__]
    assert "Raise max_iter" in str(warned[0].message)
    assert model.n_iter_ == [max_iter]
    best = LogisticRegression(C=C, tol=1e-12).fit(X, y).certificate_
    c = model.certificate_
    assert not c.certified
    assert c.objective > best.objective
    assert c.gap >= c.objective - best.objective - best.gap
    if c.bound is not None:
        assert c.bound <= best.objective
    if C == 1 and K == 2 and max_iter == 1:
        assert re.search(
            r"best possible between \S+ and \S+, so up to \S+ % too high", warned[0].message.args[0]
        )


@classes
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_a_warm_start_at_the_optimum_takes_no_step(K, l1_ratio):
    X, y, _ = classification(5, n=400, classes=K)
    model = LogisticRegression(warm_start=True, l1_ratio=l1_ratio).fit(X, y)
    cold, first = int(model.n_iter_[0]), model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_[0] <= 1 < cold
    np.testing.assert_allclose(model.coef_, first, atol=1e-3)
    assert model.certificate_.certified
    near = model.set_params(C=1.05).fit(X, y)
    assert near.n_iter_[0] <= cold
    agree(near, LogisticRegression(C=1.05, l1_ratio=l1_ratio, tol=1e-10).fit(X, y), 5e-3)


def test_a_warm_start_from_another_problem_starts_anew():
    X, y, _ = classification(5, classes=3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    for data in ((X, (y > 0).astype(int)), (X[:, :2], (y > 0).astype(int)), (X, y)):
        model.fit(*data)
        np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(*data).coef_)


def test_a_warm_start_continues_what_max_iter_ended():
    X, y, _ = classification(5)
    model = LogisticRegression(max_iter=1, warm_start=True)
    for _ in range(12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            model.fit(X, y)
    assert model.certificate_.certified


def test_a_second_fit_gives_the_same_bits():
    X, y, _ = classification(5, classes=3)
    model = LogisticRegression().fit(X, y)
    first = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)


@classes
def test_verbose_prints_a_line_for_each_iteration(K, capsys):
    X, y, _ = classification(5, classes=K)
    LogisticRegression().fit(X, y)
    assert capsys.readouterr().out == ""
    model = LogisticRegression(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_[0] + 1 == len(model.certificate_.trace)
    for i, line in enumerate(lines):
        assert line.startswith(f"LogisticRegression: iteration {i}, objective ")
        assert "above the best possible" in line
    values = [float(re.search(r"objective (\S+?)(, |$)", line)[1]) for line in lines]
    assert values == sorted(values, reverse=True)
    LogisticRegression(C=np.inf, verbose=True).fit(X, y)
    assert "bound" not in capsys.readouterr().out
