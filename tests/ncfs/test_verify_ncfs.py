"""``certus.verify`` on NCFS: what a fit claims is recomputed, and what was changed is refused."""

import re
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus import solvers
from certus.certificate.explain.certificate import not_certified
from certus.exceptions import CannotVerifyError, NotCertifiedWarning
from certus.feature_selection import NCFSClassifier, NCFSClassifierCV, NCFSRegressor
from certus.plotting import ConvergenceDisplay
from tests.contract.problems import weights
from tests.ncfs.ncfs_cases import curve
from tests.runtime.progress_cases import Recorder

mpl.use("Agg")

CLASSES = {
    "plain": {},
    "squares": {"metric": "sqeuclidean"},
    "root": {"metric": "euclidean"},
    "patterns": {"metric": "phi_s"},
    "balanced": {"prior": "balanced", "form": "mean"},
    "uniform": {"prior": "uniform", "scale": "standard"},
    "shares": {"prior": {0: 0.2, 1: 0.3, 2: 0.5}, "scale": None, "sigma": 0.7},
    "costs": {"loss": np.array([[0, 1, 2], [3, 0, 1], [1, 1, 0.0]])},
    "distance of labels": {"loss": lambda u, v: np.abs(u - v), "alpha": 0.5},
    "some": {"n_features_to_select": 1},
    "half": {"n_features_to_select": 0.5, "alpha": 0.3},
    "mean": {"threshold": "0.5*mean", "alpha": 0.3},
    "batches": {"batch_size": 40},
    "balanced batches": {"batch_size": 40, "prior": "balanced", "scale": "standard"},
}
VALUES = {
    "absolute": {},
    "squared": {"loss": "squared", "form": "mean"},
    "insensitive": {"loss": "epsilon_insensitive"},
    "epsilon": {"loss": "epsilon_insensitive", "epsilon": 0.2, "metric": "sqeuclidean"},
    "own": {"loss": lambda u, v: np.abs(u - v) ** 1.5, "scale": "standard"},
    "batches": {"batch_size": 20, "alpha": 0.1},
    "insensitive batches": {"batch_size": 30, "loss": "epsilon_insensitive", "form": "mean"},
}
CASES = [("classes", name) for name in CLASSES] + [("values", name) for name in VALUES]
each_case = pytest.mark.parametrize("case", CASES, ids=[name for _, name in CASES])
# the answer is the same however many steps led to it; the others are about the model itself
SILENT = {
    "n_iter_", "n_evaluations_", "solver_", "n_features_in_", "certificate_", "feature_names_in_",
}  # fmt: skip


def rows_of(case, seed=1):
    X, y = load_iris(return_X_y=True) if case[0] == "classes" else curve(seed)
    if "batch" in case[1]:  # batches of sorted rows would hold one class
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order], y[order]
    return X + 3, y


def fitted(case, s=None, seed=1, kind=float, **how):
    X, y = rows_of(case, seed)
    if case[0] == "classes":
        model = NCFSClassifier(**{**CLASSES[case[1]], **how})
    else:
        model = NCFSRegressor(**{**VALUES[case[1]], **how})
    return model.fit(X.astype(kind), y, sample_weight=s), X.astype(kind), y


def accepted(model, X, y, s=None):
    try:
        return certus.verify(model, X, y, s).certified
    except CannotVerifyError:
        return False


# --- what holds is accepted -----------------------------------------------------------------------


@each_case
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", [float, np.float32])
def test_a_fit_is_a_local_optimum_for_who_has_the_rows(case, weighted, kind):
    s = weights(1, len(rows_of(case)[0])) if weighted else None
    model, X, y = fitted(case, s, kind=kind)
    c = certus.verify(model, X, y, s)
    assert (c.status, c.kind, c.certified) == ("local optimum", "local", True), c.explain()
    assert (c.bound, c.gap, c.maximized) == (None, np.inf, True)
    assert c.residual <= 1e-6
    assert c.objective == model.certificate_.objective
    assert c.objective == pytest.approx(model.objective_, rel=1e-9)
    assert c._finding.score.value == pytest.approx(model.loo_score_)
    assert c._finding.used == np.count_nonzero(model.weights_)


@pytest.mark.parametrize("case", [("classes", "plain"), ("values", "absolute")], ids=str)
def test_verify_works_where_every_solver_raises(case, monkeypatch):
    model, X, y = fitted(case)

    def refuse(*_, **__):
        raise AssertionError("a certificate asked a solver")

    for name in ("value_and_slope", "value", "_evaluate"):
        monkeypatch.setattr(solvers.ncfs.NCFSProblem, name, refuse)
    monkeypatch.setattr("certus.solvers.ncfs.references.reference_sums", refuse)
    assert certus.verify(model, X, y).certified
    with pytest.raises(AssertionError, match="asked a solver"):
        fitted(case)


