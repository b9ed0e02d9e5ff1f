// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller's time series: memory, locking, and what counts in it.
 *
 * Any context.  While no controller has ever had one, all that is left of it in
 * the way of a request is a no-op instruction at each place that counts.
 */
#include <linux/ktime.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>

#include "trend.h"

DEFINE_STATIC_KEY_FALSE(irqbed_series_was_used);

static void irqbed_series_free(void *windows)
{
	kvfree(windows);
}

/**
 * irqbed_series_prepare() - get what a time series needs
 * @ctrl: the controller
 * @window_ns: the knob's new value; 0 needs nothing
 *
 * Once there, the memory stays until the driver leaves the device.
 *
 * Return: 0 or -ENOMEM.
 */
int irqbed_series_prepare(struct irqbed_ctrl *ctrl, u64 window_ns)
{
	struct irqbed_series_window *windows;
	int err;

	if (!window_ns || ctrl->series.windows)
		return 0;
	windows = kvcalloc(IRQBED_SERIES_WINDOWS, sizeof(*windows), GFP_KERNEL);
	if (!windows)
		return -ENOMEM;
	err = devm_add_action_or_reset(&ctrl->pdev->dev, irqbed_series_free,
				       windows);
	if (err)
		return err;
	ctrl->series.windows = windows;
	static_branch_enable(&irqbed_series_was_used);
	return 0;
}

/**
 * irqbed_series_reset() - the series begins anew, now, if there is to be one
 * @ctrl: the controller, with nothing in flight and its handlers through
 */
void irqbed_series_reset(struct irqbed_ctrl *ctrl)
{
	if (!ctrl->config.series_window_ns)
		return;
	irqbed_series_begin(&ctrl->series, ctrl->config.series_window_ns,
			    local_clock());
	ctrl->series_since_ns = ktime_get_ns();
}

/**
 * irqbed_series_end() - the block layer gets a request back
 * @ctrl: the controller, which has a series
 * @cmd: the request
 */
void irqbed_series_end(struct irqbed_ctrl *ctrl, const struct irqbed_cmd *cmd)
{
	u64 now_ns = local_clock();
	unsigned long flags;

	spin_lock_irqsave(&ctrl->series_lock, flags);
	irqbed_hist_add(&irqbed_series_at(&ctrl->series, now_ns)->latency_ns,
			now_ns - cmd->submit_ns);
	spin_unlock_irqrestore(&ctrl->series_lock, flags);
}

/**
 * irqbed_series_irq() - the hard handler was called, and it was for us
 * @ctrl: the controller, which has a series
 * @handover: it leaves something to somebody else
 */
void irqbed_series_irq(struct irqbed_ctrl *ctrl, bool handover)
{
	struct irqbed_series_window *window;
	unsigned long flags;

	spin_lock_irqsave(&ctrl->series_lock, flags);
	window = irqbed_series_at(&ctrl->series, local_clock());
	window->irqs++;
	window->handovers += handover;
	spin_unlock_irqrestore(&ctrl->series_lock, flags);
}

static u64 irqbed_window_completions(const struct irqbed_series_window *w)
{
	return w->latency_ns.count;
}

static u64 irqbed_window_mean(const struct irqbed_series_window *w)
{
	return w->latency_ns.count ?
	       div64_u64(w->latency_ns.sum, w->latency_ns.count) : 0;
}

static u64 irqbed_window_p99(const struct irqbed_series_window *w)
{
	return irqbed_hist_quantile(&w->latency_ns, 990);
}

static u64 irqbed_window_irqs(const struct irqbed_series_window *w)
{
	return w->irqs;
}

static u64 irqbed_window_handovers(const struct irqbed_series_window *w)
{
	return w->handovers;
}

static const struct {
	const char *name;
	u64 (*value)(const struct irqbed_series_window *w);
} irqbed_series_columns[] = {
	{ "completions", irqbed_window_completions },
	{ "mean_ns", irqbed_window_mean },
	{ "p99_ns", irqbed_window_p99 },
	{ "irqs", irqbed_window_irqs },
	{ "handovers", irqbed_window_handovers },
};

/**
 * irqbed_series_print() - the series as a member of the statistics' object
 * @ctrl: the controller
 * @m: where to; nothing when there is no series
 */
void irqbed_series_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	const struct irqbed_series *s = &ctrl->series;

	if (!irqbed_has_series(ctrl))
		return;
	seq_printf(m, ",\n\"series\":{\"since_ns\":%llu,\"window_ns\":%llu",
		   ctrl->series_since_ns, s->window_ns);
	for (u32 i = 0; i < ARRAY_SIZE(irqbed_series_columns); i++) {
		seq_printf(m, ",\n\"%s\":[", irqbed_series_columns[i].name);
		for (u32 w = 0; w < s->used; w++)
			seq_printf(m, "%s%llu", w ? "," : "",
				   irqbed_series_columns[i].value(&s->windows[w]));
		seq_puts(m, "]");
	}
	seq_puts(m, "}");
}
