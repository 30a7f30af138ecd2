"""The page in a browser: silent, accessible, within its width, and right at every threshold."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certus.reporting.render import html, thresholds, what_if
from certus.reporting.render.numbers import cell, digits3, integer, share
from tests.report.render.browser import SIZES, axe, launched, opened
from tests.report.render.cases import CONTENTS

OPEN_ALL = "document.querySelectorAll('details').forEach(d => { d.open = true })"
LOOKS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]
CONTRASTS = [("desk", "light"), ("telephone", "dark")]  # where axe-core runs on every page
OUTSIDE = """
[...document.querySelectorAll('svg')].filter(s => s.checkVisibility()).flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => {
    const b = t.getBoundingClientRect();
    return b.left < box.left - 0.5 || b.right > box.right + 0.5
      || b.top < box.top - 0.5 || b.bottom > box.bottom + 0.5;
  }).map(t => svg.id + ': ' + t.textContent);
})
"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for number, (name, make) in enumerate(CONTENTS.items()):
        found[name] = folder / f"page-{number}.html"
        found[name].write_text(html.render(make()), encoding="utf-8")
    return found


@pytest.mark.parametrize("name", CONTENTS)
def test_the_page_is_silent_accessible_and_within_its_width(browser, pages, name):
    for size, scheme in LOOKS:
        where = f"{name}, {size}, {scheme}"
        with opened(browser, pages[name], size, scheme) as found:
            found.page.evaluate(OPEN_ALL)
            assert found.page.evaluate(TOO_WIDE) <= 0, where
            assert found.page.evaluate(OUTSIDE) == [], where
            assert not found.messages, where
            assert [url for url in found.requests if not url.startswith("file:")] == []
            assert len(found.requests) == 1, where
            if name != "two classes" and (size, scheme) not in CONTRASTS:
                continue
            found.page.evaluate(axe())
            checked = found.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            wrong = [
                f"{v['id']}: {v['nodes'][0]['html'][:200]} {v['nodes'][0]['failureSummary']}"
                for v in checked["violations"]
            ]
            assert not wrong, where


@pytest.mark.parametrize("size", SIZES)
def test_the_first_screen_holds_the_answer(browser, pages, size):
    for name in ("two classes", "classes", "numbers", "structure"):
        with opened(browser, pages[name], size) as found:
            parts = [".headline", "#certificate-box", "#problems-box"]
            parts += [".scores .baseline"] if name != "structure" else []
            for part in parts:
                box = found.page.locator(part).bounding_box()
                assert box["y"] + box["height"] <= SIZES[size][1], f"{name}, {size}: {part}"
            certificate = found.page.locator("#certificate-box").inner_text()
            assert "useful" not in certificate.lower()


def text_of(page: Any, name: str) -> str:
    return str(page.locator(f'[data-now="{name}"]').first.inner_text())


def test_the_slider_shows_what_python_computes_at_every_threshold(browser, pages):
    counts = CONTENTS["two classes"]().measures.counts
    with opened(browser, pages["two classes"]) as found:
        page = found.page
        slider = page.locator("#threshold")
        slider.focus()
        moves = ["", *["ArrowRight"] * 3, "PageUp", "Home", *["PageUp"] * 3, "End", "ArrowLeft"]
        seen = set()
        for key in moves:
            if key:
                page.keyboard.press(key)
            k = int(slider.input_value())
            now = thresholds.at(counts, k)
            seen.add(k)
            assert slider.get_attribute("aria-valuetext") == digits3(now.threshold)
            assert page.locator("#threshold-value").inner_text() == digits3(now.threshold)
            expected = {
                "tp": integer(now.tp), "fp": integer(now.fp), "fn": integer(now.fn),
                "tn": integer(now.tn), "sensitivity": cell(now.sensitivity, "share"),
                "specificity": cell(now.specificity, "share"),
                "precision": cell(now.precision, "share"), "f": cell(now.f_measure),
                "g": cell(now.g_mean), "benefit": cell(now.net_benefit),
                "cost": cell(now.cost(counts.cost_false_positive, counts.cost_false_negative)),
                "flagged-part": integer(now.tp + now.fp),
                "precision-whole": integer(now.tp + now.fp),
            }  # fmt: skip
            assert {name: text_of(page, name) for name in expected} == expected
        assert len(seen) >= 5
        assert not found.messages


