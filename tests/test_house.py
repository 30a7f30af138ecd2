"""Rules of the house, as programs that read the source."""

import ast
import importlib
import inspect
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import certus
from certus import (
    cluster,
    distances,
    exceptions,
    feature_selection,
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
)

SOURCE = Path(certus.__file__).parent
REPOSITORY = Path(__file__).parents[1]
FILES = sorted(SOURCE.rglob("*.py"))
names = [str(path.relative_to(SOURCE)) for path in FILES]
each_file = pytest.mark.parametrize("path", FILES, ids=names)

# What a room may import at run time. Rooms that do not exist yet have their place already.
ESTIMATORS = {
    "linear_model", "cluster", "mixture", "neighbors", "preprocessing", "feature_selection", "svm",
    "metrics",
}  # fmt: skip
WORDS = {"_words", "exceptions"}
TOOLS = {
    "_config", "_pool", "_finite", "_validation", "_labels", "_watching", "_explain",
    "_explain_classes", "_explain_linear", "_scoring", "_shares", "_files", "_memory",
    *WORDS,
}  # fmt: skip
OF_ESTIMATORS = {
    "solvers", "losses", "penalties", "distances", "certificate", "fingerprint", "inference",
    "rows", "csr", "lazy", "_table", "plotting", *TOOLS,
}  # fmt: skip
TOP = {"root", "certificate", "_config", "_pool", "_validation", "_explain", "rows", "kernels"}
MAY_IMPORT = {
    "root": {
        "_config", "certificate", "derivatives", "distances", "exceptions", "model_files",
        "plotting", "reporting", *ESTIMATORS,
    },
    "__main__": {"cli"},
    "cli": {"reporting", "model_files", "_demo", *ESTIMATORS, *TOP, *WORDS},
    "_demo": {*ESTIMATORS, *TOP, *WORDS},
    "reporting": {"model_files", *ESTIMATORS, *TOP, *WORDS},
    "model_files": {*ESTIMATORS, *TOP, *WORDS},
    **dict.fromkeys(ESTIMATORS, OF_ESTIMATORS),
    "cluster": {"mixture", *OF_ESTIMATORS},  # BIC of mixtures says how many clusters there are
    "svm": {"linear_model", *OF_ESTIMATORS},  # LinearSVC is a linear classifier
    "inference": {"_table", *WORDS},
    "_table": WORDS,
    "solvers": {
        "losses", "penalties", "distances", "rows", "kernels", "_config", "_pool", "_memory",
        *WORDS,
    },
    "losses": {"kernels"},
    "penalties": {"kernels"},
    "distances": {"kernels", "rows", "_config", "_pool", "_frames", *WORDS},
    "kernels": set(),
    "certificate": {
        "_answers", "audit", "rows", "definitions", "fingerprint", "_data", "_pool", "_validation",
        "_own_rows", "_explain",
        "_explain_classes", "_explain_html", "_explain_penalised", "_export", "_export_clusters",
        "_export_linkage", "_export_mixture", "_export_ncfs", "_export_neighbors", "_export_svm",
        "_separating", "_status", "plotting", *WORDS,
    },
    "_answers": {"_data", "audit", "definitions", "rows"},
    "_data": {"_pool", "rows"},
    "_own_rows": {"audit"},
    "_export": {"definitions", "_files", "_explain_left_out", *WORDS},
    "_export_neighbors": {"_export", *WORDS},
    "_export_clusters": {"_export", "_explain_clusters", *WORDS},
    "_export_linkage": {"_export", "_explain_linkage", *WORDS},
    "_export_ncfs": {"_export", "_explain_ncfs", *WORDS},
    "_export_svm": {"_export", *WORDS},
    "_export_mixture": {"_export", "_explain_mixture", *WORDS},
    "_status": set(),
    "_explain": {
        "root", "_explain_linear", "_explain_penalised", "_explain_classes", "_explain_neighbors",
        "_explain_clusters", "_explain_linkage", "_explain_mixture", "_explain_ncfs",
        "_explain_svm", "_explain_firth", "_explain_left_out", "_explain_coefficients", *WORDS,
    },
    "_explain_coefficients": set(WORDS),
    "_explain_left_out": set(WORDS),
    "_explain_firth": {"_explain_stopping", *WORDS},
    "_explain_linkage": set(WORDS),
    "_explain_linear": set(WORDS),
    "_explain_classes": {"_explain_stopping", *WORDS},
    "_explain_penalised": {"_explain_stopping", *WORDS},
    "_explain_stopping": set(WORDS),
    "_explain_neighbors": set(WORDS),
    "_explain_clusters": {"_explain_stopping", *WORDS},
    "_explain_ncfs": {"_explain_stopping", *WORDS},
    "_explain_svm": {"_explain_stopping", *WORDS},
    "_explain_mixture": {"_explain_stopping", *WORDS},
    "_explain_html": {
        "_explain", "_explain_classes", "_explain_clusters", "_explain_neighbors",
        "_explain_left_out", "_explain_coefficients", *WORDS,
    },
    "_validation": {"rows", "csr", "lazy", "_finite", "_frames", "_labels", "_memory", *WORDS},
    "_finite": {"csr", "lazy", *WORDS},
    "_memory": set(),
    "_labels": {"_frames", *WORDS},
    "_separating": {"rows"},
    "_scoring": set(),
    "_shares": set(),
    "_files": set(),
    "_frames": set(WORDS),
    "fingerprint": {"rows"},
    "rows": {"_config", "_pool", "csr", "lazy"},
    "csr": set(),
    "lazy": set(),
    "_pool": {"_helpers"},
    "_helpers": set(),
    "_watching": {*WORDS},
    "plotting": {"_files", *WORDS},
    "derivatives": {"_mistakes", *WORDS},
    "_mistakes": {*WORDS},
    "_config": set(),
    "_words": set(),
    "exceptions": set(),
    "audit": set(),
    "definitions": set(),
}  # fmt: skip


