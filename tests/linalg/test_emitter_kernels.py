"""Hand-written LLVM: explicit types, any number of lanes, a cache that never mixes them."""

import importlib
import re
import shutil
from pathlib import Path

import llvmlite.binding
import pytest
from llvmlite import ir

from certus import kernels
from certus.kernels import _compile, _vectors
from certus.runtime import kernel_clock
from tests.linalg.kernel_programs import WITH_VECTORS, printed, run

FOLDER = Path(kernels.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
HAS_OPAQUE = llvmlite.binding.llvm_version_info[0] >= 16


def name_of(path):
    return path.relative_to(FOLDER).as_posix()


# --------------------------------------------------------------------------------------- pointers


def test_only_the_emitter_touches_memory_and_types_of_pointers():
    untyped = re.compile(
        r"\.pointee|as_pointer|PointerType|cgutils\.(pointer|gep|alloca)"
        r"|builder\.(load|store|gep|bitcast|addrspacecast|inttoptr|ptrtoint|fpext|fptrunc|alloca)"
    )
    wrong = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in FILES
        if path.name != "_vectors.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if untyped.search(line)
    ]
    assert not wrong


@pytest.mark.skipif(not HAS_OPAQUE, reason="this LLVM has no opaque pointers")
@pytest.mark.parametrize("scalar", [ir.DoubleType(), ir.FloatType()], ids=str)
def test_the_emitter_needs_no_type_of_a_pointer(scalar):
    module, pointer = ir.Module(), ir.PointerType()
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, ir.IntType(64)])
    function = ir.Function(module, kind, "f")
    builder = ir.IRBuilder(function.append_basic_block())
    emit, (source, target, number) = _vectors.Emitter(None, builder), function.args
    one = emit.load_one(emit.at(source, number, 3, scalar=scalar), scalar)
    vector = emit.doubles(emit.load(emit.at_bytes(source, number), scalar), scalar)
    one = one if scalar == _vectors.F64 else builder.fpext(one, _vectors.F64)
    total = emit.add_product(_vectors.ZERO, vector, emit.broadcast(one))
    emit.prefetch(emit.at(target, 8), write=1, locality=3)
    emit.prefetch(emit.address(emit.bits(one, _vectors.I64)), write=0, locality=2)
    emit.store(total, emit.at(target, emit.times(number, 4)))
    builder.ret_void()
    llvmlite.binding.parse_assembly(str(module)).verify()


# A llvmlite without types of pointers: none in its text, none on the arrays of intrinsics.
OPAQUE = """
    from llvmlite import ir
    from certus.kernels._vectors import Emitter

    typed = Emitter.data

    def opaque(self, kind, array):
        number = self.builder.ptrtoint(typed(self, kind, array), ir.IntType(64))
        return self.builder.inttoptr(number, ir.PointerType())

    def address(self, number):
        return self.builder.inttoptr(number, ir.PointerType())

    Emitter.data, Emitter.address = opaque, address
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not HAS_OPAQUE, reason="this LLVM has no opaque pointers")
def test_kernels_run_where_pointers_have_no_types(tmp_path):
    _, *counts = printed(
        OPAQUE + WITH_VECTORS,
        NUMBA_CACHE_DIR=tmp_path,
        LLVMLITE_ENABLE_IR_LAYER_TYPED_POINTERS=0,
    )
    assert counts == ["0", "4", "3"]  # compiled here, and nothing loaded


# ------------------------------------------------------------------------------------------ lanes


def test_every_file_with_lanes_is_run_at_both_widths():
    lanes = re.compile(r"import .*\b(LANES|Emitter)\b")
    users = {name_of(f) for f in FILES if lanes.search(f.read_text(encoding="utf-8"))}
    # _scratch.py: rows of a tile of k-means, which is another number
    assert users - {"kmeans/_scratch.py"} == {
        "_elementary.py", "_vectors.py", "gram/_tiles.py", "mixture/gaussians.py",
    }  # fmt: skip
    assert "import _tiles" in WITH_VECTORS
    assert "import gaussians" in WITH_VECTORS


@pytest.mark.costly
@pytest.mark.parametrize("lanes", [4, 8])
def test_both_widths_give_the_sums(lanes, tmp_path):
    width, hits, misses, files = printed(WITH_VECTORS, CERTUS_LANES=lanes, NUMBA_CACHE_DIR=tmp_path)
    assert width == str(lanes)
    assert int(hits) + int(misses) == 4  # two kinds of X, two kernels of densities
    assert files == "3", "each of the kernels has an index of its own for this width"


def test_a_width_that_no_kernel_has_is_refused():
    error = run("import certus.kernels._compile", CERTUS_LANES=16).stderr
    assert "ValueError: CERTUS_LANES must be 4 or 8, not '16'" in error


# ------------------------------------------------------------------------------------------ cache

EXP = """
    import numpy as np
    from certus.kernels.lssvm import tiles

    T = np.zeros((1, 9))
    tiles.exp_of_nonpositive(T)
    stats = tiles._exp_of_nonpositive.stats
    print(T[0, 0], sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_the_cache_on_disk_notices_a_change_of_lanes_or_of_a_shared_helper(tmp_path):
    package = tmp_path / "package"
    package.joinpath("certus/runtime").mkdir(parents=True)
    package.joinpath("certus/__init__.py").touch()
    package.joinpath("certus/runtime/__init__.py").touch()
    shutil.copy(kernel_clock.__file__, package / "certus/runtime")
    shutil.copytree(FOLDER, package / "certus/kernels", ignore=shutil.ignore_patterns("__pyc*"))
    place = {"package": package, "NUMBA_CACHE_DIR": tmp_path / "cache"}
    assert printed(EXP, CERTUS_LANES=4, **place) == ["1.0", "0", "1"]
    assert printed(EXP, CERTUS_LANES=8, **place) == ["1.0", "0", "1"], "widths share nothing"
    place["CERTUS_LANES"] = 4
    assert printed(EXP, **place) == ["1.0", "1", "0"]
    helper = package / "certus/kernels/_elementary.py"
    before = helper.read_text(encoding="utf-8")
    after = before.replace("return ((q * r", "return 2.0 * ((q * r")
    assert after != before
    helper.write_text(after, encoding="utf-8")
    assert printed(EXP, **place) == ["2.0", "0", "1"]
    helper.write_text(before, encoding="utf-8")
    assert printed(EXP, **place) == ["1.0", "1", "0"]


def test_kernels_call_kernels_of_their_own_file_and_of_the_helpers_only():
    # others are in no stamp, and Numba's cache would not notice that they have changed
    own, helper = re.compile(r"^@kernel", re.M), re.compile(r"^from certus\.kernels\.(\S+)", re.M)
    wrong = [
        f"{name_of(path)} imports {module}"
        for path in FILES
        if own.search(text := path.read_text(encoding="utf-8"))
        for module in helper.findall(text)
        if not module.startswith("_")
    ]
    assert not wrong


def test_the_stamp_is_in_the_name_of_every_kernel():
    assert f"x{_compile.LANES}_" in _compile.STAMP
    importlib.import_module("certus.kernels.gram.weighted")
    importlib.import_module("certus.kernels.kmeans.assignment")
    ours = [k for k in _compile._kernels if k.py_func.__module__.startswith("certus.kernels")]
    assert ours
    for kernel in ours:  # tests make some of their own
        # a kernel that a function makes is named for that function too
        name = kernel.py_func.__qualname__.rpartition(".")[2]
        assert name == f"{kernel.py_func.__name__}_{_compile.STAMP}"
