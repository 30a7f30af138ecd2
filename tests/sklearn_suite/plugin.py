"""The pytest plugin: certus's classes in scikit-learn's test modules, and a record of every test.

``CERTUS_SUITE_RECORD`` names the file that gets one line of JSON for each test;
``CERTUS_SUITE_ONLY`` one that holds the tests to run (all without it).
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import swap

SECONDS = 300  # a test that takes longer has failed
OF_ONE_ESTIMATOR = (
    "tests/test_common.py",
    "linear_model/tests/test_common.py",
)  # their tests are run for each estimator that there is

_pairs: dict[Any, Any] = {}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    swap.import_everything()
    _pairs.update(swap.shared())
    swap.packages_hold(_pairs)
    swap.checks_know(_pairs)
    with swap.private_modules_hold(_pairs):
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = os.environ.get("CERTUS_SUITE_ONLY")
    only = set(Path(chosen).read_text().splitlines()) if chosen else None
    kept, left = [], []
    for item in items:
        wanted = only is None or title(item) in only
        if title(item).startswith(OF_ONE_ESTIMATOR):
            wanted = wanted and _is_about_ours(item)
        (kept if wanted else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def title(item: pytest.Item) -> str:
    """Return ``linear_model/tests/test_ridge.py::test_name[parameters]``."""
    return item.nodeid.split("sklearn/", 1)[-1]


def _is_about_ours(item: pytest.Item) -> bool:
    ours = tuple(value for value in _pairs.values() if isinstance(value, type))
    call = getattr(item, "callspec", None)
    values = call.params.values() if call else ()
    return any(
        isinstance(value, ours) or (isinstance(value, type) and issubclass(value, ours))
        for value in values
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"the test took over {SECONDS} s")

    swap.Uses.count = int(_is_about_ours(item))
    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    report = yield
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        line = {
            "test": title(item),
            "outcome": "expected by scikit-learn"
            if hasattr(report, "wasxfail")
            else report.outcome,
            "uses": swap.Uses.count,
            "seconds": round(report.duration, 2),
            "message": (crash.message if crash else str(report.longrepr or ""))[:600],
            "time": time.time(),
        }
        with open(os.environ["CERTUS_SUITE_RECORD"], "a") as file:
            file.write(json.dumps(line) + "\n")
    return report
