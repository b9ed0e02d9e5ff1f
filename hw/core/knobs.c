/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The knobs of every controller: one table with name, range and default, one
 * getter, one setter.  Each is a QOM property, readable at any time, and
 * writable while the device runs unless it sizes something.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/string-input-visitor.h"
#include "qapi/visitor.h"
#include "ctrl.h"
#include "dist_table.h"

typedef struct IrqbedKnob {
    const char *name;
    size_t offset;              /* of a uint64_t in IrqbedKnobs, or a table */
    uint64_t min;
    uint64_t max;
    uint64_t def;
    const char *const *words;   /* an enumeration's, or NULL */
    bool table;                 /* an IrqbedDistTable */
    bool fixed;                 /* not once the device is realized */
    const char *help;
} IrqbedKnob;

static const char *const dist_words[] = {
    "fixed", "uniform", "lognormal", "normal", "exponential", "table", NULL
};
static const char *const unit_choice_words[] = { "address", "free", NULL };
static const char *const irq_mode_words[] = { "msi", "intx", "msix", NULL };
static const char *const irq_trigger_words[] = { "level", "edge", NULL };

QEMU_BUILD_BUG_ON(ARRAY_SIZE(dist_words) != IRQBED_DIST__MAX + 1);
QEMU_BUILD_BUG_ON(ARRAY_SIZE(unit_choice_words) !=
                  IRQBED_UNIT_CHOICE__MAX + 1);
QEMU_BUILD_BUG_ON(ARRAY_SIZE(irq_mode_words) != IRQBED_IRQ_MODE__MAX + 1);
QEMU_BUILD_BUG_ON(ARRAY_SIZE(irq_trigger_words) !=
                  IRQBED_IRQ_TRIGGER__MAX + 1);

#define FIELD_OF(field) offsetof(IrqbedKnobs, field)
#define KNOB(n, field, lo, hi, d, text) \
    { .name = n, .offset = FIELD_OF(field), .min = lo, .max = hi, .def = d, \
      .help = text }
#define KNOB_NS(n, field, text) KNOB(n, field, 0, IRQBED_MAX_NS, 0, text)
#define KNOB_FIXED(n, field, lo, hi, d, text) \
    { .name = n, .offset = FIELD_OF(field), .min = lo, .max = hi, .def = d, \
      .fixed = true, .help = text }
#define KNOB_WORDS(n, field, w, text) \
    { .name = n, .offset = FIELD_OF(field), .words = w, .help = text }
#define KNOB_TABLE(n, field, text) \
    { .name = n, .offset = FIELD_OF(field), .table = true, .help = text }
#define SPREAD_HELP \
    "uniform: half width; lognormal: sigma times the median; normal: sigma, ns"

