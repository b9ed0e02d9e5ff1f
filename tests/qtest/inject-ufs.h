/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the tests of injections on irqbed-ufs share.
 */

#ifndef IRQBED_INJECT_UFS_H
#define IRQBED_INJECT_UFS_H

#include "ufs-harness.h"
#include "inject.h"

#define READ_NS 20000
#define START   ",service-read-ns=20000"

/* A controller that is up, with MSI, and has these entries since just now. */
Ufs *ufs_inject(const char *entries);
uint64_t ufs_fired(Ufs *u, const char *id);
uint64_t ufs_get_knob(Ufs *u, const char *name);
/* One block's read in @slot, and the doorbell; it takes READ_NS. */
void ufs_read_block(Ufs *u, unsigned slot);

#endif
