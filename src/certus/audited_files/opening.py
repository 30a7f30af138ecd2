"""found_model(): the fitted model of a file, without running code of the file's."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..audit import trusted_child
from ..exceptions import ModelFileError
from . import mlflow_folders, skops_files
from .kinds import TABLE_ADVICE, Kind, kind_of

if TYPE_CHECKING:
    from ..model_files import ModelFile


@dataclass(frozen=True)
class FoundModel:
    """A fitted model, and what its file says of the columns of the fit."""

    model: Any
    kind: Kind
    columns: tuple[str, ...] | None = None  # that the file names beside the model
    ours: "ModelFile | None" = None


def found_model(path: Path) -> FoundModel:
    """Load a model; a pickle raises ``ModelFileError`` outside of a trusted child."""
    kind = kind_of(path)
    if kind == "MLflow":
        logged = mlflow_folders.logged_model(path)
        found = found_model(logged.path)
        return FoundModel(found.model, found.kind, logged.columns, found.ours)
    if kind == "certus":
        from .. import model_files

        file = model_files.read(str(path))
        return FoundModel(file.model, kind, ours=file)
    if kind == "skops":
        return FoundModel(skops_files.read(path), kind)
    if kind == "ONNX":
        raise ModelFileError(
            f"{path} is ONNX, which holds coefficients and no model: {TABLE_ADVICE}"
        )
    return FoundModel(_unpickled(path), kind)


def onnx_file(path: Path) -> tuple[Path, tuple[str, ...] | None] | None:
    """Return the ONNX file at a path, and the names of columns beside it; None if it is none."""
    kind = kind_of(path)
    if kind == "MLflow":
        logged = mlflow_folders.logged_model(path)
        return None if kind_of(logged.path) != "ONNX" else (logged.path, logged.columns)
    return (path, None) if kind == "ONNX" else None


def is_pickled(path: Path) -> bool:
    """Return whether loading the model runs code of its file."""
    kind = kind_of(path)
    if kind == "MLflow":
        return is_pickled(mlflow_folders.logged_model(path).path)
    return kind == "pickle"


def _unpickled(path: Path) -> Any:
    if not trusted_child.is_child():
        raise ModelFileError(
            f"{path} is a pickle: loading it runs whatever code is in it. If you trust whoever "
            "wrote it, give --trust-pickle: it is then loaded in a process of its own. Files of "
            "skops and of certus.save need no trust"
        )
    try:
        model = trusted_child.load(path)
    except ImportError as error:
        raise ModelFileError(
            f"{path} needs a package that is not installed: {error.name or error}"
        ) from error
    except Exception as error:  # a damaged pickle may raise anything
        raise ModelFileError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return model
