# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user brings along instead of downloads: options that every verb which
implies set-up understands, remembered in the cache until "archive" undoes them.
"""

import json
import os
from pathlib import Path

from .. import paths
from ..errors import UserError

ARCHIVE = "archive"

# option -> (metavar, what it is, the file that must be inside a folder or None for a file)
OPTIONS = {
    "qemu_src": ("DIR", "QEMU 10.0.x source tree (copied, not changed)", "VERSION"),
    "kernel": ("FILE", "kernel image (bzImage) for the guest instead of Debian's; with --modules", None),
    "modules": ("DIR", "the lib/modules/RELEASE folder that belongs to --kernel", "modules.dep"),
    "headers": ("DIR", "the build tree of --kernel, to build the guest driver against", "Makefile"),
    "fio": ("FILE", "fio program, linked statically", None),
    "busybox": ("FILE", "busybox program, linked statically", None),
    "firmware": ("DIR", "folder with bios-256k.bin, linuxboot_dma.bin, kvmvapic.bin", "bios-256k.bin"),
}


def flag(name):
    return "--" + name.replace("_", "-")


def add_setup_options(parser):
    """Add the set-up options to the parser of a verb that implies set-up."""
    group = parser.add_argument_group(
        "set-up", "What to use instead of downloads from the Debian archive. Remembered in the cache "
        f"for later commands; the word {ARCHIVE!r} goes back to the archive.")
    for name, (metavar, what, _) in OPTIONS.items():
        group.add_argument(flag(name), metavar=metavar, help=what)


def saved_file():
    return paths.cache() / "setup.json"


def load(args=None):
    """The options in force: those given now, else those remembered; all checked."""
    try:
        options = json.loads(saved_file().read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        options = {}
    options = {name: options.get(name) for name in OPTIONS}
    for name in OPTIONS:
        given = getattr(args, name, None)
        if given == ARCHIVE:
            options[name] = None
        elif given is not None:
            options[name] = os.path.abspath(os.path.expanduser(given))
    check(options)
    return options


def save(options):
    given = {name: value for name, value in options.items() if value}
    text = json.dumps(given, indent=2, sort_keys=True) + "\n"
    path = saved_file()
    if not given and not path.exists():
        return
    if path.exists() and path.read_text() == text:
        return
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.rename(path)


def check(options):
    """UserError for a path that cannot be what its option says."""
    for name, (metavar, what, inside) in OPTIONS.items():
        value = options[name]
        if not value:
            continue
        path = Path(value)
        if metavar == "FILE" and not path.is_file():
            raise UserError(f"{flag(name)} {value}: there is no such file; needed: {what}")
        if metavar == "DIR" and not (path / inside).is_file():
            raise UserError(f"{flag(name)} {value}: no {inside} in it; needed: {what}")
    if options["qemu_src"]:
        version = (Path(options["qemu_src"]) / "VERSION").read_text().strip()
        if not version.startswith("10.0."):
            raise UserError(f"--qemu-src {options['qemu_src']}: this is QEMU {version}; 10.0.x is needed")
    if options["kernel"] and not options["modules"]:
        raise UserError("--kernel: --modules DIR is needed too (the kernel's lib/modules/RELEASE)")
    for name in ("modules", "headers"):
        if options[name] and not options["kernel"]:
            raise UserError(f"{flag(name)}: --kernel FILE is needed too (the kernel that it belongs to)")
