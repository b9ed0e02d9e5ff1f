#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run QEMU's own UFS test against our device; print TAP.

usage: run_peer.py names|spec BINARY

Each test runs alone. One that has a written reason here is run all the same:
it is skipped with the reason when it fails, and fails when it passes, because
then the reason is out of date. See peer_ufs.py for what the two kinds are.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_S = 300
# What is wrong with the test, and what its failure must say.
MCQ = ("sets neither CONFIG.QT nor CQIE, which queues need; see docs/device-ufs.md", "IS, CQES)")
SENSE = ("expects CHECK CONDITION for REQUEST SENSE; see docs/device-ufs.md", "== CHECK_CONDITION)")
STATUS = ("expects a refused query in the overall status; see docs/device-ufs.md",
          "== UFS_OCS_INVALID_CMD_TABLE_ATTR)")
REASONS = {
    "names": {"init": SENSE, "legacy-read-write": SENSE, "query-flag": STATUS, "query-attribute": STATUS,
              "query-desciptor": STATUS, "mcq-read-write": MCQ, "mcq-cq-wraparound": MCQ},
    "spec": {},
}
EXPECTED = ("reg-read", "acpi-eject", "init", "legacy-read-write", "mcq-read-write", "mcq-cq-wraparound",
            "query-flag", "query-attribute", "query-desciptor")


def wrap_qemu(folder):
    """The test's machine wants a BIOS, which is not where QEMU looks: a QEMU that knows."""
    qemu = Path(os.environ["QTEST_QEMU_BINARY"]).resolve()
    firmware = qemu.parents[2] / "firmware"
    # libqtest takes the architecture from the name.
    script = Path(folder) / "qemu-system-x86_64"
    script.write_text(f'#!/bin/sh\nexec "{qemu}" -L "{firmware}" "$@"\n')
    script.chmod(0o755)
    os.environ["QTEST_QEMU_BINARY"] = str(script)


def run(arguments):
    """(good, output)"""
    try:
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return False, f"no end within {LIMIT_S} s"
    return done.returncode == 0 and "# SKIP" not in done.stdout, done.stdout


def judge(reason, is_there, good, output):
    """("ok" or "not ok", directive, what to say about a failure)"""
    if not is_there:
        return "not ok", "", "expected: this test in QEMU's program, got: none of this name"
    if not reason:
        return ("ok" if good else "not ok"), "", output
    why, words = reason
    if good:
        return "not ok", "", f"expected: a failure, because it {why}; got: a pass"
    if words not in output:
        return "not ok", "", f"expected: a failure with {words!r}; got:\n{output}"
    return "ok", f" # SKIP {why}", ""


def main(argv):
    kind, binary = argv
    with tempfile.TemporaryDirectory(prefix="irqbed-peer-") as folder:
        wrap_qemu(folder)
        listed = run([binary, "-l"])[1].splitlines()
        found = {path.rsplit("/", 1)[1]: path for path in listed
                 if path.startswith("/") and not path.endswith("/subprocess")}
        failed = 0
        names = sorted(set(EXPECTED) | set(found))
        for number, name in enumerate(names, 1):
            good, output = run([binary, "--tap", "-p", found[name]]) if name in found else (False, "")
            word, directive, told = judge(REASONS[kind].get(name), name in found, good, output)
            if word != "ok":
                failed += 1
                for line in told.splitlines()[-20:]:
                    print(f"# {line}")
                print(f"# again: QTEST_QEMU_BINARY=BUILD/qemu-system-x86_64 run_peer.py {kind} {binary}")
            print(f"{word} {number} - {name}{directive}", flush=True)
    print(f"1..{len(names)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
