// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reaper: takes finished requests off the slots and ends them.
 *
 * Stages G2 to G4.  The hard interrupt, its thread, the timeout and the reset
 * all come through here; what they may use up is in their budget.
 * Several passes can run at once: a slot belongs to the pass that moved its
 * bit out of the maps under the queue's lock.
 */
#include <linux/sched/clock.h>

#include "irqbed.h"

/* Take all slots that are finished; the caller must end or return them. */
static u32 irqbed_claim(struct irqbed_queue *q)
{
	unsigned long flags;
	u32 done = 0;
	u32 slots;

	spin_lock_irqsave(&q->lock, flags);
	if (q->outstanding)
		done = q->ctrl->ops->done(q) & q->outstanding;
	q->outstanding &= ~done;
	slots = done | q->ready;
	q->ready = 0;
	spin_unlock_irqrestore(&q->lock, flags);
	return slots;
}

static void irqbed_unclaim(struct irqbed_queue *q, u32 slots)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	q->ready |= slots;
	spin_unlock_irqrestore(&q->lock, flags);
}

/* The budget's verdict; the clock is read only when it matters. */
static enum irqbed_reason irqbed_stop_reason(const struct irqbed_budget *b,
					     u64 start_ns, u32 done)
{
	u64 elapsed_ns = 0;

	if (irqbed_budget_is_timed(b) && b->ns)
		elapsed_ns = local_clock() - start_ns;
	return irqbed_budget_check(b, elapsed_ns, done);
}

/**
 * irqbed_reap() - end what is finished, within a budget
 * @q: the queue
 * @budget: what the pass may use
 * @ctx: who calls; one caller of a kind at a time
 * @start_ns: local_clock() when the caller's work began
 *
 * Looks at the hardware once.  What finishes after that look raises an
 * interrupt of its own, because the status was acknowledged before it.
 * What is left when the budget is used up stays in the ready map; the caller
 * has to see to it that another pass follows.
 *
 * With a budget of nothing the hardware is not even looked at, so "more" then
 * means that there may be more.
 *
 * Return: what was done.
 */
struct irqbed_reap_result irqbed_reap(struct irqbed_queue *q,
				      const struct irqbed_budget *budget,
				      enum irqbed_ctx ctx, u64 start_ns)
{
	struct irqbed_reap_result res = { };
	u32 slots;

	q->ctx[ctx].passes++;
	res.reason = irqbed_stop_reason(budget, start_ns, 0);
	if (res.reason) {
		res.more = true;
		return res;
	}
	slots = irqbed_claim(q);
	if (!slots)
		q->ctx[ctx].empty++;
	while (slots) {
		u32 slot = __ffs(slots);

		if (res.done)
			res.reason = irqbed_stop_reason(budget, start_ns, res.done);
		if (res.reason) {
			irqbed_unclaim(q, slots);
			res.more = true;
			break;
		}
		slots &= ~BIT(slot);
		irqbed_end_slot(q, slot, ctx);
		res.done++;
	}
	return res;
}
