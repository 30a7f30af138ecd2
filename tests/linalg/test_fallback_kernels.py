"""A kernel that cannot be compiled: NumPy after one warning, or an error that names versions."""

import tomllib
import warnings
from functools import partial
from pathlib import Path

import llvmlite
import numba
import numpy as np
import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from scipy.sparse import random_array

from certus.data.rows import Rows
from certus.kernels import KernelError, _compile, _fallback, compiled_or
from certus.losses import Logistic, Softmax
from certus.solvers.glm import newton, passes, sampled_newton
from certus.solvers.glm.coordinates import coordinates
from certus.solvers.linalg import gram, sparse_sums
from certus.solvers.lssvm import kernel, tridiagonal
from certus.solvers.mixture import em
from tests.linalg.kernel_programs import printed

FIRST, LAST = _compile.TESTED_NUMBA_VERSIONS
VERSIONS = (
    f"certus is tested with Numba {FIRST} to {LAST}; installed are "
    f"Numba {numba.__version__} and llvmlite {llvmlite.__version__}."
)


@pytest.fixture(autouse=True)
def nothing_has_failed(monkeypatch):
    monkeypatch.setattr(_fallback, "_failed", set())


# ----------------------------------------------------------------------------- Numba's own failure

# llvmlite without the instructions that the intrinsics are written in. Numba reports this while it
# compiles, for kernels that use them and for kernels that call such kernels.
BROKEN = """
    import warnings
    import numpy as np
    from certus.kernels._vectors import Emitter

    def gone(self, *args, **kwargs):
        raise AttributeError("'IRBuilder' object has no attribute 'load'")

    Emitter.load = Emitter.bits = gone
    rng = np.random.default_rng(0)
"""

WITH_TWIN = """
    from certus.kernels import _fallback
    from certus.linear_model import LinearRegression, LogisticRegression

    X = rng.normal(size=(22_000, 80))
    y = X @ rng.normal(size=80) + rng.normal(size=len(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = LinearRegression().fit(X, y)
        curve = LogisticRegression().fit(X, y > 0)
    found = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y)[0]
    np.testing.assert_allclose(line.coef_, found[:-1], rtol=1e-10, atol=1e-12)
    print(line.certificate_.status, curve.certificate_.status, sep=";", end=";")
    print(*sorted(f.__name__ for f in _fallback._failed), sep=",", end=";")
    print(*(f"{w.category.__name__}: {w.message}" for w in caught), sep=";")
"""

WITHOUT_TWIN = """
    from certus.kernels import KernelError
    from certus.linear_model import PenalizedClassifier
    from certus.solvers import SGD

    X = rng.normal(size=(200, 4))
    try:
        PenalizedClassifier(solver=SGD()).fit(X, X[:, 0] > 0)
    except KernelError as error:
        print(error)
"""


def test_a_kernel_with_a_twin_warns_once_and_numpy_gives_the_answer(tmp_path):
    parts = " ".join(printed(BROKEN + WITH_TWIN, NUMBA_CACHE_DIR=tmp_path)).split(";", 3)
    assert parts[:2] == ["optimal", "optimal"]
    assert {"_compiled_pass", "_single_score_sums_compiled"} < set(parts[2].split(",")), (
        "several kernels failed"
    )
    warned = parts[3]
    assert warned.count("RuntimeWarning") == 1
    assert "has no attribute 'load'" in warned
    assert VERSIONS in warned
    assert warned.endswith(
        "NumPy is used where it can be, which gives the same answers more slowly."
    )


def test_a_kernel_without_a_twin_names_the_versions(tmp_path):
    text = " ".join(printed(BROKEN + WITHOUT_TWIN, NUMBA_CACHE_DIR=tmp_path))
    assert "certus.kernels." in text
    assert "cannot be compiled" in text
    assert VERSIONS in text


def test_an_error_of_the_compiler_keeps_its_cause(monkeypatch):
    @_compile.kernel
    def wrong(x):
        return x.no_such_attribute

    monkeypatch.setattr(_compile, "_kernels", [k for k in _compile._kernels if k is not wrong])
    with pytest.raises(KernelError, match=r"test_fallback_kernels\.wrong cannot be") as caught:
        wrong(1.0)
    assert isinstance(caught.value.__cause__, numba.core.errors.TypingError)


# --------------------------------------------------------------------------------- the one decision


def failing(_):
    raise KernelError("no.")


def test_a_failed_kernel_is_not_tried_again_and_the_process_warns_once():
    calls = []

    def another(x):
        calls.append(x)
        raise KernelError("none either.")

    with pytest.warns(RuntimeWarning, match=r"^no\. NumPy is used"):
        assert compiled_or(failing, lambda x: x + 1)(1) == 2
    either = compiled_or(another, lambda x: -x)
    assert [either(1), either(2)] == [-1, -2]
    assert calls == [1]
    assert compiled_or(another, abs) is abs


def test_errors_that_are_not_of_the_compiler_are_not_hidden():
    def wrong(_x):
        raise ValueError("X does not fit")

    with pytest.raises(ValueError, match="does not fit"):
        compiled_or(wrong, abs)(1)
    assert not _fallback._failed


def test_a_compiler_that_cannot_be_imported_counts_as_one_that_fails():
    program = """
        import sys, warnings
        import numpy as np
        from certus.linear_model import LinearRegression

        sys.modules["numba"] = None
        X = np.random.default_rng(0).normal(size=(22_000, 80))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(LinearRegression().fit(X, X[:, 0] + X[:, 1] ** 2).certificate_.status)
        print(*(w.message for w in caught))
    """
    text = " ".join(printed(program))
    assert text.startswith("optimal Compiled kernels cannot be imported (ModuleNotFoundError")
    assert text.count("Compiled kernels") == 1


