"""``certus report``: what it writes, prints and refuses, and how it ends."""

import io
import json
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import certus
from certus.cli import progress_line
from certus.cli.progress_line import ProgressLine
from certus.exceptions import UsageError
from certus.linear_model import LogisticRegression
from certus.reporting.folder import write_folder
from certus.reporting.model_part import model_bytes, script_of
from certus.reporting.options import command_of, cost_of, names_of, seconds_of
from certus.reporting.prepare import prepare
from certus.reporting.settings import Settings
from certus.tables import pipeline_for, read_table
from tests.report.command import FILES, QUICK, patients, process, run, write_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with patients.csv."""
    write_table(tmp_path / "patients.csv", patients())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A report that the command wrote, with its table beside it."""
    folder = tmp_path_factory.mktemp("report")
    table = write_table(folder / "patients.csv", patients())
    from certus.cli import main

    out = folder / "patients-report"
    assert main(["report", str(table), "--target", "ill", *QUICK, "--out", str(out)]) == 0
    return out


# --- what is written ------------------------------------------------------------------------------


def test_a_report_is_a_folder_of_six_files(written):
    assert {path.name for path in written.iterdir()} == FILES
    assert not [path.name for path in written.parent.iterdir() if path.suffix == ".tmp"]


def test_verify_of_the_footer_holds(written, monkeypatch, capfd):
    monkeypatch.chdir(written)
    assert run(capfd, "verify", "model.certus", "../patients.csv").code == 0


