// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reaper: takes finished requests off the slots and ends them.
 *
 * Stages G2 to G4.  The hard interrupt, those it hands over to, the
 * timeout and the reset all come through here; what they may use up is in their
 * budget.
 * Several passes can run at once: a slot belongs to the pass that moved its
 * bit out of the maps under the queue's lock.
 */
#include <linux/sched/clock.h>

#include "irqbed.h"

/* Take all slots that are finished; the caller must end or return them. */
static u32 irqbed_claim_locked(struct irqbed_queue *q)
{
	u32 done = 0;
	u32 slots;

	if (q->outstanding)
		done = q->ctrl->ops->done(q) & q->outstanding;
	q->outstanding &= ~done;
	slots = done | q->ready;
	q->ready = 0;
	if (unlikely(q->alone)) {
		bool alone_is_done = done & q->alone;

		q->alone &= ~done;
		if (q->held && !q->outstanding)
			irqbed_advance_locked(q, alone_is_done);
	}
	return slots;
}

static void irqbed_claim_by_host(struct irqbed_ctrl *ctrl, u32 queues,
				 u32 *slots)
{
	unsigned long flags = irqbed_lock(&ctrl->lock);

	while (queues) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);

		slots[q->index] = irqbed_claim_locked(q);
	}
	irqbed_unlock(&ctrl->lock, flags);
}

static void irqbed_claim_by_port(struct irqbed_ctrl *ctrl, u32 queues,
				 u32 *slots)
{
	while (queues) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);
		unsigned long flags = irqbed_lock(&q->lock);

		slots[q->index] = irqbed_claim_locked(q);
		irqbed_unlock(&q->lock, flags);
	}
}

static void irqbed_unclaim(struct irqbed_queue *q, u32 slots)
{
	struct irqbed_lock *lock = irqbed_queue_lock(q);
	unsigned long flags = irqbed_lock(lock);

	q->ready |= slots;
	irqbed_unlock(lock, flags);
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

/* End slots of one queue until all are ended or the budget is used up. */
static void irqbed_end_slots(struct irqbed_queue *q, u32 slots,
			     const struct irqbed_budget *budget,
			     enum irqbed_ctx ctx, u64 start_ns,
			     struct irqbed_reap_result *res)
{
	if (!slots)
		this_cpu_inc(q->stats->ctx[ctx].empty);
	while (slots) {
		u32 slot = __ffs(slots);

		if (res->done && !res->reason)
			res->reason = irqbed_stop_reason(budget, start_ns,
							 res->done);
		if (res->reason) {
			irqbed_unclaim(q, slots);
			res->left |= BIT(q->index);
			break;
		}
		slots &= ~BIT(slot);
		irqbed_end_slot(q, slot, ctx);
		res->done++;
	}
}

/**
 * irqbed_reap() - end what is finished, within a budget
 * @ctrl: the controller
 * @queues: map of the queues to look at
 * @budget: what the pass may use, for all of them together
 * @ctx: who calls
 * @start_ns: local_clock() when the caller's work began
 *
 * Looks at the hardware once, at all the queues before the first request is
 * ended.  What finishes after that look raises an interrupt of its own, because
 * the status was acknowledged before it.  What is left when the budget is used
 * up stays in the ready maps; the caller has to see to it that another pass
 * follows.
 *
 * With a budget of nothing the hardware is not even looked at, so that then
 * there may be something left in all of the queues.
 *
 * Return: what was done.
 */
struct irqbed_reap_result irqbed_reap(struct irqbed_ctrl *ctrl, u32 queues,
				      const struct irqbed_budget *budget,
				      enum irqbed_ctx ctx, u64 start_ns)
{
	struct irqbed_reap_result res = { };
	u32 slots[IRQBED_MAX_QUEUES];

	res.reason = irqbed_stop_reason(budget, start_ns, 0);
	if (res.reason) {
		res.left = queues;
		return res;
	}
	if (irqbed_locks_host(ctrl))
		irqbed_claim_by_host(ctrl, queues, slots);
	else
		irqbed_claim_by_port(ctrl, queues, slots);
	while (queues) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);

		irqbed_end_slots(q, slots[q->index], budget, ctx, start_ns,
				 &res);
	}
	return res;
}
