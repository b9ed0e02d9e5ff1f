#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# CPUs go and come back under load, the interrupt's own among them: nothing is
# lost under any policy.
#
# irqbed-device: units=8 service-read-ns=50000 service-write-ns=50000
# irqbed-driver: irqbed flood_enter_pct=0
# irqbed-cpus: 4
# irqbed-kernel: 6.12 6.12-rt
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
hotplug_test