def test_the_script_of_the_recipient_holds(written):
    ran = subprocess.run(
        [sys.executable, "check.py", "../patients.csv", "ill"], cwd=written, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "the claim holds" in ran.stdout


def test_times_and_places_are_in_the_record_of_the_run_alone(written):
    record = json.loads((written / "run.json").read_text("utf-8"))
    assert record["kind"] == "certus report"
    assert {"comparing models", "data problems", "Table 1"} <= set(record["seconds"])
    assert set(record["sha256"]) == FILES - {"run.json"}
    for name in FILES - {"run.json"}:
        content = (written / name).read_bytes()
        for text in (record["host"], str(written.parent), record["written"][:10]):
            assert len(text) < 4 or text.encode() not in content


@pytest.mark.costly
@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_table_gives_the_same_bytes(written, tmp_path, capfd, threads):
    out = tmp_path / "again"
    ran = run(capfd, "report", written.parent / "patients.csv", "--target", "ill", *QUICK,
              "--out", out, "--threads", threads)  # fmt: skip
    assert ran.code == 0
    for name in FILES - {"run.json"}:
        assert (out / name).read_bytes() == (written / name).read_bytes(), name


def test_the_command_prints_verdict_certificates_problems_and_paths(folder, capfd):
    columns = patients()
    columns["age"][5:15] = columns["age"][:10]
    columns["dose"][5:15] = columns["dose"][:10]
    columns["city"][5:15] = columns["city"][:10]
    write_table(folder / "patients.csv", columns)
    ran = run(capfd, "report", "patients.csv", "--target", "ill", *QUICK)
    assert ran.code == 0
    assert "AUC" in ran.out
    assert "Logistic regression" in ran.out
    assert "[D-DUP]" in ran.out
    assert "patients-report/report.html" in ran.out
    assert "patients.csv: CSV, 90 rows" in ran.err


def test_json_is_the_report_itself(folder, capfd):
    ran = run(capfd, "report", "patients.csv", "--target", "ill", *QUICK, "--json")
    assert json.loads(ran.out) == json.loads(
        (folder / "patients-report" / "report.json").read_text("utf-8")
    )


def test_rows_without_a_target_are_left_out_of_fit_and_verify(folder, capfd):
    columns = patients()
    columns["ill"][3] = columns["ill"][30] = ""
    write_table(folder / "patients.csv", columns)
    ran = run(capfd, "report", "patients.csv", "--target", "ill", *QUICK)
    assert ran.code == 0
    assert "2 rows without a target (row 4, 31)" in ran.err
    assert not (folder / "patients-report" / "check.py").exists(), "it would read these rows"
    ran = run(capfd, "verify", "patients-report/model.certus", "patients.csv")
    assert ran.code == 0, ran.out
    assert "88 rows of 90" in ran.err


def test_without_a_target_structure_is_looked_for(folder, capfd):
    ran = run(capfd, "report", "patients.csv", "--cluster", "--drop", "ill")
    assert ran.code == 0, ran.err
    names = {path.name for path in (folder / "patients-report").iterdir()}
    assert names == FILES - {"model.certus", "check.py"}
    assert "groups" in ran.out.casefold()


def test_a_model_that_is_not_certified_ends_with_1(folder, capfd, monkeypatch):
    from certus.cli import certificates

    monkeypatch.setattr(certificates, "exit_code", lambda c: 1 if c.certified else 2)
    assert run(capfd, "report", "patients.csv", "--target", "ill", *QUICK).code == 1


@pytest.mark.costly
@pytest.mark.parametrize(
    "options",
    [("--time", "day"), ("--group", "city"), ("--weights", "dose"), ("--by", "city"),
     ("--cost", "fp=1,fn=20"), ("--positive", "no"), ("--show-rows",), ("--test", "new.csv"),
     ("--id", "name")],
    ids=lambda options: options[0],
)  # fmt: skip
def test_each_option_gives_a_report_that_verifies(folder, capfd, options):
    columns = patients()
    columns["day"] = [f"2026-01-{1 + i // 4:02d}" for i in range(90)]
    columns["city"] = [f"town {i % 9}" for i in range(90)]
    columns["name"] = [f"n{i}" for i in range(90)]
    write_table(folder / "patients.csv", columns)
    write_table(folder / "new.csv", {name: values[:40] for name, values in columns.items()})
    ran = run(capfd, "report", "patients.csv", "--target", "ill", *QUICK, *options)
    assert ran.code == 0, ran.err
    ran = run(capfd, "verify", "patients-report/model.certus", "patients.csv")
    assert ran.code == 0, ran.out


def test_the_model_is_scored_on_other_rows(folder, capfd):
    write_table(folder / "patients.csv", patients())
    new = patients(n=60, seed=5)
    write_table(folder / "new.csv", new)
    ran = run(capfd, "report", "patients.csv", "--target", "ill", *QUICK, "--test", "new.csv")
    assert ran.code == 0, ran.err
    content = json.loads((folder / "patients-report" / "report.json").read_text("utf-8"))
    (found,) = (e for e in content["verdict"]["others"] if e["name"] == "AUC on --test")
    model = certus.load(folder / "patients-report" / "model.certus")
    table = read_table(folder / "new.csv")
    p = model.predict_proba(table.select(list(model.feature_names_in_)))
    positive = content["question"]["positive"]
    k = [str(label) for label in model.classes_].index(positive)
    is_positive = np.array([str(value) == positive for value in new["ill"]])
    assert found["value"] == pytest.approx(roc_auc_score(is_positive, p[:, k]))
    assert found["interval"]["low"] < found["value"] < found["interval"]["high"]
    assert found["n"] == 60


@pytest.mark.costly
def test_against_an_earlier_report_or_model_says_what_changed(written, folder, capfd):
    write_table(folder / "patients.csv", patients(n=100, seed=3))
    for earlier in ("report.json", "model.certus"):
        ran = run(capfd, "report", "patients.csv", "--target", "ill", *QUICK, "--against",
                  written / earlier)  # fmt: skip
        assert ran.code == 0, ran.err
        content = json.loads((folder / "patients-report" / "report.json").read_text("utf-8"))
        assert content["against"]["source"] == earlier


@pytest.mark.costly
def test_a_budget_leaves_models_out_and_says_so(folder, capfd):
    ran = run(capfd, "report", "patients.csv", "--target", "ill", "--budget", "0.5s")
    assert ran.code == 0, ran.err
    page = (folder / "patients-report" / "report.md").read_text("utf-8")
    assert "was left out" in page
    assert "budget" in page


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("patients.csv", "--target", "il"), 3, "Did you mean 'ill'?"),
        (("patients.csv", "--target", "ill", "--positive", "yess"), 2, "Did you mean 'yes'?"),
        (("patients.csv", "--target", "ill", "--models", "logistc"), 2, "Did you mean 'logistic'?"),
        (("patients.csv", "--target", "ill", "--cost", "fp=1"), 2, "fp=1,fn=20"),
        (("patients.csv", "--target", "ill", "--budget", "soon"), 2, "such as 90s, 5m or 1h"),
        (("patients.csv", "--target", "ill", "--threads", "0"), 2, "from 1 up"),
        (("patients.csv", "--target", "ill", "--cluster"), 2, "leave one of them out"),
        (("patients.csv", "--demo"), 2, "leave out patients.csv"),
        (("patients.csv", "--target", "ill", "--against", "nothing.json"), 2, "cannot be read"),
        (("patients.csv", "--target", "ill", "--against", "other.json"), 2, "no report.json"),
        (("nothing.csv", "--target", "ill"), 3, "there is no file"),
        ((), 2, "Give a file, or --demo"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_work(folder, capfd, arguments, code, message):
    (folder / "other.json").write_text("{}")
    ran = run(capfd, "report", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert not (folder / "patients-report").exists()


@pytest.mark.usefixtures("folder")
def test_a_bare_call_lists_the_columns_and_the_likely_target(capfd):
    ran = run(capfd, "report", "patients.csv")
    assert ran.code == 2
    for line in ("city                 category, ", "certus report patients.csv --target ill",
                 "certus report patients.csv --cluster"):  # fmt: skip
        assert line in ran.err


def test_a_folder_of_someone_else_is_not_overwritten(folder, capfd):
    other = folder / "patients-report"
    other.mkdir()
    (other / "report.html").write_text("mine")
    command = ("report", "patients.csv", "--target", "ill", *QUICK)
    ran = run(capfd, *command)
    assert ran.code == 2
    assert "holds no report of certus" in ran.err
    assert (other / "report.html").read_text() == "mine"
    (folder / "a-file").write_text("")
    assert "is a file" in run(capfd, *command, "--out", "a-file").err
    assert "there is no folder" in run(capfd, *command, "--out", "no/where").err


def test_a_folder_of_ours_is_replaced_and_other_files_in_it_are_left_alone(tmp_path):
    files = {"report.html": "old", "check.py": "old", "run.json": '{"kind": "certus report"}'}
    folder = write_folder(tmp_path / "a", files)
    (folder / "notes.txt").write_text("mine")
    write_folder(folder, {"report.html": "new", "run.json": files["run.json"]})
    assert {p.name: p.read_text()[:4] for p in folder.iterdir()} == {
        "report.html": "new", "run.json": '{"ki', "notes.txt": "mine",
    }  # fmt: skip


def test_what_was_there_stays_when_the_disk_is_full(tmp_path, monkeypatch):
    files = {"report.html": "old", "run.json": '{"kind": "certus report"}'}
    folder = write_folder(tmp_path / "a", files)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_folder(folder, {"report.html": "new", "run.json": files["run.json"]})
    assert (folder / "report.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.usefixtures("folder")
def test_without_jinja_the_pip_line_is_printed(capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    ran = run(capfd, "report", "patients.csv", "--target", "ill")
    assert ran.code == 2
    assert 'pip install "certus[report]"' in ran.err


# --- how it ends ----------------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_leaves_a_page_of_what_was_finished(tmp_path):
    write_table(tmp_path / "patients.csv", patients(n=1500))
    with process("report", "patients.csv", "--target", "ill", cwd=tmp_path) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith(b"patients.csv: CSV")
        time.sleep(6)  # into the comparison of models, which takes longer
        running.send_signal(signal.SIGINT)
        _out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err.decode()
    assert b"Traceback" not in err
    assert b"the page holds what was finished" in err
    page = json.loads((tmp_path / "patients-report" / "report.json").read_text("utf-8"))
    assert page["unfinished"]
    assert "Ctrl-C" in (tmp_path / "patients-report" / "report.html").read_text("utf-8")


def test_progress_is_one_line_on_a_terminal_and_sparse_elsewhere(monkeypatch):
    class Stream(io.StringIO):
        encoding = "utf-8"

        def __init__(self, is_terminal):
            super().__init__()
            self.is_terminal = is_terminal

        def isatty(self):
            return self.is_terminal

    now = [0.0]
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: now[0])
    for is_terminal in (True, False):
        stream, now[0] = Stream(is_terminal), 0.0
        line = ProgressLine(stream)
        for done in range(100):
            now[0] += 0.5
            line.step("k-NN", done, 100)
        line.close()
        text = stream.getvalue()
        assert text.count("\n") == (0 if is_terminal else 3)
        assert "k-NN · 59 % · about 21 s left" in text
        assert text.endswith("\r" if is_terminal else " left\n")


# --- options --------------------------------------------------------------------------------------


def test_durations_costs_and_names_as_people_write_them():
    assert [seconds_of(t) for t in ("5m", "90s", "1.5h", "45", 30, None)] == [
        300, 90, 5400, 45, 30, None,
    ]  # fmt: skip
    assert cost_of("fp=1, fn=20") == {"cost_false_positive": 1, "cost_false_negative": 20}
    assert names_of("a, b,a") == ("a", "b")
    for wrong in ("fp=1,fn=-2", "fp=1,fn=x", "a=1,b=2", {"fp": 1}):
        with pytest.raises(UsageError, match="fp=1,fn=20"):
            cost_of(wrong)


def test_the_command_of_settings_repeats_them():
    settings = Settings(
        target="y z", drop=("a", "b"), seed=3, show_rows=True, **cost_of("fp=1,fn=2")
    )
    assert command_of(["data.csv"], settings) == (
        "certus report data.csv --target 'y z' --drop a,b --seed 3 --show-rows --cost fp=1,fn=2"
    )


# --- rows of the fit ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_fitted", [30, 80])
def test_a_model_that_was_given_a_sample_verifies_on_its_rows(folder, capfd, n_fitted):
    prepared = prepare(read_table(folder / "patients.csv"), Settings(target="ill"))
    rows = np.sort(np.random.default_rng(1).permutation(prepared.n)[:n_fitted])
    pipeline = pipeline_for(prepared.columns, LogisticRegression())
    pipeline.fit(prepared.X.take(rows), prepared.y[rows])
    result = SimpleNamespace(pipeline=pipeline, rows=rows, certificate=pipeline[-1].certificate_)
    content = model_bytes(prepared, result, Settings(target="ill"), {})
    (folder / "m.certus").write_bytes(content)
    ran = run(capfd, "verify", "m.certus", "patients.csv")
    assert ran.code == 0, ran.out
    assert f"{n_fitted} rows of 90" in ran.err
    assert script_of(prepared, result)[0] is None
    write_table(folder / "patients.csv", patients(n=20))
    ran = run(capfd, "verify", "m.certus", "patients.csv")
    assert ran.code == 3
    assert "give that table" in ran.err
