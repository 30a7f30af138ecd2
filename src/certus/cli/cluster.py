"""``certus cluster``: groups of the rows of a table, with the evidence that there are any."""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError, UsageError
from ..text.format import count, number
from . import certificates, output, tables
from .exit_codes import OK
from .files.writing import require_table_suffix, write_table
from .refusals import refusals

if TYPE_CHECKING:
    from ..tables import Column, Table

MAX_PROFILE_COLUMNS = 12
MAX_TRIED = 10
LABELS = "cluster"  # the column of --out


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "cluster",
        help="groups of rows, with evidence or 'none found', and a profile of each",
        description="Look for groups among the rows of a table by k-means on standardised columns.",
        allow_abbrev=False,
    )
    parser.add_argument("table", help="CSV, TSV, Parquet, Feather or .npy file; - for stdin")
    parser.add_argument("--clusters", type=int, help="the number of groups (default: by evidence)")
    parser.add_argument("--columns", help="use these columns alone, separated by commas")
    parser.add_argument("--drop", help="do not use these columns, separated by commas")
    parser.add_argument("--out", help="write the table with a column 'cluster' (CSV or Parquet)")
    parser.add_argument("--seed", type=int, default=0, help="of the starts (default: 0)")
    parser.add_argument("--force", action="store_true", help="overwrite --out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Decide how many groups there are, fit, describe each."""
    from ..cluster import KMeans, choose_n_clusters
    from ..tables import pipeline_for

    if args.out is not None:
        tables.require_new(args.out, args.force)
        require_table_suffix(args.out)
    table = tables.read(args.table, args)
    if args.out is not None and LABELS in table.data.column_names:
        raise UsageError(f"the table has a column '{LABELS}' already: rename it")
    columns = tables.used_columns(
        table, [], tables.names_in(args.columns), tables.names_in(args.drop) or []
    )
    X = table.select([c.name for c in columns])
    model = KMeans(args.clusters or 1, n_init=10, random_state=args.seed)
    rows = np.asarray(pipeline_for(columns, model, table.report.n_rows)[:-1].fit_transform(X))
    verdict, k = "the number was given", args.clusters
    if k is None:
        most = min(MAX_TRIED, len(rows) - 1)
        if most < 2:
            raise TableError(f"{count(len(rows), 'row')}: too few to look for groups")
        with output.warnings_noted(), refusals(model):
            found = choose_n_clusters(
                rows, range(1, most + 1), random_state=args.seed, on_progress=_progress()
            )
        verdict, k = found.verdict, found.n_clusters
    if k is None:
        if args.json:
            output.json_result("cluster", {
                "n_clusters": None, "verdict": verdict, "groups": [], "warnings": [],
                "certificate": None, "file": None,
            })  # fmt: skip
        else:
            output.wrapped(f"No groups found: {verdict}")
        return OK
    with output.warnings_noted() as warned, refusals(model):
        model.set_params(n_clusters=k).fit(rows)
    groups = [profile(table, columns, model.labels_ == g) for g in range(k)]
    if args.out is not None:
        import pyarrow as pa

        labeled = table.data.append_column(LABELS, pa.array(model.labels_))
        write_table(labeled, args.out)
    if args.json:
        output.json_result("cluster", {
            "n_clusters": k, "verdict": verdict, "groups": groups, "warnings": warned,
            "certificate": model.certificate_.to_dict(), "file": args.out,
        })  # fmt: skip
    else:
        output.wrapped(f"Groups found: {verdict}" if args.clusters is None else count(k, "group"))
        output.result()
        _print_profiles(groups, columns)
        certificates.show(model.certificate_)
        if args.out is not None:
            output.written(args.out)
    return certificates.exit_code(model.certificate_)


def _progress() -> Callable[[int, int], None]:
    last = [-1]

    def show(done: int, of: int) -> None:
        percent = 100 * done // max(of, 1)
        if percent // 10 > last[0] and sys.stderr.isatty():
            last[0] = percent // 10
            output.note(f"how many groups: {percent} %")

    return show


def profile(table: "Table", columns: "tuple[Column, ...]", mask: np.ndarray) -> dict[str, object]:
    """Rows of a group; the mean of each number and the commonest category, in the table's units."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = pa.array(mask)
    values: dict[str, object] = {}
    for c in columns:
        column = table.data.column(c.name).filter(chosen)
        if c.role == "number":
            values[c.name] = pc.mean(column).as_py()
        else:
            counts = pc.value_counts(column.combine_chunks().drop_null())
            top = max(counts.to_pylist(), key=lambda row: row["counts"], default=None)
            share = top["counts"] / max(len(column), 1) if top else 0.0
            values[c.name] = {"commonest": str(top["values"]) if top else None, "share": share}
    return {"rows": int(mask.sum()), "profile": values}


def _print_profiles(groups: list[dict[str, object]], columns: "tuple[Column, ...]") -> None:
    """Print a table of the groups, several ones below each other where the terminal is narrow."""
    shown = columns[:MAX_PROFILE_COLUMNS]
    labels = ["", "rows", *(output.printable(c.name) for c in shown)]
    cells = [_profile_cells(g, group, shown) for g, group in enumerate(groups)]
    for part in _fitting(cells, output.width() - max(map(len, labels))):
        for label, *row in zip(labels, *part, strict=True):
            output.result(f"{label:<{max(map(len, labels))}}{''.join(row)}".rstrip())
        output.result()
    if len(columns) > len(shown):
        output.result(f"… and {count(len(columns) - len(shown), 'column')} more (--json has them)")
        output.result()


def _profile_cells(g: int, group: dict[str, object], shown: "tuple[Column, ...]") -> list[str]:
    """The cells of a group, below each other and of the same width."""
    values = group["profile"]
    assert isinstance(values, dict)
    cells = [f"group {g}", f"{group['rows']:,}", *(_cell(values[c.name]) for c in shown)]
    cells = [output.printable(cell) for cell in cells]
    return [cell.rjust(2 + max(map(len, cells))) for cell in cells]


def _fitting(columns: list[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Columns that fit beside each other, at least one at a time."""
    part: list[list[str]] = []
    for column in columns:
        if part and sum(len(c[0]) for c in [*part, column]) > width:
            yield part
            part = []
        part.append(column)
    yield part


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return f"{value['commonest']} {100 * value['share']:.0f} %"
    return "–" if value is None else number(float(str(value)), 4)
