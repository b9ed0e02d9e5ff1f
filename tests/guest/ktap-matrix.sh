# shellcheck shell=sh disable=SC2153,SC2154  # what ktap.sh and matrix_read set
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the tests of every fault of docs/inject.md, after ktap.sh: a list of faults, one
# load for each, and what must come of it. A line of the list:
#
#   NAME WANT ENTRIES
#
# with WANT
#   intact   fio succeeds, data verified
#   errors   fio sees errors, as many as the driver reports; all else is verified
#   stale    fio's verification finds that data was not there
#   gone     fio fails, and the disk comes back or is made to
#
# and ENTRIES as the device takes them, with "on" and ids of the row's own. Each entry
# must have fired, by the device's count. IRQBED_ONLY, "FAULT", "FAULT:POLICY" or
# ":POLICY", takes some of them: tests/guest/run.py NAME:FAULT:POLICY.

MATRIX_SIZE=512k
# EIO, ENODATA, EOPNOTSUPP, EREMOTEIO: all that a driver may make of a bad status.
IO_ERRORS=5:61:95:121
TROUBLE='WARNING:|BUG|Oops|Call Trace|nobody cared|blocked for more than|lockup|stall|unexpected:'

# Of both kinds of controller, then of one.
FAULTS='
irq-lost intact id=a,every=40,fault=irq-lost
irq-lost-all intact id=a,every=1,count=24,fault=irq-lost
irq-late intact id=a,every=10,fault=irq-late,for-ns=200000
irq-double intact id=a,every=10,fault=irq-double,for-ns=5000
irq-spurious intact id=a,after=20,count=1,fault=irq-spurious;id=b,every=16,fault=irq-spurious
irq-stuck intact id=a,after=50,count=1,fault=irq-stuck,for-ns=200000
hold-100ms intact id=a,every=60,fault=hold,for-ns=100000000
hold-2500ms intact id=a,after=60,count=1,fault=hold,for-ns=2500000000
hold intact id=a,every=100,fault=hold
data-late stale id=a,after=60,count=1,on=read,fault=data-late,for-ns=20000000
complete-twice intact id=a,every=10,fault=complete-twice
complete-twice-late intact id=a,every=10,fault=complete-twice,for-ns=30000
link-down intact id=a,after=60,count=1,fault=link-down,for-ns=5000000
link-down-4s gone id=a,after=60,count=1,fault=link-down,for-ns=4000000000
remove-1ms intact id=a,after=60,count=1,fault=remove,for-ns=1000000
remove-4s gone id=a,after=60,count=1,fault=remove,for-ns=4000000000
'
UFS_FAULTS='
dma-refused errors id=a,every=30,on=read,fault=dma-refused
link-command-late intact id=a,at-ns=0,fault=link-command-late,for-ns=3000000;id=b,after=60,count=1,fault=link-down,for-ns=1000000
link-command-fail intact id=a,at-ns=0,fault=link-command-fail;id=b,after=60,count=1,fault=link-down,for-ns=1000000
'
UFS_ERRORS='ocs-command-table ocs-prdt ocs-data-size ocs-response-size ocs-peer-failure ocs-fatal
ocs-device-fatal ocs-crypto-config ocs-crypto medium-error hardware-error illegal-request data-protect'
UFS_RETRIES='ocs-aborted not-ready unit-attention aborted-command busy task-set-full'

AHCI_FAULTS='
irq-no-source intact id=a,every=20,fault=irq-no-source
dma-refused intact id=a,every=90,on=read,fault=dma-refused
'
AHCI_ERRORS='abrt unc idnf icrc'
AHCI_RETRIES='ifs ofs hbfs hbds'

# Rows of statuses, a request of the load each: one by one, for the table, and all in
# one row for the other policies.
matrix_statuses() { # WANT STATUS...
	want=$1
	entries=
	number=0
	shift
	for status in "$@"; do
		number=$((number + 1))
		echo "status-$status $want id=a,after=40,count=1,on=read,fault=status,status=$status"
		entries="$entries;id=$status,after=$((number * 7)),count=1,on=read,fault=status,status=$status"
	done
	echo "statuses-$want $want ${entries#;}"
}

