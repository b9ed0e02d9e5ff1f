#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# UFS with queues: what the device holds is given up one by one, and its queue cleaned up.
#
# irqbed-device: mcq=on irq-mode=msix queue-depth=128 units=8 service-read-ns=20000 service-write-ns=20000 hold-every=150
# irqbed-disks: 2
# irqbed-driver: irqbed irq_vectors=per_queue timeout_ms=1000
# irqbed-limit: 900
# irqbed-cpus: 4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
recovery_test abort
