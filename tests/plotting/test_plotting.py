"""Pictures show the numbers they are made of, to every eye, and change nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402

import certus  # noqa: E402
from certus.exceptions import CertificateError  # noqa: E402
from certus.linear_model import LinearRegression, PenalizedRegressor, Ridge  # noqa: E402
from certus.penalties import L2  # noqa: E402
from certus.plotting import ConvergenceDisplay  # noqa: E402
from certus.plotting import style as style_module  # noqa: E402
from certus.runtime.progress import TracePoint  # noqa: E402
from certus.solvers import LBFGS, SAGA  # noqa: E402
from tests.contract.problems import regression  # noqa: E402
from tests.runtime.progress_cases import descent  # noqa: E402

TRACE = tuple(TracePoint(t, 0.5 * t, 4 + 5 * 0.8**t, 4 - 3 * 0.7**t - (t == 7)) for t in range(30))


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


@pytest.fixture
def data():
    X, y, _ = regression(3, n=80, p=4)
    return X - X.mean(axis=0), y - y.mean()


# --- one trace ------------------------------------------------------------------------------------


def test_the_objective_and_the_bound_that_are_drawn_are_those_of_the_trace():
    display = ConvergenceDisplay(TRACE)
    assert display.plot() is display
    t, f = display.line_.get_data()
    np.testing.assert_array_equal(t, np.arange(30))
    np.testing.assert_array_equal(f, [point.objective for point in TRACE])
    low = display.bound_.get_ydata()
    assert low[7] == low[6], "a bound that held once holds for good"
    np.testing.assert_array_equal(np.delete(low, 7), np.delete([p.bound for p in TRACE], 7))
    assert display.figure_ is display.ax_.figure


def test_the_shaded_gap_lies_between_the_two():
    display = ConvergenceDisplay(TRACE).plot()
    (outline,) = display.gap_.get_paths()
    np.testing.assert_allclose(
        sorted(set(outline.vertices[:, 1])),
        sorted({*display.line_.get_ydata(), *display.bound_.get_ydata()}),
    )
    assert 0 < display.gap_.get_alpha() < 0.5, "the curves show through"


def test_axes_are_labelled():
    ax = ConvergenceDisplay(TRACE, name="Ridge").plot().ax_
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("iteration", "objective", "Ridge")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    gap = TRACE[-1].objective - TRACE[-1].bound
    assert labels[:2] == ["objective", "bound: no w is lower"]
    assert labels[2] == f"gap: {certus.text.format.small(gap)} at the end"
    assert all(tick == int(tick) for tick in ax.get_xticks()), "there is no iteration 2.5"


def test_time_can_run_along_the_axis():
    display = ConvergenceDisplay(TRACE).plot(x="seconds")
    np.testing.assert_array_equal(display.line_.get_xdata(), [point.seconds for point in TRACE])
    assert display.ax_.get_xlabel() == "seconds"
    with pytest.raises(ValueError, match="x='hours': give 'iterations', 'passes', 'seconds'"):
        ConvergenceDisplay(TRACE).plot(x="hours")


def test_passes_over_the_data_can_run_along_the_axis(data):
    trace = [point._replace(passes=2.0 * point.iteration + 1) for point in TRACE]
    display = ConvergenceDisplay(trace).plot(x="passes")
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 60, 2))
    assert display.ax_.get_xlabel() == "passes over the data"
    for unknown in (TRACE, [tuple(point[:4]) for point in TRACE]):
        with pytest.raises(ValueError, match="this fit's solver does not count its passes"):
            ConvergenceDisplay(unknown).plot(x="passes")


def test_points_of_four_fields_are_still_drawn():
    display = ConvergenceDisplay([tuple(point[:4]) for point in TRACE]).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), [point.objective for point in TRACE])


def test_a_trace_without_bounds_is_a_curve_alone():
    display = ConvergenceDisplay([point._replace(bound=None) for point in TRACE]).plot()
    assert display.bound_ is None
    assert display.gap_ is None
    assert len(display.ax_.lines) == 1


def test_bounds_that_come_late_are_drawn_from_there_on():
    trace = [point._replace(bound=None) if point.iteration < 5 else point for point in TRACE]
    display = ConvergenceDisplay(trace).plot()
    assert display.bound_.get_xdata()[0] == 5
    assert display.line_.get_xdata()[0] == 0


def test_a_poor_first_bound_does_not_flatten_the_picture():
    poor = [TRACE[0]._replace(bound=-1e6), *TRACE[1:]]
    display = ConvergenceDisplay(poor).plot()
    bottom, top = display.ax_.get_ylim()
    f = display.line_.get_ydata()
    assert bottom == pytest.approx(f[-1] - (f[0] - f[-1]))
    assert f[0] < top < f[0] + (f[0] - f[-1])
    assert display.bound_.get_ydata()[0] == -1e6, "it is drawn, out of sight"


def test_a_picture_can_be_drawn_into_axes_that_are_there():
    figure, ax = plt.subplots()
    display = ConvergenceDisplay(TRACE).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_a_certificate_plots_its_own_trace(data):
    model = descent().fit(*data)
    for display in (model.certificate_.plot(), ConvergenceDisplay.from_estimator(model)):
        f = [point.objective for point in model.certificate_.trace]
        np.testing.assert_array_equal(display.line_.get_ydata(), f)
        assert display.ax_.get_title() == "Descent"
    assert model.certificate_.plot(x="seconds").ax_.get_xlabel() == "seconds"


def test_a_fit_that_does_not_iterate_says_that_there_is_nothing_to_draw(data):
    certificate = Ridge().fit(*data).certificate_
    with pytest.raises(CertificateError, match="Ridge has no trace: nothing iterated, so there is"):
        certificate.plot()
    assert not plt.get_fignums()


# --- several fits ---------------------------------------------------------------------------------


@pytest.fixture
def models(data):
    direct = Ridge(alpha=5.0, fit_intercept=False).fit(*data)
    return {"descent": descent().fit(*data), "cholesky": direct}


def test_several_fits_are_shown_by_their_distance_to_the_best_possible(models):
    display = ConvergenceDisplay.from_estimators(models)
    assert list(display.lines_) == ["descent", "cholesky"]
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_ylabel() == "objective − best possible, at most"
    best = max(model.certificate_.bound for model in models.values())
    f = np.array([point.objective for point in models["descent"].certificate_.trace])
    drawn = display.lines_["descent"].get_ydata()
    np.testing.assert_allclose(drawn[:50], (f - best)[:50])
    assert (drawn > 0).all()
    single = display.lines_["cholesky"]
    assert len(single.get_xdata()) == 1
    assert single.get_marker() not in ("", "None")
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["descent", "cholesky"]


def test_several_fits_are_compared_by_the_passes_that_they_needed(data):
    X, y = data
    solvers = {"gd": "gd", "nesterov": "nesterov", "saga": SAGA(), "lbfgs": LBFGS()}
    models = {
        name: PenalizedRegressor(penalty=L2(5.0), solver=solver).fit(X, y)
        for name, solver in solvers.items()
    }
    display = ConvergenceDisplay.from_estimators(models, x="passes")
    for name, model in models.items():
        passes = [point.passes for point in model.certificate_.trace]
        drawn = display.lines_[name].get_xdata()
        np.testing.assert_array_equal(drawn, passes[: len(drawn)])
        assert len(drawn) > 2
    models["cd"] = PenalizedRegressor(penalty=L2(5.0), solver="cd").fit(X, y)
    figures = plt.get_fignums()
    with pytest.raises(ValueError, match=r"does not count its passes .* use x='seconds'"):
        ConvergenceDisplay.from_estimators(models, x="passes")
    assert plt.get_fignums() == figures, "no empty one is left"


def test_fits_of_different_problems_are_not_compared(data):
    X, y = data
    one = Ridge(alpha=1.0).fit(X, y)
    for other in (
        Ridge(alpha=2.0).fit(X, y),
        Ridge().fit(X[1:], y[1:]),
        LinearRegression().fit(X, y),
    ):
        with pytest.raises(ValueError, match="'a' and 'b' are not of one problem"):
            ConvergenceDisplay.from_estimators({"a": one, "b": other})
    with pytest.raises(ValueError, match="no model to draw"):
        ConvergenceDisplay.from_estimators({})


# --- the look -------------------------------------------------------------------------------------


def luminance(color):
    """WCAG's relative luminance."""
    c = np.array(to_rgb(color))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_no_meaning_rests_on_colour_alone():
    count = len(style_module.COLORS)
    for values in (style_module.COLORS, style_module.LINES, style_module.MARKERS):
        assert len(set(map(str, values))) == count
    # what stands beside each other most often can be told apart on grey paper by its colour too
    first = [luminance(color) for color in style_module.COLORS[:4]]
    assert min(abs(a - b) for i, a in enumerate(first) for b in first[:i]) > 0.03


