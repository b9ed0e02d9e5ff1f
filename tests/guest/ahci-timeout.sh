#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A drive swallows commands: each is found too old, its port is reset, alone, and
# what was in flight there is sent again. A drive that never answers: port reset,
# HBA reset, then it is given up; the other one goes on.
#
# irqbed-type: ahci
# irqbed-device: ports=2 service-read-ns=20000 service-write-ns=20000 hold-every=150
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 21

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
	conserved "$policy"
	is "$policy: both ports are in use" "$(drv queues.0.state) $(drv queues.1.state)" "live live"
	is "$policy: the device saw no mistakes of the driver" "$(dev guest_errors)" 0
done
driver_unload
ktap_end
