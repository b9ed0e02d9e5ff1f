#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Units with blocks larger than a page, beside one with blocks of a page, through
# the own driver of a kernel that takes them: what it says of the units, and data
# of one block and of many.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000
# irqbed-disks: 3
# irqbed-lu: 0 block-bytes=16384, 2 block-bytes=65536
# irqbed-driver: stock
# irqbed-kernel: 7.2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 14

dmesg -c >/dev/null
succeeds "the driver loads and finds the disks" stock_load
is "it complains about nothing" "$(stock_complaints)" ""
lun=0
for block in 16384 4096 65536; do
	disk=$(stock_disk $lun)
	is "LUN $lun: size in sectors, block size" \
		"$(cat "/sys/block/${disk#/dev/}/size") $(cat "/sys/block/${disk#/dev/}/queue/logical_block_size")" \
		"65536 $block"
	is "LUN $lun: READ CAPACITY" "$(sg "$disk" in 8 25000000000000000000)" \
		"$(printf '%08x%08x' $((33554432 / block - 1)) $block)"
	succeeds "LUN $lun: random writes of a block read back right" \
		fio_verify --filename="$disk" --bs=$block --iodepth=32
	succeeds "LUN $lun: writes of mixed sizes read back right" \
		fio_verify --filename="$disk" --bsrange=$block-256k --bs_unaligned=0 --size=16m
	lun=$((lun + 1))
done
rmmod ufshcd-pci
ktap_end
