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
	IRQBED_POLICY_SOFTIRQ,	/* it collects, the block softirq finishes */
	IRQBED_POLICY_INLINE,	/* it finishes, unless rq_affinity wants another CPU */
	IRQBED_POLICY_IRQ_POLL,	/* it only schedules the poll softirq */
	IRQBED_POLICY_WORKQUEUE, /* it only queues a work item */
	IRQBED_POLICY_FLOOD,	/* it finishes, until it takes too much of its CPU */
	IRQBED_POLICY_POLLED,	/* none comes: who waits for a request looks for it */
	IRQBED_NR_POLICIES
};

/* Who does what the hard interrupt leaves. */
enum irqbed_rest {
	IRQBED_REST_THREAD,	/* the interrupt's thread */
	IRQBED_REST_POLL,	/* irq_poll, in a softirq of the interrupt's CPU */
	IRQBED_REST_WORK,	/* a work item */
	IRQBED_NR_RESTS
};

/* Where a request that was found finished is given back to the block layer. */
enum irqbed_end_mode {
	IRQBED_END_HERE,	/* by the pass that found it */
	IRQBED_END_REDIRECT,	/* there too, unless rq_affinity wants another CPU */
	IRQBED_END_SOFTIRQ,	/* wherever blk_mq_complete_request() takes it */
};

/**
 * struct irqbed_policy_desc - what a policy is
 * @defer: the hard interrupt ends nothing
 * @bounded: time_limit_ns and max_completions limit the hard interrupt
 * @flood: it ends nothing while its CPU is flooded with interrupts
 * @rest: who does what it leaves; of the flood policy, a knob says that
 * @end: where requests are given back
 * @polled: requests whose submitter polls need no interrupt, and get none
 */
struct irqbed_policy_desc {
	bool defer;
	bool bounded;
	bool flood;
	enum irqbed_rest rest;
	enum irqbed_end_mode end;
	bool polled;
};

extern const char *const irqbed_policy_words[IRQBED_NR_POLICIES];
extern const struct irqbed_policy_desc irqbed_policies[IRQBED_NR_POLICIES];

/* Why a reaper stopped although requests were, or may be, left. */
enum irqbed_reason {
	IRQBED_REASON_NONE,	/* it did not stop early */
	IRQBED_REASON_POLICY,	/* the policy leaves everything to somebody else */
	IRQBED_REASON_TIME,	/* out of nanoseconds */
	IRQBED_REASON_COUNT,	/* out of completions */
	IRQBED_REASON_FLOOD,	/* the CPU is flooded with interrupts */
	IRQBED_NR_REASONS
};

/**
 * struct irqbed_budget - what one pass of the reaper may use
 * @ns: nanoseconds since the pass's start, or IRQBED_UNLIMITED_NS
 * @count: requests, or IRQBED_UNLIMITED_CNT
 * @defer: why nothing at all may be done, or IRQBED_REASON_NONE
 */
struct irqbed_budget {
	u64 ns;
	u64 count;
	enum irqbed_reason defer;
};

/**
 * struct irqbed_flood_limits - when a CPU counts as flooded
 * @window_ns: the share is taken over windows at least this long
 * @enter_pct: share of a window, in percent, from which on it is flooded
 * @leave_pct: share below which it no longer is
 */
struct irqbed_flood_limits {
	u64 window_ns;
	u64 enter_pct;
	u64 leave_pct;
};

/**
 * struct irqbed_flood - one CPU's share of time in interrupts
 * @start_ns: when the window began
 * @busy_ns: time in interrupts since then
 * @entered: how often it became flooded
 * @flooded: what the last full window said
 */
struct irqbed_flood {
	u64 start_ns;
	u64 busy_ns;
	u64 entered;
	bool flooded;
};

/**
 * struct irqbed_round - a poll context's work between two pauses
 * @start_ns: when it began
 * @done: requests ended since then
 * @open: it has begun and not ended
 */
struct irqbed_round {
	u64 start_ns;
	u64 done;
	bool open;
};

extern const struct irqbed_budget irqbed_budget_unlimited;

struct irqbed_budget irqbed_policy_budget(enum irqbed_policy policy,
					  u64 time_limit_ns, u64 max_completions,
					  bool flooded);
enum irqbed_reason irqbed_budget_check(const struct irqbed_budget *b,
				       u64 elapsed_ns, u64 count);
bool irqbed_flood_account(struct irqbed_flood *f,
			  const struct irqbed_flood_limits *limits,
			  u64 now_ns, u64 busy_ns);
struct irqbed_budget irqbed_round_budget(struct irqbed_round *r, u64 weight,
					 u64 max_done, u64 max_ns, u64 now_ns);
enum irqbed_reason irqbed_round_account(struct irqbed_round *r, u64 done,
					u64 max_done, u64 max_ns, u64 now_ns);

/* Does a pass under this budget have to look at the clock? */
static inline bool irqbed_budget_is_timed(const struct irqbed_budget *b)
{
	return b->ns != IRQBED_UNLIMITED_NS;
}

#endif /* IRQBED_POLICY_H */
