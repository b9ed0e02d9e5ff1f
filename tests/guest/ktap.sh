# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the tests that run in the VM: KTAP output, and a hold on the driver and
# the device under test. run.py gives the test its surroundings:
#   IRQBED_PCI     address of the test's own controller, 0000:00:04.0
#   IRQBED_ID      its name in the device statistics, ufs0
#   IRQBED_ALL     of several controllers each one's ADDRESS/NAME
#   IRQBED_DISKS   how many disks it has
#   IRQBED_PARAMS  module parameters of the driver
# Checks print what was expected and what came; ktap_end gives the exit status:
# 0 passed, 1 failed, 4 skipped.

POLICY=
KTAP_COUNT=0
KTAP_FAILED=0
KTAP_PLAN=0
DISK=/dev/irqbed0l0
# All that need nothing special of the controller.
POLICIES="hardirq threaded bounded softirq inline irq_poll workqueue polled flood"

# What follows is about this controller of the test's.
controller() { # ADDRESS/NAME
	IRQBED_PCI=${1%/*}
	IRQBED_ID=${1#*/}
	DEBUG=/sys/kernel/debug/irqbed/$IRQBED_PCI
	SYS=/sys/bus/pci/devices/$IRQBED_PCI
}
controller "$IRQBED_PCI/$IRQBED_ID"

# --- KTAP ------------------------------------------------------------------

ktap_plan() { # COUNT
	KTAP_PLAN=$1
	echo "KTAP version 1"
	echo "1..$1"
}

note() { # TEXT...
	echo "# $*"
}

ktap_result() { # STATUS DESCRIPTION
	KTAP_COUNT=$((KTAP_COUNT + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $KTAP_COUNT $2"
	else
		KTAP_FAILED=$((KTAP_FAILED + 1))
		echo "not ok $KTAP_COUNT $2"
	fi
}

ktap_skip_rest() { # REASON
	while [ "$KTAP_COUNT" -lt "$KTAP_PLAN" ]; do
		KTAP_COUNT=$((KTAP_COUNT + 1))
		echo "ok $KTAP_COUNT # SKIP $1"
	done
}

# Nothing that follows could mean anything.
ktap_bail() { # REASON
	note "$1"
	ktap_result 1 "can go on"
	exit 1
}

ktap_end() {
	if [ "$KTAP_COUNT" -ne "$KTAP_PLAN" ]; then
		note "expected $KTAP_PLAN checks, got $KTAP_COUNT"
		exit 1
	fi
	[ "$KTAP_FAILED" -eq 0 ] || exit 1
	exit 0
}

# --- checks ------------------------------------------------------------------

verdict() { # DESCRIPTION GOT WHAT-WAS-EXPECTED STATUS
	[ "$4" -eq 0 ] || note "expected: $3, got: '$2'"
	ktap_result "$4" "$1"
}

is() { # DESCRIPTION GOT EXPECTED
	status=0
	[ "$2" = "$3" ] || status=1
	verdict "$1" "$2" "'$3'" $status
}

# Numbers; anything else, an empty text too, is a failure.
at_least() { # DESCRIPTION GOT LEAST
	status=0
	[ "$2" -ge "$3" ] 2>/dev/null || status=1
	verdict "$1" "$2" "at least '$3'" $status
}

at_most() { # DESCRIPTION GOT GREATEST
	status=0
	[ "$2" -le "$3" ] 2>/dev/null || status=1
	verdict "$1" "$2" "at most '$3'" $status
}

succeeds() { # DESCRIPTION COMMAND...
	desc=$1
	shift
	if "$@" >/tmp/check.out 2>&1; then
		ktap_result 0 "$desc"
	else
		note "expected: exit status 0, got: $? from: $*"
		sed 's/^/#   /' /tmp/check.out | tail -n 20
		ktap_result 1 "$desc"
	fi
}

fails() { # DESCRIPTION COMMAND...
	desc=$1
	shift
	if "$@" >/tmp/check.out 2>&1; then
		note "expected: a failure, got: exit status 0 from: $*"
		ktap_result 1 "$desc"
	else
		ktap_result 0 "$desc"
	fi
}

# --- statistics ----------------------------------------------------------------

# The value at a path like irq.raised; lists cannot be looked into.
json_get() { # PATH <JSON
	sed 's/\([][{},]\)/\n\1\n/g' | awk -v want="$1" '
		$0 == "{" || $0 == "[" { path[++depth] = key; key = ""; next }
		$0 == "}" || $0 == "]" { depth--; next }
		match($0, /^ *"[^"]*" *:/) {
			key = substr($0, index($0, "\"") + 1)
			key = substr(key, 1, index(key, "\"") - 1)
			value = substr($0, RLENGTH + 1)
			gsub(/^ +| +$|"/, "", value)
			full = ""
			for (i = 2; i <= depth; i++)
				full = full path[i] "."
			if (value != "" && full key == want) {
				print value
				exit
			}
		}'
}

drv() { # PATH: from the driver
	json_get "$1" <"$DEBUG/stats"
}

dev() { # PATH: from the device, which counts for itself
	irqbed-agent stats | json_get "devices.$IRQBED_ID.$1"
}

knob() { # NAME VALUE: set it while the driver runs
	[ "$1" != policy ] || POLICY=$2
	echo "$2" >"$DEBUG/$1"
}

reset_stats() {
	echo 1 >"$DEBUG/reset_stats"
}

# Every request that went in has come out, once, by the driver's own books.
conserved() { # DESCRIPTION
	is "$1: submitted = completed + failed, none in flight" \
		"$(drv submitted) $(drv in_flight) $(drv unexpected)" \
		"$(($(drv completed) + $(drv failed))) 0 0"
}

# --- driver and device -----------------------------------------------------------

# Let no driver have the controllers of the other tests in this VM.
only_my_device() {
	for other in /sys/bus/pci/devices/*; do
		case " $IRQBED_ALL" in
		*" ${other##*/}/"*) echo >"$other/driver_override" && continue ;;
		esac
		case $(cat "$other/vendor"):$(cat "$other/device") in
		0x1b36:0x0013 | 0x1234:0x4941) echo nobody >"$other/driver_override" ;;
		esac
	done
}

