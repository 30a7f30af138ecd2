"""``certus.verify`` on kernel machines: correct models are accepted, edited ones are refused."""

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import certus
from certus.certificate import certify
from certus.data.validation import data_for_verify
from certus.exceptions import CannotVerifyError, CertificateError, DegenerateWarning
from certus.svm import LSSVC, LSSVCCV, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC
from tests.contract.problems import weights

X3, Y3 = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
IRIS, TWO = (X3, NAMES[Y3]), (X3[50:], Y3[50:])
VALUES = X3[:, :3], X3[:, 3]
SEVERAL = X3[:, :2], X3[:, 2:]


def products(A, B):
    return A.astype(float) @ B.astype(float).T + 1.0


def given(rows, kernel=rbf_kernel):
    return kernel(rows[0]), rows[1]


OURS = {
    "two classes": (LSSVC(10.0), TWO),
    "three classes": (LSSVC(), IRIS),
    "linear": (LSSVC(kernel="linear"), IRIS),
    "poly": (LSSVC(kernel="poly", degree=2, coef0=1.0, gamma="auto"), TWO),
    "no intercept": (LSSVC(fit_intercept=False, gamma=0.5), IRIS),
    "balanced": (LSSVC(class_weight="balanced"), (X3[30:], NAMES[Y3[30:]])),
    "dict": (LSSVC(class_weight={1: 2.0, 2: 0.5}), TWO),
    "precomputed": (LSSVC(kernel="precomputed"), given(TWO)),
    "function": (LSSVC(kernel=products), IRIS),
    "values": (LSSVR(3.0), VALUES),
    "several values": (LSSVR(kernel="linear"), SEVERAL),
    "chosen": (LSSVCCV([0.1, 1.0, 10.0], 3), TWO),
    "chosen by log": (LSSVCCV([1.0, 30.0], "scale", scoring="log", class_weight="balanced"), IRIS),
    "density": (DensityWeightedLSSVC(5.0), TWO),
    "density of classes": (DensityWeightedLSSVC(density="per_class", n_neighbors=3), IRIS),
    "primal": (DensityWeightedLSSVC(formulation="primal", epsilon=0.05), IRIS),
    "machine": (DensityWeightedSVC(), TWO),
    "machines": (DensityWeightedSVC(C=3.0, density="per_class", class_weight=None), IRIS),
}
each_of_ours = pytest.mark.parametrize("name", OURS)
# the solver's own word; what a person gave; what is not a claim
SILENT = {
    "condition_", "certificate_", "n_features_in_", "feature_names_in_", "n_iter_", "fit_status_",
}  # fmt: skip


def fitted(name, s=None, kind=float):
    model, (X, y) = OURS[name]
    model, X = certus_clone(model), X.astype(kind)
    return model.fit(X, y, sample_weight=s), X, y


def certus_clone(model):
    return type(model)(**model.get_params())


def accepted(model, X, y, s=None):
    try:
        return certus.verify(model, X, y, s).certified
    except CannotVerifyError:
        return False


def weight_of(y, seed=1):
    s = weights(seed, len(y))
    s[7] = 0.0
    return s


# --- what holds is accepted -----------------------------------------------------------------------


@each_of_ours
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", [float, np.float32])
def test_a_fit_is_optimal_for_who_has_the_rows(name, weighted, kind):
    s = weight_of(OURS[name][1][1]) if weighted else None
    model, X, y = fitted(name, s, kind)
    c = certus.verify(model, X, y, s)
    assert (c.status, c.kind, c.certified) == ("optimal", "global", True), c.explain()
    assert c.objective == model.certificate_.objective == pytest.approx(model.objective_, rel=1e-8)
    assert c.bound <= c.objective <= c.bound + 1.01 * c.gap
    assert c.residual <= 1e-6
    left_out = vars(model).get("loo_scores_")
    if left_out is not None:
        score = model.loo_r2_ if isinstance(model, LSSVR) else model.loo_accuracy_
        assert c._finding.facts.loo == pytest.approx(score)
        assert c._finding.facts.effective == pytest.approx(model.effective_parameters_)


