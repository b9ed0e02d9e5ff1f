#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# With the kernel argument threadirqs what we call the hard part runs in a
# thread of its own: the statistics say so, and all policies still work.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed flood_enter_pct=0
# irqbed-args: threadirqs
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 26

driver_load
for policy in $POLICIES; do
	knob policy "$policy"
	reset_stats
	succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=32 --size=2m
	conserved "$policy"
	is "$policy: no handler ran in a hard interrupt, no request ended in one" \
		"$(drv hard_context.hardirq) $(drv ended.hardirq)" "0 0"
done
at_least "all ran in a thread" "$(drv hard_context.thread)" 1
is "no timeout" "$(drv timeouts)" 0
driver_unload
ktap_end
