"""k-means by hand, as the manuscript writes its pseudo-code, in plain NumPy.

    min over μ of J(μ) = Σ_j min_i ‖x_j − μ_i‖²,   j = 1…n rows, i = 1…k centres

Where the manuscript errs, the line says "corrected". Run it: python examples/kmeans_by_hand.py
"""

import numpy as np


def squared_distances(X, mu):
    """‖x_j − μ_i‖² of all rows and centres, by differences: right at any distance from 0."""
    return ((X[:, None, :] - mu[None, :, :]) ** 2).sum(axis=2)


def assign(X, mu):
    """For each row j, the i of the nearest centre.

    Corrected: the manuscript has this loop run over the centres ("for each i"). And its χ_i^j = 1
    for all nearest centres at once, so that a row between two would be in both: the first takes it.
    """
    return np.argmin(squared_distances(X, mu), axis=1)


def move(X, labels, mu):
    """For each centre i, μ_i = Σ_j χ_i^j x_j / Σ_j χ_i^j, the mean of its rows.

    Corrected: the manuscript has this loop run over the rows ("for each j"). And it divides by 0
    where a centre has no rows: it takes the row that is farthest from its own centre.
    """
    moved = mu.copy()
    d2 = ((X - mu[labels]) ** 2).sum(axis=1)
    for i in range(len(mu)):
        if not np.any(labels == i) and d2.max() > 0:
            farthest = np.argmax(d2)
            labels[farthest], d2[farthest] = i, 0
    for i in np.unique(labels):
        moved[i] = X[labels == i].mean(axis=0)
    return moved


def cost(X, mu):
    """J(μ)."""
    return squared_distances(X, mu).min(axis=1).sum()


def k_means(X, mu):
    """Loop until convergence: until no row changes its centre. J falls with each step, so that no
    assignment comes twice, and there are finitely many: the loop ends, at a local optimum."""
    costs, labels = [cost(X, mu)], None
    while not np.array_equal(labels, nearest := assign(X, mu)):
        labels = nearest
        mu = move(X, labels.copy(), mu)
        costs.append(cost(X, mu))
    return mu, labels, costs


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    blobs = np.array([[0.0, 0], [6, 0], [0, 6], [6, 6]])
    X = np.repeat(blobs, 50, axis=0) + rng.normal(size=(200, 2))
    for attempt in range(5):
        # the manuscript's outer "Do" without an end: from several starts, the best one counts
        start = X[rng.choice(len(X), size=4, replace=False)]
        mu, labels, costs = k_means(X, start)
        falls = " > ".join(f"{J:.1f}" for J in costs)
        print(f"start {attempt}: {np.bincount(labels, minlength=4)} rows, J = {falls}")
