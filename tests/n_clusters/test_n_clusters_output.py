"""choose_n_clusters for people: text, table, plot and example."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from certus.cluster import choose_n_clusters
from tests.n_clusters.n_clusters_cases import QUICK, SMALL, THREE, blobs

# --- text, table and plot -------------------------------------------------------------------------


def test_the_explanation_has_the_verdict_the_reasons_and_a_table(iris):
    _, choice = iris
    text = choice.explain()
    lines = text.splitlines()
    assert lines[0].startswith("[OK] ")
    assert max(map(len, lines)) <= 80
    for name in ("Silhouette", "Gap", "Stability"):
        assert sum(line.startswith(name) for line in lines) == 1
    assert "Does not say" in text
    marked = [line for line in lines if "*" in line and line[0].isdigit()]
    assert {line.split()[0] for line in marked} <= {
        str(k) for k in choice.n_clusters_by_method.values()
    }
    assert repr(choice) == f"NClustersResult({choice.verdict})"


def test_the_frame_has_a_row_for_each_k(iris):
    _, choice = iris
    frame = choice.to_frame()
    assert frame.index.tolist() == [1, 2, 3, 4, 5]
    assert frame.columns.tolist() == [
        "objective", "silhouette", "silhouette_low", "silhouette_high", "silhouette_noise", "gap",
        "gap_error", "stability", "stability_low", "stability_high", "stability_noise",
    ]  # fmt: skip
    np.testing.assert_array_equal(frame["gap"], choice.gap)
    assert frame.loc[3].to_dict() == pytest.approx(choice.at(3))
    with pytest.raises(KeyError, match="k = 9 was not tried: 1, 2, 3, 4, 5 were"):
        choice.at(9)


def test_only_the_methods_that_are_asked_for_are_measured(monkeypatch):
    X = blobs(0, THREE, n=45)
    choice = choose_n_clusters(X, range(1, 5), random_state=0, **(QUICK | {"methods": "gap"}))
    assert (choice.methods, choice.n_clusters) == (("gap",), 3)
    assert choice.verdict == "3 clusters: by gap alone"
    assert np.isnan(choice.silhouette).all()
    assert choice.to_frame().columns.tolist() == ["objective", "gap", "gap_error"]
    assert "Silhouette" not in choice.explain()
    choice = choose_n_clusters(X, [2, 3], random_state=0, **SMALL)
    assert "1 is not among ks, so that the gap statistic could not prefer it." in choice.notes


def test_columns_of_very_different_spread_are_reported():
    X = blobs(0, THREE, n=45) * [1.0, 1e4]
    notes = choose_n_clusters(X, [1, 2], random_state=0, **SMALL).notes
    assert notes[0].startswith("Spreads of the columns differ by a factor of 1e4")


def test_the_picture_shows_the_numbers(iris):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, choice = iris
    display = choice.plot()
    assert [ax.get_ylabel() for ax in display.ax_] == ["silhouette", "gap", "stability"]
    k, gap = display.lines_["gap"].get_data()
    np.testing.assert_array_equal(k, choice.ks)
    np.testing.assert_array_equal(gap, choice.gap)
    k, silhouette = display.lines_["silhouette"].get_data()
    np.testing.assert_array_equal(k, choice.ks[1:])
    np.testing.assert_array_equal(silhouette, choice.silhouette[1:])
    top = display.noise_["stability"].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(choice.noise["stability"][:, 1:].max())
    marks = {name: int(mark.get_xdata()[0]) for name, mark in display.marks_.items()}
    message = {name: k for name, k in choice.n_clusters_by_method.items() if k is not None}
    assert marks.items() <= message.items()
    assert display.figure_.get_size_inches().tolist() == [6.0, 6.6]
    figure, axes = plt.subplots(3)
    assert choice.plot(axes).figure_ is figure
    with pytest.raises(ValueError, match="1 axes were given for 3 methods"):
        choice.plot(axes[0])
    plt.close("all")


def test_nothing_at_all_is_stated_and_drawn_too():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    choice = choose_n_clusters(np.ones((7, 2)), random_state=0, **SMALL)
    assert choice.verdict == "no structure: all rows are one point"
    assert (choice.n_clusters, choice.ks.tolist(), choice.objective.tolist()) == (None, [1], [0.0])
    assert "all rows are one point" in choice.explain()
    assert len(choice.to_frame()) == 1
    choice.plot()
    plt.close("all")
    choice = choose_n_clusters(blobs(0, THREE, n=9), [1], **SMALL)
    assert choice.verdict == "no answer: only k = 1 was tried"


ROOT = Path(__file__).parents[2]


# --- bad input, and stopping ----------------------------------------------------------------------


@pytest.mark.exhaustive
def test_the_example_draws_its_picture(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "clusters.png"
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "choose_n_clusters.py", picture, "--rows", "60",
         "--quick"],
        capture_output=True, text=True, timeout=120, check=True,
        env={"MPLBACKEND": "Agg", "PATH": "", "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert picture.stat().st_size > 5000
    assert "3 clusters: " in done.stdout
    assert "No structure: " in done.stdout
    assert "2 Gaussian components: by bic alone" in done.stdout
