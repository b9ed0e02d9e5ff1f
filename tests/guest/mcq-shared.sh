#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# UFS with queues and one vector for all of them.
#
# irqbed-device: mcq=on mcq-maxq=8 irq-mode=msi queue-depth=128 units=16 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed irq_vectors=shared flood_enter_pct=0
# irqbed-cpus: 4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
mcq_test 1
