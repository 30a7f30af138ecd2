"""``run.json``: when, where and for how long; the page and report.json hold none of it."""

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from .build import Built
from .without_model import versions

KIND = "certus report"


def run_record(built: Built, files: Mapping[str, str | bytes], folder: str | PathLike[str]) -> str:
    """The record of a run, with the hashes of the files beside it."""
    hashes = {
        name: hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
        for name, text in files.items()
    }
    record = {
        "schema_version": 1,
        "kind": KIND,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "folder": str(Path(folder).absolute()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "cores": os.cpu_count(),
        "versions": dict(versions()),
        "seconds": {name: round(seconds, 3) for name, seconds in built.seconds.items()},
        "seconds_in_all": round(built.seconds_in_all, 3),
        "sha256": hashes,
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
