"""Dendrograms show every merge where it is, at any number of leaves, with matplotlib or without."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from scipy.cluster import hierarchy  # noqa: E402

from certus.cluster import Tree, plot_dendrogram  # noqa: E402
from certus.plotting import DendrogramDisplay  # noqa: E402
from certus.plotting.dendrogram import GRAY  # noqa: E402
from certus.plotting.style import COLORS  # noqa: E402
from tests.linkage.tree_cases import INVERTED, METHODS, chain, scipy_tree  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


def tree_of(n, method="average", seed=0):
    return Tree(scipy_tree(seed, method, n=n)[0], method=method)


def paths(display):
    return np.array([path.vertices for path in display.lines_.get_paths()])


def labels_of(display):
    axis = display.ax_.xaxis if display.orientation in ("top", "bottom") else display.ax_.yaxis
    return [tick.get_text() for tick in axis.get_ticklabels()]


# --- where lines go -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_lines_are_where_scipy_draws_them(method):
    Z, _ = scipy_tree(1, method, n=40)
    drawn = paths(Tree(Z).plot())
    theirs = hierarchy.dendrogram(Z, no_plot=True, color_threshold=0)
    theirs = np.stack([(np.array(theirs["icoord"]) - 5) / 10, theirs["dcoord"]], axis=-1)
    ours = drawn[np.lexsort((drawn[:, 0, 0], drawn[:, 1, 1]))]
    np.testing.assert_allclose(ours, theirs[np.lexsort((theirs[:, 0, 0], theirs[:, 1, 1]))])


def test_an_inversion_is_drawn_as_it_is():
    tree = Tree(hierarchy.linkage(INVERTED, "centroid"))
    first, second = paths(tree.plot())
    assert second[1, 1] == tree.heights[1] < tree.heights[0] == first[1, 1]
    assert tree.heights[0] in (second[0, 1], second[3, 1]), "the leg goes up to the part"


@pytest.mark.parametrize("n", [3_000, 100_000])
def test_a_chain_of_any_length_is_drawn(n):
    display = Tree(chain(n)).plot(max_leaves=None)
    assert len(display.lines_.get_paths()) == n - 1
    assert not display.truncated_
    assert labels_of(display) == []


@pytest.mark.parametrize("orientation", ["top", "bottom", "left", "right"])
def test_the_root_is_where_it_is_asked_for(orientation):
    display = tree_of(10).plot(orientation=orientation)
    root = paths(display)[-1][1:3]
    shown = display.ax_.transData.transform(root).mean(axis=0)
    box = display.ax_.get_window_extent()
    middle = np.array([box.x0 + box.width / 2, box.y0 + box.height / 2])
    axis, sign = {"top": (1, 1), "bottom": (1, -1), "left": (0, -1), "right": (0, 1)}[orientation]
    assert sign * (shown - middle)[axis] > 0
    display.figure_.canvas.draw()


# --- cuts -----------------------------------------------------------------------------------------


def test_clusters_have_colours_and_what_lies_above_is_grey():
    tree = tree_of(30, "ward")
    display = tree.plot(n_clusters=4)
    colors = [to_hex(c).upper() for c in display.lines_.get_colors()]
    assert colors[-3:] == [GRAY] * 3
    assert GRAY not in colors[:-3]
    labels = tree.cut(4)
    for t in range(26):
        below = tree.members(30 + t)
        same = [s for s in range(26) if labels[tree.members(30 + s)[0]] == labels[below[0]]]
        assert len({colors[s] for s in same}) == 1
    assert len(set(colors[:-3])) == len({labels[tree.members(30 + t)[0]] for t in range(26)})
    assert display.ax_.get_title(loc="right") == "4 clusters"
    low, high = tree.heights[-4], tree.heights[-3]
    assert low < display.cut_.get_ydata()[0] < high


def test_numbers_beside_clusters_are_their_labels():
    tree = tree_of(20, "ward")
    labels = tree.cut(3)
    display = tree.plot(n_clusters=3)
    names = {text.get_text() for text in display.ax_.texts}
    assert names == {"0", "1", "2"}
    for label, place, _, _ in display.drawing_.tops:
        leaves = np.flatnonzero(labels[tree.order] == label)
        assert leaves.min() <= place <= leaves.max()


def test_a_cut_by_height_is_a_line_there():
    display = tree_of(20).plot(height=1.0)
    assert display.cut_.get_ydata()[0] == 1.0
    assert tree_of(20).plot().cut_ is None


def test_without_a_cut_all_is_black():
    assert {to_hex(c) for c in tree_of(20).plot().lines_.get_colors()} == {COLORS[0]}


def test_no_line_claims_to_separate_what_no_height_does():
    tree = Tree(hierarchy.linkage(INVERTED, "centroid"))
    assert tree.plot(n_clusters=2).cut_ is None


# --- truncation -----------------------------------------------------------------------------------


def test_a_large_tree_is_cut_off_at_two_thousand_branches_and_says_so():
    display = tree_of(2_100, "ward").plot()
    assert display.truncated_
    top = "the top 2,000 of 2,100 leaves; (rows in a branch)"
    assert display.note_ == f"{top}; no room for labels"
    assert tree_of(2_100, "ward").plot(labels=False).note_ == top
    assert display.ax_.get_title(loc="left") == display.note_
    assert len(paths(display)) == 1_999
    whole = tree_of(2_000, "ward").plot()
    assert not whole.truncated_
    assert whole.note_ == "no room for labels"


def test_branches_say_how_many_rows_they_hold_and_end_at_their_own_height():
    tree = tree_of(50, "average")
    display = tree.plot(max_leaves=6, n_clusters=2)
    assert len(paths(display)) == 5
    np.testing.assert_array_equal(paths(display)[:, 1, 1], tree.heights[-5:])
    sizes = np.bincount(tree.cut(6))
    counts = [int(text[1:-1]) if text[0] == "(" else 1 for text in labels_of(display)]
    assert sorted(counts) == sorted(sizes)
    branches = display.drawing_.nodes[display.drawing_.nodes >= 50]
    assert len(display.branches_.get_paths()) == len(branches)
    ends = {h for path in paths(display) for h in (path[0, 1], path[3, 1])}
    assert set(tree.heights[branches - 50]) <= ends


def test_clusters_smaller_than_a_branch_leave_the_picture_grey():
    display = tree_of(50).plot(max_leaves=5, n_clusters=20)
    assert {to_hex(c).upper() for c in display.lines_.get_colors()} == {GRAY}


# --- labels ---------------------------------------------------------------------------------------


def test_ten_labels_are_all_there_in_the_order_of_leaves():
    tree = tree_of(10)
    display = tree.plot(labels=list("abcdefghij"))
    assert labels_of(display) == ["abcdefghij"[i] for i in tree.order]
    display.figure_.canvas.draw()
    boxes = [tick.get_window_extent() for tick in display.ax_.get_xticklabels()]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    assert labels_of(tree.plot()) == [str(i) for i in tree.order]
    assert labels_of(tree.plot(labels=False)) == []


@pytest.mark.parametrize("orientation", ["top", "left"])
def test_three_hundred_labels_are_thinned_until_they_do_not_overlap(orientation):
    display = tree_of(300, "ward").plot(orientation=orientation)
    display.figure_.canvas.draw()
    axis = display.ax_.xaxis if orientation == "top" else display.ax_.yaxis
    boxes = [tick.get_window_extent() for tick in axis.get_ticklabels()]
    assert 50 < len(boxes) <= 300
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))


@pytest.mark.parametrize("orientation", ["top", "bottom", "left", "right"])
def test_sixty_four_labels_are_all_shown_without_overlap(orientation):
    names = [f"tumour {i}" for i in range(64)]
    display = tree_of(64).plot(orientation=orientation, labels=names, n_clusters=3)
    display.figure_.canvas.draw()
    assert sorted(labels_of(display)) == sorted(names)
    assert display.note_ == ""
    axis = display.ax_.xaxis if orientation in ("top", "bottom") else display.ax_.yaxis
    boxes = [tick.get_window_extent() for tick in axis.get_ticklabels()]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_labels_that_are_left_out_are_mentioned():
    _, ax = plt.subplots(figsize=(6, 4))
    display = tree_of(64).plot(ax=ax)
    assert labels_of(display) == [str(i) for i in display.tree.order[::2]]
    assert display.note_ == "one label in 2 is shown"
    assert ax.get_title(loc="left") == display.note_
    wide = DendrogramDisplay(tree_of(300))
    assert "one label in 3 is shown" in wide.to_svg()
    assert "no room for labels" in DendrogramDisplay(tree_of(1_500, "ward")).to_svg()


@pytest.mark.parametrize("orientation", ["top", "bottom", "left", "right"])
def test_labels_keep_the_colours_of_their_clusters_however_small(orientation):
    _, ax = plt.subplots(figsize=(6, 4))
    tree = tree_of(80, "ward")
    tree.plot(n_clusters=3, orientation=orientation, ax=ax)
    axis = ax.xaxis if orientation in ("top", "bottom") else ax.yaxis
    shown = {tick.get_text(): to_hex(tick.get_color()) for tick in axis.get_ticklabels()}
    labels = tree.cut(3)
    colors = {(labels[int(text)], color) for text, color in shown.items()}
    assert len(colors) == len({color for _, color in colors}) == 3


def test_two_thousand_branches_have_no_labels():
    assert labels_of(tree_of(2_000, "ward").plot()) == []


def test_names_of_the_tree_are_labels_and_long_ones_are_shortened():
    tree = Tree([[0, 1, 1.0, 2]], names=["short", "x" * 100])
    assert labels_of(tree.plot()) == ["short", "x" * 31 + "…"]


# --- SVG ------------------------------------------------------------------------------------------


def geometry(text):
    root = ET.fromstring(text)
    lines = [p for p in root.iter(f"{SVG}path") if p.get("stroke-linejoin")]
    pieces = [piece for p in lines for piece in p.get("d").split("M")[1:]]
    points = [[tuple(map(float, q.split())) for q in piece.split("L")] for piece in pieces]
    return root, np.array(points)


@pytest.mark.parametrize("orientation", ["top", "bottom", "left", "right"])
def test_svg_has_the_lines_of_the_picture(orientation):
    tree = tree_of(12)
    display = DendrogramDisplay(tree, orientation=orientation)
    root, points = geometry(display.to_svg())
    assert points.shape == (11, 4, 2)
    along, up = (0, 1) if orientation in ("top", "bottom") else (1, 0)
    assert (points > 0).all()
    assert (points < [float(root.get("width")), float(root.get("height"))]).all()
    place, height = display.drawing_.lines[..., 0].ravel(), display.drawing_.lines[..., 1].ravel()
    for axis, drawn, rises in (
        (along, place, True),
        (up, height, orientation in ("bottom", "right")),
    ):
        pixels = points[..., axis].ravel()
        slope, start = np.polyfit(drawn, pixels, 1)
        np.testing.assert_allclose(pixels, start + slope * drawn, atol=0.02)
        assert (slope > 0) == rises


def test_svg_has_the_colours_of_the_cut():
    display = DendrogramDisplay(tree_of(30, "ward"), n_clusters=4)
    root, points = geometry(display.to_svg())
    assert len(points) == 29
    drawn = [p for p in root.iter(f"{SVG}path") if p.get("stroke-linejoin")]
    assert drawn[0].get("stroke") == GRAY, "below the clusters"
    assert drawn[0].get("d").count("M") == 3


def test_text_in_svg_is_escaped_and_legible():
    tree = Tree([[0, 1, 1.0, 2]], names=["<script>alert(1)</script>", 'a & "b"'])
    text = DendrogramDisplay(tree).to_svg()
    assert "<script" not in text
    texts = [t.text for t in ET.fromstring(text).iter(f"{SVG}text")]
    assert "<script>alert(1)</script>" in texts
    assert 'a & "b"' in texts
    assert all(float(size) >= 5 for size in re.findall(r'font-size="([\d.]+)"', text))


def test_svg_of_a_large_tree_says_that_it_is_cut_off():
    display = DendrogramDisplay(tree_of(60), max_leaves=10)
    assert "the top 10 of 60 leaves" in display.to_svg()


def test_svg_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "tree.svg"
    display = plot_dendrogram(tree_of(10), svg=path)
    assert path.read_text(encoding="utf-8") == display.to_svg()
    assert list(tmp_path.iterdir()) == [path]
    assert plt.get_fignums() == []
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        plot_dendrogram(tree_of(12), svg=path)
    assert path.read_text(encoding="utf-8") == display.to_svg(), "the old file stays"
    assert list(tmp_path.iterdir()) == [path]


def test_svg_needs_no_matplotlib():
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from certus.cluster import Tree\n"
        "from certus.plotting import DendrogramDisplay\n"
        "print(DendrogramDisplay(Tree([[0, 1, 1.0, 2]])).to_svg()[:4])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "<svg\n", done.stderr


# --- and the rest ---------------------------------------------------------------------------------


def test_it_draws_into_axes_that_are_there():
    figure, ax = plt.subplots()
    display = tree_of(10).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_one_leaf_and_trees_without_height_are_drawn():
    for tree in (Tree(np.empty((0, 4))), Tree([[0, 1, 0.0, 2], [2, 3, 0.0, 3]])):
        display = tree.plot()
        display.figure_.canvas.draw()
        ET.fromstring(display.to_svg())


def test_leaves_of_several_rows_are_drawn_and_cut():
    tree = Tree([[0, 2, 1.0, 3], [1, 3, 5.0, 6]], rows=[1, 0, 0, 1, 2, 1], method="bisecting")
    display = tree.plot(n_clusters=2)
    assert display.ax_.get_ylabel() == "sum of squares"
    assert {text.get_text() for text in display.ax_.texts} == {"0", "1"}


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"orientation": "up"}, ValueError,
         "orientation='up': give one of 'top', 'bottom', 'left', 'right'"),
        ({"max_leaves": 1}, ValueError, "max_leaves=1: give a whole number above 1, or None"),
        ({"labels": ["a"]}, ValueError, "1 labels were given for 10 leaves"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_named(how, error, message):
    with pytest.raises(error) as raised:
        tree_of(10).plot(**how)
    assert str(raised.value) == message


def test_a_bare_matrix_is_told_to_become_a_tree():
    with pytest.raises(TypeError, match=r"a ndarray is not a tree: give certus.cluster.Tree"):
        plot_dendrogram(chain(5))
