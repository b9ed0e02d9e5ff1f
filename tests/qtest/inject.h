/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections by QMP, as a user does it.
 */

#ifndef IRQBED_INJECT_TEST_H
#define IRQBED_INJECT_TEST_H

#include "qemu/osdep.h"
#include "libqtest.h"

/* Add entries; the error text, or NULL.  The caller frees it. */
char *inject_try(QTestState *qts, const char *dev, const char *entries);
/* ... that must be good */
void inject(QTestState *qts, const char *dev, const char *entries);
void inject_clear(QTestState *qts, const char *dev);
/* The effective entries; the caller frees it. */
char *inject_get(QTestState *qts, const char *dev);
/* A counter of the entry @id: "fired", "triggered" or "refused". */
uint64_t inject_count(QTestState *qts, const char *dev, const char *id,
                      const char *counter);
/* How many of the times at which @id fired are kept; *@last: of the last. */
unsigned inject_times(QTestState *qts, const char *dev, const char *id,
                      uint64_t *last);
#define inject_fired(qts, dev, id) inject_count(qts, dev, id, "fired")

void add_ufs_tests(void);
void add_ufs_life_tests(void);
void add_ahci_tests(void);
void add_ctl_tests(void);
void add_eject_tests(void);
void add_text_tests(void);

#endif
