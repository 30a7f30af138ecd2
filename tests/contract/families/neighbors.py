"""Neighbours in the table of laws: distances, neighbours by the rows' own numbers, and votes."""

from typing import Any

import numpy as np

from certus.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from tests.contract.families.answers import (
    WITHOUT_WEIGHTS,
    Answer,
    Case,
    Part,
    Sample,
    classes,
    noise,
    numbers,
)

COPIES_ARE_NEIGHBORS = {
    "weight is repetition": "weights multiply votes; copies of a row take places among the k"
}

TILES = (
    "certus.solvers.neighbors.tiles:TILE_DISTANCES",
    "certus.solvers.neighbors.differences:TILE_DISTANCES",
    "certus.neighbors._votes:MAX_TOTALS_HELD",
)


def nearest(model: Any, sample: Sample) -> Answer:
    d, i = model.kneighbors(sample.queries)
    among, others = model.kneighbors(None)
    within = model.radius_neighbors(sample.queries, sort_results=True)[0]
    return {
        "distances": Part(d, unit=1),
        "neighbours": Part(sample.origin[i]),
        "distances among rows": Part(among, unit=1, rows=True),
        "neighbours among rows": Part(sample.origin[others], rows=True),
        "distances within a radius": Part(np.concatenate(within), unit=1),
    }


def votes(model: Any, sample: Sample) -> Answer:
    return {
        "probabilities": Part(model.predict_proba(sample.queries)),
        "labels": Part(model.predict(sample.queries)),
    }


def means(model: Any, sample: Sample) -> Answer:
    return {"means": Part(model.predict(sample.queries))}


def neighbors(**how: Any) -> Any:
    return lambda start=None, unit=1.0, heft=1.0: NearestNeighbors(
        n_neighbors=4, radius=3.0 * unit, **how
    )


def k_nearest(cls: Any, weights: Any) -> Any:
    return lambda start=None, unit=1.0, heft=1.0: cls(4, weights=weights)


def within_radius(cls: Any, weights: Any) -> Any:
    return lambda start=None, unit=1.0, heft=1.0: cls(2.5 * unit, weights=weights, abstain="prior")


def voting(weights: str) -> list[Case]:
    k, r = f", {weights}", f", {weights}"
    return [
        Case(f"KNeighborsClassifier{k}", k_nearest(KNeighborsClassifier, weights), classes, votes,
             exempt=COPIES_ARE_NEIGHBORS, blocks=TILES),
        Case(f"KNeighborsRegressor{k}", k_nearest(KNeighborsRegressor, weights), numbers, means,
             exempt=COPIES_ARE_NEIGHBORS, blocks=TILES),
        Case(f"RadiusNeighborsClassifier{r}", within_radius(RadiusNeighborsClassifier, weights),
             classes, votes, blocks=TILES),
        Case(f"RadiusNeighborsRegressor{r}", within_radius(RadiusNeighborsRegressor, weights),
             numbers, means, blocks=TILES),
    ]  # fmt: skip


NEIGHBORS = [
    Case("NearestNeighbors", neighbors(), noise, nearest, exempt=WITHOUT_WEIGHTS,
         blocks=TILES),
    Case("NearestNeighbors, manhattan", neighbors(metric="manhattan"), noise, nearest,
         exempt=WITHOUT_WEIGHTS, blocks=TILES),
    *voting("uniform"),
    *voting("distance"),
]  # fmt: skip