def test_pyproject_and_the_error_name_the_same_versions():
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    (numbas,) = (d for d in project["dependencies"] if d.startswith("numba"))
    first, last = map(Version, _compile.TESTED_NUMBA_VERSIONS)
    allowed = SpecifierSet(numbas.removeprefix("numba"))
    after = f"{last.major}.{last.minor + 1}"
    assert set(map(str, allowed)) == {f">={first}", f"<{after}"}
    assert Version(numba.__version__) in allowed


# --------------------------------------------------------------------------- twins, pair after pair


@pytest.fixture
def block(rng):
    X = rng.normal(size=(120, 7))
    return X, rng.integers(0, 2, 120) * 2.0 - 1, rng.random(120), rng.normal(size=(7, 1))


def same(compiled, twin):
    for one, other in zip(compiled, twin, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


def test_twins_of_gram_sums_agree(block):
    X, y, s, _ = block
    rows = Rows(X, y[:, None], s, threads=1)
    args = rows, np.full(7, 0.5), np.zeros(1), None
    same(gram._compiled_pass(*args), gram._numpy_pass(*args))
    d, slope, shift = s + 0.1, y * s, np.full(7, 0.25)
    (g, H), (g2, H2) = (
        f(X, d, slope, shift)
        for f in (newton._single_score_sums_compiled, newton._single_score_sums)
    )
    same((g, np.triu(H[0, 0])), (g2, np.triu(H2[0, 0])))


@pytest.mark.parametrize("weighted", [True, False])
def test_twins_of_the_logistic_loss_agree(block, weighted):
    X, y, s, u = block
    s, beta, loss = (s if weighted else None), np.array([0.3]), Logistic()
    at = coordinates(Rows(X, y[:, None], threads=1), False)
    states = np.empty(120), np.empty(120)
    twins = passes._logistic_kernel_block, passes._first_order_block
    same(*(f(X, y[:, None], s, d, loss, at, u, beta) for f, d in zip(twins, states, strict=True)))
    same(*[[d] for d in states])
    twin = partial(passes._curvature_block_of_one_score, at)
    same(*(f(X, None, states[0], u, beta) for f in (passes._dense_rows, twin)))
    twins = sampled_newton._block_compiled, sampled_newton._block
    same(*(f(X, y[:, None], s, loss, at, u, beta) for f in twins))


def test_twins_of_the_softmax_loss_agree(block, rng):
    X, _, s, _ = block
    y, u, beta = rng.integers(0, 3, (120, 1)).astype(float), rng.normal(size=(7, 3)), np.ones(3)
    at, loss = coordinates(Rows(X, y, threads=1), False), Softmax()
    states = np.empty((120, 3)), np.empty((120, 3))
    twins = passes._softmax_kernel_block, passes._first_order_block
    same(*(f(X, y, s, d, loss, at, u, beta) for f, d in zip(twins, states, strict=True)))
    same(*[[d] for d in states])
    twins = passes._softmax_curvature, passes._curvature_block
    same(*(f(X, y, s, states[0], loss, at, u, beta) for f in twins))


def test_twins_of_sparse_sums_agree(block, rng):
    _, y, s, u = block
    X = random_array((120, 7), density=0.3, rng=rng, format="csr")
    X.sort_indices()
    Y = y[:, None]
    for name, args in (
        ("_column_sums", (Y, s, Y.mean(axis=0))),
        ("_normal_product", (Y, s, u, None)),
        ("_normal_product", (None, s, u, np.ones((1, 1)))),
    ):
        compiled, twin = getattr(sparse_sums, f"{name}_compiled"), getattr(sparse_sums, name)
        same(compiled(X, *args), twin(X, *args))
    (G,), (G2,) = sparse_sums._pairs_compiled(X, Y, s), sparse_sums._pairs(X, Y, s)
    same([np.triu(G)], [np.triu(G2)])
    same([passes._compiled_times(X, u)], [passes._times(X, u)])
    totals = np.ones((7, 1)), np.ones((7, 1))
    passes._compiled_add(X, Y, totals[0])
    passes._add(X, Y, totals[1])
    same([totals[0]], [totals[1]])


def test_twins_of_shares_and_of_kernel_machines_agree(rng):
    a, s = rng.normal(size=(3, 50)), rng.random(50)
    twins = em._compiled_responsibilities, em.responsibilities
    same(*(f(a.copy(), s, 0.5) for f in twins))
    T, U = (-a * a).copy(), (-a * a).copy()
    kernel._compiled_exp(T)
    kernel._exp(U)
    same([T], [U])
    q, l, inverse = rng.normal(size=(9, 9)), rng.normal(size=(2, 9)), rng.random((2, 9))
    same(*([f(q, l, inverse)] for f in (tridiagonal._compiled_sums, tridiagonal._sums)))


def test_gaussians_that_cannot_be_compiled_are_computed_by_differences(monkeypatch):
    from certus.kernels.mixture import gaussians
    from certus.mixture import GaussianMixture
    from certus.solvers.mixture import densities

    def refuse():
        raise KernelError("no.")

    X = np.random.default_rng(0).normal(size=(400, 3))
    monkeypatch.setattr(densities, "MIN_COMPILED_MULTIPLICATIONS", 0)
    expected = GaussianMixture(2, random_state=0, tol=1e-8, max_iter=500).fit(X).score(X)
    monkeypatch.setattr(gaussians, "warm", refuse)
    with pytest.warns(RuntimeWarning, match="NumPy is used"):
        found = GaussianMixture(2, random_state=0, tol=1e-8, max_iter=500).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.score(X) == pytest.approx(expected, rel=1e-9)
