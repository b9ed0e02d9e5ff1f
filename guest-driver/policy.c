// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies: the table of them, the hard interrupt's budget, whether it is used
 * up, and when a CPU counts as flooded with interrupts.
 *
 * Stage G3 (decision only).  Pure, see policy.h.  To add a policy: a name in
 * enum irqbed_policy, its word, and its line in the table.
 */
#include "policy.h"

const char *const irqbed_policy_words[IRQBED_NR_POLICIES] = {
	[IRQBED_POLICY_HARDIRQ] = "hardirq",
	[IRQBED_POLICY_THREADED] = "threaded",
	[IRQBED_POLICY_BOUNDED] = "bounded",
	[IRQBED_POLICY_SOFTIRQ] = "softirq",
	[IRQBED_POLICY_INLINE] = "inline",
	[IRQBED_POLICY_IRQ_POLL] = "irq_poll",
	[IRQBED_POLICY_WORKQUEUE] = "workqueue",
	[IRQBED_POLICY_FLOOD] = "flood",
	[IRQBED_POLICY_POLLED] = "polled",
};

/* All that is not said: the hard interrupt ends everything where it is. */
const struct irqbed_policy_desc irqbed_policies[IRQBED_NR_POLICIES] = {
	[IRQBED_POLICY_THREADED] = {
		.defer = true, .rest = IRQBED_REST_THREAD,
	},
	[IRQBED_POLICY_BOUNDED] = {
		.bounded = true, .rest = IRQBED_REST_THREAD,
	},
	[IRQBED_POLICY_SOFTIRQ] = { .end = IRQBED_END_SOFTIRQ },
	[IRQBED_POLICY_INLINE] = { .end = IRQBED_END_REDIRECT },
	[IRQBED_POLICY_IRQ_POLL] = { .defer = true, .rest = IRQBED_REST_POLL },
	[IRQBED_POLICY_WORKQUEUE] = { .defer = true, .rest = IRQBED_REST_WORK },
	[IRQBED_POLICY_FLOOD] = { .flood = true },
	[IRQBED_POLICY_POLLED] = { .polled = true },
};

const struct irqbed_budget irqbed_budget_unlimited = {
	.ns = IRQBED_UNLIMITED_NS,
	.count = IRQBED_UNLIMITED_CNT,
};

/**
 * irqbed_policy_budget() - what the hard interrupt may do
 * @policy: the policy in force
 * @time_limit_ns: limit of a bounded policy, or IRQBED_UNLIMITED_NS
 * @max_completions: limit of a bounded policy, or IRQBED_UNLIMITED_CNT
 * @flooded: the CPU is flooded, see irqbed_flood_account()
 *
 * Return: the budget of one hard interrupt.
 */
struct irqbed_budget irqbed_policy_budget(enum irqbed_policy policy,
					  u64 time_limit_ns, u64 max_completions,
					  bool flooded)
{
	const struct irqbed_policy_desc *desc = &irqbed_policies[policy];
	struct irqbed_budget b = irqbed_budget_unlimited;

	if (desc->defer)
		b.defer = IRQBED_REASON_POLICY;
	else if (desc->flood && flooded)
		b.defer = IRQBED_REASON_FLOOD;
	if (desc->bounded) {
		b.ns = time_limit_ns;
		b.count = max_completions;
	}
	return b;
}

/**
 * irqbed_budget_check() - may the pass finish one more request?
 * @b: the pass's budget
 * @elapsed_ns: time since its start; not looked at when @b has no time limit
 * @count: requests finished so far
 *
 * Asked before each request, so a pass takes at most its limit and the one
 * request that was begun within it.
 *
 * Return: IRQBED_REASON_NONE to go on, else why the pass ends.
 */
enum irqbed_reason irqbed_budget_check(const struct irqbed_budget *b,
				       u64 elapsed_ns, u64 count)
{
	if (b->defer)
		return b->defer;
	if (count >= b->count && b->count != IRQBED_UNLIMITED_CNT)
		return IRQBED_REASON_COUNT;
	if (elapsed_ns >= b->ns && b->ns != IRQBED_UNLIMITED_NS)
		return IRQBED_REASON_TIME;
	return IRQBED_REASON_NONE;
}

/**
 * irqbed_flood_account() - add time in interrupts, say whether it is a flood
 * @f: the CPU's state
 * @limits: when it is one
 * @now_ns: the CPU's clock
 * @busy_ns: time in interrupts since the last call, not yet added; 0 to ask
 *
 * Nothing changes within a window; at its end the share of it that was spent
 * in interrupts decides.  Two limits, so that a share between them changes
 * nothing.
 *
 * Return: true while the CPU is flooded.
 */
bool irqbed_flood_account(struct irqbed_flood *f,
			  const struct irqbed_flood_limits *limits,
			  u64 now_ns, u64 busy_ns)
{
	u64 elapsed_ns = now_ns - f->start_ns;
	u64 pct = f->flooded ? limits->leave_pct : limits->enter_pct;
	bool above;

	f->busy_ns += busy_ns;
	if (elapsed_ns < limits->window_ns)
		return f->flooded;
	above = f->busy_ns * 100 >= elapsed_ns * pct;
	if (above && !f->flooded)
		f->entered++;
	f->flooded = above;
	f->start_ns = now_ns;
	f->busy_ns = 0;
	return above;
}

/**
 * irqbed_round_budget() - what one call of a poll context may do
 * @r: the round; begun here, if it has not
 * @weight: requests of one call
 * @max_done: requests of a round, or IRQBED_UNLIMITED_CNT
 * @max_ns: time of a round, or IRQBED_UNLIMITED_NS
 * @now_ns: the time
 *
 * Return: the budget; its time counts from @r->start_ns.
 */
struct irqbed_budget irqbed_round_budget(struct irqbed_round *r, u64 weight,
					 u64 max_done, u64 max_ns, u64 now_ns)
{
	struct irqbed_budget b = { .ns = max_ns, .count = weight };

	if (!r->open) {
		r->open = true;
		r->start_ns = now_ns;
		r->done = 0;
	}
	if (max_done != IRQBED_UNLIMITED_CNT && max_done - r->done < weight)
		b.count = max_done - r->done;
	return b;
}

/**
 * irqbed_round_account() - a call is through: has the round to pause?
 * @r: the round; ends here, if it has to
 * @done: requests that the call ended
 * @max_done: as above
 * @max_ns: as above
 * @now_ns: the time
 *
 * Return: IRQBED_REASON_NONE to go on, else why it pauses.
 */
enum irqbed_reason irqbed_round_account(struct irqbed_round *r, u64 done,
					u64 max_done, u64 max_ns, u64 now_ns)
{
	struct irqbed_budget b = { .ns = max_ns, .count = max_done };
	enum irqbed_reason reason;

	r->done += done;
	reason = irqbed_budget_check(&b, now_ns - r->start_ns, r->done);
	if (reason)
		r->open = false;
	return reason;
}
