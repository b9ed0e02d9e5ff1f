# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix of an experiment: axes, cells, and the table they make."""

import copy
import itertools
import re
from dataclasses import dataclass

from . import fio_options, knobs
from .checks import cross_check, polls
from .keys import did_you_mean, is_number, shown
from .loader import split_key
from .metrics import METRICS

MAX_CELLS = 10_000
# Figures, and figures as shares of the first column's.
PUBLISHED_TABLES = ("rows", "ratios")


@dataclass(frozen=True)
class Axis:
    """One line of [matrix]: the name used there, its values, and for each what it sets.

    settings: for each value, {path of a key: the key's value}.
    """

    name: str
    values: tuple
    settings: tuple

    def paths(self):
        return {path for setting in self.settings for path in setting}


@dataclass(frozen=True)
class Cell:
    """One point of the matrix; config has its values in place."""

    id: str
    params: dict
    config: dict


def word(value):
    """A parameter's value as it stands in ids and labels."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ":".join(map(word, value))
    return str(value)


# --- axes and cells --------------------------------------------------------

def make_axes(loader, matrix, config):
    out = []
    for name, values in matrix.items():
        path = f"matrix.{name}"
        keys = None if is_variant(name) else axis_key(loader, path, name, config)
        if not isinstance(values, list) or not values:
            loader.fail(path, f"{shown(values)} is not allowed", "must be a list of values")
        if keys:
            checked = tuple(axis_value(loader, config, keys, value, path) for value in values)
            axis = Axis(name, checked, tuple({keys: value} for value in checked))
        else:
            axis = _variant_axis(loader, name, values, config)
        if len(set(map(word, axis.values))) != len(values):
            loader.fail(path, "has a value twice", "each value makes one cell")
        for other in out:
            if axis.paths() & other.paths():
                loader.fail(path, "is an axis twice", f"{other.name} is the same key")
        out.append(axis)
    _check_axes(loader, out, config)
    return out


def is_variant(name):
    """Whether an axis' values are NAMEs of [variant.NAME]; there can be several such axes."""
    return name == "variant" or name.startswith("variant_")


def _variant_axis(loader, axis, values, config):
    """An axis that sets several keys at once: those of [variant.NAME]."""
    variants = config.get("variant", {})
    for value in values:
        if value not in variants:
            loader.fail(f"matrix.{axis}", f"{shown(value)} is not allowed", "must be the NAME of a [variant.NAME]"
                        f"{did_you_mean(value, variants)}")
    settings = []
    for value in values:
        setting = {}
        for name, wanted in variants[value].items():
            path = f"variant.{value}.{name}"
            keys = axis_key(loader, path, name, config)
            setting[keys] = axis_value(loader, config, keys, wanted, path)
        settings.append(setting)
    return Axis(axis, tuple(values), tuple(settings))


def _check_axes(loader, axes, config):
    """What the axes set is not set otherwise, and is a key of the driver in use."""
    can_be_ours = config["driver"]["module"] == "irqbed" or any(
        ("driver", "module") in axis.paths() for axis in axes)
    for axis in axes:
        for keys in sorted(axis.paths(), key=str):
            dotted = ".".join(map(str, keys))
            if keys[0] == "driver" and not can_be_ours:
                loader.fail(f"matrix.{axis.name}", "is a key of our driver", 'needs driver.module = "irqbed"')
            if dotted in loader.from_set:
                loader.fail(dotted, "is an axis of the matrix", f"use --set matrix.{axis.name}=[...]")


def make_variants(loader, raw):
    """[variant.NAME] tables, with their keys in dotted form."""
    out = {}
    for name, table in raw.items():
        if not isinstance(table, dict) or not table:
            loader.fail(f"variant.{name}", f"{shown(table)} is not allowed", f"write [variant.{name}] with its keys")
        out[name] = dict(_dotted(table))
    return out


