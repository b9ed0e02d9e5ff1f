/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Events by windows of time.  Pure; see series.h for the contract.
 */

#include <stddef.h>
#include <string.h>
#include "series.h"

void irqbed_series_begin(IrqbedSeries *s, uint64_t window_ns, int64_t now_ns)
{
    s->start_ns = now_ns;
    s->window_ns = window_ns;
    s->used = 0;
    memset(s->windows, 0, IRQBED_SERIES_WINDOWS * sizeof(s->windows[0]));
}

/* Windows 0 and 1 become 0, 2 and 3 become 1, ... */
static void series_double(IrqbedSeries *s)
{
    uint32_t i;

    for (i = 1; i < s->used; i++) {
        IrqbedSeriesWindow *from = &s->windows[i], *to = &s->windows[i / 2];

        to->irqs += from->irqs;
        irqbed_hist_merge(&to->latency_ns, &from->latency_ns);
        memset(from, 0, sizeof(*from));
    }
    s->used = (s->used + 1) / 2;
    s->window_ns *= 2;
}

/* The window of @now_ns; time before the beginning is in the first. */
static IrqbedSeriesWindow *series_window(IrqbedSeries *s, int64_t now_ns)
{
    uint64_t since_ns = now_ns > s->start_ns ?
                        (uint64_t)now_ns - (uint64_t)s->start_ns : 0;
    uint64_t i;

    while (since_ns / s->window_ns >= IRQBED_SERIES_WINDOWS) {
        series_double(s);
    }
    i = since_ns / s->window_ns;
    if (i >= s->used) {
        s->used = i + 1;
    }
    return &s->windows[i];
}

void irqbed_series_completion(IrqbedSeries *s, uint64_t latency_ns,
                              int64_t now_ns)
{
    if (s->windows) {
        irqbed_hist_add(&series_window(s, now_ns)->latency_ns, latency_ns);
    }
}

void irqbed_series_irq(IrqbedSeries *s, int64_t now_ns)
{
    if (s->windows) {
        series_window(s, now_ns)->irqs++;
    }
}
