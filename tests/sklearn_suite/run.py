"""Runs test modules of scikit-learn in a process of their own, without our pytest settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import sklearn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SITE = Path(sklearn.__file__).parents[1]
SECONDS = 3600  # for one module; the plugin stops single tests long before


class DidNotRun(RuntimeError):
    """pytest could not collect or run a module."""


def run(modules: list[str], record: Path, only: list[str]) -> list[dict[str, Any]]:
    """Run ``modules`` (only the tests ``only``, if any), and return a record for each test."""
    record.unlink(missing_ok=True)
    record.touch()
    command = [
        sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini"), "--rootdir", str(SITE),
        "-p", "tests.sklearn_suite.plugin", "--disable-warnings", "--tb=short",
        *[str(SITE / "sklearn" / module) for module in modules],
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            "PYTHONWARNINGS": "default",
            "MPLBACKEND": "agg",
            "SKLEARN_SKIP_NETWORK_TESTS": "1",
            "CERTUS_SUITE_RECORD": str(record.resolve()),
        }
        environment.pop("PYTEST_ADDOPTS", None)
        if only:
            chosen = Path(scratch) / "only.txt"
            chosen.write_text("\n".join(only))
            environment["CERTUS_SUITE_ONLY"] = str(chosen)
        ended = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS
        )
    if ended.returncode not in (0, 1, 5):  # 1: tests failed; 5: there were none
        raise DidNotRun(f"{' '.join(command)}\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}")
    return [json.loads(line) for line in record.read_text().splitlines()]