@pytest.mark.parametrize("name", ["three classes", "values", "chosen", "primal"])
def test_verify_works_where_every_solver_raises(name, monkeypatch):
    model, X, y = fitted(name)

    def refuse(*_, **__):
        raise AssertionError("a certificate asked a solver")

    from certus.solvers import lssvm
    from certus.solvers.lssvm import kernel

    for module in {sys.modules[m] for m in sys.modules if m.startswith("certus.solvers.lssvm")}:
        for function in ("solve", "solve_primal", "predict", "grid", "factored"):
            if hasattr(module, function):
                monkeypatch.setattr(module, function, refuse)
    for function in ("gram", "between"):
        monkeypatch.setattr(kernel.Kernel, function, refuse)
    assert lssvm.solve is refuse
    assert certify(model, data_for_verify(model, X, y, None)).certified
    # verify asks the model for its answers too, and for these it needs its own kernel
    assert "fails: AssertionError" in certus.verify(model, X, y).explain()


def test_a_kernel_that_is_not_definite_is_stationary_and_never_optimal():
    model = LSSVC(kernel="sigmoid", gamma=0.01, coef0=-0.5)
    with pytest.warns(DegenerateWarning, match="not positive semidefinite"):
        model.fit(*TWO)
    c = certus.verify(model, *TWO)
    assert (c.status, c.kind, c.bound, c.gap) == ("stationary", "stationary", None, np.inf)
    assert c._finding.facts.least_eigenvalue < 0
    for message in (repr(c), c.explain(), c.note(), c._repr_html_()):
        assert "inimises" not in message
        assert "inimised ½" not in message
        assert not re.search(r"\boptimal\b", message)
    assert "Kernel         not positive semidefinite (an eigenvalue is below 0, none below" in (
        c.explain()
    )
    model.intercept_ = model.intercept_ + 0.1
    c = certus.verify(model, *TWO)
    assert c.status == "not stationary"
    assert "the equations of the fit are missed by" in c.explain()


# --- what does not is refused ---------------------------------------------------------------------


def edits(value):
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        yield array[::-1].copy() if array.size > 1 and (array != array[::-1]).any() else array + 1
        return
    if array.dtype.kind not in "f":
        return
    yield float(array * 1.01) if array.ndim == 0 else array * 1.01
    if array.ndim:
        for i in np.argsort(-np.abs(array), axis=None)[:3]:
            moved = array.copy()
            moved.flat[i] *= 1.01
            yield moved


@each_of_ours
def test_every_fitted_attribute_that_is_edited_by_one_percent_is_refused(name):
    model, X, y = fitted(name)
    taken, checked = [], set()
    for attribute, value in sorted(vars(model).items()):
        nothing = value is None or not np.any(np.asarray(value) != 0)
        if not attribute.endswith("_") or attribute in SILENT or nothing:
            continue
        if attribute == "gamma_" and str(model.kernel) not in ("rbf", "poly", "sigmoid"):
            continue  # it has none
        checked.add(attribute)
        for edited in edits(value):
            setattr(model, attribute, edited)
            if accepted(model, X, y):
                taken.append((attribute, edited, value))
        setattr(model, attribute, value)
    assert accepted(model, X, y)
    assert checked >= {"dual_coef_", "intercept_", "objective_"} - (
        {"intercept_"} if name == "no intercept" else set()
    )
    assert not taken


@pytest.mark.parametrize(
    ("name", "attribute", "message"),
    [
        ("two classes", "objective_", "objective_ is "),
        ("two classes", "gamma_", "gamma_ is "),
        ("two classes", "effective_parameters_", "effective_parameters_ is "),
        ("two classes", "loo_accuracy_", "loo_accuracy_ is "),
        ("three classes", "loo_scores_", "a fit without it gives"),
        ("values", "loo_r2_", "loo_r2_ is "),
        ("balanced", "class_weight_", "class_weight='balanced' makes it"),
        ("density", "density_weights_", "density_weights_ of row"),
        ("chosen", "best_score_", "best_score_ is "),
        ("chosen", "scores_", "C_ and gamma_ score|rows left out give|best_score_ is"),
        ("chosen", "C_", "not on the grid"),
        ("values", "X_fit_", "of X_fit_ is not the row given"),
        ("machine", "support_vectors_", "support_vectors_ are not the rows|other coefficients"),
    ],
)
def test_what_is_contradicted_is_named(name, attribute, message):
    model, X, y = fitted(name)
    value = getattr(model, attribute)
    setattr(model, attribute, value * 1.01)
    c = certus.verify(model, X, y)
    assert not c.certified
    assert re.search(message, c.explain()), c.explain()


