"""python -m benchmarks SUITE: run a suite, print its tables, and store the numbers."""

import argparse
import json
import os
import sys
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.generators import DATA_FILE, rows_of_a_file
from benchmarks.harness import Options
from benchmarks.measure import machine, version_of
from benchmarks.outofcore_rows import GIGABYTES
from benchmarks.suites import load_suite, suite_names
from benchmarks.table import markdown_text, progress_line, terminal_text, write_between_markers

LIBRARIES = {"numpy": "numpy", "scipy": "scipy", "numba": "numba"}  # what contestants stand on


def main(arguments=None):
    options = parser().parse_args(arguments)
    if options.data:
        os.environ[DATA_FILE] = options.data  # which the processes of the rows inherit
    if options.gigabytes:
        os.environ[GIGABYTES] = str(options.gigabytes)
    suite = selected(load_suite(options.suite), options)
    if not suite.rows:
        print(f"no row of {suite.name} matches {options.rows!r}", file=sys.stderr)
        return 1
    report = run(suite, options)
    print(terminal_text(report))
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
    if options.markdown:
        write_between_markers(options.markdown, suite.name, markdown_text(report))
    return 0


def parser():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=suite_names())
    parser.add_argument("--rows", metavar="PATTERN", default="*", help="rows containing PATTERN")
    parser.add_argument("--libraries", metavar="A,B", help="only these, the first in the ratios")
    parser.add_argument("--quick", action="store_true", help="divide sizes by ten")
    parser.add_argument("--repeats", type=int, default=5, help="rounds per row (default 5)")
    parser.add_argument(
        "--budget", type=float, default=20.0, help="seconds per library and row (default 20)"
    )
    parser.add_argument("--no-cold-start", action="store_true", help="leave that column empty")
    parser.add_argument("--no-memory", action="store_true", help="leave that column empty")
    parser.add_argument("--data", metavar="FILE", help="numbers for the rows that take a file")
    parser.add_argument("--gigabytes", type=float, metavar="G", help="size of outofcore's file")
    parser.add_argument("--json", metavar="FILE", help="write all raw numbers")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables between its markers")
    return parser


def selected(suite, options):
    """The suite with the rows, sizes and libraries that were asked for."""
    rows = [row for row in suite.rows if fnmatch(row.name.lower(), f"*{options.rows.lower()}*")]
    if not options.data:
        rows = [row for row in rows if row.facts()["generator"] != rows_of_a_file.__name__]
    if options.quick:
        rows = [row.divided_by_ten() for row in rows]
    contestants = suite.contestants
    if options.libraries:
        by_name = {contestant.name: contestant for contestant in contestants}
        contestants = tuple(by_name[name] for name in options.libraries.split(","))
    return replace(suite, rows=tuple(rows), contestants=contestants)


def run(suite, options):
    """Everything that is stored: machine, versions, and one result per row."""
    how_much = Options(
        repeats=options.repeats,
        budget=options.budget,
        cold_start=not options.no_cold_start,
        memory=not options.no_memory,
    )
    results = []
    for result in suite.run(how_much):
        print(progress_line(result), file=sys.stderr, flush=True)
        results.append(result)
    libraries = {c.package: version_of(c.distribution, c.package) for c in suite.contestants}
    libraries |= {name: version_of(name, package) for name, package in LIBRARIES.items()}
    return {
        "suite": suite.name,
        "quick": options.quick,
        "repeats": options.repeats,
        "budget_seconds": options.budget,
        "machine": machine(),
        "versions": libraries,
        "results": results,
    }


if __name__ == "__main__":
    sys.exit(main())
