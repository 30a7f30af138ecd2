"""Tables as R, SAS, Spark and statsmodels write them."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from certus.coefficient_audit.table.read_table import read_coefficients
from certus.exceptions import TableError

FILES = {
    "broom": 'term,estimate,std.error,statistic\n(Intercept),0.50,0.1,5\n"x",-1.250,0.2,6\n',
    "statsmodels": "     ,   coef   , std err\nIntercept ,  0.50, 0.1\nx  , -1.250, 0.2\n",
    "glm.csv": '"","Estimate","Std. Error","z value"\n"(Intercept)",0.50,0.1,5\n"x",-1.250,0.2,6\n',
    "spark": "feature\tcoefficient\tse\n(Intercept)\t0.50\t0.1\nx\t-1.250\t0.2\n",
    "european": "Parameter;Estimate;StdErr\nIntercept;0,50;0,1\nx;-1,250;0,2\n",
    "headerless": "what,how much\nIntercept,0.50\nx,-1.250\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_keeps_every_digit(name, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(FILES[name], "utf-8")
    table = read_coefficients(path)
    assert table.terms[1] == "x"
    assert table.estimates.texts == ("0.50", "-1.250")
    if name != "headerless":
        assert table.errors.texts == ("0.1", "0.2")


def test_sas_prints_levels_beside_parameters_and_the_reference_with_zero(tmp_path):
    path = tmp_path / "sas.csv"
    path.write_text(
        "Parameter,Level1,DF,Estimate,StdErr\nIntercept,,1,0.5,0.1\nspecies,Adelie,1,1.25,0.2\n"
        "species,Gentoo,0,0,.\n",
        "utf-8",
    )
    table = read_coefficients(str(path))
    assert table.names == ("Intercept", "species Adelie")
    assert table.errors.texts == ("0.1", "0.2")


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d, pd.Series, lambda d: pd.DataFrame({"coef": pd.Series(d)}),
        lambda d: pl.DataFrame({"term": list(d), "estimate": list(d.values())}),
        lambda d: pa.table({"feature": list(d), "coefficient": list(d.values())}),
    ],
    ids=["mapping", "series", "frame with an index", "polars", "arrow"],
)  # fmt: skip
def test_frames_and_mappings_are_tables(make):
    table = read_coefficients(make({"const": 0.5, "x": -1.25}))
    assert table.terms == ("const", "x")
    assert table.estimates.values.tolist() == [0.5, -1.25]


def test_a_coefficient_that_r_gives_as_na_is_left_out_and_named():
    table = read_coefficients({"x": "1.5", "twin": "NA"})
    assert table.terms == ("x",)
    assert "'twin' has no estimate" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2,3\n", "no column of terms"),
        ("term,estimate\nx,abc\n", "row 1 of the table ('x') has the estimate 'abc'"),
        ("term,estimate\nx,1\nx,2\n", "two rows for 'x'"),
        ("term,estimate\nx,1,2\n", "line 2 has 3 fields"),
        ("term,step,estimate\nx,1,2\nx,2,2\n", "several penalties: column 'step'"),
        ("term,y.level,estimate\nx,b,2\nx,c,2\n", "several classes: column 'y.level'"),
        ("term,estimate\n", "no rows below its header"),
        ("x\n1\n", "one column"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(text, message, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(TableError) as refusal:
        read_coefficients(path)
    assert message in str(refusal.value)


def test_a_missing_file_and_a_wrong_type_are_refused(tmp_path):
    with pytest.raises(TableError, match="there is no file"):
        read_coefficients(tmp_path / "nothing.csv")
    with pytest.raises(TypeError, match="not list"):
        read_coefficients([1, 2])
