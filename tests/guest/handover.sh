#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case time-limit-real: 32 requests finish behind one interrupt and take some
# 5 us each to end, on a slow CPU; the limit is 20 us. The hard part lasts at
# most the limit and one request; the thread does the rest, without another
# interrupt.
#
# The limit is in nanoseconds and not in ticks, which at this kernel's HZ of 250
# would be 4 ms; Debian has no kernel of the same version with another HZ.
#
# irqbed-device: units=32 irq-coalesce-count=32 irq-coalesce-timeout-ns=2000000
# irqbed-driver: irqbed policy=hardirq
# irqbed-insn: 2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 12

driver_load
# What one request costs, and 32: from the driver's own histogram.
reset_stats
disk_fio one --filename="$DISK" --rw=randread --iodepth=1 --size=16m --number_ios=40 >/tmp/fio.out
one_ns=$(drv hard_ns.max)
is "one request behind each interrupt" "$(drv hard_completions)" "$(drv irqs)"
reset_stats
fio_batches 20 >/tmp/fio.out
all_ns=$(drv hard_ns.max)
note "one request: $one_ns ns, 32 of them: $all_ns ns"
at_least "without a limit the hard part lasts well over 20 us" "$all_ns" 40000

knob policy bounded
knob time_limit_ns 20000
reset_stats
raised=$(dev irq.raised)
succeeds "bounded: batches of 32" fio_batches 20
raised=$(($(dev irq.raised) - raised))
conserved "bounded"
at_most "bounded: the hard part lasts at most the limit and one request" \
	"$(drv hard_ns.max)" $((20000 + one_ns))
at_least "bounded: the hard part used its limit" "$(drv hard_ns.max)" 20000
at_least "bounded: handed over for lack of time" "$(drv handovers.time)" 20
is "bounded: for no other reason" "$(drv handovers.policy) $(drv handovers.count)" "0 0"
at_least "bounded: the thread finished most" "$(drv thread_completions)" "$(drv hard_completions)"
is "bounded: the driver had one interrupt for each the device raised" "$(drv irqs)" "$raised"
at_most "bounded: no interrupt beyond one for each batch" "$raised" 21
is "bounded: the tick is not the clock" "$(($(drv hard_ns.max) < 4000000))" 1
driver_unload
ktap_end
