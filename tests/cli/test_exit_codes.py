"""What the end of a command means: refusals, bugs, stops."""

import numpy as np
import pytest

from certus.cli.refusals import refusals
from certus.exceptions import CannotVerifyError, TableError, UsageError
from certus.linear_model import Ridge

FIT = ("fit", "patients.csv", "--target", "ill")


def failing(failure):
    def pipeline_for(*args, **kwargs):
        raise failure

    return pipeline_for


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (KeyError("a name"), 70),
        (TypeError("a type"), 70),
        (ValueError("a value"), 70),
        (AssertionError(), 70),
        (IndexError("an index"), 70),
        (np.linalg.LinAlgError("singular"), 70),
        (MemoryError("needs 9 TB"), 3),
        (CannotVerifyError("unknown"), 3),
        (OSError(28, "No space left on device"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_a_bug_is_70_and_says_so_in_one_line(certus, monkeypatch, failure, code):
    monkeypatch.setattr("certus.tables.pipeline_for", failing(failure))
    ran = certus(*FIT)
    assert (ran.code, ran.out) == (code, "")
    assert "Traceback" not in ran.err
    last = ran.err.rstrip().splitlines()[-1]
    assert ("a bug of certus" in last) == (code == 70)
    assert ("--debug" in last) == (code == 70)


def test_debug_shows_where(certus, monkeypatch):
    monkeypatch.setattr("certus.tables.pipeline_for", failing(KeyError("a name")))
    ran = certus(*FIT, "--debug")
    assert ran.code == 70
    assert "Traceback" in ran.err
    assert "KeyError" in ran.err


def test_an_estimator_refuses_its_data_by_a_statement():
    with pytest.raises(TableError, match=r"NaN|missing"), refusals(Ridge()):
        Ridge().fit([[np.nan], [1.0]], [0.0, 1.0])
    with pytest.raises(UsageError, match="alpha="), refusals(Ridge()):
        Ridge(alpha=-1).fit([[0.0], [1.0]], [0.0, 1.0])


def test_numpy_does_not_refuse_but_fail():
    with pytest.raises(ValueError) as failure, refusals(Ridge()):
        np.ones(2) + np.ones(3)
    assert type(failure.value) is ValueError
    with pytest.raises(np.linalg.LinAlgError), refusals(Ridge()):
        np.linalg.cholesky(-np.eye(2))


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, b"PK\x03\x04", b'"', b"a\n"])
def test_a_file_that_is_no_table_is_refused_with_3(certus, folder, content):
    (folder / "bad.csv").write_bytes(content)
    ran = certus("fit", "bad.csv", "--target", "a")
    assert ran.code == 3, ran.err


@pytest.mark.parametrize("content", [b"", b"\0" * 8, b"\xff" * 100, b"PK\x03\x04"])
@pytest.mark.parametrize("command", [["show"], ["predict"], ["verify"], ["export", "--check", "c"]])
def test_a_file_that_is_no_model_is_refused_with_4(certus, folder, content, command):
    (folder / "bad.certus").write_bytes(content)
    table = ["patients.csv"] if command[0] in ("predict", "verify") else []
    ran = certus(command[0], "bad.certus", *table, *command[1:])
    assert (ran.code, ran.out) == (4, "")


def test_every_command_has_help(certus):
    names = "report fit predict verify cluster show export demo doctor warm"
    for name in names.split():
        ran = certus(name, "--help")
        assert ran.code == 0
        assert ran.out.startswith(f"usage: certus {name}")