def room_of(path: Path) -> str:
    inside = path.relative_to(SOURCE)
    name = inside.parts[0] if len(inside.parts) > 1 else inside.stem
    return "root" if name == "__init__" else name


def only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def run_time_nodes(node: ast.AST):
    for child in ast.iter_child_nodes(node):
        if not only_for_types(child):
            yield child
            yield from run_time_nodes(child)


def imports(path: Path):
    """Full names of all modules that a file imports at run time, wherever in it."""
    package = ["certus", *path.relative_to(SOURCE).parent.parts]
    for node in run_time_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "certus":  # from . import x
                for alias in node.names:
                    inside = SOURCE / alias.name
                    is_module = inside.is_dir() or inside.with_suffix(".py").exists()
                    yield f"certus.{alias.name}" if is_module else "certus"
            else:
                yield module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            text = ast.unparse(node.args[0]).lstrip("f'\"")
            if text.startswith("certus."):
                yield text.split("{")[0].rstrip(".'\"")


def room_of_module(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "certus":
        return None
    return parts[1] if len(parts) > 1 else "root"


# --- imports --------------------------------------------------------------------------------------


@each_file
def test_imports_go_one_way(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} has no place in the table: decide what it may import"
    rooms = {room_of_module(module) for module in imports(path)} - {None, room}
    assert rooms <= MAY_IMPORT[room], f"{room} imports {sorted(rooms - MAY_IMPORT[room])}"


def test_the_table_itself_has_no_circle():
    # what words need of the root is the version, which is there before anything is imported
    graph = {room: targets - {"root"} for room, targets in MAY_IMPORT.items()}
    done = set()
    while len(done) < len(graph):
        free = {room for room, to in graph.items() if room not in done and to <= done | {room}}
        unknown = {room for to in graph.values() for room in to} - set(graph)
        assert not unknown
        assert free, f"a circle among {sorted(set(graph) - done)}"
        done |= free


def test_the_reader_of_imports_sees_them():
    assert "certus.definitions" in set(imports(SOURCE / "certificate.py"))
    assert "certus.rows" in set(imports(SOURCE / "solvers" / "gram.py"))
    assert "certus.audit" in set(imports(SOURCE / "certificate.py"))
    assert "numpy" in set(imports(SOURCE / "rows.py"))
    gram = set(imports(SOURCE / "solvers" / "gram.py"))
    assert "certus.kernels.gram" in gram, "imports inside functions count"


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "definitions").glob("*.py")), ids=lambda p: p.name
)
def test_definitions_need_numpy_and_each_other_only(path):
    allowed = {"typing", "numpy", "certus.definitions"}
    for module in imports(path):
        inside = module.startswith("certus.definitions.")
        assert inside or module in allowed, f"{path.name} imports {module}"


