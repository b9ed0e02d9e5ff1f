// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics as one JSON object; docs/guest-driver.md says what each means.
 *
 * Exact while nothing is in flight; else the counters are read one after the
 * other while they move.
 */
#include <linux/seq_file.h>

#include "irqbed.h"
#include "trend.h"

static const char *const irqbed_state_words[] = {
	[IRQBED_QUEUE_LIVE] = "live",
	[IRQBED_QUEUE_RESETTING] = "resetting",
	[IRQBED_QUEUE_DEAD] = "dead",
};

static_assert(ARRAY_SIZE(irqbed_state_words) == IRQBED_NR_QUEUE_STATES);

/* Of these is said what each ended; the others have keys of their own. */
static const char *const irqbed_ctx_words[] = {
	[IRQBED_CTX_HARD] = "hard",
	[IRQBED_CTX_SOFTIRQ] = "softirq",
	[IRQBED_CTX_THREAD] = "thread",
	[IRQBED_CTX_WORK] = "work",
	[IRQBED_CTX_BLOCK] = "block",
	[IRQBED_CTX_POLLED] = "polled",
};

static_assert(ARRAY_SIZE(irqbed_ctx_words) == IRQBED_NR_TIMED_CTX);

static const char *const irqbed_step_words[] = {
	[IRQBED_STEP_LOOK] = "look",
	[IRQBED_STEP_ABORT] = "abort",
	[IRQBED_STEP_UNIT] = "unit_reset",
	[IRQBED_STEP_HOST] = "host_reset",
	[IRQBED_STEP_OFFLINE] = "offline",
};

static_assert(ARRAY_SIZE(irqbed_step_words) == IRQBED_NR_STEPS);

static void irqbed_hist_print(struct seq_file *m, const char *name,
			      const struct irqbed_hist *h)
{
	const char *comma = "";

	seq_printf(m, "\n\"%s\":{\"unit\":\"ns\",\"base\":\"log2\",\"sub_bits\":%d",
		   name, IRQBED_HIST_SUB_BITS);
	seq_printf(m, ",\"count\":%llu,\"sum\":%llu,\"min\":%llu,\"max\":%llu",
		   h->count, h->sum, h->min, h->max);
	seq_printf(m, ",\"p50\":%llu,\"p90\":%llu,\"p99\":%llu,\"p999\":%llu",
		   irqbed_hist_quantile(h, 500), irqbed_hist_quantile(h, 900),
		   irqbed_hist_quantile(h, 990), irqbed_hist_quantile(h, 999));
	seq_puts(m, ",\"buckets\":[");
	for (u32 i = 0; i < IRQBED_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		seq_printf(m, "%s[%llu,%llu]", comma, irqbed_hist_lo(i),
			   h->bucket[i]);
		comma = ",";
	}
	seq_puts(m, "]}");
}

/*
 * Counted afresh, not kept: the requests in slots, those that wait to be sent
 * again, and those that blk-mq was told of.  "submitted = completed + failed +
 * in_flight" is a check of the driver only because the four come from different
 * places.
 */
static u64 irqbed_in_flight(struct irqbed_queue *q)
{
	u64 count = atomic_read(&q->waiting) + atomic_read(&q->completing);

	for (u32 i = 0; i < IRQBED_MAX_SLOTS; i++)
		count += READ_ONCE(q->cmds[i]) ? 1 : 0;
	return count;
}

/* What a set of queues has counted, and how many requests they have now. */
struct irqbed_counts {
	u64 submitted;
	u64 completed;
	u64 failed;
	u64 in_flight;
	u64 requeued;
	u64 timeouts;
	u64 recovered;
	u64 reset_completions;
	u64 unexpected;
	struct irqbed_cpu_stats cpu;
};

static void irqbed_cpu_stats_add(struct irqbed_cpu_stats *sum,
				 const struct irqbed_cpu_stats *cpu)
{
	for (u32 i = 0; i < IRQBED_NR_CTX; i++) {
		sum->ctx[i].completed += cpu->ctx[i].completed;
		sum->ctx[i].failed += cpu->ctx[i].failed;
		sum->ctx[i].requeued += cpu->ctx[i].requeued;
		sum->ctx[i].empty += cpu->ctx[i].empty;
	}
	for (u32 i = 0; i < IRQBED_NR_WHERE; i++)
		sum->ended[i] += cpu->ended[i];
	sum->redirected += cpu->redirected;
	sum->polls += cpu->polls;
}

