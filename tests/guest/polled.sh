#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Policy polled: requests of somebody who polls raise no interrupt, all others do;
# both at once, synchronous ones and flushes too. Other policies know no polling. A
# queue can have the one and the other in turn, and the driver can go at any time.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed policy=polled timeout_ms=1000 wluns=1
# irqbed-cpus: 4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 37

polling() { # FIO-OPTION...
	fio_verify --filename="$DISK" --ioengine=io_uring --hipri "$@"
}

driver_load
is "the module parameter is in force" "$(cat "$DEBUG/policy")" polled
is "the disk can be polled" "$(cat "/sys/block/${DISK#/dev/}/queue/io_poll")" 1
for depth in 1 32; do
	reset_stats
	raised=$(dev irq.raised)
	succeeds "depth $depth: data is right" polling --iodepth=$depth --size=2m
	is "depth $depth: all were polled for" "$(drv polled_completions)" "$(drv completed)"
	is "depth $depth: no interrupt by the driver's count, nor by the device's" \
		"$(drv irqs) $(($(dev irq.raised) - raised))" "0 0"
	at_least "depth $depth: somebody polled" "$(drv polls)" 16
	conserved "depth $depth"
done

for options in "--ioengine=libaio" "--ioengine=io_uring" "--ioengine=pvsync2 --hipri"; do
	reset_stats
	# The options are words.
	# shellcheck disable=SC2086
	succeeds "$options: data is right" fio_verify --filename="$DISK" --size=256k $options
	is "$options: nobody polled, the interrupt ended them" "$(drv polled_completions)" 0
	at_least "$options: there were interrupts" "$(drv irqs)" 64
	conserved "$options"
done
reset_stats
succeeds "a write through the cache, and a flush" dd if=/dev/zero of="$DISK" bs=4k count=1 seek=4000 conv=fsync
at_least "are interrupted for" "$(drv hard_completions)" 2
succeeds "and so is a well-known unit's" knob test_unit_ready 49488
fio_verify --filename="$DISK" --size=1m --offset=8m >/tmp/other.out &
fio=$!
succeeds "polled beside others: data is right" polling --size=1m
wait $fio
is "and that of the others" $? 0
conserved "both"
is "each by who polls or by the interrupt, which ends what it finds" \
	"$(($(drv polled_completions) + $(drv hard_completions)))" "$(drv completed)"
reset_stats
polling --iodepth=1 --size=64k >/tmp/fio.out
is "and then all of them are again" "$(drv polled_completions)" "$(drv completed)"
is "no timeout" "$(drv timeouts) $(drv recovered_without_irq)" "0 0"

knob policy hardirq
is "policy hardirq: the disk cannot be polled" "$(cat "/sys/block/${DISK#/dev/}/queue/io_poll")" 0
fails "and says so" polling --size=64k
knob policy polled
echo mq-deadline >"/sys/block/${DISK#/dev/}/queue/scheduler"
succeeds "through a scheduler: data is right" polling --size=1m

fio_load "$DISK" --ioengine=io_uring --hipri --numjobs=4
wait_until device_busy
echo "$IRQBED_PCI" >"$SYS/driver/unbind"
wait "$FIO"
at_least "unbound under load, fio was told" $? 1
driver_unload
ktap_end
