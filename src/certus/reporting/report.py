"""``certus.report``: from a table to a page that says whether its target can be predicted."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import UsageError
from ..model_files import summary
from ..runtime.refusals import refuses_in_one_frame
from ..tables import Table, read_table
from ..tables.frames import order_of, table_of_frame
from . import folder as folders
from .as_frames import TABLES, frame
from .build import Built, build
from .model_part import array_bytes, model_bytes
from .options import command_of, cost_of, names_of, seconds_of
from .prepare import prepare, prepare_test
from .prepared import Prepared
from .procedure.candidates import samples_told
from .run_record import run_record
from .settings import Settings

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from .content.document import ReportContent
    from .prepared import PreparedTest
    from .procedure.progress import Progress

HEIGHT = 720  # pixels of the page in a notebook


@dataclass(frozen=True, eq=False)
class Report:
    """What ``certus.report`` found: the page, the verdict and the model.

    Attributes
    ----------
    content : ReportContent
        Everything that the page shows, as dataclasses.
    verdict : str
        The answer in words and numbers.
    model : Pipeline or None
        The chosen model, fitted on all rows; its last step has a ``certificate_``. None without a
        target.
    tables : tuple of str
        The names of the tables that ``table`` gives.
    """

    content: "ReportContent"
    prepared: Prepared = field(repr=False)
    settings: Settings = field(repr=False)
    built: Built = field(repr=False)
    reading: Mapping[str, object] = field(repr=False, default_factory=dict)
    extra: Mapping[str, bytes] = field(repr=False, default_factory=dict)

    @property
    def verdict(self) -> str:
        """The answer in words and numbers."""
        return f"{self.content.verdict.headline} {self.content.verdict.text}".strip()

    @property
    def model(self) -> "Pipeline | None":
        """The chosen model, fitted on all rows."""
        return None if self.built.result is None else self.built.result.pipeline

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables of this report."""
        return tuple(name for name, rows in TABLES.items() if rows(self.content).rows)

    def table(self, name: str) -> Any:
        """A table of the page, as a pandas frame, or as an Arrow table without pandas.

        Raises ``UsageError`` for a name that is not in ``tables``.
        """
        return frame(self.content, name, self.tables)

    def to_html(self) -> str:
        """The page: one file that needs no network."""
        from .render import html

        return html.render(self.content)

    def to_markdown(self) -> str:
        """The page as Markdown."""
        from .render import markdown

        return markdown.render(self.content)

    def to_json(self) -> str:
        """The page as JSON; its schema is docs/schemas/report.json."""
        from .render import as_json

        return as_json.render(self.content)

    def to_dict(self) -> dict[str, Any]:
        """What ``to_json`` writes, as a dictionary."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def save(self, folder: str | PathLike[str], force: bool = False) -> Path:
        """Write the page, the model and what repeats them into a folder.

        ``report.html``, ``report.md``, ``report.json``, ``run.json`` and, with a target,
        ``model.certus`` and ``check.py`` (where the model keeps no rows). A folder that holds
        anything but an earlier report is refused, unless ``force`` is True.
        """
        files: dict[str, str | bytes] = {
            folders.PAGE: self.to_html(), folders.MARKDOWN: self.to_markdown(),
            folders.JSON: self.to_json(), **self.extra,
        }  # fmt: skip
        result, script = self.built.result, self.built.script
        if result is not None:
            files[folders.MODEL] = model_bytes(self.prepared, result, self.settings, self.reading)
        if script is not None:
            files[folders.SCRIPT] = script.text
            if script.arrays:
                files[folders.ARRAYS] = array_bytes(script)
        files[folders.RUN] = run_record(self.built, files, folder)
        return folders.write_folder(folder, files, force)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither styles the other."""
        return (
            f'<iframe title="{escape(self.content.title)}" srcdoc="{escape(self.to_html())}" '
            f'sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:1px solid #8888">'
            "</iframe>"
        )

    def __repr__(self) -> str:
        return f"Report({self.content.title} {self.verdict})"


