"""What streamed rows are not for is refused in words that say what is."""

import re
from importlib import import_module

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus.mixture
from certus.data.streamed_input import STREAMING
from certus.exceptions import CannotVerifyError
from certus.linear_model import Ridge
from tests.streamed.linear_cases import draw, table_of


@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        make_pipeline(StandardScaler(), Ridge()).fit,
        GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}).fit,
        lambda table: cross_val_score(Ridge(), table),
    ],
    ids=["asarray", "pipeline", "search", "cross-validation"],
)
def test_a_table_is_no_array_and_says_what_takes_it(use):
    with pytest.raises(TypeError, match=r"6,000 rows are read block by block.*certus\.verify take"):
        use(table_of(*draw()))


def test_every_estimator_that_is_fitted_to_tables_is_named_where_others_are_refused():
    reading = {
        name
        for module in ("cluster", "feature_selection", "linear_model", "metrics", "neighbors",
                       "preprocessing", "svm")
        for name, kind in vars(import_module(f"certus.{module}")).items()
        if getattr(kind, "_reads_rows", False)
    }  # fmt: skip
    assert set(re.findall(r"[A-Z]\w+", STREAMING)) == reading
    mixtures = [kind for name, kind in vars(certus.mixture).items() if name.endswith("Mixture")]
    assert len(mixtures) > 3
    assert all(kind._reads_rows for kind in mixtures)


def test_targets_beside_a_table_are_refused_with_the_option_for_their_column():
    X, y, s = draw(weights=True)
    with pytest.raises(ValueError, match=r"open_rows\(…, target='…'\)"):
        Ridge().fit(table_of(X, y), y)
    with pytest.raises(ValueError, match=r"open_rows\(…, weights='…'\)"):
        Ridge().fit(table_of(X, y), sample_weight=s)


def test_a_page_needs_whole_arrays():
    table = table_of(*draw())
    model = Ridge().fit(table)
    assert certus.verify(model, *draw()[:2], by="page").certified
    with pytest.raises(CannotVerifyError, match="a page works on whole arrays"):
        certus.verify(model, table, by="page")


def test_a_table_has_the_length_of_its_rows():
    assert len(table_of(*draw())) == 6000
