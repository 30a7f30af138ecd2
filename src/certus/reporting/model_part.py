"""The model file of a report, and the script that checks its certificate.

The file keeps what ``certus verify`` needs to find the rows of the fit: names and roles of columns,
the target, and which rows were left out. Categories of fewer than 5 rows are not kept.
"""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from ..certificate.export.script import Script, script
from ..exceptions import CertificateError
from ..model_files import to_bytes
from ..model_files.document import summary_of
from .folder import SCRIPT
from .prepared import Prepared
from .procedure.result import ProcedureResult
from .settings import Settings

if TYPE_CHECKING:
    from ..model_files.values import Json


def rows_fitted(prepared: Prepared, result: ProcedureResult) -> np.ndarray:
    """Numbers of the rows, as in the file, that the model was fitted on."""
    return prepared.row_numbers if result.rows is None else prepared.row_numbers[result.rows]


def keeps_rows(result: ProcedureResult) -> bool:
    """Does the model hold rows of the table?"""
    return bool(summary_of(result.pipeline, False)["contains_training_rows"])


def script_of(prepared: Prepared, result: ProcedureResult) -> tuple[Script | None, str]:
    """The script that recomputes the certificate from the table, or None and why there is none."""
    if keeps_rows(result):
        return None, "There is no check.py, since the model keeps rows of the table."
    if len(rows_fitted(prepared, result)) < _n_of_files(prepared):
        return None, (
            "There is no check.py: the model was fitted on some of the rows, and a script reads "
            "all of the table. certus verify leaves the others out."
        )
    try:
        return script(result.certificate, SCRIPT), ""
    except CertificateError as error:
        return None, f"There is no check.py: {error}."


def array_bytes(made: Script) -> bytes:
    """The file beside a script that holds its long arrays."""
    arrays = io.BytesIO()
    np.savez_compressed(arrays, allow_pickle=False, **made.arrays)
    return arrays.getvalue()


def _n_of_files(prepared: Prepared) -> int:
    """Rows of the table, or of the files of which it has a sample."""
    report = prepared.table.report
    return report.n_rows if report.n_of_files is None else report.n_of_files


def model_bytes(
    prepared: Prepared, result: ProcedureResult, settings: Settings, reading: Mapping[str, object]
) -> bytes:
    """The model file; ``reading``: what the user said about the table, which later ones share."""
    schema = {
        **_without_rare(prepared), "target": settings.target, "weights": settings.weights,
        "task": "numbers" if prepared.task == "numbers" else "classes", "reading": dict(reading),
    }  # fmt: skip
    fitted, n = rows_fitted(prepared, result), _n_of_files(prepared)
    if prepared.table.sample is not None:
        schema["rows"] = {"kept": fitted.tolist()}
    elif len(fitted) < n:
        left_out = np.setdiff1d(np.arange(1, n + 1), fitted)
        shorter = ("left_out", left_out) if len(left_out) < len(fitted) else ("kept", fitted)
        schema["rows"] = {shorter[0]: shorter[1].tolist()}
    return to_bytes(result.pipeline, cast("Json", schema))


def _without_rare(prepared: Prepared) -> dict[str, object]:
    """The schema of the table, without categories of few rows: they would identify someone."""
    schema = prepared.table.schema([c.name for c in prepared.columns])
    levels = {c.name: c.levels for c in prepared.columns if c.levels is not None}
    for column in cast("list[dict[str, object]]", schema["columns"]):
        if column["name"] in levels:
            column["categories"] = list(levels[str(column["name"])])
    return schema