static const IrqbedKnob knobs[] = {
    KNOB_FIXED("queue-depth", queue_depth, 1, IRQBED_MAX_DEPTH, 32,
               "requests in the device at once"),
    KNOB("seed", seed, 0, UINT64_MAX, 1,
         "seed of all random draws; setting it starts them again"),
    KNOB("units", units, 1, IRQBED_MAX_UNITS, 1,
         "parallel units that serve reads and writes"),
    KNOB_WORDS("unit-choice", unit_choice, unit_choice_words,
               "unit of a read or write: address: the one its address names; "
               "free: the one that is free first"),
    KNOB("unit-stripe-bytes", unit_stripe_bytes, 512, UINT64_C(1) << 40, 4096,
         "by address: unit = byte address / this % units"),
    KNOB("slow-unit", slow_unit, 0, IRQBED_MAX_UNITS - 1, 0,
         "the unit that slow-unit-factor is about, counted from 0"),
    KNOB("slow-unit-factor", slow_unit_factor, 1, IRQBED_MAX_SLOW, 1,
         "that unit's reads and writes take this many times as long"),
    KNOB_WORDS("service-read-dist", service_read_dist, dist_words,
               "distribution of a read's service time"),
    KNOB_NS("service-read-ns", service_read_ns,
            "mean (lognormal: median) service time of a read, ns"),
    KNOB_NS("service-read-spread-ns", service_read_spread_ns,
            SPREAD_HELP),
    KNOB_TABLE("service-read-table", service_read_table,
               "percentiles of a read's service time"),
    KNOB_NS("service-read-ns-per-kib", service_read_ns_per_kib,
            "cost per KiB read, ns"),
    KNOB_WORDS("service-write-dist", service_write_dist, dist_words,
               "distribution of a write's service time"),
    KNOB_NS("service-write-ns", service_write_ns,
            "mean (lognormal: median) service time of a write, ns"),
    KNOB_NS("service-write-spread-ns", service_write_spread_ns,
            SPREAD_HELP),
    KNOB_TABLE("service-write-table", service_write_table,
               "percentiles of a write's service time"),
    KNOB_NS("service-write-ns-per-kib", service_write_ns_per_kib,
            "cost per KiB written, ns"),
    KNOB_NS("service-other-ns", service_other_ns,
            "service time of flush, unmap and the rest, ns"),
    { .name = "irq-mode", .offset = FIELD_OF(irq_mode),
      .words = irq_mode_words, .fixed = true,
      .help = "msi or msix: offered beside INTx; intx: INTx alone" },
    KNOB_WORDS("irq-trigger", irq_trigger, irq_trigger_words,
               "INTx stays up until: level: no enabled status is left; edge: "
               "the status is read, and comes again only by a new status"),
    KNOB_WORDS("irq-latency-dist", irq_latency_dist, dist_words,
               "distribution of the interrupt latency"),
    KNOB_NS("irq-latency-ns", irq_latency_ns,
            "mean (lognormal: median) time from status to interrupt, ns"),
    KNOB_NS("irq-latency-spread-ns", irq_latency_spread_ns,
            SPREAD_HELP),
    KNOB_TABLE("irq-latency-table", irq_latency_table,
               "percentiles of the interrupt latency"),
    /* The timeout comes first: a count above 1 is refused without one. */
    KNOB_NS("irq-coalesce-timeout-ns", irq_coalesce_timeout_ns,
            "longest wait of a completion for others, ns"),
    KNOB("irq-coalesce-count", irq_coalesce_count, 1, 65535, 1,
         "completions per interrupt; 1: no coalescing"),
    KNOB("irq-drop-every", irq_drop_every, 0, UINT64_MAX, 0,
         "fault: every n-th completion raises no interrupt; 0: never"),
    KNOB("hold-every", hold_every, 0, UINT64_MAX, 0,
         "fault: every n-th request is never answered; 0: never"),
    KNOB("fail-every", fail_every, 0, UINT64_MAX, 0,
         "fault: every n-th read or write of a medium fails; 0: never"),
    KNOB_NS("series-window-ns", series_window_ns,
            "time series in the statistics, from their next reset on: first "
            "length of a window, ns; 0: none"),
};

static uint64_t *knob_value(IrqbedCtrl *c, const IrqbedKnob *k)
{
    return (uint64_t *)((char *)&c->knobs + k->offset);
}

static bool check_table(const char *what, uint64_t dist,
                        const IrqbedDistTable *table, Error **errp)
{
    if (dist == IRQBED_DIST_TABLE && !table->count) {
        error_setg(errp, "%s-dist=table needs percentiles in %s-table", what,
                   what);
        return false;
    }
    return true;
}

bool irqbed_knobs_check(IrqbedCtrl *c, Error **errp)
{
    const IrqbedKnobs *k = &c->knobs;

    if (k->irq_coalesce_count > 1 && !k->irq_coalesce_timeout_ns) {
        error_setg(errp, "irq-coalesce-count above 1 needs "
                   "irq-coalesce-timeout-ns above 0: the last completions "
                   "would wait for ever");
        return false;
    }
    return check_table("service-read", k->service_read_dist,
                       &k->service_read_table, errp) &&
           check_table("service-write", k->service_write_dist,
                       &k->service_write_table, errp) &&
           check_table("irq-latency", k->irq_latency_dist,
                       &k->irq_latency_table, errp);
}

