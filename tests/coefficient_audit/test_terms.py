"""Terms are rebuilt as the programs built them."""

import numpy as np
import pandas as pd
import pytest

from certus.coefficient_audit.table.columns import data_columns
from certus.coefficient_audit.table.terms import TermReader
from certus.exceptions import TableError

FRAME = pd.DataFrame(
    {
        "x": [1.0, 2.0, 4.0, 8.0],
        "Sepal.Length": [0.5, 1.5, 2.5, 3.5],
        "two words": [1.0, 0.0, 3.0, 2.0],
        "cyl": [4, 6, 8, 4],
        "species": ["Adelie", "Gentoo", "Chinstrap", "Gentoo"],
        "smoker": [True, False, True, True],
        "a:b": ["u", "v:w", "u", "u"],
    }
)
x, gentoo = FRAME["x"].to_numpy(), (FRAME["species"] == "Gentoo").to_numpy(float)
smoker = FRAME["smoker"].to_numpy(float)


def values(term, level=""):
    return TermReader(data_columns(FRAME, [term])).read(term, level).values


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("x", x), ("`x`", x), ("Sepal.Length", FRAME["Sepal.Length"]), ("X", x),
        ("`two words`", FRAME["two words"]), ("two words", FRAME["two words"]),
        ("speciesGentoo", gentoo), ("species_Gentoo", gentoo), ("species=Gentoo", gentoo),
        ("C(species)[T.Gentoo]", gentoo), ("species[T.Gentoo]", gentoo), ("species.Gentoo", gentoo),
        ("C(species, Treatment('Adelie'))[T.Gentoo]", gentoo), ("factor(species)Gentoo", gentoo),
        ("smokerTRUE", smoker), ("smoker[T.True]", smoker), ("smoker", smoker),
        ("factor(cyl)6", [0, 1, 0, 0]), ("C(cyl)[T.8]", [0, 0, 1, 0]), ("cyl6", [0, 1, 0, 0]),
        ("I(x^2)", x**2), ("I(x ** 2)", x**2), ("x^2", x**2), ("log(x)", np.log(x)),
        ("np.log(x + 1)", np.log(x + 1)), ("I(x/`two words` + 2*x)", None),
        ("sqrt(x)", np.sqrt(x)), ("exp(-x/2)", np.exp(-x / 2)), ("I(-(x - 1)^2)", -((x - 1) ** 2)),
        ("x:speciesGentoo", x * gentoo), ("speciesGentoo:x:smokerTRUE", x * gentoo * smoker),
        ("x*smoker", x * smoker), ("log(x):C(species)[T.Gentoo]", np.log(x) * gentoo),
        ("a:bv:w", [0, 1, 0, 0]), ("x:a:bv:w", [0, 2, 0, 0]),
        ("scale(x)", (x - x.mean()) / x.std(ddof=1)),
    ],
)  # fmt: skip
def test_a_term_is_the_column_that_its_name_says(term, expected):
    if expected is None:
        with pytest.raises(TableError, match="not finite in row 1"):
            values(term)
        return
    np.testing.assert_allclose(values(term), np.asarray(expected, dtype=float), rtol=1e-14)


def test_a_level_beside_a_parameter_is_that_of_the_factor():
    np.testing.assert_array_equal(values("SPECIES", "Gentoo"), gentoo)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("speciesGento", "Did you mean 'speciesGentoo'?"),
        ("poly(x, 2)1", "the term 'poly(x, 2)1' cannot be rebuilt"),
        ("splines::ns(x, df = 3)2", "give its columns as columns of X"),
        ("s(x).1", "cannot be rebuilt"),
        ("species", "column 'species' holds text"),
        ("C(species)[T.Emperor]", "No level of 'species' 'Emperor'"),
        ("I(x^)", "cannot be rebuilt"),
        ("log(z)", "No column 'z' in the term 'log(z)'"),
        ("log(`two words`)", "not finite in row 1"),
    ],
)
def test_what_cannot_be_rebuilt_is_named_with_the_remedy(term, message):
    with pytest.raises(TableError) as refusal:
        values(term)
    assert message in str(refusal.value)


def test_a_term_that_means_two_things_is_refused():
    frame = pd.DataFrame({"a": ["b_c", "d"], "a_b": ["c", "d"]})
    with pytest.raises(TableError, match="may be level 'b_c' of 'a', level 'c' of 'a_b'"):
        TermReader(data_columns(frame, ["a_b_c"])).read("a_b_c")


def test_columns_of_an_array_are_counted_as_the_terms_count_them():
    X = np.arange(6.0).reshape(3, 2)
    assert data_columns(X, ["const", "x1", "x2"]).names == ["x1", "x2"]
    assert data_columns(X, ["x0", "x1"]).names == ["x0", "x1"]