# Have QEMU do something; the effect comes a while later. A QMP command with its
# arguments beside it: '{"execute": "device_del", "id": "ahci0-drive0"}'.
host_do() { # JSON
	echo "irqbed-host: $1" >/dev/console
}

# Up to 3 min, for what the host or a kernel thread has to do first.
wait_long() { # COMMAND...
	long=60
	until wait_until "$@"; do
		long=$((long - 1))
		[ $long -gt 0 ] || return 1
	done
}

# Up to 3 s for a command to succeed.
wait_until() { # COMMAND...
	tries=300
	until "$@"; do
		[ $tries -gt 0 ] || return 1
		usleep 10000
		tries=$((tries - 1))
	done
}

driver_load() {
	only_my_device
	# The parameters are words.
	# shellcheck disable=SC2086
	insmod /lib/irqbed/irqbed.ko $IRQBED_PARAMS || ktap_bail "insmod failed"
	wait_until [ -b "$DISK" ] || ktap_bail "no $DISK"
}

driver_unload() {
	rmmod irqbed
}

# --- load ------------------------------------------------------------------------

# All write through this: a disk that is not there must not become a file.
disk_fio() { # NAME FIO-OPTION...
	name=$1
	shift
	# What nobody polls for is interrupted for; a load may name another engine.
	case "$POLICY $*" in
	*--ioengine=*) ;;
	"polled "*) set -- --ioengine=io_uring --hipri "$@" ;;
	*) set -- --ioengine=libaio "$@" ;;
	esac
	fio --name="$name" --allow_file_create=0 --direct=1 --bs=4k "$@" 2>&1
}

