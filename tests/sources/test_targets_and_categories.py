"""Text becomes columns of 0 and 1, targets become classes, and weights count."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.preprocessing import OneHotEncoder

import certus
from certus.exceptions import TableError
from certus.linear_model import LinearRegression, Ridge
from certus.sources import arrow_rows, encoding
from tests.sources.tables_on_disk import arrays, numbers, whole, write


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)


def with_text(n=900, dictionary=False):
    rng = np.random.default_rng(0)
    town = pa.array(np.array(["Ulm", "Köln", "Bonn", "Ahlen"])[rng.integers(0, 4, n)])
    return pa.table({
        "town": town.dictionary_encode() if dictionary else town, "x": rng.normal(size=n),
        "y": rng.normal(size=n),
    })  # fmt: skip


@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("dictionary", [False, True], ids=["text", "dictionary"])
@pytest.mark.parametrize("cache", [True, False], ids=["kept", "decoded in every pass"])
def test_categories_become_the_columns_of_scikit_learns_encoder(drop, dictionary, cache, tmp_path):
    table = with_text(dictionary=dictionary)
    path = write(table, tmp_path / "rows.parquet")
    encoder = OneHotEncoder(sparse_output=False, drop=drop)
    expected = encoder.fit_transform(table.select(["town"]).to_pandas().astype(str))
    rows = certus.open_rows(
        path, target="y", cache=cache, categories="one-hot" if drop is None else "drop-first"
    )
    assert rows.names == (*encoder.get_feature_names_out(["town"]), "x")
    assert rows.categories == {"town": encoder.categories_[0].tolist()}
    np.testing.assert_array_equal(whole(rows)[0][:, :-1], expected)
    np.testing.assert_allclose(rows.means[:-1], expected.mean(axis=0), rtol=1e-12)


def test_categories_that_differ_by_file_are_mapped_once_for_all(tmp_path):
    for i, towns in enumerate([["b", "c"], ["c", "a"], ["d", "d"]]):
        column = pa.array(towns).dictionary_encode()
        table = pa.table({"town": column, "y": ["u", "v"] if i else ["v", "w"]})
        write(table, tmp_path / f"part-{i}.parquet")
    rows = certus.open_rows(tmp_path, target="y")
    assert rows.names == ("town_a", "town_b", "town_c", "town_d")
    X, y, _ = whole(rows)
    assert X.argmax(axis=1).tolist() == [1, 2, 2, 0, 3, 3]
    assert rows.classes.tolist() == ["u", "v", "w"]
    assert y[:, 0].tolist() == [1, 2, 0, 1, 0, 1]


def test_a_model_knows_its_columns_by_name(tmp_path):
    rows = certus.open_rows(write(with_text(), tmp_path / "rows.parquet"), target="y")
    model = Ridge().fit(rows)
    assert model.feature_names_in_.tolist() == [
        "town_Ahlen", "town_Bonn", "town_Köln", "town_Ulm", "x",
    ]  # fmt: skip
    other = certus.open_rows(with_text(), columns=["x"], target="y")
    with pytest.raises(ValueError, match="town_Ahlen"):
        model.predict(other)


def test_categories_of_numbers_are_named_by_them():
    frame = pd.DataFrame({"k": pd.Categorical([30, 4, 30]), "x": [1.0, 2, 3]})
    rows = certus.open_rows(frame)
    assert rows.names == ("k_4", "k_30", "x")
    np.testing.assert_array_equal(rows.read(0, 3).X[:, :2], [[0, 1], [1, 0], [0, 1]])


def test_too_many_categories_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(encoding, "MAX_CATEGORIES", 20)
    monkeypatch.setattr(encoding, "MAX_CLASSES", 20)
    text = pa.array([f"user {i}" for i in range(5000)])
    table = pa.table({"id": text, "x": np.arange(5000.0)})
    words = "column 'id' has more than 20 different values"
    for column in (text, text.dictionary_encode()):
        with pytest.raises(TableError, match=f"{words}: each would be a column of X; leave"):
            certus.open_rows(table.set_column(0, "id", column))
    with pytest.raises(TableError, match=f"{words}: is it a target"):
        certus.open_rows(table, target="id")
    assert certus.open_rows(table, columns=["x"]).shape == (5000, 1)


def test_an_indicator_never_has_the_name_of_another_column():
    table = pa.table({"a": ["x", "y"], "a_x": [1.0, 2.0]})
    with pytest.raises(TableError, match="two columns of X would be named 'a_x': rename"):
        certus.open_rows(table)
    with pytest.raises(TableError, match="no columns left for X: each text has one category"):
        certus.open_rows(pa.table({"a": ["x", "x"]}), categories="drop-first")


def test_missing_text_is_refused_with_its_row():
    table = pa.table({"a": ["x", None, "y"], "x": [1.0, 2, 3], "y": ["u", "v", None]})
    for missing in (True, False):
        with pytest.raises(TableError, match=r"column 'a' has a missing value \(row 1 of the T"):
            certus.open_rows(table, columns=["a", "x"], missing=missing)
    with pytest.raises(TableError, match=r"the target, column 'y', has a missing value .row 2"):
        certus.open_rows(table, columns=["x"], target="y")


def labelled(y):
    return pa.table({"x": np.arange(float(len(y))), "y": y})


def test_text_and_truth_values_are_classes():
    rows = certus.open_rows(labelled(["b", "a", "b"]), target="y")
    assert rows.classes.tolist() == ["a", "b"]
    assert rows.read(0, 3).y[:, 0].tolist() == [1, 0, 1]
    rows = certus.open_rows(labelled([True, False, True]), target="y")
    assert rows.classes.tolist() == [False, True]
    assert rows.classes.dtype == bool


def test_whole_numbers_are_numbers_and_may_be_classes():
    rows = certus.open_rows(labelled([7, 3, 7]), target="y")
    assert rows.classes is None
    assert rows.distinct_targets.tolist() == [3, 7]
    assert rows.distinct_targets.dtype == np.int64
    assert LinearRegression().fit(rows).n_features_in_ == 1
    rows = certus.open_rows(labelled([7, 3, 7]), target="y", classes=True)
    assert rows.classes.tolist() == [3, 7]
    with pytest.raises(ValueError, match=r"holds labels .3, 7., and Ridge predicts numbers"):
        Ridge().fit(rows)
    rows = certus.open_rows(labelled([7, 3, 7]), target="y", classes=False)
    assert rows.classes is None
    assert rows.distinct_targets is None
    assert certus.open_rows(labelled(np.arange(2000)), target="y").distinct_targets is None


@pytest.mark.parametrize("y", [[0.5, 1.0], [2**53, 1]], ids=["fractions", "2^53"])
def test_fractions_and_huge_numbers_are_no_classes(y):
    assert certus.open_rows(labelled(y), target="y").distinct_targets is None
    with pytest.raises(TableError, match="classes=True, but column 'y' holds"):
        certus.open_rows(labelled(y), target="y", classes=True)


def test_what_contradicts_itself_is_refused():
    with pytest.raises(TableError, match="column 'y' holds text, and classes=False needs numbers"):
        certus.open_rows(labelled(["a", "b"]), target="y", classes=False)
    with pytest.raises(ValueError, match="classes=True, but there is no target"):
        certus.open_rows(labelled([1, 2]), classes=True)
    two = pa.table({"x": [1.0], "y": ["a"], "z": [1.0]})
    with pytest.raises(TableError, match=r"several targets must be numbers .'y' is not."):
        certus.open_rows(two, target=["y", "z"])
    for option in ({"classes": "some"}, {"cache": "no"}, {"categories": "dummy"}):
        with pytest.raises(ValueError, match=f"{next(iter(option))}="):
            certus.open_rows(two, **option)


@pytest.mark.parametrize("cache", [True, False], ids=["kept", "decoded in every pass"])
def test_a_weight_counts_as_it_does_with_arrays(cache, tmp_path):
    table = numbers()
    X, y, s = arrays(table)
    path = write(table, tmp_path / "rows.parquet")
    with certus.open_rows(path, target="y", weights="s", cache=cache) as rows:
        model = Ridge().fit(rows)
        expected = Ridge().fit(X, y, sample_weight=s)
        np.testing.assert_array_equal(np.ravel(model.coef_), expected.coef_)
        assert model.score(rows) == pytest.approx(expected.score(X, y, s), rel=1e-12)
        np.testing.assert_array_equal(np.ravel(model.predict(rows)), expected.predict(X))
        assert certus.verify(model, rows).status == expected.certificate_.status == "optimal"
