#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tag_sharing=greedy needs one map of tags: with several queues the driver refuses it,
# as a parameter and while it runs, in one line; with one queue it does not.
#
# irqbed-device: mcq=on queue-depth=64
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 9

refusals() {
	dmesg | grep -c "irqbed $IRQBED_PCI: tag_sharing=greedy"
}

dmesg -c >/dev/null
only_my_device
insmod /lib/irqbed/irqbed.ko tag_sharing=greedy
is "two queues: the device gets no driver" "$(readlink "$SYS/driver")" ""
is "it is said in one line" "$(refusals)" 1
rmmod irqbed
driver_load
fails "nor can it be switched on" knob tag_sharing greedy
is "it stays as it was" "$(cat "$DEBUG/tag_sharing")" fair
is "and that is said" "$(refusals)" 2
succeeds "data is right" fio_verify --filename="$DISK" --size=256k
driver_unload
# shellcheck disable=SC2034  # driver_load's
IRQBED_PARAMS="tag_sharing=greedy hw_queues=1"
driver_load
is "one queue: it is in force" "$(cat "$DEBUG/tag_sharing")" greedy
succeeds "one queue: data is right" fio_verify --filename="$DISK" --size=256k
conserved "one queue"
driver_unload
ktap_end
