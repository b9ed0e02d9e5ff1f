# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for the guest (fio, busybox) and firmware for the machine."""

import os
import shutil

from .. import paths
from . import files
from .apt import Archive
from .steps import Step

# Static, and without what is not wanted in the guest: libraries that the host
# happens to have must not change what is built, nor may the host's CPU.
FIO_CONFIGURE = tuple(
    "--build-static --disable-native --disable-numa --disable-rdma --disable-rados --disable-rbd "
    "--disable-http --disable-gfapi --disable-libnfs --disable-lex --disable-pmem --disable-xnvme "
    "--disable-libzbc --disable-tcmalloc --disable-dfs".split())
# file -> (package, place in it)
FIRMWARE = {
    "bios-256k.bin": ("seabios", "usr/share/seabios/bios-256k.bin"),
    "linuxboot_dma.bin": ("qemu-system-data", "usr/share/qemu/linuxboot_dma.bin"),
    "kvmvapic.bin": ("qemu-system-data", "usr/share/qemu/kvmvapic.bin"),
}
# The build ID is made of the debug information, which names the folder.
STRIP = ("strip", "--remove-section=.note.gnu.build-id")


def program_steps(options):
    fio, busybox, firmware = options["fio"], options["busybox"], options["firmware"]
    return [
        Step("fio", f"fio: taking {fio}" if fio else "fio: fetching and building", "about 35 s",
             lambda log: take(fio, paths.fio()) if fio else build_fio(log),
             inputs=lambda: file_id(fio) if fio else (FIO_CONFIGURE, STRIP), outputs=[paths.fio()], mib=80,
             fetches=not fio),
        Step("busybox", f"busybox: taking {busybox}" if busybox else "busybox: fetching", "a second",
             lambda log: take(busybox, paths.busybox()) if busybox else fetch_busybox(log),
             inputs=lambda: file_id(busybox), outputs=[paths.busybox()], mib=5, fetches=not busybox),
        Step("firmware", f"firmware: taking {firmware}" if firmware else "firmware: fetching", "a second",
             lambda log: take_firmware(firmware) if firmware else fetch_firmware(log),
             inputs=lambda: firmware, outputs=[paths.firmware() / name for name in FIRMWARE], mib=5,
             fetches=not firmware),
    ]


def file_id(path):
    """What identifies a file of the user's: its name, size and time."""
    if not path:
        return ""
    stat = os.stat(path)
    return path, stat.st_size, stat.st_mtime_ns


def take(source, target):
    files.copy_file(source, target)
    os.chmod(target, 0o755)


def build_fio(log):
    dsc = Archive("main", log, "--fio FILE (a static fio)").source("fio", "bookworm", "fio")
    work = paths.cache() / "fio" / "src"
    with files.new_folder(work) as folder:
        log.run(["dpkg-source", "--no-check", "-x", dsc, folder])
    log.run(["./configure", *FIO_CONFIGURE], cwd=work)
    log.run(["make", "-j", str(os.cpu_count() or 1), "fio"], cwd=work)
    log.run([*STRIP, "fio"], cwd=work)
    take(work / "fio", paths.fio())
    shutil.rmtree(work)


def fetch_busybox(log):
    archive = Archive("main", log, "--busybox FILE (a static busybox)")
    deb, = archive.debs(["busybox-static/bookworm"], "busybox")
    with files.new_folder(paths.cache() / "busybox" / "unpacked") as folder:
        log.run(["dpkg-deb", "-x", deb, folder])
        take(folder / "bin" / "busybox", paths.busybox())


def take_firmware(given):
    for name in FIRMWARE:
        files.copy_file(os.path.join(given, name), paths.firmware() / name)


def fetch_firmware(log):
    archive = Archive("main", log, "--firmware DIR (with bios-256k.bin, linuxboot_dma.bin, kvmvapic.bin)")
    packages = sorted({f"{package}/bookworm" for package, _ in FIRMWARE.values()})
    debs = archive.debs(packages, "firmware")
    with files.new_folder(paths.cache() / "firmware-unpacked") as folder:
        for deb in debs:
            log.run(["dpkg-deb", "-x", deb, folder])
        for name, (_, place) in FIRMWARE.items():
            files.copy_file(folder / place, paths.firmware() / name)
    shutil.rmtree(paths.cache() / "firmware-unpacked")