# Write a pattern and read it back.
fio_verify() { # FIO-OPTION...
	disk_fio verify --verify=crc32c --verify_fatal=1 --do_verify=1 --size=4m --rw=randwrite \
		--iodepth=8 "$@"
}

# Reads in batches of 32, the next when all of one are back.
fio_batches() { # COUNT FIO-OPTION...
	batches=$1
	shift
	disk_fio batch --filename="$DISK" --rw=randread --size=16m --number_ios=$((batches * 32)) \
		--iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32 "$@" \
		--iodepth_batch_complete_max=32
}

# A load that lasts until the disks go away; its process is in FIO.
fio_load() { # FILENAMES FIO-OPTION...
	files=$1
	shift
	disk_fio load --filename="$files" --rw=randrw --iodepth=32 --size=32m --time_based \
		--runtime=200 "$@" >/tmp/load.out &
	# shellcheck disable=SC2034
	FIO=$!
}

# More than a few requests are in the device; for wait_until.
device_busy() {
	[ "$(dev requests.in_flight)" -gt 8 ] 2>/dev/null
}

# Case lost-irq, of any kind of controller.
lost_irq_test() {
	ktap_plan 13

	driver_load
	for policy in hardirq threaded bounded; do
		knob policy $policy
		reset_stats
		dropped=$(dev irq.dropped)
		succeeds "$policy: data is right at depth 1" fio_verify --filename="$DISK" --iodepth=1 --size=1m
		dropped=$(($(dev irq.dropped) - dropped))
		at_least "$policy: the device did drop interrupts" "$dropped" 4
		is "$policy: as many were recovered, without a reset" \
			"$(drv recovered_without_irq) $(drv resets)" "$dropped 0"
		conserved $policy
	done
	# At depth 8 the next interrupt finds the lost request too: no stall, no reset.
	reset_stats
	fio_verify --filename="$DISK" --iodepth=8 --size=4m >/tmp/fio.out
	is "depth 8: fio's status, resets" "$? $(drv resets)" "0 0"
	driver_unload
	ktap_end
}

# --- handlers in threads ---------------------------------------------------------------

