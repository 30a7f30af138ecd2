"""Where Dask's tests run: with a client of processes, of threads, and with none."""

import pytest


@pytest.fixture(scope="session")
def dask_client():
    """A client of two processes, which is nobody's default."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(**options, set_as_default=False) as client:
        yield client


@pytest.fixture(params=["workers", "no client"])
def where(request):
    """With the user's client, and with Dask's own scheduler."""
    if request.param == "no client":
        yield None
        return
    with request.getfixturevalue("dask_client").as_current() as client:
        yield client
