#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# irqbed-probe.ko answers on the vCPU that the device names, in the hard
# interrupt even under threadirqs, and leaves the device silent when it goes.
#
# irqbed-driver: irqbed
# irqbed-args: threadirqs
# irqbed-probe: period-ns=100000 cpu=1
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 13

PROBE=/lib/irqbed/irqbed-probe.ko

# PATH: of the probe's own statistics; lists are flat, so that there is one vCPU.
probe() {
	irqbed-agent stats | tr -d '[]' | sed 's/"cpus": *{/"cpus": {/' | json_get "devices.irqbed-probe.$1"
}

succeeds "it loads" insmod $PROBE
usleep 300000
sent=$(probe sent)
at_least "the device has interrupted" "$sent" 2000
at_most "no more often than its period" "$sent" 4000
is "vCPU 1 has answered, no other" "$(probe cpus.cpu)" 1
at_least "each time" "$(probe cpus.ack_ns.count)" $((sent - 1))
is "and never twice" "$(probe stray_acks)" 0
is "it missed no period" "$(probe missed)" 0
at_most "an idle vCPU answers within 50 us, nearly always" "$(probe cpus.ack_ns.p99)" 50000
is "without a thread" "$(pgrep 'irq/.*irqbed-pro' | wc -l)" 0
at_least "the kernel counted vCPU 1's interrupts" \
	"$(awk '/irqbed-probe/ { print $3 }' /proc/interrupts)" "$sent"
is "and none of vCPU 0" "$(awk '/irqbed-probe/ { print $2 }' /proc/interrupts)" 0
succeeds "it goes" rmmod irqbed-probe
sent=$(probe sent)
usleep 100000
is "and the device is silent" "$(probe sent)" "$sent"
ktap_end
