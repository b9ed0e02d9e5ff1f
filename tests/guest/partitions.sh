#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Partitions, flush, discard, a file system.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=20000 service-other-ns=100000
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 12

driver_load

# An MBR by hand, in blocks of 4 KiB: 1024 from 256, 2048 from 1280.
entry() { # FIRST-BLOCK BLOCKS
	printf '\000\000\000\000\203\000\000\000'
	for number in "$1" "$2"; do
		for shift in 0 8 16 24; do
			# The octal escape of one byte.
			# shellcheck disable=SC2059
			printf "\\$(printf %03o $((number >> shift & 255)))"
		done
	done
}
{
	dd if=/dev/zero bs=446 count=1
	entry 256 1024
	entry 1280 2048
	dd if=/dev/zero bs=32 count=1
	printf '\125\252'
} >/tmp/mbr 2>/dev/null
dd if=/tmp/mbr of="$DISK" bs=4096 count=1 conv=sync,fsync 2>/dev/null
blockdev --rereadpt "$DISK"
succeeds "both partitions appear" wait_until test -b "${DISK}p1" -a -b "${DISK}p2"
is "they are where the table says" \
	"$(cat /sys/block/irqbed0l0/irqbed0l0p1/start /sys/block/irqbed0l0/irqbed0l0p2/start \
		/sys/block/irqbed0l0/irqbed0l0p2/size | tr '\n' ' ')" "2048 10240 16384 "
succeeds "data in a partition is right" fio_verify --filename="${DISK}p2" --size=4m
# The second partition's pattern has not touched the first.
is "the other partition is untouched" \
	"$(dd if="${DISK}p1" bs=4096 count=1024 2>/dev/null | tr -d '\000' | wc -c)" 0

is "the disk has a write cache" "$(cat /sys/block/irqbed0l0/queue/write_cache)" "write back"
flushes=$(dev service_other_ns.count)
succeeds "writes with fsync" disk_fio sync --filename="${DISK}p2" --ioengine=psync --rw=write \
	--size=64k --fsync=1 --end_fsync=1
at_least "each fsync reached the device as a flush" \
	$(($(dev service_other_ns.count) - flushes)) 16

if [ "$(cat /sys/block/irqbed0l0/queue/discard_max_bytes)" -gt 0 ]; then
	dd if=/dev/urandom of="${DISK}p2" bs=64k count=4 oflag=direct 2>/dev/null
	succeeds "discard" blkdiscard -o 0 -l 131072 "${DISK}p2"
	is "what was discarded reads as zeros, the rest does not" \
		"$(dd if="${DISK}p2" bs=128k count=1 iflag=direct 2>/dev/null | tr -d '\000' | wc -c) \
$(($(dd if="${DISK}p2" bs=128k skip=1 count=1 iflag=direct 2>/dev/null | tr -d '\000' | wc -c) > 100000))" \
		"0 1"
else
	ktap_result 0 "discard # SKIP the device does not offer it"
	ktap_result 0 "discarded blocks # SKIP the device does not offer it"
fi

modprobe ext4
mke2fs -b 4096 "${DISK}p1" >/dev/null
mkdir -p /mnt/test
mount -t ext4 "${DISK}p1" /mnt/test
dd if=/dev/urandom of=/mnt/test/file bs=4k count=256 2>/dev/null
sum=$(md5sum </mnt/test/file)
fails "a mounted disk's module stays" rmmod irqbed
umount /mnt/test
driver_unload
driver_load
mount -t ext4 "${DISK}p1" /mnt/test
is "a file is there after loading the driver again" "$(md5sum </mnt/test/file)" "$sum"
umount /mnt/test
conserved "afterwards"
driver_unload
ktap_end
