// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts and resets: every request ends exactly once, whatever the hardware
 * does.
 *
 * A timeout looks first: the request may be finished and only its interrupt
 * be missing.  If it is not, the controller is reset and what was in flight is
 * sent again, or failed when that has been tried often enough.
 *
 * One recovery at a time (ctrl->recover_mutex); process context.
 */
#include <linux/interrupt.h>
#include <linux/sched/clock.h>

#include "irqbed.h"

#define IRQBED_START_TRIES	3

static bool irqbed_has_slot(const struct irqbed_queue *q,
			    const struct request *rq)
{
	return rq->tag >= 0 && READ_ONCE(q->cmds[rq->tag]) == rq;
}

/*
 * Take everything that the hardware owns.  From here on a reaper finds no
 * outstanding slot, so a doorbell that reads as empty because the controller
 * was disabled finishes nothing, nor does a message that arrives late.
 */
static void irqbed_take_all(struct irqbed_queue *q)
{
	struct irqbed_lock *lock = irqbed_queue_lock(q);
	unsigned long flags = irqbed_lock(lock);
	u32 slots;

	slots = q->outstanding | q->ready;
	q->outstanding = 0;
	q->ready = 0;
	irqbed_unlock(lock, flags);
	q->lost_slots = slots;
	while (slots) {
		u32 slot = __ffs(slots);
		struct request *rq = q->cmds[slot];

		slots &= ~BIT(slot);
		q->lost[slot] = rq;
		q->cmds[slot] = NULL;
		irqbed_cmd_move(q, blk_mq_rq_to_pdu(rq), IRQBED_CMD_ISSUED,
				IRQBED_CMD_LOST);
	}
}

static bool irqbed_restart(struct irqbed_ctrl *ctrl)
{
	for (int i = 0; i < IRQBED_START_TRIES; i++) {
		int err;

		ctrl->resets++;
		ctrl->ops->stop(ctrl);
		err = ctrl->ops->start(ctrl);
		if (!err)
			return true;
		ctrl->resets_failed++;
		dev_err(&ctrl->pdev->dev, "reset %d of %d failed: %d\n",
			i + 1, IRQBED_START_TRIES, err);
		if (err == -ENODEV)
			break;
	}
	ctrl->ops->stop(ctrl);
	return false;
}

/**
 * irqbed_any_live() - is one of these queues not dead?
 * @ctrl: the controller
 * @queues: map of the queues
 *
 * Return: true when there is one.
 */
bool irqbed_any_live(struct irqbed_ctrl *ctrl, u32 queues)
{
	while (queues) {
		if (!irqbed_queue_is_dead(irqbed_next_queue(ctrl, &queues)))
			return true;
	}
	return false;
}

static void irqbed_set_state(struct irqbed_ctrl *ctrl,
			     enum irqbed_queue_state state)
{
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		WRITE_ONCE(ctrl->queues[i]->state, state);
}

static void irqbed_quiesce(struct irqbed_ctrl *ctrl, bool on)
{
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_queue *q = ctrl->queues[i];

		if (q->set != &q->tag_set)
			continue;
		if (on)
			blk_mq_quiesce_tagset(q->set);
		else
			blk_mq_unquiesce_tagset(q->set);
	}
}

/*
 * Reset the controller, or give it up.  The order matters:
 *  1. no new requests;
 *  2. interrupts off, handlers and threads through;
 *  3. what is finished is ended, also what an earlier pass left (not when
 *     the hardware is gone: its doorbell would say that everything is);
 *  4. the rest is taken, and no reaper knows of it any more;
 *  5. handlers and threads are through again, for a thread of step 2 may have
 *     unmasked; only now nobody reads the slots' memory;
 *  6. the hardware stops: no DMA into the requests' pages after this;
 *  7. only then are they sent again or failed.
 */
static void irqbed_recover(struct irqbed_ctrl *ctrl, bool revive)
{
	lockdep_assert_held(&ctrl->recover_mutex);
	irqbed_set_state(ctrl, IRQBED_QUEUE_RESETTING);
	irqbed_quiesce(ctrl, true);
	irqbed_irq_mask(ctrl, true);
	irqbed_irq_sync(ctrl);
	if (revive)
		irqbed_reap(ctrl, irqbed_all_queues(ctrl),
			    &irqbed_budget_unlimited, IRQBED_CTX_RESET,
			    local_clock());
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_take_all(ctrl->queues[i]);
	irqbed_irq_sync(ctrl);
	atomic_set(&ctrl->stuck, 0);
	if (revive && irqbed_restart(ctrl)) {
		irqbed_set_state(ctrl, IRQBED_QUEUE_LIVE);
	} else {
		ctrl->ops->stop(ctrl);
		irqbed_set_state(ctrl, IRQBED_QUEUE_DEAD);
		dev_err(&ctrl->pdev->dev, "given up: all I/O fails from now on\n");
	}
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_end_lost(ctrl->queues[i]);
	irqbed_irq_mask(ctrl, false);
	irqbed_quiesce(ctrl, false);
}

