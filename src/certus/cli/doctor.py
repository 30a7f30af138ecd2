"""``certus doctor``: versions, threads, BLAS, and whether compiled kernels can be kept."""

import argparse
import os

from . import output
from .exit_codes import CLAIM_FAILS, OK


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
    folder, writable = _kernel_folder()
    remedy = "" if writable else ": not writable, so kernels are compiled anew in every session."
    remedy += "" if writable else " Set NUMBA_CACHE_DIR to a folder of yours."
    lines.append(("kernels", f"{folder}{remedy}"))
    for name, text in lines:
        output.wrapped(f"{name:<{output.INDENT}}{text}", rest=output.indent())
    return OK if writable else CLAIM_FAILS


def _kernel_folder() -> tuple[str, bool]:
    """The folder of compiled kernels, and whether it is writable, in Numba's order of choice."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = chosen or os.path.join(os.path.dirname(os.path.dirname(__file__)), "kernels")
    parent = folder
    while not os.path.exists(parent):
        parent = os.path.dirname(os.path.abspath(parent))
    if os.access(parent, os.W_OK):
        return folder, True
    home = os.path.expanduser("~")  # Numba's next choice
    return folder, chosen is None and os.access(home, os.W_OK)
