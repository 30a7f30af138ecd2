"""The compiled Gram kernel: equal to its definition, the same bits every time, kept on disk."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

from certus.kernels import _compile, _vectors
from certus.kernels.gram import _tiles
from certus.kernels.gram.weighted import gram_sums, mirror

P = (1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 129)
CHUNK = _tiles.CHUNK
N = (1, 5, CHUNK - 1, CHUNK, CHUNK + 1, 255, 256, 257, 1000)
# Three blocks of strips in each direction, the last one ragged.
MANY = 2 * _tiles.BLOCK * _tiles.LANES + 11


def c_order(X):
    return X


def fortran_order(X):
    return np.asfortranarray(X)


def rows_of_fortran_order(X):
    return np.asfortranarray(np.vstack([X, X]))[: len(X)]


def every_other_column(X):
    return np.repeat(X, 2, axis=1)[:, ::2]


def backwards(X):
    return X[::-1, ::-1].copy()[::-1, ::-1]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def misaligned(X):
    memory = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
    view = memory.view(X.dtype).reshape(X.shape)
    view[...] = X
    assert not view.flags.aligned
    return view


LAYOUTS = (
    c_order,
    fortran_order,
    rows_of_fortran_order,
    every_other_column,
    backwards,
    read_only,
    misaligned,
)


def block(n, p, k=2, dtype=np.float64, seed=0):
    """X, Y, s, cx, cy with columns of different size and place, and some weights zero."""
    rng = np.random.default_rng([seed, n, p, k])
    X = (rng.normal(size=(n, p)) * np.geomspace(1e-3, 1e3, p) + rng.normal(size=p)).astype(dtype)
    s = rng.random(n) * (rng.random(n) < 0.9)
    return X, rng.normal(size=(n, k)), s, rng.normal(size=p), rng.normal(size=k)


def zeros(p, k):
    return [np.zeros((p, p)), np.zeros(p), np.zeros(k), np.zeros((p, k)), np.zeros(k)]


def sums(X, Y, s, cx, cy):
    """G, sx, sy, Xy, yy with the whole of G."""
    outputs = zeros(X.shape[1], Y.shape[1])
    gram_sums(X, Y, s, cx, cy, *outputs)
    mirror(outputs[0])
    return outputs


def definition(X, Y, s, cx, cy):
    s = s if len(s) else np.ones(len(X))
    X, Y = X.astype(np.float64) - cx, Y - cy
    sX = s[:, None] * X
    return sX.T @ X, sX.sum(axis=0), s @ Y, sX.T @ Y, s @ Y**2


def assert_equal_sums(X, Y, s, cx, cy, outputs):
    """To 1e-13 of the sum of absolute values: a bound which cancellation cannot loosen."""
    weights = s if len(s) else np.ones(len(X))
    sizes = definition(np.abs(X.astype(np.float64) - cx), np.abs(Y - cy), weights, 0 * cx, 0 * cy)
    expected = definition(X, Y, s, cx, cy)
    names = ("G", "sx", "sy", "Xy", "yy")
    for name, got, want, size in zip(names, outputs, expected, sizes, strict=True):
        assert np.all(np.abs(got - want) <= 1e-13 * size), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", P)
def test_sums_equal_their_definition_for_any_shape(p, dtype):
    for n in N:
        for weighted in (True, False):
            X, Y, s, cx, cy = block(n, p, k=1, dtype=dtype)
            s = s if weighted else np.empty(0)
            assert_equal_sums(X, Y, s, cx, cy, sums(X, Y, s, cx, cy))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_have_the_same_bits_in_any_layout(layout, dtype):
    for n, p in ((1, 1), (5, 33), (257, 17), (1000, 100)):
        X, Y, s, cx, cy = block(n, p, dtype=dtype)
        expected = sums(X, Y, s, cx, cy)
        for got, want in zip(sums(layout(X), Y, s, cx, cy), expected, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("k", [0, 1, 2, 7, 8, 9, 40])
def test_any_number_of_targets(k):
    for p in (3, 8, 47, 64):
        data = block(300, p, k=k)
        assert_equal_sums(*data, sums(*data))


def test_more_columns_than_a_cache_block():
    data = block(200, MANY)
    assert_equal_sums(*data, sums(*data))


def test_no_rows_add_nothing_and_no_columns_still_sum_y():
    for output in sums(*block(0, 5)):
        assert not output.any()
    X, Y, s, cx, cy = block(300, 0)
    assert_equal_sums(X, Y, s, cx, cy, sums(X, Y, s, cx, cy))


@pytest.mark.parametrize("p", [1, 8, 17, 37, 64])
def test_memory_around_the_arrays_is_neither_written_nor_used(p):
    rng = np.random.default_rng(p)
    guard = 1_000

    def guarded(array):
        memory = np.full(array.size + 2 * guard, np.nan)
        inside = memory[guard:-guard].reshape(array.shape)
        inside[...] = array
        return memory, inside

    inputs = block(165, p)
    outputs = [guarded(rng.normal(size=a.shape)) for a in zeros(p, 2)]
    before = [inside.copy() for _, inside in outputs]
    gram_sums(*(guarded(a)[1] for a in inputs), *(inside for _, inside in outputs))
    for memory, _ in outputs:
        assert np.isnan(memory[:guard]).all()
        assert np.isnan(memory[-guard:]).all()
    added = [inside - old for (_, inside), old in zip(outputs, before, strict=True)]
    mirror(added[0])
    for got, want in zip(added, definition(*inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-8)


def test_sums_are_added_to_what_the_outputs_hold():
    X, Y, s, cx, cy = block(500, 37)
    outputs = zeros(37, 2)
    for rows in (slice(0, 200), slice(200, 500)):
        gram_sums(X[rows], Y[rows], s[rows], cx, cy, *outputs)
    mirror(outputs[0])
    assert_equal_sums(X, Y, s, cx, cy, outputs)


def test_weight_two_equals_a_repeated_row():
    X, Y, _, cx, cy = block(100, 20)
    twice = sums(np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), np.empty(0), cx, cy)
    assert_equal_sums(X, Y, np.full(100, 2.0), cx, cy, twice)


def test_float32_is_summed_in_float64():
    n = 3_000
    X = np.full((n, 1), 1 + 2.0**-20, dtype=np.float32)
    G = sums(X, np.zeros((n, 1)), np.empty(0), np.zeros(1), np.zeros(1))[0]
    assert abs(G[0, 0] / (n * (1 + 2.0**-20) ** 2) - 1) < 1e-14  # float32 sums: 1e-6


def test_same_bits_again_and_from_two_threads_at_once():
    data = [block(3_000, 100, seed=1), block(3_000, 100, seed=2)]
    alone = [sums(*d) for d in data]
    together: list = [None, None]
    barrier = threading.Barrier(2)

    def work(i):
        barrier.wait()
        together[i] = [sums(*data[i]) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, repeats in zip(alone, together, strict=True):
        for got in repeats:
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (299, 36), (160, 7), (3, 24)])
def test_one_bad_value_shows_in_its_column_and_in_no_other(bad, row, column):
    for layout in (c_order, fortran_order):
        X, Y, s, cx, cy = block(300, 37)
        s[:] = 1.0
        X[row, column] = bad
        G, sx, sy, Xy, yy = sums(layout(X), Y, s, cx, cy)
        marked = np.arange(37) == column
        np.testing.assert_array_equal(~np.isfinite(np.diagonal(G)), marked)
        np.testing.assert_array_equal(~np.isfinite(sx), marked)
        np.testing.assert_array_equal(~np.isfinite(Xy).any(axis=1), marked)
        assert np.isfinite(sy).all()
        assert np.isfinite(yy).all()


def test_no_compiler_flag_assumes_that_numbers_are_finite():
    for flags in (_compile.OPTIONS["fastmath"], _vectors.FUSE):
        assert set(flags) <= {"reassoc", "contract"}


def test_a_bad_target_shows_in_its_own_sums():
    X, Y, s, cx, cy = block(300, 37)
    Y[17, 1] = np.nan
    G, sx, sy, Xy, yy = sums(X, Y, s, cx, cy)
    assert np.isfinite(G).all()
    assert np.isfinite(sx).all()
    for of_y in (sy, Xy, yy):
        np.testing.assert_array_equal(np.isnan(of_y).any(axis=tuple(range(of_y.ndim - 1))), [0, 1])


def test_mirror_copies_the_upper_triangle_whatever_is_below():
    upper = np.arange(49.0).reshape(7, 7)
    expected = np.triu(upper) + np.triu(upper, 1).T
    for size in (1, 3, 256):
        G = upper + np.tril(np.full((7, 7), np.nan), -1)
        mirror(G, block=size)
        np.testing.assert_array_equal(G, expected)


def test_arguments_that_do_not_fit_are_refused():
    X, Y, s, cx, cy = block(20, 5)
    good = zeros(5, 2)
    for changed in ((X, Y[1:], s, cx, cy), (X, Y, s[1:], cx, cy), (X, Y, s, cx[1:], cy)):
        with pytest.raises(ValueError, match="do not match"):
            gram_sums(*changed, *good)
    frozen = np.zeros((5, 5))
    frozen.flags.writeable = False
    for G in (np.zeros((4, 4)), np.zeros((5, 5), np.float32), np.zeros((5, 10))[:, ::2], frozen):
        with pytest.raises(ValueError, match="writable C-order float64 output of shape"):
            gram_sums(X, Y, s, cx, cy, G, *good[1:])
    for dtype in (np.int64, np.float16, ">f8"):
        with pytest.raises(TypeError, match="float32 or float64"):
            gram_sums(X.astype(dtype), Y, s, cx, cy, *good)


def test_four_signatures_serve_every_kind_of_array():
    for dtype in (np.float32, np.float64):
        for layout in LAYOUTS:
            X, Y, s, cx, cy = block(30, 9, dtype=dtype)
            sums(layout(X), read_only(Y), s, cx, cy)
            sums(layout(X), np.asfortranarray(Y), np.empty(0), cx, read_only(cy))
    assert _compile.n_signatures()["certus.kernels.gram._tiles.gram"] == 4


# ------------------------------------------------------------------------------- other interpreters

SUMS = """
    import numpy as np
    from certus.kernels.gram import _tiles
    from certus.kernels.gram.weighted import gram_sums

    X, Y = np.arange(2000.0).reshape(400, 5) % 7, np.ones((400, 1))
    G, sx, sy, Xy, yy = np.zeros((5, 5)), np.zeros(5), np.zeros(1), np.zeros((5, 1)), np.zeros(1)
    gram_sums(X, Y, np.empty(0), np.zeros(5), np.zeros(1), G, sx, sy, Xy, yy)
    np.testing.assert_array_equal(np.triu(G), np.triu(X.T @ X))
    stats = _tiles.gram.stats
    print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def run(program, *flags, **environment):
    """A fresh interpreter with the package of this test and the environment given."""
    package = str(Path(_compile.__file__).parents[2])
    return subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": package, **{k: str(v) for k, v in environment.items()}},
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_second_interpreter_compiles_nothing(tmp_path):
    assert run(SUMS, NUMBA_CACHE_DIR=tmp_path).stdout.split() == ["0", "1"]
    assert run(SUMS, NUMBA_CACHE_DIR=tmp_path).stdout.split() == ["1", "0"]


