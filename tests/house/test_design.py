"""docs/design.md shows the path of a fit and of a verification as they are."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

import certus
from certus.linear_model import LogisticRegression
from tests.contract.problems import classification
from tests.house.source import REPOSITORY, SOURCE

MOST_FILES = 20


def listed(heading: str) -> list[str]:
    """The files of the numbered list after a sentence of the page."""
    text = (REPOSITORY / "docs" / "design.md").read_text(encoding="utf-8")
    after = text.partition(heading)[2]
    assert after, heading
    lines = re.findall(r"^(?:\d+\. `([\w/.]+)`|(\S))", after.partition("\n\n")[2], re.M)
    files = []
    for file, other in lines:
        if other:
            break
        files.append(file)
    return files


@contextmanager
def traced() -> Iterator[list[str]]:
    """Files of certus in the order of the first call in them."""
    files: dict[str, None] = {}

    def first_calls(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(SOURCE)):
            files.setdefault(name[len(str(SOURCE)) + 1 :].replace("\\", "/"))

    found: list[str] = []
    before = sys.getprofile()
    sys.setprofile(first_calls)
    try:
        yield found
    finally:
        sys.setprofile(before)
        found.extend(files)


def fit(X: Any, y: Any) -> None:
    LogisticRegression().fit(X, y)


def verify(X: Any, y: Any) -> None:
    certus.verify(MODEL, X, y)


X, y, _ = classification(0, n=200, p=5)
MODEL = LogisticRegression().fit(X, y)  # modules are loaded before anything is traced


@pytest.mark.parametrize(
    ("heading", "work"),
    [("`LogisticRegression().fit(X, y)` on a small table", fit), ("`certus.verify(model", verify)],
    ids=["fit", "verify"],
)
def test_the_page_lists_the_files_in_the_order_in_which_they_are_met(
    heading: str, work: Callable[[Any, Any], None]
) -> None:
    files = listed(heading)
    assert 5 < len(files) <= MOST_FILES
    with traced() as met:
        work(X, y)
    assert [file for file in met if file in files] == files


def test_rooms_of_the_page_are_those_of_the_source() -> None:
    text = (REPOSITORY / "docs" / "design.md").read_text(encoding="utf-8")
    tree = text.partition("src/certus/\n")[2].partition("```")[0]
    rooms = set(re.findall(r"(?:^|\s)(\w+)/", tree))
    inside = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert inside <= rooms, "a room is missing"
    # rooms whose folders are listed
    described = [SOURCE / "certificate", SOURCE / "reporting", SOURCE / "cli"]
    assert rooms - inside <= {path.name for room in described for path in room.iterdir()}
