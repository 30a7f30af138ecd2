"""Fixtures of the tests on streamed rows."""

import pytest

from tests.streams import cut_small, watch_blocks


@pytest.fixture(params=[1 << 13, 1 << 15], ids=["8 kB blocks", "32 kB blocks"])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Rows are read in small blocks, so that few rows make many blocks."""
    cut_small(monkeypatch, request.param)
    return int(request.param)


@pytest.fixture
def pure_blocks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Functions of blocks are pickled before each call, and return nothing of their arguments."""
    cut_small(monkeypatch, 1 << 14)
    return watch_blocks(monkeypatch)
