#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each policy finishes requests where it says, and can be changed under load.
#
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed policy=hardirq flood_enter_pct=0
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 51

driver_load
is "the module parameter is in force" "$(cat "$DEBUG/policy")" hardirq

# Nobody but these two ended requests: by kind.
ended_by() { # POLICY KIND...
	desc=$1
	shift
	sum=0
	for kind in "$@"; do
		sum=$((sum + $(drv "${kind}_completions")))
	done
	is "$desc: ended by $*, and by nobody else" "$sum" "$(($(drv completed) + $(drv failed)))"
}

for policy in $POLICIES; do
	knob policy "$policy"
	is "$policy: is in force" "$(cat "$DEBUG/policy")" "$policy"
	reset_stats
	succeeds "$policy: data is right" fio_verify --filename="$DISK"
	conserved "$policy"
	case $policy in
	hardirq) ended_by "$policy" hard ;;
	threaded) ended_by "$policy" thread ;;
	bounded)
		ended_by "$policy" hard thread
		at_least "bounded: the hard part finished some" "$(drv hard_completions)" 1
		;;
	softirq)
		ended_by "$policy" block
		is "softirq: none in a hard interrupt, none in a thread" \
			"$(drv ended.hardirq) $(drv ended.process)" "0 0"
		;;
	inline) ended_by "$policy" hard block ;;
	irq_poll)
		ended_by "$policy" softirq
		is "irq_poll: each hand-over was a round" "$(drv poll.rounds)" "$(drv handovers.policy)"
		is "irq_poll: its completions are told" "$(drv poll.completions)" "$(drv softirq_completions)"
		;;
	workqueue) ended_by "$policy" work ;;
	flood)
		ended_by "$policy" hard softirq
		at_least "flood: from 0 % on it is one" "$(drv handovers.flood)" 1
		;;
	polled)
		ended_by "$policy" polled
		is "polled: no interrupt" "$(drv irqs) $(drv recovered_without_irq)" "0 0"
		at_least "polled: it was polled for" "$(drv polls)" 1
		;;
	esac
done

# rq_affinity is the inline policy's: this machine's CPUs are one package.
knob policy inline
for affinity in 0 1 2; do
	echo $affinity >"/sys/block/${DISK#/dev/}/queue/rq_affinity"
	reset_stats
	fio_verify --filename="$DISK" --cpus_allowed=1 >/tmp/fio.out
	if [ $affinity = 2 ]; then
		is "inline, rq_affinity 2: redirected to the submitter" "$(drv redirected)" "$(drv block_completions)"
		at_least "inline, rq_affinity 2: most are" "$(drv block_completions)" "$(drv hard_completions)"
	else
		is "inline, rq_affinity $affinity: stays where it is" "$(drv redirected)" 0
	fi
done

# Switching drains first: no request sees two policies, none gets lost.
reset_stats
fio_verify --filename="$DISK" --size=16m --iodepth=32 >/tmp/fio.out &
fio=$!
switches=0
while kill -0 $fio 2>/dev/null && [ $switches -lt 60 ]; do
	for policy in $POLICIES; do
		knob policy "$policy"
		switches=$((switches + 1))
		usleep 2000
	done
done
wait "$fio"
is "fio under $switches switches: exit status" $? 0
at_least "the load lasted long enough for some switches" $switches 16
conserved "after switching"
driver_unload
ktap_end
