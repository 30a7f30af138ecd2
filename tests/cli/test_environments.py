"""The command in the places where people run it: other locales, read-only homes, pipes, Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import HEADER, rows_of, write_csv
from tests.house.source import SOURCE

FIT = ["fit", "patients.csv", "--target", "ill", "--columns", "age,dose"]


def environment_of(**more):
    """The environment of a process that runs the certus of this checkout."""
    return {**os.environ, "PYTHONPATH": str(SOURCE.parent), **more}


def command(*arguments, text=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "certus", *map(str, arguments)],
        input=text, capture_output=True, env=environment_of(**environment), timeout=120,
    )  # fmt: skip


@pytest.mark.costly
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "environment",
    [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "cp1252"},
     {"COLUMNS": "40", "TERM": "dumb"}],
    ids=["C", "cp1252", "narrow"],
)  # fmt: skip
def test_any_terminal_can_show_a_certificate(environment):
    ran = command(*FIT, **environment)
    assert ran.returncode == 0, ran.stderr
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    out = ran.stdout.decode(encoding)
    assert out.startswith("[OK] OPTIMAL")
    assert b"\x1b[" not in ran.stdout + ran.stderr
    if "COLUMNS" in environment:
        assert max(map(len, out.splitlines())) <= 40


def test_a_read_only_home_and_a_path_with_a_space_and_an_umlaut(tmp_path):
    place = tmp_path / "Müller & Söhne"
    place.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o500)
    write_csv(place / "Größe 1.csv", HEADER, rows_of())
    ran = command("fit", place / "Größe 1.csv", "--target", "ill", "--out", place / "mödel.certus",
                  HOME=str(home), PYTHONIOENCODING="ascii")  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (place / "mödel.certus").exists()
    assert not list(home.iterdir())


def test_a_table_may_come_through_a_pipe_and_answers_leave_through_one(folder):
    text = (folder / "patients.csv").read_bytes()
    fitted = command("fit", "-", "--target", "ill", "--out", "m.certus", text=text)
    assert fitted.returncode == 0, fitted.stderr
    shell = f'"{sys.executable}" -m certus predict m.certus - --id city < patients.csv'
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shell} | head -n 2"], capture_output=True, timeout=120,
        env=environment_of(LC_ALL="C", PYTHONIOENCODING="ascii"),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == b'"city","prediction","p_no","p_yes"'
    assert b"Traceback" not in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("folder")
def test_ctrl_c_ends_with_130_and_no_traceback():
    program = (
        "import sys, time\n"
        "from certus.cli import main, tables\n"
        "def wait(path, args):\n"
        "    print('reading', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "tables.read = wait\n"
        f"sys.exit(main({FIT!r}))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, env=environment_of()
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == b"reading\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        rest = running.stderr.read()
    assert running.returncode == 130
    assert rest == b"certus: stopped\n"


def test_without_pyarrow_the_pip_line_is_printed(model):
    program = (
        "import sys\n"
        "sys.modules['pyarrow'] = None\n"
        "from certus.cli import main\n"
        f"commands = [{FIT!r}, ['cluster', 'patients.csv'], ['predict', {model!r}, 'patients.csv'],"
        f" ['verify', {model!r}, 'patients.csv'], ['show', {model!r}]]\n"
        "print([main(c) for c in commands])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment_of(), timeout=120
    )
    assert ran.stdout.splitlines()[-1] == b"[2, 2, 2, 2, 0]", ran.stderr
    assert ran.stderr.count(b'pip install "certus[tables]"') == 4


def test_a_first_fit_compiles_nothing_that_it_does_not_call(folder):
    """In k-means of few columns: one kind of distances, one way to compare rows with centres."""
    program = (
        "import sys\n"
        "from certus.cli import main\n"
        f"code = main({['fit', 'patients.csv', '--model', 'kmeans', '--out', 'k.certus']!r})\n"
        "from certus.kernels._compile import n_signatures\n"
        "print(*n_signatures())\n"
        "sys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
        env=environment_of(NUMBA_CACHE_DIR=str(folder / "kernels")),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    compiled = {name.rpartition(".")[2] for name in ran.stdout.splitlines()[-1].split()}
    assert "_compare_in_lanes" in compiled
    assert not compiled & {"_as_rows", "_by_rows", "_compare_products", "_canberra", "_absolute"}
