#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The module can be unloaded as soon as nobody has a disk open, also when a
# process was killed with requests in flight, also when the device holds some of
# them: unloading waits for the timeout and the reset.
#
# irqbed-device: units=4 service-read-ns=50000 service-write-ns=50000 hold-every=2000
# irqbed-driver: irqbed timeout_ms=2000
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 14

# In odd rounds any request in flight will do, in even ones a held one must be.
# Called by wait_until.
# shellcheck disable=SC2317
caught() {
	device_busy && [ "$(dev faults.held)" -ge "$want" ]
}

held=$(dev faults.held)
for round in 1 2 3 4; do
	driver_load
	want=$(($(dev faults.held) + (round + 1) % 2))
	fio_load "$DISK"
	wait_until caught
	killall -9 fio
	wait "$FIO"
	succeeds "round $round: unloads" wait_until rmmod irqbed
	is "round $round: nothing is left" \
		"$(ls -d "$DISK" /sys/kernel/debug/irqbed /sys/module/irqbed 2>/dev/null)" ""
	is "round $round: the device has nothing in flight" "$(dev requests.in_flight)" 0
done
at_least "the device did hold requests" $(($(dev faults.held) - held)) 2
driver_load
succeeds "loaded again, data is right" fio_verify --filename="$DISK" --size=1m
driver_unload
ktap_end
