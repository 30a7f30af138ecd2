"""A tree of wines: units, the cut, a picture, new rows, and which columns say the same.

Run it: python examples/hierarchy.py wine.svg
"""

import argparse

import numpy as np
from sklearn.datasets import load_wine

from certus.cluster import AgglomerativeClustering, VariableClustering, plot_dendrogram


def wines():
    """178 wines, 13 columns in different units, and the three cultivars they come from."""
    data = load_wine(as_frame=True)
    return data.data, data.target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="SVG file to draw to, e.g. wine.svg")
    given = parser.parse_args()
    X, cultivar = wines()

    model = AgglomerativeClustering(n_clusters=3, scale="standard").fit(X[10:])
    print(model.certificate_.explain())
    for label in range(model.n_clusters_):
        print(f"cluster {label}: cultivars {np.bincount(cultivar[10:][model.labels_ == label])}")
    print("ten wines that were left out:", model.predict(X[:10]))
    print(f"the tree keeps the distances to {model.tree_.cophenetic_correlation():.2f}")
    plot_dendrogram(model, n_clusters=3, labels=cultivar[10:], svg=given.picture)

    columns = VariableClustering(n_clusters=None, distance_threshold=0.5).fit(X)
    for label, name in enumerate(columns.get_feature_names_out()):
        print(f"{name} stands for {', '.join(X.columns[columns.labels_ == label])}")
