#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case lost-irq: a request finishes but its interrupt never comes. At depth 1
# nothing else comes either, so the timeout has to look, find the request done,
# and count it as recovered, without a reset. The count equals the device's.
#
# irqbed-device: service-read-ns=20000 service-write-ns=20000 irq-drop-every=100
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 600
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 13

driver_load
for policy in hardirq threaded bounded; do
	knob policy $policy
	reset_stats
	dropped=$(dev irq.dropped)
	succeeds "$policy: data is right at depth 1" fio_verify --filename="$DISK" --iodepth=1 --size=1m
	dropped=$(($(dev irq.dropped) - dropped))
	at_least "$policy: the device did drop interrupts" "$dropped" 4
	is "$policy: as many were recovered, without a reset" \
		"$(drv recovered_without_irq) $(drv resets)" "$dropped 0"
	conserved $policy
done
# At depth 8 the next interrupt finds the lost request too: no stall, no reset.
reset_stats
fio_verify --filename="$DISK" --iodepth=8 --size=4m >/tmp/fio.out
is "depth 8: fio's status, resets" "$? $(drv resets)" "0 0"
driver_unload
ktap_end
