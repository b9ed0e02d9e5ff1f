#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case idle-decay: LUN 0 keeps all 31 slots busy; one TEST UNIT READY to another
# unit, a data LUN or a well-known one, and with fair sharing LUN 0 has half of
# the slots for the whole time that the other counts as active; without it there is
# no dip. The price of that: what a request of a light LUN waits beside a heavy
# one.
#
# irqbed-device: queue-depth=31 units=31 service-read-ns=5000000
# irqbed-disks: 2
# irqbed-driver: irqbed policy=hardirq wluns=1 tag_sharing=fair
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 17

DISK1=/dev/irqbed0l1
WLUN=49488
driver_load

now_ms() {
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# Requests per second of the controller, over half a second.
rate() {
	from=$(drv completed)
	usleep 500000
	echo $((($(drv completed) - from) * 2))
}

users() {
	cat "$DEBUG/tag_users"
}

is_users() { # COUNT
	[ "$(users)" = "$1" ]
}

# Called by "succeeds".
# shellcheck disable=SC2317
touch_unit() { # UNIT
	echo "$1" >"$DEBUG/test_unit_ready"
}

# Until only so many count, at most 10 s; how long that took, in ms.
decay_ms() { # COUNT
	from=$(now_ms)
	tries=200
	until is_users "$1" || [ $tries -eq 0 ]; do
		usleep 50000
		tries=$((tries - 1))
	done
	echo $(($(now_ms) - from))
}

# The kernel has looked for partitions.
decay_ms 0 >/tmp/decay
is "idle: nobody counts" "$(users)" 0
fio_load "$DISK" --rw=read --iodepth=64 --runtime=60
wait_until device_busy || ktap_bail "no load"
alone=$(rate)
note "LUN 0 alone: $alone IOPS"
is "LUN 0 counts" "$(users)" 1

for unit in 1 $WLUN; do
	succeeds "fair: TEST UNIT READY to unit $unit" touch_unit "$unit"
	is "fair: both count, unit $unit too" "$(users)" 2
	dip=$(rate)
	took=$(decay_ms 1)
	note "fair, after unit $unit: $dip IOPS; it counted as active for $took ms"
	at_most "fair: LUN 0 drops below 0.7 of what it had" "$dip" $((alone * 7 / 10))
	at_least "fair: the idle unit $unit counts for seconds" "$took" 500
	at_most "fair: but not for ever" "$took" 10000
	at_least "fair: then LUN 0 has all slots again" "$(rate)" $((alone * 9 / 10))
done

knob tag_sharing greedy
succeeds "greedy: TEST UNIT READY to unit 1" touch_unit 1
greedy=$(rate)
note "greedy, after unit 1: $greedy IOPS"
at_least "greedy: no dip" "$greedy" $((alone * 9 / 10))
kill -INT "$FIO"
wait "$FIO"

# p99 in us of LUN 1 at depth 1, beside LUN 0 at depth 64: 64 jobs, so that 33 of them wait for a slot.
light_p99() {
	fio_load "$DISK" --rw=randread --iodepth=1 --numjobs=64 --runtime=60
	wait_until device_busy || ktap_bail "no load"
	disk_fio light --filename="$DISK1" --rw=randread --size=16m --ioengine=psync --time_based --runtime=4 \
		--output-format=terse --terse-version=3 >/tmp/light.out
	kill -INT "$FIO"
	wait "$FIO"
	tr ';' '\n' </tmp/light.out | sed -n 's/^99\.0*%=//p' | head -n 1
}

greedy_us=$(light_p99)
knob tag_sharing fair
fair_us=$(light_p99)
note "p99 of the light LUN: fair $fair_us us, greedy $greedy_us us"
at_most "the light LUN waits no longer with fair sharing" "$fair_us" "$greedy_us"
driver_unload
ktap_end