@pytest.mark.parametrize("name", ["two classes", "values", "density", "primal", "machine"])
def test_other_rows_are_recognised(name):
    model, X, y = fitted(name)
    c = certus.verify(model, X[::-1], y)
    assert (c.status, c.certified) == ("other rows", False)
    c = certus.verify(model, X, np.roll(y, 1))
    assert c.status == "other rows"
    assert certus.verify(model, X, y, np.linspace(1, 2, len(X))).status == "other rows"
    with pytest.raises(CannotVerifyError, match="give the rows of the fit"):
        certus.verify(model, X[:-9], y[:-9])
    with pytest.raises(CannotVerifyError, match="give y as well"):
        certus.verify(model, X)


def test_a_function_that_is_not_symmetric_is_reported():
    model, X, y = fitted("function")
    model.kernel = lambda A, B: A @ B.T + 1.0 + 0.01 * A[:, [0]]
    assert "the kernel is not symmetric: rows" in certus.verify(model, X, y).explain()


def test_more_rows_than_are_left_out_one_by_one_get_a_note():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 2))
    model = LSSVC(loo=True).fit(X, (X[:, 0] > 0).astype(int))
    c = model.certificate_
    assert c.certified
    assert c._finding.facts.loo is None
    assert any("of more than 1,000 rows were not recomputed" in note for note in c.notes)


# --- scikit-learn ---------------------------------------------------------------------------------

