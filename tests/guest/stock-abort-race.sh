#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case abort-race with the kernel's own driver: a request's answer and its abort
# come together, at every distance from -50 to +50 us. Each request ends once,
# with the right data.
#
# irqbed-device: service-read-ns-per-kib=8398438
# irqbed-driver: stock
# irqbed-limit: 6000
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 9
succeeds "the driver loads and finds the disk" stock_load
disk=$(stock_disk 0)
echo 1 >"/sys/block/${disk#/dev/}/device/timeout"
race_checks "$disk"
is "it did not reset the host controller" "$(stock_count "Host Resets")" 0
rmmod ufshcd-pci
ktap_end
