"""The benchmark harness is honest: what each row must say is said, and a wrong answer shows.

Nothing here looks at how long anything takes.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, RidgeCV

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import __main__ as command
from benchmarks import harness, libraries, measure, table
from benchmarks.fresh_process import available_cpus, call_in_fresh_process
from benchmarks.generators import gaussian, gaussian_offset_1e3
from benchmarks.harness import Contestant, Options, Suite
from benchmarks.suites import least_squares, load_suite, suite_names

SKLEARN = libraries.sklearn("linear_model")
NUMPY = libraries.numpy()  # in fresh processes, as it is the one that imports fast
ABSENT = Contestant("absent", "no_such_library", "no_such_library.linear_model", "no-such-library")
ONCE = Options(repeats=2, cold_start=False, memory=False)
MINI = least_squares.linear("mini", n=300, p=4)
MUST_NAME = {"generator", "seed", "n", "p", "dtype", "order", "threads", "tol"} | {
    "cpus_used_by_others"
}


class ContestantWith(Contestant):
    """A contestant whose every estimator is this one."""

    def new_model(self, row):
        return ESTIMATORS[self.name]()


class WrongLinearRegression(LinearRegression):
    def fit(self, X, y):
        super().fit(X, y)
        self.coef_ = self.coef_ + 0.1
        return self


class RaisingLinearRegression(LinearRegression):
    def fit(self, X, y):
        raise ValueError("/a/path/that/must/not/be/stored")


class NotANumberLinearRegression(WrongLinearRegression):
    def fit(self, X, y):
        super().fit(X, y)
        self.intercept_ = np.nan
        return self


ESTIMATORS = {
    "wrong": WrongLinearRegression,
    "raising": RaisingLinearRegression,
    "not a number": NotANumberLinearRegression,
}


def fake(name):
    return ContestantWith(name, name, name, name)


def in_this_process(function, *args, threads=None):
    return function(*args)


def mini_report(tmp_path, monkeypatch, *arguments, contestants):
    """What the command stores for a suite of one mini row."""
    suite = Suite("mini", contestants, (MINI, harness.ImportRow()))
    monkeypatch.setattr(command, "load_suite", lambda name: suite)
    path = tmp_path / "out.json"
    assert command.main(["least_squares", "--repeats", "1", "--json", str(path), *arguments]) == 0
    return json.loads(path.read_text())


def test_every_row_names_its_data_and_settings(tmp_path, monkeypatch):
    report = mini_report(tmp_path, monkeypatch, contestants=(NUMPY, ABSENT))
    fitted, imported = report["results"]
    for result in report["results"]:
        assert result.keys() >= MUST_NAME
    assert fitted["generator"] == "gaussian"
    assert (fitted["n"], fitted["p"], fitted["threads"]) == (300, 4, len(available_cpus()))
    assert report["versions"]["numpy"]
    assert {"cpu", "cores"} <= report["machine"].keys()
    cell = fitted["cells"]["numpy"]
    assert cell["seconds"] == min(cell["all_seconds"])
    assert cell["excess"] == 0
    assert cell["cold_start_seconds"] > cell["seconds"]
    assert imported["cells"]["numpy"]["seconds"] > 0
    assert imported["cells"]["absent"]["skipped"]


def test_report_holds_no_path(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(harness, "call_in_fresh_process", in_this_process)
    report = mini_report(
        tmp_path, monkeypatch, "--no-cold-start", "--rows", "mini",
        contestants=(SKLEARN, fake("raising")),
    )  # fmt: skip
    assert report["results"][0]["cells"]["sklearn"]["excess"] == 0
    cell = report["results"][0]["cells"]["raising"]
    assert (cell["failed"], cell["skipped"], cell["seconds"]) == (True, "ValueError", None)
    assert "/" not in json.dumps(report["results"])
    assert "failed" in capsys.readouterr().out


def test_wrong_answer_has_an_excess_and_is_marked():
    cells, _ = harness.contest(MINI, (SKLEARN, fake("wrong")), ONCE)
    assert cells["sklearn"]["excess"] == 0
    assert cells["wrong"]["excess"] > MINI.excess_limit
    assert table.seconds_text(MINI.facts(), cells["wrong"]).endswith("!")
    assert not table.seconds_text(MINI.facts(), cells["sklearn"]).endswith("!")


def test_answer_that_is_not_a_number_has_failed():
    cells, _ = harness.contest(MINI, (SKLEARN, fake("not a number")), ONCE)
    assert cells["not a number"]["failed"]
    assert cells["sklearn"]["excess"] == 0


def test_missing_library_is_a_dash_in_every_table(monkeypatch):
    monkeypatch.setattr(harness, "call_in_fresh_process", in_this_process)
    suite = Suite("mini", (ABSENT, SKLEARN), (MINI,))
    result = next(suite.run(ONCE))
    assert result["ratios"] == {"sklearn": None}
    grids = table.tables([result])
    for title in ("Seconds", "Excess", "Cold start", "Extra memory"):
        heading, line = grids[title]
        assert line[heading.index("absent")] == "–"
    heading, line = grids["Seconds"]
    assert line[heading.index("sklearn")] != "–"
    assert line[heading.index("× sklearn")] == "–"


def test_broken_library_is_not_taken_for_a_missing_one(tmp_path, monkeypatch):
    (tmp_path / "broken_library.py").write_text("import a_dependency_that_is_not_there")
    monkeypatch.syspath_prepend(tmp_path)
    broken = Contestant("broken", "broken_library", "broken_library", "broken-library")
    cells, _ = harness.contest(MINI, (broken,), ONCE)
    assert cells["broken"]["failed"]


def test_ratio_above_one_means_the_first_contestant_is_faster():
    assert harness.ratio(peer_seconds=3.0, home_seconds=1.5) == 2.0


def test_rounds_are_interleaved_and_the_slow_sit_out():
    calls = []

    def call(name, seconds):
        calls.append(name)
        return seconds

    timed = {"fast": lambda: call("fast", 1.0), "slow": lambda: call("slow", 9.0)}
    seconds = measure.round_robin(timed, repeats=3, budget=10.0)
    assert calls == ["fast", "slow", "slow", "fast", "fast"]
    assert seconds == {"fast": [1.0] * 3, "slow": [9.0] * 2}


def test_contestant_that_failed_does_not_run_again():
    assert measure.round_robin({"failing": lambda: np.inf}, 3, 10.0) == {"failing": [np.inf]}


def test_row_that_shared_its_cpus_warns_against_quoting_it():
    suite = Suite("mini", (ABSENT,), (MINI,))
    result = next(suite.run(ONCE)) | {"cpus_used_by_others": 0.5}
    report = {"machine": {"cpu": "a", "cores": 2}, "versions": {}, "quick": False}
    assert "NOT TO BE QUOTED" in table.terminal_text(report | {"results": [result]})
    quiet = result | {"cpus_used_by_others": 0.0}
    assert "NOT TO BE QUOTED" not in table.terminal_text(report | {"results": [quiet]})


def test_row_of_one_thread_is_pinned_to_one_cpu():
    assert len(call_in_fresh_process(available_cpus, threads=1)) == 1 or sys.platform != "linux"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is a lower bound")
def test_extra_memory_is_what_the_call_had_at_its_peak():
    np.ones(10_000_000)  # a higher peak, before the call
    extra, _ = measure.extra_memory_of(lambda: np.ones(2_500_000))
    assert extra == pytest.approx(20e6, rel=0.2)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is a lower bound")
def test_memory_of_a_fit_that_copies_its_data_is_at_least_the_data():
    row = replace(MINI, n=100_000, p=20)
    extra, _ = harness.memory_of_fit(SKLEARN, row)
    assert extra > 0.9 * row.data_bytes()


@pytest.mark.parametrize("generator", [gaussian, gaussian_offset_1e3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_data_have_the_dtype_and_order_the_row_names(generator, order):
    X, y = generator(50, 3, 0, np.dtype("float32"), order)
    assert X.dtype == y.dtype == np.float32
    assert X.flags[f"{order}_CONTIGUOUS"]


@pytest.mark.parametrize("shape", [(60, 5), (20, 40)])
def test_ridge_cv_is_judged_at_the_alpha_of_least_leave_one_out_error(shape):
    X, y = gaussian(*shape, seed=0, dtype=np.dtype(float), order="C")
    errors = [leave_one_out_error(X, y, alpha) for alpha in (0.1, 1.0, 10.0, 100.0)]
    best = (0.1, 1.0, 10.0, 100.0)[int(np.argmin(errors))]
    alphas = np.array([0.1, 1.0, 10.0, 100.0])
    assert least_squares.alpha_of_least_leave_one_out_error(X, y, alphas) == best
    assert RidgeCV(alphas).fit(X, y).alpha_ == best


def leave_one_out_error(X, y, alpha):
    """By refitting n times."""
    errors = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        center, mean = X[rest].mean(axis=0), y[rest].mean()
        Z = X[rest] - center
        w = np.linalg.solve(Z.T @ Z + alpha * np.eye(X.shape[1]), Z.T @ (y[rest] - mean))
        errors.append((y[i] - mean - (X[i] - center) @ w) ** 2)
    return np.mean(errors)


def test_quick_rows_are_smaller_and_as_wide_or_tall():
    for row in least_squares.SUITE.rows[:-1]:
        quick = row.divided_by_ten()
        assert quick.n <= row.n
        assert quick.p <= row.p
        assert (quick.n >= quick.p) == (row.n >= row.p)


def test_every_suite_has_distinct_rows_and_certus_first():
    for name in suite_names():
        suite = load_suite(name)
        assert suite.name == name
        assert suite.contestants[0].name == "certus"
        assert len({row.name for row in suite.rows}) == len(suite.rows)


def test_tolerance_of_the_row_reaches_the_constructor():
    assert replace(MINI, tol=1e-9).constructor_params() == {"tol": 1e-9}
    assert MINI.constructor_params() == {}


def test_tables_are_written_between_the_markers_and_nowhere_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- mini: begin -->\nold\n<!-- mini: end -->\nafter\n")
    table.write_between_markers(page, "mini", "new")
    assert page.read_text() == "before\n<!-- mini: begin -->\nnew\n<!-- mini: end -->\nafter\n"
    table.write_between_markers(page, "other", "more")
    assert page.read_text().endswith("after\n\n<!-- other: begin -->\nmore\n<!-- other: end -->\n")


def test_readme_has_markers_for_every_suite():
    readme = (Path(command.__file__).parent / "README.md").read_text(encoding="utf-8")
    for name in suite_names():
        assert f"<!-- {name}: begin -->" in readme
        assert f"<!-- {name}: end -->" in readme
