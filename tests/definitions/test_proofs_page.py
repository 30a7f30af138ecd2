"""docs/proofs.md shows the pages as they are."""

from certus.certificate.pages.lines import n_lines
from tests.definitions.proofs_page import PATH, pages, text


def test_the_document_is_what_its_script_writes():
    assert PATH.read_text(encoding="utf-8") == text()


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
