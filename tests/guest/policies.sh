#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each policy finishes requests where it says, and can be changed under load.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed policy=hardirq
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 18

driver_load
is "the module parameter is in force" "$(cat "$DEBUG/policy")" hardirq
for policy in hardirq threaded bounded; do
	knob policy $policy
	is "$policy: is in force" "$(cat "$DEBUG/policy")" $policy
	reset_stats
	succeeds "$policy: data is right" fio_verify --filename="$DISK"
	conserved $policy
	case $policy in
	hardirq) is "hardirq: the thread finished none" "$(drv thread_completions)" 0 ;;
	threaded) is "threaded: the hard part finished none" "$(drv hard_completions)" 0 ;;
	bounded) at_least "bounded: the hard part finished some" "$(drv hard_completions)" 1 ;;
	esac
done

# Switching drains first: no request sees two policies, none gets lost.
reset_stats
fio_verify --filename="$DISK" --size=16m --iodepth=32 >/tmp/fio.out &
fio=$!
switches=0
while kill -0 $fio 2>/dev/null && [ $switches -lt 60 ]; do
	for policy in hardirq threaded bounded; do
		knob policy $policy
		switches=$((switches + 1))
		usleep 2000
	done
done
wait "$fio"
is "fio under $switches switches: exit status" $? 0
at_least "the load lasted long enough for some switches" $switches 6
conserved "after switching"
at_least "the hard part finished some" "$(drv hard_completions)" 1
at_least "the thread finished some" "$(drv thread_completions)" 1
driver_unload
ktap_end
