"""Every estimator of the library survives a file: the same answers, the same certificate."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import certus
from certus import model_files
from certus.exceptions import ModelFileError
from certus.model_files.kinds import ALL_NAMES, name_of
from certus.model_files.self_test import METHODS
from certus.model_files.states import STATES
from tests.contract.laws import ANSWERS, ESTIMATORS
from tests.contract.test_bases import public_estimators
from tests.definitions.fitted_cases import fitted

CASES = [*ESTIMATORS, *ANSWERS]


def is_refused(model):
    """Does the model hold a function, which no file can?"""
    return any(callable(v) and name_of(v) is None for v in model.get_params(deep=False).values())


def answers(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}
    return {name: a if isinstance(a, (tuple, list)) else (a,) for name, a in found.items()}


def assert_same_bits(a, b):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    if a.dtype == object:  # neighbours within a radius: an array for each row
        for x, y in zip(a.ravel(), b.ravel(), strict=True):
            assert_same_bits(np.asarray(x), np.asarray(y))
    else:
        np.testing.assert_array_equal(a, b)


def test_every_estimator_is_in_the_table():
    assert {name_of(cls.__new__(cls)) for cls in public_estimators()} == set(STATES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_loaded_model_answers_in_the_same_bits(case, tmp_path):
    model, X, y = fitted(case)
    path = tmp_path / "model.certus"
    if is_refused(model):
        with pytest.raises(ModelFileError, match="which a file cannot hold"):
            certus.save(model, path)
        return
    certus.save(model, path)
    loaded = certus.load(path)
    assert type(loaded) is type(model)
    for name, expected in answers(model, X).items():
        for ours, theirs in zip(answers(loaded, X)[name], expected, strict=True):
            assert_same_bits(np.asarray(ours), np.asarray(theirs))
    assert model_files.to_bytes(loaded) == path.read_bytes()
    if hasattr(model, "certificate_"):
        before, after = model.certificate_, loaded.certificate_
        assert repr(after) == repr(before)
        assert after.explain() == before.explain()
        assert after.note() == before.note()
        checked, again = certus.verify(model, X, y), certus.verify(loaded, X, y)
        assert again.explain() == checked.explain()


def test_the_next_process_gives_the_same_answers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] > rng.normal(size=60)
    model = certus.linear_model.LogisticRegression().fit(X, y)
    certus.save(model, tmp_path / "m.certus")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import certus, numpy as np, sys; m = certus.load(sys.argv[1]);"
        "np.save(sys.argv[3], m.predict_proba(np.load(sys.argv[2])));"
        "print(m.certificate_)"
    )
    files = [tmp_path / name for name in ("m.certus", "X.npy", "p.npy")]
    env = {**os.environ, "PYTHONPATH": str(Path(certus.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "-c", code, *files], capture_output=True, text=True, check=True, env=env
    )
    assert run.stdout.strip() == repr(model.certificate_)
    np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), model.predict_proba(X))


def test_names_in_the_table_are_importable_classes():
    from certus.model_files.kinds import _kind

    assert all(_kind(name) is not None for name in ALL_NAMES)


def test_an_exported_script_of_a_loaded_model_is_the_same(tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 3))
    model = certus.linear_model.Lasso(alpha=0.1).fit(X, X[:, 0])
    certus.save(model, tmp_path / "m.certus")
    model.certificate_.export(tmp_path / "check.py")
    first = (tmp_path / "check.py").read_bytes()
    certus.load(tmp_path / "m.certus").certificate_.export(tmp_path / "check.py")
    assert (tmp_path / "check.py").read_bytes() == first


def test_a_file_says_whether_it_holds_rows_of_the_data():
    X = np.random.default_rng(2).normal(size=(40, 3))
    y = X[:, 0] > 0
    for model, holds in [
        (certus.linear_model.Ridge().fit(X, y), False),
        (certus.cluster.KMeans(2, random_state=0).fit(X), False),
        (certus.neighbors.KNeighborsClassifier().fit(X, y), True),
        (certus.svm.LSSVC().fit(X, y), True),
        (certus.cluster.AgglomerativeClustering().fit(X), True),
    ]:
        assert STATES[name_of(model)].rows is holds
        content = model_files.to_bytes(model)
        rows_inside = all(row.tobytes() in content for row in X[:3])
        assert rows_inside is holds
