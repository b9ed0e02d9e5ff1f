#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Error handling of the kernel's own driver: the link reports that it has to be
# started anew. The driver resets the host controller, and what was in flight
# comes to its end all the same.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000 link-error-every=700
# irqbed-disks: 2
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 7
succeeds "the driver loads and finds the disks" stock_load
errors=$(dev faults.link_errors)
succeeds "data is right" fio_verify --filename="$(stock_disk 0):$(stock_disk 1)"
errors=$(($(dev faults.link_errors) - errors))
note "link errors: $errors, host resets: $(stock_count "Host Resets")"
at_least "the link did break" "$errors" 1
at_least "the driver reset the host controller" "$(stock_count "Host Resets")" 1
is "both disks are still in use" \
	"$(cat "$SYS"/host*/target*/*:0:0:[01]/state | tr '\n' ' ')" "running running "
is "the device has nothing in flight" "$(dev requests.in_flight)" 0
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
rmmod ufshcd-pci
ktap_end
