"""Density and class weights of least-squares SVMs on KEEL's imbalanced data sets.

    python examples/keel_imbalance.py FOLDER [NAME …]

FOLDER has KEEL's partitions, NAME-5-fold.zip with NAME-5-1tra.dat, NAME-5-1tst.dat, …, or plain
files NAME.dat, which are parted into five stratified folds. Columns are scaled to 0 … 1 by the rows
of a fold's fit; C = γ = 1, nothing is tuned. A line has means over folds, the last over data sets.
"""

import argparse
import io
import zipfile
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from certus.metrics import geometric_mean_score
from certus.svm import LSSVC, DensityWeightedLSSVC

MODELS = {
    "balanced": LSSVC(C=1.0, gamma=1.0, class_weight="balanced"),
    "density": DensityWeightedLSSVC(C=1.0, gamma=1.0, class_weight=None),
    "both": DensityWeightedLSSVC(C=1.0, gamma=1.0, class_weight="balanced"),
}


def read_keel(file):
    """(columns as text, categories of each or None for numbers, y: True for positive)."""
    kinds, rows, data = [], [], False
    for line in file:
        line = line.strip()
        if data and line:
            rows.append([cell.strip() for cell in line.split(",")])
        elif line.lower().startswith("@attribute"):
            kinds.append(sorted(line[line.index("{") + 1 : line.rindex("}")].replace(" ", "")
                                .split(",")) if "{" in line else None)  # fmt: skip
        elif line.lower().startswith("@data"):
            data = True
    table = np.array([row for row in rows if "<null>" not in row])  # rows with gaps are left out
    return table[:, :-1], kinds[:-1], table[:, -1] == "positive"


def numbers(table, kinds):
    """Numbers as they are; a category as a column of 0 and 1 for each of its values."""
    columns = []
    for column, kind in zip(table.T, kinds, strict=True):
        values = [column.astype(float)] if kind is None else [column == value for value in kind]
        columns += [np.asarray(value, dtype=float) for value in values]
    return np.column_stack(columns)


def folds(path):
    """(X, y, X to predict, y) of each fold."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as files:
            for name in sorted(name for name in files.namelist() if name.endswith("tra.dat")):
                parts = []
                for part in (name, name.replace("tra.dat", "tst.dat")):
                    table, kinds, y = read_keel(io.StringIO(files.read(part).decode()))
                    parts += [numbers(table, kinds), y]
                yield parts
        return
    with path.open() as file:
        table, kinds, y = read_keel(file)
    X = numbers(table, kinds)
    for fit, new in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        yield X[fit], y[fit], X[new], y[new]


def study(path):
    """(folds, models, 2): G-mean and ROC area on the rows left out."""
    found = []
    for X, y, X_new, y_new in folds(path):
        low, high = X.min(axis=0), X.max(axis=0)
        scale = np.where(high > low, high - low, 1.0)
        X, X_new = (X - low) / scale, (X_new - low) / scale
        fold = []
        for model in MODELS.values():
            f = model.fit(X, y).decision_function(X_new)
            fold.append((geometric_mean_score(y_new, f > 0), roc_auc_score(y_new, f)))
        found.append(fold)
    return np.array(found)


def line(name, values):
    return f"| {name} | " + " | ".join(f"{g:.3f}, {area:.3f}" for g, area in values) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="all of the folder if none is given")
    given = parser.parse_args()
    print("| G-mean, ROC area | class weights | density | both |\n|---|---|---|---|")
    means = []
    for path in sorted([*given.folder.glob("*-5-fold.zip"), *given.folder.glob("*.dat")]):
        name = path.name.removesuffix("-5-fold.zip").removesuffix(".dat")
        if given.names and name not in given.names:
            continue
        means.append(study(path).mean(axis=0))
        print(line(name, means[-1]), flush=True)
    print(line(f"mean of {len(means)}", np.mean(means, axis=0)))
