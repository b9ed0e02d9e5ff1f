#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The device swallows requests, and neither an abort nor a reset of the unit gets them
# back. Each is found too old, the controller is reset,
# and what was in flight is sent again: data is right, everything ends once.
# With no retries allowed, it fails instead, and fio is told.
#
# irqbed-device: service-read-ns=20000 service-write-ns=20000 hold-every=150 hold-until=host-reset
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 18

driver_load
for policy in hardirq threaded bounded; do
	knob policy $policy
	reset_stats
	held=$(dev faults.held)
	succeeds "$policy: data is right on two disks" \
		fio_verify --filename="$DISK:/dev/irqbed0l1" --size=1m
	held=$(($(dev faults.held) - held))
	at_least "$policy: the device did hold requests" "$held" 2
	at_least "$policy: there was a reset for them" "$(drv resets)" 1
	at_least "$policy: they were sent again" "$(drv requeued)" "$held"
	conserved $policy
done
driver_unload

IRQBED_PARAMS="$IRQBED_PARAMS max_retries=0"
driver_load
held=$(dev faults.held)
fails "no retries: fio is told" disk_fio fail --filename="$DISK" --rw=randread --iodepth=8 --size=2m
held=$(($(dev faults.held) - held))
note "held: $held, failed: $(drv failed)"
at_least "no retries: what was held failed" "$(drv failed)" "$held"
conserved "no retries"
driver_unload
ktap_end
