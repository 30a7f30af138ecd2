"""The parts of a page on which no model answers: structure alone, or stopped before an answer."""

from importlib.metadata import version

from .content.answer import Verdict
from .content.document import ReportContent, Reproduction
from .prepared import Prepared
from .sections.reproduce import sample_lines
from .settings import Settings


def structure_verdict(content: ReportContent) -> Verdict:
    """The answer to "are there groups?"."""
    assert content.structure is not None
    has_groups = content.structure.profiles is not None
    headline = "Groups found." if has_groups else "No groups."
    return Verdict("structure", headline, content.structure.text, None)


def stopped_verdict() -> Verdict:
    """No answer: the work was stopped before any model was scored."""
    return Verdict(
        "stopped", "No answer.",
        "The work was stopped before a model was chosen and scored. Run it again, or give it less "
        "to do by --models or --budget.", None,
    )  # fmt: skip


def reproduction_of(prepared: Prepared, settings: Settings, files: dict[str, str]) -> Reproduction:
    """How to repeat a report without a model."""
    table = files.get("table", prepared.table.report.source)
    sample = prepared.table.sample
    lines = ["import certus", ""] if sample is None else ["import certus", *sample_lines(sample)]
    source = repr(table) if sample is None else "sample"
    options = "cluster=True" if settings.cluster else f"target={settings.target!r}"
    return Reproduction(
        snippet=(
            "\n".join(lines)
            + f"\nreport = certus.report({source}, {options}, seed={settings.seed})\n"
            "print(report.verdict)\n"
        ),
        value=None, recheck="", script=None,
        script_reason="There is no check.py, since there is no model to check.",
        versions=versions(),
    )  # fmt: skip


def versions() -> tuple[tuple[str, str], ...]:
    """The packages that a number of the page may depend on."""
    from .. import __version__

    packages = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")
    return (("certus", __version__), *((name, version(name)) for name in packages))