def _dotted(table, prefix=""):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def axis_key(loader, where, name, config):
    """The path of a key that changes between cells, from its short or dotted name; WHERE it stands."""
    if "." in name:
        keys = split_key(name)
        if keys[0] in ("machine", "driver", "block", "probe", "workload") and len(keys) == 2 \
                and keys[0] in config:
            return keys
        if (keys[0] in ("device", "inject") and len(keys) == 3 and isinstance(keys[1], int)
                and keys[1] < len(config.get(keys[0], []))):
            return keys
        loader.fail(where, "is no key that can change between cells",
                    "use a key of machine, device.N, driver, block, workload, or of a [probe] or "
                    "inject.N that is there")
    found = [(section, name) for section in ("driver", "block", "machine", "workload")
             if name in knobs.table(section)]
    found += [("device", index, name) for index, device in enumerate(config["device"])
              if name in device]
    option = fio_options.find(name)
    if not found and option:
        found = [("workload", fio_options.normal(option.name))]
    if not found:
        known = [*knobs.table("driver"), *knobs.table("block"), *knobs.table("machine"), *knobs.table("device"),
                 *knobs.table("workload"), *fio_options.options()]
        loader.fail(where, "unknown key", "use a key of driver, block, machine, device "
                    f"or workload{did_you_mean(name, known)}")
    if len(found) > 1:
        loader.fail(where, "could be one of several keys",
                    "write " + " or ".join(f'"{".".join(map(str, keys))}"' for keys in found))
    return found[0]


def device_type(config, keys):
    """The type of the device that a key's path leads to; "" for a key of another table."""
    return config["device"][keys[1]]["type"] if keys[0] == "device" else ""


def axis_value(loader, config, keys, value, path):
    section, last = keys[0], keys[-1]
    known = knobs.table(section)
    if last in known and known[last].only not in ("", device_type(config, keys)):
        loader.fail(path, f'is a key of type = "{known[last].only}"',
                    f"the type of device.{keys[1]} is {shown(device_type(config, keys))}")
    if last in known:
        return loader.value(known[last], value, path)
    if section == "workload":
        return loader.fio_option(last, value, path)[1]
    loader.fail(path, "unknown key", f"{knobs.SECTIONS[section][1]} has {', '.join(known)}"
                f"{did_you_mean(last, known)}")


def put(tables, path, value):
    """Set the key at PATH."""
    for part in path[:-1]:
        tables = tables[part]
    tables[path[-1]] = value


def make_cells(loader, config, axes):
    """The product of the axes, the last one running fastest."""
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MAX_CELLS:
        loader.fail("matrix", f"makes {count} cells", f"at most {MAX_CELLS} are allowed")
    base = {key: config[key] for key in ("machine", "device", "inject", "driver", "block", "probe", "workload",
                                         "beside", "check") if key in config}
    out = []
    for point in itertools.product(*(zip(axis.values, axis.settings) for axis in axes)):
        cell = copy.deepcopy(base)
        for _, setting in point:
            for path, value in setting.items():
                put(cell, path, value)
        if polls(cell) and cell["workload"].get("ioengine") == "io_uring":
            cell["workload"].setdefault("hipri", True)
        cross_check(cell, loader.fail)
        params = {axis.name: value for axis, (value, _) in zip(axes, point)}
        name = ",".join(f"{key}={word(value)}" for key, value in params.items()) or "all"
        out.append(Cell(name, params, cell))
    return out


# --- the table ---------------------------------------------------------------

def make_table(loader, raw, axes):
    """[table] with its defaults, which depend on the matrix."""
    names = raw.get("names", {})
    if not isinstance(names, dict) or not all(isinstance(text, str) for text in names.values()):
        loader.fail("table.names", "is not a table of texts", 'write hardirq = "original"')
    table = loader.section("table", raw, "table", skip=("names",))
    table["names"] = names
    axis_names = [axis.name for axis in axes]
    if table["columns"] and table["columns"] not in axis_names:
        loader.fail("table.columns", f"{shown(table['columns'])} is no axis of the matrix",
                    f"use one of {', '.join(axis_names) or '(the matrix is empty)'}")
    if not table["columns"] and axis_names:
        table["columns"] = axis_names[0]
    rest = [name for name in axis_names if name != table["columns"]]
    used = re.findall(r"\{([^{}]*)\}", table["rows"])
    if not set(used) <= set(rest):
        loader.fail("table.rows", f"{shown(table['rows'])} is not allowed", "may have "
                    + (" ".join(f"{{{name}}}" for name in rest) or "no {axis}: there is no other"))
    missing = [f"{{{name}}}" for name in rest if name not in used]
    table["rows"] = "/".join(filter(None, [table["rows"], *missing]))
    for key in ("metrics", "pareto"):
        for metric in table[key]:
            if metric not in METRICS:
                loader.fail(f"table.{key}", f"{shown(metric)} is no metric",
                            f"metrics are {', '.join(METRICS)}{did_you_mean(metric, METRICS)}")
    if len(set(table["pareto"])) != len(table["pareto"]) or len(table["pareto"]) == 1:
        loader.fail("table.pareto", f"{shown(table['pareto'])} is not allowed", "must be two or more metrics")
    return table


