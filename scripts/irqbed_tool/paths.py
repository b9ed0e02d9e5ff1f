# SPDX-License-Identifier: GPL-2.0-or-later
"""Where everything is: the repository and the cache.

Nothing else in the tool joins cache paths by hand.
"""

import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
EXPERIMENTS = REPO / "experiments"
KERNELS = ("6.1", "6.12", "6.12-rt", "7.2")
DEFAULT_KERNEL = "6.12"
# Of these, the ones that our driver and the probe's are built for.
DRIVER_KERNELS = ("6.12", "6.12-rt")


def cache():
    """${XDG_CACHE_HOME:-~/.cache}/irqbed."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "irqbed"


def qemu_src():
    return cache() / "qemu" / "src"


def qemu_build():
    return cache() / "qemu" / "build"


def qemu():
    return qemu_build() / "qemu-system-x86_64"


def fuzz_build():
    """QEMU of the same source, with sanitizers and the fuzzer."""
    return cache() / "qemu" / "fuzz-build"


def fuzz_out():
    """What fuzzing leaves: inputs that reached something new, and findings."""
    return cache() / "fuzz"


def firmware():
    return cache() / "firmware"


def kernel_dir(version=DEFAULT_KERNEL):
    return cache() / "kernel" / version


def vmlinuz(version=DEFAULT_KERNEL):
    return kernel_dir(version) / "vmlinuz"


def guest_dir(version=DEFAULT_KERNEL):
    return cache() / "guest" / version


def initramfs(version=DEFAULT_KERNEL):
    return guest_dir(version) / "initramfs"


def logs():
    return cache() / "logs"


def host_build():
    return cache() / "host-build"


def kernel_release(version=DEFAULT_KERNEL):
    """File with the kernel's `uname -r`."""
    return kernel_dir(version) / "release"


def driver_build(version=DEFAULT_KERNEL):
    """Where guest-driver/ is built; irqbed.ko is in it."""
    return guest_dir(version) / "driver"


def stamps():
    return cache() / "stamps"


def downloads():
    return cache() / "dl"


def apt_state():
    return cache() / "apt"


def tools():
    """Build tools unpacked from packages rather than installed."""
    return cache() / "tools"


def fio():
    return cache() / "fio" / "fio"


def busybox():
    return cache() / "busybox" / "busybox"
