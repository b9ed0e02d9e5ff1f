#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# With the kernel argument threadirqs what we call the hard part runs in a
# thread of its own: the statistics say so, and all policies still work.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed flood_enter_pct=0
# irqbed-args: threadirqs
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
threads_test