MACHINES = {
    "rbf": ({}, None),
    "linear": ({"kernel": "linear", "C": 0.1}, None),
    "poly": ({"kernel": "poly", "degree": 2, "coef0": 1.0}, None),
    "auto": ({"gamma": "auto"}, None),
    "balanced": ({"class_weight": "balanced", "C": 7.0}, None),
    "dict": ({"class_weight": {1: 3.0}}, None),
    "function": ({"kernel": products}, None),
    "precomputed": ({"kernel": "precomputed"}, rbf_kernel),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_scikit_learns_machine_is_optimal_once_its_tolerance_is_small(name, classes, weighted):
    options, kernel = MACHINES[name]
    X, y = (X3[50:], Y3[50:]) if classes == 2 else (X3, Y3)
    X = X if kernel is None else kernel(X)
    s = weights(1, len(y)) if weighted else None
    model = SVC(tol=1e-10, **options).fit(X, y, sample_weight=s)
    c = certus.verify(model, X, y, s)
    assert (c.status, c.model) == ("optimal", "sklearn.svm.SVC"), c.explain()
    dual = model.dual_coef_.copy()
    i = np.unravel_index(np.argmax(np.abs(dual)), dual.shape)
    model.dual_coef_[i] *= 1.01
    assert not accepted(model, X, y, s)
    model.dual_coef_[:] = dual
    model.intercept_ = model.intercept_ + 0.05
    assert not accepted(model, X, y, s)
    model.intercept_ = model.intercept_ - 0.05
    assert accepted(model, X, y, s)
    model.set_params(C=1.01 * model.C)
    assert not accepted(model, X, y, s)


@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_rows_of_scikit_learns_are_read(classes):
    X, y = (X3[50:], Y3[50:]) if classes == 2 else (X3, Y3)
    model = SVC(tol=1e-10).fit(csr_matrix(X), y)
    c = certus.verify(model, csr_matrix(X), y)
    assert c.status == certus.verify(model, X, y).status == "optimal"
    model.dual_coef_ = model.dual_coef_ * 1.01
    assert not accepted(model, csr_matrix(X), y)
    ridge = KernelRidge(kernel="rbf").fit(csr_matrix(X), y)
    assert certus.verify(ridge, csr_matrix(X), y).status == "optimal"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rows_far_from_the_origin_are_certified(kernel):
    X, y = VALUES
    near = LSSVR(kernel=kernel).fit(X, y)
    far = LSSVR(kernel=kernel).fit(X + 1e4, y)
    assert far.certificate_.status == "optimal"
    assert far.certificate_.objective == pytest.approx(near.certificate_.objective, rel=1e-6)


def test_the_default_tolerance_is_named_as_the_cause():
    X, y = StandardScaler().fit_transform(X3), Y3
    c = certus.verify(SVC(tol=0.1).fit(X, y), X, y)
    assert c.status in ("nearly optimal", "not optimal")
    text = c.explain()
    assert re.search(r"between \d and \d the objective may be too high by", text)
    assert "tol=0.1 stopped it early" in text
    assert "lower tol (it was 0.1)" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ConvergenceWarning
        model = SVC(max_iter=3).fit(X, y)
    assert "raise max_iter" in certus.verify(model, X, y).explain()


def test_rows_of_weight_zero_move_the_numbers_of_scikit_learns_support():
    """libsvm renumbers the other rows, so that a precomputed kernel is read for the wrong ones."""
    s = np.ones(100)
    s[:9] = 0.0
    X, y = TWO
    model = SVC(tol=1e-10).fit(X, y, sample_weight=s)
    assert not np.array_equal(model.support_vectors_, X[model.support_])
    c = certus.verify(model, X, y, s)
    assert c.status == "optimal"
    assert any("counts the rows of positive weight only" in note for note in c.notes)
    assert c._finding.facts.left_out_rows == 9
    K = rbf_kernel(X, gamma=0.1)
    model = SVC(kernel="precomputed", tol=1e-10).fit(K, y, sample_weight=s)
    without = SVC(kernel="precomputed", tol=1e-10).fit(K[9:, 9:], y[9:])
    off = model.decision_function(K) - without.decision_function(K[:, 9:])
    assert np.abs(off).max() > 0.1  # it answers for other rows than it has learned
    c = certus.verify(model, K, y, s)
    assert c.status == "not optimal"
    assert "uses the kernel values of other rows where rows have weight 0" in c.explain()
    assert certus.verify(without, K[9:, 9:], y[9:]).certified


def test_a_sigmoid_machine_and_a_changed_support_are_refused_as_optimal():
    X, y = TWO
    c = certus.verify(SVC(kernel="sigmoid", tol=1e-8).fit(X, y), X, y)
    assert (c.status, c.bound) == ("stationary", None)
    model = SVC(tol=1e-8).fit(X, y)
    model.support_ = model.support_[::-1].copy()
    c = certus.verify(model, X, y)
    assert "support_vectors_ are not the rows that support_ names" in c.explain()
    model.support_ = model.support_ + 1000
    with pytest.raises(CannotVerifyError, match="support_ names rows that do not exist"):
        certus.verify(model, X, y)


RIDGES = {
    "linear": ({}, None),
    "rbf": ({"kernel": "rbf", "alpha": 0.3}, None),
    "polynomial": ({"kernel": "polynomial", "degree": 2, "gamma": 0.5}, None),
    "laplacian": ({"kernel": "laplacian"}, None),
    "cosine": ({"kernel": "cosine"}, None),
    "function": ({"kernel": lambda a, b: float(a @ b)}, None),
    "precomputed": ({"kernel": "precomputed"}, laplacian_kernel),
}


@pytest.mark.parametrize("name", RIDGES)
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_scikit_learns_kernel_ridge_is_optimal(name, targets, weighted):
    options, kernel = RIDGES[name]
    X, y = VALUES if targets == 1 else SEVERAL
    X = X if kernel is None else kernel(X)
    s = weight_of(y) if weighted else None
    if targets == 2:
        options = {**options, "alpha": [0.5, 2.0]}
    model = KernelRidge(**options).fit(X, y, sample_weight=s)
    c = certus.verify(model, X, y, s)
    assert (c.status, c.model) == ("optimal", "sklearn.kernel_ridge.KernelRidge"), c.explain()
    model.dual_coef_ = 1.01 * model.dual_coef_
    assert certus.verify(model, X, y, s).residual > 1e-6
    model.dual_coef_ = model.dual_coef_ / 1.01
    model.alpha = 1.5 * np.asarray(model.alpha)
    assert not accepted(model, X, y, s)


def test_what_has_no_penalty_or_no_known_kernel_is_not_audited():
    X, y = VALUES
    model = KernelRidge(kernel="rbf").fit(X, y)
    model.alpha = 0.0
    with pytest.raises(CannotVerifyError, match="has no penalty"):
        certus.verify(model, X, y)
    model = KernelRidge(kernel="chi2", gamma=1.0).fit(X, y)
    with pytest.raises(CannotVerifyError, match=r"kernel='chi2'.* cannot be audited"):
        certus.verify(model, X, y)
    model = KernelRidge(kernel="rbf").fit(X, y)
    model.X_fit_ = model.X_fit_ + 0.1
    assert "row 0 of X_fit_ is not the row given" in certus.verify(model, X, y).explain()


def test_kernel_ridge_and_lssvr_without_intercept_are_one_problem():
    X, y = VALUES
    theirs = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.25).fit(X, y)
    ours = LSSVR(4.0, gamma=0.3, fit_intercept=False).fit(X, y)
    a, b = certus.verify(theirs, X, y), certus.verify(ours, X, y)
    assert a.objective == pytest.approx(b.objective, rel=1e-10)
    assert b._finding.null_objective == pytest.approx(a._finding.null_objective, rel=1e-12)


