#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The RT flavour of the kernel: every handler runs in a thread and spin locks sleep.
# All policies work, the statistics say where the hard part ran, and policies can be
# changed under load.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed flood_enter_pct=0
# irqbed-kernel: 6.12-rt
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
threads_test
