#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The HBA is what it says it is: three kernels' own, unmodified driver probes it
# without complaint, uses NCQ at full depth, gets back what it wrote, trims,
# flushes, and leaves and comes again.
#
# irqbed-type: ahci
# irqbed-device: ports=4 units=4 service-read-ns=300000 service-write-ns=300000
# irqbed-disks: 2
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-ahci.sh
. /tests/ktap-ahci.sh
ktap_plan 18

note "kernel $(uname -r)"
dmesg -c >/dev/null
succeeds "the driver loads and finds the disks" ahci_load
is "it complains about nothing" "$(ahci_complaints)" ""
is "the PCI function has it" "$(basename "$(readlink "$SYS/driver")")" ahci
sda=$(ahci_disk 0)
sdb=$(ahci_disk 1)
queue=/sys/block/${sda#/dev/}/queue
set -- "$SYS"/ata*
is "as many ports as the HBA has" $# 4
is "IDENTIFY: model" "$(sed 's/ *$//' "/sys/block/${sda#/dev/}/device/model")" "irqbed SATA driv"
is "IDENTIFY: size, not rotating" \
	"$(cat "/sys/block/${sda#/dev/}/size") $(cat "$queue/rotational")" "65536 0"
is "IDENTIFY: a write-back cache" "$(cat "$queue/write_cache")" "write back"
is "NCQ at full depth" "$(cat "/sys/block/${sda#/dev/}/device/queue_depth")" 32
at_least "can be trimmed" "$(cat "$queue/discard_max_bytes")" 4096

succeeds "4 KiB random writes read back right" fio_verify --filename="$sda" --iodepth=32
succeeds "writes of mixed sizes read back right" \
	fio_verify --filename="$sdb" --bsrange=4k-256k --bs_unaligned=0 --size=16m
fio_load "$sda" --runtime=1 --numjobs=2
succeeds "the device did get 32 at once" wait_until device_full
wait "$FIO"
succeeds "flushes and trims among writes" disk_fio mix --filename="$sda:$sdb" --rw=randwrite \
	--iodepth=8 --size=2m --fsync=8
succeeds "trims" disk_fio trim --filename="$sdb" --rw=trim --bs=64k --size=4m
is "what was trimmed reads as zeroes" "$(dd if="$sdb" bs=64k count=8 iflag=direct 2>/dev/null |
	tr -d '\000' | wc -c)" 0

echo "$IRQBED_PCI" >"$SYS/driver/unbind"
is "unbound: the disks are gone" "$(ls -d "$SYS"/ata* /dev/sd? 2>/dev/null)" ""
echo "$IRQBED_PCI" >/sys/bus/pci/drivers/ahci/bind
succeeds "bound again" ahci_ready
is "no complaint, and no mistake that the device saw" "$(ahci_complaints)$(dev guest_errors)" 0
echo "$IRQBED_PCI" >"$SYS/driver/unbind"
ktap_end
