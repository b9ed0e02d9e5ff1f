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

# The probe's own statistics. The first interrupt comes where all come by
# default, on vCPU 0, and lets the kernel move them: "moved" is of the vCPU
# that answered from then on.
probe() { # PATH
	irqbed-agent stats | tr -d '[]' | sed 's/}, *{/}, "moved": {/' | json_get "devices.irqbed-probe.$1"
}

succeeds "it loads" insmod $PROBE
usleep 300000
sent=$(probe sent)
at_least "the device has interrupted" "$sent" 2000
at_most "no more often than its period" "$sent" 4000
is "vCPU 1 has answered" "$(probe moved.cpu)" 1
at_least "each time, but the first" "$(probe moved.ack_ns.count)" $((sent - 2))
is "and never twice" "$(probe stray_acks)" 0
is "it missed no period" "$(probe missed)" 0
at_most "an idle vCPU answers within 50 us, nearly always" "$(probe moved.ack_ns.p99)" 50000
is "without a thread" "$(cat /proc/[0-9]*/comm | grep -c 'irq/.*irqbed-pro')" 0
at_least "the kernel counted vCPU 1's interrupts" \
	"$(awk '/irqbed-probe/ { print $3 }' /proc/interrupts)" "$sent"
at_most "and none of vCPU 0 but the first" "$(awk '/irqbed-probe/ { print $2 }' /proc/interrupts)" 1
succeeds "it goes" rmmod irqbed-probe
sent=$(probe sent)
usleep 100000
is "and the device is silent" "$(probe sent)" "$sent"
ktap_end
