#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Over the interrupt line instead of messages: each policy, and no interrupt
# while the thread runs, because the controller is masked until it is through.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed irq_mode=intx
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 18

driver_load
is "the line is in use" "$(drv irq_mode)" intx
for policy in hardirq threaded bounded polled; do
	knob policy $policy
	reset_stats
	succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=32
	conserved $policy
	is "$policy: no interrupt was taken for another's" "$(drv irqs_none)" 0
	is "$policy: no timeout" "$(drv timeouts)" 0
done
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
driver_unload
ktap_end
