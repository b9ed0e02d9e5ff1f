// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt: hard handler, hand-over, thread.
 *
 * Stages G2 and G3.  Which part ends how many requests is the policy's matter
 * (policy.c); both parts do it with irqbed_reap().
 */
#include <linux/interrupt.h>
#include <linux/sched/clock.h>

#include "irqbed.h"
#include "trace.h"

/*
 * With a level-triggered line the interrupt is masked in the controller from
 * the hand-over until the thread is through: a request that finishes in
 * between leaves its status set and the line rises at the unmasking.  With
 * messages there is nothing to gain: a message that comes while the thread
 * runs finds its own hard interrupt, and the kernel runs the thread again
 * when that one hands over too.
 */
static bool irqbed_masks_for_thread(const struct irqbed_ctrl *ctrl)
{
	return ctrl->irq_mode == IRQBED_IRQ_INTX;
}

static void irqbed_count_context(struct irqbed_queue *q)
{
	if (in_hardirq())
		q->irq.in_hardirq++;
	else
		q->irq.in_thread++;
}

/*
 * Theorem of the acknowledgment: the status is cleared before the doorbell
 * is read.  A request that finishes before the clearing is seen by the read;
 * one that finishes after it sets the status anew, which is another interrupt.
 * So none is lost.  The price: one that finishes between the two is reaped
 * here and its interrupt finds nothing ("empty" in the statistics).  The other
 * way round a request could finish after the read and lose its status to the
 * clearing: that is the race.
 *
 * A policy that reaps nothing here still acknowledges here, for the same
 * reason: the thread's read comes later than this clearing.
 */
static irqreturn_t irqbed_irq_hard(int irq, void *data)
{
	struct irqbed_queue *q = data;
	struct irqbed_ctrl *ctrl = q->ctrl;
	const struct irqbed_config *config = &ctrl->config;
	u64 start_ns = local_clock();
	u32 events = ctrl->ops->ack(q);
	struct irqbed_reap_result res = { };
	struct irqbed_budget budget;
	u64 ns;

	q->irq.irqs++;
	if (!events) {
		q->irq.none++;
		return IRQ_NONE;
	}
	irqbed_count_context(q);
	if (events & IRQBED_EV_FATAL)
		irqbed_reset_schedule(ctrl);
	if (events & IRQBED_EV_DONE) {
		budget = irqbed_policy_budget(config->policy,
					      config->time_limit_ns,
					      config->max_completions);
		res = irqbed_reap(q, &budget, IRQBED_CTX_HARD, start_ns);
	}
	if (res.more && irqbed_masks_for_thread(ctrl))
		ctrl->ops->mask(q, true);
	ns = local_clock() - start_ns;
	irqbed_hist_add(&q->irq.hard_ns, ns);
	trace_irqbed_hardirq(q, &res, ns);
	if (!res.more)
		return IRQ_HANDLED;
	q->irq.handovers[res.reason]++;
	trace_irqbed_handover(q, &res, ns);
	return IRQ_WAKE_THREAD;
}

/*
 * Theorem of the hand-over: whatever a hard handler left is in the ready map
 * or finished in the hardware before it asked for the thread, and the kernel
 * runs the thread at least once from its beginning after being asked, also
 * when it is running just then.  So the thread needs no further interrupt.
 */
static irqreturn_t irqbed_irq_thread(int irq, void *data)
{
	struct irqbed_queue *q = data;
	u64 start_ns = local_clock();
	struct irqbed_reap_result res;
	u64 ns;

	res = irqbed_reap(q, &irqbed_budget_unlimited, IRQBED_CTX_THREAD,
			  start_ns);
	if (irqbed_masks_for_thread(q->ctrl))
		q->ctrl->ops->mask(q, false);
	ns = local_clock() - start_ns;
	irqbed_hist_add(&q->irq.thread_ns, ns);
	trace_irqbed_thread(q, &res, ns);
	return IRQ_HANDLED;
}

/**
 * irqbed_irq_init() - get an interrupt and its handlers
 * @ctrl: the controller, with its interrupts off
 *
 * Falls back to the line when messages are wanted but not to be had.
 *
 * Return: 0 or -errno.
 */
int irqbed_irq_init(struct irqbed_ctrl *ctrl)
{
	struct pci_dev *pdev = ctrl->pdev;
	unsigned int types = PCI_IRQ_INTX;
	int err;

	if (ctrl->config.irq_mode == IRQBED_IRQ_MSI)
		types |= PCI_IRQ_MSI;
	err = pci_alloc_irq_vectors(pdev, 1, 1, types);
	if (err < 0)
		return err;
	ctrl->irq = pci_irq_vector(pdev, 0);
	ctrl->irq_mode = pdev->msi_enabled ? IRQBED_IRQ_MSI : IRQBED_IRQ_INTX;
	/*
	 * Not IRQF_ONESHOT: the hard handler silences the controller itself,
	 * and the line may be shared with drivers that do without.
	 */
	err = request_threaded_irq(ctrl->irq, irqbed_irq_hard,
				   irqbed_irq_thread,
				   pdev->msi_enabled ? 0 : IRQF_SHARED,
				   "irqbed", &ctrl->queue);
	if (err)
		pci_free_irq_vectors(pdev);
	return err;
}

/**
 * irqbed_irq_exit() - give the interrupt back
 * @ctrl: the controller
 */
void irqbed_irq_exit(struct irqbed_ctrl *ctrl)
{
	free_irq(ctrl->irq, &ctrl->queue);
	pci_free_irq_vectors(ctrl->pdev);
}
