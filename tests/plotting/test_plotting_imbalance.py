"""The picture of a report shows its numbers."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from certus.metrics import imbalance_report  # noqa: E402
from tests.metrics.metrics_cases import probable  # noqa: E402


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("predictions", "panels"),
    [
        (lambda p: p > 0.4, ["measures"]),
        (lambda p: 9 * p - 4, ["measures", "roc", "pr"]),
        (lambda p: p, ["measures", "roc", "pr", "calibration"]),
    ],
    ids=["labels", "scores", "probabilities"],
)
def test_there_is_a_panel_for_what_the_predictions_can_tell(predictions, panels):
    y, p = probable(0)
    display = imbalance_report(y, predictions(p), n_resamples=20).plot()
    assert list(display.axes_) == panels
    assert len(display.figure_.axes) == len(panels)
    display.figure_.canvas.draw()


def test_values_intervals_and_the_baseline_are_drawn():
    y, p = probable(1)
    report = imbalance_report(y, p, n_resamples=50, random_state=0)
    display = report.plot()
    names = display.shown_
    assert names[0] == "accuracy"
    assert "g_mean" in names
    np.testing.assert_array_equal(display.points_.get_xdata(), [report[name] for name in names])
    for path, name in zip(display.bars_.get_paths(), names, strict=True):
        np.testing.assert_allclose(path.vertices[:, 0], report.intervals[name])
    np.testing.assert_array_equal(
        display.baseline_.get_xdata(), [report.baseline[name] for name in names]
    )
    assert display.ax_.get_xlabel() == "value, 95 % interval"
    low, high = display.ax_.get_ylim()
    assert low > high, "the first is at the top"


def test_the_threshold_is_marked_on_the_curves():
    y, p = probable(2)
    report = imbalance_report(y, p, 0.3, n_resamples=20)
    display = report.plot()
    mark = display.axes_["roc"].lines[-1]
    assert mark.get_xydata().tolist() == [[1 - report["specificity"], report["sensitivity"]]]
    assert mark.get_label() == "above 0.3"
    curve = display.axes_["roc"].lines[0].get_xydata()
    assert np.abs(curve - mark.get_xydata()).max(axis=1).min() < 1e-12, "it lies on the curve"
    assert display.axes_["pr"].lines[-1].get_ydata() == [report["precision"]]


def test_what_is_not_defined_is_left_out():
    report = imbalance_report([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.4], n_resamples=5)
    display = report.plot()
    assert "precision" not in display.shown_
    assert len(display.axes_["pr"].lines) == 2, "the curve and guessing, no mark"
    one = imbalance_report([0, 0, 0], [0.1, 0.2, 0.3]).plot()
    assert list(one.axes_) == ["measures", "calibration"]
    one.figure_.canvas.draw()


def test_axes_that_are_given_get_the_measures():
    y, p = probable(3)
    figure, ax = plt.subplots()
    display = imbalance_report(y, p, n_resamples=20).plot(ax)
    assert display.ax_ is ax
    assert figure.axes == [ax]
