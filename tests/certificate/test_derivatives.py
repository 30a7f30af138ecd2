"""check_gradient calls right what is right and names the mistake in what is not."""

import copy
import math
import pickle

import numpy as np
import pytest

import certus
from certus import check_gradient

rng = np.random.default_rng(11)
A = rng.normal(size=(6, 4))
b = rng.normal(size=6)
x = np.array([0.7, -1.3, 2.1, 0.4])
ALPHA = 0.6


def f(x):
    return np.sum((A @ x - b) ** 2) + ALPHA * x @ x / 2


def grad(x):
    return 2 * A.T @ (A @ x - b) + ALPHA * x


OPTIMUM = np.linalg.solve(2 * A.T @ A + ALPHA * np.eye(4), 2 * A.T @ b)

# f, its gradient, where
RIGHT = {
    "quadratic": (f, grad, x),
    "at its optimum": (f, grad, OPTIMUM),
    "at the origin": (lambda x: x @ x, lambda x: 2 * x, np.zeros(3)),
    "constant": (lambda x: 3.0, np.zeros_like, x),
    "zero": (lambda x: 0.0, np.zeros_like, x),
    "steep": (lambda x: np.exp(100 * x).sum(), lambda x: 100 * np.exp(100 * x), x[:2]),
    "fast": (lambda x: np.sin(1e4 * x).sum(), lambda x: 1e4 * np.cos(1e4 * x), x),
    "far from 0": (lambda x: (x - 1e6) @ (x - 1e6), lambda x: 2 * (x - 1e6), 1e6 + x),
    "on a large constant": (lambda x: x @ x + 1e8, lambda x: 2 * x, x),
    "units apart": (lambda x: np.log(x).sum(), lambda x: 1 / x, np.array([1e-3, 1e3, 1.0])),
    "tiny": (lambda x: x @ x, lambda x: 2 * x, 1e-30 * x),
    "huge": (lambda x: x @ x, lambda x: 2 * x, 1e30 * x),
    "near a kink": (lambda x: np.abs(x).sum(), np.sign, np.array([1e-4, -2.0])),
    "a corner rounded off": (
        lambda x: np.maximum(x, 0) @ np.maximum(x, 0),
        lambda x: 2 * np.maximum(x, 0),
        np.array([0.0, 1.0, -1.0]),
    ),
    "float32 inside": (
        lambda x: np.sum(np.float32(A) @ np.float32(x)) ** 2,
        lambda x: 2 * A.sum(axis=0) * np.sum(A @ x),
        x,
    ),
    "edge of the domain": (lambda x: math.log(x[0]), lambda x: 1 / x, np.array([1e-9])),
    "one value in an array": (lambda x: np.array([x @ x]), lambda x: 2 * x, x),
    "a number, not an array": (lambda x: float(x) ** 3, lambda x: 3 * x**2, 1.7),
    "a matrix": (
        lambda W: np.sum((A @ W) ** 2),
        lambda W: 2 * A.T @ (A @ W),
        rng.normal(size=(4, 3)),
    ),
}  # fmt: skip
each_right = pytest.mark.parametrize("name", RIGHT)


@each_right
def test_what_is_right_is_called_right(name):
    found = check_gradient(*RIGHT[name])
    assert found, found.explain()
    assert found.ok
    assert found.error <= 2e-6
    assert found.reason == ""
    assert found.explain().startswith("[OK] GRADIENT RIGHT")


@each_right
@pytest.mark.parametrize("factor", [0.5, 1.01, -1.0])
def test_the_same_gradient_times_a_factor_is_called_wrong(name, factor):
    f, grad, x = RIGHT[name]
    if np.max(np.abs(grad(np.array(x)))) < 1e-9 and name != "tiny":
        return  # 0 times a factor is right
    found = check_gradient(f, lambda x: factor * grad(x), x)
    assert not found
    assert found.error == pytest.approx(abs(1 - factor) / max(1, abs(factor)), rel=1e-2)


