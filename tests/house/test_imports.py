"""Imports go one way, and cost what they should."""

import ast
import re
import subprocess
import sys

from tests.house.source import FILES, SOURCE, imports, name_of, room_of, room_of_module, tree_of

BASIC = {"exceptions", "text", "runtime"}
ESTIMATORS = {
    "linear_model", "cluster", "mixture", "neighbors", "preprocessing", "feature_selection", "svm",
    "metrics",
}  # fmt: skip
OF_ESTIMATORS = {
    "base", "certificate", "data", "distances", "inference", "losses", "penalties", "plotting",
    "solvers", *BASIC,
}  # fmt: skip
# What a room may import at run time.
MAY_IMPORT: dict[str, set[str]] = {
    "exceptions": set(),
    "text": {"exceptions"},
    "runtime": {"exceptions", "text"},
    "kernels": {"runtime"},  # the clock of kernels
    "definitions": set(),
    "proofs": set(),
    "audit": set(),
    "engines": BASIC,
    "data": {"engines", *BASIC},
    "losses": {"kernels"},
    "penalties": {"kernels"},
    "distances": {"kernels", "data", *BASIC},
    "solvers": {"losses", "penalties", "distances", "data", "kernels", *BASIC},
    "plotting": {"text", "exceptions"},
    "inference": {
        "plotting",
        "text",
        "exceptions",
        "root",
    },  # calling the package resolves certus.infer
    "derivatives": {"text", "exceptions"},
    "refits": {"solvers", "losses", "penalties", "data", *BASIC},
    "certificate": {
        "sources",
        "audit",
        "refits",
        "data",
        "definitions",
        "proofs",
        "plotting",
        "root",
        *BASIC,
    },
    "base": {"certificate", "data", "sources", "solvers", *BASIC},
    **dict.fromkeys(ESTIMATORS, OF_ESTIMATORS),
    "cluster": {"mixture", *OF_ESTIMATORS},  # BIC of mixtures says how many clusters there are
    "svm": {"linear_model", *OF_ESTIMATORS},  # LinearSVC is a linear classifier
    "drift": {"audit", "certificate", "data", "refits", *BASIC},
    "testing": {"audit", "base", "certificate", *BASIC},
    "tables": {"data", *BASIC},
    "sources": {"data", "engines", "tables", *BASIC},
    "model_files": {
        "certificate",
        "audit",
        "solvers",
        "losses",
        "penalties",
        "distances",
        "proofs",
        "root",
        *ESTIMATORS,
        *BASIC,
    },
    "coefficient_audit": {"audit", "certificate", "data", "losses", *BASIC},
    "model_inference": {"certificate", "inference", "linear_model", *BASIC},
    "reporting": {
        "audit",
        "certificate",
        "data",
        "engines",
        "model_files",
        "root",
        "solvers",
        "tables",
        *ESTIMATORS,
        *BASIC,
    },
    "audited_files": {"audit", "model_files", "tables", *BASIC},
    "cli": {
        "audit",
        "audited_files",
        "certificate",
        "coefficient_audit",
        "data",
        "kernels",
        "model_files",
        "reporting",
        "root",
        "sources",
        "tables",
        *ESTIMATORS,
        *BASIC,
    },
    "root": {
        "certificate",
        "coefficient_audit",
        "derivatives",
        "distances",
        "drift",
        "inference",
        "model_files",
        "model_inference",
        "plotting",
        "reporting",
        "sources",
        "testing",
        *ESTIMATORS,
        *BASIC,
    },
    "__main__": {"cli"},
}


def test_imports_go_one_way():
    wrong = []
    for path in FILES:
        room = room_of(path)
        assert room in MAY_IMPORT, f"{room} has no place in the table: decide what it may import"
        rooms = {room_of_module(module) for module in imports(path)} - {None, room}
        wrong += [f"{name_of(path)} imports {other}" for other in sorted(rooms - MAY_IMPORT[room])]
    assert not wrong


def test_the_table_itself_has_no_circle():
    # what certificates need of the root is the version, which is there before all imports, and what
    # inference needs is resolved when it is called
    graph = {room: targets - {"root"} for room, targets in MAY_IMPORT.items()}
    done: set[str] = set()
    while len(done) < len(graph):
        free = {room for room, to in graph.items() if room not in done and to <= done | {room}}
        assert not {room for to in graph.values() for room in to} - set(graph)
        assert free, f"a circle among {sorted(set(graph) - done)}"
        done |= free


def test_the_reader_of_imports_sees_them():
    proving = set(imports(SOURCE / "certificate/proving.py"))
    assert {"certus.proofs.least_squares.ridge_cv", "certus.audit"} <= proving
    gram = set(imports(SOURCE / "solvers/linalg/gram.py"))
    assert "certus.data.rows" in gram
    assert "certus.kernels.gram.weighted" in gram, "imports inside functions count"
    assert "numpy" in set(imports(SOURCE / "data/rows.py"))


def test_proofs_need_numpy_and_each_other_only():
    allowed = {"typing", "numpy"}
    wrong = [
        f"{name_of(path)} imports {module}"
        for path in FILES
        if room_of(path) == "proofs"
        for module in imports(path)
        if not module.startswith("certus.proofs.") and module not in allowed
    ]
    assert not wrong


def test_only_kernels_import_compilers():
    assert not [
        name_of(path)
        for path in FILES
        if room_of(path) != "kernels"
        if {m.split(".")[0] for m in imports(path)} & {"numba", "llvmlite"}
    ]


def test_only_the_renderer_imports_a_template_engine():
    assert not [
        name_of(path)
        for path in FILES
        if not name_of(path).startswith("reporting/render/")
        if {m.split(".")[0] for m in imports(path)} & {"jinja2", "markupsafe"}
    ]


def test_libraries_are_used_by_their_public_names():
    private = [
        f"{name_of(path)} imports {module}"
        for path in FILES
        for module in imports(path)
        if re.match(r"(sklearn|scipy|numpy)\b.*\._", module)
    ]
    assert not private, "private imports break at each release"


FORBIDDEN = {
    "pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "socket", "ssl", "urllib",
    "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "telnetlib", "xmlrpc",
    "webbrowser",
}  # fmt: skip
UNPICKLES = "audit/trusted_child.py"  # in a process of its own, what the user says to trust
RUNS_TEXT = ("eval", "exec", "__import__", "os.system", "os.popen")


def test_nothing_unpickles_evaluates_or_calls_home():
    wrong = []
    for path in FILES:
        used = {m.split(".")[0] for m in imports(path)} & FORBIDDEN
        wrong += [f"{name_of(path)} imports {name}" for name in sorted(used)]
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called.endswith("joblib.load") and name_of(path) != UNPICKLES:
                wrong.append(f"{name_of(path)}:{node.lineno} unpickles")
            if called in RUNS_TEXT:
                wrong.append(f"{name_of(path)}:{node.lineno} calls {called}")
            for keyword in node.keywords:  # allow_pickle lets a file run code
                if keyword.arg == "allow_pickle" and ast.unparse(keyword.value) != "False":
                    wrong.append(f"{name_of(path)}:{node.lineno} allows pickles")
    assert not wrong


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
        "jinja2", "pyarrow",
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


def test_no_module_shares_its_name_with_what_its_package_exports():
    """Importing the module again would put it in the place of the function."""
    wrong = [
        name_of(path)
        for path in FILES
        if path.name == "__init__.py"
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.module == (alias.asname or alias.name)
        and (path.parent / f"{node.module}.py").exists()
    ]
    assert not wrong, "\n".join(wrong)