void irqbed_knobs_apply(IrqbedCtrl *c)
{
    const IrqbedKnobs *k = &c->knobs;
    unsigned i;

    c->latency_cfg = (IrqbedLatencyCfg) {
        .dist = {
            { k->service_read_dist, k->service_read_ns,
              k->service_read_spread_ns, &k->service_read_table },
            { k->service_write_dist, k->service_write_ns,
              k->service_write_spread_ns, &k->service_write_table },
        },
        .ns_per_kib = { k->service_read_ns_per_kib,
                        k->service_write_ns_per_kib },
        .other_ns = k->service_other_ns,
        .units = k->units,
        .unit_choice = k->unit_choice,
        .stripe_bytes = k->unit_stripe_bytes,
        .slow_unit = k->slow_unit,
        .slow_factor = k->slow_unit_factor,
    };
    for (i = 0; i < c->nr_irqs; i++) {
        IrqbedIrq *irq = &c->irqs[i];

        irq->cfg.latency = (IrqbedDist) {
            k->irq_latency_dist, k->irq_latency_ns, k->irq_latency_spread_ns,
            &k->irq_latency_table
        };
        irq->cfg.coalesce_count = irq->guest_window ?
            irq->guest_count : k->irq_coalesce_count;
        irq->cfg.coalesce_timeout_ns = irq->guest_window ?
            irq->guest_timeout_ns : k->irq_coalesce_timeout_ns;
        irq->cfg.drop_every = k->irq_drop_every;
    }
}

static void knob_get(Object *obj, Visitor *v, const char *name, void *opaque,
                     Error **errp)
{
    const IrqbedKnob *k = opaque;
    uint64_t value = *knob_value(IRQBED_CTRL(obj), k);

    if (k->words) {
        char *word = (char *)k->words[value];

        visit_type_str(v, name, &word, errp);
    } else {
        visit_type_uint64(v, name, &value, errp);
    }
}

bool irqbed_parse_word(const char *name, const char *word,
                       const char *const *words, uint64_t *value,
                       Error **errp)
{
    g_autofree char *allowed = NULL;
    uint64_t i;

    for (i = 0; words[i]; i++) {
        if (!strcmp(word, words[i])) {
            *value = i;
            return true;
        }
    }
    allowed = g_strjoinv(", ", (char **)words);
    error_setg(errp, "%s: '%s' is none of: %s", name, word, allowed);
    return false;
}

static bool knob_visit(const IrqbedKnob *k, Visitor *v, const char *name,
                       uint64_t *value, Error **errp)
{
    if (k->words) {
        g_autofree char *word = NULL;

        return visit_type_str(v, name, &word, errp) &&
               irqbed_parse_word(k->name, word, k->words, value, errp);
    }
    if (!visit_type_uint64(v, name, value, errp)) {
        return false;
    }
    if (*value < k->min || *value > k->max) {
        error_setg(errp, "%s: %" PRIu64 " is not between %" PRIu64
                   " and %" PRIu64, k->name, *value, k->min, k->max);
        return false;
    }
    return true;
}

static bool knob_may_change(IrqbedCtrl *c, const IrqbedKnob *k, Error **errp)
{
    if (k->fixed && DEVICE(c)->realized) {
        error_setg(errp, "%s: cannot be changed once the device exists",
                   k->name);
        return false;
    }
    return true;
}

/* Until the device is realized, values may be set in any order. */
static bool knob_take_effect(IrqbedCtrl *c, Error **errp)
{
    if (!DEVICE(c)->realized) {
        return true;
    }
    if (!irqbed_knobs_check(c, errp)) {
        return false;
    }
    irqbed_knobs_apply(c);
    return true;
}

static bool knob_change(IrqbedCtrl *c, const IrqbedKnob *k, uint64_t value,
                        Error **errp)
{
    uint64_t old = *knob_value(c, k);

    *knob_value(c, k) = value;
    if (!knob_take_effect(c, errp)) {
        *knob_value(c, k) = old;
        return false;
    }
    if (k->offset == FIELD_OF(seed) && DEVICE(c)->realized) {
        irqbed_ctrl_seed(c);
    }
    return true;
}

static void knob_set(Object *obj, Visitor *v, const char *name, void *opaque,
                     Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    const IrqbedKnob *k = opaque;
    uint64_t value;

    if (knob_may_change(c, k, errp) &&
        knob_visit(k, v, name, &value, errp)) {
        knob_change(c, k, value, errp);
    }
}

static const IrqbedKnob *knob_find(const char *name)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(knobs); i++) {
        if (!strcmp(knobs[i].name, name)) {
            return &knobs[i];
        }
    }
    return NULL;
}

