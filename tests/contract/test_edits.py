"""``verify`` after edits: what changes an answer of a fitted model must not be certified.

Attributes are taken from ``vars(model)``, so a new one is edited without being listed. An edit is
missed if a public method says something else (or nothing) and the certificate still holds. An
edited model that cannot be read is refused by ``CannotVerifyError``, and by nothing else.
"""

import copy
import warnings
from typing import ClassVar

import numpy as np
import pytest
from sklearn import linear_model as their_linear_model

import certus
from certus.audit.answers import SAMPLED_ROWS
from certus.cluster import BisectingKMeans
from certus.exceptions import CannotVerifyError
from certus.linear_model import LinearRegression, LogisticRegression, Ridge
from certus.neighbors import KNeighborsRegressor
from tests.contract.edit_cases import CASES, QUICK
from tests.contract.edits import all_edits, answers, changed
from tests.contract.problems import classification, regression

# Attributes whose edit changes answers and leaves the claim true, with the reason.
ANOTHER_CLAIM = "the claim names it: with another value it is another claim, which holds too"
THE_SAME_ANSWER = "how an answer is put, not what it is: both ways follow from the parameters"
NOT_COVERED = {
    "n_neighbors": ANOTHER_CLAIM,
    "radius": "of NearestNeighbors not asked; elsewhere: " + ANOTHER_CLAIM,
    "weights": ANOTHER_CLAIM,
    "decision_function_shape": THE_SAME_ANSWER,
    "break_ties": THE_SAME_ANSWER,
    "representation": THE_SAME_ANSWER,
    "labels_": "the numbers of clusters are names, here of one partition in another order",
    "_index": "what searches work on: seen at the sampled queries alone, and the certificate says "
    "how many these are",
}
OF_CLASS = {
    "weights": ("KNeighbors", "RadiusNeighbors"),
    "n_neighbors": ("KNeighbors", "NearestNeighbors"),
    "labels_": ("FeatureAgglomeration",),
}
SOME = {
    "1 %", "sign", "swapped", "one dropped", "transposed", "another axis", "first axis twice",
    "columns swapped", "nan", "list", "text", "+ 1", "not",
}  # fmt: skip


def covered(model, place):
    name = place.attribute
    classes = OF_CLASS.get(name, ("",))
    return name not in NOT_COVERED or not any(c in type(model).__name__ for c in classes)


def missed_edits(case, wanted=None):
    """(certified although answers changed, ended in something else than a refusal in words)."""
    model, X, y = case.fit()
    assert certus.verify(model, X, y).certified
    before = answers(model, X)
    assert before
    missed, crashed, edits = [], [], 0
    for place, name, other in all_edits(model, wanted):
        edits += 1
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                certified = certus.verify(other, X, y).certified
        except Exception as error:
            certified = False
            if not isinstance(error, CannotVerifyError) or len(str(error).split()) < 4:
                crashed.append((str(place), name, repr(error)))
        # a model that is refused need not be asked: some end the process then
        if certified and covered(model, place):
            difference = changed(before, answers(other, X))
            if difference:
                missed.append((str(place), name, difference))
    assert edits > 20
    return missed, crashed


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_an_edit_that_changes_an_answer_is_not_certified(case):
    missed, crashed = missed_edits(case, SOME)
    assert not missed
    assert not crashed


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_edit_of_any_attribute_that_changes_an_answer_is_certified(case):
    missed, crashed = missed_edits(case)
    assert not missed
    assert not crashed


def test_every_class_that_is_read_has_a_case():
    from certus.audit.reading import _READERS, REFUSING_READERS

    known = {
        (library, name.partition(".")[2])
        for library, readers in _READERS.items()
        for name, reader in readers.items()
        if reader not in REFUSING_READERS
    }
    there = set()
    for case in CASES:
        cls = type(case.make())
        there.add((cls.__module__.partition(".")[0], cls.__name__))
    # Tree has no fit, and hdbscan is not installed: tests/linkage/
    assert known - there == {("certus", "Tree"), ("hdbscan", "HDBSCAN")}


@pytest.mark.parametrize("attribute", ["coef_", "intercept_"])
@pytest.mark.parametrize("make", [LinearRegression, their_linear_model.Ridge])
def test_a_deleted_attribute_is_named(make, attribute):
    X, y, _ = regression(3)
    model = make().fit(X, y)
    delattr(model, attribute)
    with pytest.raises(CannotVerifyError, match=attribute):
        certus.verify(model, X, y)


