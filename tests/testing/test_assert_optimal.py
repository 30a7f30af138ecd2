"""A test fails where the claim of a model fails, and says what a person needs to know."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.exceptions import CannotVerifyError
from certus.testing import assert_optimal
from tests.contract.problems import classification

X, y, _ = classification(0, n=200, p=5)


def test_an_optimal_model_returns_its_certificate():
    certificate = assert_optimal(LogisticRegression(tol=1e-9).fit(X, y), X, y)
    assert certificate.certified
    assert certificate.tol == 1e-6


def test_pipelines_and_searches_are_looked_into():
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-9))
    search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert assert_optimal(search, X, y).status == "optimal"


def test_the_message_has_verdict_distance_and_remedy_on_one_screen():
    A, b = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression().fit(A, b)
    with pytest.raises(AssertionError) as failed:
        assert_optimal(model, A, b)
    lines = str(failed.value).splitlines()
    assert lines[0].startswith("[!!] NOT OPTIMAL   sklearn.linear_model.LogisticRegression, 569")
    assert lines[1].startswith("At the optimum")
    assert [line.partition("  ")[0] for line in lines[2:]] == [
        "Objective", "Best possible", "What is wrong", "Likely cause", "What to do",
    ]  # fmt: skip


def test_the_gap_decides():
    model = LogisticRegression(tol=1e-1).fit(X, y)
    residual = certus.verify(model, X, y).residual
    assert assert_optimal(model, X, y, gap=1.01 * residual).certified
    with pytest.raises(AssertionError):
        assert_optimal(model, X, y, gap=0.99 * residual)


def test_weights_are_those_of_the_fit():
    s = np.random.default_rng(1).random(len(y)) + 0.1
    model = Ridge().fit(X, X[:, 0] + y, sample_weight=s)
    assert assert_optimal(model, X, X[:, 0] + y, s).certified
    with pytest.raises(AssertionError, match=r"NOT THE ROWS|NOT OPTIMAL|NEARLY"):
        assert_optimal(model, X, X[:, 0] + y)


def test_an_edited_model_fails():
    model = certus.linear_model.Ridge().fit(X, X[:, 0] + y)
    model.coef_ = model.coef_ * 1.1
    with pytest.raises(AssertionError):
        assert_optimal(model, X, X[:, 0] + y)


def test_a_local_optimum_is_all_that_clusters_claim():
    model = KMeans(3, n_init=3, random_state=0, tol=0).fit(X)
    assert assert_optimal(model, X).status == "local optimum"


@pytest.mark.parametrize("model", [RandomForestClassifier(2).fit(X, y), LogisticRegression()])
def test_what_cannot_be_audited_does_not_pass(model):
    with pytest.raises(CannotVerifyError):
        assert_optimal(model, X, y)


def test_a_negative_gap_is_refused():
    with pytest.raises(ValueError, match="gap=-1: give a number that is not negative"):
        assert_optimal(LogisticRegression().fit(X, y), X, y, gap=-1)


def test_tables_that_are_read_block_by_block(tmp_path):
    rows = np.column_stack([X, X[:, 0] + y])
    np.save(tmp_path / "rows.npy", rows)
    table = certus.open_rows(tmp_path / "rows.npy", target=5)
    assert assert_optimal(certus.linear_model.Ridge().fit(table), table).certified
    audited = certus.Audited(certus.linear_model.Ridge()).fit(table)
    assert audited.certificate_.certified
    assert audited.predict(table).shape == (200,)
    assert audited.score(table) > 0.5


def test_dask_collections():
    da = pytest.importorskip("dask.array")
    A, b = da.from_array(X, chunks=(50, 5)), da.from_array(X[:, 0] + y, chunks=50)
    model = certus.Audited(certus.linear_model.Ridge()).fit(A, b)
    assert model.certificate_.certified
    assert assert_optimal(model, A, b).certified
    np.testing.assert_allclose(model.predict(A).compute(), model.estimator_.predict(X))