bool irqbed_knob_parse(const char *name, const char *text, uint64_t *value,
                       Error **errp)
{
    const IrqbedKnob *k = knob_find(name);
    Visitor *v;
    bool ok;

    if (!k || k->fixed || k->table) {
        error_setg(errp, "knob: '%s' is no number or word that can be changed "
                   "while the device runs", name);
        return false;
    }
    v = string_input_visitor_new(text);
    ok = knob_visit(k, v, name, value, errp);
    visit_free(v);
    return ok;
}

bool irqbed_knob_may_be(const char *name, uint64_t value)
{
    const IrqbedKnob *k = knob_find(name);

    return k && !k->fixed && !k->table &&
           (k->words ? value < g_strv_length((char **)k->words)
                     : value >= k->min && value <= k->max);
}

bool irqbed_knob_is_word(const char *name)
{
    const IrqbedKnob *k = knob_find(name);

    return k && k->words && !k->fixed;
}

char *irqbed_knob_format(const char *name, uint64_t value)
{
    const IrqbedKnob *k = knob_find(name);

    return k->words ? g_strdup(k->words[value])
                    : g_strdup_printf("%" PRIu64, value);
}

uint64_t irqbed_knob_get(IrqbedCtrl *c, const char *name)
{
    return *knob_value(c, knob_find(name));
}

bool irqbed_knob_change(IrqbedCtrl *c, const char *name, uint64_t value,
                        Error **errp)
{
    return knob_change(c, knob_find(name), value, errp);
}

static IrqbedDistTable *knob_table(IrqbedCtrl *c, const IrqbedKnob *k)
{
    return (IrqbedDistTable *)((char *)&c->knobs + k->offset);
}

static void table_get(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    char buf[IRQBED_DIST_TEXT_BYTES], *text = buf;

    irqbed_dist_table_format(knob_table(IRQBED_CTRL(obj), opaque), buf);
    visit_type_str(v, name, &text, errp);
}

static void table_set(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    const IrqbedKnob *k = opaque;
    IrqbedDistTable old = *knob_table(c, k);
    char why[IRQBED_DIST_WHY_BYTES];
    g_autofree char *text = NULL;

    if (!knob_may_change(c, k, errp) ||
        !visit_type_str(v, name, &text, errp)) {
        return;
    }
    if (!irqbed_dist_table_parse(knob_table(c, k), text, why)) {
        error_setg(errp, "%s: %s", k->name, why);
    } else if (!knob_take_effect(c, errp)) {
        *knob_table(c, k) = old;
    }
}

QDict *irqbed_knobs_stats(IrqbedCtrl *c)
{
    QDict *dict = qdict_new();
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(knobs); i++) {
        const IrqbedKnob *k = &knobs[i];
        g_autofree char *key = g_strdelimit(g_strdup(k->name), "-", '_');
        char buf[IRQBED_DIST_TEXT_BYTES];

        if (k->table) {
            irqbed_dist_table_format(knob_table(c, k), buf);
            qdict_put_str(dict, key, buf);
        } else if (k->words) {
            qdict_put_str(dict, key, k->words[*knob_value(c, k)]);
        } else {
            irqbed_stats_put(dict, key, *knob_value(c, k));
        }
    }
    return dict;
}

/* Help with what is allowed in brackets, for people and for the tests. */
static char *knob_description(const IrqbedKnob *k)
{
    g_autofree char *range = NULL;

    if (k->table) {
        range = g_strdup("PERCENTILE:NS,...");
    } else if (k->words) {
        range = g_strjoinv(" | ", (char **)k->words);
    } else {
        range = g_strdup_printf("%" PRIu64 " - %" PRIu64, k->min, k->max);
    }
    return g_strdup_printf("%s [%s]%s", k->help, range,
                           k->fixed ? ", when created only" : "");
}

void irqbed_knobs_add(ObjectClass *oc)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(knobs); i++) {
        const IrqbedKnob *k = &knobs[i];
        g_autofree char *description = knob_description(k);

        object_class_property_add(oc, k->name,
                                  k->table || k->words ? "str" : "uint64",
                                  k->table ? table_get : knob_get,
                                  k->table ? table_set : knob_set,
                                  NULL, (void *)k);
        object_class_property_set_description(oc, k->name, description);
    }
}

void irqbed_knobs_init(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(knobs); i++) {
        if (!knobs[i].table) {
            *knob_value(c, &knobs[i]) = knobs[i].def;
        }
    }
}
