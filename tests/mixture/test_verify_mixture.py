"""``certus.verify`` on mixtures: scikit-learn's, and models that certus takes for its own."""

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.mixture as peers
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.certificate import certify
from certus.certificate.explain.certificate import not_certified
from certus.data.rows import Rows
from certus.exceptions import CannotVerifyError
from certus.proofs.mixture._count_components import CountComponents, MeanRowPrior
from certus.proofs.mixture.mixture import em_step, log_likelihood
from tests.mixture.mixture_cases import SHAPES, GaussianMixture, drawn, matrices, plain_likelihood

X = drawn(0, n=300, p=3, k=3)
FINISHED = {"tol": 1e-9, "max_iter": 2000, "random_state": 0}
each_shape = pytest.mark.parametrize("shape", SHAPES)


def fitted(X=X, k=3, **how):
    return peers.GaussianMixture(k, **{**FINISHED, **how}).fit(X)


def refused(model, X=X, s=None):
    c = certus.verify(model, X, sample_weight=s)
    assert (c.status, c.certified) == ("contradicted", False)
    return list(c._finding.contradictions)


# --- scikit-learn's -------------------------------------------------------------------------------


@each_shape
@pytest.mark.parametrize("kind", [float, np.float32])
def test_a_finished_fit_is_a_local_optimum(shape, kind):
    given = X.astype(kind)
    model = fitted(given, covariance_type=shape, tol=1e-9 if kind is float else 1e-7)
    c = certus.verify(model, given, tol=1e-6 if kind is float else 1e-5)
    assert (c.status, c.kind, c.certified) == ("local optimum", "local", True), c.explain()
    assert (c.bound, c.gap, c.maximized) == (None, np.inf, True)
    pi, means, C = (
        np.asarray(a, dtype=float) for a in (model.weights_, model.means_, model.covariances_)
    )
    L = plain_likelihood(given.astype(float), pi, means, matrices(shape, C, 3, 3))
    assert c.objective == pytest.approx(L, rel=1e-9)


def test_the_default_tol_stops_before_a_local_optimum_and_by_how_much():
    many = np.random.default_rng(0).normal(size=(2000, 2))
    model = peers.GaussianMixture(4, random_state=0).fit(many)
    c = certus.verify(model, many)
    assert (c.status, c.certified) == ("not a local optimum", False)
    text = c.explain()
    assert text.startswith(
        "[!!] NOT A LOCAL OPTIMUM   sklearn.mixture.GaussianMixture, 2,000 rows × 2 columns\n"
        "Maximised      Σ log Σₖ πₖ N(xᵢ; μₖ, Cₖ)\n"
    )
    assert "tol=0.001 stopped it early" in text
    assert "which iterates until a step gains next to nothing" in text
    one = peers.GaussianMixture(
        4, tol=0, max_iter=1, reg_covar=model.reg_covar, weights_init=model.weights_,
        means_init=model.means_, precisions_init=model.precisions_,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="did not converge"):
        after = one.fit(many)
    gain = 2000 * (after.score(many) - model.score(many))
    assert c._finding.gain == pytest.approx(gain, rel=1e-4)
    assert certus.verify(model, many, tol=1e-2).certified
    with pytest.warns(UserWarning, match="did not converge"):
        short = fitted(many, k=4, max_iter=2)
    assert "it stopped at max_iter=2" in certus.verify(short, many).explain()