def test_numbers_of_the_script_are_those_of_the_formatter_at_all_thresholds(browser, pages):
    counts = CONTENTS["two classes"]().measures.counts
    script = """() => {
      const slider = document.getElementById('threshold'), rows = [];
      for (let k = 0; k <= Number(slider.max); k += 1) {
        slider.value = k;
        slider.dispatchEvent(new Event('input'));
        rows.push(['sensitivity', 'specificity', 'precision', 'f', 'g', 'benefit'].map(
          (name) => document.querySelector('[data-now="' + name + '"]').textContent));
      }
      return rows;
    }"""
    with opened(browser, pages["two classes"]) as found:
        rows = found.page.evaluate(script)
    for now, row in zip(thresholds.all_of(counts), rows, strict=True):
        shares = [cell(v, "share") for v in (now.sensitivity, now.specificity, now.precision)]
        assert row == [*shares, cell(now.f_measure), cell(now.g_mean), cell(now.net_benefit)]


def test_the_formatter_of_the_script_is_the_one_of_the_page(browser, pages):
    script = html.asset("page.js")
    inside = script[script.index("const trim") : script.index("const ratio")]
    rng = np.random.default_rng(0)
    shares = [*rng.random(300), *(k / 200 for k in range(201)), *(k / 64 for k in range(65)), 1e-5]
    values = [*rng.normal(size=200) * 10.0 ** rng.integers(-8, 9, size=200), 0.0, 1245.0, 99950.0]
    values += [k / 8 for k in range(-9, 2000, 7)]
    code = f"([a, b]) => {{ {inside}; return [a.map(share), b.map(digits3)] }}"
    with opened(browser, pages["structure"]) as found:
        made = found.page.evaluate(code, [list(map(float, shares)), list(map(float, values))])
    assert made[0] == [share(x) for x in shares]
    assert made[1] == [digits3(x) for x in values]


def test_the_marker_moves_along_the_curves(browser, pages):
    counts = CONTENTS["two classes"]().measures.counts
    with opened(browser, pages["two classes"]) as found:
        found.page.locator("#threshold").focus()
        before = found.page.locator("#chart-roc .marker").get_attribute("transform")
        assert before
        found.page.keyboard.press("Home")
        for chart in ("roc", "pr", "calibration", "decision"):
            assert found.page.locator(f"#chart-{chart} .marker").get_attribute("transform")
        roc = found.page.locator("#chart-roc .marker")
        assert roc.get_attribute("transform") != before
        a, b, _, _ = map(float, roc.get_attribute("data-x").split())
        first = thresholds.at(counts, 0)
        x = float(roc.get_attribute("transform").split("(")[1].split()[0])
        assert abs(x - (a + b * (1 - first.specificity))) < 0.2


@pytest.mark.parametrize("name", ["two classes", "classes", "numbers"])
def test_what_if_gives_what_the_formula_gives(browser, pages, name):
    model = CONTENTS[name]().what_if
    write = digits3 if model.link == "identity" else share
    with opened(browser, pages[name]) as found:
        page = found.page
        for key in ("Home", "ArrowRight", "End"):
            for slider in page.locator("[data-slider]").all():
                slider.focus()
                page.keyboard.press(key)
            at = [int(s.input_value()) for s in page.locator("[data-slider]").all()]
            for k, answer in enumerate(what_if.answers(model, at)):
                assert page.locator(f'[data-answer="{k}"]').inner_text() == write(answer.value)
                if answer.interval is not None:
                    low = page.locator(f'[data-low="{k}"]').inner_text()
                    assert low == write(answer.interval.low)
            label = model.sliders[0].labels[at[0]]
            assert page.locator("#slider-0-value").inner_text() == label
        assert not found.messages


@pytest.mark.parametrize("name", ["two classes", "script"])
def test_without_javascript_everything_but_the_sliders_is_there(browser, pages, name):
    with opened(browser, pages[name], script=False) as found:
        page = found.page
        for part in (".headline", "#certificate-box", ".confusion", "#chart-roc", "#problems"):
            assert page.locator(part).first.is_visible(), part
        assert not page.locator("#threshold").is_visible()
        assert not page.locator("#copy").is_visible()
        assert page.locator(".script-missing").is_visible()
        page.locator("summary").first.click()
        assert page.locator(".what > div").first.is_visible()


def test_print_opens_every_section_and_closes_it_again(browser, pages):
    with opened(browser, pages["two classes"]) as found:
        page = found.page
        assert page.locator("details[open]").count() == 0
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details[open]").count() == 0
        assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_the_snippet_is_copied(browser, pages):
    with opened(browser, pages["two classes"]) as found:
        found.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        found.page.locator("#copy").click()
        found.page.locator("#copied", has_text="Copied").wait_for()
        copied = found.page.evaluate("navigator.clipboard.readText()")
        assert copied == CONTENTS["two classes"]().reproduction.snippet


def test_text_at_twice_its_size_stays_within_the_width(browser, pages):
    with opened(browser, pages["two classes"]) as found:
        found.page.set_viewport_size({"width": 640, "height": 400})  # 1280 at 200 %
        found.page.evaluate(OPEN_ALL)
        assert found.page.evaluate(TOO_WIDE) <= 0
