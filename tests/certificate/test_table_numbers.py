"""Numbers of estimates in tables: digits by their errors, units, long tables, papers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certus.linear_model import LinearRegression, LogisticRegression
from certus.text.cells import Precision, aligned, plain, pvalue
from certus.text.table import ResultTable


def value_of(text):
    return float(text.replace(",", ""))


@given(
    st.floats(-1e12, 1e12, allow_subnormal=False),
    st.floats(-12, 3).map(lambda power: 10**power),
)
def test_an_interval_never_collapses_onto_its_estimate(estimate, share):
    error = max(abs(estimate), 1e-8) * share
    row = [estimate - error, estimate, estimate + error]
    shown = Precision(("low", "coef", "high"), np.array([error])).cells([row])[0]
    assert value_of(shown[0]) < value_of(shown[1]) < value_of(shown[2])
    for text, exact in zip(shown, row, strict=True):
        assert abs(value_of(text) - exact) <= 0.006 * error + 1e-13 * abs(exact)


@given(st.floats(-300, 300), st.floats(-9, 4).map(lambda power: 10**power))
def test_an_interval_of_a_ratio_never_collapses(log_ratio, error):
    logs = np.clip([log_ratio - error, log_ratio, log_ratio + error], -600, 600)
    row = np.exp(logs).tolist()
    if not row[0] < row[1] < row[2]:
        return
    shown = Precision(("low", "ratio", "high"), np.diff(logs)[:1], ratio=True).cells([row])[0]
    assert value_of(shown[0]) < value_of(shown[1]) < value_of(shown[2])


def test_numbers_of_a_row_have_the_same_decimals():
    rows = Precision(("a", "b"), np.array([0.0123, 45.6, 6.3e-6])).cells(
        [[0.5, -0.0001], [8421.77, 0.0], [6.304e-4, 2.3789e-3]]
    )
    assert rows == [["0.5000", "-0.0001"], ["8,421.8", "0.0"], ["0.00063040", "0.00237890"]]


def test_a_row_without_an_error_has_its_numbers_as_they_are():
    rows = Precision(("a",), np.array([np.nan, 0.0, np.inf])).cells([[1.5], [2.0], [np.nan]])
    assert rows == [["1.5"], ["2"], ["–"]]


def test_small_pvalues_are_below_a_thousandth():
    assert [pvalue(p) for p in (0.0, 0.00099, 0.001, 0.049, 0.5, np.nan)] == [
        "< 0.001", "< 0.001", "0.0010", "0.0490", "0.500", "–",
    ]  # fmt: skip


def test_decimal_points_stand_below_each_other():
    cells = aligned(["1.5", "-1,234.25", "< 0.001", "7", "2.1e-10", "–"])
    assert len({len(cell) for cell in cells}) == 1
    assert len({cell.index(".") for cell in cells if "." in cell}) == 1
    assert plain(6.3012e-4) == "0.0006301"  # no exponent beside 0.0024


def test_long_tables_show_their_ends_and_say_how_to_get_the_rest():
    n = 7129
    table = ResultTable({"name": [f"gene {j}" for j in range(n)], "x": np.arange(n) / 7})
    lines = str(table).splitlines()
    assert len(lines) == 22
    assert lines[11] == "… 7,109 more rows; .to_pandas() has all"
    assert lines[10].startswith("gene 9 ")
    assert lines[12].startswith("gene 7119 ")
    assert table._repr_html_().count("<tr>") == 22
    assert table.to_html().count("<tr>") == 1 + n
    assert len(table.to_pandas()) == n
    assert "more rows" not in str(ResultTable({"x": np.arange(60.0)}, keys=0))


# --- of a model -----------------------------------------------------------------------------------


def logistic(seed=0, n=200):
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(20, 80, n), rng.integers(0, 2, n)
    y = rng.random(n) < 1 / (1 + np.exp(4 - 0.07 * age - 0.5 * sex))
    X = pd.DataFrame({"age": age, "sex": sex})
    return LogisticRegression(C=np.inf).fit(X, y).inference(X, y), X, y


@pytest.mark.parametrize("kind", ["wald", "lr"])
def test_the_odds_ratio_of_ten_years_is_that_of_age_in_decades(kind):
    found, X, y = logistic()
    decades = X.assign(age=X["age"] / 10)
    other = LogisticRegression(C=np.inf, tol=1e-12).fit(decades, y).inference(decades, y)
    ours = found.odds_ratios(kind=kind, per={"age": 10})
    expected = other.odds_ratios(kind=kind)
    for column in ("odds ratio", "low", "high", "p"):
        np.testing.assert_allclose(ours[column], expected[column], rtol=1e-5)
    assert list(ours["name"]) == ["age (per 10)", "sex"]
    ours, expected = found.summary(per={"age": 10}), other.summary()
    for column in ("coef", "std error", "z", "95 % low"):
        np.testing.assert_allclose(ours[column], expected[column], rtol=1e-5)


def test_units_of_no_column_and_units_that_are_no_number_are_refused():
    found = logistic()[0]
    with pytest.raises(ValueError, match=r"per has 'agee', which is no column.*'age', 'sex'"):
        found.summary(per={"agee": 10})
    for unit in (0, -1, np.nan, "ten"):
        with pytest.raises(ValueError, match="give a number above 0, such as 10"):
            found.odds_ratios(per={"age": unit})


def test_tables_for_papers_have_estimate_interval_and_p():
    found, X, y = logistic()
    X = X.rename(columns={"age": "a|g_e <b>&"})
    found = LogisticRegression(C=np.inf).fit(X, y).inference(X, y)
    table = found.odds_ratios()
    markdown = table.to_markdown().splitlines()
    head = [cell.strip() for cell in markdown[2].split("|")[1:-1]]
    assert head == ["name", "odds ratio", "95 % interval", "p"]
    assert r"a\|g\_e \<b>&" in markdown[4]
    assert r"\< 0.001" in markdown[4]
    latex = table.to_latex()
    assert r"a|g\_e \textless{}b\textgreater{}\& & " in latex
    assert "$< 0.001$" in latex
    assert latex.count(r"\\") == 3
    html = table.to_html()
    assert "a|g_e &lt;b&gt;&amp;" in html
    assert "<b>" not in html
    low, high = table["low"][0], table["high"][0]
    for text in (markdown[4], latex, html):
        assert f"{low:.4f} to {high:.4f}" in text
    assert f"{low:.3f} to {high:.3f}" in table.to_markdown(digits=2)
    with pytest.raises(ValueError, match="digits=0: give a whole number from 1 to 15"):
        table.to_markdown(digits=0)


def test_latex_has_minus_signs_and_powers():
    table = ResultTable({"name": ["a"], "x": [-1.5e-10], "y": [-2.5]}, notes=["x -3.5"])
    latex = table.to_latex()
    assert r"a & $-1.5 \times 10^{-10}$ & $-2.5$ \\" in latex
    assert r"x $-3.5$" in latex


def test_a_perfect_fit_is_printed():
    X = np.arange(8.0)[:, None]
    text = str(LinearRegression().fit(X, 2 * X[:, 0]).inference(X, 2 * X[:, 0]))
    assert max(map(len, text.splitlines())) <= 80
