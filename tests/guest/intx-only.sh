#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A device without messages: the driver asks for them and falls back.
#
# irqbed-device: irq-mode=intx units=8 service-read-ns=20000 service-write-ns=20000 irq-coalesce-count=8 irq-coalesce-timeout-ns=100000
# irqbed-driver: irqbed policy=bounded max_completions=1
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
ktap_plan 5

driver_load
is "the line is in use" "$(drv irq_mode)" intx
succeeds "data is right" fio_verify --filename="$DISK" --iodepth=32
at_least "the hard part handed over" "$(drv handovers.count)" 1
conserved "afterwards"
is "no timeout" "$(drv timeouts)" 0
driver_unload
ktap_end
