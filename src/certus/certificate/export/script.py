"""A certificate as a script: the page of its model, the parameters, and a loader.

The script needs NumPy and the user's data, nothing of certus, and has at most 150 lines; long
arrays go into a file beside it. A certificate whose claim does not hold can be exported too: its
script says what is wrong and exits with 1.
"""

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...definitions.terms.targets import NoTargets
from ...exceptions import CertificateError
from ...text.files import write_whole
from ..explain.left_out import among
from ..findings import OptimumFinding
from ..pages.problem import PageCall
from ..registry import claim_of
from . import template
from .literals import Literals
from .sources import variants

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_LINES = 150
FUNCTIONS = {"metric": "the distance", "weights": "the weighting of the votes"}
UNWEIGHTED_PAGES = ("linkage", "diana", "spanning_tree")


class Script(NamedTuple):
    """The text of a script, and the arrays of the file beside it."""

    text: str
    arrays: dict[str, np.ndarray]


def export(c: "Certificate", path: str | PathLike[str]) -> None:
    """Write the script atomically, with a file of arrays beside it if they are long."""
    path = Path(path)
    made = script(c, path.name)
    if made.arrays:
        arrays = io.BytesIO()
        np.savez_compressed(arrays, allow_pickle=False, **made.arrays)
        write_whole(path.with_suffix(".npz"), arrays.getvalue())
    write_whole(path, made.text)


def script(c: "Certificate", name: str = "check.py") -> Script:
    """The script of a certificate; ``name`` is that of its file."""
    if c.parts:
        raise CertificateError(
            f"{c.model}: a script checks one model on the rows of its fit. Verify the model inside "
            "on the rows and targets that it was given, and export that certificate"
        )
    problems = _problems(c)
    literals = Literals()
    head, body = _head(c, problems[0], name), _model(c, problems, literals) + _loader(c, problems)
    text = ""
    for page in variants(problems):
        text = f"{head}{page}\n{body}"
        if text.count("\n") <= MAX_LINES:
            break
    return Script(text, literals.arrays)


def _problems(c: "Certificate") -> list[PageCall]:
    problems = list(claim_of(c).page(c.parameters, c.labels))
    votes = c.parameters.get("votes")
    if why_not := _function(c) or (None if problems else _no_page(c)):
        raise CertificateError(f"nothing to export: {why_not}")
    if votes is not None and len(votes.get("names") or ()) > 1:
        raise CertificateError(
            "nothing to export: a script reads one column of labels, and the model has "
            f"{len(votes['names'])}"
        )
    finding = c._finding
    if isinstance(finding, OptimumFinding) and not finding.left_out:
        # where no columns are left out, the term for them is not needed
        problems = [
            p._replace(arguments={k: v for k, v in p.arguments.items() if k != "independent"})
            for p in problems
        ]
    return problems


def _function(c: "Certificate") -> str | None:
    """Return why a model with a user's function cannot be exported; None if it has none."""
    votes = c.parameters.get("votes") or {}
    for name, value in {**c.parameters, "weights": votes.get("weights")}.items():
        if callable(value):
            what = FUNCTIONS.get(name, f"the {name}")
            return (
                f"{what} is a function of yours, which a script cannot hold; certus.verify "
                "recomputes the claim with it"
            )
    return None


def _no_page(c: "Certificate") -> str:
    return c._finding.unproven or f"the model, which is {c.status}, has no page"


def _head(c: "Certificate", problem: PageCall, name: str) -> str:
    if _has_targets(problem):
        usage = template.WITH_TARGETS
        if c.parameters.get("offset"):
            usage = template.WITH_OFFSETS
    else:
        unweighted = problem.page in UNWEIGHTED_PAGES
        usage = template.ROWS_ALONE if unweighted else template.WITH_WEIGHTS
    return template.HEAD.format(model=c.model, name=name, usage=usage, claimed=_claimed(c))


def _claimed(c: "Certificate") -> str:
    """The claim as lines of a docstring; column names in it may hold any character."""
    words = claim_of(c).wording
    status = f"stopped {c._finding.stopped}" if c.status == "stopped" else c.status
    if c.status != "no finite optimum":
        status += among(c)
    label = "Claimed:  " if c.certified else "Found:    "
    lines = f"{words.verb(c).capitalize()}: {c.formula}\n{label} {status}, {words.claim(c)}"
    return lines.replace("\\", "/").replace('"', "'")


