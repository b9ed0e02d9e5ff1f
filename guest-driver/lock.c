// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks that protect command state, and how long they are waited for and
 * held.
 *
 * Which lock that is, is a knob: the queue's own ("port") or one for the whole
 * controller ("host").  Measuring is another: it reads the clock twice for each
 * hold, and counts when the hold is over, still under the lock, which is what
 * makes the histograms safe.
 */
#include <linux/sched/clock.h>

#include "irqbed.h"

/**
 * irqbed_lock_init() - make a lock
 * @l: the lock
 * @ctrl: the controller whose knobs say whether it is measured
 */
void irqbed_lock_init(struct irqbed_lock *l, const struct irqbed_ctrl *ctrl)
{
	spin_lock_init(&l->lock);
	l->config = &ctrl->config;
}

/**
 * irqbed_queue_lock() - the lock that protects a queue's command state
 * @q: the queue
 *
 * It changes only while nothing is in flight and no handler runs.
 *
 * Return: the lock.
 */
struct irqbed_lock *irqbed_queue_lock(struct irqbed_queue *q)
{
	return irqbed_locks_host(q->ctrl) ? &q->ctrl->lock : &q->lock;
}

/**
 * irqbed_lock() - take a lock
 * @l: the lock
 *
 * Any context; interrupts are off until irqbed_unlock().
 *
 * Return: what irqbed_unlock() wants.
 */
unsigned long irqbed_lock(struct irqbed_lock *l) __acquires(&l->lock)
{
	unsigned long flags;
	u64 start_ns;

	if (!READ_ONCE(l->config->lock_stats)) {
		spin_lock_irqsave(&l->lock, flags);
		l->is_measured = false;
		return flags;
	}
	local_irq_save(flags);
	start_ns = local_clock();
	spin_lock(&l->lock);
	l->is_measured = true;
	l->taken_ns = local_clock();
	l->waited_ns = l->taken_ns - start_ns;
	return flags;
}

/**
 * irqbed_unlock() - release a lock
 * @l: the lock
 * @flags: what irqbed_lock() returned
 */
void irqbed_unlock(struct irqbed_lock *l, unsigned long flags)
	__releases(&l->lock)
{
	if (l->is_measured) {
		irqbed_hist_add(&l->hold_ns, local_clock() - l->taken_ns);
		irqbed_hist_add(&l->wait_ns, l->waited_ns);
	}
	spin_unlock_irqrestore(&l->lock, flags);
}

/**
 * irqbed_lock_stats_reset() - forget what was measured
 * @l: the lock, which nobody takes meanwhile
 */
void irqbed_lock_stats_reset(struct irqbed_lock *l)
{
	irqbed_hist_reset(&l->hold_ns);
	irqbed_hist_reset(&l->wait_ns);
}
