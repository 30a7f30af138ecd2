"""Kernels of the pages are those of scikit-learn, and definite where they say so."""

import inspect

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from certus.definitions.terms import kernels
from certus.definitions.terms.kernels import (
    RBF,
    CosineKernel,
    FunctionKernel,
    Laplacian,
    Linear,
    Polynomial,
    PrecomputedKernel,
    Sigmoid,
)
from tests.definitions.lines import n_lines

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) + 0.5
NAMED = [
    (Linear(), "linear", {}),
    (RBF(0.3), "rbf", {"gamma": 0.3}),
    (RBF("scale"), "rbf", {"gamma": 1 / (4 * X.var())}),
    (RBF("auto"), "rbf", {"gamma": 0.25}),
    (Polynomial(0.3, 2.0, -1.0), "poly", {"gamma": 0.3, "degree": 2, "coef0": -1.0}),
    (Polynomial("scale"), "poly", {"gamma": 1 / (4 * X.var()), "degree": 3, "coef0": 0.0}),
    (Sigmoid(0.3, 0.2), "sigmoid", {"gamma": 0.3, "coef0": 0.2}),
    (Laplacian(0.7), "laplacian", {"gamma": 0.7}),
    (CosineKernel(), "cosine", {}),
]


def gram(kernel, X):
    return np.array(list(kernel.rows(X)), dtype=float)


@pytest.mark.parametrize(("kernel", "name", "options"), NAMED, ids=lambda v: str(v)[:30])
def test_kernels_are_those_of_scikit_learn(kernel, name, options):
    K = pairwise_kernels(X, metric=name, **options)
    np.testing.assert_allclose(gram(kernel, X), K, rtol=1e-12, atol=1e-13)


def test_a_matrix_that_is_given_is_the_kernel_and_a_function_makes_it():
    K = X @ X.T
    assert np.array_equal(gram(PrecomputedKernel(), K), K)
    np.testing.assert_allclose(gram(FunctionKernel(lambda A, B: A @ B.T), X), K, atol=1e-13)


def test_gamma_of_entries_that_are_all_equal_is_one_as_in_scikit_learn():
    same = np.full((3, 2), 1.5)
    np.testing.assert_allclose(gram(Polynomial("scale", 1.0), same), same @ same.T)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), RBF(0.3), RBF("scale"), Polynomial(0.3, 3.0, 1.0), Polynomial("auto"),
     CosineKernel(), Laplacian(0.5)],
    ids=str,
)  # fmt: skip
def test_kernels_that_say_so_are_definite(kernel):
    assert kernel.is_definite()
    for scale in (0.1, 1.0, 10.0):
        K = gram(kernel, scale * X)
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).sum(axis=1).max()


@pytest.mark.parametrize(
    "kernel",
    [RBF(-0.1), Laplacian(-0.1), Polynomial(0.3, 2.0, -1.0), Polynomial(-0.3), Sigmoid(0.3, -1.0)],
    ids=str,
)
def test_kernels_with_negative_eigenvalues_do_not_say_that_they_are_definite(kernel):
    assert np.linalg.eigvalsh(gram(kernel, X))[0] < -1e-3
    assert not kernel.is_definite()


def test_each_kernel_has_at_most_fifteen_lines_and_its_repr_is_source():
    terms = [t for t in vars(kernels).values() if isinstance(t, type) and hasattr(t, "rows")]
    assert len(terms) == 8
    assert max(n_lines(inspect.getsource(t)) for t in terms) <= 15
    for kernel, _, _ in NAMED:
        assert eval(repr(kernel), vars(kernels)) == kernel
