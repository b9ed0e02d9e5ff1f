#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The medium fails now and then: exactly those requests end with an error, and
# nobody resets anything for it.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=20000 fail-every=40
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 12

driver_load
for policy in hardirq threaded bounded; do
	knob policy $policy
	reset_stats
	failed=$(dev faults.failed)
	disk_fio errors --filename="$DISK" --rw=randread --iodepth=8 --size=4m \
		--continue_on_error=read --ignore_error=61 >/tmp/fio.out	# ENODATA
	failed=$(($(dev faults.failed) - failed))
	at_least "$policy: the device did fail requests" "$failed" 20
	is "$policy: as many failed here" "$(drv failed)" "$failed"
	is "$policy: no timeout, no reset, no retry" \
		"$(drv timeouts) $(drv resets) $(drv requeued)" "0 0 0"
	conserved $policy
done
driver_unload
ktap_end
