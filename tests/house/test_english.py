"""Names and prose that a stranger can read: each test lists the places that break its rule."""

import ast
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import certus
from certus import (
    cluster,
    distances,
    feature_selection,
    inference,
    linear_model,
    losses,
    metrics,
    mixture,
    neighbors,
    penalties,
    plotting,
    preprocessing,
    solvers,
    svm,
    testing,
)
from certus.certificate.fingerprint import Fingerprint
from certus.derivatives.check import GradientCheck
from certus.text.table import ResultTable
from tests.house.source import FILES, REPOSITORY, name_of, room_of, tree_of

PUBLIC_MODULES = (
    certus, cluster, distances, feature_selection, inference, linear_model, losses, metrics,
    mixture, neighbors, penalties, plotting, preprocessing, solvers, svm, testing,
)  # fmt: skip

PROSE = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "examples")
    for path in (REPOSITORY / folder).rglob("*.py")
)

# A docstring that begins so has no subject: "Of one block, or all."
RIDDLES = re.compile(r"(Of|The same) ")
QUOTED_RIDDLES = re.compile(r"""["']\s*(Of|The same) """)  # files without any need no parsing

# Adjectives, verbs and adverbs that say nothing by themselves: the name of a constant is a noun,
# with its unit (MAX_UNSCREENED_COORDINATES, not FEW).
NO_NOUNS = """
    ABOVE ALONE ASKED BELOW BETWEEN CAREFUL CHEAP CLOSE COARSE DENSE DISTINCT ENOUGH EQUAL EXACT
    FAILED FAINT FAR FEW FLAT FOUND FULL GIVEN HALFWAY HOPELESS KEEP KEPT KNOWN LARGE LARGEST LEAST
    LITTLE LONG LONGER LONGEST LOOSE LOST MANY MORE MOST NAMED NEAR NEARLY NEGLIGIBLE NEVER NORMAL
    NOTHING OPEN OTHER OWN PLAIN PRINTED RARE REFUSED RELATIVE ROUGH SAFE SAID SAME SEEN SELDOM
    SEPARATED SETTLED SHARED SHARP SHIFTED SHORT SHOWN SINGLE SINGULAR SLOW SMALL SMALLEST SOME
    SPARSE STABLE STEEP STUCK TALL TELL THIN THINNEST TIGHT TIGHTER TINY TOGETHER TOLD TOUCHING
    UNBOUNDED USEFUL WASTED WEAK WHOLE WIDE WORTH
""".split()  # noqa: SIM905 – a list of a hundred quoted words is harder to read

# Everyday words that tell a user nothing as the name of a parameter or of an attribute. A method
# or an attribute of a trained model that scikit-learn names so may keep its name.
NO_PUBLIC_NAMES = """
    ask asked but found here how keep kept know known look looked more near other own picked rest
    said say says some stuff tell those told what why
""".split()  # noqa: SIM905
# ``Fingerprint.differs(other)``: the conventional name of a second object of the same class
CONVENTIONAL_NAMES = {("differs", "other")}

# Identifiers are American, as scikit-learn's are; prose is British. No word of a name has one of
# these stems, except the English words that merely look so.
BRITISH_STEMS = re.compile(
    r"is(e|ed|es|er|ers|ing|ation|ations)$"
    r"|centre|colour|neighbour|behaviour|favour|labour|grey|fibre|analyse|catalogue"
    r"|(label|model|cancel|travel|signal)l(ed|ing)"
)
AMERICAN_TOO = {
    "arise", "columnwise", "elementwise", "exercise", "noise", "otherwise", "pairwise", "piecewise",
    "precise", "promise", "promised", "promising", "raise", "raised", "raises", "raising", "rise",
    "rises", "rowwise", "supervised", "unsupervised", "wise",
}  # fmt: skip

