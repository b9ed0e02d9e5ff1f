// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics as one JSON object; docs/guest-driver.md says what each means.
 *
 * Exact while nothing is in flight; else the counters are read one after the
 * other while they move.
 */
#include <linux/seq_file.h>

#include "irqbed.h"

static void irqbed_hist_print(struct seq_file *m, const char *name,
			      const struct irqbed_hist *h)
{
	const char *comma = "";

	seq_printf(m, ",\n\"%s\":{\"unit\":\"ns\",\"base\":\"log2\",\"sub_bits\":%d",
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
 * Counted afresh, not kept: the requests in slots and those that wait to be
 * sent again.  "submitted = completed + failed + in_flight" is a check of the
 * driver only because the four come from different places.
 */
static u64 irqbed_in_flight(struct irqbed_queue *q)
{
	u64 count = atomic_read(&q->waiting);

	for (u32 i = 0; i < IRQBED_MAX_SLOTS; i++)
		count += READ_ONCE(q->cmds[i]) ? 1 : 0;
	return count;
}

static void irqbed_counts_print(struct irqbed_queue *q, struct seq_file *m)
{
	const struct irqbed_ctx_stats *ctx = q->ctx;
	u64 failed = atomic64_read(&q->failed_unsent);
	u64 completed = 0;
	u64 requeued = 0;

	for (u32 i = 0; i < IRQBED_NR_CTX; i++) {
		completed += ctx[i].completed;
		failed += ctx[i].failed;
		requeued += ctx[i].requeued;
	}
	seq_printf(m, "\"submitted\":%llu,\"completed\":%llu,\"failed\":%llu,\"in_flight\":%llu",
		   q->submitted, completed, failed, irqbed_in_flight(q));
	seq_printf(m, ",\n\"requeued\":%llu,\"timeouts\":%llu,\"resets\":%llu,\"resets_failed\":%llu",
		   requeued, q->recover.timeouts, q->recover.resets,
		   q->recover.resets_failed);
	seq_printf(m, ",\n\"recovered_without_irq\":%llu,\"reset_completions\":%llu,\"unexpected\":%lld",
		   ctx[IRQBED_CTX_TIMEOUT].completed +
		   ctx[IRQBED_CTX_TIMEOUT].failed,
		   ctx[IRQBED_CTX_RESET].completed,
		   atomic64_read(&q->unexpected));
	seq_printf(m, ",\n\"hard_completions\":%llu,\"thread_completions\":%llu",
		   ctx[IRQBED_CTX_HARD].completed + ctx[IRQBED_CTX_HARD].failed,
		   ctx[IRQBED_CTX_THREAD].completed +
		   ctx[IRQBED_CTX_THREAD].failed);
	seq_printf(m, ",\"hard_empty\":%llu,\"thread_empty\":%llu",
		   ctx[IRQBED_CTX_HARD].empty, ctx[IRQBED_CTX_THREAD].empty);
}

static void irqbed_irq_print(struct irqbed_queue *q, struct seq_file *m)
{
	const struct irqbed_irq_stats *irq = &q->irq;

	seq_printf(m, ",\n\"irqs\":%llu,\"irqs_none\":%llu",
		   irq->irqs, irq->none);
	seq_printf(m, ",\n\"hard_context\":{\"hardirq\":%llu,\"thread\":%llu}",
		   irq->in_hardirq, irq->in_thread);
	seq_printf(m, ",\n\"handovers\":{\"policy\":%llu,\"time\":%llu,\"count\":%llu}",
		   irq->handovers[IRQBED_REASON_POLICY],
		   irq->handovers[IRQBED_REASON_TIME],
		   irq->handovers[IRQBED_REASON_COUNT]);
	irqbed_hist_print(m, "hard_ns", &irq->hard_ns);
	irqbed_hist_print(m, "thread_ns", &irq->thread_ns);
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
	seq_printf(m, "},\n\"slots\":%u,\"irq_mode\":\"%s\",\"disks\":%u",
		   ctrl->depth, irqbed_irq_mode_words[ctrl->irq_mode],
		   ctrl->nr_disks);
}

/**
 * irqbed_stats_print() - the whole object
 * @q: the queue
 * @m: where to
 */
void irqbed_stats_print(struct irqbed_queue *q, struct seq_file *m)
{
	static const char *const states[] = {
		[IRQBED_CTRL_LIVE] = "live",
		[IRQBED_CTRL_RESETTING] = "resetting",
		[IRQBED_CTRL_DEAD] = "dead",
	};

	seq_puts(m, "{");
	irqbed_counts_print(q, m);
	irqbed_irq_print(q, m);
	irqbed_config_print(q->ctrl, m);
	seq_printf(m, ",\"state\":\"%s\"}\n", states[READ_ONCE(q->ctrl->state)]);
}

/**
 * irqbed_stats_reset() - all counters and histograms to 0
 * @q: the queue, with nothing in flight and its handlers through
 */
void irqbed_stats_reset(struct irqbed_queue *q)
{
	q->submitted = 0;
	atomic64_set(&q->failed_unsent, 0);
	atomic64_set(&q->unexpected, 0);
	memset(q->ctx, 0, sizeof(q->ctx));
	memset(&q->irq, 0, sizeof(q->irq));
	memset(&q->recover, 0, sizeof(q->recover));
}