def test_a_choice_of_alpha_is_not_recomputed_and_the_fit_at_it_is():
    X, y = rows_of(("classes", "plain"))
    model = NCFSClassifierCV(alphas=[0.3, 3.0], cv=3).fit(X, y)
    c = certus.verify(model, X, y)
    assert c.status == "local optimum"
    assert any("the choice of alpha_ was not recomputed" in note for note in c.notes)
    model.alpha_ *= 1.01
    assert "alphas_[chosen_index_] is " in certus.verify(model, X, y).explain()


def test_a_model_is_found_in_a_pipeline_and_knows_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), NCFSClassifier())
    c = certus.verify(model.fit(X, y), X, y)
    assert c.status == "local optimum"
    assert any("Pipeline" in note for note in c.notes)
    model[-1].weights_ = model[-1].weights_[[2, 3, 0, 1]]
    assert "petal" in certus.verify(model, X, y).explain()


# --- what does not is refused ---------------------------------------------------------------------


def edits(value):
    """The value with all of it or one entry moved by 1 %, or turned."""
    array = np.asarray(value)
    if array.dtype == bool:
        for i in range(array.size):
            turned = array.copy()
            turned[i] = not turned[i]
            yield turned
        return
    if array.dtype.kind in "iu":
        yield array[::-1] if array.size > 1 else array + 1
        return
    if not array.any():
        yield array + 0.01
        return
    yield type(value)(value * 1.01) if array.ndim == 0 else array * 1.01
    for i in np.flatnonzero(array)[: array.size if array.ndim == 1 else 3]:
        moved = array.copy()
        moved.flat[i] *= 1.01
        yield moved


@each_case
def test_every_fitted_attribute_that_is_edited_by_one_percent_is_refused(case):
    model, X, y = fitted(case)
    taken, checked = [], set()
    for name, value in sorted(vars(model).items()):
        claim = name.endswith("_") or name in ("_fit_X", "_fit_y", "_fit_columns", "_fit_rows")
        if not claim or name in SILENT or value is None:
            continue
        checked.add(name)
        for edited in edits(value):
            setattr(model, name, edited)
            if accepted(model, X, y):
                taken.append((name, edited, value))
        setattr(model, name, value)
    assert accepted(model, X, y)
    assert checked >= {
        "weights_", "objective_", "alpha_", "loo_score_", "shift_", "scale_", "support_", "_fit_X",
        "_fit_y", "_fit_columns",
    }  # fmt: skip
    assert ("classes_" in checked) == (case[0] == "classes")
    assert not taken


@each_case
def test_weights_of_other_columns_and_no_weights_are_refused(case):
    model, X, y = fitted(case)
    before = model.weights_
    for W in (np.roll(before, 1), np.zeros(len(before)), np.full(len(before), 1.0)):
        model.weights_ = W
        c = certus.verify(model, X, y)
        assert not c.certified
        if model.metric == "phi_s" and not W.any():
            assert "fewer than two columns have weight" in c.explain()
        else:
            assert c.residual > 1e-3
    model.weights_ = -before
    assert "below 0" in certus.verify(model, X, y).explain()
    for bad in (before * np.nan, before[:2]):
        model.weights_ = bad
        with pytest.raises(CannotVerifyError, match="weights_ must hold a finite number"):
            certus.verify(model, X, y)


def test_no_weights_with_all_else_in_order_are_not_a_local_optimum():
    """In w = √W the slope is 0 there, for any data: the conditions are those in W."""
    X, y = load_iris(return_X_y=True)
    model = NCFSClassifier(max_iter=1000).fit(X, y)
    empty = NCFSClassifier(alpha=1e3)
    with pytest.warns(certus.exceptions.DegenerateWarning, match="All weights are 0"):
        empty.fit(X, y)
    assert empty.certificate_.status == "local optimum"  # at so large an alpha it is
    for name in ("weights_", "weights_in_units_", "support_", "_fit_X", "_fit_columns"):
        setattr(model, name, getattr(empty, name))
    model.loo_score_ = empty.loo_score_
    model.objective_ = empty.objective_
    c = certus.verify(model, X, y)
    assert (c.status, c._finding.contradictions) == ("not a local optimum", ())
    assert "it rises with some weight of column 3, now 0" in repr(c)
    assert c.residual > 10


