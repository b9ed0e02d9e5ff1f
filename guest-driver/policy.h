/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies: who finishes requests, and when the hard interrupt hands over.
 *
 * Stage G3 (decision only).  Pure: state and elapsed time in, decision out; no
 * call into the kernel, so the host's unit tests build the same file.
 */
#ifndef IRQBED_POLICY_H
#define IRQBED_POLICY_H

#include "pure.h"

/* "No limit" has a name of its own: 0 is a limit, and means "at once". */
#define IRQBED_UNLIMITED_NS	U64_MAX
#define IRQBED_UNLIMITED_CNT	U64_MAX

enum irqbed_policy {
	IRQBED_POLICY_HARDIRQ,	/* the hard interrupt finishes everything */
	IRQBED_POLICY_THREADED,	/* the hard interrupt only wakes the thread */
	IRQBED_POLICY_BOUNDED,	/* the hard interrupt up to a limit, then the thread */
	IRQBED_NR_POLICIES
};

/* Why a reaper stopped although requests were, or may be, left. */
enum irqbed_reason {
	IRQBED_REASON_NONE,	/* it did not stop early */
	IRQBED_REASON_POLICY,	/* the policy leaves everything to the thread */
	IRQBED_REASON_TIME,	/* out of nanoseconds */
	IRQBED_REASON_COUNT,	/* out of completions */
	IRQBED_NR_REASONS
};

/**
 * struct irqbed_budget - what one pass of the reaper may use
 * @ns: nanoseconds since the pass's start, or IRQBED_UNLIMITED_NS
 * @count: requests, or IRQBED_UNLIMITED_CNT
 * @defer: nothing at all; the thread does it
 */
struct irqbed_budget {
	u64 ns;
	u64 count;
	bool defer;
};

extern const struct irqbed_budget irqbed_budget_unlimited;

struct irqbed_budget irqbed_policy_budget(enum irqbed_policy policy,
					  u64 time_limit_ns, u64 max_completions);
enum irqbed_reason irqbed_budget_check(const struct irqbed_budget *b,
				       u64 elapsed_ns, u64 count);

/* Does a pass under this budget have to look at the clock? */
static inline bool irqbed_budget_is_timed(const struct irqbed_budget *b)
{
	return b->ns != IRQBED_UNLIMITED_NS;
}

#endif /* IRQBED_POLICY_H */
