#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A vector for each port, when the HBA grants them all: each is used, for its own
# port.
#
# irqbed-type: ahci
# irqbed-device: ports=2 units=4 service-read-ns=20000 service-write-ns=20000
# irqbed-disks: 2
# irqbed-driver: irqbed irq_vectors=per_queue
# irqbed-iommu: on
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 22

driver_load
is "the device sends messages" "$(drv irq_mode)" msi
is "a vector for each port" "$(drv nr_vectors)" 2
for policy in hardirq threaded bounded; do
	for lock in host port; do
		knob policy $policy
		knob lock $lock
		reset_stats
		succeeds "$policy, $lock: data is right" \
			fio_verify --filename="$DISK:/dev/irqbed0l1" --size=1m
		is "$policy, $lock: both vectors were used" \
			"$(($(drv vectors.0.irqs) > 0)) $(($(drv vectors.1.irqs) > 0))" "1 1"
	done
done
knob policy polled
reset_stats
succeeds "polled: data is right" fio_verify --filename="$DISK:/dev/irqbed0l1" --size=1m
is "polled: neither vector was used" "$(drv polled_completions) $(drv irqs)" "$(drv completed) 0"
succeeds "polled by nobody: data is right" \
	fio_verify --filename="$DISK:/dev/irqbed0l1" --size=1m --ioengine=libaio
is "polled by nobody: both vectors were" \
	"$(($(drv vectors.0.irqs) > 0)) $(($(drv vectors.1.irqs) > 0))" "1 1"
knob policy bounded
conserved "afterwards"
reset_stats
fio_verify --filename="$DISK" --size=1m >/tmp/fio.out
is "one port's requests are one vector's" "$(drv vectors.1.irqs)" 0
is "no timeout, no mistake that the device saw" "$(drv timeouts) $(dev guest_errors)" "0 0"
driver_unload
is "with interrupts shared" "$(insmod /lib/irqbed/irqbed.ko; drv nr_vectors)" 1
driver_unload
ktap_end