@pytest.mark.costly
@pytest.mark.parametrize("shape", ["diag", "tied", "spherical"])
def test_far_from_the_origin_scikit_learn_is_caught(shape):
    """N(0, 1) + 1e8, or N(0, 16): what it fits, if it does not raise, is never an optimum."""
    caught = 0
    for seed in range(24):
        spread = (1, 4)[seed % 2]
        far = 1e8 + spread * np.random.default_rng(seed).normal(size=(1000, 1 + seed % 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = fitted(far, k=1, covariance_type=shape, max_iter=100, tol=1e-6)
            except ValueError:  # a variance below 0
                continue
        c = certus.verify(model, far)
        assert not c.certified
        text = c.explain()
        assert re.search(r"the rows lie (1e8|[23]e7) times their spread from the origin", text)
        assert "subtract the column means first, or use certus.mixture.GaussianMixture" in text
        assert certus.verify(fitted(far - 1e8, k=1, covariance_type=shape), far - 1e8).certified
        caught += 1
    assert caught >= 8


def test_far_from_the_origin_full_covariances_hold():
    far = X + 1e8
    assert certus.verify(fitted(far, tol=1e-7), far, tol=1e-5).certified


def test_what_was_edited_is_found():
    edits = {
        "weights_": r"weights_ add up to 1\.01",
        "precisions_": "precisions_ of component 0 does not match covariances_",
        "precisions_cholesky_": "precisions_cholesky_ of component 0 does not match",
        "lower_bound_": "lower_bound_ is ",
        "means_": "lower_bound_ is ",
        "covariances_": "precisions_ of component 0",
    }
    for name, words in edits.items():
        model = fitted()
        setattr(model, name, 1.01 * getattr(model, name))
        assert any(re.search(words, reason) for reason in refused(model)), name
    model = fitted()
    model.covariances_ = -model.covariances_
    assert refused(model) == ["covariances_ of component 0 is not positive definite"]
    assert "not a number" in certus.verify(model, X).explain()
    model = fitted()
    model.means_[1, 2] = np.nan
    with pytest.raises(CannotVerifyError, match=r"means_ holds nan \(at 1, 2\)"):
        certus.verify(model, X)


def test_predictions_of_another_component_are_found():
    model = fitted()
    model.predict = lambda X: np.zeros(len(X), dtype=int)
    assert any(re.match(r"predict puts row \d+ in component 0; [12] is", s) for s in refused(model))


def test_other_rows_are_no_optimum():
    model = fitted()
    assert not certus.verify(model, X[::2]).certified
    s = np.random.default_rng(0).uniform(0.1, 5, size=300)
    assert not certus.verify(model, X, sample_weight=s).certified
    with pytest.raises(CannotVerifyError, match="not fitted"):
        certus.verify(peers.GaussianMixture(), X)
    with pytest.raises(CannotVerifyError, match=r"mixture\.GaussianMixture"):
        certus.verify(peers.BayesianGaussianMixture(n_components=2, max_iter=500).fit(X), X)
    holes = X.copy()
    holes[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has 1 missing value"):
        certus.verify(model, holes)


def test_a_model_is_found_in_a_pipeline_and_knows_frames():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), peers.GaussianMixture(3, **FINISHED)).fit(frame)
    c = certus.verify(model, frame)
    assert c.certified
    assert any("Pipeline" in note for note in c.notes)
    assert certus.verify(fitted(frame), frame).certified


def test_starts_are_reported_where_they_are_known():
    assert repr(certus.verify(fitted(), X)).endswith("; no useful bound; one start)")
    c = certus.verify(fitted(n_init=3), X)
    assert c._finding.restarts is None
    assert repr(c).endswith("; no useful bound)")


def test_small_units_leave_nothing_but_reg_covar():
    """Data times 1e-6: reg_covar=1e-6 is then a million times their variance."""
    tiny = 1e-6 * X
    c = certus.verify(fitted(tiny), tiny)
    assert c.status == "degenerate"
    assert "component 0 of 3 has collapsed; so have 2 more" in repr(c)
    assert "reg_covar=1e-06 alone holds it up. Do not compare BIC" in c.explain()
    assert "◐ Degenerate" in c._repr_html_()


# --- words ----------------------------------------------------------------------------------------


def test_the_words_of_a_local_optimum():
    model = GaussianMixture(3).fit(X)
    model.restarts_ = np.append(np.full(9, model.lower_bound_), model.lower_bound_ - 0.25)
    c = certus.verify(model, X)
    assert re.fullmatch(
        r"Certificate\(local optimum: objective -[\d,.]+; no useful bound; "
        r"9 of 10 restarts agree\)",
        repr(c),
    )
    text = c.explain()
    assert text.startswith("[OK] LOCAL OPTIMUM   GaussianMixture, 300 rows × 3 columns\nMaximised")
    for line in (
        "Σ log Σₖ πₖ N(xᵢ; μₖ, Cₖ) − ½ε Σₖ (log|Cₖ| + tr(DCₖ⁻¹))",
        "ε = 1e-06 rows that vary as the columns do",
        "condition numbers up to ",
        "9 of 10 ended here, the worst 0.25 a row below",
        "the objective never fell",
        "certus.proofs.mixture.mixture, from the data",
        "that no other parameters are likelier",
    ):
        assert line in text
    assert re.search(r"One more step  would raise it by (nothing|at most \de-\d+ a row) \(", text)
    assert "9 of 10 restarts agree" in c.note()
    html = c._repr_html_()
    assert "◐ Local optimum" in html
    assert "maximised" in html
    for shown in (repr(c), text, c.note(), html):
        assert "ertified" not in shown
        assert not re.search(r"\boptimal\b", shown)
    model.restarts_ = model.restarts_[:9]
    assert "all 9 ended here" in certus.verify(model, X).explain()
    tied = certus.verify(GaussianMixture(3, "tied").fit(X), X)
    assert "N(xᵢ; μₖ, C) − ½ε (log|C| + tr(DC⁻¹))" in tied.explain()


def test_the_words_of_a_collapse():
    far = X.copy()
    far[14] += 1000
    model = GaussianMixture(2).fit(far[np.r_[0:13, 15:300, 14]][::-1])
    given = far[np.r_[0:13, 15:300, 14]][::-1]
    c = certus.verify(model, given)
    assert c.status == "degenerate"
    assert "component 0 of 2 has collapsed onto row 0; no useful bound" in repr(c)
    assert (
        "has collapsed onto row 0: the prior alone holds it up. Do not compare BIC" in c.explain()
    )
    assert "has collapsed onto row 0" in c.note()


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_every_word_can_be_printed(encoding, monkeypatch):
    class Terminal:
        pass

    Terminal.encoding = encoding
    models = [fitted(), GaussianMixture(3).fit(X), GaussianMixture(3, max_iter=2).fit(X)]
    monkeypatch.setattr("sys.stdout", Terminal())
    for model in models:
        c = certus.verify(model, X)
        for text in (c.explain(), repr(c), c.note()):
            assert "?" not in text
            text.encode(encoding)


# --- models of certus -----------------------------------------------------------------------------


def test_a_model_of_certus_is_recognised_by_its_rows():
    model = GaussianMixture(3).fit(X)
    model.certificate_ = certify(model, Rows(X))
    assert certus.verify(model, X).status == "local optimum"
    for other, s in ((X + 1, None), (X, np.linspace(1, 2, 300))):
        c = certus.verify(model, other, sample_weight=s)
        assert (c.status, c.certified) == ("other rows", False)


@each_shape
def test_each_attribute_edited_by_one_percent_is_refused(shape):
    for name in (
        "weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "lower_bound_",
        "lower_bounds_", "restarts_",
    ):  # fmt: skip
        model = GaussianMixture(3, shape).fit(X)
        assert certus.verify(model, X).certified
        setattr(model, name, 1.01 * getattr(model, name))
        c = certus.verify(model, X)
        assert c.status == "contradicted", name
    assert "or this is a bug of certus" in c.explain()
    model = GaussianMixture(3, shape).fit(X)
    model._largest_decrease = 0.01
    assert refused(model)[0].startswith("the objective fell by 0.01 a row")


@each_shape
def test_missing_values_are_part_of_the_claim(shape):
    holes = X.copy()
    holes[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    model = GaussianMixture(2, shape).fit(holes)
    c = certus.verify(model, holes)
    assert c.certified, c.explain()
    C = matrices(shape, model.covariances_, 2, 3)
    L = plain_likelihood(holes, model.weights_, model.means_, C)
    assert c._finding.likelihood == pytest.approx(L, rel=1e-12)
    holes[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinite value"):
        certus.verify(model, holes)


def test_columns_that_never_change_are_left_out_and_named():
    model = GaussianMixture(2).fit(X)
    own = {name: getattr(model, name) for name in ("covariances_", "precisions_")}
    own["precisions_cholesky_"] = model.precisions_cholesky_
    for name, value in own.items():
        setattr(model, name, np.insert(np.insert(value, 1, 0.0, axis=-1), 1, 0.0, axis=-2))
    model.means_ = np.insert(model.means_, 1, 7.0, axis=1)
    model.constant_columns_, model.n_features_in_ = np.array([1]), 4
    wide = np.insert(X, 1, 7.0, axis=1)
    c = certus.verify(model, wide)
    assert c.certified, c.explain()
    assert "left out, for column 1 never changes." in c.explain()
    wide[5, 1] = 8.0
    assert refused(model, wide) == ["column 1 was left out as constant, but it is not constant"]


def test_a_fit_that_was_cut_short_says_what_is_left():
    c = certify(GaussianMixture(3, max_iter=2).fit(X), Rows(X))
    assert re.fullmatch(
        r"GaussianMixture stopped at max_iter=2 before a local optimum: objective -[\d,.]+, and "
        r"one more step raises it by at least [\d.]+ a row\. Raise max_iter\.",
        not_certified(c, 2),
    )
    assert "is not at a local optimum" in not_certified(c)
    assert c.note().startswith("GaussianMixture: not a local optimum")


def test_a_certificate_keeps_nothing_of_each_row():
    c = certify(GaussianMixture(3).fit(X), Rows(X))
    kept = {**c.parameters, **vars(c._finding)}
    assert all(np.size(value) < len(X) for value in kept.values() if isinstance(value, np.ndarray))


# --- counts ---------------------------------------------------------------------------------------


def counts_model(name, attribute, theta, pi, a, lower_bound):
    """A model that is taken for one of certus."""
    own = {"__module__": f"certus.mixture.{name.lower()}", "fit": lambda self, X: self}
    model = type(name, (BaseEstimator,), own)()
    model.prior, model.weights_, model.lower_bound_ = a, pi, lower_bound
    model.lower_bounds_, model.restarts_ = [lower_bound], [lower_bound]
    model.n_features_in_, model.max_iter, model.tol = theta.shape[1], 10, 1e-3
    setattr(model, attribute, theta)
    return model


@pytest.mark.parametrize("a", [0.0, 0.5])
@pytest.mark.parametrize(
    ("name", "kind", "attribute", "formula"),
    [
        ("BernoulliMixture", "bernoulli", "probabilities_", "Σ log Σₖ πₖ Bernoulli(xᵢ; θₖ)"),
        ("PoissonMixture", "poisson", "rates_", "Σ log Σₖ πₖ Poisson(xᵢ; λₖ)"),
        ("MultinomialMixture", "multinomial", "probabilities_", "Σ log Σₖ πₖ Multinomial(xᵢ; θₖ)"),
    ],
)
def test_mixtures_of_counts_are_read_by_their_own_formula(name, kind, attribute, formula, a):
    rng = np.random.default_rng(0)
    counts = 1.0 * (
        rng.uniform(size=(200, 4)) < rng.uniform(size=(2, 4))[rng.integers(2, size=200)]
    )
    counts[:, 0] = 1
    pi, prior = np.array([0.5, 0.5]), MeanRowPrior(a, counts.mean(axis=0))
    theta = np.stack([counts[:20].mean(axis=0), counts.mean(axis=0)])
    theta = theta / (theta.sum(axis=1, keepdims=True) if kind == "multinomial" else 1.0)
    theta = CountComponents(kind, theta)
    for _ in range(3000):
        pi, theta = em_step(counts, pi, theta, prior)
    value = (log_likelihood(counts, pi, theta) + theta.log_prior(prior)) / 200
    model = counts_model(name, attribute, theta.theta, pi, a, value)
    c = certus.verify(model, counts)
    assert (c.status, c.certified) == ("local optimum", True), c.explain()
    law = formula.split("πₖ ")[1].split("(")[0]
    tail = f" + a Σₖ log {law}(x̄; {'λ' if kind == 'poisson' else 'θ'}ₖ)" if a else ""
    assert c.formula == formula + tail
    assert ("a = 0.5 rows at x̄, the mean row" in c.explain()) == bool(a)
    for edited in ("weights_", "lower_bound_", attribute):
        other = counts_model(name, attribute, theta.theta, pi, a, value)
        setattr(other, edited, 0.99 * np.asarray(getattr(other, edited)))
        assert not certus.verify(other, counts).certified, edited


# --- export ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """check.py where only NumPy can be imported."""
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


@each_shape
@pytest.mark.parametrize("missing", [False, True])
def test_a_script_finds_what_the_package_found(shape, missing, run, tmp_path):
    given, s = X.copy(), np.random.default_rng(0).uniform(0.1, 2, size=300)
    if missing:
        given[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    c = certus.verify(GaussianMixture(2, shape).fit(given, s), given, sample_weight=s)
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", given)
    np.save(tmp_path / "s.npy", s)
    ran = run(tmp_path, "X.npy", "s.npy")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"claimed {c.objective!r}" in ran.stdout
    np.save(tmp_path / "X.npy", given * 1.001)
    ran = run(tmp_path, "X.npy", "s.npy")
    assert ran.returncode == 1
    assert "THE CLAIM DOES NOT HOLD" in ran.stdout


def test_a_script_says_what_it_cannot_read_and_what_does_not_hold(run, tmp_path):
    certus.verify(fitted(), X).export(tmp_path / "check.py")
    assert run(tmp_path).returncode == 2
    assert run(tmp_path, "none.npy").returncode == 2
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", fmt="%.17g")
    assert run(tmp_path, "X.csv").returncode == 0
    np.save(tmp_path / "X.npy", X[:100])
    assert "X is (100, 3), the fit's is (300, 3)" in run(tmp_path, "X.npy").stdout
    short = certify(GaussianMixture(3, max_iter=2).fit(X), Rows(X))
    short.export(tmp_path / "check.py")
    assert run(tmp_path, "X.csv").returncode == 1
