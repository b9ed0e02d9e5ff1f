#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Error handling of the kernel's own driver: the device holds requests,
# also against an abort, until their unit is reset.
# All come to their end, and what was written is right.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000 hold-every=400 hold-until=lu-reset
# irqbed-disks: 2
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
stock_recovery_test lu-reset
