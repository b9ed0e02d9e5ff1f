/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A controller's statistics.
 *
 * Invariant: fetched = completed + failed + aborted + in_flight.
 */

#include "qemu/osdep.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#include "ctrl.h"

/* Those that have fetched anything, by number. */
static QDict *queues(const IrqbedStats *s)
{
    QDict *dict = qdict_new();
    char name[12];
    unsigned q;

    for (q = 0; q < IRQBED_MAX_QUEUES; q++) {
        if (s->queue_fetched[q]) {
            snprintf(name, sizeof(name), "%u", q);
            irqbed_stats_put(dict, name, s->queue_fetched[q]);
        }
    }
    return dict;
}

static void put_series(QDict *all, const IrqbedSeries *s)
{
    QDict *dict = qdict_new();
    QList *completions = qlist_new(), *mean = qlist_new(), *p99 = qlist_new();
    QList *irqs = qlist_new();
    uint32_t i;

    for (i = 0; i < s->used; i++) {
        const IrqbedHist *h = &s->windows[i].latency_ns;

        qlist_append(completions, qnum_from_uint(h->count));
        qlist_append(mean, qnum_from_uint(h->count ? h->sum / h->count : 0));
        qlist_append(p99, qnum_from_uint(irqbed_hist_percentile(h, 990)));
        qlist_append(irqs, qnum_from_uint(s->windows[i].irqs));
    }
    irqbed_stats_put(dict, "window_ns", s->window_ns);
    qdict_put(dict, "completions", completions);
    qdict_put(dict, "mean_ns", mean);
    qdict_put(dict, "p99_ns", p99);
    qdict_put(dict, "irqs", irqs);
    qdict_put(all, "series", dict);
}

QDict *irqbed_ctrl_stats(Object *obj)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    const IrqbedStats *s = &c->stats;
    QDict *all = qdict_new();
    QDict *requests = qdict_new();
    QDict *irq = qdict_new();
    QDict *faults = qdict_new();

    irqbed_stats_put(requests, "fetched", s->fetched);
    irqbed_stats_put(requests, "completed", s->completed);
    irqbed_stats_put(requests, "failed", s->failed);
    irqbed_stats_put(requests, "aborted", s->aborted);
    irqbed_stats_put(requests, "in_flight", s->in_flight);
    irqbed_stats_put(irq, "raised", s->irq_raised);
    irqbed_stats_put(irq, "suppressed", s->irq_suppressed);
    irqbed_stats_put(irq, "dropped", s->irq_dropped);
    irqbed_stats_put(irq, "coalesced", s->irq_coalesced);
    irqbed_stats_put(irq, "late", s->irq_late);
    irqbed_stats_put(irq, "extra", s->irq_extra);
    irqbed_stats_put(faults, "irq_dropped", s->irq_dropped);
    irqbed_stats_put(faults, "held", s->held);
    irqbed_stats_put(faults, "failed", s->failed_media);
    irqbed_stats_put(faults, "link_errors", s->link_errors);

    qdict_put_str(all, "name", c->name);
    qdict_put(all, "requests", requests);
    qdict_put(all, "queue_fetched", queues(s));
    irqbed_stats_put(all, "bytes_read", s->bytes_read);
    irqbed_stats_put(all, "bytes_written", s->bytes_written);
    irqbed_stats_put_hist(all, "service_read_ns",
                          &s->service_ns[IRQBED_WORK_READ]);
    irqbed_stats_put_hist(all, "service_write_ns",
                          &s->service_ns[IRQBED_WORK_WRITE]);
    irqbed_stats_put_hist(all, "service_other_ns",
                          &s->service_ns[IRQBED_WORK_OTHER]);
    irqbed_stats_put_hist(all, "queueing_ns", &s->queueing_ns);
    irqbed_stats_put_hist(all, "device_ns", &s->device_ns);
    qdict_put(all, "irq", irq);
    irqbed_stats_put_hist(all, "irq_to_read_ns", &s->irq_to_read_ns);
    irqbed_stats_put_hist(all, "irq_to_clear_ns", &s->irq_to_clear_ns);
    qdict_put(all, "faults", faults);
    qdict_put(all, "knobs", irqbed_knobs_stats(c));
    qdict_put(all, "inject", irqbed_inject_stats(c));
    irqbed_stats_put(all, "guest_errors", s->guest_errors);
    if (c->series.windows) {
        put_series(all, &c->series);
    }
    return all;
}

void irqbed_ctrl_stats_reset(Object *obj)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    uint64_t in_flight = c->stats.in_flight;

    memset(&c->stats, 0, sizeof(c->stats));
    c->stats.fetched = in_flight;
    c->stats.in_flight = in_flight;
    irqbed_ctrl_series_reset(c);
    irqbed_faults_arm(c, true);
}

void irqbed_ctrl_series_reset(IrqbedCtrl *c)
{
    int64_t now_ns = irqbed_now_ns();

    irqbed_record_begin(c, now_ns);
    if (!c->knobs.series_window_ns) {
        g_clear_pointer(&c->series.windows, g_free);
        return;
    }
    if (!c->series.windows) {
        c->series.windows = g_new(IrqbedSeriesWindow, IRQBED_SERIES_WINDOWS);
    }
    irqbed_series_begin(&c->series, c->knobs.series_window_ns, now_ns);
}

void irqbed_ctrl_series_free(IrqbedCtrl *c)
{
    g_clear_pointer(&c->series.windows, g_free);
    irqbed_record_free(&c->record);
}
