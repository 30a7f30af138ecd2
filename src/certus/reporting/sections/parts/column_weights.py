"""Weights of columns in the distance of a neighbours model, chosen by NCFS.

    d(x, z) = Σ_l W_l |x_l − z_l|  in standardised columns

Selection frequency: NCFS is repeated on halves of the rows, drawn without replacement (as in
``certus.feature_selection.StabilitySelection``), of at most 200 rows each.
"""

import warnings
from typing import Any

import numpy as np

from ....audit.column_steps import column_steps
from ...content.model import SelectedColumn, WhatItUses
from ...content.phrases import count, listed
from ...content.values import Note
from ...prepared import Prepared
from ...procedure.encoding import target_of
from ...procedure.folds import strata_of
from ...procedure.result import ProcedureResult
from ...settings import Settings
from .linear import encoded

MAX_HALF, MIN_HALF = 200, 15  # rows
MAX_PAIR_VALUES = 2e7  # halves × columns × rows²: about 12 s
MAX_HALVES, MIN_HALVES = 30, 10
ALIKE = "Weights are relative to the largest, on standardised columns, and have no sign: they say "
MEANING = "how much a column counts in the distance between two rows, not in which direction."


def weights_of_columns(
    prepared: Prepared, settings: Settings, result: ProcedureResult
) -> WhatItUses | None:
    """The section of a model with weighted columns; None for other models."""
    W = _weights(result.model)
    if W is None:
        return None
    steps = column_steps([result.pipeline[:-1]], list(prepared.X.column_names))
    if steps is None or len(steps) != len(W):
        return None
    names = [str(step.name) for step in steps]
    largest = float(W.max(initial=0.0)) or 1.0
    by_column = {
        name: max(float(w) / largest for w, own in zip(W, names, strict=True) if own == name)
        for name in dict.fromkeys(names)
    }
    frequencies, n_halves = _frequencies(prepared, settings, result, names)
    found = [
        SelectedColumn(name, weight, frequencies.get(name, 0.0), n_halves)
        for name, weight in by_column.items()
    ]
    found = [one for one in found if one.weight or one.frequency]
    found.sort(key=lambda one: (-one.weight, -one.frequency))
    used = [f"'{one.column}'" for one in found if one.weight]
    text = (
        f"The distance uses {len(used):,} of {count(len(by_column), 'column')}: {listed(used, 8)}. "
        f"{ALIKE}{MEANING}"
    )
    notes = []
    if n_halves:
        text += f" Frequency: in how many of {n_halves} random halves of the rows NCFS selects it."
    else:
        notes.append(Note("No selection frequencies: NCFS on resamples would take too long."))
    return WhatItUses("weights", text, (), tuple(found), tuple(notes))


def _weights(model: Any) -> np.ndarray | None:
    """Weights of the encoded columns; None where there are none."""
    given = vars(model)
    if "weights_in_units_" in dir(model) and "support_" in dir(model):  # NCFS itself
        return np.where(model.support_, np.asarray(model.weights_in_units_, dtype=float), 0.0)
    params = given.get("metric_params") or {}
    w = params.get("w") if isinstance(params, dict) else None
    return None if w is None else np.asarray(w, dtype=float)


def _frequencies(
    prepared: Prepared, settings: Settings, result: ProcedureResult, names: list[str]
) -> tuple[dict[str, float], int]:
    """The share of halves in which a column is selected, and the number of halves."""
    from ....feature_selection import NCFSClassifier, NCFSRegressor

    rows = np.arange(prepared.n) if result.rows is None else result.rows
    A, y = encoded(prepared, result), target_of(prepared)[rows]
    m = A.shape[1]
    half = min(len(rows) // 2, MAX_HALF, int(np.sqrt(MAX_PAIR_VALUES / (MIN_HALVES * m))))
    if half < MIN_HALF:
        return {}, 0
    n_halves = int(np.clip(MAX_PAIR_VALUES // (m * half**2), MIN_HALVES, MAX_HALVES))
    rng = np.random.default_rng(settings.seed)
    strata = strata_of(prepared)[rows]
    of_task = NCFSRegressor if prepared.task == "numbers" else NCFSClassifier
    place = {name: [j for j, own in enumerate(names) if own == name] for name in names}
    counts, done = dict.fromkeys(place, 0), 0
    for _ in range(n_halves):
        chosen = _stratified(strata, half, rng)
        if prepared.task != "numbers" and len(np.unique(y[chosen])) < 2:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            support = of_task(tol=1e-3).fit(A[chosen], y[chosen]).support_
        done += 1
        for name, own in place.items():
            counts[name] += bool(support[own].any())
    return ({}, 0) if done < MIN_HALVES else ({k: v / done for k, v in counts.items()}, done)


def _stratified(strata: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Row numbers of a sample in which each stratum keeps its share."""
    order = np.lexsort((rng.random(len(strata)), strata))
    return np.sort(order[np.linspace(0, len(strata) - 1, size).round().astype(np.intp)])
