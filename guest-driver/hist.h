/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of durations: log2 buckets, each power of two in eight parts.
 *
 * Pure, see pure.h.  Same buckets and percentiles as the device's histograms
 * (hw/core/hist.h), so that both sides' figures can be laid side by side.
 * One writer at a time; a reader may see a half-counted sample.
 */
#ifndef IRQBED_HIST_H
#define IRQBED_HIST_H

#include "pure.h"

#define IRQBED_HIST_SUB_BITS	3
#define IRQBED_HIST_SUB		8	/* 2 ^ IRQBED_HIST_SUB_BITS */
#define IRQBED_HIST_BUCKETS	((64 - IRQBED_HIST_SUB_BITS + 1) * IRQBED_HIST_SUB)

struct irqbed_hist {
	u64 count;
	u64 sum;
	u64 min;	/* valid when count is not 0 */
	u64 max;
	u64 bucket[IRQBED_HIST_BUCKETS];
};

void irqbed_hist_add(struct irqbed_hist *h, u64 val);
void irqbed_hist_merge(struct irqbed_hist *to, const struct irqbed_hist *from);
void irqbed_hist_reset(struct irqbed_hist *h);
u32 irqbed_hist_index(u64 val);
u64 irqbed_hist_lo(u32 index);
u64 irqbed_hist_quantile(const struct irqbed_hist *h, u32 permille);

#endif /* IRQBED_HIST_H */
