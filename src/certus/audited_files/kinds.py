"""What kind of model file a path is, by its first bytes."""

import zipfile
from pathlib import Path
from typing import Literal

from ..exceptions import ModelFileError

Kind = Literal["certus", "skops", "ONNX", "MLflow", "pickle"]

MLFLOW_FILE = "MLmodel"  # what every model folder of MLflow holds
SKOPS_ENTRY = "schema.json"
ZIP = b"PK\x03\x04"
PICKLE = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
# zlib, gzip, bzip2, xz, lzma and lz4, in which joblib compresses pickles
COMPRESSED = (b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"]\x00\x00",
              b"\x04\x22\x4d\x18")  # fmt: skip
PICKLE_SUFFIXES = (".pkl", ".pickle", ".joblib", ".p", ".sav")
TABLE_ADVICE = (
    "write its coefficients as a table (term, estimate) and audit that: certus audit --coef TABLE"
)
OTHERS = {
    ".rds": f"is an R object: {TABLE_ADVICE}",
    ".rdata": f"is a workspace of R: {TABLE_ADVICE}",
    ".pmml": f"is PMML: {TABLE_ADVICE}",
    ".pt": "is a model of PyTorch, which makes no claim that certus can check",
    ".h5": "is an HDF5 file, which makes no claim that certus can check",
    ".keras": "is a model of Keras, which makes no claim that certus can check",
}
SUFFIXES_READ = ".certus, .skops, .onnx, a model folder of MLflow, .pkl and .joblib"


def kind_of(path: Path) -> Kind:
    """Return the kind of a model file or folder; raise ``ModelFileError`` if it is none."""
    if path.is_dir():
        if (path / MLFLOW_FILE).is_file():
            return "MLflow"
        raise ModelFileError(
            f"{path} is a folder without a file {MLFLOW_FILE}: give a model file ({SUFFIXES_READ})"
        )
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error
    suffix = path.suffix.casefold()
    if suffix in OTHERS:
        raise ModelFileError(f"{path} {OTHERS[suffix]}")
    if suffix == ".onnx":
        return "ONNX"
    if head.startswith(ZIP):
        return _kind_of_zip(path)
    if head[8:9] == b"{" or suffix == ".certus":  # the length of a JSON header, and the header
        return "certus"
    if head.startswith(PICKLE) or (suffix in PICKLE_SUFFIXES and head):
        return "pickle"
    if head.startswith(COMPRESSED):
        return "pickle"
    raise ModelFileError(f"{path} is no model file that certus knows: give one of {SUFFIXES_READ}")


def _kind_of_zip(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as file:
            names = file.namelist()
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{path} is a damaged archive") from error
    if SKOPS_ENTRY in names:
        return "skops"
    raise ModelFileError(f"{path} is an archive, but not one of skops: give one of {SUFFIXES_READ}")
