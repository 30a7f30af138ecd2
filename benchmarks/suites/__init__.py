"""The suites: each module in this package is one, and defines `SUITE`."""

import importlib
import pkgutil


def suite_names():
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_suite(name):
    return importlib.import_module(f"{__name__}.{name}").SUITE
