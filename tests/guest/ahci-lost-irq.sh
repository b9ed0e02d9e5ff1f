#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case lost-irq, AHCI: the timeout looks before it resets anything, see lost-irq.
#
# irqbed-type: ahci
# irqbed-device: ports=2 service-read-ns=20000 service-write-ns=20000 irq-drop-every=100
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 600
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
lost_irq_test
