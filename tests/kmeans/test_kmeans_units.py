"""k-means where float64 cannot hold squares of differences: the fit in a unit that is a power of 2.

fit(2^e·X): the labels of fit(X), and 2^e times its centres, in their bits
"""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster as peers
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris

import certus
from certus.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from certus.data.changed_rows import divided
from certus.data.rows import Rows
from certus.exceptions import RangeWarning
from certus.model_files.onnx_export import to_onnx
from tests.engines.parts_table import PartsTable
from tests.kmeans.cluster_cases import blobs
from tests.streams import ArrayTable

X = load_iris(return_X_y=True)[0]
s = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
POWERS = [560, -560, 500, -500, 1000, -1000]
MODELS = [
    KMeans(3, random_state=0),
    KMeans(8, random_state=1, n_init=3),
    KMeans(8, random_state=1, single_moves=False),
    KMeans(5, random_state=0, init="k-means||"),
    KMeans(5, random_state=0, init="random", tol=0),
    MiniBatchKMeans(4, random_state=0, batch_size=40),
    BisectingKMeans(5, random_state=0),
]
ignored = pytest.mark.filterwarnings("ignore::certus.exceptions.RangeWarning")


@ignored
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_power_of_two_changes_no_label_and_scales_centres_exactly(model, power, weighted):
    Z, w = X * 2.0**power, s if weighted else None
    near, far = clone(model).fit(X, sample_weight=w), clone(model).fit(Z, sample_weight=w)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(far.cluster_centers_, near.cluster_centers_ * 2.0**power)
    np.testing.assert_array_equal(far.predict(Z), far.labels_)
    np.testing.assert_array_equal(far.transform(Z), near.transform(X) * 2.0**power)
    # in units of unit_², and exactly: both are powers of two
    times = (2.0**power / far.unit_) ** 2
    assert far.inertia_ == near.inertia_ * times
    assert far.score(Z, sample_weight=w) == near.score(X, sample_weight=w) * times
    assert far.certificate_.status == near.certificate_.status
    assert far.certificate_.objective == near.certificate_.objective * times
    for by in ("proof", "page"):
        here = certus.verify(near, X, sample_weight=w, by=by)
        there = certus.verify(far, Z, sample_weight=w, by=by)
        assert there.status == here.status
        assert there.objective == pytest.approx(here.objective * times, rel=1e-12)


def test_the_unit_is_one_wherever_the_objective_can_be_held():
    for power in (-480, -300, 0, 300, 500):
        model = KMeans(3, random_state=0).fit(X * 2.0**power)
        assert model.unit_ == 1.0
        assert "unit" not in model.certificate_.parameters
        assert model.certificate_.formula == "Σ minₖ ‖xᵢ − μₖ‖²"


@pytest.mark.parametrize(("power", "how"), [(560, "overflow"), (-560, "underflow")])
def test_warning_formula_and_note_state_the_unit(power, how):
    with pytest.warns(RangeWarning, match=f"{how}, so KMeans states its objective in units") as w:
        model = KMeans(3, random_state=0).fit(X * 2.0**power)
    assert len(w) == 1
    e = int(np.log2(model.unit_))
    assert e == power + 2  # 2² ≤ the largest difference of a column, 5.9 < 2³
    raised = str(e).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    c = model.certificate_
    assert c.formula == f"Σ minₖ ‖(xᵢ − μₖ)/2{raised}‖²"
    assert c.formula in c.note()
    assert c.to_dict()["formula"] == c.formula
    (note,) = c.notes
    assert f"squares of the differences in X {how}" in note
    assert f"divided by 2{raised}; the objective is in units of" in note
    assert note in c.explain()


@ignored
@pytest.mark.parametrize("power", [560, -560])
def test_given_centres_and_functions_are_in_the_units_of_x(power):
    def every_fiftieth(rows, k, random_state):
        assert np.abs(rows).max() == Z.max()
        return rows[::50]

    Z = X * 2.0**power
    expected = KMeans(3, init=X[::50]).fit(X)
    for init in (Z[::50], every_fiftieth):
        model = KMeans(3, init=init, n_init=1).fit(Z)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
    splits = BisectingKMeans(2, init=lambda rows, k, random_state: rows[:2]).fit(Z)
    assert splits.n_clusters_effective_ == 2