static void irqbed_counts_add(struct irqbed_counts *c, struct irqbed_queue *q)
{
	struct irqbed_cpu_stats cpu = { };
	const struct irqbed_ctx_stats *ctx = cpu.ctx;
	int i;

	for_each_possible_cpu(i)
		irqbed_cpu_stats_add(&cpu, per_cpu_ptr(q->stats, i));
	irqbed_cpu_stats_add(&c->cpu, &cpu);
	c->submitted += q->submitted;
	c->failed += atomic64_read(&q->failed_unsent);
	for (i = 0; i < IRQBED_NR_CTX; i++) {
		c->completed += ctx[i].completed;
		c->failed += ctx[i].failed;
		c->requeued += ctx[i].requeued;
	}
	c->in_flight += irqbed_in_flight(q);
	c->timeouts += q->timeouts;
	c->recovered += ctx[IRQBED_CTX_TIMEOUT].completed +
			ctx[IRQBED_CTX_TIMEOUT].failed;
	c->reset_completions += ctx[IRQBED_CTX_RESET].completed;
	c->unexpected += atomic64_read(&q->unexpected);
}

static void irqbed_counts_print(const struct irqbed_counts *c,
				struct seq_file *m)
{
	seq_printf(m, "\"submitted\":%llu,\"completed\":%llu,\"failed\":%llu,\"in_flight\":%llu",
		   c->submitted, c->completed, c->failed, c->in_flight);
	seq_printf(m, ",\"requeued\":%llu,\"timeouts\":%llu", c->requeued,
		   c->timeouts);
	seq_printf(m, ",\n\"recovered_without_irq\":%llu,\"reset_completions\":%llu,\"unexpected\":%llu",
		   c->recovered, c->reset_completions, c->unexpected);
	for (u32 i = 0; i < ARRAY_SIZE(irqbed_ctx_words); i++) {
		const struct irqbed_ctx_stats *ctx = &c->cpu.ctx[i];

		seq_printf(m, ",\n\"%s_completions\":%llu,\"%s_empty\":%llu",
			   irqbed_ctx_words[i], ctx->completed + ctx->failed,
			   irqbed_ctx_words[i], ctx->empty);
	}
	seq_printf(m, ",\n\"ended\":{\"hardirq\":%llu,\"softirq\":%llu,\"process\":%llu},\"redirected\":%llu,\"polls\":%llu",
		   c->cpu.ended[IRQBED_WHERE_HARDIRQ],
		   c->cpu.ended[IRQBED_WHERE_SOFTIRQ],
		   c->cpu.ended[IRQBED_WHERE_PROCESS], c->cpu.redirected,
		   c->cpu.polls);
}

static void irqbed_steps_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	seq_puts(m, ",\n\"recovery\":{");
	for (u32 i = 0; i < IRQBED_NR_STEPS; i++) {
		const struct irqbed_step_stats *s = &ctrl->steps[i];

		seq_printf(m, "%s\"%s\":{\"count\":%llu,\"helped\":%llu,\"sum_ns\":%llu,\"max_ns\":%llu}",
			   i ? "," : "", irqbed_step_words[i], s->count,
			   s->helped, s->sum_ns, s->max_ns);
	}
	seq_puts(m, "}");
}

/* The sums, then each queue's own under its number. */
static void irqbed_queues_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	struct irqbed_counts sum = { };

	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_counts_add(&sum, ctrl->queues[i]);
	irqbed_counts_print(&sum, m);
	seq_printf(m, ",\n\"resets\":%llu,\"resets_failed\":%llu", ctrl->resets,
		   ctrl->resets_failed);
	irqbed_steps_print(ctrl, m);
	seq_puts(m, ",\n\"queues\":{");
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_counts c = { };

		irqbed_counts_add(&c, ctrl->queues[i]);
		seq_printf(m, "%s\n\"%u\":{\"state\":\"%s\",\"doorbells\":%llu,",
			   i ? "," : "", i,
			   irqbed_state_words[READ_ONCE(ctrl->queues[i]->state)],
			   ctrl->queues[i]->seq);
		irqbed_counts_print(&c, m);
		seq_puts(m, "}");
	}
	seq_puts(m, "}");
}

