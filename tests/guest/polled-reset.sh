#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Policy polled: requests that the device holds time out under those who poll; the
# controller is reset, which waits for them, and all are sent again.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000 hold-every=300 hold-until=host-reset
# irqbed-driver: irqbed policy=polled timeout_ms=1000
# irqbed-cpus: 4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 6

driver_load
reset_stats
succeeds "data is right" fio_verify --filename="$DISK" --ioengine=io_uring --hipri --size=1m \
	--numjobs=4 --offset_increment=4m
at_least "the device did hold requests" "$(dev faults.held)" 4
at_least "there were resets" "$(drv resets)" 1
at_least "requests were polled for" "$(drv polled_completions)" 512
conserved "after resets"
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
driver_unload
ktap_end
