"""Files that are there whole or not at all."""

import secrets
from pathlib import Path
from typing import Any


def write_whole(path: Any, text: str) -> None:
    """The text as a file in UTF-8; what was there stays until all of it is written."""
    path = Path(path)
    # opened by name, so that others may read it as they may read any new file of the user
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
