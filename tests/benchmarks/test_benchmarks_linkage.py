"""Benchmarks of linkage: the same tree from every library, and wrong ones marked.

Nothing here looks at how long anything takes.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import harness
from benchmarks.entry import NotOffered
from benchmarks.harness import Contestant, Options
from benchmarks.suites import linkage as suite

ROOT = Path(__file__).resolve().parents[2]
ONCE = Options(repeats=1, cold_start=False, memory=False)
ROWS = {row.name: row for row in suite.SUITE.rows}
MAIN = [f"{method} p=16 noise" for method in suite.METHODS]


def mini(name, **settings):
    """A row of the suite on small data."""
    return replace(ROWS[name], n=200, p=4, **settings)


@pytest.mark.parametrize("name", MAIN)
@pytest.mark.parametrize("contestant", suite.SUITE.contestants, ids=lambda c: c.name)
def test_libraries_give_the_same_heights(name, contestant):
    if contestant.name in ROWS[name].without:
        pytest.skip("left out of the row")
    pytest.importorskip(contestant.package)
    row = mini(name)
    X, y = row.data()
    expected = linkage(X, row.params["method"])[:, 2]
    try:
        _, model = contestant.timed_fit(row, X, y)
    except NotOffered:
        offered = {"sklearn": ("weighted", "centroid", "median"),
                   "fastcluster linkage_vector": suite.OF_MATRIX}  # fmt: skip
        assert row.params["method"] in offered[contestant.name]
        return
    np.testing.assert_allclose(np.sort(model.heights_), np.sort(expected), rtol=1e-5)
    F = row.objective(row, X, y)
    assert F(model) == pytest.approx(expected.sum(), rel=1e-6)


class OneMergeOff(Contestant):
    """SciPy's answer with the last merge too low."""

    def timed_fit(self, row, X, y):
        seconds, model = suite.SCIPY.timed_fit(row, X, y)
        return seconds, SimpleNamespace(heights_=model.heights_ - 1e-2 * (model.heights_ > 0.5))


def test_a_wrong_tree_leaves_an_excess_above_the_limit_in_its_row():
    row = mini("average p=16 noise")
    wrong = OneMergeOff("wrong", "scipy", "scipy", "scipy")
    cells, _ = harness.contest(row, (suite.SCIPY, wrong), ONCE)
    assert max(cell["excess"] for cell in cells.values()) > row.excess_limit


def test_every_linkage_has_a_row_of_the_size_that_is_promised_and_certus_is_in_all():
    assert {(ROWS[name].n, ROWS[name].p) for name in MAIN} == {(20_000, 16)}
    large = {(r.params["method"], r.n, r.p) for r in ROWS.values() if r.n > 20_000}
    assert large == {("single", 200_000, 3), ("single", 100_000, 16), ("ward", 100_000, 16)}
    names = {contestant.name for contestant in suite.SUITE.contestants}
    for row in ROWS.values():
        assert set(row.without) < names
        assert "certus" not in row.without


@pytest.mark.exhaustive
def test_the_picture_of_growth_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "growth.png"
    command = [sys.executable, ROOT / "examples" / "linkage_growth.py", "--out", picture]
    done = subprocess.run([*command, "--rows", "2000"], capture_output=True, text=True, check=True)
    assert done.stdout.count("growing as rows^") == 6
    assert picture.stat().st_size > 1000
