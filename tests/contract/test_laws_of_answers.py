"""The laws of ``laws.py``, over the answers of every estimator that is no linear model."""

import inspect
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import certus
from certus.runtime import pool
from tests.contract.families.answers import Case, Change, assert_same, assert_same_bits
from tests.contract.laws import ANSWERS, ESTIMATORS, LAWS, keeping
from tests.contract.problems import weights

SEEDS = range(2)


@contextmanager
def expected_warnings(case: Case):
    """Warnings that a case's data deserve; all others stay errors."""
    with warnings.catch_warnings():
        for category in case.warns:
            warnings.simplefilter("ignore", category)
        yield


def fit(case, sample):
    with expected_warnings(case):
        return sample, case.fit(sample)[1]


def weighted(case, seed, n=None):
    """A sample with weights, where the estimator takes them."""
    sample = case.draw(seed, n)
    if not case.takes_weights:
        return sample
    return replace(sample, s=weights(seed, len(sample.X)))


def law(name):
    """Over the estimators that keep a law."""
    return pytest.mark.parametrize("case", keeping(name, ANSWERS), ids=str)


def public_estimators():
    """Names of every estimator that a public module of certus exports."""
    modules = [getattr(certus, name) for name in certus.__all__]
    exported = [
        getattr(module, name)
        for module in modules
        if inspect.ismodule(module)
        for name in module.__all__
    ]
    return {
        item.__name__
        for item in exported
        if inspect.isclass(item) and issubclass(item, BaseEstimator)
    }


def test_every_public_estimator_is_in_the_table():
    listed = {type(case.make()).__name__ for case in (*ESTIMATORS, *ANSWERS)}
    assert listed == public_estimators()


@pytest.mark.parametrize("case", ANSWERS, ids=str)
def test_every_exemption_is_from_a_law_and_says_why(case):
    assert set(case.exempt) <= set(LAWS)
    for reason in case.exempt.values():
        assert len(reason.split()) >= 4


@pytest.mark.parametrize("case", ANSWERS, ids=str)
def test_an_estimator_without_weights_is_one_whose_fit_takes_none(case):
    takes = "sample_weight" in inspect.signature(type(case.make()).fit).parameters
    assert case.takes_weights == takes


@law("shift")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("power", [3, None], ids=["near", "far"])
def test_a_shift_of_the_columns_moves_only_what_lies_among_them(case, seed, power):
    sample = weighted(case, seed)
    largest = 2.0 ** (case.far if power is None else power)
    c = -np.rint(largest * np.linspace(0.5, 1, sample.X.shape[1]))
    there, here = fit(case, sample.on_rows(lambda X: X + c)), fit(case, sample)
    assert_same(there, here, case.rtol, Change(shift=c))


@law("scale X")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("c", [2.0**-20, 3.0, 1e6])
def test_parts_of_an_answer_have_the_unit_of_x(case, seed, c):
    sample = weighted(case, seed)
    there, here = fit(case, sample.on_rows(lambda X: c * X, unit=c)), fit(case, sample)
    assert_same(there, here, case.rtol, Change(unit=c))


@law("permute rows")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_does_not_matter(case, seed):
    sample = weighted(case, seed)
    order = np.random.default_rng(seed).permutation(len(sample.X))
    assert_same(fit(case, sample.take(order)), fit(case, sample), case.rtol)


@law("permute columns")
@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_an_answer_follow_their_columns(case, seed):
    sample = weighted(case, seed)
    order = np.roll(np.random.default_rng(seed).permutation(sample.X.shape[1]), 1)
    there, here = fit(case, sample.on_rows(lambda X: X[:, order])), fit(case, sample)
    assert_same(there, here, case.rtol, Change(columns=order))


@law("weight is repetition")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_weight_is_a_row_repeated(case, seed):
    sample = case.draw(seed)
    s = np.random.default_rng(seed).integers(1, 4, size=len(sample.X))
    repeated = sample.take(np.repeat(np.arange(len(s)), s))
    there, here = fit(case, replace(sample, s=s.astype(float))), fit(case, repeated)
    assert_same(there, here, case.rtol)


@law("zero weight")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("value", [None, 0.0, 1e6, 1e12, 1e100], ids=str)
def test_a_row_of_weight_zero_is_absent_whatever_it_holds(case, seed, value):
    sample = weighted(case, seed)
    sample.s[1::4] = 0
    kept = sample.s > 0
    spoiled = sample
    if value is not None:
        y = None if sample.y is None else np.where(kept, sample.y, np.roll(sample.y, 1))
        X = np.where(kept[:, None], sample.X, min(value, case.largest))
        spoiled = replace(sample, X=X, y=y)
    there, here = fit(case, spoiled), fit(case, sample.take(np.flatnonzero(kept)))
    assert_same(there, here, case.rtol)


@law("scale weights")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("c", [2.0**-20, 7.0, 1e6])
def test_weights_count_relative_to_each_other_and_to_the_penalty(case, seed, c):
    sample = weighted(case, seed)
    there, here = fit(case, replace(sample, s=c * sample.s, heft=c)), fit(case, sample)
    assert_same(there, here, case.rtol, Change(heft=c))


@pytest.mark.parametrize("case", [case for case in ANSWERS if case.takes_weights], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_one_are_no_weights(case, seed):
    sample = case.draw(seed)
    there = fit(case, replace(sample, s=np.ones(len(sample.X))))
    assert_same(there, fit(case, sample), case.rtol)


@law("float32")
@pytest.mark.parametrize("seed", SEEDS)
def test_float32_data_are_the_same_numbers(case, seed):
    sample = weighted(case, seed)
    if "shift" not in case.exempt:  # digits that only float32 rounds away
        sample = sample.on_rows(lambda X: X + 0.1)
    narrow = sample.on_rows(lambda X: X.astype(np.float32))
    wide = narrow.on_rows(lambda X: X.astype(float))
    assert_same(fit(case, narrow), fit(case, wide), case.rtol_float32)


def small_blocks(case, block, monkeypatch):
    """Blocks of about ``block`` rows in Rows, and as few numbers in those of a family's own."""
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 8 * block)
    monkeypatch.setattr(
        "certus.data.rows.Rows.block_rows", lambda self, least=256, columns=None: block
    )
    for name in case.blocks:
        monkeypatch.setattr(name.replace(":", "."), 4 * block)


@pytest.mark.costly
@law("threads")
@pytest.mark.parametrize("threads", [2, 3])
def test_the_same_bits_on_any_number_of_threads(case, threads, monkeypatch):
    shared = []
    on_several = pool._SharedRun

    def run(task, count, among):
        shared.extend([count] if count > 1 else [])
        return on_several(task, count, among)

    monkeypatch.setattr(pool, "_SharedRun", run)
    monkeypatch.setattr("certus.data.rows.SMALL_WORK", 0)  # threads, whether they pay or not
    small_blocks(case, 7, monkeypatch)
    sample = weighted(case, 0, case.large)
    answers = []
    for count in (1, threads):
        with certus.config_context(threads=count):
            answers.append(fit(case, sample)[1])
        assert bool(shared) == (count > 1), "no work was shared out: the law was not put to a test"
    assert_same_bits(answers[1], answers[0])


@pytest.mark.costly
@law("block size")
@pytest.mark.parametrize("block", [7, 64, 10**9])
def test_the_size_of_blocks_changes_only_rounding(case, block, monkeypatch):
    sample = weighted(case, 0, case.large)  # the least block of some families has 128 rows
    here = fit(case, sample)
    small_blocks(case, block, monkeypatch)
    assert_same(fit(case, sample), here, case.rtol)
