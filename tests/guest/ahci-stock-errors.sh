#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A queued read fails on the medium now and then: three kernels' own driver reads
# the drive's log, fails just that one, and sends the others again.
#
# irqbed-type: ahci
# irqbed-device: ports=1 units=8 service-read-ns=20000 service-write-ns=20000 fail-every=200
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-ahci.sh
. /tests/ktap-ahci.sh
ktap_plan 6

succeeds "the driver loads and finds the disk" ahci_load
sda=$(ahci_disk 0)
failed=$(dev faults.failed)
disk_fio errors --filename="$sda" --rw=randread --iodepth=32 --size=8m --continue_on_error=read \
	>/tmp/fio.out
failed=$(($(dev faults.failed) - failed))
at_least "the device did fail requests" "$failed" 5
is "as many failed here" "$(sed -n 's/.*errors *: total=\([0-9]*\),.*/\1/p' /tmp/fio.out)" "$failed"
is "the disk is still in use" "$(cat "/sys/block/${sda#/dev/}/device/state")" running
is "the device has nothing in flight" "$(dev requests.in_flight)" 0
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
echo "$IRQBED_PCI" >"$SYS/driver/unbind"
ktap_end
