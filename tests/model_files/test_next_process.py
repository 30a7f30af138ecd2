"""Every estimator, in each configuration, loaded in a process that has fitted nothing."""

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import certus
from certus import model_files
from certus.model_files.kinds import name_of
from certus.model_files.states import STATES
from tests.contract.laws import ANSWERS, ESTIMATORS
from tests.definitions.fitted_cases import fitted
from tests.model_files.test_models import answers, is_refused

CASES = [*ESTIMATORS, *ANSWERS]
PROGRAM = """
import pickle, sys, warnings
from pathlib import Path
import certus
from certus import model_files
from tests.model_files.test_next_process import findings
for path in sorted(Path(sys.argv[1]).glob("*.certus")):
    X, y = pickle.loads(path.with_suffix(".rows").read_bytes())
    found = findings(certus.load(path), X, y), model_files.to_bytes(certus.load(path))
    path.with_suffix(".found").write_bytes(pickle.dumps(found))
"""


def findings(model, X, y):
    """The answers of a model in bytes, and its certificates in words."""
    given = {name: [_bits(part) for part in parts] for name, parts in answers(model, X).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not hasattr(model, "certificate_"):
            return given, None, None
        return given, model.certificate_.explain(), certus.verify(model, X, y).explain()


def _bits(part):
    part = np.asarray(part.toarray() if hasattr(part, "toarray") else part)
    if part.dtype == object:
        return part.shape, [_bits(np.asarray(inner)) for inner in part.ravel()]
    return part.shape, part.dtype.str, part.tobytes()


def _check(cases, folder):
    expected, names = {}, set()
    for number, case in enumerate(cases):
        model, X, y = fitted(case)
        names.add(name_of(model))
        if is_refused(model):
            continue
        path = folder / f"{number:04d}.certus"
        certus.save(model, path)
        path.with_suffix(".rows").write_bytes(pickle.dumps((X, y)))
        expected[path] = str(case), findings(model, X, y), model_files.to_bytes(model)
    root = Path(certus.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root.parent)])}
    subprocess.run([sys.executable, "-c", PROGRAM, folder], check=True, env=environment)
    for path, (name, (given, *words), content) in expected.items():
        (given_again, *words_again), content_again = pickle.loads(
            path.with_suffix(".found").read_bytes()
        )
        assert given_again == given, name
        assert words_again == words, name
        assert content_again == content, name
    return names


def test_one_case_of_each_class(tmp_path):
    """The next test is about every case."""
    first = {}
    for case in CASES:
        first.setdefault(type(fitted_class(case)), case)
    assert len(_check(first.values(), tmp_path)) >= 25


def fitted_class(case):
    return case.make() if hasattr(case, "make") else case


@pytest.mark.exhaustive
def test_every_case(tmp_path):
    assert _check(CASES, tmp_path) == set(STATES)


def test_two_fits_give_the_same_bytes():
    first = {type(case.make()): case for case in ESTIMATORS}
    for case in first.values():
        model, again = fitted(case)[0], fitted(case)[0]
        if not is_refused(model):
            assert model_files.to_bytes(model) == model_files.to_bytes(again), case