@pytest.mark.skipif(
    not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this Numba always finds a folder"
)
def test_without_a_writable_cache_kernels_run_after_one_warning(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    # Root may write everywhere, so the package's own folder has to be ruled out by name.
    ran = run(
        SUMS,
        "-Wdefault",
        NUMBA_CACHE_DIR=file / "below",
        NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator",
    )
    assert ran.stdout.split() == ["0", "1"]
    assert ran.stderr.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in ran.stderr


def test_kernels_stay_inside_their_arrays(tmp_path):
    program = """
        import numpy as np
        from certus.kernels.gram.weighted import gram_sums

        for n, p, k in ((1, 1, 1), (5, 8, 2), (161, 17, 0), (400, 70, 9)):
            for order in "CF":
                X, Y = np.ones((n, p), order=order), np.ones((n, k))
                G, Xy = np.zeros((p, p)), np.zeros((p, k))
                sx, sy, yy = np.zeros(p), np.zeros(k), np.zeros(k)
                gram_sums(X, Y, np.ones(n), np.zeros(p), np.zeros(k), G, sx, sy, Xy, yy)
                assert (np.triu(G) == np.triu(np.full((p, p), n))).all()
                assert (Xy == n).all() and (sx == n).all() and (yy == n).all()
    """
    run(program, NUMBA_BOUNDSCHECK=1, NUMBA_CACHE_DIR=tmp_path)


def test_only_a_person_at_a_terminal_reads_about_compiling(tmp_path):
    assert run(SUMS, NUMBA_CACHE_DIR=tmp_path).stderr == ""
    program = "import sys; sys.stderr.isatty = lambda: True\n" + textwrap.dedent(SUMS)
    compiled = run(program, NUMBA_CACHE_DIR=tmp_path / "other").stderr
    assert compiled.count("Compiling kernels for this CPU, beginning with certus.kernels.gram") == 1
    assert run(program, NUMBA_CACHE_DIR=tmp_path / "other").stderr == ""


def test_importing_certus_does_not_import_numba():
    run("import sys, certus; assert 'numba' not in sys.modules")
