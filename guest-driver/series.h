/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time series: what happened in each window of time since a beginning.
 *
 * Pure, see pure.h.  As the device's (hw/core/series.h): when time runs out of the
 * last window each two neighbours become one and the length doubles.
 * The caller owns the memory and sees to it that there is one writer at a time.
 */
#ifndef IRQBED_SERIES_H
#define IRQBED_SERIES_H

#include "hist.h"

#define IRQBED_SERIES_WINDOWS	256

struct irqbed_series_window {
	u64 irqs;		/* calls of the hard handler that were ours */
	u64 handovers;
	struct irqbed_hist latency_ns;	/* of the requests that ended in it */
};

/**
 * struct irqbed_series - a time series
 * @start_ns: its beginning
 * @window_ns: length of a window, by now
 * @used: windows up to the last with an event
 * @windows: IRQBED_SERIES_WINDOWS of them
 */
struct irqbed_series {
	u64 start_ns;
	u64 window_ns;
	u32 used;
	struct irqbed_series_window *windows;
};

void irqbed_series_begin(struct irqbed_series *s, u64 window_ns, u64 now_ns);
struct irqbed_series_window *irqbed_series_at(struct irqbed_series *s,
					      u64 now_ns);

#endif /* IRQBED_SERIES_H */
