"""Right tables raise no alarm: fits of eleven kinds by others' code, rounded to 4 to 15 digits."""

import pytest

from certus.exceptions import TableError
from tests.references.right_models import KINDS, right_model

SEEDS = 500


def require_no_alarm(seed):
    model = right_model(seed)
    if not any(float(value) for value in list(model.table.values())[1:]):
        with pytest.raises(TableError, match="every coefficient but the intercept is 0"):
            model.audit()
        return
    audit = model.audit()
    assert audit.holds, (seed, model.kind, audit.verdict)
    fits = [fit for fit in (*audit.fits, *audit.weak) if fit.name == model.preset]
    assert fits, (seed, model.kind)
    assert any(
        all(
            fit.ranges[key][0] * (1 - 1e-6) <= value <= fit.ranges[key][1] * (1 + 1e-6)
            or fit.strengths[key] == pytest.approx(value, rel=1e-3, abs=1e-3)
            for key, value in model.strengths.items()
        )
        for fit in fits
    ), (seed, model.kind)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_right_model_of_each_kind_is_no_alarm(kind):
    require_no_alarm(kind)


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(len(KINDS), SEEDS, 50))
def test_none_of_500_right_models_is_an_alarm(start):
    for seed in range(start, min(start + 50, SEEDS)):
        require_no_alarm(seed)
