// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy polled: whoever waits for a request looks whether it is finished,
 * and no interrupt tells him.
 *
 * Stages G1 (does it need an interrupt?) and G3.  blk-mq knows requests that
 * their submitter polls for by a flag (REQ_POLLED, of io_uring with
 * IORING_SETUP_IOPOLL), and gives them hardware queues of their own: a further
 * one on the same slots, or, of several, all but the first.  A queue is quiet
 * while it has no other requests: those are told by interrupts as ever.
 *
 * When it stops being quiet, the status of what was polled for may be set, so
 * the first interrupt may find nothing.  To clear it before would take the
 * status of other queues behind the same register, too.
 */
#include <linux/blk-mq-pci.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>

#include "irqbed.h"
#include "trace.h"

/* Queues that share a tag set. */
static u32 irqbed_set_queues(const struct irqbed_ctrl *ctrl)
{
	return ctrl->ops->queues_per_set ?: ctrl->nr_queues;
}

/**
 * irqbed_hctx_count() - hardware queues that blk-mq has to know of
 * @ctrl: the controller
 *
 * Return: their number, for each tag set.
 */
u32 irqbed_hctx_count(const struct irqbed_ctrl *ctrl)
{
	u32 queues = irqbed_set_queues(ctrl);

	return queues + (queues == 1 && irqbed_polls(ctrl));
}

/**
 * irqbed_init_hctx() - say which queue is behind a hardware queue
 * @hctx: the hardware queue
 * @data: the first queue of the tag set
 * @hctx_idx: its number in the tag set
 *
 * Return: 0.
 */
int irqbed_init_hctx(struct blk_mq_hw_ctx *hctx, void *data,
		     unsigned int hctx_idx)
{
	struct irqbed_queue *first = data;
	u32 last = irqbed_set_queues(first->ctrl) - 1;

	hctx->driver_data = first->ctrl->queues[first->index +
						min(hctx_idx, last)];
	return 0;
}

/**
 * irqbed_map_queues() - which CPU uses which hardware queue
 * @set: the tag set
 */
void irqbed_map_queues(struct blk_mq_tag_set *set)
{
	struct blk_mq_queue_map *usual = &set->map[HCTX_TYPE_DEFAULT];
	struct blk_mq_queue_map *polled = &set->map[HCTX_TYPE_POLL];
	struct irqbed_queue *first = set->driver_data;
	struct irqbed_ctrl *ctrl = first->ctrl;

	usual->nr_queues = irqbed_polls(ctrl) ? 1 : set->nr_hw_queues;
	set->map[HCTX_TYPE_READ].nr_queues = 0;
	polled->queue_offset = usual->nr_queues;
	polled->nr_queues = set->nr_hw_queues - usual->nr_queues;
	if (ctrl->pdev->msix_enabled && ctrl->nr_vectors > 1)
		blk_mq_pci_map_queues(usual, ctrl->pdev,
				      ctrl->ops->first_message);
	else
		blk_mq_map_queues(usual);
	if (polled->nr_queues)
		blk_mq_map_queues(polled);
}

static void irqbed_irq_need_locked(struct irqbed_queue *q, int more)
{
	struct irqbed_ctrl *ctrl = q->ctrl;
	bool quiet;

	q->needing += more;
	quiet = irqbed_polls(ctrl) && !q->needing;
	if (quiet == q->quiet)
		return;
	q->quiet = quiet;
	if (!q->vec->masked && !irqbed_queue_is_dead(q))
		ctrl->ops->mask(q->vec, false);
}

static void irqbed_irq_change(struct irqbed_queue *q, int more)
{
	unsigned long flags;

	spin_lock_irqsave(&q->ctrl->mask_lock, flags);
	irqbed_irq_need_locked(q, more);
	spin_unlock_irqrestore(&q->ctrl->mask_lock, flags);
}

/**
 * irqbed_irq_need() - the queue has to interrupt when requests have finished
 * @q: the queue
 *
 * Until irqbed_irq_unneed() is called as often.  Any context, without the
 * queue's lock.
 */
void irqbed_irq_need(struct irqbed_queue *q)
{
	irqbed_irq_change(q, 1);
}

/**
 * irqbed_irq_unneed() - one reason less for that
 * @q: the queue
 */
void irqbed_irq_unneed(struct irqbed_queue *q)
{
	irqbed_irq_change(q, -1);
}

/**
 * irqbed_irqs_need() - irqbed_irq_need() for all queues
 * @ctrl: the controller
 */
void irqbed_irqs_need(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_irq_need(ctrl->queues[i]);
}

/**
 * irqbed_irqs_unneed() - irqbed_irq_unneed() for all queues
 * @ctrl: the controller
 */
void irqbed_irqs_unneed(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_irq_unneed(ctrl->queues[i]);
}

/**
 * irqbed_mq_poll() - somebody waits: look at the queue
 * @hctx: the hardware queue of his request
 * @iob: not used: each request is ended where it is found
 *
 * Process context.  A recovery waits for the end of the read-side section,
 * see irqbed_irq_sync().
 *
 * Return: requests that were ended.
 */
int irqbed_mq_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct irqbed_queue *q = hctx->driver_data;
	struct irqbed_reap_result res;
	u64 start_ns, ns;

	this_cpu_inc(q->stats->polls);
	if (!READ_ONCE(q->outstanding) && !READ_ONCE(q->ready))
		return 0;
	start_ns = local_clock();
	rcu_read_lock();
	res = irqbed_reap(q->ctrl, BIT(q->index), &irqbed_budget_unlimited,
			  IRQBED_CTX_POLLED, start_ns);
	rcu_read_unlock();
	ns = local_clock() - start_ns;
	this_cpu_add(q->ctrl->cpu_times->ns[IRQBED_CTX_POLLED], ns);
	if (res.done)
		trace_irqbed_polled(q->vec, &res, ns);
	return res.done;
}
