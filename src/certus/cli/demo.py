"""``certus demo``: fits beside scikit-learn's, each with its certificate."""

import argparse
import textwrap
from typing import TYPE_CHECKING

from ..exceptions import UsageError
from ..text.format import count, number, small
from ..text.suggestions import unknown
from . import output
from .exit_codes import CLAIM_FAILS, OK
from .output import paint, result, wrapped

if TYPE_CHECKING:
    from ..certificate import Certificate
    from .demo_rows import AuditedFit, Shown

INDENT = 4
NAME_WIDTH = 11  # the longest name of a row
COLOR_OF_STATUS = {
    "optimal": "good", "stationary": "good", "exact": "good", "local optimum": "good",
    "nearly optimal": "poor",
}  # fmt: skip
# lines of explain() that are equal in every audit of the demo
REPEATED_LABELS = ("Minimised", "Note", "Checked by")


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "demo",
        help="fits beside scikit-learn's, each with its certificate",
        description="Fit with certus and with scikit-learn, and audit both answers.",
        allow_abbrev=False,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="rows to show (default: all)")
    parser.add_argument(
        "--all-details", action="store_true", help="every certificate and audit in full"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fit, audit and print row by row."""
    import sklearn

    from .. import __version__
    from . import demo_rows

    rows = {row.name: row for row in demo_rows.ROWS}
    for name in args.names:
        if name not in rows:
            raise UsageError(unknown("row", name, rows))
    names = args.names or list(rows)
    title = f"certus {__version__} beside scikit-learn {sklearn.__version__}"
    result(paint(title, "strong"))
    result("Every answer is checked from the data it was fitted to, by the same definition.\n")
    shown = []
    for name in names:
        shown.append(demo_rows.fit_both(rows[name]))
        _row(shown[-1])
    for each in shown:
        if args.all_details:
            _details(each.row.name, each.ours.certificate, skip=())
        theirs = each.theirs
        if theirs is not None and (args.all_details or not theirs.certificate.certified):
            _details(each.row.name, theirs.certificate, () if args.all_details else REPEATED_LABELS)
    _closing(shown)
    return OK if all(each.right for each in shown) else CLAIM_FAILS


def _row(shown: "Shown") -> None:
    row, n = shown.row, shown.ours.certificate.shape[0]
    about = f"{row.call}: {row.about}, {count(n, 'row')}"
    lines = textwrap.wrap(about, output.width() - NAME_WIDTH - 1)
    result(f"{paint(f'{row.name:<{NAME_WIDTH}}', 'strong')} {lines[0]}")
    for line in lines[1:]:
        result(" " * (NAME_WIDTH + 1) + line)
    proven = "proven" if shown.right else "please report this"
    _answer("certus", shown.ours, proven)
    if shown.theirs is None:
        result(f"{' ' * INDENT}{'scikit-learn':<13} has no such model")
    else:
        _answer("scikit-learn", shown.theirs, _complaint(shown))
    for text in shown.ours.warned:
        wrapped(text, first=INDENT, rest=INDENT)
    result()


def _complaint(shown: "Shown") -> str:
    """The fault of scikit-learn's answer; empty where it is certified."""
    assert shown.theirs is not None
    warned = "with a warning" if shown.theirs.warned else "no warning"
    if shown.row.expects == "exact":
        wrong = count(int(shown.theirs.certificate.objective), "wrong answer")
        return f"{wrong}, {warned}"
    if shown.theirs.certificate.maximized:
        return f"{number(shown.below, 2)} a row too low, {warned}"
    none = shown.row.expects == "no finite optimum"
    return f"{'an answer' if none else _times(shown.times)}, {warned}"


def _times(times: float) -> str:
    if times >= 2:
        return f"{number(times, 3)} × the best"
    return f"{number(100 * (times - 1), 2)} % too high"


def _answer(library: str, fit: "AuditedFit", complaint: str) -> None:
    c = fit.certificate
    verdict = paint(
        f"{c.status if c.certified else c.status.upper():<17}",
        COLOR_OF_STATUS.get(c.status, "bad"),
    )
    good, value = f"within {small(c.gap)} of the best possible", number(c.objective, 6)
    if c.status == "stationary":
        good = "no small change lowers it"
    if c.kind == "exact":
        good, value = "every sampled answer is right", ""
    if c.kind == "local":
        good = f"no step {'raises' if c.maximized else 'lowers'} it"
    result(
        f"{' ' * INDENT}{library:<13} {verdict} {value:>9}  {good if c.certified else complaint}"
    )


def _details(name: str, certificate: "Certificate", skip: tuple[str, ...]) -> None:
    result(paint(name, "strong"))
    output.explained(certificate.explain(), skip)
    result()


def _closing(shown: "list[Shown]") -> None:
    theirs = [each.theirs for each in shown if each.theirs is not None]
    wrong = [fit for fit in theirs if not fit.certificate.certified]
    silent = [fit for fit in wrong if not fit.warned]
    ours = sum(each.ours.certificate.certified for each in shown)
    none = sum(each.right and not each.ours.certificate.certified for each in shown)
    rest = f", {none} proven to have no finite optimum" if none else ""
    result(f"certus: {ours} of {count(len(shown), 'fit')} certified{rest}.")
    result(
        f"scikit-learn: {len(theirs) - len(wrong)} right, {len(wrong)} not, "
        f"{len(silent)} of those without a warning."
    )
    result(
        "\nA certificate is about the arithmetic, not about your data: it proves how far\n"
        "the objective can be from its minimum, not that the model is true or predicts\n"
        "well.\n"
        "\nAudit a scikit-learn model of your own, on the rows that it was fitted on:\n"
    )
    result(paint("    import certus", "strong"))
    result(paint("    print(certus.verify(model, X, y).explain())", "strong"))
