#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case aggregation-window: depth 1, service 20 us, coalescing (20 completions,
# 200 us): the device is done after 20 us, the guest hears of it after 220 us.
# At depth 32 with count 8 almost all interrupts fire by count. Count 8 serves
# for both: at depth 1 no count above 1 is ever reached.
#
# irqbed-device: service-read-ns=20000 irq-coalesce-timeout-ns=200000 irq-coalesce-count=8
# irqbed-driver: irqbed policy=hardirq
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 9

reads() { # DEPTH COUNT
	disk_fio window --filename="$DISK" --rw=randread --iodepth="$1" --number_ios="$2" \
		--size=16m --output-format=json >/tmp/fio.out
}

driver_load
reads 1 50
reset_stats
raised=$(dev irq.raised)
reads 1 200
is "depth 1: fio's status" "$?" 0
raised=$(($(dev irq.raised) - raised))
mean=$(sed -n '/"read" :/,/"write" :/p' /tmp/fio.out | sed -n '/"clat_ns"/,/}/s/.*"mean" : \([0-9]*\).*/\1/p' | head -n 1)
note "depth 1: clat $mean ns, $raised interrupts"
is "depth 1: an interrupt for each" "$raised" 200
at_least "depth 1: 20 us and 200 us" "$mean" 220000
at_most "depth 1: ... and little more" "$mean" 240000
conserved "depth 1"

reset_stats
raised=$(dev irq.raised)
reads 32 4096
is "depth 32: fio's status" "$?" 0
raised=$(($(dev irq.raised) - raised))
note "depth 32: $raised interrupts for 4096 reads"
at_least "depth 32: no more than the count in one" "$raised" 512
at_most "depth 32: almost all by count" "$raised" 560
conserved "depth 32"
driver_unload
ktap_end