# All rows of a kind of controller.
matrix_all() { # UFS | MCQ | AHCI
	# The statuses are words.
	# shellcheck disable=SC2086
	case $1 in
	UFS | MCQ)
		echo "$FAULTS$UFS_FAULTS"
		matrix_statuses errors $UFS_ERRORS
		matrix_statuses intact $UFS_RETRIES
		;;
	AHCI)
		echo "$FAULTS$AHCI_FAULTS"
		matrix_statuses errors $AHCI_ERRORS
		matrix_statuses intact $AHCI_RETRIES
		;;
	esac
}

# POLICY FAULT WANT ENTRIES, of those that are asked for.
matrix_cells() { # UFS | MCQ | AHCI POLICY...
	kind=$1
	shift
	matrix_all "$kind" | while read -r fault want entries; do
		[ -n "$fault" ] || continue
		for policy in "$@"; do
			case ${IRQBED_ONLY:-all}:$policy:$fault in
			"$fault:$policy:$policy:$fault" | "$fault:$policy:$fault") ;;
			all:hardirq:statuses-* | all:stock:statuses-*) continue ;;
			all:hardirq:* | all:stock:*) ;;
			all:*:status-* | ":$policy:$policy:status-"*) continue ;;
			all:* | ":$policy:$policy:"*) ;;
			*) continue ;;
			esac
			echo "$policy $fault $want $entries"
		done
	done
}

# How often an entry did what it says, by the device's statistics in /tmp/dev.
matrix_fired() { # ID
	tr '{}' '\n' </tmp/dev | grep "\"id\": \"$1\"" | sed -n 's/.*"fired": \([0-9]*\).*/\1/p'
}

# The driver's counters that matter here as DRV_KEY, of the steps DRV_STEP_KEY; the
# device's statistics to /tmp/dev.
matrix_read() {
	irqbed-agent stats >/tmp/dev
	eval "$(sed '/"queues"/,$d' "$DEBUG/stats" | tr ',{}' '\n' | tr -d '" ' | awk -F: '
		$1 != "" && $2 == "" { step = $1 "_"; next }
		$1 == "resets" { step = "" }
		$2 ~ /^[0-9]+$/ { print "DRV_" (step == "ended_" || step == "recovery_" ? "" : step) $1 "=" $2 }')"
}

matrix_fio() { # DISK FIO-OPTION...
	disk=$1
	shift
	# The engine is words.
	# shellcheck disable=SC2086
	fio --name=matrix --filename="$disk" --allow_file_create=0 $ENGINE --direct=1 --bs=4k \
		--size=$MATRIX_SIZE --iodepth=8 --rw=randwrite --verify=crc32c --minimal "$@" >/tmp/fio.out 2>/tmp/fio.err
}

# The longest time that a request took, us; 0 if fio did not come so far.
matrix_longest() {
	sed -n 's/^3;//p' /tmp/fio.out | tr ';' '\n' |
		awk 'NR == 38 || NR == 79 { if ($1 > longest) longest = $1 } END { printf "%d\n", longest }'
}

# Errors that fio saw and went on; it says so when it was asked to go on.
matrix_errors() {
	[ "$WANT" = errors ] || { echo 0; return; }
	sed -n 's/^3;//p' /tmp/fio.out | tr ';' '\n' | tail -n 2 | head -n 1
}

# The load of a row while the fault is on; FIO is fio's exit status.
matrix_load() { # WANT DISK ENTRIES
	WANT=$1
	case $1 in
	errors | stale) matrix_fio "$2" --do_verify=0 ;;
	esac
	irqbed-agent inject "$IRQBED_ID" "$3" || ktap_bail "the device refuses '$3'"
	case $1 in
	errors) matrix_fio "$2" --verify_only --continue_on_error=read --ignore_error="$IO_ERRORS" ;;
	stale) matrix_fio "$2" --verify_only ;;
	*) matrix_fio "$2" ;;
	esac
	FIO=$?
}

problem() { # TEXT
	PROBLEMS="$PROBLEMS; $1"
}

