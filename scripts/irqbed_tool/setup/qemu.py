# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU: source, our patches and links in it, configure, build.

The source is Debian's package (or a copy of the user's tree) in the cache.
The files that hw/qemu/patches touch are kept as they were in CACHE/qemu/pristine:
when a patch changes, the patched files are made anew from those, and only the
ones that come out different are written, so that ninja rebuilds just these.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from .. import paths
from . import files
from .apt import Archive
from .run import StepFailed, environment
from .steps import Step, hash_files

INSTEAD = "--qemu-src DIR (a QEMU 10.0.x source tree)"
PATCHES = paths.REPO / "hw" / "qemu" / "patches"
SKIP = (".git", "build", "__pycache__")
CONFIGURE = (
    "--target-list=x86_64-softmmu", "--without-default-features", "--enable-tcg", "--enable-kvm",
    "--enable-plugins",
    # For qemu-img, which some of QEMU's own tests want; not built unless asked for by name.
    "--enable-tools",
    "--disable-docs", "--disable-user", "--disable-download", "--without-default-devices",
    "--with-devices-x86_64=irqbed", "--disable-install-blobs")


def build_env():
    """For configure, meson and ninja: our meson is found before the system's."""
    return environment(PYTHONPATH=str(packages_dir()))


def packages_dir():
    return paths.tools() / "usr" / "lib" / "python3" / "dist-packages"


def version():
    """QEMU's version, as far as it is known before the source is there."""
    try:
        return (paths.qemu_src() / "VERSION").read_text().strip()
    except OSError:
        return "10.0.x"


def build_steps(options):
    """(steps for QEMU itself, the step that builds its libqtest programs)"""
    given = options["qemu_src"]
    tools = Step("qemu-tools", "meson and pycotap for QEMU's build: fetching", "a few seconds",
                 lambda log: fetch_tools(log, given), outputs=[packages_dir()], mib=15, fetches=True)
    source = Step("qemu-src", f"QEMU source: {'copying ' + given if given else 'fetching and unpacking'}",
                  "about 15 s", lambda log: unpack(log, given),
                  inputs=lambda: files.stat_tree(given, SKIP) if given else "trixie",
                  outputs=[paths.qemu_src()], mib=470, fetches=not given)
    patch = Step("qemu-patch", "QEMU: applying hw/qemu/patches", "a second", apply_patches,
                 inputs=lambda: (str(paths.REPO), hash_files(PATCHES, suffixes={".patch"})), needs=[source])
    configure = Step("qemu-configure", f"QEMU {version()}: configuring", "about 20 s",
                     lambda log: run_configure(log, paths.qemu_build(), CONFIGURE),
                     inputs=lambda: CONFIGURE, outputs=[paths.qemu_build() / "build.ninja"],
                     needs=[tools, source], mib=30)
    build = Step("qemu-build", f"QEMU {version()}: building",
                 estimate("about 5 min on 2 cores", paths.qemu()),
                 lambda log: build_qemu(log, paths.qemu_build(), "qemu-system-x86_64"),
                 inputs=lambda: hash_files(paths.REPO / "hw"), outputs=[paths.qemu()],
                 needs=[patch, configure], mib=350)
    qtests = Step("qemu-qtests", "QEMU: building the libqtest programs",
                  estimate("about a minute", paths.qemu_build() / "tests" / "qtest" / "irqbed-ufs-test"),
                  build_qtests, inputs=lambda: hash_files(paths.REPO / "tests" / "qtest"),
                  needs=[build], mib=60)
    return [tools, source, patch, configure, build], qtests


def estimate(whole, product):
    """Once the product is there, only what was edited is built again."""
    return "what changed" if product.exists() else whole


def fetch_tools(log, given):
    """meson and pycotap of the versions that QEMU's configure asks for, unpacked privately."""
    if given and has_own_tools(log):
        packages_dir().mkdir(parents=True, exist_ok=True)
        return
    archive = Archive("main", log, "nothing: install meson 1.5 or newer and pycotap for "
                                   f"{sys.executable} together with --qemu-src DIR")
    debs = archive.debs(["meson/bookworm-backports", "python3-pycotap/bookworm-backports"], "qemu-tools")
    with files.new_folder(paths.tools()) as folder:
        for deb in debs:
            log.run(["dpkg-deb", "-x", deb, folder])


def has_own_tools(log):
    """Does the system have a new enough meson and pycotap itself?"""
    check = ("import mesonbuild.coredata as c, pycotap, sys; "
             "sys.exit(tuple(map(int, c.version.split('.')[:2])) < (1, 5))")
    try:
        log.run([sys.executable, "-c", check])
    except StepFailed:
        return False
    return True


