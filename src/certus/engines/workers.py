"""Dask's workers have the versions of this process: of certus, NumPy, SciPy and Numba.

They are compared before the first pass; and since workers may join later, every task carries the
versions of the process that sent it.

Kernels are not compiled ahead: the first pass of a fit loads those that it needs from the disk of
each worker's machine, in 30 to 60 ms each, on all workers at once. Compiling all kernels of a
family ahead took 30 s on one core, of which a fit needed 6. ``certus warm`` does it once for a
machine.
"""

from functools import cache
from typing import TYPE_CHECKING

from ..exceptions import WorkersDifferError
from ..text.format import listed

if TYPE_CHECKING:
    from distributed import Client

Versions = tuple[tuple[str, str], ...]
PACKAGES = ("certus", "numpy", "scipy", "numba")
REMEDY = "Install the same versions there"


@cache
def versions(packages: tuple[str, ...] = PACKAGES) -> Versions:
    """Return the versions of packages, by default those on which the bits of a fit depend."""
    from importlib.metadata import version

    return tuple((name, version(name)) for name in packages)


def versions_here(packages: tuple[str, ...] = PACKAGES) -> Versions:
    """Return the versions of this process."""
    return versions(packages)


def versions_there(packages: tuple[str, ...] = PACKAGES) -> Versions:
    """Return the versions of a worker."""
    return versions(packages)


def require_equal_workers(client: "Client", packages: tuple[str, ...] = PACKAGES) -> None:
    """Refuse workers that lack certus, or have other versions than this process.

    Raises
    ------
    WorkersDifferError
        Names the workers and what is different there.
    """
    here = versions_here(packages)
    wrong = []
    for worker, there in client.run(versions_there, packages, on_error="return").items():
        if isinstance(there, ModuleNotFoundError):
            wrong.append(f"{worker} lacks a package ({there})")
        elif isinstance(there, BaseException):
            wrong.append(f"{worker} failed ({there!r})")
        else:
            found = differences(there, here)
            wrong += [f"{worker} has {found}"] if found else []
    if wrong:
        raise WorkersDifferError(
            f"The workers must run the same code as this process: {listed(wrong, 3)}. {REMEDY}"
        )


def differences(there: Versions, here: Versions) -> str:
    """Return which packages of a worker have other versions; an empty text if none."""
    expected = dict(here)
    return ", ".join(
        f"{name} {version} instead of {expected[name]}"
        for name, version in there
        if version != expected[name]
    )


def require_versions(here: Versions) -> None:
    """Refuse, on a worker, a task of a process with other versions."""
    found = differences(versions_there(), here)
    if found:
        from distributed import get_worker

        raise WorkersDifferError(
            f"The worker {get_worker().address}, which joined later, has {found}. {REMEDY}"
        )