def _model(c: "Certificate", problems: list[PageCall], literals: Literals) -> str:
    calls = [
        f"({literals.source(p.targets)}, {literals.source({**p.arguments, 'tol': c.tol})})"
        for p in problems
    ]
    names = c.feature_names or ()
    if c._steps is not None:
        names = tuple(dict.fromkeys(str(step.name) for step in c._steps))
    return template.MODEL.format(
        arrays='ARRAYS = np.load(__file__[:-3] + ".npz")\n' if literals.arrays else "",
        shape=c.shape, objective=literals.source(c.objective),
        slack=literals.source(_slack(c, problems)),
        classes=() if c.labels is None else c.labels.classes.tolist(), columns=[*names],
        problems=",\n    ".join(calls),
    )  # fmt: skip


def _slack(c: "Certificate", problems: list[PageCall]) -> float:
    """Allowed difference of the page's objective: rounding, and the remaining gap.

    Where nothing but the data bounds w, columns may nearly cancel: the page's plain products then
    lose digits that the proof has, for which a tenth of the claim's tolerance is allowed.
    """
    gap = c.gap if c.bound is not None and np.isfinite(c.gap) else 0.0
    slack = 1e-9 * abs(c.objective)
    is_penalized = any(p.arguments.get("l1", 1) or p.arguments.get("l2", 1) for p in problems)
    if not is_penalized and isinstance(c._finding, OptimumFinding):
        slack = max(slack, c.tol * c._finding.null_objective / 10)
    return slack + gap


def _loader(c: "Certificate", problems: list[PageCall]) -> str:
    first = problems[0]
    targets, constant = _has_targets(first), first.constant
    labels = template.LABELS if targets and c.labels is not None else ""
    loader, steps = template.LOADER, ""
    if c._steps is not None:
        loader = loader.replace(template.READ_ROWS, template.READ_ANY_ROWS)
        loader = loader.replace(template.READ_SPARSE_ROWS, "")
        steps = template.STEPS.format(
            steps=[*map(tuple, c._steps)],
            missing=template.MISSING, missing_numbers=template.MISSING_NUMBERS,
        )  # fmt: skip
    weights = f"more[{int(targets)}].ravel().astype(float)"
    offset = bool(targets and c.parameters.get("offset"))
    counts: tuple[int, ...] = (1,) if first.page in UNWEIGHTED_PAGES else (1, 2)
    if targets:
        counts = (2, 3, 4) if offset else (2, 3)
    main = template.MAIN.format(
        counts=counts, X=_X(c), y=_y(c, targets), length=", len(y)" if targets else "",
        s=f"{weights} if len(more) > {int(targets)} else np.ones(len(X))",
        offset=template.JOIN_OFFSETS if offset else "",
        rows="X" if constant is None else f"np.column_stack([X, np.full(len(X), {constant!r})])",
        report=_report(c),
    )  # fmt: skip
    if not steps:
        return loader + labels + main
    return "\n" + (loader + labels + steps + main).replace("\n\n", "\n").lstrip()  # 150 lines


def _report(c: "Certificate") -> str:
    """The part that prints the result, with contradictions that the page does not recompute."""
    report = template.EXACT_REPORT if c.kind == "exact" else template.OPTIMUM_REPORT
    refuted = [*c._finding.contradictions, *([c._finding.unproven] if c._finding.unproven else [])]
    if not c.certified and refuted:
        report += template.REFUTED_REPORT.format(texts=", ".join(map(repr, refuted)))
    return report


def _X(c: "Certificate") -> str:
    if c._steps is not None:
        if any(isinstance(step.name, str) for step in c._steps):
            return "[prepared(T, *step) for step in STEPS]"
        given = "[column for name, column in T.items() if name not in files[1:]]"
        return f"[prepared({given}, *step) for step in STEPS]"
    names = "(COLUMNS if {*COLUMNS} & {*T} else T)" if c.feature_names else "T"
    return f"[T[name].astype(float) for name in {names} if name not in files[1:]]"


def _y(c: "Certificate", targets: bool) -> str:
    if not targets:
        return "None"
    if c.labels is not None:
        return "numbers(more[0].ravel().tolist())"
    return f"more[0].astype(float).reshape(len(X), {_n_targets(c)})"


def _n_targets(c: "Certificate") -> int:
    """Number of columns of y for a model that predicts numbers."""
    votes = c.parameters.get("votes")
    if votes is not None:
        return int(votes["predicted"].shape[1])
    b = c.parameters.get("b")
    with_offset = bool(c.parameters.get("offset", False))  # beside the targets
    return 1 if b is None else int(np.size(b)) + with_offset


def _has_targets(problem: PageCall) -> bool:
    return not isinstance(problem.targets, NoTargets)
