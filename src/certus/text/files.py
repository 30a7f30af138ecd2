"""Files that are written atomically."""

import secrets
from pathlib import Path
from typing import Any


def write_whole(path: Any, content: str | bytes) -> None:
    """Write a file, text as UTF-8; what was there stays until all of it is written."""
    path = Path(path)
    # opened by name, so that others may read it as they may read any new file of the user
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
