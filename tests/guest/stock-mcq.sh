#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Queues instead of the doorbell, by the kernel's own, unmodified driver: it
# sets them up without a complaint, uses all of them, the polled one too, and
# gets back what it wrote; then it leaves and comes again.
#
# irqbed-device: mcq=on units=4 service-read-ns=20000 service-write-ns=30000
# irqbed-disks: 2
# irqbed-driver: stock
# irqbed-cpus: 4
# irqbed-kernel: 6.12 7.2
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 14

note "kernel $(uname -r)"
dmesg -c >/dev/null
succeeds "the driver loads and finds the disks" stock_load
is "it complains about nothing" "$(stock_complaints)" ""
configured=$(dmesg | grep -o "MCQ configured, .*")
note "$configured"
is "it has set up a queue for each CPU and one to poll" \
	"$(echo "$configured" | sed 's/, queue_depth.*//')" \
	"MCQ configured, nr_queues=5, io_queues=4, read_queue=0, poll_queues=1"
sda=$(stock_disk 0)
set -- "/sys/block/${sda#/dev/}/mq"/*
is "the block layer has them" $# 5

for cpu in 0 1 2 3; do
	succeeds "CPU $cpu: data is right" \
		fio_verify --filename="$sda" --cpus_allowed=$cpu --iodepth=16 --size=1m
done
succeeds "polled reads" disk_fio poll --filename="$sda" --ioengine=io_uring --hipri=1 --iodepth=4 --rw=randread \
	--size=256k

# Queue 4 is the one to poll.
used=
for queue in 0 1 2 3 4; do
	count=$(dev queue_fetched.$queue)
	note "queue $queue: ${count:-0} requests"
	[ "${count:-0}" -lt 16 ] || used="$used $queue"
done
is "no queue was left out" "$used" " 0 1 2 3 4"

succeeds "all CPUs at once, mixed sizes, both disks" \
	fio_verify --filename="$sda:$(stock_disk 1)" --bsrange=4k-256k --bs_unaligned=0 --size=16m \
	--iodepth=32

echo "$IRQBED_PCI" >"$SYS/driver/unbind"
echo "$IRQBED_PCI" >/sys/bus/pci/drivers/ufshcd/bind
succeeds "unbound and bound again" stock_ready
is "still no complaint" "$(stock_complaints)" ""
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
rmmod ufshcd-pci
ktap_end
