"""A fixed part of the fuzz campaign of the loader."""

import pytest

from tests.model_files import fuzz


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_and_nothing_else(seed):
    counts = fuzz.run(200, seed=1000 + seed)
    assert counts["refused"] > 100


@pytest.mark.exhaustive
def test_more_damaged_files():
    counts = fuzz.run(10_000, seed=1, seconds=90)
    assert counts["refused"] > 0
