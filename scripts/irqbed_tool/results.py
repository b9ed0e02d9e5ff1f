# SPDX-License-Identifier: GPL-2.0-or-later
"""results.json and host.json: their shape, written and read only through here.

results.json has nothing that differs between two runs of the same input in
virtual time: no path, no date, nothing about the host.  docs/results.md
describes every key.
"""

import json
import os
import re
from pathlib import Path

from . import VERSION
from .errors import UserError
from .evaluate import STATUSES
from .keys import is_number
from .metrics import METRICS, tidy

SCHEMA = "irqbed-results/1"
HOST_SCHEMA = "irqbed-host/1"
RUN_STATUSES = ("pass", "fail", "interrupted")

_TOP = {"schema": str, "tool_version": str, "experiment": str, "title": str, "status": str,
        "clock": str, "seed": int, "config": dict, "boots": list, "cells": list,
        "published": list, "checks": list}
_CELL = {"id": str, "params": dict, "status": str, "metrics": dict, "device": dict, "driver": dict}
_BOOT = {"cells": list, "qemu_argv": list, "kernel_release": str, "status": str}
_PUBLISHED = {"row": str, "metric": str, "column": str, "value": (int, float), "source": str}
_CHECK = {"name": str, "status": str}
_PAIR = re.compile(r"\[\n\s+(-?[\d.]+),\n\s+(-?[\d.]+)\n\s+\]")     # histogram buckets


class BadResults(Exception):
    """Data that is not what the schema says: where, and what is wrong."""


def _shape(where, value, keys):
    if not isinstance(value, dict):
        raise BadResults(f"{where}: is not an object")
    for key, kind in keys.items():
        if key not in value:
            raise BadResults(f"{where}.{key}: is missing")
        if not isinstance(value[key], kind) or (kind is int and isinstance(value[key], bool)):
            raise BadResults(f"{where}.{key}: has the wrong type")


def validate(data):
    """BadResults when DATA does not follow the schema."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise BadResults(f'schema: must be "{SCHEMA}"')
    _shape("results", data, _TOP)
    if data["status"] not in RUN_STATUSES:
        raise BadResults(f"results.status: {data['status']!r} is unknown")
    seen = set()
    for number, cell in enumerate(data["cells"]):
        where = f"cells.{number}"
        _shape(where, cell, _CELL)
        if cell["status"] not in STATUSES:
            raise BadResults(f"{where}.status: {cell['status']!r} is unknown")
        if cell["id"] in seen:
            raise BadResults(f"{where}.id: {cell['id']!r} is there twice")
        seen.add(cell["id"])
        for name, value in cell["metrics"].items():
            if name not in METRICS or not is_number(value):
                raise BadResults(f"{where}.metrics.{name}: is no metric with a number")
        if cell["status"] == "pass" and not cell["metrics"]:
            raise BadResults(f"{where}: passed without metrics")
        if cell["status"] != "pass" and not cell.get("reasons"):
            raise BadResults(f"{where}.reasons: is missing")
    for keys, name in ((_BOOT, "boots"), (_PUBLISHED, "published"), (_CHECK, "checks")):
        for number, item in enumerate(data[name]):
            _shape(f"{name}.{number}", item, keys)
    for number, boot in enumerate(data["boots"]):
        for cell in boot["cells"]:
            if cell not in seen:
                raise BadResults(f"boots.{number}.cells: {cell!r} is no cell")


def text(data):
    """The text of a JSON file of ours: sorted keys, pairs on one line, a newline at the end."""
    return _PAIR.sub(r"[\1, \2]", json.dumps(data, indent=1, sort_keys=True, allow_nan=False)) + "\n"


def build(experiment, cells, boots, checks, status):
    """The object of results.json."""
    config = strip_paths(experiment.config)
    source = config.get("published", {}).get("source", "")
    scale = {name: metric.scale for name, metric in METRICS.items()}
    published = [{"row": row, "metric": metric, "column": column, "source": source,
                  "value": tidy(figure / scale[metric])}
                 for row, metric, column, figure in experiment.published]
    published += [{"row": row, "metric": metric, "column": column, "source": source,
                   "value": tidy(figure), "is_ratio": True}
                  for row, metric, column, figure in experiment.published_ratios]
    return {"schema": SCHEMA, "tool_version": VERSION, "experiment": experiment.name,
            "title": config["experiment"]["title"], "status": status,
            "clock": config["machine"]["clock"], "seed": config["machine"]["seed"],
            "config": config, "cells": cells, "boots": boots, "checks": checks,
            "published": published}


def strip_paths(config):
    """The configuration with files of the host by their last name only."""
    config = json.loads(json.dumps(config))
    for device in config["device"]:
        for lu in device["lu"]:
            lu["drive"] = os.path.basename(lu["drive"])
    return config


def make_dir(out):
    """The directory for results, made now, so that a bad one is told before the run."""
    path = Path(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UserError(f"{out}: --out: is not a directory; give a new or an existing directory") \
            from None
    except OSError as err:
        raise UserError(f"{out}: --out: cannot be made: {err.strerror}; give a directory that can "
                        "be written") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise UserError(f"{out}: --out: cannot be written; give a directory that can be written")
    return path


def replace(path, content):
    """Write a file, of text or bytes, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save(directory, data, host):
    """Both files; a result that breaks the schema is a bug and is not written."""
    validate(data)
    replace(directory / "results.json", text(data))
    replace(directory / "host.json", text({"schema": HOST_SCHEMA, **host}))


def load(name):
    """A results.json, given itself or by its directory; checked."""
    path = Path(name)
    if path.is_dir():
        path = path / "results.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise UserError(f"{path}: cannot be read: {err.strerror}; give a directory that `irqbed "
                        "run` wrote, or its results.json") from None
    except ValueError:
        raise UserError(f"{path}: is not JSON; give a directory that `irqbed run` wrote, or its "
                        "results.json") from None
    try:
        validate(data)
    except BadResults as bad:
        raise UserError(f"{path}: {bad}; give a file that this version of `irqbed run` wrote") \
            from None
    return data
