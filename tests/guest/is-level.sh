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
# shellcheck source=tests/guest/ktap-line.sh
. /tests/ktap-line.sh
ktap_plan 15

line_works

never_cleared 2
is "never cleared: the line rose once" "$RAISED" 1
succeeds "never cleared: a storm, until nobody cared" \
	wait_until sh -c "dmesg | grep -q 'nobody cared'"
at_least "that was after as many as the kernel bears" "$(drv irqs)" 99900
driver_unload
ktap_end
