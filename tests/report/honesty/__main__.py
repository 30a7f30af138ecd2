"""Run all studies and print what they found."""

import argparse

import numpy as np
from joblib import Parallel, delayed

from tests.report.honesty import studies


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=20, help="tables of noise and of signal")
    parser.add_argument("--sets", type=int, default=100, help="tables for the coverage")
    args = parser.parse_args()
    pool = Parallel(n_jobs=args.jobs)
    for name, signal in (("noise", 0.0), ("planted signal", 0.6)):
        claims = pool(delayed(studies.claims_signal)(seed, signal) for seed in range(args.seeds))
        print(f"{name}: {sum(claims)} of {args.seeds} verdicts claim signal", flush=True)
    for name, study in (
        ("copy of the target: D-LEAK", studies.leak_is_named),
        ("several rows of a patient: D-GROUP", studies.groups_are_named),
    ):
        named = pool(delayed(study)(seed) for seed in range(args.seeds))
        print(f"{name} in {sum(named)} of {args.seeds} reports", flush=True)
    for case in studies.CASES:
        truth = studies.mean_score(case)
        found = pool(delayed(studies.interval_of)(case, seed) for seed in range(args.sets))
        low = np.array([m.interval.low for m in found])
        high = np.array([m.interval.high for m in found])
        covers = np.count_nonzero((low <= truth) & (truth <= high))
        mean = np.mean([m.value for m in found])
        print(
            f"{case.name}: true mean {truth:.3f}, mean of reports {mean:.3f}, mean width "
            f"{np.mean(high - low):.3f}, {covers} of {args.sets} intervals hold the truth",
            flush=True,
        )


if __name__ == "__main__":
    main()
