"""docs/in-ci.md: its test file passes, and its job runs commands that exist."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from skops import io

from certus.cli import main
from tests.house.source import REPOSITORY, SOURCE

PAGE = (REPOSITORY / "docs" / "in-ci.md").read_text("utf-8")


def block(language: str) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)[0]


def test_the_test_file_of_the_page_passes(tmp_path):
    (tmp_path / "test_models.py").write_text(block("python"), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_models.py"]
    ran = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(SOURCE.parent)}, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout


def test_the_commands_of_the_job_run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(
        "a,b,y\n" + "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(50)), encoding="utf-8"
    )
    assert main(shlex.split("fit data.csv --target y --model ridge --out model.certus")) == 0
    rows = np.loadtxt("data.csv", delimiter=",", skiprows=1)
    model = Ridge().fit(pd.DataFrame(rows[:, :2], columns=["a", "b"]), rows[:, 2])
    io.dump(model, "model.skops")
    commands = re.findall(r"run: certus (.*)$", block("yaml"), re.M)
    assert len(commands) == 2
    for command in commands:
        capfd.readouterr()
        assert main(shlex.split(command.partition(" > ")[0])) == 0
        assert "optimal" in capfd.readouterr().out.lower()
    assert "Optimal" in (tmp_path / "audit.html").read_text("utf-8")