def test_curves_are_visible_on_white():
    for color in style_module.COLORS:
        assert 1.05 / (luminance(color) + 0.05) > 2


def test_two_curves_differ_in_style_and_marker():
    display = ConvergenceDisplay(TRACE).plot()
    for get in ("get_color", "get_linestyle", "get_marker"):
        assert getattr(display.line_, get)() != getattr(display.bound_, get)()


def test_no_two_of_sixty_four_curves_look_alike():
    looks = [style_module.curve(i, points=100) for i in range(64)]
    assert len({(look["color"], look["linestyle"]) for look in looks}) == 64
    assert len({(look["color"], look["marker"]) for look in looks}) == 64


def test_text_in_any_colour_can_be_read_on_white():
    for color in style_module.COLORS:
        assert 1.05 / (luminance(style_module.readable(color)) + 0.05) >= 4.5


def test_a_figure_is_600_px_wide_and_its_text_is_inside(tmp_path):
    display = ConvergenceDisplay(TRACE, name="Ridge").plot()
    path = tmp_path / "trace.png"
    display.figure_.savefig(path)
    pixels = plt.imread(path)
    assert pixels.shape[:2] == (400, 600)
    assert pixels[..., :3].std() > 0.01, "something is drawn"
    box = display.figure_.bbox
    ax = display.ax_
    texts = [ax.xaxis.label, ax.yaxis.label, ax.title, *ax.get_legend().get_texts()]
    for text in texts:
        inside = text.get_window_extent()
        assert box.x0 <= inside.x0 < inside.x1 <= box.x1, text
        assert box.y0 <= inside.y0 < inside.y1 <= box.y1, text
        assert inside.height >= 9, "too small to read"


