/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The recorder: see record.h.
 *
 * Everything that is recorded has happened already: no decision depends on it,
 * and no virtual time passes.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#include "qobject/qstring.h"
#include "ctrl.h"

static const char *const mark_words[] = {
    [IRQBED_MARK_FETCH] = "fetch",
    [IRQBED_MARK_SCHEDULE] = "schedule",
    [IRQBED_MARK_HOLD] = "hold",
    [IRQBED_MARK_COMPLETE] = "complete",
    [IRQBED_MARK_ABORT] = "abort",
    [IRQBED_MARK_IRQ] = "irq",
};

QEMU_BUILD_BUG_ON(ARRAY_SIZE(mark_words) != IRQBED_MARK__MAX);

void irqbed_record_begin(IrqbedCtrl *c, int64_t now_ns)
{
    IrqbedRecord *r = &c->record;

    if (!r->for_ns && !r->requests) {
        g_clear_pointer(&r->entries, g_free);
    } else if (!r->entries) {
        r->entries = g_new(IrqbedRecordEntry, IRQBED_RECORD_MAX);
    }
    r->nr_entries = 0;
    r->lost = 0;
    r->reset_ns = now_ns;
    r->begun = false;
    r->over = false;
}

void irqbed_record_free(IrqbedRecord *r)
{
    g_clear_pointer(&r->entries, g_free);
    r->nr_entries = 0;
}

static bool record_is_on(const IrqbedRecord *r, int64_t now_ns)
{
    uint64_t since_ns = MAX(0, now_ns - r->reset_ns);

    if (!r->entries) {
        return false;
    }
    return r->for_ns ? since_ns >= r->from_ns &&
                       since_ns - r->from_ns < r->for_ns
                     : r->begun && !r->over;
}

/*
 * A request has come: is it the window's first, or the one after its last?
 * As many more are recorded as there can be in flight, so that the ends of the
 * window's own are in it.
 */
static void record_arrival(IrqbedRecord *r, uint64_t number)
{
    if (number >= r->first) {
        r->begun = true;
        r->over |= number - r->first >= r->requests + IRQBED_MAX_DEPTH;
    }
}

static void record_add(IrqbedRecord *r, IrqbedRecordEntry entry)
{
    if (r->nr_entries == IRQBED_RECORD_MAX) {
        r->lost++;
    } else {
        r->entries[r->nr_entries++] = entry;
    }
}

void irqbed_record_req(IrqbedReq *req, IrqbedMark mark, uint32_t detail,
                       int64_t now_ns)
{
    IrqbedCtrl *c = req->ctrl;
    IrqbedRecord *r = &c->record;
    bool scheduled = mark == IRQBED_MARK_SCHEDULE;

    if (!r->entries) {
        return;
    }
    if (mark == IRQBED_MARK_FETCH) {
        record_arrival(r, c->stats.queue_fetched[req->queue] - 1);
    }
    if (record_is_on(r, now_ns)) {
        record_add(r, (IrqbedRecordEntry) {
            .ns = now_ns, .mark = mark, .detail = detail,
            .queue = req->queue, .tag = req->tag, .seq = req->seq,
            .a = scheduled ? req->start_ns : 0,
            .b = scheduled ? req->due_ns : 0,
        });
    }
}

void irqbed_record_irq(IrqbedCtrl *c, unsigned vector, uint16_t queue,
                       uint16_t tag, uint64_t seq)
{
    IrqbedRecord *r = &c->record;
    int64_t now_ns;

    if (!r->entries) {
        return;
    }
    now_ns = irqbed_now_ns();
    if (record_is_on(r, now_ns)) {
        record_add(r, (IrqbedRecordEntry) {
            .ns = now_ns, .mark = IRQBED_MARK_IRQ, .detail = vector,
            .queue = queue, .tag = tag, .seq = seq,
        });
    }
}

static QList *entry_list(const IrqbedRecordEntry *e)
{
    QList *list = qlist_new();

    qlist_append_str(list, mark_words[e->mark]);
    qlist_append_int(list, e->ns);
    qlist_append_int(list, e->queue);
    qlist_append_int(list, e->tag);
    qlist_append(list, qnum_from_uint(e->seq));
    qlist_append_int(list, e->detail);
    qlist_append_int(list, e->a);
    qlist_append_int(list, e->b);
    return list;
}

QDict *irqbed_record_get(Object *obj)
{
    const IrqbedRecord *r = &IRQBED_CTRL(obj)->record;
    QList *events;
    QDict *dict;
    uint32_t i;

    if (!r->entries) {
        return NULL;
    }
    events = qlist_new();
    for (i = 0; i < r->nr_entries; i++) {
        qlist_append(events, entry_list(&r->entries[i]));
    }
    dict = qdict_new();
    qdict_put_int(dict, "reset_ns", r->reset_ns);
    irqbed_stats_put(dict, "lost", r->lost);
    qdict_put(dict, "events", events);
    return dict;
}

typedef struct IrqbedRecordProp {
    const char *name;
    size_t offset;
    uint64_t max;
    const char *help;
} IrqbedRecordProp;

static const IrqbedRecordProp props[] = {
    { "record-from-ns", offsetof(IrqbedRecord, from_ns), IRQBED_MAX_NS,
      "the recorder's window begins so long after the statistics' reset" },
    { "record-for-ns", offsetof(IrqbedRecord, for_ns), IRQBED_MAX_NS,
      "and is so long; 0: no window of time" },
    { "record-first", offsetof(IrqbedRecord, first), INT64_MAX,
      "or it begins with this request, counted from 0, of any queue" },
    { "record-requests", offsetof(IrqbedRecord, requests), INT64_MAX,
      "and has so many of it; 0: no window of requests" },
};

static uint64_t *prop_value(Object *obj, const IrqbedRecordProp *prop)
{
    return (void *)((char *)&IRQBED_CTRL(obj)->record + prop->offset);
}

static void prop_get(Object *obj, Visitor *v, const char *name, void *opaque,
                     Error **errp)
{
    visit_type_uint64(v, name, prop_value(obj, opaque), errp);
}

static void prop_set(Object *obj, Visitor *v, const char *name, void *opaque,
                     Error **errp)
{
    const IrqbedRecordProp *prop = opaque;
    uint64_t value;

    if (!visit_type_uint64(v, name, &value, errp)) {
        return;
    }
    if (value > prop->max) {
        error_setg(errp, "%s: %" PRIu64 " is not between 0 and %" PRIu64,
                   name, value, prop->max);
        return;
    }
    *prop_value(obj, prop) = value;
}

void irqbed_record_add_properties(ObjectClass *oc)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(props); i++) {
        object_class_property_add(oc, props[i].name, "uint64", prop_get,
                                  prop_set, NULL, (void *)&props[i]);
        object_class_property_set_description(oc, props[i].name,
                                              props[i].help);
    }
}