static void irqbed_irq_add(struct irqbed_irq_stats *sum,
			   const struct irqbed_irq_stats *irq)
{
	sum->irqs += irq->irqs;
	sum->none += irq->none;
	sum->in_hardirq += irq->in_hardirq;
	sum->in_thread += irq->in_thread;
	for (u32 i = 0; i < IRQBED_NR_REASONS; i++) {
		sum->handovers[i] += irq->handovers[i];
		sum->poll_pauses[i] += irq->poll_pauses[i];
	}
	sum->polls += irq->polls;
	sum->poll_calls += irq->poll_calls;
	sum->poll_done += irq->poll_done;
	for (u32 i = 0; i < IRQBED_NR_IRQ_CTX; i++)
		irqbed_hist_merge(&sum->ns[i], &irq->ns[i]);
	irqbed_hist_merge(&sum->wait_ns, &irq->wait_ns);
	if (irq->longest_seen_ns - irq->longest_left_ns >
	    sum->longest_seen_ns - sum->longest_left_ns) {
		sum->longest_left_ns = irq->longest_left_ns;
		sum->longest_seen_ns = irq->longest_seen_ns;
	}
}

static void irqbed_irq_print(const struct irqbed_irq_stats *irq,
			     struct seq_file *m)
{
	seq_printf(m, "\"irqs\":%llu,\"irqs_none\":%llu", irq->irqs, irq->none);
	seq_printf(m, ",\n\"hard_context\":{\"hardirq\":%llu,\"thread\":%llu}",
		   irq->in_hardirq, irq->in_thread);
	seq_printf(m, ",\n\"handovers\":{\"policy\":%llu,\"time\":%llu,\"count\":%llu,\"flood\":%llu}",
		   irq->handovers[IRQBED_REASON_POLICY],
		   irq->handovers[IRQBED_REASON_TIME],
		   irq->handovers[IRQBED_REASON_COUNT],
		   irq->handovers[IRQBED_REASON_FLOOD]);
	seq_printf(m, ",\n\"poll\":{\"rounds\":%llu,\"calls\":%llu,\"completions\":%llu",
		   irq->polls, irq->poll_calls, irq->poll_done);
	seq_printf(m, ",\"pauses\":{\"time\":%llu,\"count\":%llu}}",
		   irq->poll_pauses[IRQBED_REASON_TIME],
		   irq->poll_pauses[IRQBED_REASON_COUNT]);
	for (u32 i = 0; i < IRQBED_NR_IRQ_CTX; i++) {
		char name[16];

		scnprintf(name, sizeof(name), "%s_ns", irqbed_ctx_words[i]);
		seq_puts(m, ",");
		irqbed_hist_print(m, name, &irq->ns[i]);
	}
	seq_puts(m, ",");
	irqbed_hist_print(m, "handover_wait_ns", &irq->wait_ns);
	seq_printf(m, ",\n\"longest_wait\":{\"left_ns\":%llu,\"seen_ns\":%llu}",
		   irq->longest_left_ns, irq->longest_seen_ns);
}

/* How long each CPU was in which context for this controller. */
static void irqbed_times_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	seq_puts(m, ",\n\"cpu_ns\":{");
	for (u32 i = 0; i < IRQBED_NR_TIMED_CTX; i++) {
		const char *comma = "";
		int cpu;

		seq_printf(m, "%s\"%s\":[", i ? "," : "", irqbed_ctx_words[i]);
		for_each_possible_cpu(cpu) {
			seq_printf(m, "%s%llu", comma,
				   per_cpu_ptr(ctrl->cpu_times, cpu)->ns[i]);
			comma = ",";
		}
		seq_puts(m, "]");
	}
	seq_puts(m, "}");
}

/* The sums, then, when there are several, each vector's own. */
static int irqbed_vectors_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	struct irqbed_irq_stats *sum = kzalloc(sizeof(*sum), GFP_KERNEL);

	if (!sum)
		return -ENOMEM;
	for (u32 i = 0; i < ctrl->nr_vectors; i++)
		irqbed_irq_add(sum, &ctrl->vectors[i]->stats);
	if (ctrl->own)
		irqbed_irq_add(sum, &ctrl->own->stats);
	seq_puts(m, ",\n");
	irqbed_irq_print(sum, m);
	kfree(sum);
	seq_puts(m, ",\n\"vectors\":{");
	for (u32 i = 0; ctrl->nr_vectors > 1 && i < ctrl->nr_vectors; i++) {
		seq_printf(m, "%s\n\"%u\":{", i ? "," : "", i);
		irqbed_irq_print(&ctrl->vectors[i]->stats, m);
		seq_puts(m, "}");
	}
	seq_puts(m, "}");
	return 0;
}