@ignored
@pytest.mark.parametrize("given", [1e170, 1.0])
def test_centres_too_far_from_small_rows_are_refused(given):
    with pytest.raises(ValueError, match="overflow: give init in the units of X"):
        KMeans(2, init=given * X[:2]).fit(X * 2.0**-560)
    with pytest.raises(ValueError, match="overflow: give init in the units of X"):
        KMeans(2, init=1e170 * X[:2]).fit(X)


@ignored
@pytest.mark.parametrize("power", [560, -560])
@pytest.mark.parametrize("kind", [csr_array, csc_array])
@pytest.mark.parametrize("model", [MODELS[0], MODELS[5], MODELS[6]], ids=str)
def test_sparse_rows_have_the_same_law(model, kind, power):
    near, far = (clone(model).fit(kind(A)) for A in (X, X * 2.0**power))
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(far.cluster_centers_, near.cluster_centers_ * 2.0**power)
    assert certus.verify(far, kind(X * 2.0**power)).status == near.certificate_.status


@ignored
@pytest.mark.parametrize("power", [560, -560])
@pytest.mark.parametrize("model", [MODELS[0], MODELS[5]], ids=str)
def test_tables_have_the_bits_of_arrays(model, power):
    Z = blobs(0) * 2.0**power
    w = np.random.default_rng(1).uniform(0.5, 2, len(Z))
    arrays = clone(model).fit(Z, sample_weight=w)
    for table in (ArrayTable(Z, None, w), PartsTable(Z, None, w, cuts=[20, 33])):
        streamed = clone(model).fit(table)
        np.testing.assert_array_equal(np.asarray(streamed.labels_), arrays.labels_)
        np.testing.assert_array_equal(streamed.cluster_centers_, arrays.cluster_centers_)
        np.testing.assert_array_equal(streamed.predict(table), arrays.labels_)
        np.testing.assert_array_equal(streamed.transform(table), arrays.transform(Z))
        assert streamed.score(table) == pytest.approx(arrays.score(Z, sample_weight=w), rel=1e-12)
        assert certus.verify(streamed, table).objective == streamed.certificate_.objective


@ignored
@pytest.mark.parametrize("power", [560, -560])
def test_batches_have_the_unit_of_the_first(power):
    near, far = MiniBatchKMeans(3, random_state=0), MiniBatchKMeans(3, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    for i in np.split(order, 5):
        near.partial_fit(X[i])
        far.partial_fit(X[i] * 2.0**power)
        np.testing.assert_array_equal(far.cluster_centers_, near.cluster_centers_ * 2.0**power)
        np.testing.assert_array_equal(far.labels_, near.labels_)
    with pytest.raises(ValueError, match=r"than those in the first that their squares .*flow"):
        far.partial_fit(X)


@ignored
@pytest.mark.parametrize("power", [560, -560])
def test_a_wrong_model_is_contradicted(power):
    Z = X * 2.0**power
    model = KMeans(3, random_state=0).fit(Z)
    model.labels_ = np.where(np.arange(len(X)) == 7, (model.labels_ + 1) % 3, model.labels_)
    assert certus.verify(model, Z).status == "contradicted"
    model = KMeans(3, random_state=0).fit(Z)
    model.cluster_centers_ = model.cluster_centers_ * 1.01
    assert not certus.verify(model, Z).certified
    model = KMeans(3, random_state=0).fit(Z)
    model.unit_ *= 2.0
    assert certus.verify(model, Z).status == "contradicted"  # inertia_ is another number there
    model.unit_ *= 1.01
    with pytest.raises(certus.exceptions.CannotVerifyError, match="no power of two: fit again"):
        certus.verify(model, Z)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("power", [560, -560])
@pytest.mark.parametrize("name", ["KMeans", "MiniBatchKMeans", "BisectingKMeans"])
def test_a_model_of_scikit_learn_is_checked_in_the_same_unit(name, power):
    Z = X * 2.0**power
    theirs = getattr(peers, name)(3, random_state=0).fit(Z)
    c = certus.verify(theirs, Z)
    assert c.parameters["unit"] == KMeans(3).fit(Z).unit_
    assert c.status == "contradicted"
    stated = "inf" if power > 0 else "0"
    assert any(text.startswith(f"inertia_ is {stated}, ") for text in c._finding.contradictions)
    right = peers.KMeans(3, random_state=0, n_init=1).fit(X)  # its centres there are right
    theirs = peers.KMeans(3, n_init=1).fit(Z)
    theirs.cluster_centers_ = right.cluster_centers_ * 2.0**power
    assert certus.verify(theirs, Z, by="page").objective == pytest.approx(
        right.inertia_ * 2.0 ** (2 * (power - np.log2(c.parameters["unit"]))), rel=1e-9
    )


@ignored
@pytest.mark.parametrize("power", [560, -560])
def test_the_script_checks_the_claim_in_the_unit(power, tmp_path):
    Z = X * 2.0**power
    KMeans(3, random_state=0).fit(Z).certificate_.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", Z)
    np.save(tmp_path / "other.npy", Z * 1.001)
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}

    def run(name):
        command = [sys.executable, "check.py", name]
        return subprocess.run(command, cwd=tmp_path, env=environment, check=False).returncode

    assert (run("X.npy"), run("other.npy")) == (0, 1)
    assert (tmp_path / "check.py").read_text(encoding="utf-8").count("\n") <= 150


