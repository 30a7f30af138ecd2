"""Red wines: the table of ``certus report --demo``. README.md says where it comes from."""

import gzip
import io
from importlib.resources import files

from ...tables import Table, read_table

NAME, TARGET = "red-wine.csv", "poor"


def text() -> bytes:
    """The table as a CSV file."""
    return gzip.decompress((files(__package__) / f"{NAME}.gz").read_bytes())


def table() -> Table:
    """The table as it is read from a file of its name."""
    stream = io.BytesIO(text())
    stream.name = NAME
    return read_table(stream)
