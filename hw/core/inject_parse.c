/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections as text: the properties "inject" and "inject-clear", and what the
 * statistics say of each entry.  docs/inject.md has the keys.
 *
 * QEMU's own keyval syntax and visitors; several entries are separated by ";".
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qobject-input-visitor.h"
#include "qapi/visitor.h"
#include "qemu/cutils.h"
#include "qemu/keyval.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#include "ctrl.h"

/* A year: no sum of times overflows. */
#define MAX_AT_NS (INT64_C(31536000) * 1000000000)

static const char *const on_words[] = { "any", "read", "write", "other", NULL };

static const char *const trigger_keys[] = {
    [IRQBED_TRIGGER_AT] = "at-ns",
    [IRQBED_TRIGGER_AFTER] = "after",
    [IRQBED_TRIGGER_EVERY] = "every",
    [IRQBED_TRIGGER_CHANCE] = "chance-ppm",
};

static const struct {
    uint64_t min;
    uint64_t max;
} trigger_range[] = {
    [IRQBED_TRIGGER_AT] = { 0, MAX_AT_NS },
    [IRQBED_TRIGGER_AFTER] = { 1, INT64_MAX / 2 },
    [IRQBED_TRIGGER_EVERY] = { 1, INT64_MAX / 2 },
    [IRQBED_TRIGGER_CHANCE] = { 1, IRQBED_INJECT_PPM },
};

static const char *const fault_words[] = {
    [IRQBED_FAULT_HOLD] = "hold",
    [IRQBED_FAULT_STATUS] = "status",
    [IRQBED_FAULT_DMA_REFUSED] = "dma-refused",
    [IRQBED_FAULT_DATA_LATE] = "data-late",
    [IRQBED_FAULT_COMPLETE_TWICE] = "complete-twice",
    [IRQBED_FAULT_IRQ_LOST] = "irq-lost",
    [IRQBED_FAULT_IRQ_LATE] = "irq-late",
    [IRQBED_FAULT_IRQ_DOUBLE] = "irq-double",
    [IRQBED_FAULT_IRQ_SPURIOUS] = "irq-spurious",
    [IRQBED_FAULT_IRQ_STUCK] = "irq-stuck",
    [IRQBED_FAULT_IRQ_NO_SOURCE] = "irq-no-source",
    [IRQBED_FAULT_LINK_DOWN] = "link-down",
    [IRQBED_FAULT_REMOVE] = "remove",
    [IRQBED_FAULT_COMMAND_LATE] = "link-command-late",
    [IRQBED_FAULT_COMMAND_FAIL] = "link-command-fail",
    [IRQBED_FAULT__MAX] = NULL
};

/* Those that every controller can do; the transport adds its own. */
#define COMMON_FAULTS \
    (BIT(IRQBED_FAULT_HOLD) | BIT(IRQBED_FAULT_DMA_REFUSED) | \
     BIT(IRQBED_FAULT_DATA_LATE) | BIT(IRQBED_FAULT_IRQ_LOST) | \
     BIT(IRQBED_FAULT_IRQ_LATE) | BIT(IRQBED_FAULT_IRQ_DOUBLE) | \
     BIT(IRQBED_FAULT_IRQ_SPURIOUS) | BIT(IRQBED_FAULT_IRQ_STUCK) | \
     BIT(IRQBED_FAULT_REMOVE))

#define NEED_FOR_NS \
    (BIT(IRQBED_FAULT_DATA_LATE) | BIT(IRQBED_FAULT_IRQ_LATE) | \
     BIT(IRQBED_FAULT_COMMAND_LATE))

/* ---- text to entry ---- */

/* @key, if there, from @min to @max; *@present says whether it was. */
static bool take_number(Visitor *v, const char *key, uint64_t min,
                        uint64_t max, uint64_t *value, bool *present,
                        Error **errp)
{
    bool there = false;

    visit_optional(v, key, &there);
    if (present) {
        *present = there;
    }
    if (!there) {
        return true;
    }
    if (!visit_type_uint64(v, key, value, errp)) {
        return false;
    }
    if (*value < min || *value > max) {
        error_setg(errp, "%s: %" PRIu64 " is not between %" PRIu64 " and %"
                   PRIu64, key, *value, min, max);
        return false;
    }
    return true;
}

