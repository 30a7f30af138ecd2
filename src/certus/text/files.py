"""Files that are written atomically."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def whole_file(path: Any) -> Iterator[BinaryIO]:
    """Open a file for writing; what was there stays until all of it is written."""
    path = Path(path)
    # opened by name, so that others may read it as they may read any new file of the user
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_whole(path: Any, content: str | bytes) -> None:
    """Write a file, text as UTF-8; what was there stays until all of it is written."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
