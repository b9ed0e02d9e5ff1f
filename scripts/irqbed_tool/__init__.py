# SPDX-License-Identifier: GPL-2.0-or-later
"""irqbed: a QEMU + Linux testbed for how storage drivers complete interrupts."""

VERSION = "0.1"
