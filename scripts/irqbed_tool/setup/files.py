# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and folders: replaced as a whole or not at all."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


@contextlib.contextmanager
def new_folder(final):
    """Yields a path, not there yet, that becomes `final` when the block ends well."""
    final = Path(final)
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
    try:
        yield temporary / final.name
        if final.exists():
            os.rename(final, temporary / "old")
        os.rename(temporary / final.name, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_file(path, data, mode=0o644):
    """Write bytes or text under a temporary name and rename it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, str):
        data = data.encode()
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(data)
    os.chmod(temporary, mode)
    os.rename(temporary, path)


def write_if_changed(path, data, mode=0o644):
    """As write_file, but leave an equal file (and its time stamp) alone; True if written."""
    path = Path(path)
    if isinstance(data, str):
        data = data.encode()
    if path.is_file() and path.read_bytes() == data:
        return False
    write_file(path, data, mode)
    return True


def copy_file(source, target):
    source = Path(source)
    write_file(target, source.read_bytes(), 0o755 if os.access(source, os.X_OK) else 0o644)


def link(path, target):
    """Make path a symbolic link to target, replacing a link to elsewhere; True if it was not one."""
    path = Path(path)
    if path.is_symlink() and os.readlink(path) == str(target):
        return False
    temporary = path.with_name(f".{path.name}.link")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    os.rename(temporary, path)
    return True


def stat_tree(source, skip=()):
    """{name: "size mtime"} of all files under source, without the folders named in skip."""
    source = str(source)
    found = {}
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in skip)
        for name in sorted(names):
            path = os.path.join(folder, name)
            stat = os.lstat(path)
            found[os.path.relpath(path, source)] = f"{stat.st_size} {stat.st_mtime_ns}"
    return found


def mirror_tree(source, target, skip=()):
    """Make target hold the files of source; a file that did not change is not touched.

    Files in target that did not come from source (build products) stay. What
    was copied is listed in target/.mirrored, with the source's size and time;
    copies get the time of copying, so that make and ninja see what is new.
    """
    source, target = Path(source), Path(target)
    target.mkdir(parents=True, exist_ok=True)
    listing = target / ".mirrored"
    before = dict(line.split("\t") for line in listing.read_text().splitlines()) if listing.exists() else {}
    now = stat_tree(source, skip)
    for name, stat in now.items():
        copy = target / name
        if before.get(name) == stat and os.path.lexists(copy):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_symlink():
            link(copy, os.readlink(source / name))
        else:
            data = (source / name).read_bytes()
            write_if_changed(copy, data, 0o755 if os.access(source / name, os.X_OK) else 0o644)
    for name in before.keys() - now.keys():
        (target / name).unlink(missing_ok=True)
    write_file(listing, "".join(f"{name}\t{stat}\n" for name, stat in now.items()))