def test_a_model_is_found_in_pipelines_and_searches():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), LSSVC())
    assert certus.verify(model.fit(X, y), X, y).status == "optimal"
    search = GridSearchCV(SVC(tol=1e-9), {"C": [0.1, 1.0]}).fit(X, y)
    c = certus.verify(search, X, y)
    assert c.status == "optimal"
    assert any("GridSearchCV" in note for note in c.notes)


# --- words and scripts ----------------------------------------------------------------------------


def test_the_words_of_an_optimum():
    c = LSSVC(gamma=0.5).fit(*IRIS).certificate_
    text = c.explain()
    assert re.fullmatch(
        r"Certificate\(optimal: objective [\d.]+, at most [\de.-]+ above the best possible\)",
        repr(c),
    )
    assert text.startswith(
        "[OK] OPTIMAL   LSSVC, 150 rows × 4 columns\n"
        "Minimised      ½‖w‖² + ½ Σ (yᵢ − wᵀφ(xᵢ) − b)², K = exp(−0.5‖x − z‖²)\n"
    )
    for message in (
        "(dual bound)", "of what the intercept alone leaves", "Coefficients   none is more than",
        "effective", "Left out       each row by a fit without it: accuracy 0.9",
        "certus.proofs.lssvm.lssvm, from the data; the solver was not asked",
    ):  # fmt: skip
        assert message in text
    assert "minimises ½‖w‖²" in c.note()
    assert "<strong>✔ Optimal</strong>" in c._repr_html_()


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("no intercept", "½‖w‖² + ½ Σ (yᵢ − wᵀφ(xᵢ))², K = exp(−0.5‖x − z‖²)"),
        ("dict", "½ Σ cᵢ(yᵢ − wᵀφ(xᵢ) − b)²"),
        ("density", "2.5 Σ cᵢdᵢ²(yᵢ"),
        ("primal", "0.525 (‖β‖² + b²) + ½ Σ cᵢdᵢ²(yᵢ − Σⱼ βⱼK(xᵢ, xⱼ) − b)²"),
        ("machines", "½‖w‖² + 3 Σ dᵢ [1 − yᵢ(wᵀφ(xᵢ) + b)]₊"),
        ("poly", "K = (0.25 xᵀz + 1)^2"),
        ("precomputed", "K = X as given"),
        ("function", "K = a function of yours"),
    ],
)
def test_the_objective_is_spelt_out(name, formula):
    assert formula in fitted(name)[0].certificate_.formula


