#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Real concurrency: the vCPUs run at the same time (host clock), policies are
# switched and the driver is unbound under load, requests get held and reset.
#
# irqbed-device: units=8 service-read-ns=100000 service-write-ns=100000 hold-every=3000 hold-until=host-reset
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=2000
# irqbed-cpus: 4
# irqbed-clock: host
# irqbed-kernel: 6.12 6.12-rt
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 10

driver_load
fio_verify --filename="$DISK:/dev/irqbed0l1" --numjobs=4 --size=2m --offset_increment=4m >/tmp/fio.out &
fio=$!
while kill -0 $fio 2>/dev/null; do
	for policy in $POLICIES; do
		echo "$policy" >"$DEBUG/policy"
	done
	usleep 20000
done
wait "$fio"
is "data is right under switching" $? 0
conserved "after switching"
at_least "the device did hold requests" "$(dev faults.held)" 1
at_least "there were resets" "$(drv resets)" 1
for round in hardirq irq_poll polled; do
	knob policy $round
	fio_load "$DISK:/dev/irqbed0l1" --numjobs=4
	usleep 700000
	echo "$IRQBED_PCI" >"$SYS/driver/unbind"
	wait "$FIO"
	at_least "$round: unbound, fio was told" $? 1
	echo "$IRQBED_PCI" >/sys/bus/pci/drivers/irqbed/bind
	is "$round: bound" "$(wait_until [ -b "$DISK" ]; echo $?)" 0
done
driver_unload
ktap_end
