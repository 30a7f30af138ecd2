"""Files that are there whole or not at all."""

import os
import tempfile
from pathlib import Path
from typing import Any


def write_whole(path: Any, text: str) -> None:
    """The text as a file in UTF-8; what was there stays until all of it is written."""
    path = Path(path)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
