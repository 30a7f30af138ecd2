"""Few genes of many: nearest neighbours on all genes of a microarray, and on those NCFS selects.

    python examples/ncfs_microarrays.py FOLDER golub alon
    python examples/ncfs_microarrays.py FOLDER golub alon --alphas 1se best --repeats 3

FOLDER has files NAME.npz with X (rows × genes) and y (their classes). In each of ten times ten
folds, scaling and selection, and the choice of λ where it is chosen ("1se" and "best" of
NCFSClassifierCV, by five folds of its own), see the other nine alone. Accuracies have Wilson's
interval for as many rows; the difference is between the same rows, its interval a bootstrap of
rows, 95 % both.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from certus.feature_selection import NCFSClassifier, NCFSClassifierCV
from certus.neighbors import KNeighborsClassifier

ALPHAS = 3.0, 1.0, 0.3, 0.1, 0.03  # to choose from


def neighbors(X, y, new, k):
    """What the k nearest rows say, by L1; without a column, the most frequent class."""
    if X.shape[1] == 0:
        labels, counts = np.unique(y, return_counts=True)
        return np.full(len(new), labels[counts.argmax()])
    return KNeighborsClassifier(k, p=1).fit(X, y).predict(new)


def fitted(X, y, alpha):
    """NCFS at a λ, or at one that is chosen as this word says."""
    if isinstance(alpha, str):
        return NCFSClassifierCV(ALPHAS, choice=alpha).fit(X, y)
    return NCFSClassifier(alpha).fit(X, y)


def study(X, y, alphas, k=3, folds=10, repeats=10):
    """(share right of each row, columns selected in each fold) of all columns, None, and each λ."""
    right = {alpha: np.zeros(len(y)) for alpha in (None, *alphas)}
    selected = {alpha: [] for alpha in right}
    for train, test in RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=0
    ).split(X, y):
        for alpha in right:
            if alpha is None:
                low, high = X[train].min(axis=0), X[train].max(axis=0)
                columns = high > low
                Z = (X[:, columns] - low[columns]) / (high - low)[columns]
            else:
                model = fitted(X[train], y[train], alpha)
                columns = model.get_support()
                Z = (X[:, columns] - model.shift_[columns]) / model.scale_[columns]
            predicted = neighbors(Z[train], y[train], Z[test], k)
            right[alpha][test] += (predicted == y[test]) / repeats
            selected[alpha].append(int(columns.sum()))
    return right, selected


def alpha_argument(word):
    return word if word in ("1se", "best") else float(word)


def wilson(share, n, z=1.96):
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return middle - half, middle + half


def bootstrap(difference, draws=10_000):
    rng = np.random.default_rng(0)
    n = len(difference)
    means = difference[rng.integers(n, size=(draws, n))].mean(axis=1)
    return np.percentile(means, [2.5, 97.5])


def lines(name, X, y, right, selected):
    """A table's lines."""
    before = right[None]
    for alpha, shares in right.items():
        accuracy, (low, high) = shares.mean(), wilson(shares.mean(), len(y))
        how = f"chosen, {alpha}" if isinstance(alpha, str) else f"= {alpha or 0:g}"
        what = "all genes" if alpha is None else f"NCFS, λ {how}"
        few, many = np.percentile(selected[alpha], [25, 75])
        genes = f"{np.median(selected[alpha]):,.0f}" + (
            "" if few == many else f" ({few:.0f}–{many:.0f})"
        )
        gain = (
            ""
            if alpha is None
            else "{:+.3f} ({:+.3f} to {:+.3f})".format(
                (shares - before).mean(), *bootstrap(shares - before)
            )
        )
        yield f"| {name} | {what} | {genes} | {accuracy:.3f} ({low:.2f}–{high:.2f}) | {gain} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="all of the folder if none is given")
    parser.add_argument("--alphas", type=alpha_argument, nargs="+", default=[1.0, 0.3, 0.1])
    parser.add_argument("--neighbors", type=int, default=3)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=10)
    given = parser.parse_args()
    print("| data | columns | genes (quartiles) | accuracy | gain |\n|---|---|---|---|---|")
    for name in given.names or sorted(path.stem for path in given.folder.glob("*.npz")):
        table = np.load(given.folder / f"{name}.npz")
        X, y = table["X"].astype(float), table["y"]
        found = study(X, y, given.alphas, given.neighbors, given.folds, given.repeats)
        print("\n".join(lines(name, X, y, *found)), flush=True)
