"""Which presets fit: every structure is judged once, and read in the units of each preset.

The strength that is shown is the shortest number at which the table fits: 0.1 rather than 0.0997.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .judge import (
    Judgement,
    LossAndPenalty,
    Printed,
    at_strengths,
    enough_coefficients,
    judge,
    ranges_of,
    without_penalty,
)
from .objective import DesignMatrix, Objective
from .presets import PRESETS, Loss, Preset, RowFacts, Shape

MAX_NICE_DIGITS = 17
TIE_FACTOR = 100.0  # of the least share: what misses the optimum by more fits worse
ZERO_SHARE = 1e-13  # of the objective, which rounding may make
# by how much a strength may be rounded: where a table fits to its digits; where it does not, by
# whether it was printed in full or rounded for people
EXACT_RTOL, INEXACT_RTOL = 1e-9, (1e-4, 1e-3)
ROUNDED_RTOL = 1e-13  # of coefficients: half units above are those of rounded numbers
PENALTY_HANDICAP = 2.0  # of a structure with a penalty, as the nearest one
INEXACT_FACTOR = 10.0  # of the share that a table misses, at a shorter strength
INEXACT_SHARE = (ZERO_SHARE, 1e-7)  # the share that it may miss in any case


@dataclass(frozen=True, eq=False)
class PresetFit:
    """A preset that the table fits, with its strengths in the program's own units."""

    preset: Preset
    shape: Shape
    strengths: dict[str, float]
    ranges: dict[str, tuple[float, float]]
    judgement: Judgement

    @property
    def words(self) -> str:
        """The preset with its strengths: sklearn.Ridge(alpha=1)."""
        if not self.strengths:
            return self.preset.name
        given = ", ".join(f"{k}={v:.6g}" for k, v in self.strengths.items())
        return f"{self.preset.name}({given})"

    @property
    def n_digits(self) -> int:
        """Digits of all strengths together: the fewer, the likelier a person chose them."""
        return sum(
            len(repr(v).partition("e")[0].replace(".", "").strip("0"))
            for v in self.strengths.values()
        )


class Matcher:
    """Judges tables of one design; objectives are made once for each metric."""

    def __init__(self, design: DesignMatrix, losses: Sequence[Loss]):
        self.design, self.losses = design, tuple(losses)
        self._objectives: dict[tuple[Loss, bool, bool], Objective] = {}

    def objective(self, structure: LossAndPenalty) -> Objective:
        """Return the objective of a structure, without its penalty."""
        penalized = structure.intercept_penalized and self.design.intercept
        key = structure.loss, structure.standardized, penalized
        if key not in self._objectives:
            self._objectives[key] = Objective(self.design, *key)
        return self._objectives[key]

    def structure_of(self, preset: Preset, shape: Shape) -> LossAndPenalty:
        """Return what a preset minimises, in the shape of its penalty."""
        if shape == "none":
            return LossAndPenalty(preset.loss, "none")
        penalized = preset.intercept_penalized and self.design.intercept
        return LossAndPenalty(preset.loss, shape, preset.standardized, penalized)

    def facts(self, structure: LossAndPenalty, printed: Printed) -> RowFacts:
        """Return the units of strengths; working weights are those at the printed numbers."""
        plain = self.objective(LossAndPenalty(structure.loss, "none"))
        return self.design.facts(plain.working_weights(printed.values))

    def matches(self, presets: Sequence[Preset], printed: Printed, tol: float) -> "Matches":
        """Judge every structure of the presets."""
        presets = [one for one in presets if one.loss in self.losses]
        judged: dict[LossAndPenalty, Judgement] = {}
        for shapes in (("none",), ("l2", "l1"), ("elastic_net",)):
            for preset in presets:
                for shape in shapes:
                    if shape not in preset.shapes:
                        continue
                    structure = self.structure_of(preset, shape)
                    if structure in judged or _is_needless(structure, judged):
                        continue
                    if not enough_coefficients(structure, self.design, printed):
                        continue
                    free = judged.get(LossAndPenalty(structure.loss, "none"))
                    objective = self.objective(structure)
                    if free is not None and free.to_the_digits and shape != "none":
                        judged[structure] = without_penalty(structure, objective, free)
                    else:
                        judged[structure] = judge(structure, objective, printed)
        fitting = [
            replace(one, l_ranges=ranges_of(one)) for one in _fitting([*judged.values()], tol)
        ]
        fits = [
            fit
            for one in fitting
            for preset in presets
            for fit in self._in_units(preset, one, printed)
        ]
        fits.sort(key=lambda fit: (fit.shape != "none", fit.n_digits, len(fit.strengths)))
        fits = _each_preset_once(fits)
        plain = {fit.preset.loss for fit in fits if fit.shape == "none"}
        # where no penalty fits, so does every penalty that is weak enough
        weak = [fit for fit in fits if fit.strengths and fit.preset.loss in plain]
        weak.sort(key=lambda fit: PRESETS.index(fit.preset))
        fits = [fit for fit in fits if not (fit.strengths and fit.preset.loss in plain)]
        nearest = min(judged.values(), key=_distance, default=None)
        return Matches(tuple(fits), tuple(weak), nearest)

    def _in_units(self, preset: Preset, found: Judgement, printed: Printed) -> list[PresetFit]:
        shape = found.structure.shape
        if shape not in preset.shapes or self.structure_of(preset, shape) != found.structure:
            return []
        facts = self.facts(found.structure, printed)
        center = preset.values(found.l1, found.l2, facts)
        ends = [preset.values(*pair, facts) for pair in found.l_ranges]
        ranges = {
            name: (min([value, *(e[name] for e in ends)]), max([value, *(e[name] for e in ends)]))
            for name, value in center.items()
        }
        slack = EXACT_RTOL if found.to_the_digits else INEXACT_RTOL[_is_rounded(found)]
        nice = {name: shortest(*ranges[name], value, slack) for name, value in center.items()}
        if found.l1 + found.l2 and not self._still_fits(preset, found, printed, nice, facts):
            nice = center
        return [PresetFit(preset, shape, nice, ranges, found)]

    def _still_fits(
        self, preset: Preset, found: Judgement, printed: Printed, values: Mapping[str, float],
        facts: RowFacts,
    ) -> bool:  # fmt: skip
        return not _is_worse(
            at_strengths(found.structure, found.objective, printed, *preset.lambdas(values, facts)),
            found,
        )

    def at(self, fit: PresetFit, printed: Printed) -> Judgement:
        """Judge a preset at the strengths that are shown; at the estimate if those fit worse."""
        found = fit.judgement
        if not fit.strengths:
            return found
        facts = self.facts(found.structure, printed)
        l1, l2 = fit.preset.lambdas(fit.strengths, facts)
        again = at_strengths(found.structure, found.objective, printed, l1, l2)
        return found if _is_worse(again, found) else again

    def stated(self, preset: Preset, values: Mapping[str, float], printed: Printed) -> PresetFit:
        """Judge a preset at strengths that the user states."""
        facts = self.facts(LossAndPenalty(preset.loss, "none"), printed)
        l1, l2 = preset.lambdas(values, facts)
        both: Shape = "elastic_net" if l1 and l2 else "l1" if l1 else "l2" if l2 else "none"
        structure = self.structure_of(preset, both)
        found = at_strengths(structure, self.objective(structure), printed, l1, l2)
        return PresetFit(preset, both, dict(values), {}, found)


