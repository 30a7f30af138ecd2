"""Model folders of MLflow: which file holds the model, and which columns it was logged with."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..exceptions import MissingExtraError, ModelFileError
from .kinds import MLFLOW_FILE

# flavour: the key that names its file in the folder; the first that a folder has is read
FILES = {"sklearn": "pickled_model", "statsmodels": "data", "onnx": "data"}
MOST_BYTES = 1 << 24  # of the description: more is no description


@dataclass(frozen=True)
class LoggedModel:
    """What a folder says of its model."""

    path: Path
    flavor: str
    columns: tuple[str, ...] | None  # names in the signature, in order


def logged_model(folder: Path) -> LoggedModel:
    """Read the description of a model folder; the model itself is not loaded."""
    description = _description(folder / MLFLOW_FILE)
    flavors = description.get("flavors")
    if not isinstance(flavors, dict):
        raise ModelFileError(f"{folder / MLFLOW_FILE} names no flavors: is it complete?")
    for flavor, key in FILES.items():
        if isinstance(flavors.get(flavor), dict):
            name = flavors[flavor].get(key)
            return LoggedModel(_inside(folder, name), flavor, _columns(description))
    there = ", ".join(str(name) for name in flavors if name != "python_function") or "none"
    raise ModelFileError(
        f"{folder} holds no model that can be audited: its flavors are {there}, and certus reads "
        f"{', '.join(FILES)}"
    )


def _description(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError(
            "model folders of MLflow need PyYAML: pip install 'certus[audit]'"
        ) from error
    if path.stat().st_size > MOST_BYTES:
        raise ModelFileError(f"{path} is too large for a description of a model")
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{path} is not YAML: {error}") from error
    if not isinstance(found, dict):
        raise ModelFileError(f"{path} describes no model")
    return found


def _inside(folder: Path, name: object) -> Path:
    """Return the path of a file of the folder; a name must not lead out of it."""
    if not isinstance(name, str) or not name:
        raise ModelFileError(f"{folder / MLFLOW_FILE} does not name the file of the model")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ModelFileError(f"{folder / MLFLOW_FILE} names a file outside its folder: {name}")
    if not path.is_file():
        raise ModelFileError(f"{folder} lacks the file of its model, {name}")
    return path


def _columns(description: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the names of a signature's columns; None where it has none, or is of tensors."""
    signature = description.get("signature")
    text = signature.get("inputs") if isinstance(signature, dict) else None
    try:
        inputs = json.loads(text) if isinstance(text, str) else []
    except ValueError:
        return None
    names = [column.get("name") for column in inputs if isinstance(column, dict)]
    named = [name for name in names if isinstance(name, str)]
    return tuple(named) if named and len(named) == len(names) else None
