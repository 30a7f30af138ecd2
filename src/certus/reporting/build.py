"""From prepared rows to the content of the page.

    procedure ─► problems ─► sections of the model ─► sections of the data ─► ReportContent

A section that fails is a bug and raises. Ctrl-C ends what is being done; the page then holds what
was finished, and says what was not.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..runtime.config import config_context
from .content.answer import Certificates
from .content.data import Problems, Unchecked
from .content.document import ReportContent
from .content.values import Note
from .folder import MODEL, SCRIPT
from .model_part import Script, script_of
from .prepared import Prepared, PreparedTest
from .procedure.other_rows import score_of_test_rows
from .procedure.progress import Progress, Silent
from .procedure.result import ProcedureResult
from .procedure.run import run_procedure
from .question import question_of, title_of
from .sections import (
    against,
    calibration,
    cases,
    ceiling,
    certificates,
    crosswalk,
    explanations,
    headroom,
    measures,
    problems,
    reproduce,
    structure,
    subgroups,
    table_one,
    unchecked,
    uses,
    verdict,
    what_if,
)
from .settings import Settings
from .without_model import reproduction_of, stopped_verdict, structure_verdict

Part = TypeVar("Part")
Other = TypeVar("Other")
STOPPED = "you stopped the work (Ctrl-C) before it was done"


@dataclass
class Work:
    """What is being done: its progress, the time of each section, and whether it was stopped."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    unfinished: list[Unchecked] = field(default_factory=list)
    stopped: bool = False

    def part(self, name: str, make: Callable[[], Part], otherwise: Other) -> Part | Other:
        """What ``make`` returns; after Ctrl-C ``otherwise``, with a line on what was not done."""
        if self.stopped:
            self.unfinished.append(Unchecked(name, STOPPED))
            return otherwise
        try:
            return self.always(name, make)
        except KeyboardInterrupt:
            self.stopped = True
            self.unfinished.append(Unchecked(name, STOPPED))
            return otherwise

    def always(self, name: str, make: Callable[[], Part]) -> Part:
        """What ``make`` returns, also after Ctrl-C: the page is nothing without it."""
        began = time.perf_counter()
        self.progress.step(name, 0, 0)
        try:
            return make()
        finally:
            self.seconds[name] = time.perf_counter() - began


@dataclass(frozen=True, eq=False)
class Built:
    """The content of a page, what it was made from, and how long each section took."""

    content: ReportContent
    result: ProcedureResult | None
    seconds: dict[str, float]
    seconds_in_all: float
    script: Script | None = None  # that checks the certificate


def build(
    prepared: Prepared,
    settings: Settings,
    progress: Progress | None = None,
    *,
    test: PreparedTest | None = None,
    command: str = "",
    files: Mapping[str, str] | None = None,
    earlier: tuple[dict[str, object], str] | None = None,
) -> Built:
    """Choose and score models, and describe them and the data.

    Parameters
    ----------
    prepared, settings, test
        The rows, what was requested of them, and rows that are never used for choosing.
    progress
        Receives what is being done.
    command : str
        The command that repeats the report.
    files : mapping
        The name of the "table"; those of the "model" and of the "script" are added.
    earlier : (dict, str), default=None
        A report to compare with, as its JSON, and where it comes from.

    Returns
    -------
    Built
        With ``content.unfinished`` set if Ctrl-C came.
    """
    work = Work(progress or Silent())
    with config_context(**({"threads": settings.threads} if settings.threads else {})):
        return _built(work, prepared, settings, test, command, dict(files or {}), earlier)


def _built(
    work: Work, prepared: Prepared, settings: Settings, test: PreparedTest | None, command: str,
    files: dict[str, str], earlier: tuple[dict[str, object], str] | None,
) -> Built:  # fmt: skip
    began = time.perf_counter()
    result, script = None, None
    if not settings.cluster:
        result = work.part(
            "comparing models", lambda: run_procedure(prepared, settings, work.progress), None
        )
    if result is not None:
        work.seconds.update(result.seconds)
    found = work.part(
        "data problems",
        lambda: problems.find(prepared, settings, test, result),
        Problems("", (), ()),
    )
    content, parts = _of_data(work, prepared, settings, found)
    if result is not None:
        script, reason = script_of(prepared, result)
        files = {"model": MODEL, **files, **({"script": SCRIPT} if script is not None else {})}
        content, more = _of_model(work, prepared, settings, result, content, command, files)
        if test is not None:
            content = _with_test_rows(work, prepared, settings, result, test, content)
        repeated = replace(
            content.reproduction, script=SCRIPT if script is not None else None,
            script_reason=reason,
        )  # fmt: skip
        content = replace(content, reproduction=repeated)
        parts = (*parts, *more)
    else:
        answer = stopped_verdict() if content.structure is None else structure_verdict(content)
        content = replace(
            content, verdict=answer, reproduction=reproduction_of(prepared, settings, files)
        )
    stopped = work.stopped or (result is not None and result.stopped)
    if result is not None:
        parts = (*parts, *(Unchecked("comparing models", why) for why in result.cut))
    content = replace(
        content, unfinished=stopped, notes=_notes(prepared, result, stopped),
        unchecked=unchecked.collect(
            prepared, settings, (*parts, *work.unfinished), test=test, problems=found
        ),
    )  # fmt: skip
    content = replace(content, crosswalk=crosswalk.items(content))
    content = replace(content, explanations=explanations.make(content))
    if earlier is not None:
        content = replace(content, against=against.make(content, *earlier))
    return Built(content, result, work.seconds, time.perf_counter() - began, script)


