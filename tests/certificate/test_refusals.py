"""Refusals are short, name what was meant, and come from one frame."""

import inspect
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus import audit
from certus.cluster import KMeans
from certus.distances import pairwise_distances
from certus.exceptions import CannotVerifyError
from certus.linear_model import LogisticRegression, Ridge
from certus.text.suggestions import did_you_mean, nearest
from tests.house.source import REPOSITORY, SOURCE

X, y = load_diabetes(return_X_y=True)


class ridgecv:
    """A class of the user's own."""

    def fit(self, X, y):
        return self


def frames_of_certus(error):
    return [
        frame for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(SOURCE)
    ]  # fmt: skip


def test_an_unknown_model_is_refused_with_the_three_nearest_names():
    model = RandomForestClassifier(3).fit(X, y > 100)
    with pytest.raises(CannotVerifyError, match="RandomForestClassifier cannot be") as raised:
        certus.verify(model, X, y)
    text = str(raised.value)
    assert len(text) < 350
    named = text.split("similar name: ")[1].split(". All")[0].split(", ")
    assert len(named) == 3
    assert set(named) <= set(audit.readable())
    assert "docs/certificates.md" in text
    with pytest.raises(CannotVerifyError, match=r"\.RidgeCV, "):
        certus.verify(ridgecv(), X, y)


def test_the_page_lists_every_class_that_can_be_audited():
    page = (REPOSITORY / "docs" / "certificates.md").read_text("utf-8")
    section = page.split("## What can be audited")[1].split("\n## ")[0]
    text = re.sub(r"```.*?```", "", section, flags=re.S)  # without its examples
    listed = {name for name in text.split("`")[1::2] if "." in name}
    known = {name.partition(".")[2] for name in audit.readable()}
    functions = {"certus.verify", "certus.Audited", "certus.metrics.CalibratedClassifier"}
    assert listed - functions == known


def test_columns_that_a_step_refuses_are_refused_by_verify():
    model = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    with pytest.raises(CannotVerifyError, match="X has 3 features"):
        certus.verify(model, X[:, :3], y)


def test_rows_that_are_not_finite_are_named_and_not_the_model():
    Z = X.copy()
    Z[3, 1] = np.inf
    with pytest.raises(CannotVerifyError) as raised:
        certus.verify(Ridge().fit(X, y), Z, y)
    text = "column 1 of X has 1 infinite value (inf; row 3): impute them or drop the rows"
    assert str(raised.value) == text


def bad_calls():
    model = Ridge().fit(X, y)
    yield "no row of y", lambda: certus.verify(model, X, y[:-1])
    yield "unknown model", lambda: certus.verify(ridgecv(), X, y)
    yield "a parameter", lambda: Ridge(alpha=-1.0).fit(X, y)
    yield "a name", lambda: LogisticRegression(solver="newton").fit(X, y > 100)
    yield "not finite", lambda: KMeans(2).fit(np.where(X > 0.1, np.nan, X))
    yield "columns", lambda: model.predict(X[:, :3])
    yield "columns of a score", lambda: model.score(X[:, :3], y)
    yield "not fitted", lambda: Ridge().predict(X)
    yield "text", lambda: Ridge().fit([["a"], ["b"]], [1, 2])
    yield (
        "in a pipeline",
        lambda: certus.verify(make_pipeline(StandardScaler(), Ridge()).fit(X, y), X[:, :3], y),
    )


@pytest.mark.parametrize(("name", "call"), list(bad_calls()))
def test_a_refusal_has_one_frame_of_certus(name, call, monkeypatch):
    monkeypatch.delenv("CERTUS_TRACEBACK", raising=False)
    with pytest.raises((ValueError, TypeError)) as raised:
        call()
    assert len(frames_of_certus(raised.value)) == 1
    assert raised.value.__cause__ is None
    monkeypatch.setenv("CERTUS_TRACEBACK", "full")
    with pytest.raises(type(raised.value)) as whole:
        call()
    assert str(whole.value) == str(raised.value)
    assert len(frames_of_certus(whole.value)) > 1


PUBLIC = (
    certus, certus.cluster, certus.distances, certus.feature_selection, certus.metrics,
    certus.neighbors, certus.svm,
)  # fmt: skip
# settings, names and drawings; and a check of the user's own functions
REFUSE_LITTLE = (
    "config_context", "get_config", "set_config", "names", "plot_dendrogram", "check_gradient",
)  # fmt: skip


def test_every_public_function_refuses_in_one_frame():
    missing = [
        f"{module.__name__}.{name}"
        for module in PUBLIC
        for name in module.__all__
        if inspect.isfunction(getattr(module, name)) and name not in REFUSE_LITTLE
        if not hasattr(getattr(module, name), "__wrapped__")
    ]
    assert not missing


def test_an_error_in_the_middle_of_a_computation_keeps_its_frames(monkeypatch):
    def fail(*_, **__):
        return np.linalg.cholesky(np.zeros((2, 3)))

    monkeypatch.setattr("certus.linear_model._base.solve", fail)
    with pytest.raises(ValueError) as raised:
        Ridge().fit(X, y)
    assert len(traceback.extract_tb(raised.value.__traceback__)) > 4


# --- did you mean ---------------------------------------------------------------------------------


def test_case_does_not_count():
    assert did_you_mean("AUTO", ["auto", "newton-cg"]) == "auto"
    assert nearest("ridge", ["certus.linear_model.Ridge", "svm.SVC"], 1) == [
        "certus.linear_model.Ridge"
    ]
    with pytest.raises(ValueError, match="Did you mean 'svd'"):
        Ridge(solver="SVD").fit(X, y)
    with pytest.raises(ValueError, match="Did you mean 'cosine'"):
        pairwise_distances(X, metric="Cosine")
    with pytest.raises(ValueError, match="Did you mean 'yes'"):
        LogisticRegression(class_weight={"YES": 2}).fit(X, np.where(y > 100, "yes", "no"))


def test_only_one_file_compares_names():
    users = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "get_close_matches" in path.read_text("utf-8")
    ]
    assert users == ["text/suggestions.py"]