/*
 * Did we miss an interrupt?  The status is acknowledged before the doorbell is
 * read, as in the handler and for its reason; also, a status that stays set
 * would let no further interrupt through.  What was acknowledged for other
 * queues is looked after here, too.
 */
static void irqbed_look(struct irqbed_queue *q)
{
	struct irqbed_ctrl *ctrl = q->ctrl;
	struct irqbed_events events = irqbed_ack(q->vec);

	if (events.stuck)
		irqbed_recover_schedule(ctrl, events.stuck);
	irqbed_reap(ctrl, events.done | BIT(q->index),
		    &irqbed_budget_unlimited, IRQBED_CTX_TIMEOUT,
		    local_clock());
}

/**
 * irqbed_timeout() - blk-mq says that a request is too old
 * @rq: the request; blk-mq holds it, so its tag is not used again meanwhile
 *	unless it goes through the requeue list
 *
 * Return: BLK_EH_DONE when the request was ended or sent again here, or
 * BLK_EH_RESET_TIMER when somebody else is about to end it.
 */
enum blk_eh_timer_return irqbed_timeout(struct request *rq)
{
	struct irqbed_queue *q = irqbed_rq_queue(rq);
	struct irqbed_ctrl *ctrl = q->ctrl;
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	enum blk_eh_timer_return ret = BLK_EH_DONE;
	u64 seq = cmd->seq;

	mutex_lock(&ctrl->recover_mutex);
	q->timeouts++;
	/* Another recovery may have sent it again while we waited. */
	if (!irqbed_has_slot(q, rq) || cmd->seq != seq) {
		ret = BLK_EH_RESET_TIMER;
		goto out;
	}
	if (!pci_device_is_present(ctrl->pdev)) {
		irqbed_recover(ctrl, false);
		goto out;
	}
	irqbed_look(q);
	if (!irqbed_has_slot(q, rq) || cmd->seq != seq)
		goto out;
	if (!(READ_ONCE(q->outstanding) & BIT(rq->tag))) {
		/* The handler or the thread has it in hand this moment. */
		ret = BLK_EH_RESET_TIMER;
		goto out;
	}
	dev_warn(&ctrl->pdev->dev, "queue %u, slot %d (seq %llu) timed out: reset\n",
		 q->index, rq->tag, seq);
	irqbed_recover(ctrl, true);
out:
	mutex_unlock(&ctrl->recover_mutex);
	return ret;
}

/**
 * irqbed_recover_work() - recover queues after an interrupt reported trouble
 * @work: recover_work of the controller
 */
void irqbed_recover_work(struct work_struct *work)
{
	struct irqbed_ctrl *ctrl = container_of(work, struct irqbed_ctrl,
						recover_work);
	u32 queues;

	mutex_lock(&ctrl->recover_mutex);
	queues = atomic_xchg(&ctrl->stuck, 0);
	if (irqbed_any_live(ctrl, queues)) {
		dev_err(&ctrl->pdev->dev, "fatal error: reset\n");
		irqbed_recover(ctrl, true);
	}
	mutex_unlock(&ctrl->recover_mutex);
}

/**
 * irqbed_recover_schedule() - ask for a recovery
 * @ctrl: the controller
 * @queues: map of the queues in need of it
 *
 * Any context.
 */
void irqbed_recover_schedule(struct irqbed_ctrl *ctrl, u32 queues)
{
	atomic_or(queues, &ctrl->stuck);
	queue_work(system_long_wq, &ctrl->recover_work);
}

/**
 * irqbed_kill() - the hardware is gone: fail everything, now and later
 * @ctrl: the controller
 */
void irqbed_kill(struct irqbed_ctrl *ctrl)
{
	mutex_lock(&ctrl->recover_mutex);
	if (irqbed_any_live(ctrl, irqbed_all_queues(ctrl)))
		irqbed_recover(ctrl, false);
	mutex_unlock(&ctrl->recover_mutex);
}