@each_of_ours
def test_every_word_can_be_printed(name, monkeypatch):
    class Terminal:
        encoding = "ascii"

    model, X, y = fitted(name)
    good = certus.verify(model, X, y)
    model.intercept_ = model.intercept_ + 1.0
    bad = certus.verify(model, X, y)
    assert not bad.certified
    monkeypatch.setattr("certus.text.format.sys.stdout", Terminal())
    for c in (good, bad):
        for message in (repr(c), c.explain(), c.note()):
            message.encode("ascii")
            assert "?" not in message


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run check.py where only NumPy can be imported."""
    folder = tmp_path_factory.mktemp("absent")
    for name in ("certus", "scipy", "sklearn", "numba", "pandas"):
        (folder / f"{name}.py").write_text(f"raise ImportError('there is no {name} here')")
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}

    def run(cwd, *arguments):
        return subprocess.run(
            [sys.executable, "check.py", *arguments],
            cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("name", [name for name in OURS if name != "function"])
def test_a_script_finds_what_the_package_found(name, run, tmp_path):
    y = OURS[name][1][1]
    s = weight_of(y)
    model, X, y = fitted(name, s)
    c = model.certificate_
    c.export(tmp_path / "check.py")
    for file, array in (("X", X), ("y", y), ("s", s)):
        np.save(tmp_path / f"{file}.npy", array)
    ran = run(tmp_path, "X.npy", "y.npy", "s.npy")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not ran.stderr
    assert ran.stdout.endswith("the claim holds\n")
    np.save(tmp_path / "s.npy", np.where(np.arange(len(s)) == 3, 0.1, s))
    np.save(tmp_path / "y.npy", np.roll(y, 1, axis=0))
    ran = run(tmp_path, "X.npy", "y.npy", "s.npy")
    assert ran.returncode == 1, ran.stdout + ran.stderr


def test_many_rows_are_summed_in_several_blocks(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(1500, 3))
    y = (X[:, 0] > X[:, 1] ** 2).astype(int)
    LSSVC().fit(X, y).certificate_.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    ran = run(tmp_path, "X.npy", "y.npy")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    X[1400, 0] += 1.0
    np.save(tmp_path / "X.npy", X)
    assert run(tmp_path, "X.npy", "y.npy").returncode == 1


def test_a_stationary_point_is_exported_and_a_function_is_not(run, tmp_path):
    with pytest.warns(DegenerateWarning):
        model = LSSVC(kernel="sigmoid", gamma=0.01, coef0=-0.5).fit(*TWO)
    model.certificate_.export(tmp_path / "check.py")
    for file, array in zip("Xy", TWO, strict=True):
        np.save(tmp_path / f"{file}.npy", array)
    ran = run(tmp_path, "X.npy", "y.npy")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("stationary: objective ")
    with pytest.raises(CertificateError, match="the kernel is a function of yours"):
        fitted("function")[0].certificate_.export(tmp_path / "other.py")


def test_frames_are_rows_too():
    X = pd.DataFrame(X3, columns=["a", "b", "c", "d"])
    model = LSSVC().fit(X, NAMES[Y3])
    assert certus.verify(model, X, NAMES[Y3]).certified


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_kernel_with_a_negative_gamma_is_not_taken_for_definite(kernel):
    # K then has eigenvalues far below 0: solving the equations does not minimise anything
    rng = np.random.default_rng(0)
    X, y = 3 * rng.normal(size=(20, 2)), rng.normal(size=20)
    model = KernelRidge(kernel=kernel, gamma=0.05).fit(X, y)
    model.gamma = -0.05
    K = pairwise_kernels(X, metric=kernel, gamma=-0.05)
    assert np.linalg.eigvalsh(K)[0] < -1
    model.dual_coef_ = np.linalg.solve(K + np.eye(20), y)
    assert certus.verify(model, X, y).status != "optimal"