MISTAKES = {
    "(ratio 0.5: a factor 2 is missing?)": lambda x: grad(x) / 2,
    "(ratio 2: a factor ½ is missing?)": lambda x: 2 * grad(x),
    "(ratio -1: the sign is flipped?)": lambda x: -grad(x),
    "(ratio -0.5: the sign is flipped, and a factor 2 is missing?)": lambda x: -grad(x) / 2,
    "(ratio 0.167: divided by 6: a mean instead of a sum?)": lambda x: grad(x) / 6,
    "(ratio 6: times 6: a sum instead of a mean?)": lambda x: 6 * grad(x),
    "(ratio 1.7: a constant factor?)": lambda x: 1.7 * grad(x),
    "(0.6·x is missing: the penalty's gradient αx?)": lambda x: grad(x) - ALPHA * x,
    "(0.2·sign(x) is missing: the penalty's gradient α sign(x)?)": (
        lambda x: grad(x) - 0.2 * np.sign(x)
    ),
    "(-1 is missing in every component)": lambda x: grad(x) + 1,
    "(the components are in reverse order?)": lambda x: grad(x)[::-1],
    "(the right numbers in another order?)": lambda x: grad(x)[[1, 0, 2, 3]],
    "(1 of 4 components are wrong, the others right)": lambda x: grad(x) + np.eye(4)[2] / 3,
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_mistake_is_guessed(mistake):
    found = check_gradient(f, MISTAKES[mistake], x)
    assert not found.ok
    assert found.reason.endswith(mistake)
    off = np.abs(MISTAKES[mistake](x) - grad(x))
    assert off[found.worst] == pytest.approx(off.max())
    np.testing.assert_allclose(found.differences, grad(x), rtol=1e-9)


def test_the_words_are_those_of_the_house():
    d = np.array([0.1, 0.1, 0.1, 0.5])
    found = check_gradient(lambda x: d @ x, lambda x: d / 2, np.ones(4))
    assert found.reason == (
        "component 3: you say 0.250, central difference 0.500 (ratio 0.5: a factor 2 is missing?)"
    )
    assert repr(found) == f"GradientCheck({found.reason})"
    assert found.explain().splitlines()[:2] == [
        "[!!] GRADIENT WRONG",
        f"What is wrong  {found.reason}",
    ]


def test_two_numbers_that_differ_are_shown_to_differ():
    found = check_gradient(f, lambda x: grad(x) * (1 + 1e-5), x)
    stated, right = found.reason.split("you say ")[1].split(", central difference ")
    assert stated != right
    assert "?" not in found.reason, "no guess fits"


def smooth(kind, A, b, scale, offset):
    """scale·Σ φ(Ax) + offset and its gradient, for five φ that regression is made of."""

    def softmax(z):
        return np.exp(z - z.max()) / np.sum(np.exp(z - z.max()))

    value, slope = {
        "squares": (lambda z: np.sum((z - b) ** 2), lambda z: 2 * (z - b)),
        "logistic": (
            lambda z: np.sum(np.logaddexp(0, -b * z)),
            lambda z: -b * np.exp(-np.logaddexp(0, b * z)),
        ),
        "log-sum-exp": (lambda z: np.log(np.sum(np.exp(z))), softmax),
        "pseudo-Huber": (
            lambda z: np.sum(np.sqrt(1 + (z - b) ** 2)),
            lambda z: (z - b) / np.sqrt(1 + (z - b) ** 2),
        ),
        "sine": (lambda z: np.sum(np.sin(z)), np.cos),
    }[kind]
    return lambda x: scale * value(A @ x) + offset, lambda x: scale * A.T @ slope(A @ x)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", ["squares", "logistic", "log-sum-exp", "pseudo-Huber", "sine"])
def test_any_units_any_offset_no_false_alarm_and_one_percent_is_seen(kind, seed):
    rng = np.random.default_rng(seed)
    n, p = rng.integers(2, 30), rng.integers(1, 6)
    A = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-4, 4, size=p)
    x = rng.normal(size=p) / np.abs(A).max(axis=0)
    scale, offset = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 5)
    f, grad = smooth(kind, A, rng.normal(size=n), scale, offset)
    found = check_gradient(f, grad, x)
    assert found, found.explain()
    j = np.argmax(np.abs(grad(x) * x))
    wrong = check_gradient(f, lambda x: grad(x) * np.where(np.arange(p) == j, 1.01, 1), x)
    assert not wrong
    assert wrong.worst == j


def test_a_transposed_matrix_is_named():
    M = rng.normal(size=(3, 3))
    found = check_gradient(lambda X: np.trace(M @ X), lambda X: M, np.ones((3, 3)))
    assert found.reason.endswith("(transposed?)")
    assert isinstance(found.worst, tuple)


def test_another_shape_is_named():
    found = check_gradient(f, lambda x: grad(x)[:2], x)
    assert found.reason == (
        "grad has shape (2,), x has (4,): give one number for each component of x"
    )
    assert found.worst is None
    assert found.error == math.inf
    found = check_gradient(lambda x: (A @ x) ** 2, lambda x: 2 * x, x)
    assert found.reason == "f gives 6 values, not one: did you forget a sum?"
    found = check_gradient(lambda x: A @ x, lambda x: np.ones((3, 5)), x)
    assert "it must be (4, 6) or (6, 4)" in found.reason


