"""What a certificate says, in words, in HTML and on an ASCII terminal."""

import io
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers

import certus
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.text.format import number, printable, small
from tests.contract.problems import regression, unequal_scales, weights

# --- words ----------------------------------------------------------------------------------------


def test_a_certified_fit_in_words():
    X, y, _ = regression(1)
    c = LinearRegression().fit(pd.DataFrame(X, columns=list("abcd")), y).certificate_
    text = c.explain()
    assert text.splitlines()[0] == "[OK] OPTIMAL   LinearRegression, 60 rows × 4 columns"
    for line in (
        "Minimised      Σ (yᵢ − xᵢᵀw − b)²",
        "Objective      ",
        "Gap            at most ",
        "Coefficients   none is more than ",
        "Rank           4 of 4 columns",
        "Checked by     certus.proofs.least_squares.least_squares, from the data; "
        "the solver was not asked",
        "Does not say   that the model is true, the data sound, or that it predicts well",
    ):
        assert f"\n{line}" in text
    assert "of what the intercept alone leaves" in text
    assert repr(c).startswith("Certificate(optimal: objective ")
    assert repr(c).endswith(" above the best possible)")


@pytest.mark.parametrize(
    ("model", "weighted", "formula"),
    [
        (LinearRegression(), False, "Σ (yᵢ − xᵢᵀw − b)²"),
        (LinearRegression(), True, "Σ sᵢ(yᵢ − xᵢᵀw − b)²"),
        (LinearRegression(positive=True), False, "Σ (yᵢ − xᵢᵀw − b)² over w ≥ 0"),
        (Ridge(), False, "Σ (yᵢ − xᵢᵀw − b)² + α‖w‖²"),
        (Ridge(positive=True), True, "Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖² over w ≥ 0"),
        (RidgeCV(), False, "Σ (yᵢ − xᵢᵀw − b)² + α‖w‖²"),
    ],
    ids=lambda v: repr(v)[:30],
)
def test_the_formula_is_that_of_the_fit(model, weighted, formula):
    X, y, _ = regression(1, signs=False)
    s = weights(1, len(X)) if weighted else None
    assert model.fit(X, y, s).certificate_.formula == formula


def test_the_numbers_in_words_are_those_of_the_certificate():
    X, y, _ = regression(1)
    c = LinearRegression().fit(X, y).certificate_
    text = c.explain()
    assert number(c.objective, 7) in text
    assert small(c.gap) in text
    assert small(c.residual) in text
    assert small(c.coef_error) in text
    r_squared = 1 - c.objective / ((y - y.mean()) ** 2).sum()
    assert f"(R² {number(r_squared, 4)})" in text


def test_a_gap_is_rounded_up_in_words():
    for x in (1.0, 1.01, 2.31e-10, 9.99e-7, 9.5, 123.4, 0.05, 3e-300):
        assert float(small(x).replace(",", "")) >= x * (1 - 1e-12)
    assert [small(x) for x in (2.31e-10, 9.5, 123.4, 0.0)] == ["3e-10", "10", "200", "0"]


def test_one_sentence_for_a_methods_section():
    X, y, _ = regression(1)
    c = Ridge().fit(X, y).certificate_
    note = c.note()
    assert "\n" not in note
    assert note.startswith("Ridge (60 rows, 4 columns) minimises Σ (yᵢ − xᵢᵀw − b)² + α‖w‖²;")
    assert certus.__version__ in note
    assert note.endswith(".")
    wrong = peers.Ridge().fit(X, y)
    wrong.coef_ = wrong.coef_ * 1.1
    assert certus.verify(wrong, X, y).note().startswith("Not certified: ")


@pytest.mark.parametrize("rows", [1, 2])
def test_one_row_is_not_one_rows(rows):
    text = Ridge().fit(np.ones((rows, 1)), np.ones(rows)).certificate_.explain()
    assert text.splitlines()[0].endswith("1 row × 1 column" if rows == 1 else "2 rows × 1 column")


def contradicted():
    X, y, _ = regression(1)
    model = LinearRegression().fit(X, y)
    model.rank_ = 3
    return certus.verify(model, X, y)


def test_a_contradicted_attribute_is_named():
    c = contradicted()
    assert c.status == "contradicted"
    assert repr(c) == "Certificate(contradicted: rank_ is 3, the data have rank 4)"
    assert "[!!] CONTRADICTED   LinearRegression" in c.explain()
    assert "What is wrong  rank_ is 3, the data have rank 4" in c.explain()
    assert "OPTIMAL" not in c.explain().splitlines()[0]


