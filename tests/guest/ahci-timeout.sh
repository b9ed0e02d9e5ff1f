#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A drive swallows commands: each is found too old, its port is reset, alone, and
# what was in flight there is sent again.
#
# irqbed-type: ahci
# irqbed-device: ports=2 service-read-ns=20000 service-write-ns=20000 hold-every=150
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
recovery_test unit_reset
