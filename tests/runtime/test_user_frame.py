"""Warnings name the user's line, through whatever lies between it and the warning."""

import functools
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certus.cluster import KMeans
from certus.exceptions import AliasWarning, DegenerateWarning, NotCertifiedWarning
from certus.linear_model import LogisticRegression, Ridge
from certus.runtime.user_frame import warn_user
from tests.house.source import FILES, name_of, room_of


def files_of(call, category):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        call()
    found = [w.filename for w in warned if issubclass(w.category, category)]
    assert found
    return set(found)


@pytest.fixture
def copied_column():
    X = np.random.default_rng(0).normal(size=(40, 2))
    return np.column_stack([X, X[:, 0]]), X.sum(axis=1)


def test_a_fit_names_the_line_that_calls_it(copied_column):
    X, y = copied_column
    assert files_of(lambda: Ridge(alpha=0.0).fit(X, y), AliasWarning) == {__file__}


def test_scikit_learn_in_between_is_passed_by(copied_column):
    X, y = copied_column
    model = make_pipeline(StandardScaler(), Ridge(alpha=0.0))
    assert files_of(lambda: model.fit(X, y), AliasWarning) == {__file__}
    assert files_of(lambda: cross_val_score(model, X, y, cv=3), AliasWarning) == {__file__}
    each = OneVsRestClassifier(LogisticRegression(max_iter=1))
    with_noise = np.digitize(X[:, 0] + X[::-1, 1], [-0.5, 0.5])
    assert files_of(lambda: each.fit(X[:, :2], with_noise), NotCertifiedWarning) == {__file__}


def test_fit_predict_and_fit_transform_name_the_line_too():
    X = np.repeat(np.arange(2.0), 5)[:, None]
    for method in ("fit", "fit_predict", "fit_transform"):
        call = getattr(KMeans(3, random_state=0), method)
        assert files_of(lambda call=call: call(X), DegenerateWarning) == {__file__}


def frame_of(module):
    """A function that calls another, in a module of this name."""
    namespace = {"__name__": module}
    exec(compile("def call(f):\n    return f()", f"<{module}>", "exec"), namespace)
    return namespace["call"]


def warn():
    frame_of("certus.inner")(lambda: warn_user("told", UserWarning))


@pytest.mark.parametrize(
    "module", ["certus.cluster.kmeans", "sklearn.pipeline", "joblib.parallel", "functools"]
)
def test_frames_of_libraries_are_passed_by(module):
    inner = functools.partial(warn_user, "told", UserWarning)
    assert files_of(lambda: frame_of(module)(inner), UserWarning) == {__file__}


def test_the_innermost_frame_of_the_user_is_named():
    assert files_of(lambda: frame_of("someones.module")(warn), UserWarning) == {__file__}
    inner = functools.partial(warn_user, "told", UserWarning)
    assert files_of(lambda: frame_of("someones")(inner), UserWarning) == {"<someones>"}
    assert files_of(lambda: frame_of("certus_of_mine")(inner), UserWarning) == {"<certus_of_mine>"}


def test_a_wrapper_of_contextlib_is_passed_by():
    @contextmanager
    def nothing():
        yield

    wrapped = nothing()(functools.partial(warn_user, "told", UserWarning))
    assert files_of(lambda: wrapped(), UserWarning) == {__file__}


def test_no_other_module_counts_frames():
    """Kernels import nothing of ours and warn once, of a folder that cannot be written."""
    assert not [
        name_of(path)
        for path in FILES
        if room_of(path) != "kernels" and name_of(path) != "runtime/user_frame.py"
        if "stacklevel" in path.read_text(encoding="utf-8")
        or "warnings.warn(" in path.read_text(encoding="utf-8")
    ]