@refuses_in_one_frame
def report(
    data: Any,
    target: str | None = None,
    *,
    cluster: bool = False,
    task: str = "auto",
    positive: object = None,
    order: Sequence[object] = (),
    drop: str | Sequence[str] = (),
    id: str | None = None,
    weights: str | None = None,
    group: str | None = None,
    time: str | None = None,
    by: str | Sequence[str] = (),
    test: Any = None,
    cost: str | Mapping[str, float] | None = None,
    models: str | Sequence[str] = (),
    threads: int | None = None,
    budget: str | float | None = None,
    seed: int = 0,
    show_rows: bool = False,
    against: str | PathLike[str] | None = None,
    progress: "Progress | None" = None,
) -> Report:
    """Can the target be predicted from the other columns, how well, and with what evidence?

    Models are compared on inner folds, and the whole choice is scored on outer folds, against
    guessing; the chosen model is fitted to all rows, and its certificate recomputed.

    Parameters
    ----------
    data : path, data frame or Table
        A CSV, TSV, Parquet, Feather or .npy file, or a frame of pandas, polars or Arrow. Of files
        larger than memory a sample: ``certus.sources.read_sample(paths, rows=…, seed=…)``.
    target : str
        The column to predict.
    cluster : bool, default=False
        Look for groups instead; without a target.
    task : {"auto", "two-classes", "classes", "ordered", "numbers"}, default="auto"
        What the target is taken as.
    positive : class, default=None
        The class whose probability is predicted, of two; by default the rarer.
    order : sequence of classes, default=()
        The classes from low to high, which makes them ordered.
    drop, by : str or sequence of str, default=()
        Columns that models do not use; columns by whose values the verdict is repeated.
    id, weights, group, time : str, default=None
        Columns that name rows, weight them, keep them in one fold, or order them in time (folds
        are then consecutive); models do not use them.
    test : path, data frame or Table, default=None
        Rows on which the model is scored, and which are compared with those of ``data``; never used
        for choosing.
    cost : mapping or str, default=None
        Costs of a false positive and of a false negative: {"fp": 1, "fn": 20} or "fp=1,fn=20".
    models : str or sequence of str, default=()
        The models to compare; by default all that suit.
    threads : int, default=None
        Threads to use; all cores by default. The report does not depend on them. Where a back end
        of joblib is entered, such as ``joblib.parallel_config(backend="dask")``, it runs the folds.
    budget : str or float, default=None
        About how long it may take: seconds, or "5m". Models that do not fit in are left out.
    seed : int, default=0
        Of folds and resamples.
    show_rows : bool, default=False
        Show the cells of the explained rows; without it the page holds no value of a cell.
    against : path, default=None
        An earlier report.json or model file to compare with.
    progress : Progress, default=None
        Receives what is being done, by ``step(name, done, of)``.

    Returns
    -------
    Report
        Shown as a page in notebooks; ``save`` writes it.

    Raises
    ------
    TableError, UsageError
        With the column or the row, and what to do.

    Examples
    --------
    >>> import certus
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True).frame
    >>> found = certus.report(iris[:100], target="target", models="logistic")
    >>> found.content.question.task
    'two classes'
    >>> found.model[-1].certificate_.certified
    True
    """
    settings = Settings(
        target=target, cluster=cluster, task=task,
        positive=None if positive is None else str(positive),
        drop=names_of(drop), id=id, weights=weights, group=group, time=time, by=names_of(by),
        order=tuple(map(str, order)), **cost_of(cost), models=names_of(models), threads=threads,
        budget=seconds_of(budget), seed=seed, show_rows=show_rows,
    )  # fmt: skip
    if not settings.order and target is not None and not isinstance(data, Table):
        settings = ordered_by_type(settings, data)
    table = as_table(data)
    rows = None if test is None else as_table(test, "the test frame", roles_of_columns(table))
    return made(
        table, settings, test=rows, earlier=None if against is None else read_earlier(against),
        command=command_of([table.report.source], settings), progress=progress,
    )  # fmt: skip


def made(
    table: Table,
    settings: Settings,
    *,
    test: Table | None = None,
    earlier: tuple[dict[str, object], str] | None = None,
    command: str = "",
    progress: "Progress | None" = None,
    reading: Mapping[str, object] | None = None,
    extra: Mapping[str, bytes] | None = None,
    announce: Callable[[str], None] | None = None,
) -> Report:
    """The report of a table that was read, which ``certus.report`` and the command share.

    ``reading``: what the user said about tables of this kind; ``extra``: files beside the page;
    ``announce`` is given what was decided, and which models use a sample, before the work begins.
    """
    prepared = prepare(table, settings)
    if announce is not None:
        for line in (*prepared.notes, *(f"left out: {text}" for text in prepared.dropped)):
            announce(line)
        for line in () if settings.cluster else samples_told(prepared, settings):
            announce(line)
    held_out: PreparedTest | None = None
    if test is not None:
        held_out = prepare_test(test, prepared, settings)
    built = build(
        prepared, settings, progress, test=held_out, command=command,
        files={"table": table.report.source}, earlier=earlier,
    )  # fmt: skip
    return Report(built.content, prepared, settings, built, reading or {}, extra or {})


def as_table(
    data: Any, source: str = "the data frame", roles: Mapping[str, str] | None = None
) -> Table:
    """A table of a path, a stream or a frame; a table as it is."""
    if isinstance(data, Table):
        return data
    if isinstance(data, str | PathLike) or hasattr(data, "read"):
        return read_table(data, roles=roles)
    return table_of_frame(data, source)


def roles_of_columns(table: Table) -> dict[str, str]:
    """The roles of the columns that models use, for another table of the same kind."""
    return {c.name: c.role for c in table.columns if c.is_used}


def ordered_by_type(settings: Settings, data: Any) -> Settings:
    """The settings, with the order of a target of an ordered type."""
    order = order_of(data, str(settings.target))
    return replace(settings, order=order) if order else settings


def read_earlier(path: str | PathLike[str]) -> tuple[dict[str, object], str]:
    """An earlier report as its JSON, or the summary of a model file; and its name."""
    path = Path(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if not text.lstrip().startswith(b"{"):
        found, schema = summary(path)
        return {"kind": "model file", "summary": dict(found), "table": schema}, path.name
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    if "verdict" not in document:
        raise UsageError(f"{path} is no report.json of certus report, and no model file")
    return document, path.name
