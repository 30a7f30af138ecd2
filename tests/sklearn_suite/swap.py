"""Puts certus's classes under scikit-learn's names, and counts their use."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import ModuleType
from typing import Any

PACKAGES = ("linear_model", "cluster", "mixture", "neighbors", "svm")


class Uses:
    """Counts the objects of certus that were made, and the functions of certus that were called."""

    count = 0


def shared() -> dict[Any, Any]:
    """Return {scikit-learn's class or function: certus's of the same name}, all of them."""
    pairs = {}
    for package in PACKAGES:
        theirs = importlib.import_module(f"sklearn.{package}")
        ours = importlib.import_module(f"certus.{package}")
        for name in sorted(set(theirs.__all__) & set(ours.__all__)):
            pairs[getattr(theirs, name)] = _counted(getattr(ours, name))
    return pairs


def _counted(thing: Any) -> Any:
    """Return the class itself, whose objects are counted, or a function that counts its calls."""
    if isinstance(thing, type):

        def made(cls: type, *args: Any, **kwargs: Any) -> Any:
            Uses.count += 1
            return object.__new__(cls)

        made.__signature__ = inspect.signature(thing.__init__)  # type: ignore[attr-defined]
        thing.__new__ = made  # type: ignore[method-assign, assignment]
        return thing

    @wraps(thing)
    def called(*args: Any, **kwargs: Any) -> Any:
        Uses.count += 1
        return thing(*args, **kwargs)

    return called


def import_everything() -> None:
    """Import scikit-learn and certus whole.

    Both must hold their own classes before names change hands.
    """
    for package in ("sklearn", "certus"):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
            parts = module.name.split(".")
            if {"tests", "conftest", "externals", "experimental", "__main__"} & set(parts):
                continue
            if "_build_utils" not in parts and not parts[-1].startswith("setup"):
                importlib.import_module(module.name)


def packages_hold(pairs: dict[Any, Any]) -> None:
    """Replace the public names, ``sklearn.linear_model.Ridge``, for good."""
    for package in PACKAGES:
        _replace(importlib.import_module(f"sklearn.{package}"), pairs)


def checks_know(pairs: dict[Any, Any]) -> None:
    """Give scikit-learn's checks the parameters that they use for a class of this name."""
    for table in vars(
        importlib.import_module("sklearn.utils._test_common.instance_generator")
    ).values():
        if isinstance(table, dict) and any(theirs in table for theirs in pairs):
            table.update({pairs[key]: value for key, value in table.items() if key in pairs})


@contextmanager
def private_modules_hold(pairs: dict[Any, Any]) -> Iterator[None]:
    """Replace the names in every module of scikit-learn, while its test modules are imported.

    They import some classes from where they are defined, ``sklearn.linear_model._ridge``. When the
    tests run, these modules hold their own classes again: others are built on them.
    """
    undo: list[Callable[[], None]] = []
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "sklearn" and module is not None:
            undo.extend(_replace(module, pairs))
    try:
        yield
    finally:
        for put_back in undo:
            put_back()


def _replace(module: ModuleType, pairs: dict[Any, Any]) -> list[Callable[[], None]]:
    undo: list[Callable[[], None]] = []
    for name, value in list(vars(module).items()):
        if isinstance(value, type) or callable(value):
            try:
                ours = pairs.get(value)
            except TypeError:  # not hashable
                continue
            if ours is not None:
                setattr(module, name, ours)
                undo.append(partial(setattr, module, name, value))
    return undo