@pytest.mark.parametrize("path", sorted((SOURCE / "audit").glob("*.py")), ids=lambda p: p.name)
def test_readers_of_other_libraries_import_none_of_ours(path):
    ours = {module for module in imports(path) if room_of_module(module) not in (None, "audit")}
    assert not ours


@each_file
def test_only_kernels_import_numba(path):
    compilers = {m for m in imports(path) if m.split(".")[0] in ("numba", "llvmlite")}
    assert not compilers or room_of(path) == "kernels"


@each_file
def test_scikit_learn_is_used_by_its_public_names(path):
    private = {m for m in imports(path) if re.match(r"(sklearn|scipy|numpy)\b.*\._", m)}
    assert not private, "private imports break at each release"


FORBIDDEN = {
    "pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "socket", "ssl", "urllib",
    "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "telnetlib", "xmlrpc",
    "webbrowser",
}  # fmt: skip


@each_file
def test_nothing_unpickles_evaluates_or_calls_home(path):
    assert not {m.split(".")[0] for m in imports(path)} & FORBIDDEN
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "__import__", "os.system", "os.popen"), called
            for keyword in node.keywords:
                safe = keyword.arg != "allow_pickle" or ast.unparse(keyword.value) == "False"
                assert safe, "allow_pickle lets a file run code"


# --- what an import costs -------------------------------------------------------------------------


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    return {name.split(".")[0] for name in found.stdout.split()}


def test_import_certus_loads_nothing_heavy():
    loaded = modules_after("import certus")
    assert "certus" in loaded
    assert not loaded & {
        "numba", "llvmlite", "pandas", "matplotlib", "sklearn", "scipy", "joblib", "dask", "rich",
    }  # fmt: skip


def test_a_fit_and_its_audit_load_neither_compiler_nor_frames_nor_plots():
    loaded = modules_after(
        "import numpy as np, certus\n"
        "from certus.linear_model import LinearRegression, Ridge, RidgeCV\n"
        "X = np.random.default_rng(0).normal(size=(100, 5)); y = X.sum(axis=1) + X[:, 0] ** 2\n"
        "for cls in (LinearRegression, Ridge, RidgeCV):\n"
        "    model = cls().fit(X, y); certus.verify(model, X, y).explain(); model._repr_html_()"
    )
    assert "sklearn" in loaded
    # not rich: scikit-learn imports it for its progress bar, where it is installed
    assert not loaded & {"numba", "llvmlite", "matplotlib", "dask"}


# --- what people can use --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module",
    [
        certus,
        cluster,
        distances,
        feature_selection,
        linear_model,
        mixture,
        neighbors,
        preprocessing,
        losses,
        metrics,
        penalties,
        solvers,
        svm,
        exceptions,
        plotting,
    ],
    ids=lambda m: m.__name__,
)
def test_public_names_exist_are_documented_and_are_all(module):
    assert sorted(set(module.__all__)) == sorted(module.__all__), "a name twice"
    for name in module.__all__:
        thing = getattr(module, name)
        doc = thing.__doc__
        assert doc, f"{name} has no docstring"
        assert len(doc.split()) > 3, f"{name}: say what it is"
    assert set(module.__all__) <= set(dir(module))


def test_public_functions_say_what_their_arguments_are():
    for function in (certus.verify, certus.set_config, certus.check_gradient):
        doc = inspect.getdoc(function)
        for name, parameter in inspect.signature(function).parameters.items():
            assert name in doc or parameter.kind is inspect.Parameter.VAR_KEYWORD