def unpack(log, given):
    src = paths.qemu_src()
    is_copy = (src / ".mirrored").exists()
    if not given or not is_copy:
        # Sources of a package are older than any object file: ninja would not see the change.
        for build in paths.qemu_build(), paths.fuzz_build():
            shutil.rmtree(build, ignore_errors=True)
    if given:
        if not is_copy:
            shutil.rmtree(src, ignore_errors=True)
        shutil.rmtree(pristine_dir(), ignore_errors=True)
        files.mirror_tree(given, src, SKIP)
        return
    dsc = Archive("main", log, INSTEAD).source("qemu", "trixie", "qemu-src")
    shutil.rmtree(pristine_dir(), ignore_errors=True)
    with files.new_folder(src) as folder:
        log.run(["dpkg-source", "--no-check", "-x", dsc, folder])


def pristine_dir():
    return paths.cache() / "qemu" / "pristine"


def patched_files(patches):
    """Names of the files that the patches change, add or remove."""
    names = set()
    for patch in patches:
        for line in patch.read_text().splitlines():
            match = re.match(r"(?:---|\+\+\+) [ab]/(\S+)", line)
            if match:
                names.add(match.group(1))
    return names


def keep_pristine(names):
    """Save unpatched copies of these files; returns all names ever saved."""
    pristine, absent = pristine_dir(), pristine_dir() / ".absent"
    pristine.mkdir(parents=True, exist_ok=True)
    missing = set(absent.read_text().splitlines()) if absent.exists() else set()
    for name in names - missing:
        if (pristine / name).exists():
            continue
        if (paths.qemu_src() / name).exists():
            files.copy_file(paths.qemu_src() / name, pristine / name)
        else:
            missing.add(name)
    files.write_file(absent, "".join(f"{name}\n" for name in sorted(missing)))
    return missing | set(files.stat_tree(pristine)) - {".absent"}


def apply_patches(log):
    """Patch copies of the pristine files, in number order; then bring the tree in line."""
    patches = sorted(PATCHES.glob("*.patch"))
    touched = patched_files(patches)
    every = keep_pristine(touched)
    with tempfile.TemporaryDirectory(dir=paths.cache() / "qemu") as temporary:
        for name in every:
            if (pristine_dir() / name).exists():
                files.copy_file(pristine_dir() / name, Path(temporary) / name)
        for patch in patches:
            log.run(["patch", "-p1", "--no-backup-if-mismatch", "-d", temporary, "-i", patch])
        for name in sorted(every):
            made, placed = Path(temporary) / name, paths.qemu_src() / name
            if not made.exists():
                placed.unlink(missing_ok=True)
            elif files.write_if_changed(placed, made.read_bytes(), made.stat().st_mode & 0o777):
                log.write(f"changed: {name}")
    link_repository()


def link_repository():
    """Link our folders into the tree; another work tree's objects must not be taken for ours."""
    src = paths.qemu_src()
    if files.link(src / "hw" / "irqbed", paths.REPO / "hw"):
        for build in paths.qemu_build(), paths.fuzz_build():
            remove_objects(build)
    files.link(src / "tests" / "qtest" / "irqbed", paths.REPO / "tests" / "qtest")
    files.link(src / "configs" / "devices" / "x86_64-softmmu" / "irqbed.mak",
               "../../../hw/irqbed/qemu/devices.mak")


def remove_objects(build):
    for path in [*build.rglob("*hw_irqbed_*"), *build.glob("tests/qtest/irqbed-*-test*")]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    (build / "irqbed-folders").unlink(missing_ok=True)


def run_configure(log, build, options):
    done = build / "irqbed-configured"
    arguments = [paths.qemu_src() / "configure", f"--python={sys.executable}", *options]
    text = "\n".join(map(str, arguments))
    if not done.exists() or done.read_text() != text:
        shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True, exist_ok=True)
    log.run(arguments, cwd=build, env=build_env())
    for site in build.glob("pyvenv/lib/python3*/site-packages"):
        # A plain "ninja" by hand that has to run meson again finds it too.
        files.write_file(site / "irqbed.pth", f"{packages_dir()}\n")
    files.write_file(done, text)


def run_ninja(log, build, *targets):
    log.run(["ninja", "-j", str(os.cpu_count() or 1), *targets], cwd=build, env=build_env())


def build_qemu(log, build, *programs):
    """Build QEMU; make meson look again first when a folder of hw/ got or lost a file it tests for."""
    hw = paths.REPO / "hw"
    seen = sorted(str(path.relative_to(hw)) for pattern in ("*/meson.build", "*/trace-events")
                  for path in hw.glob(pattern))
    listing = build / "irqbed-folders"
    if files.write_if_changed(listing, "\n".join(seen)):
        os.utime(paths.qemu_src() / "meson.build")
    run_ninja(log, build, *programs)


def build_qtests(log):
    build = paths.qemu_build()
    run_ninja(log, build, "build.ninja")
    if "build irqbed-qtests:" in (build / "build.ninja").read_text():
        run_ninja(log, build, "irqbed-qtests")