/* NULL in *@text if @key is not there; the caller frees it. */
static bool take_text(Visitor *v, const char *key, char **text, Error **errp)
{
    bool there = false;

    *text = NULL;
    visit_optional(v, key, &there);
    return !there || visit_type_str(v, key, text, errp);
}

static bool take_trigger(Visitor *v, IrqbedInject *rule, Error **errp)
{
    unsigned i, given = 0;
    bool present;

    for (i = 0; i < IRQBED_TRIGGER__MAX; i++) {
        if (!take_number(v, trigger_keys[i], trigger_range[i].min,
                         trigger_range[i].max, &rule->n, &present, errp)) {
            return false;
        }
        if (present) {
            rule->trigger = i;
            given++;
        }
    }
    if (given != 1) {
        error_setg(errp, "needs exactly one of at-ns, after, every, "
                   "chance-ppm");
        return false;
    }
    if (!take_number(v, "period-ns", IRQBED_MIN_PERIOD_NS, IRQBED_MAX_NS,
                     &rule->period_ns, &present, errp) ||
        !take_number(v, "count", 1, INT64_MAX, &rule->count, NULL, errp)) {
        return false;
    }
    if (present && rule->trigger != IRQBED_TRIGGER_AT) {
        error_setg(errp, "period-ns: only with at-ns");
        return false;
    }
    return true;
}

static bool take_knob(Visitor *v, IrqbedInjectEntry *e, Error **errp)
{
    g_autofree char *value = NULL;
    uint64_t ramp_ns = 0;

    if (!take_text(v, "value", &value, errp) ||
        !take_number(v, "ramp-ns", 0, IRQBED_MAX_NS, &ramp_ns, NULL, errp)) {
        return false;
    }
    if (!value) {
        error_setg(errp, "knob: needs value");
        return false;
    }
    if (!irqbed_knob_parse(e->knob, value, &e->ramp.to, errp)) {
        return false;
    }
    if (ramp_ns && irqbed_knob_is_word(e->knob)) {
        error_setg(errp, "ramp-ns: %s is not a number", e->knob);
        return false;
    }
    e->ramp.ramp_ns = ramp_ns;
    return true;
}

static bool take_status(IrqbedCtrl *c, Visitor *v, IrqbedInjectEntry *e,
                        Error **errp)
{
    g_autofree char *word = NULL;
    uint64_t value;

    if (!take_text(v, "status", &word, errp)) {
        return false;
    }
    if (!word) {
        error_setg(errp, "fault=status: needs status");
        return false;
    }
    if (!irqbed_parse_word("status", word,
                           irqbed_transport(c)->fault_statuses, &value,
                           errp)) {
        return false;
    }
    e->status = value;
    return true;
}

static bool take_fault(IrqbedCtrl *c, Visitor *v, IrqbedInjectEntry *e,
                       const char *word, Error **errp)
{
    uint64_t fault, target = 0;

    /* No fault has the number 0. */
    if (!irqbed_parse_word("fault", word, fault_words + 1, &fault, errp)) {
        return false;
    }
    e->fault = fault + 1;
    if (!((COMMON_FAULTS | irqbed_transport(c)->faults) & BIT(e->fault))) {
        error_setg(errp, "fault: this controller cannot do %s", word);
        return false;
    }
    if (e->fault == IRQBED_FAULT_STATUS && !take_status(c, v, e, errp)) {
        return false;
    }
    if ((NEED_FOR_NS & BIT(e->fault)) && !e->ramp.for_ns) {
        error_setg(errp, "fault=%s: needs for-ns", word);
        return false;
    }
    if (!take_number(v, "target", 0, IRQBED_INJECT_TARGETS - 1, &target, NULL,
                     errp)) {
        return false;
    }
    e->target = target;
    return true;
}