# What fio made of it, for the table.
matrix_outcome() {
	if [ "$FIO" -eq 0 ]; then
		matrix_errors
	elif grep -q verify: /tmp/fio.err /tmp/fio.out; then
		echo verify
	else
		echo fails
	fi
}

# A row of the table in docs/faults.md.
matrix_row() { # KIND FAULT DRIVER STEPS
	note "row: $1|$2|$3|$4|$(matrix_longest)|$(matrix_outcome)"
}

# What has to be true of fio's end.
matrix_judge() { # WANT FAILED: requests that the driver has failed
	case $1 in
	intact) [ "$FIO" -eq 0 ] || problem "fio: exit status $FIO, $(tail -n 1 /tmp/fio.err)" ;;
	gone) [ "$FIO" -ne 0 ] || problem "fio saw nothing" ;;
	stale)
		grep -q verify: /tmp/fio.err /tmp/fio.out || problem "fio did not see that data was not there"
		[ "$2" -eq 0 ] || problem "the driver failed $2"
		;;
	errors)
		[ "$FIO" -eq 0 ] || problem "fio: exit status $FIO, $(tail -n 1 /tmp/fio.err)"
		[ "$2" -gt 0 ] || problem "the driver failed none"
		[ "$(matrix_errors)" = "$2" ] ||
			problem "fio saw $(matrix_errors) errors, the driver failed $2"
		;;
	esac
}

# All that it says has been done at least once.
matrix_check_fired() { # ENTRIES
	for id in $(echo "$1" | sed 's/;/\n/g' | sed -n 's/^id=\([a-z-]*\),.*/\1/p'); do
		[ "$(matrix_fired "$id")" -gt 0 ] 2>/dev/null || problem "entry $id did not fire"
	done
}

matrix_check_kernel() {
	dmesg -c | grep -E "$TROUBLE" >/tmp/trouble && problem "kernel: $(head -n 1 /tmp/trouble)"
}