@ignored
@pytest.mark.parametrize("power", [560, -560])
@pytest.mark.parametrize("model", [MODELS[0], MODELS[5], MODELS[6]], ids=str)
def test_a_model_file_keeps_the_unit(model, power, tmp_path):
    Z = X * 2.0**power
    fitted = clone(model).fit(Z)
    certus.save(fitted, tmp_path / "model.certus")
    loaded = certus.load(tmp_path / "model.certus")
    assert loaded.unit_ == fitted.unit_
    np.testing.assert_array_equal(loaded.predict(Z), fitted.labels_)


@ignored
@pytest.mark.parametrize("power", [560, -560])
def test_the_onnx_graph_divides_by_the_unit(power):
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator
    Z = X * 2.0**power
    model = KMeans(3, random_state=0).fit(Z)
    (labels,) = evaluator(to_onnx(model)).run(["label"], {"X": Z})
    np.testing.assert_array_equal(labels, model.labels_)


@ignored
def test_rows_that_are_finite_but_too_far_are_not_called_infinite():
    model = KMeans(3, random_state=0).fit(X * 2.0**-560)
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match="overflow: divide X by a power of 10"):
            method(X * 2.0**560)


def test_rows_that_no_unit_serves_are_refused_by_column():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 9.0], "b": [0.0, 1.0, 0.0, 1.0]})
    with pytest.raises(ValueError, match="of 'a' differ by 1e-309 at most, of which float64 holds"):
        KMeans(2).fit(frame * 1e-310)
    far = pd.DataFrame({"a": np.full(4, 1e200), "b": frame["b"] * 1e-200})
    with pytest.raises(ValueError, match="'a' reach 1e200, and those of the widest column, 'b'"):
        KMeans(2).fit(far)


@pytest.mark.parametrize("unit", [2.0**532, 2.0**-532])
@pytest.mark.parametrize("kind", [np.asarray, csr_array, csc_array, lambda A: ArrayTable(A).X])
def test_divided_rows_are_the_rows_over_the_unit(kind, unit):
    from certus.data.csr import CSR

    given = kind(X * unit)
    rows = Rows(CSR(given) if hasattr(given, "tocsr") else given, None, s)
    block, _, weights = divided(rows, unit).block(10, 20)
    block = block.toarray() if hasattr(block, "toarray") else block
    np.testing.assert_array_equal(block, X[10:20])
    np.testing.assert_array_equal(weights, s[10:20])
    assert divided(rows, 1.0) is rows
