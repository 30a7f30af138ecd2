"""Certificates of neighbours: their words, their script, and what is strict about certus' own.

A model of certus is stood in for by one that answers by the definition itself, so that each of its
answers can be spoiled.
"""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.neighbors as peers
from scipy.sparse import csr_array, save_npz
from sklearn.datasets import load_iris

import certus
from certus.certificate import certify, unproven
from certus.data.rows import Rows
from certus.exceptions import CannotVerifyError, CertificateError
from certus.proofs.neighbors import neighbors
from certus.proofs.neighbors._votes import totals, vote_weights

X, y = load_iris(return_X_y=True)  # with rows that are equal
names = np.array(["setosa", "versicolor", "virginica"])[y]


class KNeighborsClassifier(peers.KNeighborsClassifier):
    """A stand-in with the ties and votes of certus."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        k = np.searchsorted(self.classes_, y).astype(float)[:, None]
        self.s_ = np.ones(len(X)) if sample_weight is None else sample_weight
        self.certificate_ = certify(self, Rows(self._fit_X, k, sample_weight))
        return self

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        d, i = neighbors.nearest(self._fit_X, X, k, self.effective_metric_)
        return (d, i) if return_distance else i

    def _totals(self, X):
        d, i = self.kneighbors(X)
        votes = [vote_weights(a, self.s_[b], self.weights) for a, b in zip(d, i, strict=True)]
        C = len(self.classes_)
        return d, i, np.array([totals(self._y[b], v, C) for b, v in zip(i, votes, strict=True)])

    def predict_proba(self, X):
        T = self._totals(X)[2]
        return T / T.sum(axis=1, keepdims=True)

    def predict(self, X):
        d, i, T = self._totals(X)
        predicted = []
        for t in range(len(T)):
            level = np.flatnonzero(T[t] == T[t].max())
            voters = [d[t][(self._y[i[t]] == c) & (self.s_[i[t]] > 0)].min() for c in level]
            predicted.append(level[int(np.argmin(voters))])
        return self.classes_[predicted]


KNeighborsClassifier.__module__ = "certus.neighbors"


class NearestNeighbors(peers.NearestNeighbors):
    def fit(self, X, y=None):
        super().fit(X)
        self.certificate_ = certify(self, Rows(self._fit_X))
        return self

    kneighbors = KNeighborsClassifier.kneighbors


NearestNeighbors.__module__ = "certus.neighbors"


def classifier(**options):
    return KNeighborsClassifier(**options).fit(X, names)


# --- words ----------------------------------------------------------------------------------------


def test_the_words_of_a_certificate():
    c = classifier().certificate_
    assert repr(c) == "Certificate(exact: the 5 nearest of 16 sampled rows recomputed from all 150)"
    assert c.explain().splitlines() == [
        "[OK] EXACT   KNeighborsClassifier, 150 rows × 4 columns",
        "Claimed        the 5 nearest rows by Euclidean distance",
        "Recomputed     the 5 nearest of 16 sampled rows recomputed from all 150",
        "Distances      80 distances, right to the last digit; no nearer row was missed",
        "Ties           the first row before later ones",
        "Votes          predictions and probabilities for these follow from the neighbours",
        "Checked by     certus.proofs.neighbors.neighbors, from the data; the answers alone are "
        "the model's; its page is certus.definitions.neighbors, 66 lines",
        "Does not say   that the answers for other rows are right, that the distance suits "
        "the data, or that the model predicts well",
    ]
    assert c.note() == (
        "KNeighborsClassifier (150 rows, 4 columns): the 5 nearest rows by Euclidean distance were "
        "recomputed for 16 sampled rows from all rows and are those that the model names, and so "
        f"are its predictions for them (certus {certus.__version__}, "
        "certus.proofs.neighbors.neighbors)."
    )
    html = c._repr_html_()
    assert "<strong>✔ Exact</strong> · the 5 nearest of 16 sampled rows" in html
    assert "claimed <math" in html


def test_the_words_of_one_neighbour_of_a_radius_and_of_points_between():
    nearest = certus.verify(peers.NearestNeighbors(n_neighbors=1).fit(X), X)
    assert "exact: the nearest of 16 sampled rows recomputed from all 150" in repr(nearest)
    assert "Votes" not in nearest.explain()
    within = certus.verify(peers.RadiusNeighborsRegressor(0.5).fit(X, X[:, 0]), X, X[:, 0])
    assert "exact: the rows within 0.5 of 16 sampled rows recomputed from all" in repr(within)
    assert "Ties           any order was taken for right" in within.explain()
    between = classifier(weights="distance").certificate_
    assert "the 5 nearest of 16 sampled rows and points between them recomputed" in repr(between)


def test_the_words_of_a_contradiction():
    model = classifier()
    model._y = 2 - model._y
    c = certus.verify(model, X, names)
    assert repr(c) == (
        "Certificate(contradicted: row 0 of the model has 2 as target 0, the row given 0)"
    )
    words = c.explain()
    assert words.startswith("[!!] CONTRADICTED   KNeighborsClassifier, 150 rows × 4 columns")
    assert "'virginica' is predicted, but its neighbours vote for 'setosa'" in words
    assert "fit again: the model was changed after its fit" in words
    assert "more like it)" in words
    assert c.note().startswith("Not certified: contradicted: row 0 of the model")
    assert "<strong>✖ Contradicted</strong>" in c._repr_html_()
    with pytest.raises(CertificateError):
        c.plot()


def test_the_words_of_what_no_definition_knows():
    rows = Rows(X)
    c = unproven(NearestNeighbors(), rows, "the 5 nearest rows", 0.0, "why not", kind="exact")
    assert repr(c) == "Certificate(not proven: why not)"
    assert c.explain().splitlines() == [
        "[?] NOT PROVEN   NearestNeighbors, 150 rows × 4 columns",
        "Claimed        the 5 nearest rows",
        "Not proven     why not.",
        "Checked by     nothing: the answers are the search's own",
    ]
    assert "why not" in c._repr_html_()
    assert c.note() == "Not certified: not proven: why not."


# --- models of certus -----------------------------------------------------------------------------


def test_a_fit_is_certified_and_verified_alike():
    for model in (classifier(), classifier(weights="distance"), classifier(n_neighbors=1)):
        own, again = model.certificate_, certus.verify(model, X, names)
        assert own.status == again.status == "exact", own._finding.contradictions
        assert own.notes == again.notes == ()
    model = NearestNeighbors().fit(X)
    assert certus.verify(model, X).certified
    assert certus.verify(model, X, y).certified


def test_other_rows_are_recognised():
    model = NearestNeighbors().fit(X)
    for rows in (X[::-1], X[:100], X + 1):
        c = certus.verify(model, rows)
        assert c.status == "other rows"
        assert "not the rows it was fitted on" in repr(c)
        assert "rows in the same order" in c.explain()
    assert certus.verify(classifier(), X, np.roll(names, 1)).status == "other rows"


def test_weights_multiply_votes(rng):
    s = rng.integers(1, 4, size=150).astype(float)
    model = KNeighborsClassifier(9).fit(X, names, s)
    assert model.certificate_.certified, model.certificate_._finding.contradictions
    assert certus.verify(model, X, names, s).certified
    c = certus.verify(model, X, names)
    assert "fitted with sample_weight" in c.notes[-1]
    model.s_ = np.ones(150)
    wrong = certus.verify(model, X, names, s)._finding.contradictions
    assert any("the probability of" in message for message in wrong)


def test_a_tie_of_votes_goes_to_the_nearest_voter():
    rows = np.array([[0.0], [1.0], [2.5], [10.0]])
    model = KNeighborsClassifier(2).fit(rows, ["b", "a", "a", "b"])
    assert model.certificate_.certified
    # of row 0 the two nearest are itself, a "b", and row 1, an "a"
    model.predict = lambda Q: np.where(np.ravel(Q) == 0, "a", "b")
    wrong = certus.verify(model, rows, ["b", "a", "a", "b"])._finding.contradictions
    assert "row 0: 'a' is predicted, but of equally many votes the nearest is for 'b'" in wrong


def test_rounding_alone_is_forgiven():
    model = NearestNeighbors().fit(X)
    right = model.kneighbors
    for factor, status in ((1 + 4e-16, "exact"), (1 + 1e-12, "contradicted")):
        model.kneighbors = lambda Q, k, factor=factor: (right(Q, k)[0] * factor, right(Q, k)[1])
        assert certus.verify(model, X).status == status


def test_another_order_of_ties_is_an_error_of_certus():
    rows = np.repeat(np.arange(4.0), 3)[:, None]
    model = NearestNeighbors(n_neighbors=2).fit(rows)
    assert model.certificate_.certified
    right = model.kneighbors

    def swapped(Q, k):
        d, i = right(Q, k)
        return d, i[:, ::-1]

    def later(Q, k):
        d, i = right(Q, k)
        return d, i + 1

    for kneighbors, message in (
        (swapped, "the first row comes first"),
        (later, "was not: of equal"),
    ):
        model.kneighbors = kneighbors
        assert message in certus.verify(model, rows)._finding.contradictions[0]


def test_a_certificate_can_be_pickled_and_does_not_follow_the_model():
    model = classifier(weights="distance")
    c = pickle.loads(pickle.dumps(model.certificate_))
    assert repr(c) == repr(model.certificate_)
    before = model.certificate_.parameters["distances"].copy()
    model._fit_X, model._y = np.zeros_like(X), np.zeros_like(y)
    assert np.array_equal(model.certificate_.parameters["distances"], before)


def test_what_a_reader_refuses_a_fit_hears_of():
    model = NearestNeighbors().fit(X)
    model.effective_metric_ = "unheard of"
    with pytest.raises(CannotVerifyError, match="has no definition here"):
        certify(model, Rows(X))


def test_the_same_bits_on_any_number_of_threads(rng):
    rows = rng.normal(size=(60_000, 4))
    model = peers.NearestNeighbors(algorithm="kd_tree").fit(rows)
    result = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            result.append(certus.verify(model, rows))
    assert result[0].residual == result[1].residual
    assert result[0].certified
    assert result[1].certified


# --- those of certus.neighbors --------------------------------------------------------------------


def fits():
    """Return (model, X, y) of each class, with metrics and kinds of rows."""
    ours = pytest.importorskip("certus.neighbors")
    holes = X.copy()
    holes[::7, 1] = np.nan
    yield ours.NearestNeighbors(), X, None
    yield ours.NearestNeighbors(metric="mahalanobis"), X, None
    yield ours.NearestNeighbors(metric="seuclidean"), np.column_stack([X, np.ones(150)]), None
    yield ours.NearestNeighbors(metric=lambda a, b: np.abs(a - b).sum()), X, None
    yield ours.KNeighborsClassifier(weights="distance"), X + 1e8, names
    yield ours.KNeighborsClassifier(metric="cosine"), csr_array(X), names
    yield ours.KNeighborsClassifier(), X, np.column_stack([names, y > 0])
    yield ours.KNeighborsRegressor(weights=lambda d: np.exp(-d)), X.astype(np.float32), X[:, 0]
    yield ours.KNeighborsRegressor(metric="nan_euclidean"), holes, X[:, 0]
    yield ours.KNeighborsRegressor(metric="gower"), holes, X[:, 0]
    yield ours.RadiusNeighborsClassifier(0.8), (10 * X).astype(np.uint8), names
    yield ours.RadiusNeighborsRegressor(0.8, weights="distance"), X, np.column_stack([y, -y])


def test_every_fit_of_certus_is_certified_and_verified():
    for model, rows, target in fits():
        own = model.fit(rows, target).certificate_
        assert own.status == "exact", (model, own)
        assert certus.verify(model, rows, target).status == "exact", model


def test_an_edit_of_a_fit_of_certus_is_named():
    for model, rows, target in fits():
        if isinstance(rows, np.ndarray):
            model.fit(rows, target)
            model._fit_X = model._fit_X.copy()
            model._fit_X[17, 0] += 1
            c = certus.verify(model, rows, target)
            assert c.status == "contradicted", model
            assert c._finding.contradictions[0].startswith("row 17 of the model has")


# --- the script -----------------------------------------------------------------------------------


def run(folder, *arguments):
    (folder / "certus.py").write_text("raise ImportError")
    (folder / "scipy.py").write_text("raise ImportError")
    return subprocess.run(
        [sys.executable, "check.py", *arguments], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}, timeout=60,
    )  # fmt: skip


SCRIPTS = {
    "nearest": peers.NearestNeighbors(),
    "cosine": peers.NearestNeighbors(metric="cosine"),
    "seuclidean": peers.NearestNeighbors(metric="seuclidean", metric_params={"V": X.var(axis=0)}),
    "classes": peers.KNeighborsClassifier(weights="distance"),
    "classes within": peers.RadiusNeighborsClassifier(0.8),
    "numbers": peers.KNeighborsRegressor(p=1),
    "numbers within": peers.RadiusNeighborsRegressor(0.8),
}


@pytest.mark.filterwarnings("ignore")  # scikit-learn casts NaN
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_recomputes_the_answers_where_certus_is_not(name, tmp_path):
    rows = X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)
    model = SCRIPTS[name].fit(rows, names if "classes" in name else rows[:, 0])
    target = names if "classes" in name else rows[:, 0]
    c = certus.verify(model, rows, target)
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", rows)
    np.save(tmp_path / "y.npy", target)
    files = ["X.npy"] if c.parameters["votes"] is None else ["X.npy", "y.npy"]
    result = run(tmp_path, *files)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 answers are wrong\nthe claim holds\n" in result.stdout
    assert not result.stderr
    np.save(tmp_path / files[-1], np.load(tmp_path / files[-1])[::-1])
    result = run(tmp_path, *files)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "THE CLAIM DOES NOT HOLD" in result.stdout
    np.save(tmp_path / "X.npy", rows[:-1])
    assert run(tmp_path, *files).returncode == 2
    assert run(tmp_path).returncode == 2


def test_a_script_reads_sparse_rows_and_a_certificate_of_certus(tmp_path):
    save_npz(tmp_path / "X.npz", csr_array(X))
    model = peers.NearestNeighbors(algorithm="brute").fit(csr_array(X))
    certus.verify(model, csr_array(X)).export(tmp_path / "check.py")
    result = run(tmp_path, "X.npz")
    assert result.returncode == 0, result.stdout + result.stderr
    classifier().certificate_.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", names)
    result = run(tmp_path, "X.npy", "y.npy")
    assert result.returncode == 0, result.stdout + result.stderr