def test_every_field_of_a_certificate_that_people_read_is_documented():
    doc = certus.Certificate.__doc__
    for name in (
        "objective", "bound", "gap", "residual", "kind", "status", "certified", "tol", "coef_error",
        "seconds", "fingerprint", "trace",
    ):  # fmt: skip
        assert name in doc
    for method in ("explain", "note", "export", "plot"):
        assert inspect.getdoc(getattr(certus.Certificate, method))


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'linear_modle'"):
        certus.linear_modle


@pytest.mark.parametrize("name", linear_model.__all__)
def test_every_estimator_states_what_it_minimises(name):
    doc = inspect.getdoc(getattr(linear_model, name))
    first = doc.split("Parameters\n")[0].lower()
    assert "minimise" in first
    assert "Σ" in doc.split("Parameters\n")[0]
    for section in ("Parameters", "Attributes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    assert "certificate_" in doc


@pytest.mark.parametrize("name", [n for n in svm.__all__ if n != "density_weights"])
def test_every_kernel_machine_states_what_it_minimises(name):
    doc = inspect.getdoc(getattr(svm, name))
    first = doc.split("Parameters\n")[0].lower()
    assert "minimise" in first
    assert "σ ωᵢ" in first or "σ sᵢ" in first or "σ cᵢ" in first
    for section in ("Parameters", "Attributes", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    assert "certificate_" in doc


@pytest.mark.parametrize("name", [n for n in feature_selection.__all__ if n[:4] == "NCFS"])
def test_every_selector_states_what_it_maximises(name):
    doc = inspect.getdoc(getattr(feature_selection, name))
    first = doc.split("Parameters\n")[0].lower()
    assert "maximise" in first
    assert "certificate_" in doc


@pytest.mark.parametrize("name", exceptions.__all__)
def test_exceptions_and_warnings_are_what_their_names_say(name):
    cls = getattr(exceptions, name)
    assert issubclass(cls, Warning) == name.endswith("Warning")
    assert issubclass(cls, Exception)


def test_the_version_is_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?(\.dev\d+)?", certus.__version__)


def test_types_are_shipped():
    assert (SOURCE / "py.typed").exists()


# --- the shape of files ---------------------------------------------------------------------------


@each_file
def test_a_file_opens_with_its_idea(path):
    text = path.read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(text))
    assert doc, "say what the file is for"
    assert len(doc.split()) >= 2


@each_file
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_most_files_are_short():
    assert statistics.median(len(p.read_text(encoding="utf-8").splitlines()) for p in FILES) <= 200


# of these no certificate is made
PARTS = {
    "answers", "answers_of_rows",
    "accurate_products", "careful_curvature", "center_products", "cluster_points",
    "combined_columns",
    "count_components", "curvature", "density", "distances", "duality", "factored_squares",
    "firth_directions",
    "gap_statistic",
    "hinge_dual", "inference", "kernels", "kmeans_claims", "linear_sums", "linkage_centers",
    "linkage_looks", "nearly_dependent_squares", "negligible_directions", "orthogonal_coordinates",
    "repeated_columns",
    "residual_curvature",
    "linkage_members", "linkage_rows", "linkage_tree", "lssvm_choice", "lssvm_claims",
    "margins", "missing_entries", "mixture_claims", "mixture_sums", "ncfs_asked", "ncfs_claims",
    "ncfs_pairs", "near_centers", "nearest_centers", "neighbor_answers", "neighbor_rows",
    "neighbor_votes", "normal_components", "normals_of_few_rows", "ordinal_excess",
    "ordinal_sums", "orthogonal_directions", "penalised_slopes", "penalty_terms",
    "residual_sums", "separation", "silhouette", "spectral_bound", "stability", "uniqueness",
    "weightless",
}  # fmt: skip


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "definitions").glob("[a-z]*.py")), ids=lambda p: p.stem
)
def test_every_definition_can_be_imported_and_states_an_equation(path):
    module = importlib.import_module(f"certus.definitions.{path.stem}")
    assert re.search(r"[=≤≥].*", module.__doc__)
    if path.stem not in PARTS:
        assert callable(module.check)


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
