#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The controller vanishes under load, without notice: its slot is switched off.
# Everything in flight fails, once; nothing hangs; the module can be unloaded.
#
# irqbed-device: units=4 service-read-ns=200000 service-write-ns=200000
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=60000
# irqbed-slot: root
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 7

port=/sys/bus/pci/devices/$IRQBED_SLOT

config() { # OFFSET BYTES: as a number
	dd if="$port/config" bs=1 skip="$1" count="$2" 2>/dev/null | od -An -tu"$2" | tr -d ' '
}

# The offset of the PCI Express capability, from the list of capabilities.
find_express() {
	express=$(config 52 1)
	while [ "$express" -ne 0 ] && [ "$(config "$express" 1)" -ne 16 ]; do
		express=$(config $((express + 1)) 1)
	done
}

slot_control() { # VALUE
	# The octal escapes of two bytes.
	# shellcheck disable=SC2059
	printf "\\$(printf %03o $(($1 & 255)))\\$(printf %03o $(($1 >> 8)))" |
		dd of="$port/config" bs=2 count=1 seek=$(((express + 24) / 2)) conv=notrunc 2>/dev/null
}

# PCIe 4.0 section 7.5.3.10, slot control: with power indicator (9:8) and power
# controller (10) off QEMU takes the device out at once; the slot's interrupt
# (5) is off, or the kernel would see a slot that somebody switched off in good
# order. Then the slot is as it was, and told to say that it is empty (3),
# which the kernel does not ask for because the slot has a button.
switch_off() {
	find_express
	control=$(config $((express + 24)) 2)
	slot_control $((control & ~0x20))
	slot_control $((control & ~0x20 | 0x700))
	slot_control $((control | 0x8))
}

driver_load
fio_load "$DISK:/dev/irqbed0l1" --numjobs=2
succeeds "the device is busy" wait_until device_busy
start=$(date +%s)
switch_off
is "the device is gone from the bus" "$(dev requests.in_flight)" ""
wait "$FIO"
at_least "fio was told" $? 1
at_most "at once, not by a timeout: seconds" $(($(date +%s) - start)) 20
succeeds "the kernel takes the function away" wait_until [ ! -e "$SYS" ]
is "its disks are gone" "$(ls -d /dev/irqbed* 2>/dev/null)" ""
succeeds "the module can be unloaded" wait_until rmmod irqbed
ktap_end
