# SPDX-License-Identifier: GPL-2.0-or-later
"""The second QEMU build: the same patched source with clang, AddressSanitizer,
UndefinedBehaviorSanitizer and QEMU's own fuzzer. Only for `irqbed test fuzz`.
"""

import sys

from .. import paths
from . import qemu
from .steps import Step, hash_files

PROGRAMS = ("qemu-fuzz-x86_64", "qemu-system-x86_64")
# No guest code runs in a qtest or a fuzz target: without TCG it is a third less to build.
CONFIGURE = (
    "--cc=clang", "--cxx=clang++", "--enable-fuzzing", "--enable-asan", "--enable-ubsan", "-Doptimization=1",
    "--target-list=x86_64-softmmu", "--without-default-features", "--enable-kvm", "--disable-tcg",
    "--disable-docs", "--disable-user", "--disable-tools", "--disable-download", "--without-default-devices",
    "--with-devices-x86_64=irqbed", "--disable-install-blobs")


def fuzz_steps(qemu_steps):
    """Steps of the build with sanitizers; they need QEMU's tools and its patched source."""
    tools, source, patch = qemu_steps[:3]
    build = paths.fuzz_build()
    configure = Step("fuzz-configure", f"QEMU {qemu.version()} with sanitizers: configuring", "about a minute",
                     lambda log: qemu.run_configure(log, build, CONFIGURE),
                     inputs=lambda: (CONFIGURE, sys.executable), outputs=[build / "build.ninja"],
                     needs=[tools, source], mib=30)
    compiled = Step("fuzz-build", f"QEMU {qemu.version()} with sanitizers: building",
                    qemu.estimate("about 15 min on 2 cores", build / PROGRAMS[0]),
                    lambda log: qemu.build_qemu(log, build, *PROGRAMS),
                    inputs=lambda: hash_files(paths.REPO / "hw"), outputs=[build / name for name in PROGRAMS],
                    needs=[patch, configure], mib=1500)
    return [configure, compiled]
