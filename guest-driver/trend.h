/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A controller's time series, see trend.c.
 */
#ifndef IRQBED_TREND_H
#define IRQBED_TREND_H

#include <linux/jump_label.h>

#include "irqbed.h"

DECLARE_STATIC_KEY_FALSE(irqbed_series_was_used);

/* Of a request the same from its submission to its end: who changes it drains. */
static inline bool irqbed_has_series(const struct irqbed_ctrl *ctrl)
{
	return static_branch_unlikely(&irqbed_series_was_used) &&
	       READ_ONCE(ctrl->config.series_window_ns);
}

struct seq_file;

int irqbed_series_prepare(struct irqbed_ctrl *ctrl, u64 window_ns);
void irqbed_series_reset(struct irqbed_ctrl *ctrl);
void irqbed_series_end(struct irqbed_ctrl *ctrl, const struct irqbed_cmd *cmd);
void irqbed_series_irq(struct irqbed_ctrl *ctrl, bool handover);
void irqbed_series_print(struct irqbed_ctrl *ctrl, struct seq_file *m);

#endif /* IRQBED_TREND_H */
