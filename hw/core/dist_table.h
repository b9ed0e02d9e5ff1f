/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A table of percentiles as a text: "50:80000,99.9:2000000", percentile (with
 * up to six decimals) and nanoseconds.  Pure.
 */

#ifndef HW_IRQBED_DIST_TABLE_H
#define HW_IRQBED_DIST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include "latency.h"

#define IRQBED_DIST_WHY_BYTES  160
/* "99.999999:1000000000000," for each point */
#define IRQBED_DIST_TEXT_BYTES (IRQBED_DIST_POINTS * 26)

/*
 * An empty text is a table without points.  False, with what is wrong and what
 * would be right in @why (IRQBED_DIST_WHY_BYTES), leaves @table as it was.
 */
bool irqbed_dist_table_parse(IrqbedDistTable *table, const char *text,
                             char *why);
/* Into IRQBED_DIST_TEXT_BYTES. */
void irqbed_dist_table_format(const IrqbedDistTable *table, char *text);

#endif
