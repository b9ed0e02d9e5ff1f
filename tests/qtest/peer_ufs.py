#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make QEMU's own test of its UFS device a test of ours.

usage: peer_ufs.py names|spec SOURCE TARGET

SOURCE is tests/qtest/ufs-test.c of a QEMU tree; TARGET, in the build folder,
is the same with our names in place of QEMU's. "names" changes nothing else.
"spec" also changes the expectations in which QEMU's device is not as the
specification says, so that the rest of those tests is run too. The list is
here, and in docs/device-ufs.md.
"""

import re
import sys

# What is written there, what it becomes.
NAMES = (
    (r'"ufs"', '"irqbed-ufs"'),
    (r"-device ufs-lu,bus=ufs0,", "-device irqbed-ufs-lu,bus=ufs0.0,"),
    (r"mcq=false,nutrs=32,nutmrs=8", "queue-depth=32"),
)

SPEC = (
    # REQUEST SENSE reports a unit attention as data, with status GOOD (SPC-4,
    # REQUEST SENSE).
    (r"(scsi_status, ==, )CHECK_CONDITION", r"\1GOOD"),
    # A query that the device refuses was transferred all right: the refusal is
    # the response code of the UPIU, not the overall status.
    (r"UFS_OCS_INVALID_CMD_TABLE_ATTR", "UFS_OCS_SUCCESS"),
    # bCurrentPowerMode of an active device is 11h (UFS 3.1, attributes).
    (r"(UFS_QUERY_ATTR_IDN_POWER_MODE, 0, 0, 0, &rsp_upiu\);(?:[^;]*;){2}[^;]*cpu_to_be32\()0x00", r"\g<1>0x11"),
    # All units that bMaxNumberLU allows have a descriptor, bLUEnable says which
    # are there (UFS 3.1, unit descriptor): the first index without one is 32.
    (r"UFS_QUERY_DESC_IDN_UNIT, 4,", "UFS_QUERY_DESC_IDN_UNIT, 32,"),
    # The host controller takes from queues only while CONFIG.QT says so, and
    # IS.CQES comes of what CQIE enables (UFSHCI 4.0): the test sets neither.
    (r"(ufs_wreg\(ufs, mcq_reg_offset \+ A_SQATTR, sqattr\);)",
     r"\1 ufs_wreg(ufs, A_CONFIG, 1);"
     r" ufs_wreg(ufs, ufs_rreg(ufs, mcq_reg_offset + A_CQISAO) + offsetof(UfsMcqCqIntReg, ie), 1);"),
)


def main(argv):
    kind, source, target = argv
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for pattern, put in NAMES + (SPEC if kind == "spec" else ()):
        text, count = re.subn(pattern, put, text)
        if not count:
            print(f"irqbed: {source}: does not have {pattern}: not the QEMU this was made for (10.0.x)",
                  file=sys.stderr)
            return 1
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
