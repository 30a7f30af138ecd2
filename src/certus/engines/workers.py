"""Dask's workers before a pass: the same versions as here, and kernels that are compiled.

Workers that join later are compared too: every task carries the versions of this process.
"""

import os
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..exceptions import WorkersDifferError
from ..text.format import listed

if TYPE_CHECKING:
    from distributed import Client

Versions = tuple[tuple[str, str], ...]
REMEDY = "Install the same versions there"
BESIDE = {"glm": ("gram",), "lasso": ("gram",)}  # kernels of other folders that a family calls
_warm: "WeakKeyDictionary[Client, set[str]]" = WeakKeyDictionary()


@cache
def versions() -> Versions:
    """Return the versions on which the bits of a result depend."""
    from importlib.metadata import version

    return tuple((name, version(name)) for name in ("certus", "numpy", "scipy", "numba"))


def versions_here() -> Versions:
    """Return the versions of this process."""
    return versions()


def versions_there() -> Versions:
    """Return the versions of a worker."""
    return versions()


def require_equal_workers(client: "Client") -> None:
    """Refuse workers that lack certus, or have other versions than this process.

    Raises
    ------
    WorkersDifferError
        Names the workers and what is different there.
    """
    here = versions_here()
    wrong = []
    for worker, there in client.run(versions_there, on_error="return").items():
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


# --- kernels --------------------------------------------------------------------------------------


def warm_workers(client: "Client", statistic: Any) -> None:
    """Load or compile, once on each worker, the kernels of the family of a statistic.

    Otherwise the first task of every worker would do so in the middle of a pass. It takes 0.1 to
    0.3 seconds where the kernels are on disk, and up to 40 where they are not.
    """
    known = _warm.setdefault(client, set())
    new = [family for family in families_of(statistic) if family not in known]
    if not new:
        return
    known.update(new)
    from distributed import wait

    wait(
        [
            client.submit(
                warm, family, os.getpid(), workers=[worker], allow_other_workers=True, pure=False
            )
            for worker in client.nthreads()
            for family in new
        ]
    )


def families_of(statistic: Any) -> tuple[str, ...]:
    """Return the folders of ``kernels/`` that a statistic of certus may call.

    A family has the same folder name in every room.
    """
    module = getattr(statistic, "__module__", None) or type(statistic).__module__
    names = module.split(".")
    if names[:2] != ["certus", "solvers"] or len(names) < 4:
        return ()
    return names[2], *BESIDE.get(names[2], ())


def warm(family: str, caller: int) -> bool:
    """Load or compile the kernels of a family; in the caller's own process they come by need."""
    if os.getpid() == caller:
        return False
    try:
        package = import_module(f"certus.kernels.{family}")
    except ModuleNotFoundError:
        return False
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        compile_all = getattr(import_module(module.name), "warm", None)
        if compile_all is not None:
            compile_all()
    return True
