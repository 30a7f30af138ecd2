"""Tables from text that stands in a test."""

import io

import pytest

from certus.exceptions import TableError
from certus.tables import read_table


def read(content, **options):
    """The table of a text or of bytes."""
    content = content.encode() if isinstance(content, str) else content
    return read_table(io.BytesIO(content), **options)


def roles(table):
    return {c.name: c.role for c in table.columns}


def values(table, name):
    return table.data.column(name).to_pylist()


def kind(table, name):
    return str(table.data.column(name).type)


def refusal(content, **options):
    """The message of the refusal of a text, or of bytes."""
    with pytest.raises(TableError) as caught:
        read(content, **options)
    return str(caught.value)
