#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case flush-starvation: NCQ at depth 32 without pause, and a FLUSH every 100 ms.
# A FLUSH must not be beside queued commands; it waits at most for the slots to
# drain, which is 32 writes of 400 us on one unit. As fio sees it, it had to wait before
# that for a slot of its own, with others that wait: half as long again for all else.
#
# irqbed-type: ahci
# irqbed-device: ports=1 units=1 service-read-ns=400000 service-write-ns=400000 service-other-ns=100000
# irqbed-driver: irqbed
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 16

longest_ms() { # the longest fsync that fio saw, rounded up
	sed -n 's/.*sync (\([a-z]*\)): min=[^,]*, max=\([0-9.]*\)\(k\{0,1\}\).*/\1 \2 \3/p' /tmp/sync.out |
		awk '{ ms = $2 * ($3 == "k" ? 1000 : 1); ms /= $1 == "nsec" ? 1e6 : $1 == "usec" ? 1e3 : 1
			if (ms > most) most = ms } END { print int(most + 0.999) }'
}

driver_load
for policy in hardirq threaded bounded; do
	knob policy $policy
	reset_stats
	fio_load "$DISK" --rw=randwrite --runtime=5
	wait_until device_busy
	disk_fio sync --filename="$DISK" --ioengine=sync --rw=write --size=80k --fsync=1 --thinktime=100000 \
		>/tmp/sync.out
	is "$policy: fio's status" $? 0
	succeeds "$policy: the load lasted as long" kill -0 "$FIO"
	wait "$FIO"
	note "$policy: the longest flush: $(longest_ms) ms"
	at_least "$policy: flushes did wait" "$(longest_ms)" 5
	at_most "$policy: a flush waits for the slots to drain" "$(longest_ms)" 19
	conserved "$policy"
done
is "no timeout, no reset, no mistake that the device saw" \
	"$(drv timeouts) $(drv resets) $(dev guest_errors)" "0 0 0"
driver_unload
ktap_end
