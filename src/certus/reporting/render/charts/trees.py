"""A dendrogram on its side: leaves on the left, heights to the right.

merge of a and b at height h:  (h_a, y_a) ─ (h, y_a) ─ (h, y_b) ─ (h_b, y_b),  y = (y_a + y_b)/2
"""

from ...content.data import Dendrogram
from ...content.values import ReportTable, TableColumn
from ..numbers import count, digits3
from ..svg.canvas import TEXT_PIXELS, Canvas
from ..svg.scales import LinearScale
from ..svg.text_width import shortened, width_of
from .chart import Chart, in_two_widths

LEAF_PIXELS = 20.0
HEAD_PIXELS, FOOT_PIXELS = 8.0, 44.0
LABEL_SHARE = 0.42  # of the width, at most


def dendrogram(name: str, tree: Dendrogram, noun: str) -> Chart:
    """The tree; ``noun`` is what a leaf of several is made of."""
    labels = leaf_labels(tree, noun)
    order = leaf_order(tree)
    top = max((merge.height for merge in tree.merges), default=1.0) or 1.0

    def draw(canvas: Canvas, narrow: bool) -> None:
        room = min(
            LABEL_SHARE * canvas.width, max(width_of(label, TEXT_PIXELS) for label in labels)
        )
        x = LinearScale(0.0, 1.03 * top, room + 14, canvas.width - 12)
        bottom = canvas.height - FOOT_PIXELS
        for value in x.ticks(5):
            canvas.rule((x(value), HEAD_PIXELS), (x(value), bottom), "grid")
            canvas.text(x(value), bottom + 16, digits3(value), "middle", "tick")
        canvas.text((x.start + x.end) / 2, canvas.height - 6, tree.axis, "middle")
        places: dict[int, tuple[float, float]] = {}
        for place, leaf in enumerate(order):
            y = HEAD_PIXELS + LEAF_PIXELS * (place + 0.5)
            places[leaf] = (0.0, y)
            text = shortened(labels[leaf], TEXT_PIXELS, room)
            canvas.text(room + 6, y + 4, text, "end")
        for number, merge in enumerate(tree.merges):
            (h_a, y_a), (h_b, y_b) = places[merge.left], places[merge.right]
            h = merge.height
            canvas.line([(x(h_a), y_a), (x(h), y_a), (x(h), y_b), (x(h_b), y_b)], "line branch")
            places[len(tree.leaves) + number] = (h, (y_a + y_b) / 2)

    height = HEAD_PIXELS + FOOT_PIXELS + LEAF_PIXELS * len(labels)
    description = (
        f"A tree of {len(labels)} leaves. Leaves that are alike join early, on the left; "
        f"the horizontal axis is {tree.axis}."
    )
    return in_two_widths(
        name, tree.title, description, (height, height), draw, merges(tree, noun), tree.note
    )


def leaf_order(tree: Dendrogram) -> list[int]:
    """The leaves from top to bottom, so that no branches cross."""
    n = len(tree.leaves)
    joined = {child for merge in tree.merges for child in (merge.left, merge.right)}
    waiting = [node for node in reversed(range(n + len(tree.merges))) if node not in joined]
    order: list[int] = []
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            merge = tree.merges[node - n]
            waiting += [merge.right, merge.left]
    return order


def leaf_labels(tree: Dendrogram, noun: str) -> list[str]:
    """The leaves with how many rows or columns are in each, where more than one is."""
    counted = [f"n = {size}" for size in tree.sizes]
    return [
        leaf if size == 1 or leaf == n else f"{leaf} · {count(size, noun)}"
        for leaf, size, n in zip(tree.leaves, tree.sizes, counted, strict=True)
    ]


def merges(tree: Dendrogram, noun: str) -> ReportTable:
    """The merges as a table, the lowest first."""
    labels = leaf_labels(tree, noun)
    n = len(labels)

    def named(node: int) -> str:
        return labels[node] if node < n else f"merge {node - n + 1}"

    return ReportTable(
        f"Merges of the tree ({tree.title})",
        (
            TableColumn("merge", "count"), TableColumn("joins", "text"), TableColumn("and", "text"),
            TableColumn("height"),
        ),
        tuple(
            (k + 1, named(merge.left), named(merge.right), merge.height)
            for k, merge in enumerate(tree.merges)
        ),
    )  # fmt: skip
