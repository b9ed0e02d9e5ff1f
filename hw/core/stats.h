/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What has statistics: an interface, so that the control port and QMP find
 * every device of the testbed without knowing what it is.
 *
 * Context: under the BQL.
 */

#ifndef HW_IRQBED_STATS_H
#define HW_IRQBED_STATS_H

#include "qom/object.h"
#include "qobject/qdict.h"
#include "hist.h"

#define TYPE_IRQBED_STATS_SOURCE "irqbed-stats-source"
typedef struct IrqbedStatsSourceClass IrqbedStatsSourceClass;
DECLARE_CLASS_CHECKERS(IrqbedStatsSourceClass, IRQBED_STATS_SOURCE,
                       TYPE_IRQBED_STATS_SOURCE)

struct IrqbedStatsSourceClass {
    InterfaceClass parent_class;

    /* All counters and histograms; the caller owns the result. */
    QDict *(*stats)(Object *obj);
    /* A new measurement begins: what counts events goes back to 0. */
    void (*reset)(Object *obj);
    /* Optional: what was recorded, see record.h; NULL: nothing was to be. */
    QDict *(*record)(Object *obj);
};

/* The id= of a device, or the last part of its QOM path. */
const char *irqbed_stats_name(Object *obj);
/* { name: stats } of every realized source; the caller owns it. */
QDict *irqbed_stats_all(void);
/* The same, of the recorders that are on. */
QDict *irqbed_records_all(void);
void irqbed_stats_reset_all(void);
/* The realized source of that name, or NULL. */
Object *irqbed_stats_find(const char *name);
/* Give a class the read-only property "stats". */
void irqbed_stats_add_property(ObjectClass *oc);

void irqbed_stats_put(QDict *dict, const char *key, uint64_t value);
void irqbed_stats_put_hist(QDict *dict, const char *key, const IrqbedHist *h);

#endif