# Each policy, then all in turn under load: nothing runs in a hard interrupt, nothing is lost.
threads_test() {
	# shellcheck disable=SC2086
	set -- $POLICIES
	ktap_plan $(($# * 3 + 5))
	driver_load
	threads=0
	for policy in "$@"; do
		knob policy "$policy"
		reset_stats
		succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=32 --size=2m
		conserved "$policy"
		is "$policy: no handler ran in a hard interrupt, no request ended in one" \
			"$(drv hard_context.hardirq) $(drv ended.hardirq)" "0 0"
		threads=$((threads + $(drv hard_context.thread)))
		note "$policy: ended in a softirq $(drv ended.softirq), in a process $(drv ended.process)"
	done
	at_least "handlers ran in a thread" $threads 1
	POLICY=
	reset_stats
	fio_verify --filename="$DISK" --size=4m --iodepth=32 --loops=2 >/tmp/fio.out &
	fio=$!
	switches=0
	while kill -0 $fio 2>/dev/null; do
		for policy in "$@"; do
			echo "$policy" >"$DEBUG/policy"
			switches=$((switches + 1))
		done
	done
	wait "$fio"
	is "data is right under $switches switches" $? 0
	at_least "there were some" $switches 9
	conserved "after switching"
	is "no timeout" "$(drv timeouts)" 0
	driver_unload
	ktap_end
}

# --- CPUs that go and come back --------------------------------------------------------

cpu_online() { # CPU 0|1
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# The controller's interrupt, and with it its thread, moves to a CPU.
irq_to() { # CPU
	for irq in "$SYS"/msi_irqs/*; do
		echo "$1" >"/proc/irq/${irq##*/}/smp_affinity_list"
	done
}

# The interrupt goes to a CPU that then goes away, round and round, under load.
hotplug_test() {
	# shellcheck disable=SC2086
	set -- $POLICIES
	ktap_plan $(($# * 4 + 1))
	driver_load
	for policy in "$@"; do
		knob policy "$policy"
		reset_stats
		fio_verify --filename="$DISK" --numjobs=4 --size=2m --offset_increment=4m --iodepth=16 \
			--loops=4 >/tmp/fio.out &
		fio=$!
		gone=0
		while kill -0 $fio 2>/dev/null && [ $gone -lt 60 ]; do
			for cpu in 1 2 3; do
				irq_to $cpu
				usleep 5000
				cpu_online $cpu 0 && gone=$((gone + 1))
				usleep 5000
				cpu_online $cpu 1
			done
		done
		wait "$fio"
		is "$policy: data is right, $gone times a CPU went" $? 0
		at_least "$policy: CPUs did go" $gone 3
		conserved "$policy"
		case $(uname -r) in
		*-rt-*)
			# There the kernel was seen to drop an interrupt, see docs/guest-driver.md.
			note "$policy: $(drv timeouts) timeouts, $(drv recovered_without_irq) requests found by them"
			is "$policy: no reset" "$(drv resets)" 0
			;;
		*) is "$policy: no timeout" "$(drv timeouts)" 0 ;;
		esac
	done
	driver_unload
	is "the driver is gone" "$(lsmod | grep -c ^irqbed)" 0
	ktap_end
}

# --- recovery -------------------------------------------------------------------------

# The device holds requests until a step at least as strong as STEP is taken.
recovery_test() { # abort | unit_reset | host_reset
	ktap_plan 29
	driver_load
	for policy in hardirq threaded bounded; do
		knob policy $policy
		reset_stats
		held=$(dev faults.held)
		succeeds "$policy: data is right on two disks" \
			fio_verify --filename="$DISK:/dev/irqbed0l1" --size=1m
		held=$(($(dev faults.held) - held))
		at_least "$policy: the device did hold requests" "$held" 2
		at_least "$policy: it was looked first" "$(drv recovery.look.count)" \
			"$(drv "recovery.$1.count")"
		at_least "$policy: $1 helped" "$(drv "recovery.$1.helped")" 1
		at_least "$policy: and was timed, in ns" "$(drv "recovery.$1.max_ns")" 1000
		stronger=$(drv recovery.offline.count)
		case $1 in
		abort) stronger=$((stronger + $(drv recovery.unit_reset.count) + $(drv recovery.host_reset.count))) ;;
		unit_reset) stronger=$((stronger + $(drv recovery.host_reset.count))) ;;
		esac
		is "$policy: nothing stronger was needed" "$stronger" 0
		at_least "$policy: they were sent again" "$(drv requeued)" "$held"
		conserved $policy
	done
	is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
	driver_unload

	# With no retries allowed, what was held fails instead.
	IRQBED_PARAMS="$IRQBED_PARAMS max_retries=0"
	driver_load
	held=$(dev faults.held)
	disk_fio fail --filename="$DISK" --rw=randread --iodepth=8 --size=2m >/tmp/fio.out
	held=$(($(dev faults.held) - held))
	note "no retries: held: $held, failed: $(drv failed)"
	is "no retries: fio is told ETIMEDOUT" "$(sed -n 's/.* err=\([0-9]*\).*/\1/p' /tmp/fio.out | sort -u)" 110
	at_least "no retries: the device did hold requests" "$held" 1
	at_least "no retries: what was held failed" "$(drv failed)" "$held"
	conserved "no retries"
	driver_unload
	ktap_end
}

# --- UFS with queues --------------------------------------------------------------------

# Each queue that is there has had requests, and given them back.
queues_used() { # COUNT
	used=0
	queue=0
	while [ $queue -lt "$1" ]; do
		[ "$(drv queues.$queue.submitted)" -gt 0 ] && used=$((used + 1))
		queue=$((queue + 1))
	done
	echo $used
}

