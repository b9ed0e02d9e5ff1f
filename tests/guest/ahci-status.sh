#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case status-before-irq: at the instant of an interrupt everything that a handler
# reads is final, with interrupt latency and coalescing, too. At depth 1 nothing
# else finishes meanwhile, so each interrupt finds its request, and none is needed
# twice.
#
# irqbed-type: ahci
# irqbed-device: ports=1 service-read-ns=20000 service-write-ns=30000 irq-latency-ns=5000 irq-coalesce-count=4 irq-coalesce-timeout-ns=15000
# irqbed-driver: irqbed policy=hardirq
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 8

driver_load
for lock in host port; do
	knob lock $lock
	reset_stats
	disk_fio one --filename="$DISK" --rw=randread --iodepth=1 --size=1m >/tmp/fio.out
	is "$lock: each interrupt had its request" "$(drv hard_empty) $(drv irqs_none)" "0 0"
	is "$lock: one interrupt for each" "$(drv irqs)" "$(drv hard_completions)"
	reset_stats
	fio_batches 8 >/tmp/fio.out
	at_most "$lock: coalesced, fewer interrupts than requests" "$(drv irqs)" "$(($(drv completed) / 2))"
	is "$lock: no timeout" "$(drv timeouts) $(drv unexpected)" "0 0"
done
driver_unload
ktap_end
