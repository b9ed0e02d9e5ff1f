# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the tables of an experiment file against knobs.py, and applies --set.

The first thing that is wrong ends in a UserError "FILE: KEY: what; what would
be right"; for a key that came from --set, that stands in place of FILE.
"""

import copy
import re
import tomllib

from . import fio_options, knobs
from .errors import UserError
from .keys import REQUIRED, BadValue, did_you_mean, is_number, shown

TOP = ("experiment", "machine", "driver", "block", "series", "probe", "workload", "beside", "table", "published",
       "check", "device", "inject", "variant", "matrix", "full")
# Tables that [full] may change.
FULL_MAY_CHANGE = ("machine", "driver", "block", "series", "probe", "workload", "matrix", "check")


def parse_value(text):
    """The value of --set: TOML if it is that, else a plain text."""
    try:
        value = tomllib.loads(f"v = {text}")
        return value["v"] if len(value) == 1 else text
    except tomllib.TOMLDecodeError:
        return text


def split_key(dotted):
    """device.0.units -> ("device", 0, "units")."""
    return tuple(int(part) if part.isdigit() else part for part in dotted.split("."))


def take_over(table, config):
    """Fill in the keys of a table whose default is another table's value."""
    for name, value in table.items():
        if value is None:
            section, key = knobs.TAKEN_FROM[name].split(".")
            table[name] = config[section][key]


