"""Settings: of the process, of a context, of one fit."""

import threading

import pytest

import certus
from certus.data import rows
from certus.linear_model import LinearRegression
from certus.runtime import config
from certus.runtime.config import effective_threads
from tests.contract.problems import regression

pytestmark = pytest.mark.usefixtures("small_work_too")


class Unforeseen(Exception):
    pass


def test_settings_are_read_changed_and_put_back():
    assert certus.get_config() == {"threads": None}
    with certus.config_context(threads=2):
        assert certus.get_config() == {"threads": 2}
        with certus.config_context(threads=None):
            assert certus.get_config() == {"threads": None}
        assert certus.get_config() == {"threads": 2}
        with certus.config_context():
            assert certus.get_config() == {"threads": 2}
    assert certus.get_config() == {"threads": None}


def test_a_context_is_left_by_an_error_too():
    with pytest.raises(Unforeseen), certus.config_context(threads=2):
        raise Unforeseen
    assert certus.get_config()["threads"] is None


def test_process_wide_settings_hold_in_every_thread():
    seen = []
    try:
        certus.set_config(threads=3)
        thread = threading.Thread(target=lambda: seen.append(certus.get_config()["threads"]))
        thread.start()
        thread.join()
    finally:
        certus.set_config(threads=None)
    assert seen == [3]


def test_a_context_belongs_to_its_thread():
    seen = []
    with certus.config_context(threads=5):
        thread = threading.Thread(target=lambda: seen.append(certus.get_config()["threads"]))
        thread.start()
        thread.join()
    assert seen == [None]


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two", True])
def test_threads_that_are_no_number_of_threads_are_refused(bad):
    for change in (certus.set_config, lambda **s: certus.config_context(**s).__enter__()):
        with pytest.raises(ValueError, match=f"threads={bad!r}: give a whole number from 1 up"):
            change(threads=bad)
    assert certus.get_config() == {"threads": None}


def test_a_setting_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(TypeError, match="no setting 'thread'; there is 'threads'"):
        certus.set_config(thread=2)
    with pytest.raises(TypeError), certus.config_context(cores=2):
        pass


def test_the_settings_that_are_read_are_a_copy():
    certus.get_config()["threads"] = 7
    assert certus.get_config() == {"threads": None}


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 4), (1, 1), (3, 3), (9, 4), (-1, 4), (-2, 3), (-9, 1)]
)
def test_n_jobs_lowers_the_threads_of_one_fit(n_jobs, threads):
    with certus.config_context(threads=4):
        assert effective_threads(n_jobs) == threads


@pytest.mark.parametrize(
    ("setting", "threads"), [("1", 1), ("", 8), ("99", 8), ("many", 8), ("0", 8)]
)
def test_the_share_of_cores_that_a_scheduler_grants_is_respected(setting, threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    config._cores.cache_clear()
    try:
        assert effective_threads() == threads
    finally:
        config._cores.cache_clear()


def test_a_fit_uses_no_more_threads_than_allowed(monkeypatch):
    monkeypatch.undo()
    requested = []

    def note(task, count, threads):
        requested.append(threads)
        for i in range(count):
            task(i)

    monkeypatch.setattr(rows, "run_on_threads", note)
    X, y, _ = regression(0, n=200_000, p=4)
    with certus.config_context(threads=3):
        LinearRegression().fit(X, y)
        assert max(requested) == 3
        requested.clear()
        LinearRegression(n_jobs=1).fit(X, y)
        assert set(requested) == {1}
        requested.clear()
        LinearRegression().fit(X[:50], y[:50])
        assert set(requested) <= {1}, "tiny data are not worth a thread"
