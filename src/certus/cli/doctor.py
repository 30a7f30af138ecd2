"""``certus doctor``: versions, threads, BLAS, and whether compiled kernels can be kept."""

import argparse
from pathlib import Path

from ..text.format import count
from . import output
from .exit_codes import CLAIM_FAILS, OK

NO_FOLDER = (
    "cannot be kept: no folder can be written to, so each session compiles them again. Set "
    "NUMBA_CACHE_DIR to a folder of yours; in a container, to one that is part of its image or "
    "mounted"
)


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        help="versions, threads, BLAS, and the folder of kernels",
        description="Print what certus runs on.",
        epilog="exit codes: 0 all is well, 1 compiled kernels cannot be kept",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Print versions, threads, BLAS and the folder of kernels."""
    import platform
    from importlib.metadata import version

    import scipy.linalg  # noqa: F401  its BLAS must be loaded to be seen
    from threadpoolctl import threadpool_info

    from .. import get_config
    from ..kernels._compile import kernel_folder
    from ..runtime.config import effective_threads

    libraries = ("certus", "numpy", "scipy", "scikit-learn", "numba", "threadpoolctl")
    lines = [("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")]
    lines += [(name, version(name)) for name in libraries]
    threads = get_config()["threads"]
    lines.append(("threads", f"{effective_threads()} ({'set' if threads else 'all cores'})"))
    lines += [
        (
            "BLAS",
            f"{library['internal_api']} {library['version']}, {library['num_threads']} threads",
        )
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
    folder = kernel_folder()
    lines.append(("kernels", NO_FOLDER if folder is None else f"{folder} ({_kept(folder)})"))
    for name, text in lines:
        output.wrapped(f"{name:<{output.INDENT}}{text}", rest=output.indent())
    return OK if folder is not None else CLAIM_FAILS


def _kept(folder: Path) -> str:
    """Return how many compiled kernels the folder has, of any version."""
    kernels = sum(1 for _ in folder.rglob("*.nbi"))
    return f"{count(kernels, 'compiled kernel')} in it" if kernels else "empty: run certus warm"
