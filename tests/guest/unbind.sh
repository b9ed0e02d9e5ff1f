#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The driver leaves the device, or the device the machine, under load and under
# each policy: fio ends with an error, nothing hangs, nothing stays in flight.
#
# irqbed-device: units=4 service-read-ns=50000 service-write-ns=50000
# irqbed-disks: 2
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 18

load() {
	fio_load "$DISK:/dev/irqbed0l1" --numjobs=2
	wait_until device_busy
}

driver_load
for policy in hardirq threaded bounded; do
	knob policy $policy
	succeeds "$policy: the device is busy" load
	fails "$policy: the module is in use and stays" rmmod irqbed
	echo "$IRQBED_PCI" >"$SYS/driver/unbind"
	is "$policy: unbound" "$(readlink "$SYS/driver")$(ls -d "$DISK" 2>/dev/null)" ""
	wait "$FIO"
	at_least "$policy: fio was told" $? 1
	is "$policy: the device has nothing in flight" "$(dev requests.in_flight)" 0
	echo "$IRQBED_PCI" >/sys/bus/pci/drivers/irqbed/bind
	wait_until [ -b "$DISK" ]
done
succeeds "bound again, data is right" fio_verify --filename="$DISK"

load
echo 1 >"$SYS/remove"
wait "$FIO"
at_least "the function was removed and fio was told" $? 1
echo 1 >/sys/bus/pci/rescan
only_my_device
[ -e "$SYS/driver" ] || echo "$IRQBED_PCI" >/sys/bus/pci/drivers/irqbed/bind
wait_until [ -b "$DISK" ]
succeeds "found again, data is right" fio_verify --filename="$DISK"
driver_unload
ktap_end
