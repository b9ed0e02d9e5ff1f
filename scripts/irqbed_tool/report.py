# SPDX-License-Identifier: GPL-2.0-or-later
"""One self-contained HTML page of several results: no script, no outside resource."""

import base64
import html

from . import plot, plot_time, table
from .matrix import label
from .metrics import METRICS

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
th, td { padding: .15em .7em; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #888; }
td.first, th.first { border-left: 2px solid #bbb; }
.bad { color: #b00020; font-weight: bold; }
img { max-width: 100%; }
pre, code { font-size: 13px; } pre { background: #f6f6f6; padding: .7em; overflow-x: auto; }
"""


def cell(tag, text, css=""):
    return f'<{tag}{f" class={chr(34)}{css}{chr(34)}" if css else ""}>{html.escape(text)}</{tag}>'


def html_table(heads, rows):
    """heads: [(text, css)]; rows: [[(text, css)]]."""
    head = "".join(cell("th", *item) for item in heads)
    body = "".join("<tr>" + "".join(cell("td", *item) for item in row) + "</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def main_table(tab):
    """Measured, published and their ratios, as one HTML table."""
    blocks = table.blocks(tab)
    heads = [("", "")]
    for heading, titles, _ in blocks:
        heads += [(f"{heading}: {title}" if len(blocks) > 1 else title,
                   "first" if number == 0 else "") for number, title in enumerate(titles)]
    rows = []
    for row, metric in tab.rows:
        line = [(label(row, metric), "")]
        for _, _, texts in blocks:
            for number, text in enumerate(texts(row, metric)):
                odd = text.endswith("!") or text.replace("-", "").isalpha()
                css = " ".join(filter(None, ["first" if number == 0 else "", "bad" if odd else ""]))
                line.append((text, css))
        rows.append(line)
    return html_table(heads, rows)


def cells_table(data):
    """Every metric of every cell."""
    names = [name for name in METRICS if any(name in cell_["metrics"] for cell_ in data["cells"])]
    heads = [("cell", ""), ("status", "")] + [(METRICS[name].title, "") for name in names]
    rows = []
    for entry in data["cells"]:
        good = entry["status"] == "pass"
        line = [(entry["id"], ""), (entry["status"], "" if good else "bad")]
        for name in names:
            value = entry["metrics"].get(name)
            line.append((table.number(None if value is None else value * METRICS[name].scale), ""))
        rows.append(line)
    return html_table(heads, rows)


def picture(make, text, data):
    """A plot, within the page; nothing without gnuplot, or when there is nothing to draw."""
    svg = plot.draw(make(data, "svg"))
    if svg is None:
        return ""
    return f'<p><img alt="{text}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"></p>\n'


def section(name, data):
    """The part of the page for one result."""
    tab = table.make(data)
    config = "\n".join(f"{key} = {value}" for key, value in _settings(data["config"]))
    good = "" if data["status"] == "pass" else "bad"
    return "".join([
        cell("h2", f"{data['experiment']}: {data['title']}"),
        "<p>", cell("code", name), " status ", cell("span", data["status"], good),
        html.escape(f", clock {data['clock']}, seed {data['seed']}"), "</p>\n", main_table(tab),
        picture(plot.script, "plot of the table", data), picture(plot_time.script, "plot over time", data),
        "<ul>", *(cell("li", note) for note in table.notes(data, tab)), "</ul>\n",
        "<details><summary>All metrics</summary>\n", cells_table(data), "</details>\n",
        "<details><summary>Configuration</summary>\n", cell("pre", config), "</details>\n"])


def _settings(config):
    for part in ("machine", "driver", "block", "probe", "workload"):
        yield from ((f"{part}.{key}", value) for key, value in sorted(config.get(part, {}).items()))
    for number, device in enumerate(config["device"]):
        yield from ((f"device.{number}.{key}", value) for key, value in sorted(device.items()))
    for name, variant in config.get("variant", {}).items():
        yield from ((f"variant.{name}.{key}", value) for key, value in variant.items())


def page(named):
    """The page for [(directory, results object)]."""
    body = "".join(section(name, data) for name, data in named)
    return ("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
            f"<title>irqbed report</title><style>{STYLE}</style></head>\n<body>\n"
            f"<h1>irqbed report</h1>\n{body}</body>\n</html>\n")
