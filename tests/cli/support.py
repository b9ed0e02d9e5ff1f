# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cli tests share: the command, small experiments, results made by hand."""

import copy
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from irqbed_tool import experiment, matrix, paths, results

REPO = Path(__file__).resolve().parents[2]
DATA = Path(__file__).resolve().parent / "data"

TINY = """
[experiment]
name = "tiny"
title = "for tests"
[[device]]
id = "ufs0"
type = "ufs"
[workload]
rw = "randread"
bs = "4k"
[matrix]
policy = ["hardirq", "bounded"]
numjobs = [1, 2]
"""


def command_env():
    """The environment that the command runs in."""
    path = [str(REPO / "scripts"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}


def irqbed(*args, cwd=None, env=None, timeout=120):
    """Run the command; gives CompletedProcess with text."""
    return subprocess.run([sys.executable, "-m", "irqbed_tool", *map(str, args)], cwd=cwd,
                          env={**command_env(), **(env or {})}, capture_output=True, text=True, timeout=timeout)


def tiny(text=TINY, sets=()):
    """Experiment from TOML text."""
    import tomllib
    return experiment.from_tables(tomllib.loads(text), "tiny.toml", sets)


def made_results(exp=None, status="pass", **metrics):
    """A results object with the same metrics in every cell."""
    exp = exp or tiny()
    numbers = {"iops": 1000, "iops_min": 900, "iops_avg": 1000, "iops_max": 1100,
               "bw_bytes_per_s": 4096000, "clat_mean_ns": 100000, **metrics}
    cells = [{"id": cell.id, "params": cell.params, "status": "pass", "metrics": dict(numbers),
              "device": {}, "driver": {}} for cell in exp.cells]
    boots = [{"cells": [cell["id"] for cell in cells], "qemu_argv": ["CACHE/qemu"],
              "kernel_release": "6.12.0", "status": "done"}]
    return results.build(exp, cells, boots, [], status)


def cell_of(data, **params):
    """The cell of a results object with these parameters."""
    for cell in data["cells"]:
        if all(cell["params"][name] == value for name, value in params.items()):
            return cell
    raise KeyError(params)


def published_as_measured(name="ufs-bounded-hardirq"):
    """Results in which the published figures were measured."""
    exp = experiment.load(name)
    data = made_results(exp)
    for cell in data["cells"]:
        cell["metrics"] = {}
        for item in data["published"]:
            spec = exp.config["table"]
            if (item["row"] == matrix.row_of(spec, cell["params"])
                    and item["column"] == matrix.column_of(spec, cell["params"])):
                cell["metrics"][item["metric"]] = item["value"]
    return copy.deepcopy(data)


def needs_vm(driver=True):
    """Skip unless QEMU with our devices, a guest image and (if asked for) the driver are there."""
    for path in (paths.qemu(), paths.vmlinuz(), paths.initramfs()):
        if not path.exists():
            raise unittest.SkipTest(f"{path.name} is not built: run scripts/irqbed setup")
    if driver:
        known = subprocess.run([paths.qemu(), "-device", "help"], capture_output=True, text=True)
        if "irqbed-ufs" not in known.stdout:
            raise unittest.SkipTest("QEMU has no irqbed-ufs: run scripts/irqbed setup")
        if not (paths.driver_build() / "irqbed.ko").exists():
            raise unittest.SkipTest("irqbed.ko is not built: run scripts/irqbed setup")


def children(pid):
    """Process ids of PID's children."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="latin-1") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.append(int(name))
    return found


class TempDirCase(unittest.TestCase):
    """A test case with a directory of its own in self.dir."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="irqbed-test-")
        self.addCleanup(holder.cleanup)
        self.dir = Path(holder.name)

    def file(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path


class RunsCase(unittest.TestCase):
    """Real runs, made once for all cases, in a directory of the class's own: cls.dir."""

    @classmethod
    def setUpClass(cls):
        needs_vm()
        holder = tempfile.TemporaryDirectory(prefix="irqbed-test-")
        cls.addClassCleanup(holder.cleanup)
        cls.dir = Path(holder.name)
