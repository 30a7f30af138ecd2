"""docs/proofs.md shows the pages as they are."""

import pytest

from certus.certificate.pages.lines import n_lines
from tests.definitions.proofs_page import HEAD, PAGES, PATH, models, pages, row_of, text


def rows():
    """Rows of the table of models, as the document has them."""
    document = PATH.read_text(encoding="utf-8")
    return document[len(HEAD) : document.index(PAGES)].splitlines(keepends=True)


def test_the_document_is_what_its_script_writes():
    assert PATH.read_text(encoding="utf-8") == text(rows())


@pytest.mark.exhaustive
def test_the_table_of_models_is_what_their_fits_need():
    assert rows() == [row_of(*key, lines) for key, lines in sorted(models().items())]


def test_no_model_has_more_than_80_lines_to_read():
    most = [int(row.split("|")[-2].split("–")[-1]) for row in rows()]
    assert len(most) > 40
    assert max(most) <= 80


def test_no_page_has_more_than_80_lines_of_code():
    assert not {name: n for name, source in pages().items() if (n := n_lines(source)) > 80}


def test_pages_import_numpy_the_standard_library_and_their_terms_only():
    wrong = [
        (name, line)
        for name, source in pages().items()
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
        and not line.startswith(
            ("import numpy as np", "from math", "import math", "from fractions", "from itertools",
             "from certus.definitions.terms")
        )
    ]  # fmt: skip
    assert not wrong