def test_a_deleted_constructor_parameter_is_named():
    X, y, _ = regression(3)
    model = Ridge().fit(X, y)
    del model.alpha
    with pytest.raises(CannotVerifyError, match="Ridge has no alpha"):
        certus.verify(model, X, y)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((3,), "4 columns"), ((1, 4), "do not fit together"), ((2, 2), "columns")],
)
def test_coefficients_of_another_shape_are_named(shape, message):
    X, y, _ = regression(3)
    model = Ridge().fit(X, y)
    model.coef_ = np.resize(model.coef_, shape)
    with pytest.raises(CannotVerifyError, match=f"coef_.*{message}|{message}|targets"):
        certus.verify(model, X, y)


def test_a_second_row_of_coefficients_of_two_classes_is_refused():
    X, y, _ = classification(3)
    model = LogisticRegression().fit(X, y)
    model.coef_ = np.vstack([model.coef_, model.coef_])
    with pytest.raises(CannotVerifyError, match="2 classes"):
        certus.verify(model, X, y)


def test_a_model_that_cannot_answer_is_contradicted_and_says_why():
    X, y, _ = regression(3)
    model = Ridge().fit(X, y)
    model.coef_ = model.coef_.tolist()
    certificate = certus.verify(model, X, y)
    assert certificate.status == "contradicted"
    assert "predict fails" in certificate.explain()


def test_an_answer_that_the_parameters_do_not_give_is_named_with_its_row():
    X, y, _ = regression(3)
    model = their_linear_model.Ridge().fit(X, y)
    model.predict = None  # methods are those of the class
    assert certus.verify(model, X, y).status == "contradicted"
    del model.predict
    assert certus.verify(model, X, y).certified


def test_one_entry_of_a_million_that_a_model_keeps_is_found():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(250_000, 4)), rng.normal(size=250_000)
    model = KNeighborsRegressor().fit(X.copy(), y)
    assert certus.verify(model, X, y).certified
    model._fit_X[123_456, 2] += 1.0
    certificate = certus.verify(model, X, y)
    assert certificate.status == "contradicted"
    assert "row 123456" in certificate.explain()


def test_an_edit_in_place_does_not_edit_what_was_certified():
    X, y, _ = regression(3)
    model = Ridge().fit(X, y)
    before = copy.deepcopy(model.certificate_.parameters)
    model.coef_ *= 2
    assert np.array_equal(model.certificate_.parameters["w"], before["w"])
    assert not certus.verify(model, X, y).certified


# --- what is asked --------------------------------------------------------------------------------


class Counting(their_linear_model.LogisticRegression):
    """Counts the rows that it is asked for, as a method of scikit-learn's own module would."""

    row_counts: ClassVar[list[int]] = []

    def decision_function(self, X):
        Counting.row_counts.append(len(X))
        return super().decision_function(X)


Counting.__module__ = "sklearn.linear_model._logistic"


def test_few_rows_are_asked_and_the_certificate_says_how_many():
    X, y, _ = classification(3, n=3000)
    model = Counting(tol=1e-10, max_iter=1000).fit(X, y)
    Counting.row_counts.clear()
    certificate = certus.verify(model, X, y)
    assert certificate.certified
    assert Counting.row_counts
    assert max(Counting.row_counts) <= SAMPLED_ROWS
    assert f"compared with the parameters at {max(Counting.row_counts)} of 3,000 rows" in str(
        certificate.notes
    )


def test_where_all_rows_were_asked_there_is_nothing_to_say():
    X, y, _ = regression(3, n=40)
    notes = certus.verify(Ridge().fit(X, y), X, y).notes
    assert not any("compared" in note for note in notes)


def test_a_fit_asks_nothing(monkeypatch):
    X, y, _ = regression(3)
    monkeypatch.setattr(Ridge, "predict", lambda *_: pytest.fail("asked"))
    assert Ridge().fit(X, y).certificate_.certified


def test_a_method_of_the_users_own_is_not_judged():
    class Doubled(their_linear_model.Ridge):
        def predict(self, X):
            return 2 * super().predict(X)

    X, y, _ = regression(3)
    assert certus.verify(Doubled().fit(X, y), X, y).certified


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float64])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_answers_in_other_floats_and_far_from_the_origin_are_right(dtype, shift):
    X, y, _ = regression(3)
    X = (np.round(X * 8) + shift).astype(dtype)
    for model in (Ridge(), their_linear_model.Ridge(), their_linear_model.LinearRegression()):
        assert certus.verify(model.fit(X, y), X, y).certified


@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_splits_of_any_number_of_clusters_are_a_tree(n_clusters):
    X, _, _ = regression(3)
    model = BisectingKMeans(n_clusters, random_state=0).fit(X)
    assert certus.verify(model, X).status != "contradicted"
