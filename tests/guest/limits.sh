#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Zero is a limit ("at once") and "none" is none, for time and for count; wrong
# values are refused, and every knob can be read back.
#
# irqbed-device: units=32 irq-coalesce-count=32 irq-coalesce-timeout-ns=2000000
# irqbed-driver: irqbed policy=bounded time_limit_ns=none max_completions=none
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 26

batches() {
	reset_stats
	fio_batches 10 >/tmp/fio.out
}

is_told() { # FILE
	[ -n "$(cat "$1")" ]
}

driver_load
is "none is read back" "$(cat "$DEBUG/time_limit_ns" "$DEBUG/max_completions" | tr '\n' ' ')" \
	"none none "
batches
is "none: the hard part finished all" "$(drv hard_completions) $(drv thread_completions)" "320 0"
is "none: no hand-over" "$(drv handovers.time) $(drv handovers.count)" "0 0"

knob time_limit_ns 0
is "time 0 is read back" "$(cat "$DEBUG/time_limit_ns")" 0
batches
is "time 0: the hard part finished none" \
	"$(drv hard_completions) $(drv thread_completions)" "0 320"
is "time 0: each interrupt handed over for time" "$(drv handovers.time)" "$(drv irqs)"
at_least "time 0: there were interrupts" "$(drv irqs)" 10

knob time_limit_ns none
knob max_completions 0
batches
is "count 0: the hard part finished none" \
	"$(drv hard_completions) $(drv thread_completions)" "0 320"
is "count 0: each interrupt handed over for the count" "$(drv handovers.count)" "$(drv irqs)"

knob max_completions 5
batches
is "count 5: the hard part finished 5 each time" "$(drv hard_completions)" $(($(drv irqs) * 5))
is "count 5: the thread finished the rest" "$(drv thread_completions)" $((320 - $(drv irqs) * 5))
is "count 5: handed over for the count alone" "$(drv handovers.count) $(drv handovers.time)" \
	"$(drv irqs) 0"

# The limits belong to the bounded policy.
knob max_completions 0
knob policy hardirq
batches
is "hardirq: knows no limits" "$(drv hard_completions)" 320
conserved "afterwards"

for bad in "policy fast" "time_limit_ns -1" "time_limit_ns 20us" "time_limit_ns 1000000000001" \
	"max_completions nothing"; do
	fails "refused: $bad" knob "${bad% *}" "${bad#* }"
done
fails "refused: a knob that cannot change while loaded" knob queue_depth 5
for name in policy time_limit_ns max_completions thread_cpus poll_weight poll_budget poll_time_ns \
	work_kind flood_window_ns flood_enter_pct flood_leave_pct flood_rest tag_sharing wluns hw_queues \
	queue_depth timeout_ms max_retries irq_mode; do
	is_told "$DEBUG/$name" || break
	is_told "/sys/module/irqbed/parameters/$name" || break
done
is "every knob can be read, as parameter and here" "$name" irq_mode
driver_unload
for bad in policy=fast time_limit_ns=-1 queue_depth=33 timeout_ms=0 irq_mode=msix; do
	fails "refused when loading: $bad" insmod /lib/irqbed/irqbed.ko $bad
done
ktap_end
