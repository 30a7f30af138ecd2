"""Few genes, or all: k nearest neighbours after NCFS and before, selection inside the folds.

    python examples/ncfs_microarrays.py FOLDER

FOLDER holds microarrays as .npz files with X (samples × genes) and y (kinds).
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from certus.feature_selection import NCFSClassifier
from certus.neighbors import KNeighborsClassifier


def compare(X, y, repeats=2, folds=5, seed=0):
    """(accuracies of all columns, of selected ones, how many were selected), one for each fold."""
    found = []
    for train, test in RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=seed
    ).split(X, y):
        plain = make_pipeline(MinMaxScaler(), KNeighborsClassifier(3)).fit(X[train], y[train])
        selector = NCFSClassifier().fit(X[train], y[train])
        few = make_pipeline(MinMaxScaler(), KNeighborsClassifier(3))
        few.fit(selector.transform(X[train]), y[train])
        found.append(
            (
                plain.score(X[test], y[test]),
                few.score(selector.transform(X[test]), y[test]),
                selector.score(X[test], y[test]),
                selector.support_.sum(),
            )
        )
    return np.array(found)


def main(folder):
    print("data      rows  columns  k-NN of all   k-NN of few   NCFS itself   columns selected")
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path) as data:
            X, y = data["X"].astype(float), data["y"]
        found = compare(X, y)
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
        shown = "   ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[:3], error[:3], strict=True))
        print(f"{path.stem:8} {len(X):5} {X.shape[1]:8}  {shown}   {np.median(found[:, 3]):.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