static bool take_id(IrqbedCtrl *c, Visitor *v, IrqbedInjectEntry *e,
                    Error **errp)
{
    g_autofree char *id = NULL;
    uint32_t i;

    if (!take_text(v, "id", &id, errp)) {
        return false;
    }
    if (!id || !*id || strlen(id) > IRQBED_INJECT_ID_LEN || strchr(id, ';')) {
        error_setg(errp, "needs an id of 1 to %d characters without ';'",
                   IRQBED_INJECT_ID_LEN);
        return false;
    }
    for (i = 0; i < c->faults.nr_entries; i++) {
        if (!strcmp(c->faults.entries[i].id, id)) {
            error_setg(errp, "id: there is a '%s' already", id);
            return false;
        }
    }
    pstrcpy(e->id, sizeof(e->id), id);
    return true;
}

static bool take_action(IrqbedCtrl *c, Visitor *v, IrqbedInjectEntry *e,
                        Error **errp)
{
    g_autofree char *knob = NULL;
    g_autofree char *fault = NULL;
    uint64_t for_ns = 0;

    if (!take_number(v, "for-ns", 1, IRQBED_MAX_NS, &for_ns, NULL, errp) ||
        !take_text(v, "knob", &knob, errp) ||
        !take_text(v, "fault", &fault, errp)) {
        return false;
    }
    e->ramp.for_ns = for_ns;
    if (!knob == !fault) {
        error_setg(errp, "needs either knob or fault");
        return false;
    }
    if (fault) {
        return take_fault(c, v, e, fault, errp);
    }
    pstrcpy(e->knob, sizeof(e->knob), knob);
    return take_knob(v, e, errp);
}

static bool take_entry(IrqbedCtrl *c, Visitor *v, IrqbedInjectEntry *e,
                       Error **errp)
{
    g_autofree char *on = NULL;
    uint64_t value = 0;
    bool there = false;

    if (!take_id(c, v, e, errp) || !take_trigger(v, &e->rule, errp) ||
        !take_action(c, v, e, errp) || !take_text(v, "on", &on, errp)) {
        return false;
    }
    if (on && !irqbed_parse_word("on", on, on_words, &value, errp)) {
        return false;
    }
    e->on = value;
    visit_optional(v, "boot", &there);
    return (!there || visit_type_bool(v, "boot", &e->boot, errp)) &&
           visit_check_struct(v, errp);
}

static bool parse_entry(IrqbedCtrl *c, const char *text, IrqbedInjectEntry *e,
                        Error **errp)
{
    QDict *dict = keyval_parse(text, NULL, NULL, errp);
    Visitor *v;
    bool ok;

    if (!dict) {
        return false;
    }
    v = qobject_input_visitor_new_keyval(QOBJECT(dict));
    ok = visit_start_struct(v, NULL, NULL, 0, errp);
    if (ok) {
        ok = take_entry(c, v, e, errp);
        visit_end_struct(v, NULL);
    }
    visit_free(v);
    qobject_unref(dict);
    return ok;
}

static bool add_entry(IrqbedCtrl *c, const char *text, Error **errp)
{
    IrqbedFaults *f = &c->faults;
    IrqbedInjectEntry e = { .step_ns = IRQBED_INJECT_NEVER };

    if (f->nr_entries == IRQBED_INJECT_ENTRIES) {
        error_setg(errp, "more than %d entries", IRQBED_INJECT_ENTRIES);
        return false;
    }
    if (!parse_entry(c, text, &e, errp)) {
        return false;
    }
    f->entries[f->nr_entries] = e;
    f->nr_entries++;
    return true;
}

static void set_inject(Object *obj, const char *text, Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    uint32_t old = c->faults.nr_entries;
    g_auto(GStrv) entries = g_strsplit(text, ";", -1);
    unsigned i;

    ERRP_GUARD();
    for (i = 0; entries[i]; i++) {
        if (!add_entry(c, entries[i], errp)) {
            error_prepend(errp, "inject '%s': ", entries[i]);
            c->faults.nr_entries = old;
            return;
        }
    }
    if (DEVICE(obj)->realized) {
        irqbed_faults_start(c, old);
    }
}

