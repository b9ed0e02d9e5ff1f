// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms of durations, see hist.h.
 *
 * Values below 8 have a bucket each; from there on the value's highest bit
 * picks a row of eight buckets and the next three bits the bucket in it.
 */
#include "hist.h"

/**
 * irqbed_hist_index() - the bucket that a value falls into
 * @val: the value
 *
 * Return: index of the bucket.
 */
u32 irqbed_hist_index(u64 val)
{
	u32 row;

	if (val < IRQBED_HIST_SUB)
		return (u32)val;
	row = (u32)fls64(val) - IRQBED_HIST_SUB_BITS;
	return row * IRQBED_HIST_SUB +
	       ((u32)(val >> (row - 1)) & (IRQBED_HIST_SUB - 1));
}

/**
 * irqbed_hist_lo() - the least value of a bucket
 * @index: the bucket
 *
 * Return: the bucket's lower bound, which belongs to it.
 */
u64 irqbed_hist_lo(u32 index)
{
	u32 row = index / IRQBED_HIST_SUB;
	u64 sub = index % IRQBED_HIST_SUB;

	return row ? (IRQBED_HIST_SUB + sub) << (row - 1) : sub;
}

/**
 * irqbed_hist_add() - count one value
 * @h: the histogram
 * @val: the value
 */
void irqbed_hist_add(struct irqbed_hist *h, u64 val)
{
	if (!h->count || val < h->min)
		h->min = val;
	if (val > h->max)
		h->max = val;
	h->count++;
	h->sum += val;
	h->bucket[irqbed_hist_index(val)]++;
}

/**
 * irqbed_hist_merge() - count another histogram's values, too
 * @to: the histogram that gets them
 * @from: the other one
 */
void irqbed_hist_merge(struct irqbed_hist *to, const struct irqbed_hist *from)
{
	u32 i;

	if (!from->count)
		return;
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
	for (i = 0; i < IRQBED_HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

/**
 * irqbed_hist_reset() - forget everything
 * @h: the histogram
 */
void irqbed_hist_reset(struct irqbed_hist *h)
{
	memset(h, 0, sizeof(*h));
}

/**
 * irqbed_hist_quantile() - the value that a share of the samples do not exceed
 * @h: the histogram
 * @permille: the share, 1 to 1000
 *
 * Return: the greatest value of the bucket in which the sample of that rank
 * lies, but within the least and the greatest sample; 0 when there are none.
 */
u64 irqbed_hist_quantile(const struct irqbed_hist *h, u32 permille)
{
	u64 rank, val, seen = 0;
	u32 i;

	if (!h->count)
		return 0;
	rank = h->count / 1000 * permille +
	       (h->count % 1000 * permille + 999) / 1000;
	for (i = 0; i < IRQBED_HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= rank && seen)
			break;
	}
	/* The last bucket has no successor: its greatest value is the maximum. */
	val = i + 1 < IRQBED_HIST_BUCKETS ? irqbed_hist_lo(i + 1) - 1 : h->max;
	if (val > h->max)
		val = h->max;
	return val < h->min ? h->min : val;
}