@dataclass(frozen=True, eq=False)
class Matches:
    """Presets that fit, the likeliest first, and the structure that is nearest."""

    fits: tuple[PresetFit, ...]
    weak: tuple[PresetFit, ...]  # whose penalty is too weak to show: none fits as well
    nearest: Judgement | None


def _is_rounded(found: Judgement) -> bool:
    """Return whether coefficients were rounded for people."""
    return bool((found.h > ROUNDED_RTOL * np.abs(found.printed)).all())


def _is_needless(structure: LossAndPenalty, judged: Mapping[LossAndPenalty, Judgement]) -> bool:
    """Return whether an elastic net can say nothing that its parts do not.

    So where no penalty fits; and where L1 or L2 alone fits numbers printed in full, of which the
    other part is then 0.
    """
    if structure.shape != "elastic_net":
        return False
    for other, one in judged.items():
        same = replace(other, shape="elastic_net") == structure
        fits = one.to_the_digits or (one.optimum is not None and one.share <= ZERO_SHARE)
        needless = other.shape == "none" or (same and not _is_rounded(one))
        if other.loss == structure.loss and fits and needless:
            return True
    return False


def _each_preset_once(fits: Sequence[PresetFit]) -> list[PresetFit]:
    """Return each preset at its shortest strengths, with the ranges of all its shapes."""
    found: dict[str, PresetFit] = {}
    for fit in fits:
        first = found.setdefault(fit.preset.name, fit)
        if first is not fit:
            ranges = {
                name: (min(low, fit.ranges[name][0]), max(high, fit.ranges[name][1]))
                for name, (low, high) in first.ranges.items()
            }
            found[fit.preset.name] = replace(first, ranges=ranges)
    return [*found.values()]


def _distance(found: Judgement) -> float:
    """Return by how much a structure is missed; one without a penalty is preferred."""
    return found.share * (1.0 if found.structure.shape == "none" else PENALTY_HANDICAP)


def _is_worse(again: Judgement, found: Judgement) -> bool:
    """Return whether the table fits less well than before, by more than rounding."""
    if again.optimum is None:
        return True
    if found.to_the_digits:
        return not again.to_the_digits
    least = INEXACT_SHARE[_is_rounded(found)]
    return again.share > max(INEXACT_FACTOR * found.share, least)


def _fitting(judged: list[Judgement], tol: float) -> list[Judgement]:
    """Return what fits to the digits printed; else what is optimal within ``tol``.

    Where an elastic net alone fits to the digits, its second strength may only make up for a solver
    that ended early: L1 or L2 alone, within ``tol``, is as likely.
    """
    exact = [one for one in judged if one.to_the_digits]
    near = [one for one in judged if one.optimum is not None and one.share <= tol]
    if exact:
        simpler = [one for one in near if one.structure.shape != "elastic_net"]
        alone = all(one.structure.shape == "elastic_net" for one in exact)
        return exact + (simpler if alone else [])
    least = min((one.share for one in near), default=0.0)
    return [one for one in near if one.share <= max(TIE_FACTOR * least, ZERO_SHARE)]


def shortest(low: float, high: float, value: float, slack: float = 1e-9) -> float:
    """Return the number with the fewest digits from low to high; ``slack``: as a share of it.

    >>> shortest(0.0993, 0.1004, 0.0998), shortest(4.9, 5.2, 5.05)
    (0.1, 5.0)
    """
    slack = slack * abs(value)
    for digits in range(1, MAX_NICE_DIGITS + 1):
        rounded = float(f"{value:.{digits - 1}e}")
        if low - slack <= rounded <= high + slack:
            return rounded
    return value
