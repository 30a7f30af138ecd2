"""Data on which certificates were false once: none is now."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import certus
from certus.cluster import KMeans
from certus.linear_model import LogisticRegression, OrdinalRegression, Ridge

from .examples import far_from_the_origin, nearly_equal_columns, wide, with_a_sentinel
from .judges.judge import judge
from .judges.linear_problems import Rows


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


@pytest.mark.parametrize("apart", [1e-4, 1e-8, 1e-11, 1e-14])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["logistic", "softmax", "ordinal"])
def test_a_direction_that_the_columns_hold_is_used(name, seed, apart):
    X, two, three = nearly_equal_columns(seed, apart)
    y = two if name == "logistic" else three
    kind = OrdinalRegression() if name == "ordinal" else LogisticRegression(C=np.inf)
    model = fitted(kind, X, y)
    assert judge(model.certificate_, model, Rows(X, y)) == []


@pytest.mark.costly
@pytest.mark.parametrize("make", [with_a_sentinel, far_from_the_origin])
@pytest.mark.parametrize("steps", [1, 2, 300])
@pytest.mark.parametrize("seed", range(3))
def test_one_step_is_not_called_a_local_optimum(make, steps, seed):
    X = make(seed)
    model = fitted(KMeans(4, n_init=1, init="random", max_iter=steps, random_state=seed), X)
    rows = Rows(X.astype(float), eps=float(np.finfo(X.dtype).eps))
    assert judge(model.certificate_, model, rows) == []
    certificate = certus.verify(model, X, bound=True)
    assert judge(certificate, model, rows) == []
    if steps == 300:
        assert certificate.certified


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_ridge_on_wide_rows_is_as_near_to_its_optimum_as_it_says(container, alpha):
    X, y = wide(0)
    model = fitted(Ridge(alpha=alpha), container(X), y)
    c = model.certificate_
    assert c.certified
    assert c.coef_error is not None
    assert judge(c, model, Rows(X, y[:, None])) == []