/* ---- entry to text ---- */

static void put_number(GString *s, const char *key, uint64_t value)
{
    if (value) {
        g_string_append_printf(s, ",%s=%" PRIu64, key, value);
    }
}

static void put_entry(IrqbedCtrl *c, GString *s, const IrqbedInjectEntry *e)
{
    /* A comma in a value is doubled. */
    g_auto(GStrv) parts = g_strsplit(e->id, ",", -1);
    g_autofree char *id = g_strjoinv(",,", parts);

    g_string_append_printf(s, "id=%s,%s=%" PRIu64, id,
                           trigger_keys[e->rule.trigger], e->rule.n);
    put_number(s, "period-ns", e->rule.period_ns);
    put_number(s, "count", e->rule.count);
    if (e->on) {
        g_string_append_printf(s, ",on=%s", on_words[e->on]);
    }
    if (e->fault) {
        g_string_append_printf(s, ",fault=%s", fault_words[e->fault]);
    } else {
        g_autofree char *value = irqbed_knob_format(e->knob, e->ramp.to);

        g_string_append_printf(s, ",knob=%s,value=%s", e->knob, value);
    }
    if (e->fault == IRQBED_FAULT_STATUS) {
        g_string_append_printf(s, ",status=%s",
            irqbed_transport(c)->fault_statuses[e->status]);
    }
    put_number(s, "target", e->target);
    put_number(s, "ramp-ns", e->ramp.ramp_ns);
    put_number(s, "for-ns", e->ramp.for_ns);
    if (e->boot) {
        g_string_append(s, ",boot=on");
    }
}

static char *get_inject(Object *obj, Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    GString *s = g_string_new(NULL);
    uint32_t i;

    for (i = 0; i < c->faults.nr_entries; i++) {
        if (i) {
            g_string_append_c(s, ';');
        }
        put_entry(c, s, &c->faults.entries[i]);
    }
    return g_string_free(s, false);
}

static bool get_clear(Object *obj, Error **errp)
{
    return !IRQBED_CTRL(obj)->faults.nr_entries;
}

static void set_clear(Object *obj, bool clear, Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);

    if (!clear) {
        error_setg(errp, "inject-clear: can only be set to true");
    } else if (DEVICE(obj)->realized) {
        irqbed_faults_clear(c);
    } else {
        c->faults.nr_entries = 0;
    }
}

static QList *fired_times(const IrqbedInjectEntry *e)
{
    QList *times = qlist_new();
    uint64_t i;

    for (i = 0; i < MIN(e->fired, IRQBED_INJECT_TIMES); i++) {
        qlist_append(times, qnum_from_uint(e->fired_ns[i]));
    }
    return times;
}

QList *irqbed_inject_stats(IrqbedCtrl *c)
{
    QList *list = qlist_new();
    uint32_t i;

    for (i = 0; i < c->faults.nr_entries; i++) {
        const IrqbedInjectEntry *e = &c->faults.entries[i];
        g_autoptr(GString) text = g_string_new(NULL);
        QDict *d = qdict_new();

        put_entry(c, text, e);
        qdict_put_str(d, "id", e->id);
        qdict_put_str(d, "entry", text->str);
        irqbed_stats_put(d, "triggered", e->rule.triggered);
        irqbed_stats_put(d, "fired", e->fired);
        qdict_put(d, "fired_ns", fired_times(e));
        irqbed_stats_put(d, "refused", e->refused);
        qlist_append(list, d);
    }
    return list;
}

void irqbed_inject_add_properties(ObjectClass *oc)
{
    object_class_property_add_str(oc, "inject", get_inject, set_inject);
    object_class_property_set_description(oc, "inject",
        "adds injections, id=...,at-ns=|after=|every=|chance-ppm=...,"
        "knob=|fault=...; separated by ';'");
    object_class_property_add_bool(oc, "inject-clear", get_clear, set_clear);
    object_class_property_set_description(oc, "inject-clear",
        "set to true: undoes and drops all injections");
}
