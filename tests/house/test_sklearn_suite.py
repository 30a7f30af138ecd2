"""The script that runs scikit-learn's own tests on our classes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

from tests.sklearn_suite import expected, modules, subset
from tests.sklearn_suite.outcome import Summary

ROOT = Path(__file__).parents[2]
SITE = Path(sklearn.__file__).parent
LINES = [line for lines in expected.EXPECTED.values() for line in lines]


@pytest.mark.exhaustive
def test_a_fixed_part_of_scikit_learns_tests_passes_on_our_classes():
    ended = subprocess.run(
        [sys.executable, "-m", "tests.sklearn_suite", "--subset"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-5000:]
    passed = int(re.search(r"^(\d+) passed", ended.stdout, re.MULTILINE).group(1))
    assert passed == len(subset.read())


@pytest.mark.parametrize("line", LINES)
def test_what_is_expected_to_fail_is_a_test_of_scikit_learn(line):
    module, _, name = line.partition("::")
    assert module in modules.ALL
    source = (SITE / module).read_text(encoding="utf-8")
    function = re.split(r"[*\[]", name)[0]
    assert re.search(rf"^def {function}\b", source, re.MULTILINE)
    assert LINES.count(line) == 1


def test_every_reason_is_used_and_explained():
    assert set(expected.EXPECTED) <= set(expected.REASONS)
    assert set(expected.REASONS) - {expected.OPEN} == set(expected.EXPECTED) - {expected.OPEN}


def test_modules_are_there():
    assert [module for module in modules.ALL if not (SITE / module).exists()] == []


def record(test, outcome="passed", uses=1):
    return {"test": test, "outcome": outcome, "uses": uses, "seconds": 0.1, "message": "why"}


def test_outcomes_are_counted_by_what_was_expected():
    (known,) = [line for line in LINES if line.endswith("test_svm.py::test_crammer_singer_binary")]
    found = Summary.of(
        [
            record("a::passed"),
            record("a::without_ours", uses=0),
            record("a::fails_without_ours", "failed", uses=0),
            record("a::skipped", "skipped"),
            record("a::broken", "failed"),
            record("a::broken_at_its_end"),
            record("a::broken_at_its_end", "failed"),
            record(f"{known}[42]", "failed"),
        ],
        {"a::passed", "a::gone"},
    )
    assert list(found.passed) == ["a::passed"]
    assert found.unexpected == {"a::broken": "why", "a::broken_at_its_end": "why"}
    assert found.reasons == {"refused": 1}
    assert found.absent == {"a::gone"}
    assert "UNEXPECTED a::broken\n    why" in found.report()
    assert "25.0% of 4 tests pass" in found.report()
    assert "33.3% pass without those that are documented or private" in found.report()


def test_a_line_stands_for_all_parameters_of_its_test_and_no_other():
    line = "mixture/tests/test_gaussian_mixture.py::test_check_means"
    assert expected.reason(line) == expected.reason(line + "[a]") == "words"
    assert expected.reason(line + "_and_more") is None
    assert expected.unused([line + "[a]"]) == [other for other in LINES if other != line]
