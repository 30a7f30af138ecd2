"""Every estimator of the table of laws, fitted once."""

import warnings

from tests.contract.families.machines import OTHERS
from tests.contract.laws import ANSWERS, ESTIMATORS

SEED = 3
CASES = [*ESTIMATORS, *(case for case in ANSWERS if case not in OTHERS)]


def fitted(case):
    """A fitted model of the table, with its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case in ESTIMATORS:
            X, y, _ = case.draw(SEED)
            return case.make().fit(X, y), X, y
        sample = case.draw(SEED)
        return case.fit(sample)[0], sample.X, sample.y
