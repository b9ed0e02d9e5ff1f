/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Log2 histogram of durations in ns, eight buckets to an octave.
 *
 * Pure: neither QEMU nor kernel calls, no locks, no floating point; the same
 * file is built into the host unit tests.  Values below 8 have a bucket of
 * their own; above that a bucket is 1/8 of its octave wide.
 */

#ifndef HW_IRQBED_HIST_H
#define HW_IRQBED_HIST_H

#include <stdint.h>

#define IRQBED_HIST_SUB_BITS 3
#define IRQBED_HIST_SUBS     (1u << IRQBED_HIST_SUB_BITS)
#define IRQBED_HIST_BUCKETS \
    ((64 - IRQBED_HIST_SUB_BITS + 1) * IRQBED_HIST_SUBS)

typedef struct IrqbedHist {
    uint64_t count;
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint64_t bucket[IRQBED_HIST_BUCKETS];
} IrqbedHist;

void irqbed_hist_reset(IrqbedHist *h);
void irqbed_hist_add(IrqbedHist *h, uint64_t value);
/* Count @from's values in @to, too. */
void irqbed_hist_merge(IrqbedHist *to, const IrqbedHist *from);

/* The bucket that holds @value, and the smallest value of a bucket. */
unsigned irqbed_hist_index(uint64_t value);
uint64_t irqbed_hist_lo(unsigned index);

/*
 * The value that @per_mille of 1000 samples do not exceed: the upper end of
 * the bucket that holds that rank, but within [min, max].  0 without samples.
 */
uint64_t irqbed_hist_percentile(const IrqbedHist *h, unsigned per_mille);

#endif
