/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A controller's statistics as a QDict: read by QMP and by the control port.
 *
 * Invariant: fetched = completed + failed + aborted + in_flight.
 */

#include "qemu/osdep.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"
#include "ctrl.h"

static void put(QDict *dict, const char *key, uint64_t value)
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

static void put_hist(QDict *dict, const char *key, const IrqbedHist *h)
{
    QDict *d = qdict_new();

    qdict_put_str(d, "unit", "ns");
    qdict_put_str(d, "base", "log2");
    put(d, "sub_bits", IRQBED_HIST_SUB_BITS);
    put(d, "count", h->count);
    put(d, "sum", h->sum);
    put(d, "min", h->min);
    put(d, "max", h->max);
    put(d, "p50", irqbed_hist_percentile(h, 500));
    put(d, "p90", irqbed_hist_percentile(h, 900));
    put(d, "p99", irqbed_hist_percentile(h, 990));
    put(d, "p999", irqbed_hist_percentile(h, 999));
    qdict_put(d, "buckets", hist_buckets(h));
    qdict_put(dict, key, d);
}

QDict *irqbed_ctrl_stats(IrqbedCtrl *c)
{
    const IrqbedStats *s = &c->stats;
    QDict *all = qdict_new();
    QDict *requests = qdict_new();
    QDict *irq = qdict_new();
    QDict *faults = qdict_new();

    put(requests, "fetched", s->fetched);
    put(requests, "completed", s->completed);
    put(requests, "failed", s->failed);
    put(requests, "aborted", s->aborted);
    put(requests, "in_flight", s->in_flight);
    put(irq, "raised", s->irq_raised);
    put(irq, "suppressed", s->irq_suppressed);
    put(irq, "dropped", s->irq_dropped);
    put(irq, "coalesced", s->irq_coalesced);
    put(faults, "irq_dropped", s->irq_dropped);
    put(faults, "held", s->held);

    qdict_put_str(all, "name", c->name);
    qdict_put(all, "requests", requests);
    put(all, "bytes_read", s->bytes_read);
    put(all, "bytes_written", s->bytes_written);
    put_hist(all, "service_read_ns", &s->service_ns[IRQBED_WORK_READ]);
    put_hist(all, "service_write_ns", &s->service_ns[IRQBED_WORK_WRITE]);
    put_hist(all, "service_other_ns", &s->service_ns[IRQBED_WORK_OTHER]);
    put_hist(all, "queueing_ns", &s->queueing_ns);
    put_hist(all, "device_ns", &s->device_ns);
    qdict_put(all, "irq", irq);
    put_hist(all, "irq_to_read_ns", &s->irq_to_read_ns);
    put_hist(all, "irq_to_clear_ns", &s->irq_to_clear_ns);
    qdict_put(all, "faults", faults);
    put(all, "guest_errors", s->guest_errors);
    return all;
}

void irqbed_ctrl_stats_reset(IrqbedCtrl *c)
{
    uint64_t in_flight = c->stats.in_flight;

    memset(&c->stats, 0, sizeof(c->stats));
    c->stats.fetched = in_flight;
    c->stats.in_flight = in_flight;
}
