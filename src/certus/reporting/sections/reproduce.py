"""How to reproduce the page: a snippet that prints the verdict's number, and how to recheck it.

Files are named without a folder: the snippet runs where the table is.
"""

import importlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ...tables.table import SampledRows
from ..content.document import Reproduction
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings

PACKAGES = ("certus", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")
NO_NUMBER = ("by", "threads", "show_rows", "confidence", "cluster")  # options without effect
FRAME = "data frame"  # format of a table that was no file
SAVED_FRAME = "df.csv"  # the frame, written by df.to_csv("df.csv", index=False)
STOPPED = "# The report was stopped before it was done: this runs all of it, and may differ."


def make(
    prepared: Prepared, settings: Settings, result: ProcedureResult, command: str,
    file_names: Mapping[str, str],
) -> Reproduction:  # fmt: skip
    """The snippet, the number that it prints, and the versions that were used."""
    table = file_names.get("table") or prepared.table.report.source
    model, script = file_names.get("model"), file_names.get("script")
    value = None if result.stopped else float(f"{result.measure.value:.3g}")
    is_frame = prepared.table.report.format == FRAME
    sample = prepared.table.sample
    files = [table] if sample is None else file_names_of(sample)
    recheck = f"certus verify {_quoted(model)} {' '.join(map(_quoted, files))}" if model else ""
    if is_frame:
        recheck = f"certus verify {_quoted(model)} {SAVED_FRAME}" if model else ""
    return Reproduction(
        snippet=snippet(None if is_frame else table, settings, result, sample),
        value=value,
        recheck=recheck,
        script=script,
        script_reason="" if script else "this model has no script",
        versions=versions(),
    )


def snippet(
    table: str | None,
    settings: Settings,
    result: ProcedureResult,
    sample: SampledRows | None = None,
) -> str:
    """Python that makes the report of a table in the same folder, and prints the measure.

    ``table`` None: of a data frame, which the snippet calls ``df``.
    """
    options = "".join(f",\n    {name}={value}" for name, value in options_of(settings))
    lines = ["import certus", ""]
    source = "df" if table is None else _literal(table)
    if sample is not None:
        lines[1:] = sample_lines(sample)
        source = "sample"
    if result.stopped:
        lines = [STOPPED, *lines]
    if table is None:
        lines.append("# df: the data frame of the report")
    lines += [
        f"report = certus.report(\n    {source}{options},\n)",
        "measure = report.content.verdict.measure",
        'print(f"{measure.name} {measure.value:.3g}")',
    ]
    return "\n".join(lines) + "\n"


def file_names_of(sample: SampledRows) -> list[str]:
    """The files of a sample as they were given, without their folders."""
    return [Path(file).name for file in sample.files]


def sample_lines(sample: SampledRows) -> list[str]:
    """Python that draws the sample again."""
    names, rows = file_names_of(sample), len(sample.numbers)
    return [
        "from certus.sources import read_sample",
        "",
        f"sample = read_sample({_literal(names)}, rows={rows}, seed={sample.seed})",
    ]


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
    return [(name, _literal(v)) for name, v in found.items()]


def _literal(value: object) -> str:
    """Python source of a value, with double quotes as formatters write them."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_literal, value))}]"
    text = repr(value)
    if isinstance(value, str) and text[0] == "'" and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


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
