# SPDX-License-Identifier: GPL-2.0-or-later
"""Set-up: everything that irqbed needs, in the cache.

    add_setup_options(parser)   options of every verb that implies set-up
    ensure(args, kernels)       do what is missing; quick when nothing is
    lock(name=..., what=...)    one user at a time of something in the cache

ensure raises UserError (bad option, no network, no space, ...) or RunError (a
build failed). After it, the files that paths.py names are there: qemu(),
firmware(), and for each kernel version vmlinuz(), kernel_release(), initramfs().
"""

import contextlib
import fcntl
import os
import signal
import sys
import threading

from .. import paths
from ..errors import UserError
from . import host, options, plan, run, steps
from .options import add_setup_options

__all__ = ["add_setup_options", "ensure", "lock"]

# Files that say whose a cache is, locked until the process ends.
CLAIMED = {}


def ensure(args=None, kernels=(paths.DEFAULT_KERNEL,), progress=True, redo=(), tests=False,
           fuzzing=False, keep_going=False):
    """Bring the cache up to date for these kernel versions.

    args: parsed arguments with (or without) the options of add_setup_options.
    progress: print what is being done on stderr. redo: names of steps to do
    again whether due or not. tests: what the test suites need too; fuzzing: what
    the suite fuzz needs. keep_going: a failed step stops only what builds on it.
    Returns how many steps were run.
    """
    for version in kernels:
        if version not in paths.KERNELS:
            raise UserError(f"kernel version {version!r}: known are {', '.join(paths.KERNELS)}")
    make_cache()
    claim_cache(progress)
    chosen = options.load(args)
    tools = host.wanted_tools(plan.uses_archive(chosen), tests, fuzzing)
    todo = plan.steps_for(chosen, kernels, tests, fuzzing)
    if not redo and not is_changed(chosen) and not host.missing_tools(tools) and not steps.due_steps(todo):
        return 0
    with lock(progress), end_on_sigterm():
        options.save(chosen)
        todo = plan.steps_for(chosen, kernels, tests, fuzzing)
        plan.forget(todo, redo)
        host.install_tools(tools, progress)
        due = steps.due_steps(todo)
        steps.run_due(due, progress, keep_going)
        return len(due)


def is_changed(chosen):
    """Do the options differ from the remembered ones?"""
    return chosen != options.load()


def make_cache():
    try:
        paths.cache().mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise UserError(f"{paths.cache()}: {err.strerror}; pass XDG_CACHE_HOME=DIR with a folder "
                        f"that can be written") from err
    if not os.access(paths.cache(), os.W_OK):
        raise UserError(f"{paths.cache()}: cannot be written; pass XDG_CACHE_HOME=DIR with a folder that can")


def claim_cache(progress=True):
    """Keep the cache for this work tree until the process ends.

    What is built in it is of one work tree's sources: another tree can take it
    over, but not while somebody uses it.
    """
    name, tree = paths.cache() / "tree", str(paths.REPO)
    if name in CLAIMED:
        return
    # One at a time looks whose it is: of two that both come first, the second one finds the first's name.
    with open(paths.cache() / "tree-lock", "a", encoding="utf-8") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        file = open(name, "a+", encoding="utf-8")       # pylint: disable=consider-using-with
        fcntl.flock(file, fcntl.LOCK_SH)
        file.seek(0)
        owner = file.read()
        if owner != tree:
            take_over(file, owner, progress)
            file.truncate(0)
            file.write(tree)
            file.flush()
            fcntl.flock(file, fcntl.LOCK_SH)
    CLAIMED[name] = file


def take_over(file, owner, progress):
    """Lock the cache's FILE against all others, or say who uses it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"{paths.cache()}: is in use by the work tree {owner}; wait for its end, or pass "
                        "XDG_CACHE_HOME=DIR for a cache of this tree's own") from None
    if owner and progress:
        print(f"irqbed: {paths.cache()} was that of the work tree {owner}; what differs is built again "
              "(XDG_CACHE_HOME=DIR gives each tree its own)", file=sys.stderr, flush=True)


@contextlib.contextmanager
def lock(progress=True, name="lock", what="set-up"):
    """One of WHAT at a time in the cache; a second one says whom it waits for."""
    with open(paths.cache() / name, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            if progress:
                print(f"irqbed: another {what} is running ({file.read().strip() or 'just started'}); "
                      f"waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        run.inherited_fds.append(file.fileno())
        try:
            yield
        finally:
            run.inherited_fds.remove(file.fileno())
            file.truncate(0)


@contextlib.contextmanager
def end_on_sigterm():
    """SIGTERM ends the running command as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(signum, frame):
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