mcq_test() { # VECTORS
	# shellcheck disable=SC2086
	set -- "$1" $POLICIES
	vectors=$1
	shift
	ktap_plan $(($# * 3 + 9))
	driver_load
	is "as many vectors as asked for" "$(grep -c 'irqbed$' /proc/interrupts)" "$vectors"
	for policy in "$@"; do
		knob policy "$policy"
		reset_stats
		succeeds "$policy: data is right" fio_verify --filename="$DISK" --numjobs=4 --size=2m \
			--offset_increment=4m --iodepth=16 --cpus_allowed=0-3 --cpus_allowed_policy=split
		conserved "$policy"
		# The first one is for what nobody polls for.
		[ "$policy" = polled ] && want=3 || want=4
		is "$policy: its queues were used" "$(queues_used 4)" "$want"
	done
	is "no timeout" "$(drv timeouts)" 0
	is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
	for policy in flood polled; do
		knob policy "$policy"
		reset_stats
		fio_verify --filename="$DISK" --numjobs=4 --size=2m --offset_increment=4m --iodepth=16 --loops=4 \
			>/tmp/fio.out &
		fio=$!
		for cpu in 3 2 1; do
			cpu_online $cpu 0
			usleep 10000
			cpu_online $cpu 1
			usleep 10000
		done
		wait "$fio"
		is "$policy: data is right while CPUs go and come back" $? 0
		conserved "$policy, CPUs that go"
	done
	driver_unload
	is "the driver is gone" "$(lsmod | grep -c ^irqbed)" 0
	driver_load
	is "and comes back" "$([ -b "$DISK" ]; echo $?)" 0
	driver_unload
	ktap_end
}

# --- the kernel's own UFS driver ---------------------------------------------------

# Kernels before 6.7 do not know the device's id; telling them does no harm.
stock_load() {
	only_my_device
	modprobe -a sd_mod ufshcd-pci || return
	[ -e "$SYS/driver" ] || echo "1b36 0013" >/sys/bus/pci/drivers/ufshcd/new_id || return
	stock_ready
}

# All disks are there, and the driver is through with its work after them.
stock_ready() {
	lun=0
	while [ $lun -lt "$IRQBED_DISKS" ]; do
		wait_until stock_disk $lun >/dev/null || return
		lun=$((lun + 1))
	done
	usleep 500000
}

stock_disk() { # LUN: /dev/sdX
	set -- "$SYS"/host*/target*/*:0:0:"$1"/block/sd*
	[ -e "$1" ] && echo "/dev/${1##*/}"
}

# What the driver, or the SCSI layer for it, has complained about since dmesg -c.
stock_complaints() {
	dmesg | grep -iE 'ufs|scsi|sd[ab ]' |
		grep -iE 'error|fail|timed? ?out|abort|invalid|unable|unexpected|not support|mismatch|wrong'
}

# The driver's own count.
stock_count() { # "SCSI command aborts" | "Logical Unit Resets" | "Host Resets"
	sed -n "s/^$1: //p" "/sys/kernel/debug/ufshcd/$IRQBED_PCI/stats"
}

# The device holds requests until a function at least as strong as LEVEL comes.
stock_recovery_test() { # abort | lu-reset | host-reset
	ktap_plan 9
	succeeds "the driver loads and finds the disks" stock_load
	for lun in 0 1; do
		disk=$(stock_disk $lun)
		echo 2 >"/sys/block/${disk#/dev/}/device/timeout"
	done
	held=$(dev faults.held)
	succeeds "data is right" fio_verify --filename="$(stock_disk 0):$(stock_disk 1)"
	held=$(($(dev faults.held) - held))
	at_least "the device did hold requests" "$held" 2
	note "held: $held"
	for count in "SCSI command aborts" "Logical Unit Resets" "Host Resets"; do
		note "$count: $(stock_count "$count")"
	done
	at_least "the driver tried to abort" "$(stock_count "SCSI command aborts")" 1
	case $1 in
	abort) is "it reset no unit" "$(stock_count "Logical Unit Resets")" 0 ;;
	*) at_least "it reset the unit" "$(stock_count "Logical Unit Resets")" 1 ;;
	esac
	case $1 in
	host-reset) at_least "it reset the host controller" "$(stock_count "Host Resets")" 1 ;;
	*) is "it did not reset the host controller" "$(stock_count "Host Resets")" 0 ;;
	esac
	is "both disks are still in use" \
		"$(cat "$SYS"/host*/target*/*:0:0:[01]/state | tr '\n' ' ')" "running running "
	is "the device has nothing in flight" "$(dev requests.in_flight)" 0
	is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
	rmmod ufshcd-pci
	ktap_end
}

