"""``certus warm``: compile the kernels now rather than at the first large fit."""

import argparse
import time

from . import output
from .exit_codes import OK


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "warm",
        help="compile the kernels now, and say how long it took",
        description="Compile the kernels for this CPU and keep them on disk.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Compile every kernel."""
    started = time.perf_counter()
    from importlib import import_module
    from pkgutil import walk_packages

    from .. import kernels

    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            import_module(module.name).warm()
    output.result(f"Kernels are ready: {time.perf_counter() - started:.1f} s.")
    return OK
