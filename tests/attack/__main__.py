"""``python -m tests.attack --minutes 10``: attack every estimator until the time is over.

Earlier failures are tried first. The exit code is 1 if a certificate was false or an edit missed.
"""

import argparse
import dataclasses
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

from .campaign import Campaign, Case
from .regressions import CASES
from .targets import TARGETS
from .totals import Totals
from .trials import Outcome

PROGRESS = 30  # seconds


def main() -> int:
    how = _arguments()
    campaign, totals, started = Campaign(how.jobs, how.limit, how.edit_every), Totals(), time.time()
    spoken = started
    try:
        for outcome in campaign.outcomes(_cases(how), 60 * how.minutes):
            totals.add(outcome)
            _record(outcome, how.out)
            if time.time() - spoken > PROGRESS:
                spoken = time.time()
                print(f"{spoken - started:6.0f} s: {totals.total('trials'):,} trials", flush=True)
    finally:
        campaign.close()
    print(totals.table())
    print(", ".join(f"{status}: {n:,}" for status, n in totals.statuses.most_common()))
    print(f"{time.time() - started:.0f} s")
    return 1 if totals.total("false") or totals.total("missed") else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--trials", type=int, default=None, help="how many, besides earlier ones")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=list(TARGETS), help="one target")
    parser.add_argument("--generator", help="one kind of rows")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a trial may take")
    parser.add_argument(
        "--edit-every", type=int, default=4, help="edits after one trial in so many"
    )
    parser.add_argument("--out", type=Path, help="failures are appended here, a line of JSON each")
    how = parser.parse_args()
    if how.minutes == float("inf") and how.trials is None:
        parser.error("give --minutes or --trials")
    return how


def _cases(how: argparse.Namespace) -> Iterator[Case]:
    if how.only is None and how.seed == 0:
        yield from CASES
    seeds = itertools.count(how.seed)
    if how.trials is not None:
        seeds = iter(range(how.seed, how.seed + how.trials))
    for seed in seeds:
        yield seed, how.only, how.generator


def _record(o: Outcome, out: Path | None) -> None:
    late = o.status == "over the time limit"
    if not (o.faults or o.missed or o.crash or late):
        return
    kind = "FALSE" if o.faults else "MISSED" if o.missed else "CRASH" if o.crash else "TIME LIMIT"
    reasons = [str(f) for f in o.faults] or o.missed or [o.crash or o.status]
    print(f"{kind} seed {o.seed}: {' '.join(o.words.split())}: {'; '.join(reasons)}", flush=True)
    if out is not None:
        record = dataclasses.asdict(o)
        with out.open("a") as file:
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
