#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The device swallows requests, and gives each up when that is asked for: the others go on.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000 hold-every=150
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
recovery_test abort
