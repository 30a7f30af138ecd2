"""``certus warm``: compile the kernels now rather than at the first large fit."""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from . import output
from .exit_codes import CLAIM_FAILS, OK
from .progress_line import ProgressLine


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "warm",
        help="compile the kernels now, and say how long it took",
        description="Compile the kernels for this CPU, on all cores, and keep them on disk.",
        epilog="exit codes: 0 all is well, 1 compiled kernels cannot be kept",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Compile every kernel that is not on disk."""
    from ..kernels._compile import kernel_folder
    from ..runtime.config import effective_threads
    from .doctor import NO_FOLDER

    started = time.perf_counter()
    names = kernel_modules()
    folder = kernel_folder()
    if folder is None:
        output.note(f"kernels {NO_FOLDER}")
        return CLAIM_FAILS
    processes = min(effective_threads(), len(names))
    if processes == 1:
        compile_one_by_one(names)
    else:
        compile_in_parallel(names, processes)
    seconds = time.perf_counter() - started
    output.result(f"Kernels are ready: {seconds:.1f} s. They are kept in {folder}.")
    return OK


def kernel_modules() -> list[str]:
    """Return the names of the modules with kernels, those that take longest to compile first."""
    from importlib.util import find_spec
    from pkgutil import walk_packages

    from .. import kernels

    sizes = {}
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            spec = find_spec(module.name)
            sizes[module.name] = os.path.getsize(spec.origin) if spec and spec.origin else 0
    return sorted(sizes, key=lambda name: -sizes[name])  # the length of the source is a guide


def compile_one_by_one(names: list[str]) -> None:
    """Compile the kernels of each module in this process."""
    line = ProgressLine()
    try:
        for i, name in enumerate(names):
            line.step(f"Compiling {_short(name)}", i, len(names))
            warm_module(name)
    finally:
        line.close()


def compile_in_parallel(names: list[str], processes: int) -> None:
    """Compile the kernels of each module, several modules at a time."""
    line = ProgressLine()
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        tasks = {pool.submit(warm_module, name): name for name in names}
        for i, task in enumerate(as_completed(tasks), start=1):
            task.result()
            line.step(f"Compiled {_short(tasks[task])}", i, len(names))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        line.close()


def warm_module(name: str) -> None:
    """Compile the kernels of one module."""
    from importlib import import_module

    import_module(name).warm()


def _short(name: str) -> str:
    return name.removeprefix("certus.kernels.")
