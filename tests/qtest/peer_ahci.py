#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run QEMU's own AHCI test, as it is in the unpacked source, against ours; print TAP.

usage: peer_ahci.py BUILD [TEST]      TEST: one of its names, /x86_64/ahci/identify

The test program starts what QTEST_QEMU_BINARY names: this file again, by a
link called NAME-system-x86_64. There it puts our device's name in the place
of QEMU's on the command line (substitute()), and becomes QEMU.

A test that has a written reason is run all the same where that ends: it is
skipped with the reason when it fails, and fails when it passes, because then
the reason is out of date.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LINK = "irqbed-system-x86_64"
BIOS_BYTES = 65536
LIMIT_S = 300

# The HBA stands where q35 has its own and says it is that one; ich9=on is also
# what QEMU's device does where the specification says otherwise.
HBA = "irqbed-ahci,id=irqbed,addr=1f.2,ich9=on"
DRIVE = "irqbed-ahci-drive,bus=irqbed.0"

# Tests that cannot pass: name (a regular expression), why, and what the failure
# must say.
REASONS = (
    (r"/cdrom/", "an ATAPI drive is needed, ours are disks", "No 'IDE' bus found for device 'ide-cd'"),
)


def substitute(args):
    """QEMU's arguments with our device in the place of q35's built-in AHCI and of ide-hd."""
    out, drives = [], 0
    for option, value in zip(args, [*args[1:], ""]):
        if out and out[-1] is None:
            out.pop()               # this is the value of an option already dealt with
        elif option == "-M" and value == "q35":
            out += ["-M", "q35,sata=off", "-bios", os.environ["IRQBED_BIOS"],
                    "-global", "apic-common.vapic=off", "-device", HBA, None]
        elif option == "-device" and value.startswith("ide-hd,"):
            out += ["-device", value.replace("ide-hd", DRIVE, 1), None]
        elif option == "-global" and value.startswith("ide-hd."):
            out += ["-global", value.replace("ide-hd", "irqbed-ahci-drive", 1), None]
        elif option == "-drive" and value.startswith("if=ide,"):
            out += ["-drive", value.replace("if=ide", f"if=none,id=irqbed{drives}", 1),
                    "-device", f"{DRIVE},drive=irqbed{drives}", None]
            drives += 1
        else:
            out.append(option)
    return out


def become_qemu():
    os.execv(os.environ["IRQBED_QEMU"], [os.environ["IRQBED_QEMU"], *substitute(sys.argv[1:])])


def reason_of(test):
    """(why, words) of a test that cannot pass, or (None, None)."""
    return next(((why, words) for name, why, words in REASONS if re.search(name, test)), (None, None))


def run(program, test):
    """(good, output) of one test."""
    try:
        done = subprocess.run([program, "--tap", "-p", test], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return False, f"no end within {LIMIT_S} s"
    return done.returncode == 0, done.stdout


def judge(program, test):
    """("ok" or "not ok", directive, what to say about a failure)"""
    why, words = reason_of(test)
    good, output = run(program, test)
    if not why:
        return ("ok" if good else "not ok"), "", output
    if good:
        return "not ok", "", f"expected: a failure, because {why}; got: a pass"
    if words not in output:
        return "not ok", "", f"expected: a failure with {words!r}; got:\n{output}"
    return "ok", f" # SKIP {why}", ""


def main():
    build, only = Path(sys.argv[1]).resolve(), sys.argv[2:]
    program = build / "tests" / "qtest" / "irqbed-peer-ahci-test"
    failed = 0
    with tempfile.TemporaryDirectory(prefix="irqbed-peer-") as folder:
        link, bios = Path(folder) / LINK, Path(folder) / "bios"
        link.symlink_to(Path(__file__).resolve())
        bios.write_bytes(bytes(BIOS_BYTES))
        os.environ.update(QTEST_QEMU_BINARY=str(link), IRQBED_QEMU=str(build / "qemu-system-x86_64"),
                          IRQBED_BIOS=str(bios), QTEST_QEMU_IMG=str(build / "qemu-img"), TMPDIR=folder,
                          G_TEST_DBUS_DAEMON="/bin/false")
        listed = subprocess.run([program, "-l"], stdout=subprocess.PIPE, text=True, check=True).stdout
        tests = only or [line for line in listed.splitlines() if line.startswith("/")]
        print(f"1..{len(tests)}", flush=True)
        for number, test in enumerate(tests, 1):
            word, directive, told = judge(program, test)
            if word != "ok":
                failed += 1
                for line in told.splitlines()[-20:]:
                    print(f"# {line}")
                print(f"# again: tests/qtest/peer_ahci.py BUILD {test}")
            print(f"{word} {number} - {test}{directive}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if Path(sys.argv[0]).name == LINK:
        become_qemu()
    sys.exit(main())