def test_a_legend_of_several_fits_covers_no_curve(models):
    display = ConvergenceDisplay.from_estimators(models)
    display.figure_.canvas.draw()
    legend, frame = display.ax_.get_legend().get_window_extent(), display.ax_.bbox
    assert legend.y0 >= frame.y1 - 1
    assert legend.y1 <= display.figure_.bbox.y1


def test_the_persons_own_settings_are_untouched():
    before = dict(matplotlib.rcParams)
    ConvergenceDisplay(TRACE).plot()
    assert dict(matplotlib.rcParams) == before
    with pytest.raises(ZeroDivisionError), style_module.style():
        1 / 0
    assert dict(matplotlib.rcParams) == before


def output_of(program):
    package = str(Path(certus.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": package},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_without_matplotlib_an_error_names_the_extra():
    output = output_of(
        "import sys; sys.modules['matplotlib'] = None\n"
        "from certus.plotting import ConvergenceDisplay\n"
        "try: ConvergenceDisplay([(0, 0.0, 1.0, 0.0)]).plot()\n"
        "except ImportError as error: print(error)"
    )
    assert 'pip install "certus[plot]"' in output


def test_importing_the_pictures_does_not_import_matplotlib():
    program = "import sys, certus.plotting; print('matplotlib' in sys.modules)"
    assert output_of(program) == "False\n"
