#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case is-edge-level, edge: the line comes only when IS & IE goes from 0 to 1.
# The driver works with that. One that never clears IS gets one interrupt and
# stalls: what finishes later is found by the timeout, "recovered without
# interrupt", and the count says so.
#
# irqbed-device: irq-mode=intx irq-trigger=edge units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed timeout_ms=500
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 14

driver_load
is "the line is in use" "$(drv irq_mode)" intx
for policy in hardirq threaded bounded; do
	knob policy $policy
	reset_stats
	succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=32
	is "$policy: nothing was lost" "$(drv timeouts) $(drv recovered_without_irq)" "0 0"
	conserved $policy
done

knob policy hardirq
knob keep_status on
reset_stats
raised=$(dev irq.raised)
disk_fio stall --filename="$DISK" --rw=randread --iodepth=1 --number_ios=4 --size=1m >/tmp/fio.out
is "never cleared: fio comes to its end all the same" "$?" 0
is "never cleared: one interrupt" "$(($(dev irq.raised) - raised)) $(drv irqs)" "1 1"
at_least "never cleared: a stall; the timeout finds the rest" "$(drv recovered_without_irq)" 3
conserved "never cleared"
driver_unload
ktap_end
