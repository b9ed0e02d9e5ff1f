#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several UFS controllers with queues in one VM, a vector for each queue, spread
# over the CPUs; all are used at once, under each policy.
#
# irqbed-device: mcq=on mcq-maxq=8 irq-mode=msix queue-depth=128 units=16 service-read-ns=20000 service-write-ns=20000
# irqbed-controllers: 3
# irqbed-driver: irqbed irq_vectors=per_queue flood_enter_pct=0
# irqbed-cpus: 4
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh

# The CPUs that the controller's queues interrupt, in order; not its message 0.
queue_cpus() {
	for irq in "$SYS"/msi_irqs/*; do
		irq=${irq##*/}
		grep -q "^ *$irq:.*irqbed$" /proc/interrupts && cat "/proc/irq/$irq/effective_affinity_list"
	done | sort -n | xargs
}

# shellcheck disable=SC2086
set -- $POLICIES
ktap_plan $(($# * 4 + 10))
driver_load
DISKS=/dev/irqbed0l0:/dev/irqbed1l0:/dev/irqbed2l0
wait_until [ -b /dev/irqbed2l0 ] || ktap_bail "no third disk"
is "a vector for each queue of each controller" "$(grep -c 'irqbed$' /proc/interrupts)" 12
for policy in "$@"; do
	for one in $IRQBED_ALL; do
		controller "$one"
		knob policy "$policy"
		reset_stats
	done
	# Each job its own part of every disk, all of it checked.
	succeeds "$policy: data is right" fio_verify --filename="$DISKS" --numjobs=4 --size=6m \
		--offset_increment=4m --iodepth=24
	for one in $IRQBED_ALL; do
		controller "$one"
		conserved "$policy, $IRQBED_ID"
	done
done
for one in $IRQBED_ALL; do
	controller "$one"
	is "$IRQBED_ID: its queues interrupt a CPU each" "$(queue_cpus)" "0 1 2 3"
	is "$IRQBED_ID: all its queues were used" "$(queues_used 4)" 4
	is "$IRQBED_ID: timeouts, mistakes that the device saw" "$(drv timeouts) $(dev guest_errors)" "0 0"
done
driver_unload
ktap_end
