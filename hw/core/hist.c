/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Log2 histogram of durations in ns.  Pure; see hist.h for the contract.
 */

#include <string.h>
#include "hist.h"

unsigned irqbed_hist_index(uint64_t value)
{
    unsigned shift;

    if (value < IRQBED_HIST_SUBS) {
        return value;
    }
    /* The leading one and the sub_bits after it survive the shift. */
    shift = 63 - __builtin_clzll(value) - IRQBED_HIST_SUB_BITS;
    return (shift << IRQBED_HIST_SUB_BITS) + (value >> shift);
}

uint64_t irqbed_hist_lo(unsigned index)
{
    unsigned shift;

    if (index < 2 * IRQBED_HIST_SUBS) {
        return index;
    }
    shift = (index >> IRQBED_HIST_SUB_BITS) - 1;
    return (uint64_t)(IRQBED_HIST_SUBS + index % IRQBED_HIST_SUBS) << shift;
}

void irqbed_hist_reset(IrqbedHist *h)
{
    memset(h, 0, sizeof(*h));
}

void irqbed_hist_add(IrqbedHist *h, uint64_t value)
{
    if (!h->count || value < h->min) {
        h->min = value;
    }
    if (value > h->max) {
        h->max = value;
    }
    h->count++;
    h->sum += value;
    h->bucket[irqbed_hist_index(value)]++;
}

void irqbed_hist_merge(IrqbedHist *to, const IrqbedHist *from)
{
    unsigned i;

    if (!from->count) {
        return;
    }
    if (!to->count || from->min < to->min) {
        to->min = from->min;
    }
    if (from->max > to->max) {
        to->max = from->max;
    }
    to->count += from->count;
    to->sum += from->sum;
    for (i = 0; i < IRQBED_HIST_BUCKETS; i++) {
        to->bucket[i] += from->bucket[i];
    }
}

uint64_t irqbed_hist_percentile(const IrqbedHist *h, unsigned per_mille)
{
    uint64_t rank, seen = 0, value;
    unsigned i;

    if (!h->count) {
        return 0;
    }
    /* ceil(count * per_mille / 1000), at least the first sample */
    rank = h->count / 1000 * per_mille +
           (h->count % 1000 * per_mille + 999) / 1000;
    if (!rank) {
        rank = 1;
    }
    for (i = 0; i < IRQBED_HIST_BUCKETS - 1; i++) {
        seen += h->bucket[i];
        if (seen >= rank) {
            break;
        }
    }
    /* The last bucket of all has no successor: its upper end is max. */
    value = i + 1 < IRQBED_HIST_BUCKETS ? irqbed_hist_lo(i + 1) - 1 : h->max;
    if (value > h->max) {
        value = h->max;
    }
    return value < h->min ? h->min : value;
}
