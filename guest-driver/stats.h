/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is counted: the structures behind debugfs' stats, see stats.c.
 */
#ifndef IRQBED_STATS_H
#define IRQBED_STATS_H

#include "policy.h"
#include "series.h"

/* Who ended a request. */
enum irqbed_ctx {
	IRQBED_CTX_HARD,	/* the hard interrupt */
	IRQBED_CTX_SOFTIRQ,	/* irq_poll */
	IRQBED_CTX_THREAD,	/* the interrupt thread */
	IRQBED_CTX_WORK,	/* the work item */
	IRQBED_NR_IRQ_CTX,	/* up to here they belong to a vector */
	IRQBED_CTX_BLOCK = IRQBED_NR_IRQ_CTX, /* blk-mq, which was told by one of them */
	IRQBED_CTX_POLLED,	/* whoever waits for it */
	IRQBED_NR_TIMED_CTX,	/* up to here their time is known */
	IRQBED_CTX_TIMEOUT = IRQBED_NR_TIMED_CTX, /* blk-mq's timeout, under ctrl->recover_mutex */
	IRQBED_CTX_RESET,	/* the last look before a reset, ditto */
	IRQBED_NR_CTX
};

/* Where the CPU was when the block layer got a request back. */
enum irqbed_where {
	IRQBED_WHERE_HARDIRQ,
	IRQBED_WHERE_SOFTIRQ,
	IRQBED_WHERE_PROCESS,	/* threads, too */
	IRQBED_NR_WHERE
};

/* Counters of a queue by who ended what, of one CPU. */
struct irqbed_ctx_stats {
	u64 completed;		/* ended with success */
	u64 failed;		/* ended with an error */
	u64 requeued;		/* not ended: to be sent again */
	u64 empty;		/* looks that found nothing */
};

struct irqbed_irq_stats {
	u64 irqs;		/* calls of the hard handler */
	u64 none;		/* of them: the interrupt was not ours */
	u64 in_hardirq;		/* of the others: ran as a hard interrupt */
	u64 in_thread;		/* ran in a thread (kernel argument threadirqs) */
	u64 handovers[IRQBED_NR_REASONS];
	u64 polls;		/* hand-overs to irq_poll, each ends in a re-arming */
	u64 poll_calls;		/* calls that irq_poll made */
	u64 poll_done;		/* requests that they ended */
	u64 poll_pauses[IRQBED_NR_REASONS]; /* ends of a softirq with more to do */
	struct irqbed_hist ns[IRQBED_NR_IRQ_CTX];
	struct irqbed_hist wait_ns; /* from a hand-over to who took it over */
	u64 longest_left_ns;	/* the longest of them: handed over at, */
	u64 longest_seen_ns;	/* and taken over at */
};

/* Counters of a queue, of one CPU. */
struct irqbed_cpu_stats {
	struct irqbed_ctx_stats ctx[IRQBED_NR_CTX];
	u64 ended[IRQBED_NR_WHERE];
	u64 redirected;		/* ended by another CPU than found them */
	u64 polls;		/* times that blk-mq polled */
};

/* Time that a CPU spent for a controller, by context. */
struct irqbed_cpu_times {
	u64 ns[IRQBED_NR_TIMED_CTX];
};

#endif /* IRQBED_STATS_H */
