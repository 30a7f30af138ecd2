"""The verdict in scikit-learn's diagrams."""

import copy
import html
import warnings

import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certus.base.diagram import DiagramBlock
from certus.cluster import KMeans
from certus.linear_model import LogisticRegression, Ridge
from certus.metrics import CalibratedClassifier

X, y = load_diabetes(return_X_y=True)


def captions(model):
    shown = html.unescape(model._repr_html_())
    return [text.split("</div>")[0] for text in shown.split('<div class="caption">')[1:]]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: GridSearchCV(make_pipeline(StandardScaler(), model), {}, cv=2),
        lambda model: TransformedTargetRegressor(model),
        lambda model: model,
    ],
    ids=["pipeline", "search", "transformed target", "alone"],
)
def test_a_fitted_model_has_its_verdict_below_its_name(wrap):
    model = wrap(Ridge())
    assert captions(model) == []
    (text,) = captions(model.fit(X, y))
    assert text.startswith("✔ Optimal: objective ")
    assert " above the best possible" in text


def test_a_verdict_that_does_not_hold_is_shown_too():
    model = make_pipeline(LogisticRegression(max_iter=1, solver="newton-cg"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y > 100)
    (text,) = captions(model)
    assert model[-1].certificate_.status == "nearly optimal"
    assert text.startswith("◐ Nearly optimal: objective ")


def test_a_local_optimum_is_not_called_optimal():
    (text,) = captions(make_pipeline(KMeans(3, random_state=0)).fit(X))
    assert text.startswith("◐ Local optimum: ")


def test_models_around_others_keep_their_own_diagram():
    model = CalibratedClassifier(LogisticRegression()).fit(X, y > 100)
    assert "LogisticRegression" in model._repr_html_()
    around = CalibratedClassifier(Peer()).fit(X, y > 100)
    assert captions(around) == []


def test_the_block_answers_none_to_what_it_does_not_know():
    model = Ridge().fit(X, y)
    block = DiagramBlock(model, model.certificate_)
    assert block.something_that_a_later_version_asks_for is None
    assert copy.copy(block).names == "Ridge"
