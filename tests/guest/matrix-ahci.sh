#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every fault of docs/inject.md with every policy, AHCI: each request ends
# once, its data is right or fio sees an error, and the kernel does not complain.
#
# irqbed-type: ahci
# irqbed-device: ports=2 units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: irqbed timeout_ms=1000
# irqbed-limit: 3000
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-matrix.sh
. /tests/ktap-matrix.sh
matrix_test AHCI
