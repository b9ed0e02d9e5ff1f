// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt: vectors and their hard handler.
 *
 * Stage G2.  How many requests it ends is the policy's matter (policy.c); what
 * it leaves is rest.c's.
 */
#include <linux/interrupt.h>
#include <linux/sched/clock.h>

#include "irqbed.h"
#include "trace.h"
#include "trend.h"

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
 * reason: the read of whoever does it comes later than this clearing.
 *
 * While the vector is masked nothing can be ours, whatever a driver that shares
 * the line makes us look for, or a message that was on its way.
 */
static irqreturn_t irqbed_irq_hard(int irq, void *data)
{
	struct irqbed_vector *vec = data;
	struct irqbed_ctrl *ctrl = vec->ctrl;
	const struct irqbed_config *config = &ctrl->config;
	u64 start_ns = local_clock();
	struct irqbed_events events = { };
	struct irqbed_reap_result res = { };
	struct irqbed_budget budget;
	irqreturn_t ret = IRQ_HANDLED;
	u64 ns;

	if (!READ_ONCE(vec->masked))
		events = irqbed_ack(vec);
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
					      config->max_completions,
					      irqbed_cpu_is_flooded(ctrl,
								    start_ns));
		res = irqbed_reap(ctrl, events.done, &budget, IRQBED_CTX_HARD,
				  start_ns);
	}
	if (res.left) {
		irqbed_leave(vec, res.left);
		vec->stats.handovers[res.reason]++;
		ret = irqbed_hand_over(vec);
	}
	ns = irqbed_account(vec, IRQBED_CTX_HARD, start_ns);
	trace_irqbed_hardirq(vec, &res, ns);
	if (res.left)
		trace_irqbed_handover(vec, &res, ns);
	if (irqbed_has_series(ctrl))
		irqbed_series_irq(ctrl, res.left);
	/* As a driver that looks for work, and forgets to acknowledge. */
	if (config->keep_status && !res.left && !res.done)
		return IRQ_NONE;
	return ret;
}

/*
 * The controller's own interrupt, where each queue has one: no requests, only
 * trouble.
 */
static irqreturn_t irqbed_irq_trouble(int irq, void *data)
{
	struct irqbed_vector *vec = data;
	struct irqbed_events events = { };

	if (!READ_ONCE(vec->masked))
		events = irqbed_ack(vec);
	vec->stats.irqs++;
	if (!events.ours) {
		vec->stats.none++;
		return IRQ_NONE;
	}
	irqbed_count_context(vec);
	if (events.stuck)
		irqbed_recover_schedule(vec->ctrl, events.stuck);
	return IRQ_HANDLED;
}

/* The vector of a message; NULL: no memory. */
static struct irqbed_vector *irqbed_vector_make(struct irqbed_ctrl *ctrl,
						u32 message, u32 queues)
{
	struct irqbed_vector *vec = devm_kzalloc(&ctrl->pdev->dev, sizeof(*vec),
						 GFP_KERNEL);

	if (!vec)
		return NULL;
	vec->ctrl = ctrl;
	vec->irq = pci_irq_vector(ctrl->pdev, message);
	vec->queues = queues;
	vec->masked = true;
	irqbed_rest_init(vec);
	return vec;
}

/*
 * One vector for each queue, from message @first on, and one for the controller
 * when there are messages before that; or one for all.
 */
static int irqbed_vectors_make(struct irqbed_ctrl *ctrl, u32 first)
{
	bool own = ctrl->nr_vectors == ctrl->nr_queues;

	for (u32 i = 0; i < ctrl->nr_vectors; i++) {
		struct irqbed_vector *vec;

		vec = irqbed_vector_make(ctrl, first + i, own ? BIT(i) :
					 irqbed_all_queues(ctrl));
		if (!vec)
			return -ENOMEM;
		vec->index = i;
		ctrl->vectors[i] = vec;
	}
	if (first) {
		ctrl->own = irqbed_vector_make(ctrl, first - 1, 0);
		if (!ctrl->own)
			return -ENOMEM;
	}
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		ctrl->queues[i]->vec = ctrl->vectors[own ? i : 0];
	return 0;
}

