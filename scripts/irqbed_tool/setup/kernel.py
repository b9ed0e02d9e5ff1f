# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest kernels: image, modules and headers, unpacked from Debian's packages.

CACHE/kernel/VERSION/ has `vmlinuz`, `modules` (the lib/modules/RELEASE folder),
`release` and, where the guest driver is built, `headers`, all links into the
unpacked packages below it. `make -C CACHE/kernel/6.12/headers M=...` works.
"""

import re
import shlex
import shutil
from pathlib import Path

from .. import paths
from ..errors import UserError
from . import files
from .apt import Archive
from .run import StepFailed
from .steps import Step

INSTEAD = "--kernel FILE --modules DIR [--headers DIR]"
# version -> (apt state, meta package and suite for the image, for the headers)
PACKAGES = {
    "6.12": ("main", "linux-image-6.12-amd64", "linux-headers-6.12-amd64"),
    "6.12-rt": ("main", "linux-image-6.12-rt-amd64", "linux-headers-6.12-rt-amd64"),
    "6.1": ("main", "linux-image-amd64", None),
    "7.2": ("sid", "linux-image-amd64", None),
}
CHECKPATCH = ("scripts/checkpatch.pl", "scripts/spelling.txt", "scripts/const_structs.checkpatch")
PARTS = r"linux-(image|base|binary|modules|headers|kbuild)-\d.*"


def kernel_step(version, options):
    given = options["kernel"] if version == paths.DEFAULT_KERNEL else None
    folder = paths.kernel_dir(version)
    outputs = [folder / "vmlinuz", folder / "modules", folder / "release"]
    if given:
        return Step(f"kernel-{version}", f"kernel: taking {given}", "a second",
                    lambda log: take(folder, options),
                    inputs=lambda: (given, Path(given).stat().st_mtime_ns, options["modules"], options["headers"]),
                    outputs=outputs)
    return Step(f"kernel-{version}", f"kernel {version}: fetching and unpacking", "about 30 s",
                lambda log: fetch(version, log), inputs=lambda: PACKAGES[version], outputs=outputs,
                mib=500, fetches=True)


def lint_steps(kernel, options):
    """checkpatch for the lint suite; it is only in the kernel's source package."""
    if options["kernel"]:
        return []
    folder = paths.kernel_dir() / "source"
    return [Step("kernel-lint", "kernel source: fetching, for its checkpatch", "about 30 s",
                 lambda log: fetch_checkpatch(folder, log), outputs=[folder / CHECKPATCH[0]],
                 needs=[kernel], mib=160, fetches=True)]


def fetch_checkpatch(folder, log):
    package = f"linux-source-{paths.DEFAULT_KERNEL}"
    deb, = Archive("main", log, INSTEAD).debs([package], "kernel-lint")
    names = " ".join(f"{package}/{name}" for name in CHECKPATCH)
    with files.new_folder(folder) as new:
        new.mkdir()
        log.run(["sh", "-c", f"dpkg-deb --fsys-tarfile {shlex.quote(str(deb))} | "
                             f"tar -xO ./usr/src/{package}.tar.xz | "
                             f"tar -xJ -C {shlex.quote(str(new))} --strip-components=1 {names}"])
    shutil.rmtree(deb.parent)       # 140 MB for three files


def take(folder, options):
    """Use the user's kernel where it is."""
    with files.new_folder(folder) as new:
        new.mkdir()
        (new / "vmlinuz").symlink_to(options["kernel"])
        (new / "modules").symlink_to(options["modules"])
        if options["headers"]:
            (new / "headers").symlink_to(options["headers"])
        (new / "release").write_text(image_release(Path(options["kernel"])) + "\n")


def image_release(image):
    """`uname -r` of a bzImage, from the version string that its boot header points to."""
    head = image.read_bytes()[:65536]
    if len(head) < 0x210 or head[0x202:0x206] != b"HdrS":
        raise UserError(f"--kernel {image}: not a Linux bzImage; needed: arch/x86/boot/bzImage of a kernel build")
    start = int.from_bytes(head[0x20e:0x210], "little") + 0x200
    return head[start:start + 256].split(b"\0")[0].decode(errors="replace").split(" ")[0]


def closure(archive, package):
    """The real packages behind a meta package: it and what it needs, of the kernel's own parts."""
    found, new = [], [package]
    while new:
        name = new.pop(0)
        for need in archive.depends(name, PARTS):
            if need not in found:
                found.append(need)
                new.append(need)
    return found


def fetch(version, log):
    state, image, headers = PACKAGES[version]
    archive = Archive(state, log, INSTEAD)
    folder = f"kernel-{version}"
    if (paths.downloads() / folder).exists():
        debs = archive.debs([], folder)
    else:
        packages = closure(archive, image) + (closure(archive, headers) if headers else [])
        debs = archive.debs(sorted(set(packages)), folder)
    with files.new_folder(paths.kernel_dir(version)) as new:
        new.mkdir()
        for deb in debs:
            log.run(["dpkg-deb", "-x", deb, new / "unpacked"])
        arrange(new, version, log)


def arrange(new, version, log):
    """The links that paths.py names, and headers that work where they are."""
    images = sorted(new.glob("unpacked/boot/vmlinuz-*")) + sorted(new.glob("unpacked/usr/lib/modules/*/vmlinuz"))
    if not images:
        raise StepFailed("the packages have no vmlinuz")
    release = images[0].parent.name if images[0].name == "vmlinuz" else images[0].name[len("vmlinuz-"):]
    number, _, flavour = version.partition("-")
    if not release.startswith(f"{number}.") or ("-rt-" in release) != (flavour == "rt"):
        raise UserError(f"kernel {version}: the archive has {release} now; pass {INSTEAD}")
    if not (new / "unpacked/lib/modules").exists():
        (new / "unpacked/lib").symlink_to("usr/lib")
    (new / "vmlinuz").symlink_to(images[0].relative_to(new))
    (new / "modules").symlink_to(f"unpacked/lib/modules/{release}")
    log.run(["depmod", "-b", new / "unpacked", release])
    for top in new.glob(f"unpacked/usr/src/linux-headers-{release}"):
        fix_headers(top)
        (new / "headers").symlink_to(top.relative_to(new))
    (new / "release").write_text(release + "\n")


def fix_headers(top):
    """Debian's headers name /usr/src in one Makefile; and vmlinux is there only for BTF, which needs pahole."""
    makefile = top / "Makefile"
    text = re.sub(r"include /usr/src/(\S+)", r"include $(dir $(realpath $(lastword $(MAKEFILE_LIST))))../\1",
                  makefile.read_text())
    makefile.write_text(text)
    (top / "vmlinux").unlink(missing_ok=True)
