#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A drive answers no command any more: first the driver looks, then it resets the
# port, then the HBA, then the port is given up and all its I/O fails at once. What
# else there is on the HBA goes on.
#
# irqbed-type: ahci
# irqbed-device: ports=2 service-read-ns=20000
# irqbed-disks: 2
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-clock: host
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 9

hold_every() { # N, from now on
	host_do '{"execute": "qom-set", "path": "/machine/peripheral/'"$IRQBED_ID"'", "property": "hold-every", "value": '"$1"'}'
}

# shellcheck disable=SC2317
given_up() {
	[ "$(drv queues.0.state)" = dead ]
}

driver_load
succeeds "data is right at first" fio_verify --filename="$DISK:/dev/irqbed0l1" --size=1m
reset_stats
fio_load "$DISK"
hold_every 1
succeeds "the port is given up" wait_long given_up
hold_every 0
wait "$FIO"
at_least "fio was told" $? 1
at_least "the device did hold requests" "$(dev faults.held)" 3
is "after a reset of the port and one of the HBA" "$(drv resets) $(drv resets_failed)" "2 0"
fails "I/O fails" dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct
succeeds "the other port is not concerned" fio_verify --filename=/dev/irqbed0l1 --size=1m
conserved "in the end"
succeeds "the module can be unloaded" rmmod irqbed
ktap_end
