"""What a certificate says of its page, and what ``verify(by="page")`` says."""

import inspect

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.certificate.pages.lines import lines_to_read
from certus.certificate.registry import claim_of
from certus.cluster import KMeans
from certus.exceptions import CannotVerifyError
from certus.linear_model import Lasso, LinearRegression, LogisticRegression
from certus.neighbors import KNeighborsClassifier
from tests.contract.problems import regression
from tests.definitions.fitted_cases import CASES, fitted


def _checked_by(certificate):
    """The line of ``explain`` that names the check."""
    (line,) = [row for row in certificate.explain().splitlines() if row.startswith("Checked by")]
    return line.removeprefix("Checked by").strip()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_certificate_names_its_page_and_the_lines_to_read(case):
    model, X, y = fitted(case)
    c = certus.verify(model, X, y)
    problems = list(claim_of(c).page(c.parameters, c.labels))
    page = f"certus.definitions.{problems[0].page}, {lines_to_read(problems)} lines"
    assert _checked_by(c).startswith(f"{c.definition}, from the data; the ")
    assert _checked_by(c).endswith(f"; its page is {page}")
    assert _checked_by(model.certificate_).endswith(f"; its page is {page}")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_page_says_what_it_found_and_names_the_proof(case):
    model, X, y = fitted(case)
    c = certus.verify(model, X, y, by="page")
    assert _checked_by(c).startswith(f"{c.definition}, from the data; the ")
    assert f"{claim_of(c).proof} also bounds rounding errors" in _checked_by(c)
    assert model.__class__.__name__ in c.note()
    assert "nan" not in c.explain()
    assert c._repr_html_()
    if c.kind == "exact":
        assert "Objective" not in c.explain()


def test_the_page_of_a_model_in_a_pipeline():
    X, y, _ = regression(1)
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    text = certus.verify(model, X, y, by="page").explain()
    assert text.startswith("[OK] OPTIMAL   LinearRegression, ")
    assert "found inside Pipeline" in text


def test_a_page_says_how_far_too_high_an_objective_is():
    X, y, _ = regression(1)
    model = Lasso(alpha=0.01).fit(X, y)
    model.coef_ *= 1.5
    text = certus.verify(model, X, y, by="page").explain()
    assert text.startswith("[!!] NOT OPTIMAL   Lasso")
    assert "the objective may be too high by up to " in text
    assert 'What to do     certus.verify without by="page" names the likely cause' in text


def test_a_page_finds_classes_that_are_separated():
    X = np.arange(20.0)[:, None]
    with pytest.warns(certus.exceptions.SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(X, X[:, 0] > 9.5)
    text = certus.verify(model, X, X[:, 0] > 9.5, by="page").explain()
    assert "What is wrong  the classes are separated, so coefficients grow without limit" in text


def test_the_gap_of_a_local_optimum_is_its_distance_to_the_bound():
    X, _, _ = regression(1)
    model = KMeans(3, random_state=0).fit(X)
    c = certus.verify(model, X, bound=True, by="page")
    assert c.gap == pytest.approx(c.objective - c.bound)
    assert "above the best possible" not in repr(c)


def test_a_function_of_the_user_has_no_page():
    X, y, _ = regression(1)

    def metric(a, b):
        return np.abs(a - b).sum()

    model = KNeighborsClassifier(metric=metric).fit(X, y > 0)
    with pytest.raises(CannotVerifyError, match=r'Use certus\.verify without by="page"'):
        certus.verify(model, X, y > 0, by="page")
    assert "its page is" not in certus.verify(model, X, y > 0).explain()


def test_without_sources_the_page_is_named_all_the_same(monkeypatch):
    X, y, _ = regression(1)
    c = LinearRegression().fit(X, y).certificate_

    def no_source(_object):
        raise OSError("could not get source code")

    monkeypatch.setattr(inspect, "getsource", no_source)
    assert _checked_by(c).endswith("; its page is certus.definitions.least_squares")
