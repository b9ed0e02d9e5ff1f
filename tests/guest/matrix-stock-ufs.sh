#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel's own driver under every fault of docs/inject.md: what it does about each
# is told, for the table in docs/faults.md.
#
# irqbed-type: ufs
# irqbed-device: units=8 service-read-ns=20000 service-write-ns=20000
# irqbed-driver: stock
# irqbed-limit: 6000
# irqbed-expects: __ufshcd_issue_tm_cmd|Call Trace
# shellcheck source=tests/guest/ktap.sh
. /tests/ktap.sh
# shellcheck source=tests/guest/ktap-matrix.sh
. /tests/ktap-matrix.sh
matrix_stock_test UFS
