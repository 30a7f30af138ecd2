"""Pictures of weights and of the choice of λ show the numbers they are made of."""

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from certus.feature_selection import NCFSClassifier, NCFSClassifierCV, stability_selection  # noqa: E402
from certus.plotting import AlphaCurveDisplay, FeatureWeightsDisplay  # noqa: E402
from tests.ncfs.ncfs_cases import signal  # noqa: E402


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


def ticks(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def text_outside(display):
    """Texts of the axes that the figure cuts off."""
    figure = display.figure_
    figure.canvas.draw()
    box = figure.bbox
    texts = [*display.ax_.get_yticklabels(), display.ax_.xaxis.label, display.ax_.title]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return [b for b in boxes if b.x0 < box.x0 - 1 or b.x1 > box.x1 + 1 or b.y0 < box.y0 - 1]


# --- weights --------------------------------------------------------------------------------------


def test_the_largest_weights_are_drawn_from_the_top_down():
    display = FeatureWeightsDisplay([0.0, 3.0, 1.0, 0.0, 2.0], list("abcde")).plot()
    assert ticks(display) == ["b", "e", "c"]
    assert display.shown_.tolist() == [1, 4, 2]
    np.testing.assert_array_equal(display.points_.get_xdata(), [3.0, 2.0, 1.0])
    low, high = display.ax_.get_ylim()
    assert low > high, "the first is at the top"
    assert display.ax_.get_title(loc="right") == "3 of 5 columns; no other has weight"
    assert display.ax_.get_xlabel() == "weight"


def test_bars_reach_from_zero_or_over_the_interval():
    plain = FeatureWeightsDisplay([1.0, 2.0]).plot()
    assert [path.vertices[:, 0].tolist() for path in plain.bars_.get_paths()] == [[0, 2], [0, 1]]
    intervals = [[0.5, 1.5], [1.0, 4.0]]
    display = FeatureWeightsDisplay([1.0, 2.0], intervals=intervals).plot()
    drawn = [path.vertices[:, 0].tolist() for path in display.bars_.get_paths()]
    assert drawn == [[1.0, 4.0], [0.5, 1.5]]
    assert display.ax_.get_xlim()[1] > 4.0


@pytest.mark.parametrize("P", [5, 100, 7000])
def test_pictures_of_any_number_of_columns_can_be_read(P):
    rng = np.random.default_rng(0)
    W = np.where(rng.uniform(size=P) < 0.3, rng.exponential(size=P), 0.0)
    W[0] = 9.0
    names = [f"a rather long name of a column, number {j}" for j in range(P)]
    display = FeatureWeightsDisplay(W, names).plot()
    k = min(20, np.count_nonzero(W))
    assert len(display.shown_) == k
    width, height = display.figure_.get_size_inches()
    assert width == 6.0
    assert 2.0 <= height <= 6.0
    assert max(map(len, ticks(display))) == 28, "names give way"
    assert not text_outside(display)
    more = np.count_nonzero(W) - k
    title = display.ax_.get_title(loc="right")
    assert title.startswith(f"{k} of {P:,} columns; ")
    assert (f"{more:,} more have" in title) or (more == 0 and "no other" in title)


def test_selected_columns_are_filled_and_others_open():
    display = FeatureWeightsDisplay([3.0, 2.0, 1.0], selected=[True, False, True]).plot()
    np.testing.assert_array_equal(display.points_.get_xdata(), [3.0, 1.0])
    np.testing.assert_array_equal(display.open_points_.get_xdata(), [2.0])
    assert display.open_points_.get_markerfacecolor() == "white"
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["selected", "not selected"]
    assert FeatureWeightsDisplay([3.0, 2.0]).plot().ax_.get_legend() is None


def test_all_zero_weights_are_drawn_as_such():
    display = FeatureWeightsDisplay(np.zeros(30)).plot(n_features=4)
    assert ticks(display) == [f"column {j}" for j in range(4)]
    assert display.ax_.get_title(loc="right") == "4 of 30 columns; no other has weight"


def test_names_are_text_and_not_formulas():
    display = FeatureWeightsDisplay([2.0, 1.0], ["$x^{", "a\nb"]).plot()
    display.figure_.canvas.draw()
    assert ticks(display) == [r"\$x^{", "a b"]


def test_equal_weights_keep_the_order_of_columns():
    assert FeatureWeightsDisplay([1.0, 2.0, 1.0, 1.0]).plot().shown_.tolist() == [1, 0, 2, 3]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"names": ["a"]}, r"names has shape \(1,\), but there are 2 weights"),
        ({"intervals": [[0, 1]]}, r"intervals has shape \(1, 2\), but there are 2 weights"),
        ({"selected": [True]}, r"selected has shape \(1,\)"),
        ({"candidates": [True]}, r"candidates has shape \(1,\)"),
    ],
    ids=str,
)
def test_other_shapes_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        FeatureWeightsDisplay([1.0, 2.0], **how)


@pytest.mark.parametrize("n", [0, 2.5, True])
def test_no_number_of_columns_is_refused(n):
    with pytest.raises(ValueError, match=f"n_features={n}: give a whole number above 0"):
        FeatureWeightsDisplay([1.0]).plot(n_features=n)


