#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case is-edge-level, edge: the line comes only when IS & IE goes from 0 to 1.
# The driver works with that. One that never clears IS gets one interrupt and
# stalls: what finishes later is found by the timeout, "recovered without
# interrupt", and the count says so.
#
# irqbed-device: irq-mode=intx irq-trigger=edge units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed timeout_ms=500
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-line.sh
. /tests/ktap-line.sh
ktap_plan 14

line_works

never_cleared 4
is "never cleared: one interrupt" "$RAISED $(drv irqs)" "1 1"
at_least "never cleared: a stall; the timeout finds the rest" "$(drv recovered_without_irq)" 3
driver_unload
ktap_end
