"""Pages of real reports in a browser: noise, numbers, three classes, 72 × 7,129, a script.

Each is made by ``certus.report`` with a linear model alone; ``cases.py`` has the same by hand.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import certus
from certus.reporting.render import as_json, html, markdown
from tests.report.render.browser import axe, launched, opened
from tests.report.render.reading import PYTHON_TRACES, read
from tests.report.render.test_browser import OPEN_ALL, OUTSIDE, TOO_WIDE

pytestmark = pytest.mark.exhaustive

SCRIPT = "<script>alert(1)</script>"


def table(name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The rows of a report, and its options."""
    rng = np.random.default_rng(0)
    n, p = (72, 7129) if name == "72 × 7,129" else (150, 4)
    X = rng.normal(size=(n, p))
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(p)])
    score = X[:, 0] - X[:, 1] + rng.normal(size=n)
    models = "logistic"
    if name == "numbers":
        frame["y"], models = score, "ridge"
    elif name == "three classes":
        frame["y"] = np.array(["low", "middle", "high"])[np.digitize(score, [-0.7, 0.7])]
    elif name == "noise":
        frame["y"] = np.where(rng.random(n) < 0.4, "yes", "no")
    else:
        frame["y"] = np.where(score > 0, "yes", "no")
    if name == "a script":
        frame = frame.rename(columns={"column 0": SCRIPT})
        frame[f"city {SCRIPT}"] = np.where(rng.random(n) < 0.5, SCRIPT, "Oslo")
    return frame, {"target": "y", "models": models}


NAMES = ("noise", "numbers", "three classes", "72 × 7,129", "a script")


@cache
def content(name: str) -> Any:
    frame, options = table(name)
    return certus.report(frame, **options).content


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_silent_accessible_and_within_its_width(browser, tmp_path: Path, name):
    path = tmp_path / "report.html"
    path.write_text(html.render(content(name)), encoding="utf-8")
    for size, scheme in (("desk", "light"), ("telephone", "dark")):
        with opened(browser, path, size, scheme) as found:
            found.page.evaluate(OPEN_ALL)
            assert found.page.evaluate(TOO_WIDE) <= 0
            assert found.page.evaluate(OUTSIDE) == []
            assert not found.messages
            assert len(found.requests) == 1
            found.page.evaluate(axe())
            checked = found.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            wrong = [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in checked["violations"]]
            assert not wrong


@pytest.mark.parametrize("name", NAMES)
def test_renderings_are_whole_and_hold_no_trace_of_python(name):
    made = content(name)
    page, notes = html.render(made), markdown.render(made)
    assert len(page.encode()) <= 2_000_000
    for text in (read(page).text(("script", "style")), notes):
        assert not re.search(PYTHON_TRACES, text)
    assert "<script>alert" not in page
    assert as_json.render(made) == as_json.render(made)