def test_the_wrong_intercept_is_named_as_what_is_wrong():
    X, y, _ = regression(1)
    model = peers.LinearRegression().fit(X, y)
    model.intercept_ = model.intercept_ + 3
    assert "the intercept: the residuals do not sum to 0" in certus.verify(model, X, y).explain()


def test_an_uncertified_fit_says_by_how_much(patch_everywhere):
    from certus.solvers.least_squares.least_squares import solve

    patch_everywhere(solve, new=lambda *a, **k: solve(*a, **k)._replace(w=solve(*a, **k).w * 1.2))
    X, y, _ = regression(1)
    with pytest.warns(NotCertifiedWarning) as caught:
        model = Ridge().fit(X, y)
    text = str(caught[0].message)
    c = model.certificate_
    assert text.startswith(f"Ridge is not certified: objective {number(c.objective, 7)}")
    assert f"at least {number(c.bound, 7)}" in text
    assert "% too high" in text
    assert issubclass(NotCertifiedWarning, __import__("sklearn").exceptions.ConvergenceWarning)


# --- HTML -----------------------------------------------------------------------------------------


class WellFormed(HTMLParser):
    """Every tag that opens closes, in order. Keeps the text and which tags there are."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.tags = [], "", set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def certificates():
    X, y = unequal_scales()
    evil = X.rename(columns={"dose": "<script>alert('&')</script>"})
    yield "optimal", LinearRegression().fit(X, y).certificate_
    yield "weighted ridge", Ridge().fit(X, y, np.ones(len(X))).certificate_
    yield "not optimal", certus.verify(peers.LinearRegression().fit(evil, y), evil, y)
    yield "contradicted", contradicted()
    yield "other rows", certus.verify(Ridge().fit(X, y), X[:10], y[:10])


@pytest.mark.parametrize("name", [name for name, _ in certificates()])
def test_html_is_well_formed_and_escapes_what_people_wrote(name):
    c = dict(certificates())[name]
    shown = c._repr_html_()
    ET.fromstring(shown)  # as XML, which is stricter
    page = WellFormed(shown)
    assert "script" not in page.tags
    assert {"math", "details", "summary"} <= page.tags
    assert c.explain() in page.text
    icon = {"optimal": "✔ Optimal"}.get(c.status, f"✖ {c.status.capitalize()}")
    assert icon in page.text
    if name == "not optimal":
        assert "<script>alert('&')</script>" in page.text
    assert ("<msub><mi>s</mi>" in shown) == ("sᵢ" in c.formula)
    assert ("<mi>α</mi>" in shown) == ("α" in c.formula)


def test_html_sets_no_colour_that_a_dark_notebook_would_hide():
    shown = Ridge().fit(*regression(1)[:2]).certificate_._repr_html_()
    assert "color:inherit" in shown
    for literal in ("black", "white;", "#000", "#fff", "color:#"):
        assert literal not in shown


# --- ASCII ----------------------------------------------------------------------------------------


def terminal(monkeypatch, encoding):
    # not in a fixture: pytest puts its own back between a fixture and the test
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))


def test_every_text_can_be_printed_on_an_ascii_terminal(monkeypatch):
    terminal(monkeypatch, "ascii")
    for _, c in certificates():
        for text in (c.explain(), c.note(), repr(c)):
            text.encode("ascii")
            print(text)
            assert "?" not in text, "a character has no ASCII form"
    sys.stdout.flush()


def test_ascii_forms_are_readable(monkeypatch):
    terminal(monkeypatch, "ascii")
    assert printable("Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖²") == "sum s_i(y_i - x_i'w - b)^2 + alpha|w|^2"
    assert printable("3 rows × 4 columns, w ≥ 0") == "3 rows x 4 columns, w >= 0"


def test_a_terminal_that_can_show_the_equation_gets_it(monkeypatch):
    terminal(monkeypatch, "utf-8")
    assert printable("Σ sᵢ(yᵢ − xᵢᵀw − b)²") == "Σ sᵢ(yᵢ − xᵢᵀw − b)²"


def test_a_program_without_a_terminal_gets_the_equation(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert printable("Σ") == "Σ"