def test_a_model_shows_its_weights_and_what_it_selects():
    X, y = signal(3, n=90)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = NCFSClassifier(0.1, n_features_to_select=1).fit(frame, y)
    display = FeatureWeightsDisplay.from_estimator(model)
    assert display.points_.get_xdata().tolist() == [model.weights_.max()]
    assert ticks(display)[0] == "abcde"[model.weights_.argmax()]
    assert display.ax_.get_xlabel() == "weight of the scaled column"
    plain = FeatureWeightsDisplay.from_estimator(NCFSClassifier(0.1, scale=None).fit(X, y))
    assert plain.ax_.get_xlabel() == "weight"
    assert ticks(plain)[0].startswith("column ")


def test_stability_is_drawn_with_its_intervals_and_threshold():
    X, y = signal(3, n=90, P=30)
    found = stability_selection(NCFSClassifier(0.3), X, y, n_resamples=6, random_state=0)
    display = found.plot()
    top = display.shown_[0]
    assert found.frequencies[top] == found.frequencies.max()
    np.testing.assert_allclose(display.bars_.get_paths()[0].vertices[:, 0], found.intervals[top])
    assert display.threshold_line_.get_xdata()[0] == 0.6
    assert display.ax_.get_xlabel() == "share of 6 resamples, 95 % interval"
    assert len(display.shown_) == min(20, found.selected.any(axis=0).sum())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["stable", "not stable"]


def test_weights_over_resamples_are_drawn_with_their_quantiles():
    X, y = signal(3, n=90)
    found = stability_selection(NCFSClassifier(0.3), X, y, n_resamples=6, random_state=0)
    figure, ax = plt.subplots()
    display = found.plot("weights", n_features=2, ax=ax)
    assert display.figure_ is figure
    top = display.shown_[0]
    low, _, high = found.quantiles()[:, top]
    np.testing.assert_allclose(display.bars_.get_paths()[0].vertices[:, 0], [low, high])
    assert display.threshold_line_ is None
    assert len(display.shown_) == 2
    with pytest.raises(ValueError, match="kind='weight': give one of 'frequencies', 'weights'"):
        found.plot("weight")


# --- λ --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return NCFSClassifierCV([3.0, 1.0, 0.3, 0.1], cv=3).fit(*signal(3, n=90))


def test_scores_errors_and_columns_are_those_of_the_model(model):
    display = model.plot()
    assert isinstance(display, AlphaCurveDisplay)
    np.testing.assert_array_equal(display.line_.get_xdata(), model.alphas_)
    np.testing.assert_allclose(display.line_.get_ydata(), model.scores_.mean(axis=1))
    np.testing.assert_allclose(display.columns_.get_ydata(), model.n_selected_.mean(axis=1))
    mean, error = model.scores_.mean(axis=1), model.scores_.std(axis=1, ddof=1) / np.sqrt(3)
    (outline,) = display.band_.get_paths()
    assert outline.vertices[:, 1].min() == pytest.approx((mean - error).min())
    assert outline.vertices[:, 1].max() == pytest.approx((mean + error).max())
    best = model.best_index_
    assert display.limit_.get_ydata()[0] == pytest.approx(mean[best] - error[best])
    assert display.baseline_.get_ydata()[0] == pytest.approx(model.scores_without_columns_.mean())


def test_the_choice_is_marked(model):
    display = model.plot()
    assert display.chosen_.get_xdata()[0] == model.alpha_
    assert display.best_.get_xdata()[0] == model.alphas_[model.best_index_]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(label.startswith(("taken: λ = ", "best and taken: λ = ")) for label in labels)
    assert labels[-1] == "columns, mean of folds"


def curve(best, chosen, baseline=0.5, counts=(1, 3)):
    n = np.array([[counts[0]] * 2, [counts[1]] * 2])
    return AlphaCurveDisplay(
        np.array([2.0, 1.0]), np.array([0.8, 0.9]), np.array([0.05, 0.06]), n, best=best,
        chosen=chosen, score="accuracy", baseline=baseline,
    ).plot()  # fmt: skip


def test_best_and_taken_are_two_marks_or_one():
    two, one = curve(1, 0), curve(1, 1)
    assert (two.best_.get_label(), two.chosen_.get_label()) == ("best: λ = 1", "taken: λ = 2")
    assert one.best_ is one.chosen_
    assert one.best_.get_label() == "best and taken: λ = 1"


def test_a_baseline_far_below_does_not_flatten_the_curve():
    near, far = curve(1, 1, 0.7), curve(1, 1, 0.1)
    assert near.baseline_.get_label() == "without columns"
    assert far.baseline_.get_label() == "without columns: 0.1 ↓"
    assert far.ax_.get_ylim()[0] > 0.7


def test_columns_have_whole_numbers_on_an_axis_of_their_own():
    few, many = curve(1, 1), curve(1, 1, counts=(1, 5000))
    assert few.columns_ax_.get_ylim()[0] == 0
    assert all(tick == int(tick) for tick in few.columns_ax_.get_yticks())
    assert many.columns_ax_.get_yscale() == "symlog"
    assert few.ax_.get_xscale() == "log"
    assert few.columns_ax_ is not few.ax_


def test_the_curve_can_be_drawn_into_axes_that_are_there(model):
    figure, ax = plt.subplots()
    before = dict(plt.rcParams)
    display = model.plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert dict(plt.rcParams) == before
