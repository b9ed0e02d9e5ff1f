# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the AHCI tests that run in the VM, after ktap.sh: the kernel's own driver
# and its disks.

ahci_load() {
	only_my_device
	modprobe -a sd_mod ahci || return
	[ -e "$SYS/driver" ] || echo "$IRQBED_PCI" >/sys/bus/pci/drivers/ahci/bind || return
	ahci_ready
}

# All drives are there, and the driver is through with its work after them.
ahci_ready() {
	port=0
	while [ $port -lt "$IRQBED_DISKS" ]; do
		wait_long ahci_disk $port >/dev/null || return
		port=$((port + 1))
	done
	usleep 500000
}

# Ports in turn have a number of the kernel's each.
ahci_port() { # PORT: its folder in sysfs
	for folder in "$SYS"/ata*; do
		echo "$folder"
	done | sort -V | sed -n "$(($1 + 1))p"
}

ahci_disk() { # PORT: /dev/sdX
	set -- "$(ahci_port "$1")"/host*/target*/*/block/sd*
	[ -e "$1" ] && echo "/dev/${1##*/}"
}

ahci_gone() { # PORT
	! ahci_disk "$1" >/dev/null
}

# What the driver, or the SCSI layer for it, has complained about since dmesg -c.
ahci_complaints() {
	dmesg | grep -iE 'ahci|ata[0-9]|scsi|sd[a-d]' |
		grep -iE 'error|fail|timed? ?out|abort|invalid|unable|unexpected|not support|mismatch|wrong|frozen'
}

# All 32 slots are in use.
device_full() {
	[ "$(dev requests.in_flight)" -ge 32 ] 2>/dev/null
}

# Case multi-msi-degraded, whatever the reason.
ahci_degraded_test() {
	ktap_plan 12
	driver_load
	is "one vector for all" "$(drv nr_vectors)" 1
	is "a message" "$(drv irq_mode)" msi
	for policy in hardirq threaded bounded; do
		knob policy $policy
		reset_stats
		succeeds "$policy: data is right on all four" fio_verify --size=512k \
			--filename="$DISK:/dev/irqbed0l1:/dev/irqbed0l2:/dev/irqbed0l3"
		conserved $policy
		progress=
		for port in 0 1 2 3; do
			progress="$progress $(($(drv queues.$port.completed) > 0))"
		done
		is "$policy: all ports progressed" "$progress" " 1 1 1 1"
	done
	is "no timeout, no mistake that the device saw" "$(drv timeouts) $(dev guest_errors)" "0 0"
	driver_unload
	ktap_end
}