/* With MSI-X the queues' vectors are spread over the CPUs. */
static bool irqbed_msix_alloc(struct irqbed_ctrl *ctrl, u32 count)
{
	struct irq_affinity spread = {
		.pre_vectors = ctrl->ops->first_message,
	};
	int want = count + spread.pre_vectors;

	if (pci_alloc_irq_vectors_affinity(ctrl->pdev, want, want, PCI_IRQ_MSIX |
					   PCI_IRQ_AFFINITY, &spread) < 0)
		return false;
	ctrl->nr_vectors = count;
	ctrl->irq_mode = IRQBED_IRQ_MSI;
	return true;
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
	if (messages && count > 1 && irqbed_msix_alloc(ctrl, count))
		return irqbed_vectors_make(ctrl, ctrl->ops->first_message);
	if (messages && count > 1)
		got = pci_alloc_irq_vectors(pdev, count,
					    max_t(int, count,
						  pci_msi_vec_count(pdev)),
					    PCI_IRQ_MSI);
	if (got < 0)
		got = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_INTX |
					    (messages ? PCI_IRQ_MSI |
					     PCI_IRQ_MSIX : 0));
	if (got < 0)
		return got;
	ctrl->nr_vectors = min_t(u32, got, count);
	ctrl->irq_mode = pci_dev_msi_enabled(pdev) ? IRQBED_IRQ_MSI :
						     IRQBED_IRQ_INTX;
	return irqbed_vectors_make(ctrl, 0);
}

/* The first @count vectors' handlers go, and the controller's own. */
static void irqbed_irq_free(struct irqbed_ctrl *ctrl, u32 count)
{
	while (count--)
		free_irq(ctrl->vectors[count]->irq, ctrl->vectors[count]);
	if (ctrl->own)
		free_irq(ctrl->own->irq, ctrl->own);
}

/**
 * irqbed_irq_init() - install the handlers
 * @ctrl: the controller, with its vectors there and its interrupts off
 *
 * Return: 0 or -errno.
 */
int irqbed_irq_init(struct irqbed_ctrl *ctrl)
{
	if (ctrl->own) {
		int err = request_irq(ctrl->own->irq, irqbed_irq_trouble, 0,
				      "irqbed-trouble", ctrl->own);

		if (err)
			return err;
	}
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
			irqbed_irq_free(ctrl, i);
			return err;
		}
	}
	return 0;
}

/**
 * irqbed_vector_mask() - a vector's interrupts off or on
 * @vec: the vector
 * @off: off
 */
void irqbed_vector_mask(struct irqbed_vector *vec, bool off)
{
	spinlock_t *lock = &vec->ctrl->mask_lock;
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	WRITE_ONCE(vec->masked, off);
	vec->ctrl->ops->mask(vec, off);
	spin_unlock_irqrestore(lock, flags);
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
			irqbed_vector_mask(vec, off);
	}
	if (ctrl->own && irqbed_any_live(ctrl, irqbed_all_queues(ctrl)))
		irqbed_vector_mask(ctrl->own, off);
}

/**
 * irqbed_irq_sync() - wait until no handler is running, nor what it handed to
 * @ctrl: the controller
 *
 * Nor anybody who polls.
 */
void irqbed_irq_sync(struct irqbed_ctrl *ctrl)
{
	if (irqbed_polls(ctrl))
		synchronize_rcu();
	for (u32 i = 0; i < ctrl->nr_vectors; i++) {
		synchronize_irq(ctrl->vectors[i]->irq);
		irqbed_rest_sync(ctrl->vectors[i]);
	}
	if (ctrl->own)
		synchronize_irq(ctrl->own->irq);
}

/**
 * irqbed_irq_exit() - take the handlers away
 * @ctrl: the controller, with nothing in flight and its interrupts off
 */
void irqbed_irq_exit(struct irqbed_ctrl *ctrl)
{
	/* What was handed over may unmask when it is through. */
	irqbed_irq_sync(ctrl);
	irqbed_irq_mask(ctrl, true);
	/* Of the last requests, blk-mq's softirq may be on its way out. */
	synchronize_rcu();
	irqbed_irq_free(ctrl, ctrl->nr_vectors);
}
