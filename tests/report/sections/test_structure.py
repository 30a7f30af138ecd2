"""Groups of rows and of columns: found where they are, not found in noise."""

import numpy as np
import pandas as pd
import pytest

from certus.reporting.procedure.progress import Silent
from certus.reporting.sections import structure
from tests.report.sections.tables import prepared_of, settings_for

WITHOUT_TARGET = settings_for(target=None, cluster=True)


@pytest.fixture
def quick(monkeypatch):
    """Little evidence for the number of clusters, where that is not what is tested."""
    monkeypatch.setattr(structure, "N_REFERENCES", 3)
    monkeypatch.setattr(structure, "N_RESAMPLES", 3)
    monkeypatch.setattr(structure, "MAX_EVIDENCE_ROWS", 100)


def structure_of(frame, settings=WITHOUT_TARGET):
    found, unchecked = structure.make(prepared_of(frame, settings), settings, Silent())
    assert found is not None
    return found, unchecked


def blobs(k=3, n=150, seed=0):
    rng = np.random.default_rng(seed)
    centers = 10 * np.eye(4)[:k]
    X = centers[np.arange(n) % k] + rng.normal(size=(n, 4))
    return pd.DataFrame(X.round(3), columns=["a", "b", "c", "d"])


def noise(n=150, p=4, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(X.round(3)).add_prefix("x")


def test_groups_are_found_and_described_in_the_units_of_the_table():
    found, _ = structure_of(blobs())
    assert found.text.startswith("3 groups of rows were found")
    assert [c.name for c in found.profiles.columns][2:] == [
        "Group 1 (n = 50)", "Group 2 (n = 50)", "Group 3 (n = 50)",
    ]  # fmt: skip
    cells = {row[0]: row[2:] for row in found.profiles.rows}
    assert sorted(round(float(c.replace("−", "-"))) for c in cells["a"]) == [0, 0, 10]


@pytest.mark.parametrize("seed", [0, 1])
def test_no_groups_are_found_in_noise(seed):
    found, _ = structure_of(noise(seed=seed))
    assert found.text.startswith("No separated groups of rows were found")
    assert found.profiles is None
    assert len(found.evidence.rows) == 8


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("n", "n_leaves"), [(25, 25), (150, 30)])
def test_the_tree_of_rows_has_few_leaves_which_hold_all_rows(n, n_leaves):
    tree = structure_of(blobs(n=n))[0].rows
    assert (len(tree.leaves), sum(tree.sizes)) == (n_leaves, n)
    assert_tree(tree)
    assert tree.merges[-1].size == n


def assert_tree(tree):
    """Each cluster is merged once, children before parents, and no two lines cross."""
    k = len(tree.leaves)
    members = [{i} for i in range(k)]
    for t, merge in enumerate(tree.merges):
        assert max(merge.left, merge.right) < k + t
        members.append(members[merge.left] | members[merge.right])
        spread = sorted(members[-1])
        assert spread == list(range(spread[0], spread[-1] + 1)), "leaves are in drawing order"
    merged = sorted(c for m in tree.merges for c in (m.left, m.right))
    assert merged == list(range(2 * k - 2))


@pytest.mark.usefixtures("quick")
def test_sizes_in_the_tree_of_rows_are_sums():
    tree = structure_of(blobs())[0].rows
    sizes = list(tree.sizes)
    for merge in tree.merges:
        sizes.append(sizes[merge.left] + sizes[merge.right])
        assert merge.size == sizes[-1]


@pytest.mark.usefixtures("quick")
def test_columns_that_say_the_same_merge_near_0():
    frame = noise()
    frame["copy"] = (-2 * frame["x0"] + 0.01).round(3)
    tree = structure_of(frame)[0].variables
    first = tree.merges[0]
    assert {tree.leaves[first.left], tree.leaves[first.right]} == {"x0", "copy"}
    assert first.height < 0.01
    assert_tree(tree)


@pytest.mark.usefixtures("quick")
def test_many_columns_are_cut_to_forty_leaves():
    tree = structure_of(noise(p=90))[0].variables
    assert len(tree.leaves) == 40
    assert sum(tree.sizes) == 90
    assert any(" more" in leaf for leaf in tree.leaves)


@pytest.mark.usefixtures("quick")
def test_a_tree_of_two_columns_is_not_made_and_said():
    found, unchecked = structure_of(noise(p=2))
    assert found.variables is None
    assert [u.check for u in unchecked] == ["Groups of similar columns"]


def test_too_few_rows_are_said():
    settings = WITHOUT_TARGET
    found, unchecked = structure.make(prepared_of(noise(n=15), settings), settings, Silent())
    assert found is None
    assert "too few" in unchecked[0].why


@pytest.mark.usefixtures("quick")
def test_large_tables_are_sampled_and_the_page_says_so():
    found, _ = structure_of(noise(n=6000, p=3))
    assert sum(found.rows.sizes) == 5000
    assert "5,000 rows of 6,000" in found.notes[0].text
    assert "On a sample of 100 rows." in found.evidence.notes


@pytest.mark.usefixtures("quick")
def test_the_same_bits_each_time():
    assert structure_of(blobs()) == structure_of(blobs())


@pytest.mark.usefixtures("quick")
def test_categories_and_missing_values_are_points_too():
    frame = blobs()
    frame["kind"] = np.where(frame["a"] > 5, "red", "blue")
    frame.loc[::11, "b"] = np.nan
    found, _ = structure_of(frame)
    assert any(row[0] == "kind" and "red (" in str(row) for row in found.profiles.rows)


def test_components_keep_the_distances_of_few_rows():
    X = np.random.default_rng(0).normal(size=(40, 300))
    Z = structure._components(X, 200)
    assert Z.shape == (40, 40)
    distances = [np.linalg.norm(A[:, None] - A, axis=2) for A in (X, Z)]
    np.testing.assert_allclose(*distances, atol=1e-6)
