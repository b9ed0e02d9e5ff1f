/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Statistics as QDicts, for QMP (property "stats") and the control port.
 */

#include "qemu/osdep.h"
#include "hw/qdev-core.h"
#include "qapi/error.h"
#include "qapi/qapi-visit-common.h"
#include "qapi/visitor.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#include "stats.h"

void irqbed_stats_put(QDict *dict, const char *key, uint64_t value)
{
    qdict_put(dict, key, qnum_from_uint(value));
}

static QList *hist_buckets(const IrqbedHist *h)
{
    QList *buckets = qlist_new();
    unsigned i;

    for (i = 0; i < IRQBED_HIST_BUCKETS; i++) {
        QList *pair;

        if (!h->bucket[i]) {
            continue;
        }
        pair = qlist_new();
        qlist_append(pair, qnum_from_uint(irqbed_hist_lo(i)));
        qlist_append(pair, qnum_from_uint(h->bucket[i]));
        qlist_append(buckets, pair);
    }
    return buckets;
}

void irqbed_stats_put_hist(QDict *dict, const char *key, const IrqbedHist *h)
{
    QDict *d = qdict_new();

    qdict_put_str(d, "unit", "ns");
    qdict_put_str(d, "base", "log2");
    irqbed_stats_put(d, "sub_bits", IRQBED_HIST_SUB_BITS);
    irqbed_stats_put(d, "count", h->count);
    irqbed_stats_put(d, "sum", h->sum);
    irqbed_stats_put(d, "min", h->min);
    irqbed_stats_put(d, "max", h->max);
    irqbed_stats_put(d, "p50", irqbed_hist_percentile(h, 500));
    irqbed_stats_put(d, "p90", irqbed_hist_percentile(h, 900));
    irqbed_stats_put(d, "p99", irqbed_hist_percentile(h, 990));
    irqbed_stats_put(d, "p999", irqbed_hist_percentile(h, 999));
    qdict_put(d, "buckets", hist_buckets(h));
    qdict_put(dict, key, d);
}

const char *irqbed_stats_name(Object *obj)
{
    DeviceState *dev = DEVICE(obj);

    return dev->id ? dev->id : object_get_canonical_path_component(obj);
}

static QDict *stats_of(Object *obj)
{
    return IRQBED_STATS_SOURCE_GET_CLASS(obj)->stats(obj);
}

/* Sources are devices; one that is not realized has nothing to say. */
static bool is_live_source(Object *obj)
{
    return object_dynamic_cast(obj, TYPE_IRQBED_STATS_SOURCE) &&
           DEVICE(obj)->realized;
}

static int put_source(Object *obj, void *opaque)
{
    if (is_live_source(obj)) {
        qdict_put(opaque, irqbed_stats_name(obj), stats_of(obj));
    }
    return 0;
}

QDict *irqbed_stats_all(void)
{
    QDict *all = qdict_new();

    object_child_foreach_recursive(object_get_root(), put_source, all);
    return all;
}

static int put_record(Object *obj, void *opaque)
{
    QDict *record = NULL;

    if (is_live_source(obj) && IRQBED_STATS_SOURCE_GET_CLASS(obj)->record) {
        record = IRQBED_STATS_SOURCE_GET_CLASS(obj)->record(obj);
    }
    if (record) {
        qdict_put(opaque, irqbed_stats_name(obj), record);
    }
    return 0;
}

QDict *irqbed_records_all(void)
{
    QDict *all = qdict_new();

    object_child_foreach_recursive(object_get_root(), put_record, all);
    return all;
}

static int list_source(Object *obj, void *opaque)
{
    if (is_live_source(obj)) {
        g_ptr_array_add(opaque, object_ref(obj));
    }
    return 0;
}

/* A reset can end in an interrupt, and that in anything: first the list. */
void irqbed_stats_reset_all(void)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(object_unref);
    unsigned i;

    object_child_foreach_recursive(object_get_root(), list_source, all);
    for (i = 0; i < all->len; i++) {
        Object *obj = g_ptr_array_index(all, i);

        if (is_live_source(obj)) {
            IRQBED_STATS_SOURCE_GET_CLASS(obj)->reset(obj);
        }
    }
}

typedef struct Search {
    const char *name;
    Object *found;
} Search;

static int find_source(Object *obj, void *opaque)
{
    Search *s = opaque;

    if (is_live_source(obj) && !strcmp(irqbed_stats_name(obj), s->name)) {
        s->found = obj;
    }
    return s->found != NULL;
}

Object *irqbed_stats_find(const char *name)
{
    Search s = { .name = name };

    object_child_foreach_recursive(object_get_root(), find_source, &s);
    return s.found;
}

static void get_stats(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    QObject *stats;

    if (!is_live_source(obj)) {
        error_setg(errp, "no statistics before the device is realized");
        return;
    }
    stats = QOBJECT(stats_of(obj));
    visit_type_any(v, name, &stats, errp);
    qobject_unref(stats);
}

void irqbed_stats_add_property(ObjectClass *oc)
{
    object_class_property_add(oc, "stats", "any", get_stats, NULL, NULL, NULL);
    object_class_property_set_description(oc, "stats",
                                          "counters and histograms");
}

static const TypeInfo irqbed_stats_source_info = {
    .name = TYPE_IRQBED_STATS_SOURCE,
    .parent = TYPE_INTERFACE,
    .class_size = sizeof(IrqbedStatsSourceClass),
};

static void irqbed_stats_register_types(void)
{
    type_register_static(&irqbed_stats_source_info);
}

type_init(irqbed_stats_register_types)
