# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the boots of an experiment and makes results of what the guests answer.

Several VMs may run at once; the results are in the order of the matrix all
the same.  Ctrl-C ends the VMs and keeps the cells that were finished.
"""

import argparse
import concurrent.futures
import os
import platform
import resource
import shlex
import subprocess
import sys
import threading
import time

from . import evaluate, paths, plan, results, table, vm
from .cli import git_id
from .metrics import METRICS
from .matrix import column_of, column_values, label, row_labels, row_of

HELP_FORMAT = argparse.RawDescriptionHelpFormatter
MAX_BOOTS_PER_GROUP = 4
BOOT_LIMIT_S = 300
# Wall time without an answer, per second of guest time that a step may take.
WALL_PER_GUEST_S = 60


class Stop(Exception):
    """Raised out of a VM's answers when going on makes no sense."""


class Progress:
    """One line per event on stderr: which cell of how many, elapsed, estimate."""

    def __init__(self, total, quiet=False):
        self.total = total
        self.quiet = quiet
        self.done = 0
        self.start_s = time.monotonic()
        self.first_cell_s = None
        self.lock = threading.Lock()

    def say(self, text):
        if not self.quiet:
            print(f"irqbed: {text}", file=sys.stderr, flush=True)

    def cell_started(self, cell_id):
        with self.lock:
            now_s = time.monotonic()
            self.first_cell_s = self.first_cell_s or now_s
            left = ""
            if self.done:
                each_s = (now_s - self.first_cell_s) / self.done
                left = f", about {each_s * (self.total - self.done):.0f} s left"
            self.say(f"cell {self.done + 1} of {self.total}: {cell_id} "
                     f"({now_s - self.start_s:.0f} s elapsed{left})")

    def cell_ended(self):
        with self.lock:
            self.done += 1


class BootRun:
    """One boot with its cells: runs VMs until every cell has an entry.

    A VM that ends early costs the cell it was in; the ones after it get
    another boot, a few times.
    """

    def __init__(self, boot, progress, limit_s=0, keep_dir=None):
        self.boot = boot
        self.progress = progress
        self.limit_s = limit_s
        self.keep_dir = keep_dir
        self.entries = {}
        self.records = []       # for results.json
        self.host_records = []  # for host.json
        self.vm = None
        self.stopped = False

    def stop(self):
        """From another thread: end the VM; what is unfinished stays so."""
        self.stopped = True
        if self.vm:
            self.vm.kill()

    def run(self):
        todo = list(self.boot.cells)
        for number in range(MAX_BOOTS_PER_GROUP):
            if not todo or self.stopped:
                break
            part = plan.Boot(self.boot.machine, self.boot.config, todo)
            self.run_vm(part)
            todo = [cell for cell in todo if cell.id not in self.entries]
            if todo and not self.stopped:
                self.progress.say(f"boot {number + 2} for the {len(todo)} cells that are left")
        for cell in todo:
            if not self.stopped:
                self.entries[cell.id] = evaluate.unfinished(
                    cell, "not-run", f"{MAX_BOOTS_PER_GROUP} VMs ended early before it")

    def run_vm(self, boot):
        with vm.Vm(boot.machine, [], plan.make_job(boot), boot.extra()) as machine:
            self.vm = machine
            machine.devices = boot.devices(machine.dir)
            plan.prepare_images(boot, machine.dir)
            watch = Watch(self, boot)
            try:
                outcome = machine.run(watch.on_answer, self.limit_s or BOOT_LIMIT_S,
                                      self.step_limit_s(boot), self.total_limit_s(boot))
            except Stop as stop:
                outcome = vm.Outcome("failed", watch.answers, str(stop))
            except OSError as err:
                outcome = vm.Outcome("qemu-error", [], f"cannot start: {err.strerror}: {err.filename}")
            if not self.stopped:
                self.finish(boot, watch, outcome)
            self.record(boot, watch, outcome, machine)
            self.vm = None

    def step_limit_s(self, boot):
        if self.limit_s:
            return self.limit_s
        longest_s = max(plan.virtual_seconds(plan.Boot(boot.machine, boot.config, [cell]))
                        for cell in boot.cells)
        return 300 + WALL_PER_GUEST_S * longest_s

    def total_limit_s(self, boot):
        return BOOT_LIMIT_S + len(boot.cells) * self.step_limit_s(boot)

    def finish(self, boot, watch, outcome):
        """Entries for the cells that a VM's early end leaves without one."""
        if outcome.status == "done":
            outcome = vm.Outcome("died", [], "the guest went off without doing this cell",
                                 outcome.console_tail)
        if watch.current is None and not watch.finished:
            lost = boot.cells
        else:
            lost = [watch.current] if watch.current else []
        for cell in lost:
            self.add(evaluate.unfinished(cell, outcome.status, outcome.reason,
                                         outcome.console_tail))
        if lost:
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            self.progress.say(f"cell {lost[0].id}{more}: {outcome.status}: {outcome.reason}")

    def add(self, entry):
        self.entries[entry["id"]] = entry
        self.progress.cell_ended()

    def record(self, boot, watch, outcome, machine):
        argv = machine.argv()
        self.records.append({
            "cells": [cell.id for cell in boot.cells], "qemu_argv": public_argv(argv, machine.dir),
            "kernel_release": watch.release, "status": outcome.status})
        host = {"qemu_argv": argv, "wall_s": round(outcome.wall_s, 3), "status": outcome.status,
                "returncode": outcome.returncode, "cell_wall_s": watch.wall_s}
        if outcome.status != "done":
            host["console_tail"] = outcome.console_tail
        self.host_records.append(host)


