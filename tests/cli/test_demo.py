"""The ``certus`` command, as a person meets it."""

import os
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.special import xlogy
from scipy.stats import norm

import certus
from certus.certificate.status import CERTIFIED_STATUSES
from certus.cli import demo_rows as demo
from certus.cli import main

NAMES = [row.name for row in demo.ROWS]
COLOR = "\x1b["


@pytest.fixture(scope="module")
def shown():
    """Every row of the demo, fitted once."""
    return {row.name: demo.fit_both(row) for row in demo.ROWS}


@pytest.fixture
def fitted(shown, monkeypatch):
    """``certus demo`` without fitting anew."""
    monkeypatch.setattr(demo, "fit_both", lambda row: shown[row.name])


def on_a_terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "certus", *arguments],
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
    )


# --- demo -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("fitted")
def test_demo_prints_a_block_for_every_row(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    for row in demo.ROWS:
        verdict = row.expects if row.expects in CERTIFIED_STATUSES else row.expects.upper()
        block = (
            rf"^{row.name} +\w+\(.*\n(?: {{12}}.*\n)*    certus +{verdict} .*\n    scikit-learn "
        )
        assert re.search(block, out, re.M)
    assert out.endswith("print(certus.verify(model, X, y).explain())\n")
    assert "about the arithmetic, not about your data" in out


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--all-details"]])
def test_demo_fits_into_80_columns(capsys, arguments):
    main(arguments)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.usefixtures("fitted")
def test_demo_explains_the_audits_that_failed_and_no_other(capsys, shown):
    main(["demo"])
    out = capsys.readouterr().out
    audited = [name for name in NAMES if shown[name].theirs is not None]
    wrong = [name for name in audited if not shown[name].theirs.certificate.certified]
    assert out.count("[!!] ") + out.count("[!] ") == len(wrong)
    assert re.findall(r"^([\w-]+)$", out, re.M) == wrong


@pytest.mark.usefixtures("fitted")
def test_all_details_explain_every_certificate_and_audit(capsys):
    main(["demo", "--all-details"])
    alone = sum(row.alone for row in demo.ROWS)
    assert capsys.readouterr().out.count("Checked by") == 2 * len(NAMES) - alone


@pytest.mark.usefixtures("fitted")
def test_demo_shows_only_the_rows_asked_for(capsys):
    assert main(["demo", "ridge", "wine"]) == 0
    out = capsys.readouterr().out
    assert "ridge       Ridge(alpha=0.1)" in out
    assert "certus: 2 of 2 fits certified" in out
    assert "timestamps" not in out


def test_rows_have_names_of_their_own():
    assert len(set(NAMES)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z0-9-]{1,11}", name) for name in NAMES)


def test_every_fit_of_certus_in_the_demo_is_what_the_data_deserve(shown):
    assert [name for name in NAMES if not shown[name].right] == []


def test_nothing_in_the_demo_calls_a_right_answer_wrong(shown):
    """Where the audit refuses scikit-learn's answer, certus's is lower by more than its own gap."""
    for each in shown.values():
        if each.theirs is None:
            assert each.row.alone
            continue
        ours, theirs = each.ours.certificate, each.theirs.certificate
        if each.row.expects == "no finite optimum":
            assert theirs.status == ours.status
        elif ours.maximized:
            assert theirs.certified == (each.below < 1e-6)
            assert each.below > -1e-6
        elif each.row.expects == "local optimum":  # from the same start; certus's may end lower
            assert each.times > 1 - 1e-6
            assert theirs.certified or each.times > 1 + 1e-6
        elif not theirs.certified:
            assert theirs.objective > ours.objective + ours.gap
            assert each.times > 1.01
        else:
            assert theirs.objective == pytest.approx(ours.objective, rel=1e-6)


@pytest.mark.parametrize("row", demo.ROWS, ids=NAMES)
def test_the_objectives_shown_are_those_of_plain_numpy(row, shown):
    X, y = row.data()
    X = np.asarray(X.toarray() if issparse(X) else X, dtype=float)
    kinds = {"Firth": plain_firth, "Ordinal": plain_ordinal}
    kinds |= {"Logistic": plain_logistic, "Lasso": plain_lasso, "Elastic": plain_lasso}
    kinds |= {"Neighbors": wrong_neighbors, "KMeans": plain_clusters, "NCFS": plain_ncfs}
    kinds |= {"LSSVC": plain_lssvm, "WeightedSVC": plain_svc, "LinearSVC": plain_hinge}
    kinds |= {"Mixture": plain_mixture, "Agglomerative": wrong_pairs}
    kinds |= {"Poisson": plain_deviance, "Gamma": plain_deviance}
    plain = next((kinds[kind] for kind in kinds if kind in row.model), plain_squares)
    for fit in filter(None, (shown[row.name].ours, shown[row.name].theirs)):
        truth = plain(X, y, **fit.certificate.parameters)
        certified = fit.certificate.objective
        if plain is wrong_pairs:  # which merges follow from a wrong one is not counted alike
            truth, certified = truth > 0, certified > 0
        assert certified == pytest.approx(truth, rel=1e-6)


def plain_firth(X, y, w, b, **_):
    z = (X @ w + b)[:, 0]
    p = 1 / (1 + np.exp(-z))
    A = np.column_stack([X, np.ones(len(X))])
    likely = np.where(y == np.unique(y)[1], p, 1 - p)
    return -np.log(likely).sum() - np.linalg.slogdet(A.T @ ((p * (1 - p))[:, None] * A))[1] / 2


def plain_ordinal(X, y, w, thresholds, **_):
    below = 1 / (1 + np.exp(X @ w - thresholds))
    below = np.column_stack([np.zeros(len(X)), below, np.ones(len(X))])
    i = np.arange(len(X))
    return -np.log(below[i, y + 1] - below[i, y]).sum()


def plain_deviance(X, y, family, w, b, l1, l2, **_):
    log_mean = (X @ w + b)[:, 0]
    if family == "poisson":
        half = xlogy(y, y) - y * log_mean - y + np.exp(log_mean)
    else:
        half = y / np.exp(log_mean) - 1 - np.log(y) + log_mean
    return half.mean() + l1 * np.abs(w).sum() + l2 * np.sum(w**2) / 2


def plain_hinge(X, y, w, b, C, **_):
    short = np.maximum(1 - np.where(y == 1, 1, -1) * (X @ w[:, 0] + b), 0.0)
    return C * short.sum() + (np.sum(w**2) + b[0] ** 2) / 2


def wrong_pairs(X, _y, merges, **_):
    """Merges of two rows, one of which has a nearer row that was alone then. By cosines."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = ((unit[:, None] - unit) ** 2).sum(axis=2) + np.diag(np.full(len(X), np.inf))
    alone, wrong = np.ones(len(X), dtype=bool), 0
    for a, b in merges[:, :2].astype(int):
        if max(a, b) < len(X):
            near = min(D[a, alone].min(), D[b, alone].min())
            wrong += D[a, b] > near * (1 + 1e-6)
        alone[[i for i in (a, b) if i < len(X)]] = False
    return wrong


def wrong_neighbors(X, _y, query_pairs, start, distances, k, **_):
    """Queries whose stated distances are not the least there are."""
    stated = np.array([distances[a:b] for a, b in pairwise(start)])
    rows = X[query_pairs[:, 0]]
    true = np.sqrt(((rows[:, None] - X[None]) ** 2).sum(axis=2))
    return np.sum(~np.isclose(stated, np.sort(true, axis=1)[:, :k], rtol=1e-9).all(axis=1))


def plain_mixture(X, y, weights, theta, epsilon, **_):
    """Mixture of one column, with densities by SciPy and the prior."""
    mu, v = theta["means"][:, 0], theta["covariances"][:, 0]
    densities = weights * norm.pdf(X - X[0], mu - X[0, 0], np.sqrt(v))
    prior = epsilon / 2 * np.sum(np.log(v) + np.var(X - X[0]) / v)
    return np.log(densities.sum(axis=1)).sum() - prior


def plain_clusters(X, _y, centers, **_):
    return np.min([((X - c) ** 2).sum(axis=1) for c in centers], axis=0).sum()


def plain_ncfs(X, y, W, sigma, alpha, shift, scale, **_):
    """Σ_i p_i − λΣW, by L1."""
    Z = (X - shift) / scale
    D = np.stack([np.abs(Z - z) @ W for z in Z]) / sigma
    np.fill_diagonal(D, np.inf)
    p = np.exp(D.min(axis=1, keepdims=True) - D)
    return ((p / p.sum(axis=1, keepdims=True)) * (y[:, None] == y)).sum() - alpha * W.sum()


def plain_rbf(X, gamma):
    return np.exp(-gamma * np.stack([((X - x) ** 2).sum(axis=1) for x in X]))


def plain_lssvm(X, y, beta, b, C, gamma, **_):
    """½ΣβᵀKβ + C/2 Σ(±1 − Kβ − b)², a column for each class."""
    Kb = plain_rbf(X, gamma) @ beta
    e = np.where(y[:, None] == np.unique(y), 1.0, -1.0) - Kb - b
    return 0.5 * np.sum(beta * Kb) + C / 2 * np.sum(e**2)


def plain_svc(X, y, beta, b, C, gamma, class_weight, density, **_):
    """½βᵀKβ + Σ C_i max(0, 1 − yf), C_i = C·c·d, of two classes."""
    D = np.sort(np.stack([np.linalg.norm(X - x, axis=1) for x in X]), axis=1)
    r = D[:, density[0]]  # the first is the row itself
    Kb = (plain_rbf(X, gamma) @ beta)[:, 0]
    loss = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (Kb + b))
    C = C * np.asarray(class_weight)[y] * (1 - r / r.max())
    return 0.5 * beta[:, 0] @ Kb + C @ loss


def plain_squares(X, y, w, b, alpha, **_):
    w, y = w[:, 0], np.asarray(y, dtype=float)
    # about the means, so that nothing cancels
    r = (y - y.mean()) - (X - X.mean(axis=0)) @ w + (y.mean() - X.mean(axis=0) @ w - b[0])
    return r @ r + float(alpha) * w @ w


def plain_lasso(X, y, w, b, penalty, **_):
    squares = plain_squares(X, y, w, b, penalty["l2"] * len(y))
    return squares / (2 * len(y)) + penalty["l1"] * np.abs(w).sum()


def plain_logistic(X, y, w, b, C, l2, **_):
    z = X @ w + b
    z = np.column_stack([-z[:, 0] / 2, z[:, 0] / 2]) if z.shape[1] == 1 else z
    own = z[np.arange(len(z)), np.unique(y, return_inverse=True)[1]]
    return C * np.sum(np.logaddexp.reduce(z, axis=1) - own) + l2 / 2 * np.sum(w**2)


@pytest.mark.parametrize("name", ["scales", "timestamps", "polynomial", "float32", "cancer"])
def test_where_scikit_learn_is_said_to_be_wrong_numpy_does_better(name, shown):
    """An independent answer: plain NumPy on standardised columns, in float64."""
    row = next(row for row in demo.ROWS if row.name == name)
    theirs = shown[name].theirs
    if theirs.certificate.certified:
        pytest.skip("this scikit-learn is right")
    X, y = (np.asarray(a, dtype=float) for a in row.data())
    Z, z = X - X.mean(axis=0), y - y.mean()
    d, alpha = np.linalg.norm(Z, axis=0), float(theirs.certificate.parameters["alpha"])
    A = np.vstack([Z / d, np.diag(np.sqrt(alpha) / d)])
    v = np.linalg.lstsq(A, np.concatenate([z, np.zeros(len(d))]), rcond=None)[0]
    best = np.sum((z - Z @ (v / d)) ** 2) + alpha * np.sum((v / d) ** 2)
    assert best == pytest.approx(shown[name].ours.certificate.objective, rel=1e-6)
    assert theirs.certificate.objective > 1.01 * best
    assert theirs.warned == []


def test_demo_fails_if_a_fit_of_ours_is_not_certified(capsys, monkeypatch, shown):
    wrong = shown["scales"]
    monkeypatch.setattr(demo, "fit_both", lambda row: wrong._replace(ours=wrong.theirs))
    assert main(["demo", "scales"]) == 1
    assert "please report this" in capsys.readouterr().out


# --- colour and terminals -------------------------------------------------------------------------


@pytest.mark.usefixtures("fitted")
def test_a_terminal_gets_colour(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    main(["demo", "scales"])
    assert f"{COLOR}1;31mNOT OPTIMAL" in capsys.readouterr().out


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_where_it_is_not_wanted(capsys, monkeypatch, name, value):
    on_a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    main(["demo", "scales"])
    assert COLOR not in capsys.readouterr().out


def test_a_pipe_gets_plain_text():
    run = command("demo", "scales", "aliased", PYTHONIOENCODING="utf-8", TERM="xterm")
    assert run.returncode == 0
    assert run.stderr == b""
    out = run.stdout.decode()
    assert COLOR not in out
    assert "1,000 rows × 2 columns" in out


def test_a_terminal_without_unicode_gets_ascii():
    run = command("demo", "wine", "scales", "--all-details", PYTHONIOENCODING="ascii")
    assert run.returncode == 0
    out = run.stdout.decode("ascii")
    assert "178 rows x 13 columns" in out
    assert "?" not in out


def test_a_reader_that_stops_reading_is_no_error():
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [sys.executable, "-m", "certus", "demo", "diabetes"], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert run.stderr == b""
    assert run.returncode == 0


# --- commands -------------------------------------------------------------------------------------


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"certus {certus.__version__}\n"


def test_no_command_prints_the_help(capsys):
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_help_is_no_error(capsys):
    assert main(["demo", "--help"]) == 0
    assert "--all-details" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dmeo"], "No command 'dmeo'. Did you mean 'demo'?"),
        (
            ["xyzzy"],
            "No command 'xyzzy'. There is: report, fit, predict, verify, audit, cluster, show,",
        ),
        (["demo", "whine"], "No row 'whine'. Did you mean 'wine'?"),
        (["demo", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_a_typo_is_named_with_what_was_meant(capsys, arguments, message):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_ctrl_c_is_no_traceback(monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "fit_both", interrupted)
    assert main(["demo"]) == 130
