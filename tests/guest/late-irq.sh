#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case late-irq-reused-tag: an interrupt that comes long after its request was
# found must not end the request that has the tag by then. Every fifth result has
# a second, stray interrupt 150 us later. All four slots are always in use: the
# device counts the interrupts that came when their tag was in use again, and the
# pattern shows that no read ended before its data was there.
#
# irqbed-device: units=4 service-read-ns=60000 service-read-dist=uniform service-read-spread-ns=50000 service-write-ns=30000 inject=id=late,boot=on,every=5,fault=irq-double,for-ns=150000
# irqbed-driver: irqbed queue_depth=4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 10

driver_load
for policy in hardirq threaded; do
	knob policy $policy
	reset_stats
	late=$(dev irq.late)
	succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=16 --numjobs=2 \
		--size=3m --offset_increment=4m
	again=$(($(dev irq.late) - late))
	at_least "$policy: the device raised some after their tag was in use again" \
		"$again" 1
	late=$(($(drv irqs_none) + $(drv hard_empty) + $(drv thread_empty)))
	at_least "$policy: interrupts did come after their request was found" "$late" 1
	note "$policy: $late late interrupts of $(drv irqs), $again with the tag in use again"
	conserved $policy
done
is "no timeout, no reset" "$(drv timeouts) $(drv resets)" "0 0"
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
driver_unload
ktap_end
