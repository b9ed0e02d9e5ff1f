# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the tests of the interrupt line, after ktap.sh: as an edge and as a level.

# The driver works with it: ten checks.
line_works() {
	driver_load
	is "the line is in use" "$(drv irq_mode)" intx
	for policy in hardirq threaded bounded; do
		knob policy $policy
		reset_stats
		succeeds "$policy: data is right" fio_verify --filename="$DISK" --iodepth=32
		is "$policy: nothing was lost" "$(drv timeouts) $(drv recovered_without_irq)" "0 0"
		conserved $policy
	done
}

# Reads with a driver that never clears IS: two checks; RAISED is how often the line rose.
never_cleared() { # COUNT
	knob policy hardirq
	knob keep_status on
	reset_stats
	RAISED=$(dev irq.raised)
	disk_fio read --filename="$DISK" --rw=randread --iodepth=1 --number_ios="$1" --size=1m >/tmp/fio.out
	is "never cleared: fio comes to its end all the same" "$?" 0
	RAISED=$(($(dev irq.raised) - RAISED))
	conserved "never cleared"
}
