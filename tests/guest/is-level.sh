#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case is-edge-level, level: the line stays up while IS & IE is not 0. The driver
# works with that. One that never clears IS ends in a storm, which the kernel
# ends: "nobody cared". The rest is then found by the timeout.
#
# irqbed-device: irq-mode=intx irq-trigger=level units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed timeout_ms=5000
# irqbed-limit: 900
# irqbed-expects: nobody cared|Disabling IRQ|Call Trace
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 15

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
disk_fio storm --filename="$DISK" --rw=randread --iodepth=1 --number_ios=2 --size=1m >/tmp/fio.out
is "never cleared: fio comes to its end all the same" "$?" 0
is "never cleared: the line rose once" "$(($(dev irq.raised) - raised))" 1
succeeds "never cleared: a storm, until nobody cared" \
	wait_until sh -c "dmesg | grep -q 'nobody cared'"
at_least "that was after as many as the kernel bears" "$(drv irqs)" 99900
conserved "never cleared"
driver_unload
ktap_end
