"""Results as text: a few small tables with the same rows, for the terminal and for Markdown.

Rows (what was fitted), seconds with ratios, excess, values if rows report them besides, tolerances
if they were chosen, cold start, extra memory. "–" means that the library does not offer it or was
left out, "failed" that it raised, "!" that its objective is above the row's excess limit, so that
its seconds are not the seconds of a solution.
"""

from pathlib import Path

MISSING = "–"
EXPLANATIONS = {
    "Rows": "what was fitted; others is how many CPUs other processes used meanwhile",
    "Seconds": "best `.fit(X, y)`; × is the peer's time over {home}'s: above 1, {home} is faster",
    "Excess": "objective above the best of the row, relative, evaluated by plain NumPy",
    "Value": "objective of rows whose excess is of something else, such as stationarity",
    "Tolerance": "loosest tol whose excess is within the limit (! none is), and its iterations",
    "Cold start": "seconds of a fresh interpreter that imports the library and fits a small set",
    "Extra memory": "peak growth of the process during the fit, as a multiple of the data's bytes",
}
QUIET = 0.1  # CPUs that others may use: chosen, not measured; the kernel counts in ticks of 10 ms
SETTINGS = ("estimator", "generator", "seed", "n", "p", "dtype", "order", "threads", "tol")


def tables(results):
    """{title: list of lines of cells, the first line being the heading}."""
    names = list(results[0]["cells"])
    peers = names[1:]

    def grid(cell_text):
        body = ([r["row"], *(cell_text(r, r["cells"][name]) for name in names)] for r in results)
        return [["row", *names], *body]

    heading, *body = grid(seconds_text)
    heading += [f"× {peer}" for peer in peers]
    for line, result in zip(body, results, strict=True):
        line += [number_text(result["ratios"][peer], "{:.2f}") for peer in peers]
    if len(peers) > 1:
        heading.append("fastest peer")
        for line, result in zip(body, results, strict=True):
            line.append(result["fastest_peer"] or MISSING)
    found = {
        "Rows": [
            ["row", *SETTINGS, "others"],
            *([r["row"], *settings_text(r), others_text(r)] for r in results),
        ],
        "Seconds": [heading, *body],
        "Excess": grid(lambda _, cell: number_text(cell["excess"], "{:.0e}")),
        "Value": grid(lambda _, cell: number_text(cell["value"], "{:.6g}")),
        "Tolerance": grid(tolerance_text),
        "Cold start": grid(lambda _, cell: number_text(cell["cold_start_seconds"], "{:.2f}")),
        "Extra memory": grid(lambda _, cell: number_text(cell["extra_memory"], "{:.2f}")),
    }
    cells = [cell for result in results for cell in result["cells"].values()]
    for title, key in (("Value", "value"), ("Tolerance", "tol")):
        if not any(cell[key] for cell in cells):
            del found[title]
    return found


def settings_text(result):
    texts = []
    for setting in SETTINGS:
        value = result[setting]
        if setting == "tol" and result["estimator"] and value is None:
            value = "default"
        texts.append(number_text(value, "{:,}" if setting in ("n", "p") else "{}"))
    return texts


def others_text(result):
    return number_text(result["cpus_used_by_others"], "{:.2f}")


def shared_its_cpus(result):
    return (result["cpus_used_by_others"] or 0.0) > QUIET


def seconds_text(result, cell):
    if cell["failed"]:
        return "failed"
    return number_text(cell["seconds"], "{:.3g}") + mark(result, cell)


def tolerance_text(result, cell):
    if cell["seconds"] is None:
        return MISSING
    tol = "default" if cell["tol"] is None else f"{cell['tol']:.0e}"
    iterations = "" if cell["iterations"] is None else f" ({cell['iterations']})"
    return tol + mark(result, cell) + iterations


def mark(result, cell):
    missed = cell["excess"] is not None and cell["excess"] > result["excess_limit"]
    return "!" if missed else ""


def number_text(value, pattern):
    if value is None:
        return MISSING
    return "0" if value == 0 else pattern.format(value)


def progress_line(result):
    """One row as a line, for the terminal while the rest is running."""
    cells = (f"{name} {seconds_text(result, cell)}" for name, cell in result["cells"].items())
    return f"{result['row']}: " + ", ".join(cells)


def terminal_text(report):
    blocks = [about(report)]
    for title, lines in tables(report["results"]).items():
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        pattern = "  ".join(["{:<%d}", *["{:>%d}"] * (len(widths) - 1)]) % tuple(widths)
        text = (pattern.format(*line) for line in lines)
        blocks.append(f"{title}: {explanation(title, report)}\n" + "\n".join(text))
    return "\n\n".join(blocks)


def markdown_text(report):
    blocks = [about(report)]
    for title, (heading, *body) in tables(report["results"]).items():
        rule = ["---"] + ["--:"] * (len(heading) - 1)
        text = ("| " + " | ".join(line) + " |" for line in [heading, rule, *body])
        blocks.append(f"**{title}**: {explanation(title, report)}.\n\n" + "\n".join(text))
    return "\n\n".join(blocks)


def explanation(title, report):
    home = next(iter(report["results"][0]["cells"]))
    return EXPLANATIONS[title].format(home=home)


def about(report):
    machine = report["machine"]
    versions = ", ".join(f"{name} {v}" for name, v in report["versions"].items() if v)
    sizes = " Sizes divided by ten (--quick)." if report["quick"] else ""
    shared = sum(map(shared_its_cpus, report["results"]))
    warning = f" NOT TO BE QUOTED: {shared} rows shared their CPUs (others)." if shared else ""
    return f"{machine['cpu']}, {machine['cores']} cores; {versions}.{sizes}{warning}"


def write_between_markers(path, suite, text):
    """Replace the suite's section in the file; append it, with its markers, if it has none."""
    path = Path(path)
    begin, end = f"<!-- {suite}: begin -->", f"<!-- {suite}: end -->"
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    if begin not in page:
        page += ("\n" if page else "") + f"{begin}\n{end}\n"
    before, rest = page.split(begin, 1)
    if end not in rest:
        raise ValueError(f"{path.name} has the marker {begin!r} and no {end!r} after it: add it")
    after = rest.split(end, 1)[1]
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
