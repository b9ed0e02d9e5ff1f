#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The device is what it says it is: the kernel's own, unmodified driver probes
# it without complaint and gets back what it wrote.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000
# irqbed-disks: 2
# irqbed-driver: stock
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 6

only_my_device
dmesg -c >/dev/null
succeeds "the stock driver loads" modprobe -a sd_mod ufshcd-pci
succeeds "there is a disk for each unit" wait_until test -b /dev/sda -a -b /dev/sdb
dmesg >/tmp/dmesg
is "the driver complains about nothing" \
	"$(grep -iE '(ufshcd|scsi|sd[ab]).*(error|fail|timed? ?out|abort|invalid)' /tmp/dmesg)" ""
succeeds "4 KiB random writes read back right" \
	fio_verify --filename=/dev/sda --iodepth=32
succeeds "writes of mixed sizes read back right" \
	fio_verify --filename=/dev/sdb --bsrange=4k-256k --bs_unaligned=0 --size=16m
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
rmmod ufshcd-pci
ktap_end
