#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Kernels that are not ours, older and newer than the default, each with its own
# UFS driver: it probes without a complaint (the lanes are connected, the power
# mode changes, the time stamp is taken), finds the units and what they say of
# themselves, gets back what it wrote, and leaves and comes again.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000
# irqbed-disks: 2
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 22

units() {
	printf '%s\n' "$SYS"/host*/target*/*:*:*:* | sed 's/.*://' | sort -n | tr '\n' ' '
}

text() { # FILE: without blanks at the end
	sed 's/ *$//' "$1"
}

note "kernel $(uname -r)"
dmesg -c >/dev/null
succeeds "the driver loads and finds the disks" stock_load
is "it complains about nothing" "$(stock_complaints)" ""
is "the PCI function has it" "$(basename "$(readlink "$SYS/driver")")" ufshcd

# 49456, 49476, 49488: the well-known units boot, RPMB and device.
found=$(units)
is "units" "$found" "0 1 49456 49476 49488 "
scan=$(ls -d "$SYS"/host*/scsi_host/host*/scan)
echo 1 >"$(ls -d "$SYS"/host*/target*/*:0:0:1)/delete"
is "a unit is taken away" "$(units)" "0 49456 49476 49488 "
echo "- - -" >"$scan"
succeeds "a scan finds it again" wait_until stock_disk 1
is "and no other" "$(units)" "$found"

sda=$(stock_disk 0)
lu=$(ls -d "$SYS"/host*/target*/*:0:0:0)
is "INQUIRY" "$(text "$lu/vendor") $(text "$lu/model") $(text "$lu/rev") $(cat "$lu/type")" \
	"IRQBED irqbed-ufs 0100 0"
is "VPD 80: serial number" "$(tail -c +5 "$lu/vpd_pg80")" "IRQBED0001-00"
is "VPD 83: an NAA identifier" "$(xxd -p -l 8 "$lu/vpd_pg83")" "0083000c01030008"
is "READ CAPACITY: 512-byte sectors, block size" \
	"$(cat "/sys/block/${sda#/dev/}/size") $(cat "/sys/block/${sda#/dev/}/queue/logical_block_size")" \
	"65536 4096"
is "VPD b1: not rotating" "$(cat "/sys/block/${sda#/dev/}/queue/rotational")" 0
at_least "VPD b0, b2: can be trimmed" "$(cat "/sys/block/${sda#/dev/}/queue/discard_max_bytes")" 4096
is "MODE SENSE: a write-back cache" "$(cat "/sys/block/${sda#/dev/}/queue/write_cache")" "write back"
is "string descriptors" \
	"$(text "$SYS/string_descriptors/product_name") $(cat "$SYS/string_descriptors/serial_number")" \
	"irqbed-ufs IRQBED0001"
is "attribute: power mode" "$(cat "$SYS/attributes/current_power_mode")" "0x00000011"

succeeds "4 KiB random writes read back right" \
	fio_verify --filename="$sda" --iodepth=32
succeeds "writes of mixed sizes read back right" \
	fio_verify --filename="$(stock_disk 1)" --bsrange=4k-256k --bs_unaligned=0 --size=16m

echo "$IRQBED_PCI" >"$SYS/driver/unbind"
is "unbound: the disks are gone" "$(ls -d "$SYS"/host* /dev/sd? 2>/dev/null)" ""
echo "$IRQBED_PCI" >/sys/bus/pci/drivers/ufshcd/bind
succeeds "bound again" stock_ready
is "still no complaint" "$(stock_complaints)" ""
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
dmesg | grep -i ufs | sed 's/^/# /' | head -n 12
rmmod ufshcd-pci
ktap_end
