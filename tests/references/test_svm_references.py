"""Published data, where they are at hand: CERTUS_KEEL names a folder with KEEL's files.

keel_imbalanced_5fold/NAME-5-fold.zip     27 sets with an imbalance above 9, five folds each
keel_artificial/04clover5z-600-5-50-BI.dat, paw02a-600-5-70-BI.dat

CERTUS_KEEL=FOLDER pytest -m slow tests/references/test_svm_references.py
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from certus.svm import LSSVC, density_weights

FOLDER = Path(os.environ.get("CERTUS_KEEL", "nowhere"))
STUDY = Path(__file__).parents[2] / "examples" / "keel_imbalance.py"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="CERTUS_KEEL names no folder with KEEL's files"),
]


def test_27_keel_sets_untuned():
    """G-mean and ROC area: class weights, density, both (C = γ = 1, columns to [0, 1])."""
    spec = importlib.util.spec_from_file_location(STUDY.stem, STUDY)
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    paths = sorted((FOLDER / "keel_imbalanced_5fold").glob("*-5-fold.zip"))
    assert len(paths) == 27
    found = np.mean([study.study(path).mean(axis=0) for path in paths], axis=0)
    expected = [(0.834, 0.906), (0.362, 0.897), (0.814, 0.900)]
    np.testing.assert_allclose(found, expected, atol=0.005)


def notebook(name, ratio):
    """The rows of a fit and those left out, as the notebook that goes with the notes draws them.

    Scaled to [0, 1] by all rows; 420 of 600 for the fit, class 0 to class 1 in a ``ratio``.
    """
    data = pd.read_csv(FOLDER / "keel_artificial" / name, skiprows=7, header=None).to_numpy(float)
    X, y = data[:, :2], data[:, 2].astype(int)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    zeros = int(420 * ratio / (1 + ratio))
    drawn = [
        pd.Series(np.flatnonzero(y == k)).sample(n, random_state=42).to_numpy()
        for k, n in ((0, zeros), (1, 420 - zeros))
    ]
    fit = np.concatenate(drawn)
    rest = np.setdiff1d(np.arange(len(y)), fit)
    return X[fit], y[fit], X[rest], y[rest]


def percent_right(name, ratio, C, mu, without):
    """Balanced accuracy in percent, of 1/(Cω) = 1/(Cd²) + 0.1 in the system; C here is 1.

    ``without``: what the row with d = 0 weighs, whose 1/(Cd²) is infinite.
    """
    X, y, X_new, y_new = notebook(name, ratio)
    d = density_weights(X, 4)  # "k = 5" counts the row itself
    with np.errstate(divide="ignore"):
        weight = np.where(d > 0, 1 / (1 / (C * d**2) + 0.1), without)
    model = LSSVC(1.0, gamma=1 / mu**2).fit(X, y, weight)
    return 100 * balanced_accuracy_score(y_new, model.predict(X_new))


def test_clover_as_the_notebook_ran_it():
    """There 1/0 is 0 (a pseudo-inverse), so the sparsest row weighs 1/ε = 10: most of all."""
    found = percent_right("04clover5z-600-5-50-BI.dat", 0.2034, 1e4, 2**-4, without=10.0)
    assert found == pytest.approx(73.67, abs=0.005)


def test_paw_with_the_sparsest_row_left_out_is_not_what_was_published():
    """With d = 0 treated right: 58.33, not 66.00."""
    found = percent_right("paw02a-600-5-70-BI.dat", 0.2, 10.0, 2**-2, without=0.0)
    assert found == pytest.approx(58.33, abs=0.005)
