"""Fixtures that many tests share. Generators of data are functions in ``problems.py``."""

import signal
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_info

import certus
from certus.data import rows
from tests.tiers import mark_exhaustive

# the same examples in every run, however busy the machine is
settings.register_profile(
    "certus", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("certus")


@pytest.hookimpl(tryfirst=True)  # before markers are selected by
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_exhaustive(items)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard() -> None:
    """A shell that starts pytest in the background tells it to ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240501)


@pytest.fixture
def small_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are used for any number of elements, not only where they pay."""
    monkeypatch.setattr(rows, "SMALL_WORK", 0)


@pytest.fixture
def patch_everywhere(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace a function, or several, under every name that a module of certus knows them by."""

    def patch(*old: Any, new: Any) -> None:
        missing = {id(function): function for function in old}
        wanted = set(missing)
        for title, module in list(sys.modules.items()):
            if title.split(".")[0] == "certus" and isinstance(module, ModuleType):
                for name, value in list(vars(module).items()):
                    if id(value) in wanted:
                        missing.pop(id(value), None)
                        monkeypatch.setattr(module, name, new)
        assert not missing, f"nowhere: {list(missing.values())}"

    return patch


@pytest.fixture
def blas_as_before() -> Iterator[None]:
    """The test must leave BLAS with the threads that it found."""
    import scipy.linalg  # noqa: F401  its OpenBLAS copy is then counted on both sides

    before = blas_threads()
    yield
    assert blas_threads() == before


def blas_threads() -> dict[str, int]:
    return {
        library["filepath"]: library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }


@pytest.fixture(autouse=True)
def settings_as_before() -> Iterator[None]:
    before = certus.get_config()
    yield
    after = certus.get_config()
    certus.set_config(**before)
    assert after == before, "the test changed the process-wide settings"