def test_not_a_number_is_named():
    found = check_gradient(f, lambda x: np.where(x > 2, np.nan, grad(x)), x)
    assert found.reason == "component 2: you say not a number"
    assert not check_gradient(f, lambda x: np.full(4, np.nan), x)
    assert not check_gradient(f, lambda x: grad(x) + np.inf, x)
    found = check_gradient(lambda x: np.log(-(x @ x)), grad, x)
    assert found.reason == "f is not a number at x: choose another x"


def test_a_kink_has_no_derivative_whatever_the_gradient_says():
    for subgradient in (-1.0, 0.0, 1.0):
        found = check_gradient(
            lambda x: np.abs(x).sum(),
            lambda x, subgradient=subgradient: np.array([subgradient, 1.0]),
            [0.0, 2.0],
        )
        assert found.reason == (
            "component 0: f is not differentiable there, its slope jumps from -1 to 1: "
            "choose another x"
        )


def test_the_end_of_a_domain_has_no_derivative():
    found = check_gradient(lambda x: np.sqrt(x).sum(), lambda x: 0 * x, [0.0, 1.0])
    assert found.reason == "f is not defined around component 0 of x: choose another x"


def test_noise_proves_nothing():
    found = check_gradient(lambda x: x @ x + 1e-3 * np.sin(1e9 * x.sum()), lambda x: 2 * x, x)
    assert not found
    assert "undecided, f is too noisy" in found.reason


def test_random_numbers_in_f_are_noticed():
    dice = np.random.default_rng(0)
    found = check_gradient(lambda x: x @ x + dice.normal(), lambda x: 2 * x, x)
    assert found.reason == "f gives different values at the same x: fix its random seed"


@pytest.mark.parametrize("given", [[1, 2, 3], np.array([1, 2, 3], np.int8), np.float32([1, 2, 3])])
def test_whole_numbers_and_float32_are_computed_in_float64(given):
    def f(x):
        assert x.dtype == np.float64
        return x @ x / 3

    assert check_gradient(f, lambda x: 2 * x / 3, given)
    assert check_gradient(f, lambda x: np.float32(2 / 3) * np.float32(x), given), "a float32 answer"


def test_x_stays_as_it_was_even_if_f_writes_into_it():
    def writes(x):
        x *= 2
        return x @ x

    mine = x.copy()
    mine.flags.writeable = False
    assert check_gradient(writes, lambda x: 8 * x, mine)
    np.testing.assert_array_equal(mine, x)


# --- vector-valued f ------------------------------------------------------------------------------


def test_a_matrix_of_derivatives_may_lie_either_way():
    slides = check_gradient(lambda x: A @ x, lambda x: A.T, x)
    jacobian = check_gradient(lambda x: A @ x, lambda x: A, x)
    assert slides
    assert jacobian
    assert (slides.layout, jacobian.layout) == ("x by f", "Jacobian")
    assert "Jacobian: row i holds" in jacobian.explain()
    S = A[:4]
    assert check_gradient(lambda x: S @ x, lambda x: S, x).layout == "Jacobian"
    assert check_gradient(lambda x: S @ x, lambda x: S.T, x).layout == "x by f"


def test_a_wrong_matrix_of_derivatives_names_the_entry():
    wrong = A.copy()
    wrong[4, 2] += 1
    assert check_gradient(lambda x: A @ x, lambda x: wrong, x).worst == (4, 2)
    found = check_gradient(lambda x: (A @ x) ** 2, lambda x: (A @ x)[:, None] * A, x)
    assert found.reason.endswith("(ratio 0.5: a factor 2 is missing?)")


def test_a_curve_has_a_velocity():
    found = check_gradient(
        lambda t: np.array([3 * t**2, t + 1, np.log(t), np.exp(t)]),
        lambda t: np.array([6 * t, 1, 1 / t, np.exp(t)]),
        1.3,
    )
    assert found


# --- the result -----------------------------------------------------------------------------------


def test_the_result_can_be_kept():
    found = check_gradient(f, grad, x)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert repr(again) == repr(found)
    with pytest.raises(AttributeError):
        found.ok = False


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_gradient(f, grad, []), "x must hold finite numbers"),
        (lambda: check_gradient(f, grad, [np.nan]), "x must hold finite numbers"),
        (lambda: check_gradient(f, grad, x, tol=0), "tol=0: give a number above 0"),
    ],
)
def test_a_call_that_makes_no_sense_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_text_and_complex_numbers_are_no_values():
    with pytest.raises(TypeError, match="must give real numbers"):
        check_gradient(lambda x: "3", grad, x)
    with pytest.raises(TypeError, match="must give real numbers"):
        check_gradient(lambda x: 1j, grad, x)


def test_it_is_a_public_name():
    assert "check_gradient" in dir(certus)
