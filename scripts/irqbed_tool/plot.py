# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of an experiment, drawn by gnuplot from what table.py makes of results.json.

One panel for each metric: a group of bars for each row of the table, a bar for
each column, published ones pale beside the measured ones. A cell that did not
pass has no bar. Where the table names two metrics between which there is a
trade-off (pareto), the first panel is one of them against the other: a curve
for each row, a point for each column.
"""

import shutil
import subprocess

from . import results, table
from .errors import RunError
from .metrics import METRICS

PROGRAM = "gnuplot"
# One for each column of the table; fit for readers who do not see all colours.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
PALE = "a0"                 # alpha of published bars, of ff
PANEL_PX = (640, 330)
FORMATS = {"svg": "svg noenhanced font 'DejaVu Sans,12'", "png": "pngcairo noenhanced font 'DejaVu Sans,9'"}


def quoted(text):
    """A string of gnuplot's language."""
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def shown_figure(tab, source, row, metric, column):
    """The figure in the metric's unit, or None where no bar is to stand."""
    if source == "measured" and (row, column) in tab.status:
        return None
    value = tab.figures[source].get((row, metric, column))
    return None if value is None else value * METRICS[metric].scale


def bars(tab, metric):
    """[(column number, source)] of the bars that at least one row has."""
    names = dict.fromkeys(row for row, _ in tab.rows)
    return [(number, source) for source in ("measured", "published") for number, column in enumerate(tab.columns)
            if any(shown_figure(tab, source, row, metric, column) is not None for row in names)]


def panel(tab, metric, number):
    """gnuplot's lines for one metric."""
    names = dict.fromkeys(row for row, _ in tab.rows)
    shown = bars(tab, metric)
    data = [f"$data{number} << END"]
    for row in names:
        values = [shown_figure(tab, source, row, metric, tab.columns[column]) for column, source in shown]
        data.append(" ".join([quoted(row), *("NaN" if value is None else f"{value:.6g}" for value in values)]))
    plots = []
    for place, (column, source) in enumerate(shown):
        colour = COLOURS[column % len(COLOURS)].replace("#", f"#{PALE if source == 'published' else '00'}")
        title = tab.titles[column] + (f", {source}" if source == "published" else "")
        plots.append(f"$data{number} using {place + 2}:xtic(1) title {quoted(title)} linecolor rgb {quoted(colour)}")
    return [*data, "END", f"set title {quoted(METRICS[metric].title)}", "plot " + ", \\\n  ".join(plots)]


def trade_off(tab, metrics):
    """gnuplot's lines for the first of two metrics against the second; None where no row has two points."""
    curves = []
    for row in dict.fromkeys(name for name, _ in tab.rows):
        points = []
        for column, title in zip(tab.columns, tab.titles):
            y, x = (shown_figure(tab, "measured", row, metric, column) for metric in metrics)
            if None not in (x, y):
                points.append(f"{x:.6g} {y:.6g} {quoted(title)}")
        if len(points) > 1:
            curves.append((row, points))
    if not curves:
        return None
    lines, plots = [], []
    for number, (row, points) in enumerate(curves):
        colour = f"linecolor rgb {quoted(COLOURS[number % len(COLOURS)])}"
        lines += [f"$curve{number} << END", *points, "END"]
        plots += [f"$curve{number} using 1:2 title {quoted(row)} with linespoints pointtype 7 {colour}",
                  f"$curve{number} using 1:2:3 notitle with labels offset 0,0.8"]
    y_title, x_title = (METRICS[metric].title for metric in metrics)
    return [*lines, f"set title {quoted(f'{y_title} against {x_title}')}", f"set xlabel {quoted(x_title)}",
            f"set ylabel {quoted(y_title)}", "plot " + ", \\\n  ".join(plots), "unset xlabel", "unset ylabel"]


def script(data, kind):
    """The gnuplot program that writes one picture to its standard output, or None when there is nothing to draw."""
    tab = table.make(data)
    metrics = [metric for metric in data["config"]["table"]["metrics"] if bars(tab, metric)]
    if not metrics:
        return None
    best = data["config"]["table"].get("pareto", [])
    curve = trade_off(tab, best) if len(best) == 2 else None
    panels = len(metrics) + bool(curve)
    across = min(2, panels)
    down = -(-panels // across)
    size = f"{PANEL_PX[0] * across},{PANEL_PX[1] * down + 40}"
    lines = [f"set terminal {FORMATS[kind]} size {size}",
             f"set multiplot layout {down},{across} title {quoted(data['title'])}",
             "set style data histograms", "set style histogram clustered gap 1", "set style fill solid border -1",
             "set yrange [0:*]", "set grid ytics", "set key outside right top", "set offsets 0, 0, graph 0.05, 0"]
    if max(len(row) for row, _ in tab.rows) > 12:
        lines.append("set xtics rotate by -30")
    lines += curve or []
    for number, metric in enumerate(metrics):
        lines += panel(tab, metric, number)
    return "\n".join([*lines, "unset multiplot", ""])


def draw(text):
    """The bytes of the picture that a program makes; None without gnuplot, or without a program."""
    if text is None or not shutil.which(PROGRAM):
        return None
    done = subprocess.run([PROGRAM], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise RunError(f"{PROGRAM} could not draw the plot: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def save(out, name, make, data):
    """DIR/NAME.svg and DIR/NAME.png; MAKE: script() of this file or of another."""
    for kind in FORMATS:
        picture = draw(make(data, kind))
        if picture is not None:
            results.replace(out / f"{name}.{kind}", picture)
