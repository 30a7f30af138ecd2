"""Forest plots draw the numbers of the tables."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from certus.linear_model import LinearRegression, LogisticRegression, OrdinalRegression, Ridge
from certus.plotting import ForestDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def data():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X[["age", "bmi", "bp"]], y


def segments(display):
    return np.array([line[:, 0] for line in display.intervals_.get_segments()])


def names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_coefficients_are_those_of_the_table_around_zero():
    X, y = data()
    found = LinearRegression().fit(X, y).inference(X, y)
    display = found.plot(per={"age": 10}, level=0.9)
    assert names(display) == ["age (per 10)", "bmi", "bp"]
    np.testing.assert_allclose(display.points_.get_xdata(), found.coef[1:] * [10, 1, 1])
    table = found.conf_int(0.9, per={"age": 10})
    np.testing.assert_allclose(segments(display), np.c_[table["low"], table["high"]][1:])
    assert display.reference_line_.get_xdata()[0] == 0
    assert display.ax_.get_xscale() == "linear"
    assert display.ax_.get_xlabel() == "coefficient"
    texts = [text.get_text() for text in display.ax_.texts]
    printed = found.summary(0.9, per={"age": 10})
    assert texts[0].split(" ")[0] == printed.texts("coef")[1]


@pytest.mark.parametrize("kind", ["wald", "lr"])
def test_odds_ratios_stand_on_a_log_axis_around_one(kind):
    X, y = data()
    found = LogisticRegression(C=np.inf).fit(X, y > 140).inference(X, y > 140)
    display = found.plot(kind=kind)
    table = found.odds_ratios(kind=kind)
    np.testing.assert_allclose(display.points_.get_xdata(), table["odds ratio"])
    np.testing.assert_allclose(segments(display), np.c_[table["low"], table["high"]])
    assert display.reference_line_.get_xdata()[0] == 1
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "odds ratio (odds of True against False)"
    low, high = display.ax_.get_xlim()
    assert low < 1 < high


def test_columns_are_drawn_in_the_order_given():
    X, y = data()
    found = LinearRegression().fit(X, y).inference(X, y)
    display = found.plot(columns=["bp", "age"])
    assert names(display) == ["bp", "age"]
    np.testing.assert_allclose(display.points_.get_xdata(), found.coef[[3, 1]])
    with pytest.raises(ValueError, match="columns has 'bmx', which is no column"):
        found.plot(columns=["bmx"])


def test_classes_and_targets_are_named():
    wine = load_wine(as_frame=True)
    X, y = wine.data[["alcohol", "ash"]], wine.target_names[wine.target]
    display = LogisticRegression(C=np.inf).fit(X, y).inference(X, y).plot(columns=["ash"])
    assert names(display) == ["class_1: ash", "class_2: ash"]
    X, y = data()
    targets = np.c_[y, -y]
    found = LinearRegression().fit(X, targets).inference(X, targets)
    display = found.plot()
    assert names(display)[3:] == ["y1: age", "y1: bmi", "y1: bp"]
    np.testing.assert_allclose(display.points_.get_xdata(), found.coef[1:].T.ravel())


def test_penalised_models_show_coefficients_and_ordinal_ones_no_thresholds():
    X, y = data()
    assert Ridge().fit(X, y).inference(X, y).plot().ax_.get_xlabel() == "coefficient"
    penalised = LogisticRegression().fit(X, y > 140).inference(X, y > 140).plot()
    assert penalised.ax_.get_xlabel() == "coefficient"
    third = np.digitize(y, [100, 180])
    display = OrdinalRegression().fit(X, third).inference(X, third).plot()
    assert names(display) == ["age", "bmi", "bp"]


def test_many_estimates_are_cut_and_infinite_ones_left_out():
    m = np.arange(1.0, 101.0)
    display = ForestDisplay([f"c{j}" for j in range(100)], m, m - 1, m + 1, title="Many").plot()
    assert len(display.shown_) == 40
    assert display.ax_.get_title(loc="left") == "Many (40 of 100 estimates)"
    display = ForestDisplay(["a", "b"], [1.0, 2.0], [0.0, 1.0], [2.0, np.inf]).plot()
    assert list(display.shown_) == [0]
    display = ForestDisplay(["$a$", "b" * 60], [1e-9, 1e9], [1e-12, 1.0], [1.0, 1e12], ratio=True)
    labels = names(display.plot())
    assert labels[0] == r"\$a\$"
    assert len(labels[1]) == 28
    assert len(display.ax_.get_xticks()) <= 9


def test_axes_that_are_there_and_wrong_shapes():
    _, ax = plt.subplots()
    display = ForestDisplay(["a"], [1.0], [0.5], [1.5])
    assert display.plot(ax).ax_ is ax
    with pytest.raises(ValueError, match=r"low has shape \(2,\), but there are 1 names"):
        ForestDisplay(["a"], [1.0], [0.5, 1], [1.5])
    with pytest.raises(ValueError, match="n_rows=0: give a whole number above 0"):
        display.plot(n_rows=0)
