"""Runs scikit-learn's tests on the classes of certus: see the package's docstring."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import expected, modules, run, subset
from .outcome import Summary


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sklearn_suite", description=__doc__)
    parser.add_argument("modules", nargs="*", help="as in modules.py; all by default")
    parser.add_argument("--subset", action="store_true", help="the tests in subset.txt alone")
    parser.add_argument("--own", action="store_true", help="the models' own test modules alone")
    parser.add_argument("--record", type=Path, help="directory that keeps a line for each test")
    parser.add_argument("--quiet", action="store_true", help="no line for each module")
    parser.add_argument("--write-subset", action="store_true", help="choose subset.txt anew")
    options = parser.parse_args(arguments)

    if options.subset:
        only = subset.read()
        groups = [sorted({test.partition("::")[0] for test in only})]
    else:
        only = []
        groups = [
            [module] for module in options.modules or (modules.OWN if options.own else modules.ALL)
        ]

    summary = Summary()
    with tempfile.TemporaryDirectory() as scratch:
        for number, group in enumerate(groups):
            record = (options.record or Path(scratch)) / f"{number:03}.jsonl"
            record.parent.mkdir(parents=True, exist_ok=True)
            found = Summary.of(run.run(group, record, only), set(only))
            summary += found
            if not options.quiet:
                print(f"{', '.join(group)[:70]:70} {found.line()}", flush=True)
    if not (options.modules or options.own or options.subset):
        summary.unused = expected.unused(summary.failed)
    print(summary.report())
    if options.write_subset:
        subset.write(summary)
    return 1 if summary.unexpected or summary.absent or summary.unused else 0


if __name__ == "__main__":
    sys.exit(main())
