# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest image: a base that rarely changes and an overlay that often does.

    base.cpio.zst   busybox, fio, kernel modules
    overlay.cpio    init, the agent, our modules
    initramfs       one behind the other; the kernel unpacks both

The guest tests are not in it: tests/guest/run.py adds a part of its own, so that an
edited test moves no experiment's figures.
"""

import os
import shutil
import subprocess

from .. import paths
from . import cpio, files, modules
from .run import StepFailed
from .steps import Step, hash_files

GUEST = paths.REPO / "scripts" / "guest"
DRIVER = paths.REPO / "guest-driver"
FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin", "etc", "proc", "sys", "dev", "tmp", "mnt", "run", "lib", "root")
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
    "etc/hosts": "127.0.0.1 localhost\n",
}
OUR_MODULES = ("irqbed.ko", "irqbed-probe.ko")
AGENT_FLAGS = ("-static", "-O2", "-Wall", "-Wextra", "-std=gnu11")


def guest_steps(version, kernel, programs):
    """Steps of the image for one kernel; kernel and programs are the steps they build on."""
    folder = paths.guest_dir(version)
    has_driver = version in paths.DRIVER_KERNELS
    base = Step(f"guest-base-{version}", f"guest image for {version}: base", "about 10 s",
                lambda log: pack_base(version, log), inputs=code_hash,
                outputs=[folder / "base.cpio.zst"], needs=[kernel, *programs], mib=30)
    driver = Step(f"driver-{version}", f"guest driver for {version}: building", "about 10 s",
                  lambda log: build_driver(version, log), inputs=lambda: hash_files(DRIVER),
                  needs=[kernel], mib=20)
    overlay = Step(f"guest-overlay-{version}", f"guest image for {version}: overlay", "a second",
                   lambda log: pack_overlay(version, log), inputs=lambda: (code_hash(), hash_files(GUEST)),
                   outputs=[paths.initramfs(version)], needs=[base, *([driver] if has_driver else [])], mib=20)
    return [base, *([driver] if has_driver else []), overlay]


def code_hash():
    """The code that makes the image is one of its inputs."""
    return hash_files(__file__, modules.__file__, cpio.__file__)


def release_of(version):
    return paths.kernel_release(version).read_text().strip()


def applets():
    """Names of the programs that this busybox has."""
    done = subprocess.run([paths.busybox(), "--list-full"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StepFailed(f"{paths.busybox()} --list-full ended with status {done.returncode}")
    return sorted(set(done.stdout.split()) - {"bin/busybox", "busybox"})


def pack_base(version, log):
    archive = cpio.Archive()
    for name in FOLDERS:
        archive.folder(name)
    archive.device("dev/console", 5, 1)
    archive.device("dev/null", 1, 3)
    for name, text in TEXTS.items():
        archive.file(name, text.encode())
    archive.file("bin/busybox", paths.busybox().read_bytes(), executable=True)
    archive.file("bin/fio", paths.fio().read_bytes(), executable=True)
    for name in applets():
        if name not in archive.names and name != "init" and name != "linuxrc":
            archive.link(name, "/bin/busybox")
    modules.add_modules(archive, paths.kernel_dir(version) / "modules", release_of(version), log)
    plain = paths.guest_dir(version) / "base.cpio"
    files.write_file(plain, archive.finish())
    target = plain.with_name("base.cpio.zst")
    log.run(["zstd", "-q", "-f", "-10", plain, "-o", target.with_name(".base.tmp")])
    os.rename(target.with_name(".base.tmp"), target)
    plain.unlink()


def build_driver(version, log):
    """Kbuild in a copy of guest-driver/, so that the repository stays clean."""
    headers, build = paths.kernel_dir(version) / "headers", paths.driver_build(version)
    if not (DRIVER / "Kbuild").exists() and not (DRIVER / "Makefile").exists():
        log.write("no guest-driver/ to build")
        return
    if not headers.exists():
        log.write("no headers for this kernel (--headers DIR): only the stock drivers can be used")
        for name in OUR_MODULES:
            (build / name).unlink(missing_ok=True)
        return
    if is_for_other_kernel(build, version):
        shutil.rmtree(build)
    files.mirror_tree(DRIVER, build)
    log.run(["make", "-C", headers, f"M={build}", "-j", str(os.cpu_count() or 1), "modules"])
    for name in OUR_MODULES:
        if not (build / name).exists():
            raise StepFailed(f"kbuild made no {name}")
    files.write_file(build / ".release", release_of(version))


def is_for_other_kernel(build, version):
    release = build / ".release"
    return release.exists() and release.read_text() != release_of(version)


def pack_overlay(version, log):
    folder = paths.guest_dir(version)
    archive = cpio.Archive()
    if (GUEST / "agent.c").exists():
        agent = folder / "irqbed-agent"
        log.run(["gcc", *AGENT_FLAGS, "-o", agent, GUEST / "agent.c"])
        archive.file("bin/irqbed-agent", agent.read_bytes(), executable=True)
    if (GUEST / "init").exists():
        archive.file("init", (GUEST / "init").read_bytes(), executable=True)
    for name in OUR_MODULES:
        module = paths.driver_build(version) / name
        if module.exists():
            # Debug information stays in driver/; in the guest it only costs time. So does what depends on
            # where it was built: the initramfs has the same bytes wherever the cache is.
            stripped = folder / name
            log.run(["strip", "--strip-debug", "--remove-section=.note.gnu.build-id", "-o", stripped, module])
            archive.file(f"lib/irqbed/{name}", stripped.read_bytes())
    overlay = archive.finish()
    files.write_file(folder / "overlay.cpio", overlay)
    base = (folder / "base.cpio.zst").read_bytes()
    # The kernel looks for the next archive at a multiple of four.
    files.write_file(paths.initramfs(version), base + b"\0" * (-len(base) % 4) + overlay)
