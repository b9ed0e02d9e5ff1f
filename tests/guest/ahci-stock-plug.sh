#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A drive is pulled out under load and put in again, and the driver leaves under
# load: three kernels' own driver notices, fails what was under way, goes on.
#
# irqbed-type: ahci
# irqbed-device: ports=2 units=4 service-read-ns=2000000 service-write-ns=2000000
# irqbed-disks: 2
# irqbed-driver: stock
# irqbed-kernel: 6.1 6.12 7.2
# irqbed-clock: host
# irqbed-limit: 900
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-ahci.sh
. /tests/ktap-ahci.sh
ktap_plan 9

succeeds "the driver loads and finds the disks" ahci_load
sda=$(ahci_disk 0)
fio_load "$(ahci_disk 1)"
succeeds "the device is busy" wait_until device_busy
host_do '{"execute": "device_del", "id": "'"$IRQBED_ID"'-drive1"}'
succeeds "pulled out: the disk goes" wait_long ahci_gone 1
wait "$FIO"
at_least "fio was told" $? 1
succeeds "the other disk is not concerned" fio_verify --filename="$sda"
host_do '{"execute": "device_add", "driver": "irqbed-ahci-drive", "id": "again", "bus": "'"$IRQBED_ID"'.0", "port": 1, "drive": "'"$IRQBED_ID"'lu1"}'
succeeds "put in again: the disk comes" wait_long ahci_disk 1
succeeds "it works" fio_verify --filename="$(ahci_disk 1)"
fio_load "$(ahci_disk 0):$(ahci_disk 1)" --numjobs=2
wait_until device_busy
echo "$IRQBED_PCI" >"$SYS/driver/unbind"
wait "$FIO"
at_least "unbound under load: fio was told" $? 1
is "the device has nothing in flight, and saw no mistakes of the driver" \
	"$(dev requests.in_flight) $(dev guest_errors)" "0 0"
ktap_end
