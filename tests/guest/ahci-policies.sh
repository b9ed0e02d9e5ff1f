#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Our driver with each policy and each lock: data is right on both disks, every
# request ends once, where the policy says; and the locks that are measured are
# those in use.
#
# irqbed-type: ahci
# irqbed-device: ports=4 units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-disks: 2
# irqbed-driver: irqbed lock_stats=on
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 48

both="$DISK:/dev/irqbed0l1"
driver_load
for policy in hardirq threaded polled bounded; do
	knob policy $policy
	for lock in host port; do
		knob lock $lock
		reset_stats
		succeeds "$policy, $lock: data is right" fio_verify --filename="$both" --iodepth=32 --size=2m
		conserved "$policy, $lock"
		case $policy in
		hardirq) is "hardirq: the thread finished none" "$(drv thread_completions)" 0 ;;
		threaded) is "threaded: the hard part finished none" "$(drv hard_completions)" 0 ;;
		polled) is "polled: all were polled for, none interrupted" "$(drv polled_completions) $(drv irqs)" \
			"$(drv completed) 0" ;;
		bounded) at_least "bounded: the hard part finished some" "$(drv hard_completions)" 1 ;;
		esac
		is "both ports, by their own count, and no other" \
			"$(($(drv queues.0.completed) + $(drv queues.1.completed))) $(drv queues.2.submitted)" \
			"$(drv completed) 0"
		case $lock in
		host) is "$policy, host: no port's lock was taken" \
			"$(drv locks.0.lock_hold_ns.count) $(drv locks.1.lock_hold_ns.count)" "0 0" ;;
		port) at_least "$policy, port: a port's lock was taken for each request" \
			"$(drv locks.1.lock_hold_ns.count)" "$(drv queues.1.completed)" ;;
		esac
	done
done
knob lock_stats off
reset_stats
succeeds "flushes and trims among writes" disk_fio mix --filename="$both" --rw=randwrite \
	--iodepth=8 --size=1m --fsync=8
succeeds "trims" disk_fio trim --filename="$DISK" --rw=trim --bs=64k --size=4m
is "lock_stats off: nothing was measured" "$(drv locks.host.lock_hold_ns.count)" 0
conserved "flushes and trims"
knob policy polled
reset_stats
disk_fio flushes --filename="$DISK" --ioengine=libaio --rw=randwrite --offset=8m --size=1m --fsync=4 >/tmp/fio.out &
fio=$!
succeeds "polled beside flushes: data is right" fio_verify --filename="$DISK" --iodepth=16 --size=2m
wait $fio
is "and they come to their end" "$? $(drv timeouts)" "0 0"
conserved "polled beside flushes"
is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
driver_unload
ktap_end
