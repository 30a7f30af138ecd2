"""Section 7: are there groups of rows, or of columns? With evidence, or none found.

Rows are points: missing values filled with medians, columns standardised, categories as 0 and 1.
Trees merge by Ward's distance (rows) and by 1 − |correlation| (columns of numbers). The number of
clusters is that of ``certus.cluster.choose_n_clusters``, which compares with unstructured noise.
"""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ...text.format import count
from ..arrays import MIN_ROWS_NAMED, codes_of, numbers_of, sample_of_rows
from ..content.data import Dendrogram, Merge, Structure, Unchecked
from ..content.phrases import digits3, interval_text, share
from ..content.values import Interval, Note, ReportTable
from ..content.values import TableColumn as Head

if TYPE_CHECKING:
    from ...cluster import NClustersResult, Tree
    from ...tables import Column
    from ..prepared import Prepared
    from ..procedure.progress import Progress
    from ..settings import Settings

MAX_ROWS = 5_000  # of the tree and of the clusters
MAX_EVIDENCE_ROWS = 600  # 20 samples of noise of this size are clustered for each number: 4 s
MAX_EVIDENCE_COMPONENTS = 50
MAX_COMPONENTS = 200  # of rows as points
MAX_POINT_COLUMNS = 2_000  # of the table; more are thinned out evenly
MAX_CLUSTERS = 8
N_REFERENCES = 20
N_RESAMPLES = 10
METHODS = "silhouette", "gap", "stability"  # for separated groups; mixtures collapse on categories
N_STARTS = 3  # of k-means, for the evidence; ten took three times as long
MAX_ROW_LEAVES = 30
MAX_COLUMN_LEAVES = 40
MAX_TREE_COLUMNS = 500
MIN_ROWS = 20
NAME = "structure"


