"""``certus warm`` compiles all kernels, and ``certus doctor`` says where they are."""

import re

import pytest

import certus
from certus.cli import main, warm
from certus.kernels import _compile


def test_doctor_names_versions_threads_blas_and_the_folder_of_kernels(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for word in ("Python", "numpy", "scikit-learn", "numba", "threads", "BLAS", "kernels"):
        assert re.search(rf"^{word} +\S", out, re.M)


def test_doctor_names_the_folder_that_kernels_are_kept_in(capsys):
    assert main(["doctor"]) == 0
    folder = _compile.kernel_folder()
    assert folder.is_dir()
    assert "".join(str(folder).split()) in "".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["doctor", "warm"])
def test_commands_say_what_to_do_where_kernels_cannot_be_kept(command, capsys, monkeypatch):
    monkeypatch.setattr(_compile, "kernel_folder", lambda: None)
    assert main([command]) == 1
    printed = capsys.readouterr()
    text = " ".join((printed.out + printed.err).split())
    assert "no folder can be written to" in text
    assert "Set NUMBA_CACHE_DIR to a folder of yours; in a container" in text


def test_warm_says_how_long_it_took_and_where_kernels_are(capsys, monkeypatch):
    compiled = []
    monkeypatch.setattr(warm, "warm_module", compiled.append)
    with certus.config_context(threads=1):
        assert main(["warm"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert re.match(r"Kernels are ready: \d+\.\d s\. They are kept in /", text)
    assert sorted(compiled) == sorted(warm.kernel_modules())
    assert "certus.kernels.gram.weighted" in compiled
    assert not any(name.rpartition(".")[2].startswith("_") for name in compiled)


@pytest.mark.costly
def test_kernels_are_compiled_by_several_processes(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    names = ["certus.kernels.kmeans.small_start", "certus.kernels.distances"]
    warm.compile_in_parallel(names, processes=2)
    kept = {path.name.partition(".")[0] for path in tmp_path.rglob("*.nbi")}
    assert {"small_start", "distances"} <= kept


@pytest.mark.exhaustive  # from an empty cache: 100 s
def test_warm_compiles_every_kernel(capsys):
    assert main(["warm"]) == 0
    assert "Kernels are ready" in capsys.readouterr().out
