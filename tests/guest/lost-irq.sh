#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case lost-irq: a request finishes but its interrupt never comes. At depth 1
# nothing else comes either, so the timeout has to look, find the request done,
# and count it as recovered, without a reset. The count equals the device's.
#
# irqbed-device: service-read-ns=20000 service-write-ns=20000 irq-drop-every=100
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 600
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
lost_irq_test