def make(
    prepared: "Prepared", settings: "Settings", progress: "Progress"
) -> tuple[Structure | None, tuple[Unchecked, ...]]:
    """Return trees of rows and columns, and the clusters of rows with their evidence."""
    if prepared.n < MIN_ROWS:
        few = f"There are {count(prepared.n, 'row')}: too few to look for groups."
        return None, (Unchecked("Groups of similar rows", few),)
    progress.step(NAME, 0, 4)
    rows = sample_of_rows(prepared.n, MAX_ROWS)
    used = prepared.columns
    if len(used) > MAX_POINT_COLUMNS:
        spaced = np.linspace(0, len(used) - 1, MAX_POINT_COLUMNS).round().astype(int)
        used = tuple(used[j] for j in spaced)
    points = _points(prepared, used, rows)
    notes = []
    if len(used) < len(prepared.columns):
        notes.append(Note(
            f"Rows were compared by {len(used):,} of {len(prepared.columns):,} columns, taken at "
            "even distances in the file."
        ))  # fmt: skip
    if len(rows) < prepared.n:
        notes.append(Note(
            f"A sample of {count(len(rows), 'row')} of {prepared.n:,} was used for the tree and "
            "the groups."
        ))  # fmt: skip
    unchecked: list[Unchecked] = []
    if np.ptp(points, axis=0).max(initial=0.0) == 0:
        same = "All rows are equal in the used columns."
        return None, (Unchecked("Groups of similar rows", same),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties and repeated rows are expected, and harmless here
        tree = _tree_of_rows(points)
        progress.step(NAME, 1, 4)
        variables, why = _tree_of_columns(prepared, rows)
        if why:
            unchecked.append(Unchecked("Groups of similar columns", why))
        progress.step(NAME, 2, 4)
        choice = _choose(points, settings)
        progress.step(NAME, 3, 4)
        labels = _clusters(points, choice.n_clusters, settings)
    evidence = _evidence(choice, prepared.n)
    profiles = None if labels is None else _profiles(prepared, rows, labels)
    progress.step(NAME, 4, 4)
    text = _text(choice, labels, prepared.task != "structure")
    return Structure(text, tree, variables, evidence, profiles, tuple(notes)), tuple(unchecked)


def _points(prepared: "Prepared", columns: "tuple[Column, ...]", rows: np.ndarray) -> np.ndarray:
    """Rows as standardised points, or their principal components if there are many columns."""
    import pyarrow as pa

    from ...cluster import KMeans
    from ...tables import pipeline_for

    steps = pipeline_for(columns, KMeans(2), len(rows))[:-1]
    X = prepared.X.select([c.name for c in columns]).take(pa.array(rows))
    return _components(np.asarray(steps.fit_transform(X), dtype=np.float64), MAX_COMPONENTS)


def _components(points: np.ndarray, most: int) -> np.ndarray:
    """Principal components of points with more columns than ``most``; else the points."""
    if points.shape[1] <= most:
        return points
    centered = points - points.mean(axis=0)
    if len(points) <= points.shape[1]:
        values, vectors = np.linalg.eigh(centered @ centered.T)
        components = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    else:
        vectors = np.linalg.eigh(centered.T @ centered)[1]
        components = centered @ vectors[:, ::-1]
    components = components[:, :most]
    largest = np.abs(components).argmax(axis=0)
    return components * np.sign(components[largest, np.arange(components.shape[1])])


# --- trees ----------------------------------------------------------------------------------------


def _tree_of_rows(points: np.ndarray) -> Dendrogram:
    from ...cluster import AgglomerativeClustering

    model = AgglomerativeClustering(linkage="ward", scale=False).fit(points)
    leaves, merges = _cut(model.tree_, MAX_ROW_LEAVES)
    sizes = tuple(len(leaf) for leaf in leaves)
    names = tuple(f"n = {size:,}" for size in sizes)
    return Dendrogram(
        "Rows, merged by similarity", names, sizes, merges,
        "Ward's distance (standardised columns)",
        f"The {count(len(points), 'row')} are cut into {count(len(leaves), 'group')}; a long step "
        "before a merge means that groups are apart.",
    )  # fmt: skip


def _tree_of_columns(prepared: "Prepared", rows: np.ndarray) -> tuple[Dendrogram | None, str]:
    """The tree of columns of numbers, or why there is none."""
    from ...cluster import VariableClustering

    names, values = [], []
    for column in prepared.columns:
        if column.role != "number":
            continue
        x = numbers_of(prepared.X.column(column.name))[rows]
        x = np.where(np.isnan(x), np.nanmean(x) if not np.isnan(x).all() else 0.0, x)
        if np.ptp(x) > 0:
            names.append(column.name)
            values.append(x)
        if len(names) == MAX_TREE_COLUMNS:
            break
    if len(names) < 3:
        return None, f"{count(len(names), 'column')} of numbers: a tree needs 3."
    model = VariableClustering(n_clusters=1).fit(np.column_stack(values))
    leaves, merges = _cut(model.tree_, MAX_COLUMN_LEAVES)
    leaf_names = tuple(
        names[leaf[0]] if len(leaf) == 1 else f"{names[leaf.min()]} and {len(leaf) - 1} more"
        for leaf in leaves
    )
    n_all = sum(c.role == "number" for c in prepared.columns)
    note = "Columns that merge near 0 say nearly the same."
    if len(names) == MAX_TREE_COLUMNS and n_all > len(names):
        note += f" The first {len(names)} of {n_all:,} columns are shown."
    return Dendrogram(
        "Columns of numbers, merged by correlation", leaf_names,
        tuple(len(leaf) for leaf in leaves), merges, "1 − |correlation|, averaged", note,
    ), ""  # fmt: skip


def _cut(tree: "Tree", most: int) -> tuple[list[np.ndarray], tuple[Merge, ...]]:
    """Return the members of at most so many leaves, in drawing order, and the merges above them."""
    n = tree.n_leaves
    k = min(most, n)
    first = n - k  # merges from here on join the leaves of the cut tree
    inner = tree.merges[first:]
    parts = [int(c) for c in inner[:, :2].ravel() if c < n + first] or [0]
    start = {int(leaf): i for i, leaf in enumerate(tree.order.tolist())}
    members = {c: tree.members(c) for c in parts}
    ordered = sorted(parts, key=lambda c: min(start[int(row)] for row in members[c]))
    number = {c: i for i, c in enumerate(ordered)}
    number.update({n + first + t: k + t for t in range(len(inner))})
    merges = tuple(
        Merge(number[int(a)], number[int(b)], float(height), int(size))
        for a, b, height, size in inner
    )
    return [members[c] for c in ordered], merges


# --- clusters -------------------------------------------------------------------------------------


def _choose(points: np.ndarray, settings: "Settings") -> "NClustersResult":
    from ...cluster import KMeans, choose_n_clusters

    sample = points[sample_of_rows(len(points), MAX_EVIDENCE_ROWS, seed=1)]
    return choose_n_clusters(
        _components(sample, MAX_EVIDENCE_COMPONENTS),
        range(1, min(MAX_CLUSTERS, len(sample) - 1) + 1),
        estimator=KMeans(n_init=N_STARTS), n_references=N_REFERENCES, n_resamples=N_RESAMPLES,
        methods=METHODS, random_state=settings.seed, threads=settings.threads,
    )  # fmt: skip


def _clusters(points: np.ndarray, k: int | None, settings: "Settings") -> np.ndarray | None:
    from ...cluster import KMeans

    if k is None or k < 2:
        return None
    labels = KMeans(k, n_init=10, random_state=settings.seed).fit(points).labels_
    order = np.argsort(-np.bincount(labels, minlength=k), kind="stable")  # the largest first
    place = np.empty(k, dtype=np.intp)
    place[order] = np.arange(k)
    return place[labels]


def _evidence(choice: "NClustersResult", n_rows: int) -> ReportTable:
    heads = (
        Head("Clusters", "count"), Head("Silhouette"), Head("Interval", "text"), Head("Gap"),
        Head("± s"), Head("Stability"),
    )  # fmt: skip
    rows = []
    for t, k in enumerate(choice.ks.tolist()):
        low, high = choice.silhouette_interval[t]
        rows.append((
            int(k), _known(choice.silhouette[t]),
            interval_text(Interval(float(low), float(high))) if np.isfinite(low) else None,
            _known(choice.gap[t]), _known(choice.gap_error[t]), _known(choice.stability[t]),
        ))  # fmt: skip
    reasons = tuple(f"{name}: {why}." for name, why in choice.reasons.items())
    sampled = (f"On a sample of {count(choice.n, 'row')}.",) if choice.n < n_rows else ()
    notes = (*sampled, *reasons, *choice.notes)
    return ReportTable("Evidence for the number of clusters", heads, tuple(rows), notes)


def _known(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _profiles(prepared: "Prepared", rows: np.ndarray, labels: np.ndarray) -> ReportTable:
    """The mean of each number and the commonest category, by cluster, in the table's units."""
    import pyarrow as pa

    k = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=k)
    heads = [Head("", "text"), Head(f"All (n = {len(rows):,})", "text")]
    heads += [Head(f"Group {g + 1} (n = {n:,})", "text") for g, n in enumerate(sizes.tolist())]
    taken = prepared.X.take(pa.array(rows))
    masks = [np.ones(len(rows), dtype=bool), *(labels == g for g in range(k))]
    cells: list[tuple[float, tuple[str | None, ...]]] = []
    for column in prepared.columns:
        if column.role == "number":
            cells.append(_means(column, numbers_of(taken.column(column.name)), masks))
        else:
            codes = codes_of(taken.column(column.name))
            cells.append(_commonest(column, codes.codes, codes.levels, masks))
    order = sorted(range(len(cells)), key=lambda i: -cells[i][0])  # what tells groups apart first
    notes = ["Means of numbers, and the commonest category with its share; columns that differ "
             "most between groups come first."]  # fmt: skip
    return ReportTable(
        "Profiles of the groups", tuple(heads), tuple(cells[i][1] for i in order), tuple(notes),
    )  # fmt: skip


def _means(
    column: "Column", x: np.ndarray, masks: list[np.ndarray]
) -> tuple[float, tuple[str | None, ...]]:
    """How far apart the groups are, in standard deviations, and the cells."""
    known = ~np.isnan(x)
    means = [float(x[m & known].mean()) if (m & known).sum() >= MIN_ROWS_NAMED else None
             for m in masks]  # fmt: skip
    of_groups = [m for m in means[1:] if m is not None]
    spread = float(x[known].std()) if known.any() else 0.0
    apart = (max(of_groups) - min(of_groups)) / spread if of_groups and spread else 0.0
    return apart, (column.name, *(None if m is None else digits3(m) for m in means))


def _commonest(
    column: "Column", codes: np.ndarray, levels: tuple[str, ...], masks: list[np.ndarray]
) -> tuple[float, tuple[str | None, ...]]:
    shares = []
    cells: list[str | None] = [column.name]
    is_named = np.bincount(codes[codes >= 0], minlength=len(levels)) >= MIN_ROWS_NAMED
    for mask in masks:
        inside = codes[mask & (codes >= 0)]
        counts = np.bincount(inside, minlength=len(levels))
        if len(inside) < MIN_ROWS_NAMED or not len(levels):
            cells.append(None)
            continue
        top = int(counts.argmax())
        shares.append(counts / len(inside))
        name = levels[top] if is_named[top] else "a rare category"
        cells.append(f"{name} ({share(counts[top] / len(inside))})")
    groups = np.array(shares[1:])
    apart = float(2 * np.ptp(groups, axis=0).max()) if len(groups) else 0.0
    return apart, tuple(cells)


def _text(choice: "NClustersResult", labels: np.ndarray | None, has_target: bool) -> str:
    verdict = choice.verdict.rstrip(".")
    if labels is None:
        return (
            f"No separated groups of rows were found ({verdict}). Cutting the tree at any height "
            "would make groups, but not ones that another sample would show."
        )
    sizes = [f"{n:,}" for n in np.bincount(labels).tolist()]
    shown = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    text = f"{len(sizes)} groups of rows were found ({verdict}), of {shown} rows."
    if has_target:
        return f"{text} The target had no part in it. Whether they are of use is for you to judge."
    return f"{text} Whether they are of use is for you to judge."
