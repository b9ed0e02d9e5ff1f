#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# UFS with queues: what the device holds is found by the timeout; the controller
# is reset and its queues set up anew.
#
# irqbed-device: mcq=on irq-mode=msix queue-depth=128 units=16 service-read-ns=20000 service-write-ns=20000 hold-every=700 hold-until=host-reset
# irqbed-driver: irqbed irq_vectors=per_queue timeout_ms=1000
# irqbed-cpus: 4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 5

driver_load
reset_stats
succeeds "data is right" fio_verify --filename="$DISK" --numjobs=4 --size=1m --offset_increment=4m
at_least "the device did hold requests" "$(dev faults.held)" 1
at_least "there were resets" "$(drv resets)" 1
conserved "after the resets"
is "no reset failed" "$(drv resets_failed)" 0
driver_unload
ktap_end
