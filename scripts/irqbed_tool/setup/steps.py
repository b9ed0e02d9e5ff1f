# SPDX-License-Identifier: GPL-2.0-or-later
"""Set-up steps: what a step is, which are due, running them one after the other.

A step is due when the hash of its inputs differs from its stamp, when one of
its outputs is missing, or when a step it builds on is due. The stamp goes
before the work starts and comes back when it is done, so an interrupted step
is simply due again. Actions therefore either work in place in a way that can
be taken up again (ninja, make) or write under a temporary name and rename.
"""

import errno
import hashlib
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from .. import paths
from ..errors import RunError, UserError
from .run import Log, StepFailed


@dataclass
class Step:
    name: str                       # stamp and log file name
    title: str                      # "QEMU 10.0.x: building"
    estimate: str                   # "about 5 min on 2 cores"
    action: Callable[[Log], None]
    inputs: Callable[[], object] = lambda: ""
    outputs: list[Path] = field(default_factory=list)
    needs: list["Step"] = field(default_factory=list)
    mib: int = 1                    # space in the cache that it takes
    fetches: bool = False           # it downloads: the network is needed

    def digest(self):
        parts = [self.name, repr(self.inputs())] + [need.digest() for need in self.needs]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def stamp(self):
        return paths.stamps() / self.name


def hash_files(*roots, suffixes=None):
    """Hash of the names and contents of all files under roots (files or folders)."""
    total = hashlib.sha256()
    for root in roots:
        root = Path(root)
        files = [root] if root.is_file() else sorted(root.rglob("*"))
        for path in files:
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            if suffixes and path.suffix not in suffixes:
                continue
            name = path.name if path == root else str(path.relative_to(root))
            data = path.read_bytes()
            total.update(f"{name}\0{len(data)}\0".encode())
            total.update(data)
    return total.hexdigest()


def due_steps(steps):
    """The steps that have to run, in order."""
    due = []
    for step in steps:
        if any(need in due for need in step.needs):
            due.append(step)
            continue
        try:
            stamped = step.stamp.read_text()
        except FileNotFoundError:
            stamped = None
        if stamped != step.digest() or not all(path.exists() for path in step.outputs):
            due.append(step)
    return due


def check_space(due, free_mib=None):
    """One clear line before the work, not an ENOSPC in the middle of it."""
    needed = sum(step.mib for step in due)
    if free_mib is None:
        free_mib = shutil.disk_usage(paths.cache()).free >> 20
    if free_mib < needed:
        raise no_space(needed, free_mib)


def no_space(needed, free_mib):
    return UserError(f"{paths.cache()}: no space: set-up needs {needed} MiB, {free_mib} MiB are "
                     f"free; make room or pass XDG_CACHE_HOME=DIR with DIR on a larger disk")


def say(text, progress=True):
    if progress:
        print(text, file=sys.stderr, flush=True)


def run_due(due, progress=True, keep_going=False):
    """Run the due steps; RunError with the log's last lines when one fails.

    keep_going: first do also what does not build on the failed step.
    """
    check_space(due)
    failed, first = [], None
    for number, step in enumerate(due, 1):
        place = f"[{number}/{len(due)}]"
        if any(need in failed for need in step.needs):
            failed.append(step)
            continue
        say(f"{place} {step.title}, {step.estimate}", progress)
        try:
            run_one(step, place, progress)
        except UserError as err:
            if not keep_going:
                raise
            say(f"{place} {err}")
            failed.append(step)
            first = first or err
    if first:
        raise first


def run_one(step, place="", progress=True):
    started = time.monotonic()
    step.stamp.parent.mkdir(parents=True, exist_ok=True)
    step.stamp.unlink(missing_ok=True)
    digest = step.digest()          # before the work: an edit meanwhile makes it due again
    log = Log(step.name, place if progress else None)
    try:
        with log:
            step.action(log)
        missing = [path for path in step.outputs if not path.exists()]
        if missing:
            raise StepFailed(f"{missing[0]} was not made")
    except StepFailed as err:
        raise explain(step, log, err) from err
    except OSError as err:
        if err.errno == errno.ENOSPC:
            raise no_space_now(step) from err
        raise explain(step, log, err) from err
    temporary = step.stamp.with_suffix(".tmp")
    temporary.write_text(digest)
    temporary.rename(step.stamp)
    seconds = time.monotonic() - started
    if seconds >= 10:
        say(f"{place} done after {seconds:.0f} s", progress)


def no_space_now(step):
    return no_space(step.mib, shutil.disk_usage(paths.cache()).free >> 20)


def explain(step, log, err):
    """The one line for a failed step, after the last lines of its log."""
    tail = log.tail(12)
    if any("No space left on device" in line for line in tail):
        return no_space_now(step)
    for line in tail:
        print(f"  | {line}", file=sys.stderr)
    return RunError(f"{step.title}: failed: {err}; the log's last lines are above, "
                    f"all of it is in {log.path}")