# One result, with all that was wrong.
matrix_result() { # FAULT POLICY
	[ -z "$PROBLEMS" ] || note "again, alone: tests/guest/run.py $IRQBED_TEST:$1:$2"
	verdict "$1, $2" "${PROBLEMS#; }" "no problem" $((${#PROBLEMS} > 0))
}

# --- our driver ------------------------------------------------------------------

# Steps of recovery that were taken.
matrix_steps() {
	told=
	for step in look abort unit_reset host_reset offline; do
		eval "[ \$DRV_${step}_count -eq 0 ]" || told="$told, $step"
	done
	echo "${told#, }"
}

matrix_disk() {
	[ -b "$DISK" ] && dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
}

# The disk is in use again; bound anew when it does not come back by itself.
matrix_heal() { # KIND
	irqbed-agent inject "$IRQBED_ID" ""
	if [ "$1" = AHCI ] || [ "$(drv state)" != dead ]; then
		wait_until matrix_disk && return
	fi
	echo "$IRQBED_PCI" >"$SYS/driver/unbind"
	echo "$IRQBED_PCI" >/sys/bus/pci/drivers/irqbed/bind
	wait_until matrix_disk || ktap_bail "the disk does not come back"
}

matrix_books() {
	[ "$DRV_submitted $DRV_in_flight $DRV_unexpected" = "$((DRV_completed + DRV_failed)) 0 0" ] ||
		problem "submitted $DRV_submitted, completed $DRV_completed, failed $DRV_failed, in flight $DRV_in_flight, unexpected $DRV_unexpected"
	grep -q '"in_flight": 0[,}]' /tmp/dev || problem "in flight in the device"
}

matrix_cell() { # KIND POLICY FAULT WANT ENTRIES
	PROBLEMS=
	ENGINE=--ioengine=libaio
	# A fault of an interrupt needs one.
	case $2:$3 in
	polled:irq-*) ;;
	polled:*) ENGINE="--ioengine=io_uring --hipri=1" ;;
	esac
	knob policy "$2"
	reset_stats
	matrix_load "$4" "$DISK" "$5"
	matrix_read
	matrix_judge "$4" "$DRV_failed"
	matrix_check_fired "$5"
	matrix_books
	[ "$2" != hardirq ] || matrix_row "$1" "$3" irqbed "$(matrix_steps)"
	matrix_heal "$1"
	matrix_check_kernel
	matrix_result "$3" "$2"
}

matrix_test() { # UFS | MCQ | AHCI
	# The policies are words.
	# shellcheck disable=SC2086
	cells=$(matrix_cells "$1" $POLICIES)
	ktap_plan "$(echo "$cells" | wc -l)"
	driver_load
	dmesg -c >/dev/null
	while read -r policy fault want entries <&3; do
		matrix_cell "$1" "$policy" "$fault" "$want" "$entries"
	done 3<<-END
		$cells
	END
	driver_unload
	ktap_end
}

# --- the kernel's own drivers ------------------------------------------------------

# Before a row: what the driver counts or says from here on is this row's.
stock_mark() { # KIND
	dmesg -c >/dev/null
	[ "$1" = AHCI ] || STOCK_MARK="$(stock_count "SCSI command aborts") $(stock_count "Logical Unit Resets") $(stock_count "Host Resets")"
}

# Words for what it did since.
stock_steps() { # KIND
	dmesg -c >/tmp/stock.dmesg
	told=
	if [ "$1" = AHCI ]; then
		grep -q 'exception Emask' /tmp/stock.dmesg && told="$told, error handler"
		grep -q 'hard resetting link' /tmp/stock.dmesg && told="$told, link reset"
		grep -qE 'disable device|detaching' /tmp/stock.dmesg && told="$told, disk taken away"
	else
		# Three numbers each, before and now.
		# shellcheck disable=SC2046,SC2086
		set -- $STOCK_MARK $(stock_count "SCSI command aborts") $(stock_count "Logical Unit Resets") \
			$(stock_count "Host Resets")
		[ "$4" -le "$1" ] || told="$told, abort"
		[ "$5" -le "$2" ] || told="$told, LU reset"
		grep -qE 'ufshcd_err_handler|Host Reset' /tmp/stock.dmesg && told="$told, error handler"
		[ "$6" -le "$3" ] || told="$told, host reset"
		grep -q 'rejecting I/O to offline device\|Device offlined' /tmp/stock.dmesg && told="$told, offline"
	fi
	grep -qE "$TROUBLE" /tmp/stock.dmesg && told="$told, warning"
	echo "${told#, }"
}

stock_any_disk() { # KIND
	if [ "$1" = AHCI ]; then ahci_disk 0; else stock_disk 0; fi
}

stock_use() { # KIND: STOCK is its disk, and it can be read
	STOCK=$(stock_any_disk "$1") || return
	echo 2 >"/sys/block/${STOCK#/dev/}/device/timeout"
	dd if="$STOCK" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
}

# As far as it gets by itself; else bound anew.
stock_heal() { # KIND
	irqbed-agent inject "$IRQBED_ID" ""
	wait_until stock_use "$1" && return
	driver=$(readlink "$SYS/driver")
	driver=${driver##*/}
	echo "$IRQBED_PCI" >"$SYS/driver/unbind"
	echo "$IRQBED_PCI" >"/sys/bus/pci/drivers/$driver/bind"
	wait_until stock_use "$1" || ktap_bail "the disk does not come back"
}

# What comes of each fault is told, not judged; but each must have fired, and the
# disk be in use afterwards.
matrix_stock_test() { # UFS | AHCI
	cells=$(matrix_cells "$1" stock)
	ktap_plan $(($(echo "$cells" | wc -l) + 1))
	if [ "$1" = AHCI ]; then load=ahci_load; else load=stock_load; fi
	succeeds "the driver loads" $load
	stock_use "$1" || ktap_bail "no disk"
	ENGINE=--ioengine=libaio
	while read -r policy fault want entries <&3; do
		PROBLEMS=
		stock_mark "$1"
		matrix_load "$want" "$STOCK" "$entries"
		irqbed-agent stats >/tmp/dev
		matrix_check_fired "$entries"
		matrix_row "$1" "$fault" stock "$(stock_steps "$1")"
		stock_heal "$1"
		matrix_result "$fault" "$policy"
	done 3<<-END
		$cells
	END
	ktap_end
}
