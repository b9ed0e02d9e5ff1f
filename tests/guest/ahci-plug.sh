#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Our driver: a drive is pulled out under load and put in again, with each lock;
# the driver leaves under load; the HBA is taken away.
#
# irqbed-type: ahci
# irqbed-device: ports=2 units=4 service-read-ns=2000000 service-write-ns=2000000
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=60000
# irqbed-clock: host
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 23

second=/dev/irqbed0l1
drive=$IRQBED_ID-drive1

driver_load
for lock in host port; do
	knob lock $lock
	reset_stats
	fio_load "$second"
	succeeds "$lock: the device is busy" wait_until device_busy
	host_do '{"execute": "device_del", "id": "'"$drive"'"}'
	succeeds "$lock: pulled out: the disk goes" wait_long [ ! -e $second ]
	wait "$FIO"
	at_least "$lock: fio was told" $? 1
	is "$lock: not by a timeout" "$(drv timeouts)" 0
	conserved "$lock: pulled out"
	succeeds "$lock: the other disk is not concerned" fio_verify --filename="$DISK" --size=1m
	drive=again-$lock
	host_do '{"execute": "device_add", "driver": "irqbed-ahci-drive", "id": "'"$drive"'", "bus": "'"$IRQBED_ID"'.0", "port": 1, "drive": "'"$IRQBED_ID"'lu1"}'
	succeeds "$lock: put in again: the disk comes" wait_long [ -b $second ]
	succeeds "$lock: it works" fio_verify --filename="$second" --size=1m
	fio_load "$DISK:$second" --numjobs=2
	wait_until device_busy
	echo "$IRQBED_PCI" >"$SYS/driver/unbind"
	wait "$FIO"
	at_least "$lock: unbound under load: fio was told" $? 1
	is "$lock: the device has nothing in flight" "$(dev requests.in_flight)" 0
	echo "$IRQBED_PCI" >/sys/bus/pci/drivers/irqbed/bind
	wait_long [ -b $second ]
done
fio_load "$DISK:$second" --numjobs=2
wait_until device_busy
echo 1 >"$SYS/remove"
wait "$FIO"
at_least "the HBA was taken away and fio was told" $? 1
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
succeeds "the module can be unloaded" wait_long rmmod irqbed
ktap_end
