// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies: the hard interrupt's budget, and whether it is used up.
 *
 * Stage G3 (decision only).  Pure, see policy.h.  To add a policy: a name in
 * enum irqbed_policy and in params.c, and its case in irqbed_policy_budget().
 */
#include "policy.h"

const struct irqbed_budget irqbed_budget_unlimited = {
	.ns = IRQBED_UNLIMITED_NS,
	.count = IRQBED_UNLIMITED_CNT,
};

/**
 * irqbed_policy_budget() - what the hard interrupt may do
 * @policy: the policy in force
 * @time_limit_ns: limit of the bounded policy, or IRQBED_UNLIMITED_NS
 * @max_completions: limit of the bounded policy, or IRQBED_UNLIMITED_CNT
 *
 * Return: the budget of one hard interrupt.
 */
struct irqbed_budget irqbed_policy_budget(enum irqbed_policy policy,
					  u64 time_limit_ns, u64 max_completions)
{
	struct irqbed_budget b = irqbed_budget_unlimited;

	switch (policy) {
	case IRQBED_POLICY_THREADED:
		b.defer = true;
		break;
	case IRQBED_POLICY_BOUNDED:
		b.ns = time_limit_ns;
		b.count = max_completions;
		break;
	case IRQBED_POLICY_HARDIRQ:
	default:
		break;
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
		return IRQBED_REASON_POLICY;
	if (count >= b->count && b->count != IRQBED_UNLIMITED_CNT)
		return IRQBED_REASON_COUNT;
	if (elapsed_ns >= b->ns && b->ns != IRQBED_UNLIMITED_NS)
		return IRQBED_REASON_TIME;
	return IRQBED_REASON_NONE;
}
