#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case ncq-error: of 32 queued commands one fails. The log names its tag, that
# request alone ends with the error, the other 31 are sent again once, and SError
# is 0. The device drops them as the specification says, so it counts as many
# aborted; batches of 32, so that always 32 are there.
#
# irqbed-type: ahci
# irqbed-device: ports=2 units=1 service-read-ns=100000 service-write-ns=20000 fail-every=200
# irqbed-disks: 2
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 33

# PxSERR, AHCI 1.3.1, 3.3.12; while a driver has the registers nobody else may look.
serr() { # PORT
	base=$(sed -n 6p "$SYS/resource" | cut -d ' ' -f 1)
	devmem $((base + 0x100 + $1 * 0x80 + 0x30)) 32
}

driver_load
for policy in hardirq threaded bounded polled; do
	for lock in host port; do
		knob policy $policy
		knob lock $lock
		reset_stats
		failed=$(dev faults.failed)
		aborted=$(dev requests.aborted)
		fio_batches 20 --continue_on_error=read --ignore_error=61 >/tmp/fio.out	# ENODATA
		failed=$(($(dev faults.failed) - failed))
		aborted=$(($(dev requests.aborted) - aborted))
		note "$policy, $lock: $failed failed, $aborted aborted"
		is "$policy, $lock: what failed there failed here, and there was some" \
			"$(drv failed) $((failed > 2))" "$failed 1"
		is "$policy, $lock: the others were sent again, once" "$(drv requeued)" "$aborted"
		is "$policy, $lock: a recovery of the port for each, no timeout" \
			"$(drv resets) $(drv timeouts)" "$failed 0"
		conserved "$policy, $lock"
	done
done
driver_unload
is "SError is 0" "$(serr 0)" 0x00000000
ktap_end
