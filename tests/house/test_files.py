"""The shape of files and folders."""

import ast
import importlib
import re
import statistics
from collections import Counter

from tests.house.source import FILES, REPOSITORY, SOURCE, name_of

MOST_LINES = 400
MOST_MODULES = 20
PUBLIC_MODULES = {  # folders of estimators may hold more
    "linear_model", "cluster", "mixture", "neighbors", "preprocessing", "feature_selection", "svm",
    "metrics",
}  # fmt: skip


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def test_a_file_opens_with_its_idea():
    docs = {p: ast.get_docstring(ast.parse(p.read_text(encoding="utf-8"))) for p in FILES}
    assert not [name_of(path) for path, doc in docs.items() if len((doc or "").split()) < 2]


def test_a_file_can_be_read_in_one_sitting():
    assert not [name_of(path) for path in FILES if lines(path) > MOST_LINES]
    assert statistics.median(map(lines, FILES)) <= 200


def test_a_folder_can_be_seen_at_a_glance():
    count = Counter(path.parent.relative_to(SOURCE).as_posix() for path in FILES)
    most = {name: 30 if name in PUBLIC_MODULES else MOST_MODULES for name in count}
    most["definitions"] = 60  # a page a model
    assert not {name: n for name, n in count.items() if n > most[name]}
    tests = Counter(path.parent for path in (REPOSITORY / "tests").rglob("*.py"))
    most_tests = {"definitions": most["definitions"]}
    assert not {p.name: n for p, n in tests.items() if n > most_tests.get(p.name, MOST_MODULES)}


def test_the_root_holds_the_package_and_nothing_else():
    assert len([p for p in SOURCE.iterdir() if p.is_file()]) <= 6


def test_every_proof_states_an_equation():
    wrong = []
    for path in sorted((SOURCE / "proofs").rglob("*.py")):
        if path.name == "__init__.py":
            continue
        module = importlib.import_module(
            "certus." + name_of(path).removesuffix(".py").replace("/", ".")
        )
        if not re.search(r"[=≤≥].*", module.__doc__ or ""):
            wrong.append(name_of(path))
    assert not wrong


def test_every_claim_has_a_proof():
    from certus.certificate.registry import CLAIMS

    for claim in CLAIMS.values():
        assert callable(importlib.import_module(claim.proof).check)


TEXT = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".json", ".cfg", ".sh", ""}
FOLDERS = ["src", "tests", "benchmarks", "docs", "examples", ".ci", ".github"]
# spelt in pieces, so that this file does not find itself
MACHINE = re.compile("|".join(["/" + home + "/" for home in ("home", "root", "Users", "work")]))


def text_files():
    if not (REPOSITORY / "pyproject.toml").exists():
        return
    places = [p for p in REPOSITORY.iterdir() if p.is_file()]
    for folder in FOLDERS:
        places += (REPOSITORY / folder).rglob("*")
    for path in sorted(places):
        hidden = "__pycache__" in path.parts or path.name.startswith((".coverage", ".git"))
        if path.is_file() and path.suffix in TEXT and not hidden:
            yield path


def test_no_file_names_somebodys_machine():
    found = [
        f"{path.relative_to(REPOSITORY)}:{number}"
        for path in text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE.search(line)
    ]
    assert not found
