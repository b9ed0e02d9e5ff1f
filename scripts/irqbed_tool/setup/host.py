# SPDX-License-Identifier: GPL-2.0-or-later
"""What is installed on the host: build tools, and nothing else.

Each tool is looked for as a program or a file, so that a host without apt
passes too when it has them; what is missing is installed with apt-get.
"""

import glob
import os
import platform
import shutil
import subprocess
import sys

from ..errors import RunError, UserError
from .run import environment

# (Debian package, why, program or file patterns of which one must be there)
TOOLS = (
    ("gcc", "compiles QEMU, fio and the guest agent", ("gcc",)),
    ("libc6-dev", "C library, also to link statically", ("/usr/lib/*/libc.a", "/usr/lib*/libc.a")),
    ("make", "builds fio and the guest driver", ("make",)),
    ("ninja-build", "builds QEMU", ("ninja",)),
    ("pkg-config", "QEMU's configure", ("pkg-config",)),
    ("patch", "applies hw/qemu/patches", ("patch",)),
    ("xz-utils", "unpacks sources", ("xz",)),
    ("zstd", "packs the guest image", ("zstd",)),
    ("kmod", "depmod for the guest's modules", ("depmod",)),
    ("python3-venv", "QEMU's configure",
     ("/usr/lib/python3*/ensurepip/__init__.py", "/usr/lib64/python3*/ensurepip/__init__.py")),
    ("libglib2.0-dev", "QEMU and the unit tests",
     ("/usr/lib/*/pkgconfig/glib-2.0.pc", "/usr/lib*/pkgconfig/glib-2.0.pc")),
    ("zlib1g-dev", "QEMU", ("/usr/include/zlib.h",)),
    ("libaio-dev", "fio's libaio engine", ("/usr/include/libaio.h",)),
    ("gnuplot-nox", "draws the plots", ("gnuplot",)),
    ("libelf1", "the kernel's objtool",
     ("/usr/lib/*/libelf.so.1", "/usr/lib*/libelf.so.1", "/lib/*/libelf.so.1")),
)
# Needed where sources and packages come from the Debian archive.
ARCHIVE_TOOLS = (
    ("dpkg-dev", "unpacks source packages", ("dpkg-source",)),
    ("ca-certificates", "mirrors with https", ("/etc/ssl/certs/ca-certificates.crt",)),
    ("debian-archive-keyring", "checks what is downloaded",
     ("/usr/share/keyrings/debian-archive-trixie-stable.gpg",)),
    ("gcc-12", "the compiler that Debian's 6.12 kernel asks for", ("gcc-12",)),
)
# Only for `irqbed test`; without them some checks are skipped, with a reason.
TEST_TOOLS = (
    ("shellcheck", "lint suite: shell scripts", ("shellcheck",)),
    ("sparse", "lint suite: the guest driver", ("sparse",)),
    ("git", "lint suite: which files are ours", ("git",)),
    ("perl", "lint suite: checkpatch", ("/usr/share/perl/*/Term/ANSIColor.pm", "/usr/share/perl5/*/Term/ANSIColor.pm")),
)
# Only for `irqbed test fuzz`.
FUZZ_TOOLS = (
    ("clang", "compiles QEMU for fuzzing", ("clang",)),
    ("libclang-rt-14-dev", "libFuzzer and the sanitizers",
     ("/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a",
      "/usr/lib*/clang/*/lib/*/libclang_rt.fuzzer*.a")),
    ("llvm", "names the source lines of a finding", ("llvm-symbolizer",)),
)


def is_present(probes):
    path = environment()["PATH"]
    return any(glob.glob(probe) if probe.startswith("/") else shutil.which(probe, path=path)
               for probe in probes)


def wanted_tools(archive, tests=False, fuzzing=False):
    """The tools, in the form of TOOLS, that a set-up wants.

    archive: things are taken from the Debian archive. tests: the tools of the
    test suites too, if they can be installed here at all. fuzzing: those of
    the suite fuzz.
    """
    tools = TOOLS + (ARCHIVE_TOOLS if archive else ())
    if tests and not unsupported_reason() and root_prefix() is not None:
        tools += TEST_TOOLS
    return tools + (FUZZ_TOOLS if fuzzing else ())


def missing_tools(tools):
    """(package, why) of those that are not there."""
    return [(package, why) for package, why, probes in tools if not is_present(probes)]


def os_release():
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def unsupported_reason():
    """Why nothing can be taken from the Debian archive here, or None."""
    release = os_release()
    name = release.get("PRETTY_NAME") or release.get("ID") or "of an unknown kind"
    if platform.machine() != "x86_64":
        return f"this host is {platform.machine()}; set-up knows x86_64"
    if release.get("ID") != "debian" or release.get("VERSION_ID") != "12":
        return f"this system is {name}; set-up downloads and installs on Debian 12"
    if not shutil.which("apt-get"):
        return "this system has no apt-get"
    return None


def install_tools(tools, progress=True):
    """Install what is missing, saying what and why; UserError if that is not possible."""
    missing = missing_tools(tools)
    if not missing:
        return
    packages = [package for package, _ in missing]
    by_hand = f"install these first: {' '.join(packages)}"
    if unsupported_reason():
        raise UserError(f"build tools are missing and {unsupported_reason()}; {by_hand} "
                        f"(Debian's package names)")
    root = root_prefix()
    if root is None:
        raise UserError(f"build tools are missing and neither root nor sudo is at hand; as root: "
                        f"apt-get install {' '.join(packages)}")
    if progress:
        print(f"irqbed: installing build tools with {' '.join(root + ['apt-get'])}, about a minute:",
              file=sys.stderr)
        for package, why in missing:
            print(f"  {package}: {why}", file=sys.stderr)
    apt_install(root, packages)
    still = [package for package, _ in missing_tools(tools)]
    if still:
        raise RunError(f"after apt-get install these build tools are still not found: {' '.join(still)}")


def root_prefix():
    """How to run a command as root: [] as root, sudo, or None."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        # Without a terminal sudo cannot ask for a password.
        return ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
    return None


def apt_install(root, packages):
    env = environment(DEBIAN_FRONTEND="noninteractive")
    install = root + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y",
                      "--no-install-recommends", "install"] + packages
    text = ""
    for command in (root + ["apt-get", "-q", "update"], install):
        done = subprocess.run(command, env=env, stdin=None if sys.stdin.isatty() else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        text += done.stdout
    if done.returncode != 0:
        for line in text.splitlines()[-8:]:
            print(f"  | {line}", file=sys.stderr)
        raise RunError(f"apt-get could not install the build tools (its last lines are above); by hand, "
                       f"as root: apt-get install {' '.join(packages)}")
