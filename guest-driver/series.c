// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time series, see series.h.
 */
#include "series.h"

/**
 * irqbed_series_begin() - forget everything and begin anew
 * @s: the series, with its windows
 * @window_ns: first length of a window, above 0
 * @now_ns: the beginning
 */
void irqbed_series_begin(struct irqbed_series *s, u64 window_ns, u64 now_ns)
{
	s->start_ns = now_ns;
	s->window_ns = window_ns;
	s->used = 0;
	memset(s->windows, 0, IRQBED_SERIES_WINDOWS * sizeof(s->windows[0]));
}

/* Windows 0 and 1 become 0, 2 and 3 become 1, and so on. */
static void irqbed_series_double(struct irqbed_series *s)
{
	u32 i;

	for (i = 1; i < s->used; i++) {
		struct irqbed_series_window *from = &s->windows[i];
		struct irqbed_series_window *to = &s->windows[i / 2];

		to->irqs += from->irqs;
		to->handovers += from->handovers;
		irqbed_hist_merge(&to->latency_ns, &from->latency_ns);
		memset(from, 0, sizeof(*from));
	}
	s->used = (s->used + 1) / 2;
	s->window_ns *= 2;
}

/**
 * irqbed_series_at() - the window that a time is in
 * @s: the series
 * @now_ns: the time; before the beginning is in the first window
 *
 * Return: the window, which the caller counts in.
 */
struct irqbed_series_window *irqbed_series_at(struct irqbed_series *s,
					      u64 now_ns)
{
	u64 since_ns = now_ns > s->start_ns ? now_ns - s->start_ns : 0;
	u32 i;

	while (since_ns / s->window_ns >= IRQBED_SERIES_WINDOWS)
		irqbed_series_double(s);
	i = (u32)(since_ns / s->window_ns);
	if (i >= s->used)
		s->used = i + 1;
	return &s->windows[i];
}
