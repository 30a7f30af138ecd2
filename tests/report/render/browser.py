"""Chromium on a page from a file: what it says, asks for and looks like.

CERTUS_CHROMIUM          path of the browser, unless it is where Debian puts it
CERTUS_REQUIRE_BROWSER=1  without a browser tests fail; otherwise they are skipped
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SIZES = {"desk": (1280, 800), "telephone": (360, 740)}


def chromium() -> str | None:
    """Path of the browser, or None."""
    named = os.environ.get("CERTUS_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


def missing() -> str | None:
    """What a test with a browser lacks."""
    if chromium() is None:
        return "no Chromium: apt-get install chromium, or set CERTUS_CHROMIUM"
    for module in ("playwright", "axe_playwright_python"):
        if find_spec(module) is None:
            return f"no {module}: pip install axe-playwright-python"
    return None


@contextmanager
def launched() -> Iterator[Any]:
    """Start a browser without a screen."""
    lacking = missing()
    if lacking is not None:
        if os.environ.get("CERTUS_REQUIRE_BROWSER") == "1":
            pytest.fail(lacking)
        pytest.skip(lacking)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Opened:
    """A page in the browser, with what it wrote to the console and asked the network for."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(
    browser: Any, path: Path, size: str = "desk", scheme: str = "light", script: bool = True
) -> Iterator[Opened]:
    """Open a file at a size of the screen, in light or dark, with or without JavaScript."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=script,
    )
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.messages.append(message.text))
    found.page.on("pageerror", lambda error: found.messages.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    try:
        found.page.goto(path.as_uri())
        yield found
    finally:
        context.close()


def axe() -> str:
    """The source of axe-core, from its package on PyPI."""
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
