"""Which leaves of a dendrogram have labels, and what the plot says of those without."""

from typing import NamedTuple

import numpy as np

from ._dendrogram_shape import Drawing

MAX_LABEL_POINTS, MIN_LABEL_POINTS = 10.0, 5.5  # font size of labels; smaller ones are unreadable
MAX_LABEL_STEP = 8  # if not even one leaf in so many can be labelled, none is
LEAF_SHARE = 0.9  # of the space of a leaf is its label's


class ShownLabels(NamedTuple):
    """Places with labels, all or evenly spaced, and the font size."""

    places: list[int]
    points: float


def shown_labels(places: int, room: float) -> ShownLabels:
    """Return which of so many places are labelled in ``room`` points, so that no two overlap."""
    leaf_points = LEAF_SHARE * room / max(1, places)
    step = int(np.ceil(MIN_LABEL_POINTS / leaf_points))
    if step > MAX_LABEL_STEP:
        return ShownLabels([], MIN_LABEL_POINTS)
    points = np.clip(step * leaf_points, MIN_LABEL_POINTS, MAX_LABEL_POINTS)
    return ShownLabels(list(range(0, places, step)), float(points))


def note(drawing: Drawing, shown: ShownLabels | None) -> str:
    """Return what the plot leaves out: leaves, and labels unless ``shown`` is None."""
    places, parts = len(drawing.nodes), []
    if drawing.truncated:
        parts.append(f"the top {places:,} of {drawing.n_leaves:,} leaves; (rows in a branch)")
    if shown is not None and not shown.places:
        parts.append("no room for labels")
    elif shown is not None and len(shown.places) < places:
        parts.append(f"one label in {shown.places[1]} is shown")
    return "; ".join(parts)
