"""The folder of a report: written whole, and never over files of someone else."""

import secrets
import shutil
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from ..exceptions import UsageError

PAGE, MARKDOWN, JSON = "report.html", "report.md", "report.json"
MODEL, SCRIPT, ARRAYS, RUN = "model.certus", "check.py", "check.npz", "run.json"
NAMES = (PAGE, MARKDOWN, JSON, MODEL, SCRIPT, ARRAYS, RUN)
MARK = '"kind": "certus report"'  # of RUN, by which a folder of ours is recognised


def require_ours(folder: str | PathLike[str], force: bool) -> None:
    """Refuse a folder that holds anything but an earlier report, unless it may be replaced."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: give the name of a folder")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"{folder} cannot be written: there is no folder {folder.parent}")
    if force or not folder.exists() or not any(folder.iterdir()) or _is_ours(folder):
        return
    raise UsageError(
        f"{folder} exists and holds no report of certus: give another folder, or --force"
    )


def _is_ours(folder: Path) -> bool:
    try:
        return MARK in (folder / RUN).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def write_folder(
    folder: str | PathLike[str], files: Mapping[str, str | bytes], force: bool = False
) -> Path:
    """Write the files of a report; what was there stays until all of them are on disk.

    Files of an earlier report that this one does not have are removed; others are left alone.
    """
    folder = Path(folder)
    require_ours(folder, force)
    draft = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.tmp")
    draft.mkdir()
    try:
        for name, content in files.items():
            (draft / name).write_bytes(content.encode() if isinstance(content, str) else content)
        if not folder.exists():
            draft.rename(folder)
            return folder
        for name in files:
            (draft / name).replace(folder / name)
        for name in set(NAMES) - set(files):
            (folder / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder
