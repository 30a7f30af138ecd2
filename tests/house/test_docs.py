"""What the documentation says is executed, and its commands are the ones that CI runs."""

import doctest
import importlib.util
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from certus.linear_model import LinearRegression, Ridge

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_do_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a file
    found = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert found.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_exist(page):
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text("utf-8")):
        other = page if not target else page.parent / target
        headings = re.findall(r"^#+ (.*)$", other.read_text("utf-8"), re.M)
        assert anchor in [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_backticked_paths_exist(page):
    """A page that names a file of the repository names one that is there."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    paths = re.findall(r"`((?:src|tests|docs|examples|benchmarks|\.ci)/[\w./-]+)`", text)
    missing = [path for path in paths if "huber" not in path and not (ROOT / path).exists()]
    assert not missing


def readme_commands():
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [line for language, block in blocks if not language for line in block.splitlines()]


def test_readme_has_the_two_commands_and_no_other():
    assert readme_commands() == [
        'pip install ".[report]" && certus report --demo',
        'pip install ".[test]" && pytest',
    ]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the CI script is for bash")
def test_ci_runs_the_commands_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    line = next(line for line in script.splitlines() if line.startswith("mapfile"))
    read = subprocess.run(
        ["bash", "-c", f'{line}; printf "%s\\n" "${{commands[@]}}"'],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert read.stdout.splitlines() == readme_commands()
    assert 'step "${commands[0]}"' in script
    assert 'step "${commands[1]}' in script


def test_readme_says_what_a_certificate_is_about():
    assert "A certificate is about the arithmetic, not about your data." in (
        ROOT / "README.md"
    ).read_text("utf-8")


# --- the example by hand --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_hand():
    path = ROOT / "examples" / "least_squares_by_hand.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(path.read_text("utf-8").splitlines()) <= 80
    return module


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(7)
    x = rng.uniform(0, 10, size=50)
    return x, 3 + 0.5 * x + rng.normal(size=50)


def test_the_line_by_hand_is_the_estimators(by_hand, points):
    x, y = points
    model = LinearRegression().fit(x[:, None], y)
    np.testing.assert_allclose(by_hand.line(x, y), [model.intercept_, *model.coef_], rtol=1e-12)
    model = LinearRegression(fit_intercept=False).fit(x[:, None], y)
    np.testing.assert_allclose(by_hand.through_origin(x, y), model.coef_[0], rtol=1e-12)


@pytest.mark.parametrize("solve", ["normal_equations", "by_qr"])
def test_the_normal_equations_by_hand_are_the_estimators(by_hand, points, solve):
    x, y = points
    Phi = x[:, None] ** np.arange(4) / 10.0 ** np.arange(4)
    w = getattr(by_hand, solve)(Phi, y)
    model = LinearRegression().fit(Phi[:, 1:], y)
    np.testing.assert_allclose(w, [model.intercept_, *model.coef_], rtol=1e-8)
    assert np.abs(by_hand.gradient(Phi, y, w)).max() < 1e-9


def test_the_gradient_by_hand_is_the_slope(by_hand, points):
    x, y = points
    Phi, w, step = np.column_stack([np.ones(50), x]), np.array([1.0, 2.0]), 1e-6
    slope = [
        (np.sum((y - Phi @ (w + d)) ** 2) - np.sum((y - Phi @ (w - d)) ** 2)) / (2 * step)
        for d in step * np.eye(2)
    ]
    np.testing.assert_allclose(by_hand.gradient(Phi, y, w), slope, rtol=1e-6)


def test_ridge_by_hand_is_the_estimators(by_hand, points):
    x, y = points
    bumps = by_hand.gaussian_basis(x, np.linspace(0, 10, 60), 1.0)
    b, w = by_hand.ridge(bumps, y, 0.1)
    model = Ridge(alpha=0.1).fit(bumps, y)
    np.testing.assert_allclose(w, model.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(b, model.intercept_, rtol=1e-10)


def test_the_example_of_a_hierarchy_draws_its_tree(tmp_path, monkeypatch, capsys):
    picture = tmp_path / "wine.svg"
    monkeypatch.setattr("sys.argv", ["hierarchy.py", str(picture)])
    runpy.run_path(str(ROOT / "examples" / "hierarchy.py"), run_name="__main__")
    assert picture.read_text("utf-8").startswith("<svg")
    assert "flavanoids stands for" in capsys.readouterr().out


def test_the_example_of_optimisers_draws_them_by_passes(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for picture in pictures:
        monkeypatch.setattr("sys.argv", ["optimisers.py", str(picture), "--passes", "20"])
        runpy.run_path(str(ROOT / "examples" / "optimisers.py"), run_name="__main__")
    entries = re.findall(
        r"^(.+?) +(\S+) above the optimum after (\d+) passes$", capsys.readouterr().out, re.M
    )
    excess = {name: float(value) for name, value, _ in entries}
    assert len(excess) == 8
    assert excess["Newton"] < 1e-12 < excess["L-BFGS"] < excess["SAGA"] < excess["gradient descent"]
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