# --- a request against its timeout ---------------------------------------------------

RACE_PERIOD=256000000

# True when the device was told to give the read up that began at PHASE. With RACE_MAY_FAIL
# such a read may end with an error.
race_lost() { # DISK PHASE
	before=$(dev requests.aborted)
	said=$(race read "$1" "$2")
	[ "$(dev requests.aborted)" -gt "$before" ] && lost=yes || lost=no
	case $RACE_MAY_FAIL$lost$said in
	*ok) ;;
	yesyesread:*) RACE_FAILED=$((RACE_FAILED + 1)) ;;
	*) RACE_WRONG=$((RACE_WRONG + 1)); note "at $2: $said" ;;
	esac
	[ "$lost" = yes ]
}

# RACE_WON and RACE_LOST: a moment that is early enough, and one, close after it, that is not.
race_find() { # DISK
	RACE_WON=
	RACE_LOST=
	phase=0
	while [ $phase -le $RACE_PERIOD ] && [ -z "$RACE_LOST" ]; do
		if ! race_lost "$1" $phase; then
			RACE_WON=$phase
		elif [ -n "$RACE_WON" ]; then
			RACE_LOST=$phase
		fi
		phase=$((phase + RACE_PERIOD / 16))
	done
	[ -n "$RACE_LOST" ] || return 1
	while [ $((RACE_LOST - RACE_WON)) -gt 1000 ]; do
		phase=$(((RACE_LOST + RACE_WON) / 2))
		if race_lost "$1" $phase; then
			RACE_LOST=$phase
		else
			RACE_WON=$phase
		fi
	done
}

# WON and LOST, of one request at each distance from RACE_WON. The moment where it turns is that of
# a driver's thread: when it has moved, the sweep goes after it.
race_sweep() { # DISK
	WON=0
	LOST=0
	moved=20000
	d=-50
	while [ $d -le 50 ]; do
		if race_lost "$1" $((RACE_WON + d * 1000)); then
			LOST=$((LOST + 1))
			[ $d -ge 0 ] || RACE_WON=$((RACE_WON - moved))
			[ $d -ge 0 ] && moved=20000 || moved=$((moved * 2))
		else
			WON=$((WON + 1))
			[ $d -le 1 ] || RACE_WON=$((RACE_WON + moved))
			[ $d -le 1 ] && moved=20000 || moved=$((moved * 2))
		fi
		d=$((d + 1))
	done
	note "around $RACE_WON ns: of 101 requests $WON were answered in time, $LOST given up"
}

# Seven checks.
race_checks() { # DISK
	RACE_WRONG=0
	RACE_FAILED=0
	# What is printed on the way takes its time, each time another one.
	dmesg -n 1
	succeeds "the pattern is written" race write "$1"
	for try in 1 2; do
		race_find "$1" || break
		race_sweep "$1"
		[ $WON -lt 10 ] || [ $LOST -lt 10 ] || break
	done
	is "there is a moment where it turns (try $try)" "${RACE_LOST:+yes}" yes
	at_least "some were answered in time" "$WON" 10
	at_least "some were given up" "$LOST" 10
	is "all came back, with the right data${RACE_MAY_FAIL:+ or given up}" "$RACE_WRONG" 0
	is "the device lost none of its requests" "$(dev requests.fetched) $(dev requests.in_flight)" \
		"$(($(dev requests.completed) + $(dev requests.failed) + $(dev requests.aborted))) 0"
	is "the device saw no mistakes of the driver" "$(dev guest_errors)" 0
}
