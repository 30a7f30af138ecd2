"""``certus.verify`` on k-means: of scikit-learn, and of models that certus takes for its own."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster as peers
from scipy.sparse import csc_array, csr_array
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.certificate import certify
from certus.certificate.explain.certificate import not_certified
from certus.certificate.facts import RestartSummary, RowMove
from certus.data.rows import Rows
from certus.exceptions import CannotVerifyError
from certus.proofs.kmeans.kmeans import lloyd_step, nearest, objective
from tests.kmeans.kmeans_cases import KMeans, blobs

X = blobs(0, n=300, p=3, k=4)
noise = np.random.default_rng(0).normal(size=(600, 4))
FINISHED = {"tol": 0, "n_init": 1, "random_state": 0}


def fitted(X=X, s=None, k=4, **params):
    return peers.KMeans(k, **{**FINISHED, **params}).fit(X, sample_weight=s)


def refused(model, X=X, s=None):
    c = certus.verify(model, X, sample_weight=s)
    assert c.status == "contradicted"
    assert not c.certified
    return list(c._finding.contradictions)


# --- scikit-learn's KMeans ------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("kind", [float, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, csr_array, csc_array])
def test_a_finished_fit_is_a_local_optimum(algorithm, kind, weighted, layout):
    given = layout(noise.astype(kind))
    s = np.random.default_rng(1).uniform(0.1, 3, size=600) if weighted else None
    model = fitted(given, s, k=5, algorithm=algorithm)
    c = certus.verify(model, given, sample_weight=s)
    assert (c.status, c.kind, c.certified) == ("local optimum", "local", True), c.explain()
    assert (c.bound, c.gap) == (None, np.inf)
    assert c.objective == pytest.approx(objective(noise.astype(kind), model.cluster_centers_, s))
    assert 0 <= c.residual <= 1e-6
    if weighted:
        assert certus.verify(model, given).status == "contradicted"


def test_the_default_tol_stops_before_a_local_optimum_and_by_how_much():
    many = np.random.default_rng(0).normal(size=(3000, 5))
    model = fitted(many, k=8, tol=1e-4)
    c = certus.verify(model, many)
    assert (c.status, c.certified) == ("not a local optimum", False)
    after = objective(many, lloyd_step(many, model.cluster_centers_))
    assert c._finding.gain == pytest.approx(c.objective - after, rel=1e-6)
    assert c.residual == pytest.approx(c._finding.gain / c.objective)
    text = c.explain()
    assert "[!!] NOT A LOCAL OPTIMUM   sklearn.cluster.KMeans, 3,000 rows × 5 columns" in text
    assert "tol=0.0001 stopped it early" in text
    assert certus.verify(model, many, tol=1e-3).status == "local optimum"
    short = fitted(many, k=8, max_iter=3)
    assert "it stopped at max_iter=3" in certus.verify(short, many).explain()


def test_a_wrong_label_or_objective_or_centre_is_found():
    model = fitted()
    model.labels_ = model.labels_.copy()
    model.labels_[17] = (model.labels_[17] + 1) % 4
    (message,) = refused(model)
    assert message.startswith("row 17 is labelled ")
    model = fitted()
    model.inertia_ *= 1.001
    (message,) = refused(model)
    assert message.startswith("inertia_ is ")
    model = fitted()
    model.cluster_centers_ = model.cluster_centers_ + 0.01
    assert any("inertia_" in message for message in refused(model))
    model = fitted()
    model.cluster_centers_[1, 2] = np.nan
    with pytest.raises(CannotVerifyError, match=r"holds nan \(centre 1, column 2\)"):
        certus.verify(model, X)


def test_predictions_that_contradict_labels_are_found():
    far = np.random.default_rng(0).normal(size=(500, 2)) + 1e8
    c = certus.verify(fitted(far, k=8), far)
    assert c.status == "contradicted"
    assert c._finding.contradictions[0].startswith("predict puts row ")
    text = c.explain()
    assert "from the origin as from their centres" in text
    assert "subtract the column means first, or use certus.cluster.KMeans" in text
    assert certus.verify(fitted(far - 1e8, k=8), far - 1e8).certified


def test_other_rows_are_refused_or_do_not_fit():
    model = fitted()
    with pytest.raises(CannotVerifyError, match="labels_ has 300 entries, X has 200 rows"):
        certus.verify(model, X[:200])
    assert "row" in refused(model, X[::-1])[0]
    with pytest.raises(CannotVerifyError, match="not fitted"):
        certus.verify(peers.KMeans(), X)


def test_a_model_is_found_in_a_pipeline_and_knows_frames():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(StandardScaler(), peers.KMeans(4, **FINISHED)).fit(frame)
    c = certus.verify(model, frame)
    assert c.status == "local optimum"
    assert any("Pipeline" in note for note in c.notes)
    assert certus.verify(fitted(frame), frame).status == "local optimum"


def test_starts_are_reported_where_they_are_known():
    assert repr(certus.verify(fitted(), X)).endswith("; no useful bound; one start)")
    assert certus.verify(fitted(init=X[:4]), X)._finding.restarts == RestartSummary(1, 1, 0.0)
    assert certus.verify(fitted(n_init="auto"), X)._finding.restarts == RestartSummary(1, 1, 0.0)
    for params in ({"n_init": 4}, {"n_init": "auto", "init": "random"}):
        c = certus.verify(fitted(**params), X)
        assert c._finding.restarts is None
        assert repr(c).endswith("; no useful bound)")


def test_fewer_points_than_clusters_are_degenerate():
    points = np.arange(9.0)[np.arange(17) % 9][:, None]
    with pytest.warns(UserWarning, match="distinct"):
        model = fitted(points, k=10)
    c = certus.verify(model, points)
    assert (c.status, c.certified) == ("degenerate", True)
    assert (c.objective, c.bound, c.gap) == (0, 0, 0)
    assert repr(c) == (
        "Certificate(degenerate: objective 0; 9 distinct points; it cannot be lower; one start)"
    )
    assert (
        "the rows hold 9 distinct points, so 10 clusters cannot exist; 9 have rows" in c.explain()
    )
    assert "◐ Degenerate" in c._repr_html_()
    assert "9 distinct points" in c.note()


# --- mini-batches and bisecting -------------------------------------------------------------------


def test_mini_batches_are_not_called_wrong_for_what_they_do_not_claim():
    model = peers.MiniBatchKMeans(5, random_state=0, batch_size=100).fit(noise)
    c = certus.verify(model, noise)
    assert c.status == "not a local optimum"
    assert not c._finding.contradictions
    mu = model.cluster_centers_
    after = objective(noise, lloyd_step(noise, mu))
    assert c.residual == pytest.approx(1 - after / objective(noise, mu))
    text = c.explain()
    assert text.startswith("[i] NOT A LOCAL OPTIMUM   sklearn.cluster.MiniBatchKMeans")
    assert "mini-batches approach an optimum, they do not reach it" in text
    assert re.search(r"one more step lowers it by [\d.]+ %", repr(c))
    model.labels_ = (model.labels_ + 1) % 5
    assert "is labelled" in refused(model, noise)[0]


def test_of_a_stream_nothing_is_claimed_of_rows_that_are_gone():
    model = peers.MiniBatchKMeans(5, random_state=0)
    for start in range(0, 600, 100):
        model.partial_fit(noise[start : start + 100])
    c = certus.verify(model, noise)
    assert c.status == "not a local optimum"
    assert c.objective == pytest.approx(objective(noise, model.cluster_centers_))
    quiet = peers.MiniBatchKMeans(5, random_state=0, compute_labels=False).fit(noise)
    assert not certus.verify(quiet, noise)._finding.contradictions


def test_bisecting_is_measured_by_its_own_labels():
    s = np.random.default_rng(2).uniform(0.5, 2, size=600)
    for weight in (None, s):
        model = peers.BisectingKMeans(6, random_state=0).fit(noise, sample_weight=weight)
        c = certus.verify(model, noise, sample_weight=weight)
        assert c.status == "not a local optimum"
        assert c.objective == pytest.approx(model.inertia_)
        mu, ones = model.cluster_centers_, np.ones(600) if weight is None else weight
        assert c.objective > objective(noise, mu, ones)
        after = objective(noise, lloyd_step(noise, mu, ones), ones)
        assert c._finding.gain == pytest.approx(c.objective - after)
    assert "each split was optimised by itself" in c.explain()
    assert c.explain().startswith("[i] ")
    model.labels_ = (model.labels_ + 1) % 6
    assert any("predict puts row" in message for message in refused(model, noise, s))


def test_bisecting_into_two_is_a_local_optimum_if_its_split_is():
    model = peers.BisectingKMeans(2, random_state=0, tol=0).fit(X)
    assert certus.verify(model, X).status == "local optimum"


# --- words ----------------------------------------------------------------------------------------


def test_the_words_of_a_local_optimum():
    iris = load_iris().data
    model = KMeans(3).fit(iris)
    model.restarts_ = np.append(np.full(9, model.inertia_), 1.36 * model.inertia_)
    c = certus.verify(model, iris)
    J = f"{model.inertia_:.3f}"
    assert repr(c) == (
        f"Certificate(local optimum: objective {J}; no useful bound; 9 of 10 restarts agree)"
    )
    text = c.explain()
    assert text.startswith(
        "[OK] LOCAL OPTIMUM   KMeans, 150 rows × 4 columns\nMinimised      Σ min"
    )
    assert "Restarts       9 of 10 ended here, the worst 36 % above" in text
    assert "the objective never rose" in text
    assert "certus.proofs.kmeans.kmeans, from the data" in text
    assert "that no other clustering is better" in text
    assert "9 of 10 restarts agree" in c.note()
    html = c._repr_html_()
    assert "◐ Local optimum" in html
    for message in (repr(c), text, c.note(), html):
        assert "ertified" not in message
        assert not re.search(r"\boptimal\b", message)
    model.restarts_ = model.restarts_[:9]
    assert "all 9 ended here" in certus.verify(model, iris).explain()


def test_hartigans_test_is_reported_and_takes_nothing_away():
    line = np.array([[0.0], [1.0], [2.0], [2.9], [9.0]])
    mu = np.array([[1.475], [9.0]])  # the means of {0, 1, 2, 2.9} and {9}: nothing moves
    model = fitted(line, k=2, init=mu)
    assert np.array_equal(model.labels_, [0, 0, 0, 0, 1])
    assert "no row's move to another cluster lowers it" in certus.verify(model, line).explain()
    line = np.array([[0.0], [1.0], [2.0], [5.4], [9.0]])
    mu = np.array([[2.1], [9.0]])
    model = fitted(line, k=2, init=mu)
    c = certus.verify(model, line)
    assert (c.status, c.certified) == ("local optimum", True)
    # J = 16.52 → 2 + 6.48 once row 3 is with row 4
    assert c._finding.move == RowMove(pytest.approx(16.52 - 8.48), row=3, source=0, target=1)
    assert "moving row 3 from cluster 0 to 1 would lower it by 8.04, 49 %" in c.explain()


def test_a_bound_is_computed_where_it_is_asked_for():
    flat = noise * [10, 1, 0.1, 0.1]
    model = fitted(flat, k=3)
    c = certus.verify(model, flat, bound=True)
    assert "less than half of the objective" in c.explain()
    assert repr(c) == repr(certus.verify(model, flat))
    spread = noise * [1, 1, 1, 1.1]
    model = fitted(spread, k=2)
    c = certus.verify(model, spread, bound=True)
    assert c.objective / 2 <= c.bound <= c.objective <= c.bound + c.gap
    assert f"the best possible is at least {c.bound:,.1f}"[:38] in repr(c)
    assert "all eigenvalues" in c.explain()
    line = certus.verify(fitted(noise[:, :1], k=3), noise[:, :1], bound=True)
    assert line.bound is None
    assert "the rows vary in no more than 2 directions" in line.explain()
    # of models that have a bound in any case it changes nothing
    from sklearn.linear_model import Ridge

    ridge = Ridge().fit(noise, X[:, 0].repeat(2))
    y = X[:, 0].repeat(2)
    assert certus.verify(ridge, noise, y, bound=True).gap == certus.verify(ridge, noise, y).gap


def test_one_cluster_is_known_to_be_the_best():
    c = certus.verify(fitted(k=1), X)
    assert c.gap <= 1e-9 * c.objective
    assert "there is one mean" in c.explain()


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_every_word_can_be_printed(encoding, monkeypatch):
    class Terminal:
        pass

    Terminal.encoding = encoding
    monkeypatch.setattr("sys.stdout", Terminal())
    message = [certus.verify(fitted(), X, bound=True).explain(), repr(certus.verify(fitted(), X))]
    for text in message:
        assert "?" not in text
        text.encode(encoding)


# --- models of certus -----------------------------------------------------------------------------


def test_a_model_of_certus_is_recognised_by_its_rows():
    model = KMeans(4).fit(X)
    model.certificate_ = certify(model, Rows(X))
    assert model.certificate_.status == "local optimum"
    assert certus.verify(model, X).status == "local optimum"
    c = certus.verify(model, X + 1)
    assert (c.status, c.certified) == ("other rows", False)
    c = certus.verify(model, X, sample_weight=np.linspace(1, 2, 300))
    assert c.status == "other rows"
    # rows beyond the 1,024 that are hashed show in the objective
    many = blobs(2, n=9000, p=3, k=4)
    model = KMeans(4).fit(many)
    model.certificate_ = certify(model, Rows(many))
    for i in range(9000):
        other = many.copy()
        other[i] += 1e-3
        c = certus.verify(model, other)
        if "objective" in c.notes[-1]:
            break
    assert c.notes[-1].endswith("the objective on these rows differs from that of the fit")


def test_what_was_edited_after_the_fit_is_found():
    model = KMeans(4).fit(X)
    model.certificate_ = certify(model, Rows(X))
    model.labels_[3] = (model.labels_[3] + 1) % 4
    (message,) = refused(model)
    assert message.startswith("row 3 is labelled ")
    assert "or this is a bug of certus" in certus.verify(model, X).explain()
    model.labels_ = nearest(X, model.cluster_centers_)[0]
    model.restarts_ = model.restarts_ * 0.5
    assert refused(model)[0].startswith("a restart reached ")
    model.restarts_ = model.restarts_ * 2
    model._rose = 0.01
    assert refused(model)[0].startswith("the objective rose")


def test_a_certificate_does_not_keep_a_label_for_each_row():
    c = certify(KMeans(4).fit(X), Rows(X))
    kept = {**c.parameters, **vars(c._finding)}
    assert all(np.size(value) < len(X) for value in kept.values() if isinstance(value, np.ndarray))
    assert set(c.parameters) == {"centers", "ours", "ties", "bound"}


def test_a_fit_that_was_cut_short_says_what_is_left():
    model = KMeans(5).fit(noise, steps=2)
    c = certify(model, Rows(noise))
    message = not_certified(c, 2)
    assert re.fullmatch(
        r"KMeans stopped at max_iter=2 before a local optimum: objective [\d,.]+, and one more "
        r"step lowers it by at least [\d.]+ %. Raise max_iter\.",
        message,
    )
    assert "is not at a local optimum" in not_certified(c)
    assert c.note().startswith("KMeans: not a local optimum")


def test_float32_models_are_certified():
    small = (noise + 100).astype(np.float32)
    model = KMeans(5).fit(small)
    assert model.cluster_centers_.dtype == np.float32
    assert certify(model, Rows(small)).status == "local optimum"


def test_ties_are_where_the_labels_say():
    model = KMeans(2).fit(np.array([[-2.0], [0.0], [1.0]]))
    model.cluster_centers_ = np.array([[1.0], [-1.0]])
    model.inertia_, model.restarts_ = 2.0, [2.0]
    for labels in ([1, 1, 0], [1, 0, 0]):  # of the second the centres are no means
        model.labels_ = np.array(labels)
        c = certify(model, Rows(np.array([[-2], [0], [1]])))
        assert not c._finding.contradictions
        assert c.parameters["ties"].tolist() == [[1], [labels[1]]]
        assert c.certified == (labels[1] == 1)
