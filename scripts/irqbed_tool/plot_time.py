# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of the time series: latency and IOPS over time, with the injections marked.

For each row of the table three panels, p99 latency, mean latency and IOPS; in each a curve for each
column. What fired is a grey line, what lasted a time a pale band.
"""

from . import plot, table
from .matrix import column_of, row_of

MAX_ROWS = 8
PANEL_PX = (560, 260)
PANELS = (("p99_ns", "p99 latency us", 1e-3), ("mean_ns", "mean latency us", 1e-3), ("iops", "IOPS", 1))
MAX_MARKS = 64


def series_of(entry):
    """{"window_ns", "p99_ns", "mean_ns", "iops"} of a cell over all its controllers, None without.

    The driver's where there is a driver with one: what the application feels. Of several controllers the
    windows are added up; p99 is the worst one's.
    """
    sides = entry.get("series", {})
    all_of = list((sides.get("driver") or sides.get("device") or {}).values())
    if not all_of or len({one["window_ns"] for one in all_of}) != 1:
        return None
    window_ns = all_of[0]["window_ns"]
    all_of = [shifted(one, round(one.get("start_ns", 0) / window_ns)) for one in all_of]
    out = {"window_ns": window_ns, "p99_ns": [], "mean_ns": [], "iops": []}
    for number in range(max(len(one["iops"]) for one in all_of)):
        there = [one for one in all_of if number < len(one["iops"])]
        done = sum(one["completions"][number] for one in there)
        total = sum((one["mean_ns"][number] or 0) * one["completions"][number] for one in there)
        out["iops"].append(sum(one["iops"][number] for one in there))
        out["mean_ns"].append(total / done if done else None)
        out["p99_ns"].append(max((one["p99_ns"][number] for one in there if one["p99_ns"][number] is not None),
                                 default=None))
    return out


def shifted(series, windows):
    """A series whose first window is so many windows after zero, or before it: these are dropped, nothing was there."""
    return {key: [0 if key in ("iops", "completions") else None] * max(0, windows) + values[max(0, -windows):]
            for key, values in series.items() if isinstance(values, list)}


def marks(data, entry):
    """[(from ms, to ms or None)] of what was injected in a cell."""
    lasting = {inject["id"]: inject.get("for_ns") for inject in data["config"].get("inject", []) if "id" in inject}
    return sorted({(ns / 1e6, (ns + lasting[inject["id"]]) / 1e6 if lasting.get(inject["id"]) else 0)
                   for device in entry["device"].values() for inject in device.get("inject", [])
                   for ns in inject.get("fired_ns", [])})[:MAX_MARKS]


def rows(data):
    """{row: {column: entry}} of the cells that have a series."""
    spec, out = data["config"]["table"], {}
    for entry in data["cells"]:
        if series_of(entry):
            out.setdefault(row_of(spec, entry["params"]), {})[column_of(spec, entry["params"])] = entry
    return out


def panel(tab, number, row, cells, kind):
    """gnuplot's lines for one row and one kind of figure."""
    key, title, scale = kind
    lines, plots = [], []
    for place, (column, name) in enumerate(zip(tab.columns, tab.titles)):
        if column not in cells:
            continue
        series = series_of(cells[column])
        data = f"$series{number}_{place}"
        lines.append(f"{data} << END")
        lines += [f"{(window + 0.5) * series['window_ns'] / 1e6:.6g} "
                  + ("NaN" if value is None else f"{value * scale:.6g}") for window, value in enumerate(series[key])]
        lines.append("END")
        plots.append(f"{data} using 1:2 title {plot.quoted(name)} with lines linewidth 1.5 "
                     f"linecolor rgb {plot.quoted(plot.COLOURS[place % len(plot.COLOURS)])} "
                     f"dashtype {1 + place // len(plot.COLOURS)}")
    return [*lines, f"set title {plot.quoted(f'{row}: {title}' if row else title)}", "plot " + ", \\\n  ".join(plots)]


def mark_lines(found, span):
    """gnuplot's lines for what was injected, within the SPAN that is shown."""
    out = ["unset arrow", "unset object"]
    for number, (begin, end) in enumerate(found, 1):
        first, last = max(begin, span[0]), min(end, span[1])
        if first < last:
            out.append(f"set object {number} rectangle from {first:.6g}, graph 0 to {last:.6g}, graph 1 behind "
                       "fillcolor rgb '#f3e3c3' fillstyle solid noborder")
        if not span[0] <= begin <= span[1]:
            continue
        out.append(f"set arrow {number} from {begin:.6g}, graph 0 to {begin:.6g}, graph 1 nohead back "
                   "linecolor rgb '#909090' dashtype 2")
    return out


def span_ms(found):
    """From two windows before the first request of all, since a program takes a while to begin, to the end."""
    begins, ends = [], []
    for cells in found.values():
        for entry in cells.values():
            series = series_of(entry)
            window_ms = series["window_ns"] / 1e6
            used = [number for number, value in enumerate(series["iops"]) if value]
            if used:
                begins.append((used[0] - 2) * window_ms)
                ends.append((used[-1] + 1) * window_ms)
    return max(0, min(begins, default=0)), max(ends, default=1)


def script(data, kind):
    """The gnuplot program that writes one picture to its standard output, or None without a series."""
    found = rows(data)
    if not found:
        return None
    tab = table.make(data)
    shown, span = list(found.items())[:MAX_ROWS], span_ms(found)
    more = f" (the first {MAX_ROWS} of {len(found)} rows)" if len(found) > MAX_ROWS else ""
    lines = [f"set terminal {plot.FORMATS[kind]} size {PANEL_PX[0] * len(PANELS)},{PANEL_PX[1] * len(shown) + 40}",
             f"set multiplot layout {len(shown)},{len(PANELS)} title {plot.quoted(data['title'] + more)}",
             "set yrange [0:*]", "set xrange [{:.6g}:{:.6g}]".format(*span), "set grid ytics", "set key outside right top",
             f"set xlabel {plot.quoted('ms since the beginning')}"]
    for number, (row, cells) in enumerate(shown):
        lines += mark_lines(marks(data, next(iter(cells.values()))), span)
        for place, what in enumerate(PANELS):
            lines += panel(tab, number * len(PANELS) + place, row, cells, what)
    return "\n".join([*lines, "unset multiplot", ""])
