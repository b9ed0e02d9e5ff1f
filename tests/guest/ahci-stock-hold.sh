#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The drive swallows commands: three kernels' own driver finds them too old,
# resets the port, and the data is right in the end.
#
# irqbed-type: ahci
# irqbed-device: ports=1 units=4 service-read-ns=20000 service-write-ns=20000 hold-every=600
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# irqbed-limit: 600
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-ahci.sh
. /tests/ktap-ahci.sh
ktap_plan 6

succeeds "the driver loads and finds the disk" ahci_load
sda=$(ahci_disk 0)
echo 2 >"/sys/block/${sda#/dev/}/device/timeout"
held=$(dev faults.held)
succeeds "data is right" fio_verify --filename="$sda" --iodepth=32
held=$(($(dev faults.held) - held))
at_least "the device did hold requests" "$held" 2
is "the disk is still in use" "$(cat "/sys/block/${sda#/dev/}/device/state")" running
is "the device has nothing in flight" "$(dev requests.in_flight)" 0
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
echo "$IRQBED_PCI" >"$SYS/driver/unbind"
ktap_end