# A class name has one meaning. These names occur in several modules, and mean one thing in all.
ONE_MEANING = {
    "distance, of the page, the proof or the user": {
        "Boolean", "BrayCurtis", "Canberra", "Chebyshev", "Correlation", "Cosine", "Euclidean",
        "Hamming", "Haversine", "Mahalanobis", "Manhattan", "Minkowski", "NanEuclidean", "PhiS",
        "Spearman", "SquaredEuclidean", "StandardizedEuclidean",
    },
    "penalty, of the page and of the user; scikit-learn's estimator with it has the same name": {
        "ElasticNet", "GroupL2", "MCP", "SCAD", "Simplex",
    },
    "density or shape of covariances, of the page and of the solver": {
        "Bernoulli", "Diagonal", "Full", "Multinomial", "Poisson", "Spherical", "Tied",
    },
    "sums of an objective, which proof and solver compute without shared code": {
        "ClassGains", "OrdinalSums", "ValueGains",
    },
    "result, of the proof or solver and as a typed fact of the certificate": {
        "LeftOutDirection", "SeparatingColumn",
    },
    "interface of SciPy's sparse matrices; proofs import nothing of the fast rooms": {
        "SparseMatrix",
    },
}  # fmt: skip


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring of a file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def _constants(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of every constant of a module."""
    for node in tree_of(path).body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [
                name for t in node.targets for name in (t.elts if isinstance(t, ast.Tuple) else [t])
            ]
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper():
                yield node.lineno, target.id


def test_docstrings_begin_with_a_subject_or_a_verb():
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {text.splitlines()[0]}"
        for path in PROSE
        if QUOTED_RIDDLES.search(path.read_text(encoding="utf-8"))
        for line, text in _docstrings(path)
        if RIDDLES.match(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_constants_are_named_by_nouns():
    wrong = [
        f"{name_of(path)}:{line}: {name}"
        for path in FILES
        for line, name in _constants(path)
        if name.strip("_") in NO_NOUNS
    ]
    assert not wrong, "\n".join(wrong)


def _identifiers(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of everything that a file names: variables, parameters, functions, modules."""
    for node in ast.walk(tree_of(path)):
        line = getattr(node, "lineno", 0)
        for field in ("id", "attr", "arg", "asname"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield line, name
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.alias):
            yield line, node.name


def _words(identifier: str) -> list[str]:
    """Lower-case words of a name: SoftNeighbours_of has soft, neighbours and of."""
    return [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)]


def _is_british(identifier: str) -> bool:
    words = _words(identifier)
    return any(BRITISH_STEMS.search(word) and word not in AMERICAN_TOO for word in words)


def test_british_words_in_names_are_noticed():
    names = ("maximised", "_centre", "SoftNeighbours", "COLOURS", "minimise_model", "cancelling")
    assert all(map(_is_british, names))
    assert not any(map(_is_british, ("maximized", "pairwise_distances", "noise", "ValueError")))


def test_identifiers_are_american():
    wrong = {
        f"{name_of(path)}:{line}: {name}"
        for path in FILES
        for line, name in [*_identifiers(path), (0, path.stem)]
        if _is_british(name)
    }
    assert not wrong, "\n".join(sorted(wrong))


def _modules_of_classes() -> dict[str, list[Path]]:
    """The modules in which each class name is defined, at the top of the module."""
    modules = defaultdict(list)
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(path)
    return modules


def test_a_class_name_has_one_meaning():
    allowed = set().union(*ONE_MEANING.values())
    wrong = [
        f"{name}: {', '.join(map(name_of, paths))}"
        for name, paths in sorted(_modules_of_classes().items())
        if len(paths) > 1 and name not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def _public_names(thing: type | Callable[..., object]) -> Iterator[tuple[str, str]]:
    """Pairs of owner and name: parameters, fields, methods and attributes, also inherited ones."""
    if not isinstance(thing, type):
        yield from ((thing.__name__, name) for name in inspect.signature(thing).parameters)
        return
    for base in thing.__mro__:
        if base.__module__.split(".")[0] != "certus":
            continue
        yield from ((thing.__name__, name) for name in inspect.get_annotations(base))
        for name, value in vars(base).items():
            yield thing.__name__, name
            if inspect.isfunction(value) and (name == "__init__" or name[0] != "_"):
                yield from ((name, parameter) for parameter in inspect.signature(value).parameters)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield thing.__name__, node.attr


def test_public_parameters_and_attributes_are_words_of_the_field():
    things = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in PUBLIC_MODULES
        for name in module.__all__
        if callable(getattr(module, name))
    }
    things |= {cls.__name__: cls for cls in (Fingerprint, GradientCheck, ResultTable)}
    wrong = {
        f"{thing}: {owner}, {name}"
        for thing, value in things.items()
        for owner, name in _public_names(value)
        if name.rstrip("_") in NO_PUBLIC_NAMES and (owner, name) not in CONVENTIONAL_NAMES
    }
    assert not wrong, "\n".join(sorted(wrong))


def test_every_allowed_twin_exists():
    modules = _modules_of_classes()
    allowed = set().union(*ONE_MEANING.values())
    assert not sorted(name for name in allowed if len(modules.get(name, ())) < 2)


def test_the_certificate_has_no_untyped_value():
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        if room_of(path) == "certificate"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert not wrong, "\n".join(wrong)
