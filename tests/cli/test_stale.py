"""``certus verify --stale``: new rows, periods and exit codes."""

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.cli.conftest import write_csv
from tests.house.source import REPOSITORY

FOLDER = REPOSITORY / "docs" / "schemas"
HEADER = ["age", "dose", "ill"]


def table(seed, effect, n=300):
    rng = np.random.default_rng(seed)
    age, dose = rng.integers(20, 80, n), rng.normal(10, 2, n).round(3)
    ill = (age - 50) / 20 + effect * (dose - 10) + rng.logistic(size=n) > 0
    return [
        [int(a), float(d), "yes" if i else "no"] for a, d, i in zip(age, dose, ill, strict=True)
    ]


@pytest.fixture
def fitted(certus, folder):
    write_csv(folder / "old.csv", HEADER, table(0, 0.5))
    write_csv(folder / "same.csv", HEADER, table(1, 0.5))
    rows = [[*row, "2026-01"] for row in table(2, 0.5)]
    rows += [[*row, "2026-02"] for row in table(3, -0.5)]
    write_csv(folder / "other.csv", [*HEADER, "month"], rows)
    assert certus("fit", "old.csv", "--target", "ill", "--out", "m.certus").code == 0
    return "m.certus"


def test_rows_like_those_of_the_fit_are_fresh(certus, fitted):
    ran = certus("verify", fitted, "same.csv", "--stale")
    assert ran.code == 0
    assert ran.out.startswith("[OK] NO SIGN OF DRIFT")
    assert "the old fit had 300" in " ".join(ran.out.split())


def test_drift_in_a_period_is_code_1(certus, fitted):
    ran = certus("verify", fitted, "other.csv", "--stale", "--by", "month")
    assert ran.code == 1
    assert ran.out.startswith("[!!] STALE")
    lines = [line.split() for line in ran.out.splitlines() if line.startswith("2026-")]
    assert [line[:2] for line in lines] == [["2026-01", "300"], ["2026-02", "300"]]
    assert lines[0][-4:] == ["no", "sign", "of", "drift"]
    assert lines[1][-1] == "stale"


def test_json_is_described_by_its_schema(certus, fitted):
    ran = certus("verify", fitted, "other.csv", "--stale", "--by", "month", "--json")
    document = json.loads(ran.out)
    resources = [
        (path.name, Resource.from_contents(json.loads(path.read_text("utf-8"))))
        for path in FOLDER.glob("*.json")
    ]
    schema = json.loads((FOLDER / "stale.json").read_text("utf-8"))
    Draft202012Validator(schema, registry=Registry().with_resources(resources)).validate(document)
    assert document["staleness"]["stale"]
    assert len(document["staleness"]["periods"]) == 2


def test_too_few_rows_are_code_3(certus, fitted, folder):
    write_csv(folder / "few.csv", HEADER, table(4, 0.5, n=20))
    ran = certus("verify", fitted, "few.csv", "--stale")
    assert ran.code == 3
    assert "20 rows, 30 are needed" in ran.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by", "month"], "--by month: proof or page, or with --stale a column of periods"),
        (["--n-old", "3"], "--n-old goes with --stale"),
        (["--stale", "--stream"], "--stale reads one table, in memory"),
        (["--stale", "--n-old", "0"], "n_old=0: give the number of rows"),
    ],
)
def test_options_that_do_not_go_together(certus, fitted, words, message):
    ran = certus("verify", fitted, "same.csv", *words)
    assert ran.code == (3 if "0" in words else 2)
    assert message in " ".join(ran.err.split())


def test_a_column_that_is_not_there_is_named(certus, fitted):
    ran = certus("verify", fitted, "same.csv", "--stale", "--by", "moon")
    assert ran.code != 0
    assert "moon" in ran.err
