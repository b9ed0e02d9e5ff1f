# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of an experiment, as plain text that survives a mailing list.

Rows and columns follow the publication ("read/1 min IOPS"; one column per
policy): measured, then published, then both as ratios to the first column.
Made from results.json alone.  Every table is also checked for sense.
"""

from dataclasses import dataclass, field

from .fio_options import size_bytes
from .matrix import column_of, label, row_of, word
from .metrics import METRICS

WIDTH = 99
BW_TOLERANCE = 0.02


@dataclass
class Table:
    """figures[source][(row, metric, column)]; source is "measured" or "published".

    ratios[(row, metric, column)]: what was published as a share of the first column only.
    """

    rows: list                                  # of (row name, metric)
    columns: list
    titles: list                                # of the columns
    figures: dict = field(default_factory=dict)
    ratios: dict = field(default_factory=dict)
    status: dict = field(default_factory=dict)  # (row name, column): what is not "pass"
    block_bytes: object = None


def make(data):
    """Table of a results object."""
    spec = data["config"]["table"]
    axis = spec["columns"]
    columns = [word(value) for value in data["config"]["matrix"][axis]] if axis else [""]
    titles = [spec["names"].get(column, column) or "measured" for column in columns]
    names = dict.fromkeys(row_of(spec, cell["params"]) for cell in data["cells"])
    rows = [(name, metric) for name in names for metric in spec["metrics"]]
    table = Table(rows, columns, titles, {"measured": {}, "published": {}})
    for cell in data["cells"]:
        row, column = row_of(spec, cell["params"]), column_of(spec, cell["params"])
        if cell["status"] != "pass":
            table.status[row, column] = cell["status"]
        for metric, value in cell["metrics"].items():
            table.figures["measured"][row, metric, column] = value
    for item in data["published"]:
        where = table.ratios if item.get("is_ratio") else table.figures["published"]
        where[item["row"], item["metric"], item["column"]] = item["value"]
    table.block_bytes = _block_bytes(data)
    return table


def _block_bytes(data):
    """The one block size of all cells, or None."""
    if "bs" in data["config"]["matrix"]:
        return None
    return size_bytes(data["config"]["workload"].get("bs", 4096))


# --- sense ---------------------------------------------------------------------

def insane_rows(table, source):
    """["read/1 threaded: ...", ...] for what cannot be true in a table."""
    figures = table.figures[source]
    found = []
    for row in dict.fromkeys(name for name, _ in table.rows):
        for column, title in zip(table.columns, table.titles):
            get = {metric: figures.get((row, metric, column)) for metric in
                   ("iops_min", "iops_avg", "iops_max", "bw_bytes_per_s")}
            found += [f"{row} {title}: {what}".strip() for what in _insane(get, table.block_bytes)]
    return found


def _insane(get, block_bytes):
    low, avg, high, bw = (get[name] for name in ("iops_min", "iops_avg", "iops_max",
                                                 "bw_bytes_per_s"))
    if None not in (low, avg) and low > avg:
        yield f"min IOPS {low:.2f} > avg IOPS {avg:.2f}"
    if None not in (high, avg) and avg > high:
        yield f"avg IOPS {avg:.2f} > max IOPS {high:.2f}"
    if None not in (avg, bw, block_bytes) and avg > 0:
        off = bw / (avg * block_bytes) - 1
        if abs(off) > BW_TOLERANCE:
            yield f"bandwidth is {off * 100:+.1f} % off IOPS x block size"


# --- who is beaten ---------------------------------------------------------------

def beats(one, other, metrics):
    """Whether ONE, a tuple of figures of METRICS, is at least as good in all and better in one."""
    gains = [METRICS[metric].better * (mine - theirs) for metric, mine, theirs in zip(metrics, one, other)]
    return min(gains) >= 0 and max(gains) > 0


def unbeaten(table, row, metrics):
    """Columns of a row that no other column beats in METRICS; those without figures do not take part."""
    points = {}
    for column in table.columns:
        point = tuple(table.figures["measured"].get((row, metric, column)) for metric in metrics)
        if None not in point and (row, column) not in table.status:
            points[column] = point
    return [column for column, point in points.items()
            if not any(beats(other, point, metrics) for other in points.values())]


def pareto_lines(data, table):
    """["read/1: beaten by no other in IOPS and probe p99.9 us: 0, 20000", ...], if it is asked for."""
    metrics = data["config"]["table"].get("pareto")
    if not metrics:
        return []
    title = dict(zip(table.columns, table.titles))
    what = " and ".join(METRICS[metric].title for metric in metrics)
    lines = []
    for row in dict.fromkeys(name for name, _ in table.rows):
        names = ", ".join(title[column] for column in unbeaten(table, row, metrics)) or "-"
        lines.append(f"{row}: beaten by no other in {what}: {names}".removeprefix(": "))
    return lines


# --- text -----------------------------------------------------------------------

def number(value):
    """A figure in at most nine characters."""
    if value is None:
        return "-"
    if abs(value) >= 1e8:
        return f"{value:.2e}"
    return f"{value:.2f}" if abs(value) < 1e5 else f"{value:.0f}"


def ratio(value):
    return "-" if value is None else (f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}")


def _shown(table, source, row, metric, column):
    value = table.figures[source].get((row, metric, column))
    if value is None and source == "measured" and (row, column) in table.status:
        return table.status[row, column]
    text = number(None if value is None else value * METRICS[metric].scale)
    if source == "measured" and (row, column) in table.status:
        text += "!"
    return text


def ratio_to_first(table, source, row, metric, column):
    """A figure as a share of the first column's, or None."""
    if source == "published" and (row, metric, column) in table.ratios:
        return table.ratios[row, metric, column]
    first = table.figures[source].get((row, metric, table.columns[0]))
    value = table.figures[source].get((row, metric, column))
    return value / first if first and value is not None else None


