#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Case thread-starved: a SCHED_FIFO hog has the interrupt's CPU for 600 ms, and
# with it the interrupt's thread, which has a lower priority. The threaded policy
# leaves a finished request lying all that time, and the driver says so; hardirq
# and bounded do not notice.
#
# irqbed-device: units=4 service-read-ns=100000
# irqbed-driver: irqbed policy=threaded
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 16

HOG_MS=600
driver_load
IRQ=$(awk '/irqbed/ { print $1 + 0; exit }' /proc/interrupts)
echo 0 >"/proc/irq/$IRQ/smp_affinity_list"

# Reads on CPU 1, one at a time, while CPU 0 is taken; the longest in ms.
starved_read_ms() { # POLICY
	knob policy "$1"
	reset_stats
	disk_fio "$1" --filename="$DISK" --rw=randread --size=16m --iodepth=1 --cpus_allowed=1 \
		--time_based --runtime=1200ms --output-format=terse --terse-version=3 >/tmp/fio.out &
	fio=$!
	usleep 300000
	hog 0 $HOG_MS || ktap_bail "no hog"
	wait $fio
	awk -F';' '/^3;/ { print int($15 / 1000) }' /tmp/fio.out
}

longest=$(starved_read_ms threaded)
note "threaded: the longest read took $longest ms"
at_least "threaded: a read took as long as the hog" "$longest" $((HOG_MS - 100))
left_ns=$(drv longest_wait.left_ns)
seen_ns=$(drv longest_wait.seen_ns)
note "threaded: was in the device at $left_ns ns, seen at $seen_ns ns"
at_least "threaded: the driver says when it was finished and when seen" \
	$(((seen_ns - left_ns) / 1000000)) $((HOG_MS - 100))
at_most "threaded: and not longer than the read" $(((seen_ns - left_ns) / 1000000)) "$longest"
at_least "threaded: it is in the histogram" $(($(drv handover_wait_ns.max) / 1000000)) $((HOG_MS - 100))
conserved threaded
is "threaded: no timeout" "$(drv timeouts)" 0

for policy in hardirq bounded; do
	longest=$(starved_read_ms $policy)
	note "$policy: the longest read took $longest ms"
	at_most "$policy: no read noticed" "$longest" 50
	is "$policy: nothing was left for the thread" "$(drv handover_wait_ns.count)" 0
	is "$policy: nothing waited" "$(drv longest_wait.left_ns) $(drv longest_wait.seen_ns)" "0 0"
	at_least "$policy: there were interrupts" "$(drv irqs)" 1000
	conserved $policy
done
driver_unload
ktap_end
