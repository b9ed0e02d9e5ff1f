# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be checked about the tree without building it, as TAP.

usage: lint.py REPO [QEMU_SRC]     one case again: lint.py REPO QEMU_SRC CASE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(sys.argv[1])
QEMU_SRC = Path(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
ONLY = sys.argv[3] if len(sys.argv) > 3 else None
MAX_LINES = 620
SPDX = {"hw": "GPL-2.0-or-later", "guest-driver": "GPL-2.0-only"}


class Skip(Exception):
    pass


def files(*patterns):
    """Files git knows or would add, by glob, as paths relative to REPO."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
                         cwd=REPO, capture_output=True, text=True, check=True).stdout
    return [name for name in out.splitlines() if (REPO / name).is_file()]


def text(name):
    return (REPO / name).read_text(errors="replace")


def grep(pattern, names):
    """"file:line: text" for each match."""
    regex = re.compile(pattern)
    return [f"{name}:{number}: {line.strip()[:100]}" for name in names
            for number, line in enumerate(text(name).splitlines(), 1) if regex.search(line)]


def case_spdx():
    """Every source file names its licence in its first three lines."""
    bad = []
    for name in files("*.c", "*.h", "*.py", "*.sh", "*.toml", "*.build", "scripts/irqbed", ".ci/run",
                      "*/Kconfig", "*/Kbuild", "*/Makefile", "*.mak", "*/trace-events"):
        head = "\n".join(text(name).splitlines()[:3])
        found = re.search(r"SPDX-License-Identifier: (.*?)(?: \*/)?$", head, re.M)
        want = SPDX.get(name.split("/")[0])
        if not found:
            bad.append(f"{name}: no SPDX line")
        elif want and want not in found.group(1):
            bad.append(f"{name}: {found.group(1)}, expected {want}")
    return bad


def case_file_length():
    """No C file much over 600 lines."""
    counts = [(name, len(text(name).splitlines())) for name in files("*.c", "*.h")]
    return [f"{name}: {count} lines, at most 600" for name, count in counts if count > MAX_LINES]


def case_core_is_shared():
    """Shared code names no transport."""
    return grep(r"(?i)\b(ufs|ahci)", [n for n in files("hw/core/*") if not n.endswith("meson.build")])


def case_device_time():
    """Devices read neither host time nor host chance, and complete from no bottom half."""
    return grep(r"QEMU_CLOCK_(REALTIME|HOST)|g_random_|[^_]\brand\(\)|qemu_bh_schedule|g_get_real_time|"
                r"g_get_monotonic_time", files("hw/*.c"))


def case_driver_budget():
    """No budget of the guest driver is in jiffies (the block layer's timeout is)."""
    return [hit for hit in grep(r"jiffies", files("guest-driver/*.c", "guest-driver/*.h"))
            if "msecs_to_jiffies" not in hit]


def case_open_ends():
    """Nothing is left open in the code."""
    return grep(r"\b(TODO|FIXME|XXX)\b", [n for n in files("hw", "guest-driver", "tests", "scripts")
                                          if not n.startswith("tests/lint/")])


def case_hosts_and_paths():
    """No package mirror's name and no path of a developer's machine."""
    sites = set()
    if shutil.which("apt-get"):
        out = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"],
                             capture_output=True, text=True).stdout
        sites = {re.escape(m) for m in re.findall(r"//([^/:\s]+)", out)}
    parent = str(REPO.resolve().parent)
    patterns = [*sites, re.escape(parent) + "/"] if parent != "/" else list(sites)
    # Not inside a longer name: a clone in /src does not mean /usr/src/.
    return grep(r"(?<![\w.~])(?:" + "|".join(patterns) + ")", files()) if patterns else []


def case_shellcheck():
    """Shell scripts are clean."""
    if not shutil.which("shellcheck"):
        raise Skip("shellcheck is not installed")
    names = [n for n in files("*.sh", "scripts/irqbed", ".ci/run")
             if not text(n).startswith("#!/bin/busybox")]
    out = subprocess.run(["shellcheck", "-x", "-f", "gcc", *names], cwd=REPO, capture_output=True, text=True)
    return out.stdout.splitlines()


def checkpatch(script, names, *options):
    out = subprocess.run(["perl", script, "--no-tree", "--terse", "--no-summary", *options, "-f", *names],
                         cwd=REPO, capture_output=True, text=True)
    return [line for line in out.stdout.splitlines() if line]


def case_checkpatch_qemu():
    """hw/ is in QEMU's style."""
    script = QEMU_SRC and QEMU_SRC / "scripts" / "checkpatch.pl"
    if not script or not script.exists():
        raise Skip("no QEMU source tree: run scripts/irqbed setup")
    return checkpatch(str(script), files("hw/*.c", "hw/*.h", "tests/qtest/*.c"))


def tool_paths():
    """The tool's own module of cache paths."""
    sys.path.insert(0, str(REPO / "scripts"))
    from irqbed_tool import paths  # pylint: disable=import-outside-toplevel
    return paths


def case_checkpatch_kernel():
    """guest-driver/ is in the kernel's style."""
    scripts = sorted(tool_paths().kernel_dir().glob("**/scripts/checkpatch.pl"))
    if not scripts:
        raise Skip("no kernel scripts: run scripts/irqbed setup")
    return checkpatch(str(scripts[0]), files("guest-driver/*.c", "guest-driver/*.h"), "--strict",
                      "--ignore", "FILE_PATH_CHANGES,CONST_STRUCT")


def case_driver_warnings():
    """guest-driver/ builds without a warning from W=1 and from sparse."""
    headers = tool_paths().kernel_dir() / "headers"
    if not headers.exists():
        raise Skip("no kernel headers: run scripts/irqbed setup")
    if not shutil.which("sparse"):
        raise Skip("sparse is not installed")
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder) / "driver"
        shutil.copytree(REPO / "guest-driver", build)
        out = subprocess.run(["make", "-C", str(headers), f"M={build}", "W=1", "C=2", "modules"],
                             capture_output=True, text=True)
    bad = [line for line in (out.stdout + out.stderr).splitlines()
           if re.search(r"\b(warning|error):", line)]
    return bad or ([] if out.returncode == 0 else ["make failed: " + out.stderr[-300:]])


def main():
    cases = {name[5:]: fn for name, fn in globals().items() if name.startswith("case_")}
    if ONLY:
        cases = {ONLY: cases[ONLY]}
    print(f"1..{len(cases)}")
    failed = 0
    for number, (name, fn) in enumerate(cases.items(), 1):
        try:
            bad = fn()
        except Skip as why:
            print(f"ok {number} {name} # SKIP {why}")
            continue
        print(f"{'not ok' if bad else 'ok'} {number} {name}")
        if bad:
            failed += 1
            print(f"# expected: {fn.__doc__}")
            for line in bad[:40]:
                print(f"# got: {line}")
            print(f"# again: {os.path.relpath(__file__)} REPO QEMU_SRC {name}")
    return 1 if failed else 0


sys.exit(main())