class Watch:
    """Takes a VM's answers as they come, and closes cells at their end mark."""

    def __init__(self, run, boot):
        self.run = run
        self.cells = {cell.id: cell for cell in boot.cells}
        self.answers = []
        self.current = None
        self.finished = False       # at least one cell got its entry
        self.ready = False
        self.release = ""
        self.wall_s = {}
        self.started_s = 0.0

    def on_answer(self, answer):
        if answer["type"] == "exec" and answer["name"] == "uname":
            self.release = answer["out"].strip()
        if not answer.get("cell"):
            self.answers.append(answer)
            reason = "" if self.ready else evaluate.boot_trouble(self.answers)
            if reason:
                raise Stop(reason)
            return
        if answer["type"] == "cell":
            self.ready = True
            self.current = self.cells[answer["cell"]]
            self.answers = []
            self.started_s = time.monotonic()
            self.run.progress.cell_started(answer["cell"])
        self.answers.append(answer)
        if answer["type"] == "end":
            entry = evaluate.evaluate(self.current, self.answers)
            self.run.add(entry)
            if entry["status"] != "pass":
                self.run.progress.say(f"cell {entry['id']}: {entry['status']}: "
                                      f"{entry['reasons'][0]}")
            self.wall_s[self.current.id] = round(time.monotonic() - self.started_s, 3)
            self.current, self.finished = None, True


def public_argv(argv, workdir):
    """The command line with the host's directories as words."""
    places = ((str(workdir), "RUN"), (str(paths.cache()), "CACHE"), (str(paths.REPO), "IRQBED"))
    out = []
    for arg in argv:
        for place, name in places:
            arg = arg.replace(place, name)
        out.append(arg)
    return out


# --- the whole experiment ---------------------------------------------------------

