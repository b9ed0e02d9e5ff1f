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

/**
 * irqbed_ack() - read and clear the interrupt status of a vector's queues
 * @vec: the vector
 *
 * Under the controller's lock when the registers are several queues': the
 * handler and a timeout's look must not clear what the other has not read.
 *
 * Return: what it said.
 */
struct irqbed_events irqbed_ack(struct irqbed_vector *vec)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	struct irqbed_events events;
	unsigned long flags;

	if (is_power_of_2(vec->queues))
		return ctrl->ops->ack(vec);
	flags = irqbed_lock(&ctrl->lock);
	events = ctrl->ops->ack(vec);
	irqbed_unlock(&ctrl->lock, flags);
	return events;
}

static void irqbed_count_context(struct irqbed_vector *vec)
{
	if (in_hardirq())
		vec->stats.in_hardirq++;
	else
		vec->stats.in_thread++;
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
	struct irqbed_vector *vec = data;
	struct irqbed_ctrl *ctrl = vec->ctrl;
	const struct irqbed_config *config = &ctrl->config;
	u64 start_ns = local_clock();
	struct irqbed_events events = irqbed_ack(vec);
	struct irqbed_reap_result res = { };
	struct irqbed_budget budget;
	u64 ns;

	vec->stats.irqs++;
	if (!events.ours) {
		vec->stats.none++;
		return IRQ_NONE;
	}
	irqbed_count_context(vec);
	if (events.stuck)
		irqbed_recover_schedule(ctrl, events.stuck);
	if (events.done) {
		budget = irqbed_policy_budget(config->policy,
					      config->time_limit_ns,
					      config->max_completions);
		res = irqbed_reap(ctrl, events.done, &budget, IRQBED_CTX_HARD,
				  start_ns);
	}
	if (res.left) {
		atomic_or(res.left, &vec->left);
		if (irqbed_masks_for_thread(ctrl))
			ctrl->ops->mask(vec, true);
	}
	ns = local_clock() - start_ns;
	irqbed_hist_add(&vec->stats.hard_ns, ns);
	trace_irqbed_hardirq(vec, &res, ns);
	if (!res.left)
		return IRQ_HANDLED;
	vec->stats.handovers[res.reason]++;
	trace_irqbed_handover(vec, &res, ns);
	return IRQ_WAKE_THREAD;
}

/*
 * Theorem of the hand-over: whatever a hard handler left is in the ready map
 * or finished in the hardware, and its queue in the vector's map of queues left,
 * before it asked for the thread, and the kernel runs the thread at least once
 * from its beginning after being asked, also when it is running just then.  So
 * the thread needs no further interrupt.
 */
static irqreturn_t irqbed_irq_thread(int irq, void *data)
{
	struct irqbed_vector *vec = data;
	struct irqbed_ctrl *ctrl = vec->ctrl;
	u64 start_ns = local_clock();
	struct irqbed_reap_result res;
	u64 ns;

	res = irqbed_reap(ctrl, atomic_xchg(&vec->left, 0),
			  &irqbed_budget_unlimited, IRQBED_CTX_THREAD,
			  start_ns);
	if (irqbed_masks_for_thread(ctrl))
		ctrl->ops->mask(vec, false);
	ns = local_clock() - start_ns;
	irqbed_hist_add(&vec->stats.thread_ns, ns);
	trace_irqbed_thread(vec, &res, ns);
	return IRQ_HANDLED;
}

/* One vector for each queue, or one for all. */
static int irqbed_vectors_make(struct irqbed_ctrl *ctrl)
{
	struct pci_dev *pdev = ctrl->pdev;
	bool own = ctrl->nr_vectors == ctrl->nr_queues;

	for (u32 i = 0; i < ctrl->nr_vectors; i++) {
		struct irqbed_vector *vec = devm_kzalloc(&pdev->dev,
							 sizeof(*vec),
							 GFP_KERNEL);

		if (!vec)
			return -ENOMEM;
		vec->ctrl = ctrl;
		vec->index = i;
		vec->irq = pci_irq_vector(pdev, i);
		vec->queues = own ? BIT(i) : irqbed_all_queues(ctrl);
		ctrl->vectors[i] = vec;
	}
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		ctrl->queues[i]->vec = ctrl->vectors[own ? i : 0];
	return 0;
}

/**
 * irqbed_vectors_alloc() - get interrupt vectors and say whose they are
 * @ctrl: the controller; it has its queues
 * @count: vectors wanted: 1, or the number of queues
 *
 * Falls back to one vector when not all can be had, and to the line when
 * messages are wanted but not to be had.  Takes all messages that the device
 * offers, because some work as one when they do not get all of them.  Called
 * again, it gives back what it had.
 *
 * Return: 0 or -errno; the vectors go with the PCI device.
 */
int irqbed_vectors_alloc(struct irqbed_ctrl *ctrl, u32 count)
{
	struct pci_dev *pdev = ctrl->pdev;
	bool messages = ctrl->config.irq_mode == IRQBED_IRQ_MSI;
	int got = -ENOSPC;

	if (ctrl->nr_vectors)
		pci_free_irq_vectors(pdev);
	if (messages && count > 1)
		got = pci_alloc_irq_vectors(pdev, count,
					    max_t(int, count,
						  pci_msi_vec_count(pdev)),
					    PCI_IRQ_MSI);
	if (got < 0)
		got = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_INTX |
					    (messages ? PCI_IRQ_MSI : 0));
	if (got < 0)
		return got;
	ctrl->nr_vectors = min_t(u32, got, count);
	ctrl->irq_mode = pdev->msi_enabled ? IRQBED_IRQ_MSI : IRQBED_IRQ_INTX;
	return irqbed_vectors_make(ctrl);
}

/**
 * irqbed_irq_init() - install the handlers
 * @ctrl: the controller, with its vectors there and its interrupts off
 *
 * Return: 0 or -errno.
 */
int irqbed_irq_init(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_vectors; i++) {
		struct irqbed_vector *vec = ctrl->vectors[i];
		int err;

		/*
		 * Not IRQF_ONESHOT: the hard handler silences the controller
		 * itself, and the line may be shared with drivers that do
		 * without.
		 */
		err = request_threaded_irq(vec->irq, irqbed_irq_hard,
					   irqbed_irq_thread,
					   ctrl->irq_mode == IRQBED_IRQ_INTX ?
					   IRQF_SHARED : 0, "irqbed", vec);
		if (err) {
			while (i--)
				free_irq(ctrl->vectors[i]->irq,
					 ctrl->vectors[i]);
			return err;
		}
	}
	return 0;
}

/**
 * irqbed_irq_exit() - take the handlers away
 * @ctrl: the controller
 */
void irqbed_irq_exit(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_vectors; i++)
		free_irq(ctrl->vectors[i]->irq, ctrl->vectors[i]);
}

/**
 * irqbed_irq_mask() - all interrupts of a controller off or on
 * @ctrl: the controller
 * @off: off
 *
 * Hardware behind which everything is dead was stopped and is left alone.
 */
void irqbed_irq_mask(struct irqbed_ctrl *ctrl, bool off)
{
	for (u32 i = 0; i < ctrl->nr_vectors; i++) {
		struct irqbed_vector *vec = ctrl->vectors[i];

		if (irqbed_any_live(ctrl, vec->queues))
			ctrl->ops->mask(vec, off);
	}
}

/**
 * irqbed_irq_sync() - wait until no handler and no thread of ours is running
 * @ctrl: the controller
 */
void irqbed_irq_sync(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_vectors; i++)
		synchronize_irq(ctrl->vectors[i]->irq);
}
