"""How to reproduce the page: a snippet that prints the verdict's number, and how to recheck it.

Files are named without a folder: the snippet runs where the table is.
"""

import importlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from ..content.document import Reproduction
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings

PACKAGES = ("certus", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")
NO_NUMBER = ("by", "threads", "show_rows", "confidence", "cluster")  # options without effect
STOPPED = "# The report was stopped before it was done: this runs all of it, and may differ."


def make(
    prepared: Prepared, settings: Settings, result: ProcedureResult, command: str,
    file_names: Mapping[str, str],
) -> Reproduction:  # fmt: skip
    """The snippet, the number that it prints, and the versions that were used."""
    table = file_names.get("table") or prepared.table.report.source
    model, script = file_names.get("model"), file_names.get("script")
    value = None if result.stopped else float(f"{result.measure.value:.3g}")
    recheck = f"certus verify {_quoted(model)} {_quoted(table)}" if model else ""
    return Reproduction(
        snippet=snippet(table, settings, result),
        value=value,
        recheck=recheck,
        script=script,
        script_reason="" if script else "this model has no script",
        versions=versions(),
    )


def snippet(table: str, settings: Settings, result: ProcedureResult) -> str:
    """Python that makes the report of a table in the same folder, and prints the measure."""
    options = "".join(f",\n    {name}={value}" for name, value in options_of(settings))
    lines = ["import certus", ""]
    if result.stopped:
        lines = [STOPPED, *lines]
    lines += [
        f"report = certus.report(\n    {table!r}{options},\n)",
        "measure = report.content.verdict.measure",
        'print(f"{measure.name} {measure.value:.3g}")',
    ]
    return "\n".join(lines) + "\n"


def options_of(settings: Settings) -> list[tuple[str, str]]:
    """Arguments of ``certus.report`` that decide the number, as Python."""
    default = Settings()
    found: dict[str, object] = {
        name: value
        for name, value in vars(settings).items()
        if name not in NO_NUMBER and value != getattr(default, name) and "cost" not in name
    }
    found.setdefault("target", settings.target)
    found["seed"] = settings.seed
    return [(name, repr(list(v) if isinstance(v, tuple) else v)) for name, v in found.items()]


def versions() -> tuple[tuple[str, str], ...]:
    """Versions of the packages that computed the page."""
    found = [("certus", str(importlib.import_module("certus").__version__))]
    for name in PACKAGES[1:]:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