def test_other_rows_are_recognised():
    model, X, y = fitted(("classes", "plain"))
    for other in (X + 1, X[::-1], X[:50]):
        c = certus.verify(model, other, y[: len(other)])
        assert (c.status, c.certified) == ("other rows", False)
        assert "NOT THE ROWS IT WAS FITTED ON" in c.explain()
    assert certus.verify(model, X, np.roll(y, 1)).status == "other rows"
    assert certus.verify(model, X, y, np.linspace(1, 2, len(X))).status == "other rows"
    with pytest.raises(CannotVerifyError, match="give y as well"):
        certus.verify(model, X)
    with pytest.raises(CannotVerifyError, match="not fitted"):
        certus.verify(NCFSClassifier(), X, y)


def test_a_fit_that_fell_on_its_way_is_reported():
    model, X, y = fitted(("classes", "plain"))
    model._largest_decrease = 1e-3
    c = certus.verify(model, X, y)
    assert c._finding.contradictions == (
        "the objective fell by a share of 0.001 between two steps",
    )
    model.solver = model.solver_ = "yang"  # which may
    assert certus.verify(model, X, y).certified


# --- fits that aim elsewhere, or were stopped -----------------------------------------------------


def test_what_does_not_aim_at_a_local_optimum_is_called_what_it_is():
    X, y = rows_of(("classes", "plain"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        model = NCFSClassifier(solver="yang", max_iter=30).fit(X, y)
    c = certus.verify(model, X, y)
    assert c.status == "not a local optimum"
    assert c._finding.contradictions == ()
    assert 1e-6 < c.residual < 10
    text = c.explain()
    assert text.startswith("[i] NOT A LOCAL OPTIMUM   NCFSClassifier, 150 rows × 4 columns")
    assert "ends where the objective hardly changes" in text
    assert "go on from here with solver='lbfgs', warm_start=True" in text
    assert "never fell" not in text
    assert re.search(r"it rises with (more|less|some) weight of column \d", repr(c))
    model.set_params(solver="lbfgs", warm_start=True, max_iter=1000).fit(X, y)
    assert model.certificate_.status == "local optimum"


def test_a_fit_that_was_cut_short_says_where_it_rises():
    X, y = rows_of(("classes", "plain"))
    with pytest.warns(NotCertifiedWarning) as warned:
        model = NCFSClassifier(max_iter=2).fit(X, y)
    (warning,) = warned
    assert re.fullmatch(
        r"NCFSClassifier stopped at max_iter=2 before a local optimum: objective [\d.]+, and it "
        r"rises with (more|less) weight of column \d \(its slope is [\d.]+ of alpha\)\. Raise "
        r"max_iter\.",
        str(warning.message),
    )
    text = certus.verify(model, X, y).explain()
    assert text.startswith("[!!] NOT A LOCAL OPTIMUM")
    assert "it stopped at max_iter=2" in text
    assert "What to do     raise max_iter" in text
    assert "is not at a local optimum" in not_certified(model.certificate_)


def test_a_fit_that_a_callback_stopped_is_stopped():
    X, y = rows_of(("classes", "plain"))
    model = NCFSClassifier().set_callbacks(Recorder(stop_after=3))
    with pytest.warns(NotCertifiedWarning, match="stopped by a callback after 3 iterations"):
        model.fit(X, y)
    c = model.certificate_
    assert c.status == "stopped"
    assert "stopped by a callback after 3 iterations: objective" in repr(c)
    assert "What is wrong  stopped by a callback" in c.explain()


def test_columns_with_weight_that_are_not_selected_are_counted():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = NCFSClassifier(threshold="0.9*max").fit(X, y)
    W = model.weights_
    assert np.count_nonzero(W) == 2
    assert model.support_.sum() == 1
    c, least = model.certificate_, 0.9 * W.max()
    told = f"2 of 4 columns have weight, 1 is selected (threshold='0.9*max': weights of {least:.3g}"
    assert told in repr(c)
    assert told in repr(certus.verify(model, X, y))
    model = NCFSClassifier(n_features_to_select=1).fit(X, y)
    assert "have weight, 1 is selected (n_features_to_select=1)" in repr(model.certificate_)


# --- words and pictures ---------------------------------------------------------------------------


def test_the_words_of_a_local_optimum():
    X, y = load_iris(return_X_y=True, as_frame=True)
    c = NCFSClassifier().fit(X, y).certificate_
    assert repr(c) == (
        "Certificate(local optimum: objective 118.63; no useful bound; 2 of 4 columns have weight)"
    )
    text = c.explain()
    assert text.startswith(
        "[OK] LOCAL OPTIMUM   NCFSClassifier, 150 rows × 4 columns\n"
        "Maximised      Σ pᵢⱼ [yᵢ = yⱼ] − Σ W over W ≥ 0, pᵢⱼ ~ exp(−Σ W|xᵢ − xⱼ|)\n"
        "Objective      118.6337; no useful bound\n"
        "Slopes         0 for the 2 columns with weight, up to "
    )
    assert "of alpha; not above that for the 2 others" in text
    assert "Left out       each row by the others: accuracy 0.96" in text
    assert "On the way     the objective never fell, as reported by the solver" in text
    assert "that a column without weight is useless" in text
    assert "certus.proofs.ncfs.ncfs, from the data; the solver was not asked" in text
    assert "is at a local optimum of" in c.note()
    html = c._repr_html_()
    assert "<strong>◐ Local optimum</strong> · objective 118.63; no useful bound" in html
    assert "<div>maximised <math" in html
    for shown in (repr(c), text, c.note(), html):
        assert "ertified" not in shown
        assert "inimised" not in shown
        assert not re.search(r"\boptimal\b", shown)


@pytest.mark.parametrize(
    ("case", "s", "formula"),
    [
        (("classes", "balanced"), 1, "1/Σ sᵢ Σ aᵢ pᵢⱼ [yᵢ = yⱼ] − "),
        (("classes", "shares"), None, "exp(−Σ W|xᵢ − xⱼ|/0.7)"),
        (("classes", "costs"), 1, "−Σ sᵢ pᵢⱼ loss(yᵢ, yⱼ) − "),
        (("classes", "patterns"), None, "Σ pᵢⱼ [yᵢ = yⱼ] over W ≥ 0, pᵢⱼ ~ exp(−phi_s("),
        (("values", "squared"), None, "−1/n Σ pᵢⱼ (yᵢ − yⱼ)² − "),
        (("values", "absolute"), 1, "−Σ sᵢ pᵢⱼ |yᵢ − yⱼ| − "),
    ],
    ids=str,
)
def test_the_objective_is_spelt_out(case, s, formula):
    s = None if s is None else weights(1, len(rows_of(case)[0]))
    model, *_ = fitted(case, s)
    assert formula in model.certificate_.formula
    if case[1] == "patterns":
        assert "of the largest there can be" in model.certificate_.explain()


def test_columns_that_never_change_are_counted_apart():
    X, y = load_iris(return_X_y=True)
    c = NCFSClassifier().fit(np.column_stack([X, np.ones(150)]), y).certificate_
    assert "for the 2 others; 1 column never changes and has none" in c.explain()


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@each_case
def test_every_word_can_be_printed(case, encoding, monkeypatch):
    class Terminal:
        pass

    model, X, y = fitted(case)
    c = certus.verify(model, X, y)
    model.weights_ = np.roll(model.weights_, 1)
    other = certus.verify(model, X, y)
    Terminal.encoding = encoding
    monkeypatch.setattr("sys.stdout", Terminal())
    for text in (c.explain(), repr(c), c.note(), other.explain(), repr(other)):
        assert "?" not in text
        text.encode(encoding)


def test_a_maximised_objective_is_drawn_rising():
    X, y = load_iris(return_X_y=True)
    model = NCFSClassifier().fit(X, y)
    F = [point.objective for point in model.certificate_.trace]
    assert sorted(F) == F
    display = model.certificate_.plot()
    assert display.line_.get_ydata().tolist() == F
    assert display.bound_ is None
    ascent = NCFSClassifier(solver="yang").fit(X, y)
    display = ConvergenceDisplay.from_estimators({"L-BFGS": model, "ascent": ascent})
    lacks = display.lines_["ascent"].get_ydata()
    assert lacks[0] > lacks[-1] > 0
    objectives = np.array([point.objective for point in ascent.certificate_.trace])
    np.testing.assert_allclose(lacks, model.certificate_.objective - objectives)
    assert display.ax_.get_ylabel() == "largest found − objective"
    mpl.pyplot.close("all")


def test_a_frame_names_the_column_that_is_off():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = NCFSClassifier().fit(X, y)
    model.weights_ = model.weights_ * [1, 1, 1, 0.5]
    c = certus.verify(model, pd.DataFrame(X), y)
    assert "it rises with more weight of 'petal width (cm)'" in c.explain()
    assert "or this is a bug of certus" in c.explain()
