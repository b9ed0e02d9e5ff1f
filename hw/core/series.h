/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What happened in each window of time since a beginning.
 *
 * Pure: an event and now_ns in; no QEMU calls, the caller owns the memory.
 *
 * There are IRQBED_SERIES_WINDOWS windows of equal length.  When time runs out
 * of the last one, each two neighbours become one and the length doubles, so
 * that the whole time is covered in the same memory.
 */

#ifndef HW_IRQBED_SERIES_H
#define HW_IRQBED_SERIES_H

#include "hist.h"

#define IRQBED_SERIES_WINDOWS 256

typedef struct IrqbedSeriesWindow {
    uint64_t irqs;              /* raised in it */
    IrqbedHist latency_ns;      /* of the requests that ended in it */
} IrqbedSeriesWindow;

typedef struct IrqbedSeries {
    int64_t start_ns;
    uint64_t window_ns;         /* by now */
    uint32_t used;              /* windows up to the last with an event */
    IrqbedSeriesWindow *windows; /* IRQBED_SERIES_WINDOWS, or NULL: off */
} IrqbedSeries;

/* A new series from @now_ns on, in the same memory; @window_ns above 0. */
void irqbed_series_begin(IrqbedSeries *s, uint64_t window_ns, int64_t now_ns);
/* Both do nothing while it is off. */
void irqbed_series_completion(IrqbedSeries *s, uint64_t latency_ns,
                              int64_t now_ns);
void irqbed_series_irq(IrqbedSeries *s, int64_t now_ns);

#endif