def _with_test_rows(
    work: Work, prepared: Prepared, settings: Settings, result: ProcedureResult,
    test: PreparedTest, content: ReportContent,
) -> ReportContent:  # fmt: skip
    """The content with the measure on the rows of ``--test`` beside the verdict's."""
    found = work.part(
        "test rows", lambda: score_of_test_rows(prepared, settings, result, test), None
    )
    if found is None:
        return content
    others = (found, *content.verdict.others)
    return replace(content, verdict=replace(content.verdict, others=others))


def _of_data(
    work: Work, prepared: Prepared, settings: Settings, found: Problems
) -> tuple[ReportContent, tuple[Unchecked, ...]]:
    """The sections that need no model; the others are empty."""
    from .. import __version__

    shape, parts = work.part(
        "structure", lambda: structure.make(prepared, settings, work.progress), (None, ())
    )
    content = ReportContent(
        title=title_of(prepared, settings), certus_version=__version__,
        question=question_of(prepared, settings), verdict=stopped_verdict(), comparison=None,
        certificates=Certificates((), ""), headroom=None, measures=None, calibration=None,
        uses=None, what_if=None, ceiling=None, structure=shape, cases=None,
        table_one=work.part("Table 1", lambda: table_one.make(prepared, settings), None),
        problems=found, subgroups=(), unchecked=(),
        reproduction=reproduction_of(prepared, settings, {}),
    )  # fmt: skip
    return content, parts


def _of_model(
    work: Work, prepared: Prepared, settings: Settings, result: ProcedureResult,
    content: ReportContent, command: str, files: dict[str, str],
) -> tuple[ReportContent, tuple[Unchecked, ...]]:  # fmt: skip
    """The sections that describe the chosen model."""
    given = (prepared, settings, result)
    answer = work.always("verdict", lambda: verdict.make(*given, content.problems))
    inputs, parts = work.part("what-if", lambda: what_if.make(*given), (None, ()))
    explained, more = work.part("cases", lambda: cases.make(*given), (None, ()))
    content = replace(
        content, verdict=answer, comparison=result.comparison,
        certificates=work.always("certificates", lambda: certificates.make(*given)),
        headroom=work.part("headroom", lambda: headroom.make(*given), None),
        measures=work.part("measures", lambda: measures.make(*given), None),
        calibration=work.part("calibration", lambda: calibration.make(*given), None),
        uses=work.part("what it uses", lambda: uses.make(*given), None),
        what_if=inputs,
        ceiling=work.part("ceiling", lambda: ceiling.make(*given), None),
        cases=explained,
        subgroups=work.part("subgroups", lambda: subgroups.make(*given), ()),
        reproduction=work.always(
            "how to reproduce", lambda: reproduce.make(*given, command, files)
        ),
    )  # fmt: skip
    return content, (*parts, *more)


def _notes(prepared: Prepared, result: ProcedureResult | None, stopped: bool) -> tuple[Note, ...]:
    """Notes on the whole page: a sample, and what Ctrl-C or the budget left out."""
    notes = [Note(text, "warning") for text in (result.cut if result is not None else ())]
    if stopped:
        notes.insert(0, Note("This report is unfinished: it was stopped (Ctrl-C).", "warning"))
    sample = prepared.table.sample
    if sample is not None:
        text = (
            f"This report is about a sample of {len(sample.numbers):,} of {sample.n_of_files:,} "
            f"rows, drawn at random (seed {sample.seed}). Wherever it speaks of all rows, it means "
            "all of the sample; rows have the numbers that they have in the whole."
        )
        notes.insert(0, Note(text, "warning"))
    return tuple(notes)
