#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the units say to SCSI commands that are sent to them directly, through
# the kernels' own drivers: inquiry and its pages, capacities, mode pages,
# write protection, and the sense data of refusals. The kernel's own view, in
# sysfs, is the same.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000
# irqbed-disks: 4
# irqbed-lu: 1 write-protect=permanent
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 37

ascii() { # HEX
	echo "$1" | xxd -r -p | tr -d '\0'
}

part() { # HEX FIRST-BYTE BYTES
	echo "$1" | cut -c $(($2 * 2 + 1))-$((($2 + $3) * 2))
}

# First how long it is, then all of it: not every kernel says how much came.
vpd() { # DISK PAGE
	bytes=$(printf %04x $((4 + 0x$(part "$(sg "$1" in 4 "1201${2}000400")" 2 2))))
	sg "$1" in $((0x$bytes)) "1201$2${bytes}00"
}

sysfs_page() { # PAGE: from the kernel, as hex; nothing when it has no such file
	[ ! -e "$LU/vpd_pg$1" ] || xxd -p "$LU/vpd_pg$1" | tr -d '\n'
}

note "kernel $(uname -r)"
dmesg -c >/dev/null
succeeds "the driver loads and finds the disks" stock_load
is "it complains about nothing" "$(stock_complaints)" ""
LU=$(ls -d "$SYS"/host*/target*/*:0:0:0)
SDA=$(stock_disk 0)
SDB=$(stock_disk 1)
SDD=$(stock_disk 3)

inquiry=$(sg "$SDA" in 36 120000002400)
is "INQUIRY: a disk, SPC-4, queues commands" \
	"$(part "$inquiry" 0 1) $(part "$inquiry" 2 1) $(part "$inquiry" 7 1)" "00 06 02"
is "INQUIRY: names" "$(ascii "$(part "$inquiry" 8 28)")" "IRQBED  irqbed-ufs      0100"
is "VPD 00: pages" "$(vpd "$SDA" 00)" "00000006008083b0b1b2"
for page in 80 83 b0 b1 b2; do
	got=$(vpd "$SDA" $page)
	is "VPD $page: page code" "$(part "$got" 1 1)" "$page"
	kernel=$(sysfs_page $page)
	is "VPD $page: as the kernel has it" "${kernel:-$got}" "$got"
done
is "VPD 80 of another unit" "$(ascii "$(part "$(vpd "$SDD" 80)" 4 13)")" "IRQBED0001-03"
is "VPD of a page that is not there" "$(sg "$SDA" in 64 12019900ff00)" "status 02 sense 5/24/00"

is "READ CAPACITY 10" "$(sg "$SDA" in 8 25000000000000000000)" "00001fff00001000"
is "READ CAPACITY 16" "$(part "$(sg "$SDA" in 32 9e100000000000000000000000200000)" 0 15)" \
	"0000000000001fff000010000000c0"
is "REPORT LUNS" "$(sg "$SDA" in 40 a00000000000000000280000)" \
	"00000020000000000000000000000000000100000000000000020000000000000003000000000000"
is "REQUEST SENSE: nothing" "$(part "$(sg "$SDA" in 18 030000001200)" 0 14)" "700000000000000a000000000000"
succeeds "TEST UNIT READY" sg "$SDA" none 000000000000
succeeds "VERIFY" sg "$SDA" none 2f000000000000000800
succeeds "SYNCHRONIZE CACHE 16" sg "$SDA" none 91000000000000000000000000000000
succeeds "FORMAT UNIT" sg "$SDA" none 040000000000
is "no such command" "$(sg "$SDA" none c00000000000)" "status 02 sense 5/20/00"
is "beyond the end" "$(sg "$SDA" in 4096 28000000200000000100)" "status 02 sense 5/21/00"

# MODE SENSE and, by the kernel, MODE SELECT: the write cache off and on.
cache=$(ls -d "$LU"/scsi_disk/*/cache_type)
wce() {
	part "$(sg "$SDA" in 64 5a080800000000004000)" 10 1
}
is "MODE SENSE: the write cache is on" "$(wce)" 04
echo "write through" >"$cache"
is "MODE SELECT: off" "$(wce) $(cat "$cache")" "00 write through"
succeeds "writes read back right without it" fio_verify --filename="$SDA" --size=1m
echo "write back" >"$cache"
is "and on again" "$(wce) $(cat "$cache")" "04 write back"

is "a write-protected unit is read-only" "$(cat "/sys/block/${SDB#/dev/}/ro")" 1
is "writing to it" "$(sg "$SDB" out "$(printf '%08192d' 0)" 2a000000000000000100)" "status 02 sense 7/27/00"
succeeds "it can be read" dd if="$SDB" of=/dev/null bs=4k count=4
is "the others are not" "$(cat "/sys/block/${SDD#/dev/}/ro")" 0
is "still no complaint" "$(stock_complaints)" ""
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
rmmod ufshcd-pci
ktap_end
