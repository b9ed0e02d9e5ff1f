#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case abort-race with our driver: a request's answer and the driver's abort for
# its being too old come together, at every distance from -50 to +50 us. Each
# request ends once, with the right data, or with an error that the reader sees:
# one that is sent again begins at the timer's own tick, where it loses anew.
#
# irqbed-device: service-read-ns-per-kib=8398438
# irqbed-driver: irqbed timeout_ms=1000 max_retries=1
# irqbed-limit: 6000
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 10
RACE_MAY_FAIL=yes
driver_load
race_checks "$DISK"
conserved "after the races"
is "who read saw each failure" "$RACE_FAILED" "$(drv failed)"
# What is answered while the driver is about to abort is not lost.
at_least "nothing given up without an abort" "$(drv recovery.abort.count)" "$(dev requests.aborted)"
driver_unload
ktap_end