static void irqbed_lock_print(struct irqbed_lock *lock, struct seq_file *m)
{
	irqbed_hist_print(m, "lock_hold_ns", &lock->hold_ns);
	seq_puts(m, ",");
	irqbed_hist_print(m, "lock_wait_ns", &lock->wait_ns);
}

/* The controller's lock is "host", a queue's has the queue's number. */
static void irqbed_locks_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	seq_puts(m, ",\n\"locks\":{\"host\":{");
	irqbed_lock_print(&ctrl->lock, m);
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		seq_printf(m, "},\n\"%u\":{", i);
		irqbed_lock_print(&ctrl->queues[i]->lock, m);
	}
	seq_puts(m, "}}");
}

static void irqbed_config_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	char text[32];

	seq_puts(m, ",\n\"config\":{");
	for (u32 i = 0; i < irqbed_nr_knobs; i++) {
		const struct irqbed_knob *knob = irqbed_knobs[i];
		const char *quote;

		irqbed_knob_print(knob, &ctrl->config, text, sizeof(text));
		quote = isdigit(text[0]) ? "" : "\"";
		seq_printf(m, "%s\"%s\":%s%s%s", i ? "," : "", knob->name,
			   quote, text, quote);
	}
	seq_printf(m, "},\n\"slots\":%u,\"irq_mode\":\"%s\",\"nr_vectors\":%u,\"disks\":%u",
		   ctrl->depth, irqbed_irq_mode_words[ctrl->irq_mode],
		   ctrl->nr_vectors, ctrl->nr_disks);
}

/* A controller is what the worst off of its queues is, but dead only as a whole. */
static enum irqbed_queue_state irqbed_state(struct irqbed_ctrl *ctrl)
{
	if (!irqbed_any_live(ctrl, irqbed_all_queues(ctrl)))
		return IRQBED_QUEUE_DEAD;
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		if (READ_ONCE(ctrl->queues[i]->state) == IRQBED_QUEUE_RESETTING)
			return IRQBED_QUEUE_RESETTING;
	}
	return IRQBED_QUEUE_LIVE;
}

/**
 * irqbed_stats_print() - the whole object
 * @ctrl: the controller
 * @m: where to
 *
 * Return: 0 or -ENOMEM.
 */
int irqbed_stats_print(struct irqbed_ctrl *ctrl, struct seq_file *m)
{
	int err;

	seq_puts(m, "{");
	irqbed_queues_print(ctrl, m);
	err = irqbed_vectors_print(ctrl, m);
	if (err)
		return err;
	irqbed_locks_print(ctrl, m);
	irqbed_times_print(ctrl, m);
	irqbed_config_print(ctrl, m);
	irqbed_series_print(ctrl, m);
	seq_printf(m, ",\"state\":\"%s\"}\n",
		   irqbed_state_words[irqbed_state(ctrl)]);
	return 0;
}

static void irqbed_queue_stats_reset(struct irqbed_queue *q)
{
	int cpu;

	q->submitted = 0;
	atomic64_set(&q->failed_unsent, 0);
	atomic64_set(&q->unexpected, 0);
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(q->stats, cpu), 0, sizeof(*q->stats));
	q->timeouts = 0;
	irqbed_lock_stats_reset(&q->lock);
}

/**
 * irqbed_stats_reset() - all counters and histograms to 0
 * @ctrl: the controller, with nothing in flight and its handlers through
 */
void irqbed_stats_reset(struct irqbed_ctrl *ctrl)
{
	int cpu;

	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_queue_stats_reset(ctrl->queues[i]);
	for (u32 i = 0; i < ctrl->nr_vectors; i++)
		memset(&ctrl->vectors[i]->stats, 0,
		       sizeof(ctrl->vectors[i]->stats));
	if (ctrl->own)
		memset(&ctrl->own->stats, 0, sizeof(ctrl->own->stats));
	irqbed_lock_stats_reset(&ctrl->lock);
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(ctrl->cpu_times, cpu), 0,
		       sizeof(*ctrl->cpu_times));
	irqbed_series_reset(ctrl);
	ctrl->resets = 0;
	ctrl->resets_failed = 0;
	memset(ctrl->steps, 0, sizeof(ctrl->steps));
}
