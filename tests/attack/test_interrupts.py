"""Ctrl-C in fits of a thousand columns, as ``python -m tests.attack.interrupts`` presses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .interrupts import Heard, is_wrong, words

ROOT = Path(__file__).parents[2]
WITHIN = "3"  # seconds of CPU time; a second is promised, 0.3 usual
LONG_PROOFS = ["FirthLogisticRegression", "OrdinalRegression", "LinearRegression"]
MANY_FITS = ["LassoCV", "RidgeCV", "LSSVCCV", "LinearSVC"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads a process's CPU clock")
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LONG_PROOFS + MANY_FITS)
def test_ctrl_c_is_heard_in_fits_of_a_thousand_columns(name):
    how = ["--only", name, "--shape", "0", "--kind", "raw", "--moments", "4", "--limit", WITHIN]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.attack.interrupts", *how],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]


def test_a_deaf_fit_and_half_a_model_are_found():
    good = Heard(0.1, 0.2, "kept")
    assert not is_wrong([good, Heard(0.9, 0.9, "nothing")], 1.0)
    assert is_wrong([good, Heard(0.9, 1.1, "kept")], 1.0)
    assert is_wrong([good, Heard(0.9, 0.1, "half a model")], 1.0)
    assert words([good, good]) == "longest wait 0.20 s; kept at 2"
    assert words([]) == "done before each interrupt"
