"""Fixtures of the tests of Poisson and Gamma regression."""

import pytest

from tests.streams import cut_small


@pytest.fixture(params=[1 << 13, 1 << 15], ids=["8 kB blocks", "32 kB blocks"])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are read in small blocks, so that few rows make many blocks."""
    cut_small(monkeypatch, request.param)
