#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The trace events: one for each stage, with the same tag and number from the
# submission (G1) over the handler (G2) and the thread (G3) to the end (G4).
#
# irqbed-device: service-read-ns=20000
# irqbed-driver: irqbed policy=threaded
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 6

TRACING=/sys/kernel/tracing
driver_load
echo 1 >$TRACING/events/irqbed/enable
dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
echo 0 >$TRACING/events/irqbed/enable
grep -v '^#' $TRACING/trace >/tmp/trace
sed 's/^/# /' /tmp/trace

stage() { # EVENT: its correlators
	sed -n "s/.*irqbed_$1: \(dev=[^ ]* q=[0-9]* tag=[-0-9]* seq=[0-9]*\).*/\1/p" /tmp/trace | head -n 1
}
g1=$(stage submit)
is "G1 names device, queue, tag and number" "${g1%% tag*}" "dev=$IRQBED_PCI q=0"
is "G4 ends the same request" "$(stage end)" "$g1"
is "G2 came for it" "$(stage hardirq)" "dev=$IRQBED_PCI q=0 tag=-1 seq=${g1##*=}"
is "G3 handed over" "$(stage handover)" "$(stage hardirq)"
is "G3 the thread did it" "$(sed -n 's/.*irqbed_thread: .*\(done=[0-9]*\).*/\1/p' /tmp/trace)" "done=1"
is "the stages came in order" \
	"$(sed -n 's/.*irqbed_\([a-z]*\): .*/\1/p' /tmp/trace | tr '\n' ' ')" \
	"submit hardirq handover end thread "
driver_unload
ktap_end
