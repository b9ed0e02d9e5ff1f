# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes cpio archives of the "newc" kind, the kernel's initramfs format.

Needs no root for device nodes, and the same input gives the same bytes: owner
root, time 0, entries in the order in which they are added.
"""

import os
import stat


class Archive:
    def __init__(self):
        self.parts = []
        self.names = set()
        self.size = 0

    def folder(self, name):
        """Add a folder and those above it, where they are not there yet."""
        above = os.path.dirname(name)
        if above:
            self.folder(above)
        if name not in self.names:
            self._add(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, executable=False):
        self.folder(os.path.dirname(name) or ".")
        self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def link(self, name, target):
        self.folder(os.path.dirname(name) or ".")
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name, major, minor):
        """A character device node."""
        self.folder(os.path.dirname(name) or ".")
        self._add(name, stat.S_IFCHR | 0o600, b"", major, minor)

    def finish(self):
        """The archive's bytes, padded to a block of 512."""
        self._add("TRAILER!!!", 0)
        self._append(b"\0" * (-self.size % 512))
        return b"".join(self.parts)

    def _append(self, data):
        self.parts.append(data)
        self.size += len(data)

    def _add(self, name, mode, data=b"", major=0, minor=0):
        self.names.add(name)
        encoded = name.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (len(self.names), mode, 0, 0, links, 0, len(data), 0, 0, major, minor, len(encoded), 0)
        self._append(b"070701" + b"".join(b"%08X" % value for value in fields) + encoded)
        self._append(b"\0" * (-self.size % 4))
        self._append(data)
        self._append(b"\0" * (-self.size % 4))
