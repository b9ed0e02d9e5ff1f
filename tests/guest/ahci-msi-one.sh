#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case multi-msi-degraded: a vector for each of four ports is asked for, four are
# offered, and one is granted: this machine cannot remap interrupts.
# One handler serves all ports, and all of them progress.
#
# irqbed-type: ahci
# irqbed-device: ports=4 msi-vectors=4 units=4 service-read-ns=20000 service-write-ns=20000
# irqbed-disks: 4
# irqbed-driver: irqbed irq_vectors=per_queue
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-ahci.sh
. /tests/ktap-ahci.sh
ahci_degraded_test
