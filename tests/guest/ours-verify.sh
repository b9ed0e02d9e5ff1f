#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Data comes back as it was written, on two disks at once, at all sizes.
#
# irqbed-device: units=4 service-read-ns=20000 service-write-ns=30000
# irqbed-disks: 2
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 9

driver_load
succeeds "the second disk is there too" test -b /dev/irqbed0l1
is "blocks are 4 KiB" "$(cat /sys/block/irqbed0l0/queue/logical_block_size)" 4096
fetched=$(dev requests.fetched)
reset_stats
succeeds "4 KiB random writes read back right, 4 jobs on 2 disks" \
	fio_verify --filename=/dev/irqbed0l0:/dev/irqbed0l1 --numjobs=4 --size=4m \
	--offset_increment=4m --iodepth=16
succeeds "writes of mixed sizes read back right" \
	fio_verify --filename=/dev/irqbed0l1 --bsrange=4k-1m --size=16m --iodepth=4
succeeds "buffered writes read back right" \
	fio_verify --filename=/dev/irqbed0l0 --direct=0 --ioengine=psync --rw=write --size=4m
conserved "afterwards"
is "the device fetched as many as the driver submitted" \
	"$(($(dev requests.fetched) - fetched))" "$(drv submitted)"
is "the device has nothing in flight" "$(dev requests.in_flight)" 0
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
driver_unload
ktap_end
