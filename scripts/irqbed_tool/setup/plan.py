# SPDX-License-Identifier: GPL-2.0-or-later
"""Which steps a set-up consists of, in order."""

import shutil

from .. import paths
from ..errors import UserError
from . import fuzz, guest, kernel, programs, qemu


def steps_for(options, kernels, tests=False, fuzzing=False):
    """All steps, done or not, for these options and kernel versions.

    The download of the kernel comes before the long build of QEMU, so that a
    missing network or mirror is noticed early.
    """
    qemu_steps, qtest_step = qemu.build_steps(options)
    kernel_steps = {version: kernel.kernel_step(version, options) for version in kernels}
    program_steps = programs.program_steps(options)
    fio, busybox, _ = program_steps
    todo = [*kernel_steps.values(), *program_steps]
    for version in kernels:
        todo += guest.guest_steps(version, kernel_steps[version], [fio, busybox])
    todo += qemu_steps
    if fuzzing:
        todo += fuzz.fuzz_steps(qemu_steps)
    if tests:
        todo.append(qtest_step)
        if paths.DEFAULT_KERNEL in kernels:
            todo += kernel.lint_steps(kernel_steps[paths.DEFAULT_KERNEL], options)
    return todo


def uses_archive(options):
    """Is anything taken from the Debian archive?"""
    return not all(options[name] for name in ("qemu_src", "kernel", "fio", "busybox", "firmware"))


def forget(todo, names):
    """Make these steps due again, with their downloads."""
    known = {step.name: step for step in todo}
    for name in names:
        if name not in known:
            raise UserError(f"--redo {name}: no such step; there are {', '.join(known)}")
        known[name].stamp.unlink(missing_ok=True)
        shutil.rmtree(paths.downloads() / name, ignore_errors=True)
