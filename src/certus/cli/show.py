"""``certus show``: what a model file holds, without making the model."""

import argparse

from ..text.format import count, number
from . import output
from .exit_codes import OK


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "show", help="what a model file holds", description="Print what a model file holds.",
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("model", help="a model file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the summary and print it."""
    from ..model_files import summary

    found, table = summary(args.model)
    if args.json:
        output.json_result("show", {"summary": found, "table": table})
        return OK
    for label, text in lines_of(dict(found), table):
        output.wrapped(f"{label:<{output.INDENT}}{text}", rest=output.indent())
    return OK


def lines_of(found: dict[str, object], table: object) -> list[tuple[str, str]]:
    """Labels and texts of a summary."""
    steps, names = _texts(found.get("steps")), _texts(found.get("feature_names"))
    lines = [("Model", str(found.get("model")))]
    if len(steps) > 1:
        lines.append(("Steps", " → ".join(step.rpartition(".")[2] for step in steps)))
    if names:
        lines.append(("Columns", _listed(names)))
    elif found.get("n_features") is not None:
        lines.append(("Columns", str(found["n_features"])))
    if isinstance(table, dict) and table.get("target"):
        lines.append(("Target", str(table["target"])))
    if classes := _texts(found.get("classes")):
        lines.append(("Classes", _listed(classes)))
    certificate = found.get("certificate")
    if isinstance(certificate, dict):
        lines.append(("Certificate", _certificate(certificate)))
        lines.append((_aim(certificate), str(certificate.get("formula"))))
    rows = (
        "yes: whoever has the file has these rows" if found.get("contains_training_rows") else "no"
    )
    lines.append(("Training rows", rows))
    lines.append(("Self-test", "runs on loading" if found.get("self_test") else "none"))
    versions = found.get("versions")
    if isinstance(versions, dict):
        lines.append(("Written by", ", ".join(f"{k} {v}" for k, v in versions.items())))
    return lines


def _aim(c: dict[str, object]) -> str:
    """Return what was done to the objective; answers and trees have none."""
    from ..certificate.registry import is_maximized

    if c.get("kind") == "exact":
        return "Claim"
    return "Maximised" if is_maximized(str(c.get("definition"))) else "Minimised"


def _certificate(c: dict[str, object]) -> str:
    objective, gap = c.get("objective"), c.get("gap")
    text = str(c.get("status"))
    if isinstance(objective, float):
        text += f", objective {number(objective, 6)}"
    if isinstance(gap, float):
        text += f", at most {number(gap, 1)} above the best possible"
    return f"{text} (of the fit; 'certus verify' recomputes it)"


def _texts(value: object) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else []


def _listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({count(len(names), 'name')})"
