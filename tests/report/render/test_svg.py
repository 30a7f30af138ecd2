"""Charts: round ticks, labels inside, nothing that is not finite."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certus.reporting.content.data import Dendrogram, Merge
from certus.reporting.content.values import Interval
from certus.reporting.render.charts import threshold_curves, trees
from certus.reporting.render.charts.intervals import IntervalRow, Rule, interval_chart
from certus.reporting.render.html import render
from certus.reporting.render.svg.canvas import Canvas
from certus.reporting.render.svg.scales import LinearScale, log_ticks, ticks
from certus.reporting.render.svg.text_width import shortened, width_of
from tests.report.content_fixture import threshold_counts
from tests.report.render.cases import CONTENTS
from tests.report.render.reading import Element, read

FINITE = st.floats(-1e12, 1e12, allow_nan=False)


@given(FINITE, st.floats(1e-9, 1e12), st.integers(2, 10))
def test_ticks_are_inside_increasing_and_few(low, span, most):
    high = low + span
    found = ticks(low, high, most)
    assert len(found) <= max(most, 1)
    assert list(found) == sorted(set(found))
    slack = 1e-6 * (high - low) + 1e-9 * abs(low)
    assert all(low - slack <= v <= high + slack for v in found)


@given(st.floats(1e-9, 1e9), st.floats(1.01, 1e9), st.integers(3, 10))
def test_logarithmic_ticks_are_inside_and_few(low, ratio, most):
    found = log_ticks(low, low * ratio, most)
    assert 1 <= len(found) <= most
    assert all(low * 0.999 <= v <= low * ratio * 1.001 for v in found)


@given(st.text(max_size=80), st.floats(5, 400))
def test_shortened_text_fits(text, room):
    assert width_of(shortened(text, 12.0, room), 12.0) <= max(room, width_of("…", 12.0))


@given(st.text(max_size=60), st.floats(-50, 400), st.sampled_from(["start", "middle", "end"]))
def test_text_stays_inside_the_view(text, x, anchor):
    canvas = Canvas("c", "t", "d", 340, 100)
    canvas.text(x, 50, text, anchor)
    svg = read(canvas.markup().replace(chr(0), ""))
    element = svg.all("text")[0]
    width = width_of(element.text(), 12.0)
    before = {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    left = float(element.attributes["x"]) - before
    assert left >= -0.1
    assert left + width <= 340.1


def numbers_in(svg: Element) -> list[float]:
    found = []
    for element in svg.all():
        for name in ("d", "x", "y", "cx", "cy", "width", "height", "transform"):
            found += map(
                float, re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", element.attributes.get(name, ""))
            )
    return found


@pytest.mark.parametrize("name", CONTENTS)
def test_every_chart_has_a_name_a_description_and_stays_inside(name):
    root = read(render(CONTENTS[name]()))
    for svg in root.all("svg"):
        assert svg.attributes["role"] == "img"
        assert svg.all("title")[0].text().strip()
        assert svg.all("desc")[0].text().strip()
        _, _, width, height = map(float, svg.attributes["viewbox"].split())
        assert max(map(abs, numbers_in(svg))) <= max(width, height)
        assert svg.all("text")
        assert not re.search("nan|inf", " ".join(e.attributes.get("d", "") for e in svg.all()))


def test_lines_differ_in_style_and_not_in_colour_alone():
    svg = threshold_curves.decision(threshold_counts()).svg
    kinds = set(re.findall(r'class="(line[^"]*)"', svg))
    assert {"line accent", "line dashed quiet", "line dotted quiet"} <= kinds


def test_an_interval_that_leaves_the_scale_ends_in_an_arrow():
    rows = [IntervalRow(f"column {k}", 1.0, Interval(0.9, 1.1)) for k in range(5)]
    rows.append(IntervalRow("uncertain", 1.0, Interval(1e-9, 1e9)))
    chart = interval_chart("x", "t", "d", rows, "ratio", None, Rule(1.0, "no effect"), log=True)
    assert "column 4" in chart.svg
    assert "1.0 (1e−9 to 1e9)" in chart.svg or "1e9" in chart.svg
    wide = interval_chart("x", "t", "d", rows[:1], "ratio", None, Rule(0.0, "none"))
    assert "infinite" not in wide.svg


def test_no_branches_of_a_tree_cross():
    rng = np.random.default_rng(0)
    n, alive, merges = 40, list(range(40)), []
    for k in range(n - 1):
        a, b = rng.choice(len(alive), 2, replace=False)
        left, right = alive[a], alive[b]
        alive = [c for c in alive if c not in (left, right)] + [n + k]
        merges.append(Merge(left, right, float(k + 1), 2))
    tree = Dendrogram("t", tuple(f"leaf {k}" for k in range(n)), (1,) * n, tuple(merges), "h")
    order = trees.leaf_order(tree)
    assert sorted(order) == list(range(n))
    members = {k: [order.index(k)] for k in range(n)}
    for k, merge in enumerate(merges):
        joined = sorted(members[merge.left] + members[merge.right])
        assert joined == list(range(joined[0], joined[-1] + 1)), "leaves of a merge are neighbours"
        members[n + k] = joined


def test_a_threshold_without_positives_or_with_one_threshold_draws():
    counts = threshold_counts()
    one = replace(counts, thresholds=(0.5,), true_positives=(0,), false_positives=(0,), selected=0)
    for draw in (
        lambda: threshold_curves.roc(one, None),
        lambda: threshold_curves.precision_recall(one, None),
        lambda: threshold_curves.decision(one),
    ):
        assert "<svg" in draw().svg


def test_a_scale_maps_ends_to_ends():
    scale = LinearScale(2.0, 4.0, 10.0, 30.0)
    assert (scale(2.0), scale(3.0), scale(4.0)) == (10.0, 20.0, 30.0)