class Run:
    """All boots of an experiment; results() can be asked for at any time."""

    def __init__(self, experiment, jobs=1, quiet=False, limit_s=0):
        self.experiment = experiment
        self.jobs = jobs
        self.progress = Progress(len(experiment.cells), quiet)
        self.boots = [BootRun(boot, self.progress, limit_s)
                      for boot in plan.make_boots(experiment.cells)]
        self.started_ms = int(time.time() * 1000)
        self.start_s = time.monotonic()
        self.start_cpu_s = cpu_seconds()

    def go(self):
        """True when all ran, False when Ctrl-C came."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(boot.run) for boot in self.boots]
            try:
                for future in waiting:
                    while not future.done():
                        concurrent.futures.wait([future], timeout=0.5)
                    future.result()
            except BaseException as err:
                for future in waiting:
                    future.cancel()
                for boot in self.boots:
                    boot.stop()
                if isinstance(err, KeyboardInterrupt):
                    return False
                raise
        return True

    def entries(self):
        """One entry per cell, in the order of the matrix."""
        found = {}
        for boot in self.boots:
            found.update(boot.entries)
        return [found.get(cell.id) or evaluate.unfinished(cell, "interrupted", "the run was ended "
                                                          "before this cell's end")
                for cell in self.experiment.cells]

    def host(self):
        """What host.json holds: everything that depends on the host."""
        return {"started_ms": self.started_ms,
                "duration_s": round(time.monotonic() - self.start_s, 3),
                "cpu_s": round(cpu_seconds() - self.start_cpu_s, 3),
                "git_id": git_id(), "python": platform.python_version(),
                "qemu_version": qemu_version(),
                "host": {"cpu": cpu_model(), "nproc": os.cpu_count(), "system": platform.platform(),
                         "load": os.getloadavg(), "kvm": os.path.exists("/dev/kvm")},
                "cache": str(paths.cache()), "experiment_file": self.experiment.label,
                "argv": sys.argv,
                "boots": [record for boot in self.boots for record in boot.host_records]}

    def records(self):
        return [record for boot in self.boots for record in boot.records]


def qemu_version():
    try:
        said = subprocess.run([paths.qemu(), "--version"], capture_output=True, text=True).stdout
    except OSError:
        return "unknown"
    return (said.splitlines() or ["unknown"])[0]


def cpu_seconds():
    """CPU time of this process and of the VMs that have ended."""
    return sum(sum(resource.getrusage(who)[:2])
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file
                         if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.machine()


def make_checks(experiment, entries):
    """What the experiment asks to hold: a list of {"name", "status", "reason"}."""
    spec = experiment.config["table"]
    figures = {}
    for entry in entries:
        for metric, value in entry["metrics"].items():
            key = (label(row_of(spec, entry["params"]), metric), column_of(spec, entry["params"]))
            figures[key] = value * METRICS[metric].scale
    known, columns = row_labels(spec, experiment.cells), column_values(experiment.axes, spec)
    checks = []
    for ratio in experiment.config["check"]["ratio"]:
        row, column, base = ratio["row"], ratio["column"], ratio["base"]
        status, reason = "skip", "not in the matrix"
        if row in known and column in columns and (not base or base in columns):
            status, reason = _judge_ratio(ratio, figures.get((row, column)),
                                          figures.get((row, base)) if base else 1.0)
        name = f"{row} {column}/{base}" if base else f"{row} {column}"
        checks.append({"name": name, "status": status, "reason": reason})
    return checks


def _judge_ratio(ratio, value, base):
    """(status, reason) of a [[check.ratio]]."""
    if value is None or not base:
        return "fail", "there is no figure"
    bounds = [f"at least {ratio['low']:g}"] * (ratio["low"] > 0) \
        + [f"at most {ratio['high']:g}"] * (ratio["high"] < 1e9)
    good = ratio["low"] <= value / base <= ratio["high"]
    return "pass" if good else "fail", f"{value / base:.3f}, claimed: {' and '.join(bounds)}"


def sanity_check(experiment, data):
    """The measured table's own check, as an entry of "checks"."""
    bad = table.insane_rows(table.make(data), "measured")
    return {"name": "sanity", "status": "fail" if bad and experiment.config["check"]["sanity"]
            else "pass", "reason": "; ".join(bad)}


def dry_run(experiment):
    """The QEMU command and job file of every boot, as text."""
    out = []
    for number, boot in enumerate(plan.make_boots(experiment.cells)):
        machine = vm.Vm(boot.machine, boot.devices("RUN"), plan.make_job(boot), boot.extra(), workdir="RUN")
        out.append(f"# boot {number + 1}: {len(boot.cells)} cells; RUN is a temporary directory\n"
                   + shlex.join(machine.argv()) + "\n\n# RUN/job\n" + machine.job.text())
    return "\n".join(out)


def make_results(work, complete):
    """The object of results.json for a Run that ended."""
    entries = work.entries()
    checks = make_checks(work.experiment, entries) if complete else []
    data = results.build(work.experiment, entries, work.records(), checks, "pass")
    checks.append(sanity_check(work.experiment, data))
    good = (all(entry["status"] == "pass" for entry in entries)
            and all(check["status"] != "fail" for check in checks))
    data["status"] = "interrupted" if not complete else "pass" if good else "fail"
    return data