class Loader:
    """Checks the tables of one file; knows which keys came from --set."""

    def __init__(self, label):
        self.label = label
        self.from_set = set()

    def matrix_changed(self):
        """Whether --set changed the matrix: then published rows may have no cell."""
        return any(key.startswith("matrix.") for key in self.from_set)

    def fail(self, key, what, right):
        where = "--set" if key in self.from_set else self.label
        raise UserError(f"{where}: {key}: {what}; {right}")

    # --- --set ---------------------------------------------------------

    def apply_set(self, raw, text):
        """Put one KEY=VALUE into the tables."""
        dotted, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[\w-]+(\.[\w-]+)+", dotted):
            raise UserError(f"--set: {text}: not KEY=VALUE; for example machine.cpus=8 or "
                            "device.0.units=4")
        self.from_set.add(dotted)
        *parents, last = self._split(dotted)
        node = raw
        for depth, part in enumerate(parents):
            node = self._descend(node, part, ".".join(map(str, parents[:depth + 1])), dotted)
        value = parse_value(value)
        if isinstance(value, str) and re.fullmatch(r"x\d+(\.\d+)?", value):
            value = self._scaled(node, parents, last, dotted, float(value[1:]))
        if parents == ["matrix"] and not isinstance(value, list):
            value = [value]
        if isinstance(last, int) or not isinstance(node, dict):
            self.fail(dotted, "is not a key", "for example device.0.units=4")
        node[last] = value

    def _split(self, dotted):
        """The path of a dotted key; below [matrix] the rest is one name."""
        first, rest = dotted.split(".", 1)
        if first not in TOP or first == "full":
            self.fail(dotted, "unknown key", f"keys start with {', '.join(TOP[:-1])}"
                      f"{did_you_mean(first, TOP)}")
        if first == "matrix":
            return [first, rest]
        return split_key(dotted)

    def _descend(self, node, part, so_far, dotted):
        if isinstance(part, int):
            if not isinstance(node, list) or part >= len(node):
                have = len(node) if isinstance(node, list) else 0
                self.fail(dotted, f"there is no {so_far}",
                          f"the file has {have} of them, counted from 0")
            return node[part]
        if not isinstance(node, dict):
            self.fail(dotted, f"{so_far} needs a number first", "for example device.0.units=4")
        return node.setdefault(part, {})

    def _scaled(self, node, parents, last, dotted, factor):
        """x1.1: the key's present value or default, times that."""
        section = {1: parents[0], 2: parents[0], 4: "lu"}.get(len(parents), "")
        value = node.get(last) if isinstance(node, dict) else None
        if value is None and section in knobs.SECTIONS:
            value = knobs.defaults(section).get(last)
        if not is_number(value):
            self.fail(dotted, "has no number to multiply", "give the value itself")
        scaled = value * factor
        return round(scaled) if isinstance(value, int) else scaled

    # --- tables ----------------------------------------------------------

    def check_names(self, raw):
        for section, value in raw.items():
            if section not in TOP:
                self.fail(section, "unknown table", f"tables are {', '.join(TOP)}"
                          f"{did_you_mean(section, TOP)}")
            kind = list if section in ("device", "inject") else dict
            if not isinstance(value, kind):
                self.fail(section, "is not a table" if kind is dict else "is not a list of tables",
                          f"write [{section}]" if kind is dict else f"write [[{section}]]")

    def section(self, section, table, prefix, skip=(), device=""):
        """The checked keys of one table, defaults filled in; those of other types than DEVICE are not allowed."""
        keys = knobs.table(section)
        if not isinstance(table, dict):
            self.fail(prefix, f"{shown(table)} is not a table",
                      f"write {knobs.SECTIONS[section][1]}")
        out = {}
        for name, value in table.items():
            if name in skip:
                continue
            if name not in keys:
                self.fail(f"{prefix}.{name}", "unknown key",
                          f"{knobs.SECTIONS[section][1]} has {', '.join(keys)}"
                          f"{did_you_mean(name, keys)}")
            if keys[name].only not in ("", device):
                self.fail(f"{prefix}.{name}", f'is a key of type = "{keys[name].only}"',
                          f"the type of this device is {shown(device)}")
            out[name] = self.value(keys[name], value, f"{prefix}.{name}")
        for name, key in keys.items():
            if name not in out and key.only in ("", device):
                if key.default is REQUIRED:
                    self.fail(f"{prefix}.{name}", "is missing", f"give it {key.expected()}")
                out[name] = copy.copy(key.default)
        return out

    def value(self, key, value, path):
        try:
            return key.check(value)
        except BadValue as bad:
            self.fail(path, bad.what, bad.right)

    def fio_option(self, name, value, path):
        """(canonical name, value) of a fio option."""
        if fio_options.normal(name) in fio_options.OWNED:
            self.fail(path, "is not for experiment files",
                      fio_options.OWNED[fio_options.normal(name)])
        option = fio_options.find(name)
        if option is None:
            known = [*fio_options.options(), *knobs.table("workload")]
            self.fail(path, "unknown key", "[workload] takes fio's options by their own names, "
                      f"and {', '.join(knobs.table('workload'))}{did_you_mean(name, known)}")
        try:
            return fio_options.normal(option.name), fio_options.check(option, value)
        except BadValue as bad:
            self.fail(path, bad.what, bad.right)

    def workload(self, table, section="workload", prefix="workload"):
        """A table of own keys and fio's options."""
        if not isinstance(table, dict):
            self.fail(prefix, f"{shown(table)} is not a table", f"write {knobs.SECTIONS[section][1]}")
        own = knobs.table(section)
        out = self.section(section, {k: v for k, v in table.items() if k in own}, prefix)
        for name, value in table.items():
            if name in own:
                continue
            canonical, value = self.fio_option(name, value, f"{prefix}.{name}")
            if canonical in out:
                self.fail(f"{prefix}.{name}", "is given twice",
                          f"it is another name of {canonical}")
            out[canonical] = value
        return out

    def besides(self, tables):
        """{NAME: checked [beside.NAME]}."""
        return {name: self.workload(table, "beside", f"beside.{name}") for name, table in tables.items()}

    def devices(self, tables, config):
        out = []
        for index, table in enumerate(tables):
            prefix = f"device.{index}"
            kind = table.get("type", "") if isinstance(table, dict) else ""
            device = self.section("device", table, prefix, skip=("lu",), device=kind)
            take_over(device, config)
            lus = table.get("lu", [{}])
            if not isinstance(lus, list) or not lus:
                self.fail(f"{prefix}.lu", "is not a list of tables", "write [[device.lu]]")
            device["lu"] = [self.section("lu", lu, f"{prefix}.lu.{number}", device=kind)
                            for number, lu in enumerate(lus)]
            out.append(device)
        if not out:
            self.fail("device", "is missing", "an experiment needs one [[device]] at least")
        return out

    def check_table(self, raw):
        """[check] with its list of ratios."""
        check = self.section("check", raw, "check", skip=("ratio",))
        ratios = raw.get("ratio", [])
        if not isinstance(ratios, list):
            self.fail("check.ratio", "is not a list of tables", "write [[check.ratio]]")
        check["ratio"] = [self.section("ratio", ratio, f"check.ratio.{number}")
                          for number, ratio in enumerate(ratios)]
        return check

    def merge_full(self, raw):
        """RAW with the values of [full] in place, but for what --set has set."""
        merged = copy.deepcopy({key: val for key, val in raw.items() if key != "full"})
        for section, table in raw.get("full", {}).items():
            if section not in FULL_MAY_CHANGE:
                self.fail(f"full.{section}", "cannot be changed by [full]",
                          f"it may change {', '.join(FULL_MAY_CHANGE)}")
            if not isinstance(table, dict):
                self.fail(f"full.{section}", f"{shown(table)} is not a table",
                          f"write full.{section}.KEY = VALUE")
            for key, value in table.items():
                if f"{section}.{key}" not in self.from_set:
                    merged.setdefault(section, {})[key] = value
        merged.setdefault("workload", {})["full"] = True
        return merged
