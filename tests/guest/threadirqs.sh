#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# With the kernel argument threadirqs what we call the hard part runs in a
# thread of its own: the statistics say so, and all policies still work.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed
# irqbed-args: threadirqs
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 11

driver_load
for policy in hardirq threaded bounded; do
	knob policy $policy
	reset_stats
	succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=32 --size=2m
	conserved $policy
	is "$policy: no handler ran in a hard interrupt" "$(drv hard_context.hardirq)" 0
done
at_least "all ran in a thread" "$(drv hard_context.thread)" 1
is "no timeout" "$(drv timeouts)" 0
driver_unload
ktap_end
