#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case depth-one: one slot, or two, for two LUNs with 20 jobs each: no request
# waits more than ten times the mean. With mq-deadline, which has an order of its
# own and lets a read wait for 500 ms, everybody is served all the same: greedy
# tags and a scheduler once left both LUNs waiting for each other for ever.
#
# irqbed-device: units=4 service-read-ns=200000
# irqbed-disks: 2
# irqbed-driver: irqbed policy=hardirq
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 36

# Latency from the call to its end, the wait for a slot included.
two_luns() { # NAME LIMIT
	for lun in 0 1; do
		disk_fio "lun$lun" --filename="/dev/irqbed0l$lun" --rw=randread --size=16m --ioengine=psync \
			--numjobs=20 --group_reporting --time_based --runtime=500ms \
			--output-format=terse --terse-version=3 >"/tmp/lun$lun.out" &
	done
	wait
	for lun in 0 1; do
		mean=$(awk -F';' '/^3;/ { print int($16) }' "/tmp/lun$lun.out")
		longest=$(awk -F';' '/^3;/ { print int($15) }' "/tmp/lun$lun.out")
		note "$1, LUN $lun: mean $mean us, longest $longest us"
		at_least "$1: LUN $lun was served" "$mean" 200
		at_most "$1: nobody on LUN $lun waited more than $2 times the mean" \
			"$longest" $((mean * $2))
	done
}

scheduler() { # NAME
	for lun in 0 1; do
		echo "$1" >"/sys/block/irqbed0l$lun/queue/scheduler"
	done
}

for depth in 1 2; do
	# shellcheck disable=SC2034  # driver_load's
	IRQBED_PARAMS="policy=hardirq queue_depth=$depth"
	driver_load
	for sharing in fair greedy; do
		knob tag_sharing $sharing
		reset_stats
		scheduler none
		two_luns "depth $depth, $sharing, no scheduler" 10
		scheduler mq-deadline
		two_luns "depth $depth, $sharing, mq-deadline" 100
		conserved "depth $depth, $sharing"
	done
	driver_unload
done
ktap_end