def _ratio_shown(table, source, row, metric, column):
    text = ratio(ratio_to_first(table, source, row, metric, column))
    doubtful = {(row, column), (row, table.columns[0])} & table.status.keys()
    return text + ("!" if doubtful and source == "measured" and text != "-" else "")


def has_published(table):
    return bool(table.figures["published"] or table.ratios)


def blocks(table):
    """The groups of columns: (heading, sub-headings, function of (row, metric) -> texts)."""
    columns, titles = table.columns, table.titles
    sources = ["measured"] + (["published"] if table.figures["published"] else [])
    groups = []
    for source in sources:
        groups.append((source, titles, lambda row, metric, source=source: [
            _shown(table, source, row, metric, column) for column in columns]))
    sources = ["measured"] + (["published"] if has_published(table) else [])
    if len(columns) > 1:
        for source in sources:
            groups.append((f"{source} ratio" if len(sources) > 1 else "ratio", titles[1:],
                           lambda row, metric, source=source: [
                               _ratio_shown(table, source, row, metric, column)
                               for column in columns[1:]]))
    return groups


def _lay_out(table, blocks):
    """Lines of one table with these blocks side by side; rows of which none has a figure are left out."""
    rows = [(label(row, metric), [text for _, _, cells in blocks for text in cells(row, metric)])
            for row, metric in table.rows]
    rows = [(name, texts) for name, texts in rows if set(texts) != {"-"}] or rows
    names, body = [name for name, _ in rows], [texts for _, texts in rows]
    heads = [title for _, titles, _ in blocks for title in titles]
    widths = [max([len(head), *(len(line[i]) for line in body)]) for i, head in enumerate(heads)]
    stub = max(map(len, names), default=0)
    lines = ["", " " * stub]
    at = 0
    for heading, titles, _ in blocks:
        span = widths[at:at + len(titles)]
        # The heading spans its columns; they grow when it is longer.
        grow = len(heading) - (sum(span) + 2 * (len(span) - 1))
        if grow > 0:
            widths[at] += grow
            span = widths[at:at + len(titles)]
        total = sum(span) + 2 * (len(span) - 1)
        lines[0] += "  | " + heading.center(total)
        lines[1] += "  |" + "".join(f"{title:>{width + (1 if i == 0 else 2)}}" for i, (title, width)
                                    in enumerate(zip(titles, span)))
        at += len(titles)
    lines[0] = " " * stub + lines[0]
    rule = "".join("+" if char == "|" else "-" for char in lines[1].ljust(len(lines[0].rstrip())))
    lines.append(rule)
    for name, texts in zip(names, body):
        line, at = name.ljust(stub), 0
        for _, titles, _ in blocks:
            line += "  |"
            for i in range(len(titles)):
                line += f"{texts[at]:>{widths[at] + (1 if i == 0 else 2)}}"
                at += 1
        lines.append(line)
    return [line.rstrip() for line in lines]


def render(table):
    """The table's lines: all blocks side by side when they fit, else in groups."""
    groups, current = [], []
    for block in blocks(table):
        if current and max(map(len, _lay_out(table, [*current, block]))) > WIDTH:
            groups.append(current)
            current = []
        current.append(block)
    groups.append(current)
    lines = []
    for number_, group in enumerate(groups):
        lines += ([""] if number_ else []) + _lay_out(table, group)
    return lines


def _failures(data):
    """What did not pass; cells that one thing befell together are one line."""
    groups = {}
    for cell in data["cells"]:
        if cell["status"] != "pass":
            groups.setdefault((cell["status"], *cell["reasons"]), []).append(cell)
    for (status, *reasons), cells in groups.items():
        others = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        yield f"cell {cells[0]['id']}{others}: {status}: {'; '.join(reasons)}"
        yield from (f"  console: {line}" for line in cells[0].get("console_tail", [])[-5:])


def notes(data, table):
    """Lines below the table: sources, cells that did not pass, rows that make no sense."""
    out = list(data["config"]["table"].get("notes", []))
    if has_published(table):
        out.append(f"published: {data['config']['published']['source']}")
    if len(table.columns) > 1:
        out.append(f"ratio: to the column {table.titles[0]}")
    out += pareto_lines(data, table)
    if data["clock"] == "host":
        out.append("clock: host; these figures are not reproducible")
    out += _failures(data)
    for source in ("measured", "published"):
        bad = insane_rows(table, source)
        out += [f"sanity, {source}: {text}" for text in bad]
        if not bad and table.figures[source]:
            out.append(f"sanity, {source}: min <= avg <= max and bandwidth = IOPS x block size "
                       "hold in every row")
    out += [f"check {check['name']}: {check['status']}: {check['reason']}"
            for check in data["checks"] if check["status"] != "pass"]
    return out


def text(data):
    """Everything that `run` prints for a results object."""
    table = make(data)
    head = [f"{data['experiment']}: {data['title']}",
            f"status {data['status']}, clock {data['clock']}, seed {data['seed']}, kernel "
            + (", ".join(dict.fromkeys(boot["kernel_release"] for boot in data["boots"])) or "-"),
            ""]
    return "\n".join([*head, *render(table), "", *notes(data, table)]) + "\n"
