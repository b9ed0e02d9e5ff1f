# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment: its file, read, checked, and made into cells.

load() is all there is for other modules: it gives an Experiment whose config
has every key with its value, defaults included, and whose cells are the
product of the matrix.
"""

import copy
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from . import fio_options, inject, matrix, paths
from .errors import UserError
from .keys import did_you_mean, shown
from .loader import Loader, take_over

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


@dataclass
class Experiment:
    label: str                  # the file as the user named it
    config: dict
    axes: list = field(default_factory=list)
    cells: list = field(default_factory=list)
    published: list = field(default_factory=list)   # of (row, metric, column, figure)
    published_ratios: list = field(default_factory=list)    # the same, to the first column

    @property
    def name(self):
        return self.config["experiment"]["name"]


def find(name):
    """The path of an experiment given by name or path."""
    path = Path(name)
    if path.suffix == ".toml" or "/" in name:
        if not path.is_file():
            raise UserError(f"{name}: no such file; give a name that `irqbed list` shows, or the "
                            "path of a TOML file")
        return path
    path = paths.EXPERIMENTS / f"{name}.toml"
    if not path.is_file():
        known = [file.stem for file in paths.EXPERIMENTS.glob("*.toml")]
        raise UserError(f"{name}: no such experiment; give a name that `irqbed list` shows, or "
                        f"the path of a TOML file{did_you_mean(name, known)}")
    return path


def read_toml(path, label):
    """The tables of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_bytes().decode())
    except tomllib.TOMLDecodeError as err:
        raise UserError(f"{label}: not TOML: {err}; see docs/experiments.md") from None
    except UnicodeDecodeError:
        raise UserError(f"{label}: not TOML: not UTF-8 text; see docs/experiments.md") from None
    except OSError as err:
        raise UserError(f"{label}: cannot be read: {err.strerror}; give a readable file") from None


def load(name, sets=()):
    """Experiment from a name or path and --set arguments."""
    path = find(name)
    label = name if str(path) == name else path.name
    return from_tables(read_toml(path, label), label, sets)


def from_tables(raw, label, sets=()):
    """Experiment from the tables of a file.

    The size that is not asked for, quick or [full], is checked all the same.
    """
    loader = Loader(label)
    raw = copy.deepcopy(raw)
    loader.check_names(raw)
    for text in sets:
        loader.apply_set(raw, text)
    loader.check_names(raw)
    full = build(loader, loader.merge_full(raw))
    quick = build(loader, {key: val for key, val in raw.items() if key != "full"})
    return full if quick.config["workload"]["full"] else quick


def set_series(loader, config, raw):
    """[series] for the devices and the driver, where they have no window of their own."""
    series = loader.section("series", raw.get("series", {}), "series")
    if config.get("inject") and "window_us" not in raw.get("series", {}) and "runtime" in config["workload"]:
        series["window_us"] = fio_options.seconds(config["workload"]["runtime"]) * 1e6 / 100
    config["series"] = series
    for table in (*config["device"], config["driver"]):
        table["series_window_ns"] = table["series_window_ns"] or round(series["window_us"] * 1000)


def build(loader, raw):
    """Experiment from merged tables."""
    config = {name: loader.section(name, raw.get(name, {}), name)
              for name in ("experiment", "machine", "driver", "block")}
    name = config["experiment"]["name"]
    if not NAME.fullmatch(name):
        loader.fail("experiment.name", f"{shown(name)} is not allowed",
                    "must be letters, digits and hyphens")
    if "probe" in raw:
        config["probe"] = loader.section("probe", raw["probe"], "probe")
        take_over(config["probe"], config)
    config["device"] = loader.devices(raw.get("device", []), config)
    if "inject" in raw:
        config["inject"] = inject.make(loader, raw["inject"], config)
    config["workload"] = loader.workload(raw.get("workload", {}))
    config["beside"] = loader.besides(raw.get("beside", {}))
    config["check"] = loader.check_table(raw.get("check", {}))
    if "variant" in raw:
        config["variant"] = matrix.make_variants(loader, raw["variant"])
    set_series(loader, config, raw)
    axes = matrix.make_axes(loader, raw.get("matrix", {}), config)
    config["matrix"] = {axis.name: list(axis.values) for axis in axes}
    config["table"] = matrix.make_table(loader, raw.get("table", {}), axes)
    experiment = Experiment(loader.label, config, axes, matrix.make_cells(loader, config, axes))
    if "published" in raw:
        matrix.make_published(loader, raw["published"], experiment)
    matrix.check_ratios(loader, experiment)
    return experiment