def column_values(axes, table):
    """The column axis' values as words; one column without a name when there is no matrix."""
    for axis in axes:
        if axis.name == table["columns"]:
            return [word(value) for value in axis.values]
    return [""]


def column_of(table, params):
    """The column that a cell stands in."""
    return word(params[table["columns"]]) if table["columns"] else ""


def row_of(table, params):
    """The name of the rows that a cell stands in, without the metric."""
    text = table["rows"]
    for name, value in params.items():
        text = text.replace(f"{{{name}}}", table["names"].get(word(value), word(value)))
    return text


def label(row, metric):
    """How a row of the table is printed: "read/1 min IOPS"."""
    return f"{row} {METRICS[metric].title}".strip()


def row_labels(table, cells):
    """{label: (row name, metric)} of the whole table, in order."""
    rows = dict.fromkeys(row_of(table, cell.params) for cell in cells)
    return {label(row, metric): (row, metric) for row in rows for metric in table["metrics"]}


def make_published(loader, raw, experiment):
    """[published], and what of it has a cell here: lists of (row, metric, column, figure)."""
    config = experiment.config
    tables = {name: raw.get(name, []) for name in PUBLISHED_TABLES}
    figures = {name: [] for name in PUBLISHED_TABLES}
    published = loader.section("published", raw, "published", skip=PUBLISHED_TABLES)
    known = row_labels(config["table"], experiment.cells)
    columns = column_values(experiment.axes, config["table"])
    strict = not loader.matrix_changed() and not config["workload"]["full"]
    for column in published["columns"]:
        if strict and column not in columns:
            loader.fail("published.columns", f"{shown(column)} is not in the matrix",
                        f"use {', '.join(columns)}")
    for name, rows in tables.items():
        if not isinstance(rows, list) or not any(tables.values()):
            loader.fail(f"published.{name}", "is missing" if not rows else "is not a list of rows",
                        f'write {name} = [["read/1 avg IOPS", 1.0], ...]')
    for name, rows in tables.items():
        for number, row in enumerate(rows):
            where = f"published.{name}.{number}"
            if (not isinstance(row, list) or len(row) != 1 + len(published["columns"])
                    or not isinstance(row[0], str) or not all(map(is_figure, row[1:]))):
                loader.fail(where, f"{shown(row)} is not allowed", f"must be a row's name and "
                            f'{len(published["columns"])} figures ("-": not published)')
            if row[0] in known:
                figures[name] += [(*known[row[0]], column, figure)
                                  for column, figure in zip(published["columns"], row[1:])
                                  if column in columns and is_number(figure)]
            elif strict:
                loader.fail(where, f"{shown(row[0])} is no row of the table", "rows are "
                            f"{', '.join(list(known)[:3])}, ...{did_you_mean(row[0], known)}")
    published.update(tables)
    config["published"] = published
    experiment.published, experiment.published_ratios = figures["rows"], figures["ratios"]


def is_figure(value):
    """A figure of [published]: a number, or "-" where none was published."""
    return is_number(value) or value == "-"


def check_ratios(loader, experiment):
    """The rows and columns that [[check.ratio]] names are there."""
    table = experiment.config["table"]
    known = row_labels(table, experiment.cells)
    columns = column_values(experiment.axes, table)
    for number, ratio in enumerate(experiment.config["check"]["ratio"]):
        for key, allowed in (("row", known), ("column", columns), ("base", columns)):
            if key == "base" and not ratio[key]:
                continue
            if ratio[key] not in allowed and not loader.matrix_changed():
                loader.fail(f"check.ratio.{number}.{key}", f"{shown(ratio[key])} is not in the "
                            "table", f"use one of {', '.join(list(allowed)[:3])}, ..."
                            f"{did_you_mean(ratio[key], allowed)}")
        if ratio["low"] > ratio["high"]:
            loader.fail(f"check.ratio.{number}.low", "is above high", "must not be above high")
