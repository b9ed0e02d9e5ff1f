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
static u32 irqbed_take_all(struct irqbed_queue *q, struct request **lost)
{
	unsigned long flags;
	u32 count = 0;
	u32 slots;

	spin_lock_irqsave(&q->lock, flags);
	slots = q->outstanding | q->ready;
	q->outstanding = 0;
	q->ready = 0;
	spin_unlock_irqrestore(&q->lock, flags);
	while (slots) {
		u32 slot = __ffs(slots);

		slots &= ~BIT(slot);
		lost[count] = q->cmds[slot];
		q->cmds[slot] = NULL;
		irqbed_cmd_move(q, blk_mq_rq_to_pdu(lost[count]),
				IRQBED_CMD_ISSUED, IRQBED_CMD_LOST);
		count++;
	}
	return count;
}

static bool irqbed_restart(struct irqbed_ctrl *ctrl)
{
	struct irqbed_queue *q = &ctrl->queue;

	for (int i = 0; i < IRQBED_START_TRIES; i++) {
		int err;

		q->recover.resets++;
		ctrl->ops->stop(ctrl);
		err = ctrl->ops->start(ctrl);
		if (!err)
			return true;
		q->recover.resets_failed++;
		dev_err(&ctrl->pdev->dev, "reset %d of %d failed: %d\n",
			i + 1, IRQBED_START_TRIES, err);
		if (err == -ENODEV)
			break;
	}
	ctrl->ops->stop(ctrl);
	return false;
}

/*
 * Reset the controller, or give it up.  The order matters:
 *  1. no new requests;
 *  2. interrupts off, handler and thread through;
 *  3. what is finished is ended, also what an earlier pass left (not when
 *     the hardware is gone: its doorbell would say that everything is);
 *  4. the rest is taken, and no reaper knows of it any more;
 *  5. handler and thread are through again, for the thread of step 2 may have
 *     unmasked; only now nobody reads the slots' memory;
 *  6. the hardware stops: no DMA into the requests' pages after this;
 *  7. only then are they sent again or failed.
 */
static void irqbed_recover(struct irqbed_ctrl *ctrl, bool revive)
{
	struct request *lost[IRQBED_MAX_SLOTS];
	struct irqbed_queue *q = &ctrl->queue;
	u32 count;

	lockdep_assert_held(&ctrl->recover_mutex);
	WRITE_ONCE(ctrl->state, IRQBED_CTRL_RESETTING);
	blk_mq_quiesce_tagset(&ctrl->tag_set);
	ctrl->ops->mask(q, true);
	synchronize_irq(ctrl->irq);
	if (revive)
		irqbed_reap(q, &irqbed_budget_unlimited, IRQBED_CTX_RESET,
			    local_clock());
	count = irqbed_take_all(q, lost);
	synchronize_irq(ctrl->irq);
	if (revive && irqbed_restart(ctrl)) {
		WRITE_ONCE(ctrl->state, IRQBED_CTRL_LIVE);
	} else {
		ctrl->ops->stop(ctrl);
		WRITE_ONCE(ctrl->state, IRQBED_CTRL_DEAD);
		dev_err(&ctrl->pdev->dev, "given up: all I/O fails from now on\n");
	}
	for (u32 i = 0; i < count; i++)
		irqbed_end_lost(q, lost[i], IRQBED_CTX_RESET);
	if (!irqbed_ctrl_is_dead(ctrl))
		ctrl->ops->mask(q, false);
	blk_mq_unquiesce_tagset(&ctrl->tag_set);
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
	struct irqbed_disk *disk = rq->q->queuedata;
	struct irqbed_ctrl *ctrl = disk->ctrl;
	struct irqbed_queue *q = &ctrl->queue;
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	enum blk_eh_timer_return ret = BLK_EH_DONE;
	u64 seq = cmd->seq;

	mutex_lock(&ctrl->recover_mutex);
	q->recover.timeouts++;
	/* Another recovery may have sent it again while we waited. */
	if (!irqbed_has_slot(q, rq) || cmd->seq != seq) {
		ret = BLK_EH_RESET_TIMER;
		goto out;
	}
	if (!pci_device_is_present(ctrl->pdev)) {
		irqbed_recover(ctrl, false);
		goto out;
	}
	/*
	 * Did we miss an interrupt?  The status is acknowledged before the
	 * doorbell is read, as in the handler and for its reason; also, a
	 * status that stays set would let no further interrupt through.
	 */
	ctrl->ops->ack(q);
	irqbed_reap(q, &irqbed_budget_unlimited, IRQBED_CTX_TIMEOUT,
		    local_clock());
	if (!irqbed_has_slot(q, rq) || cmd->seq != seq)
		goto out;
	if (!(READ_ONCE(q->outstanding) & BIT(rq->tag))) {
		/* The handler or the thread has it in hand this moment. */
		ret = BLK_EH_RESET_TIMER;
		goto out;
	}
	dev_warn(&ctrl->pdev->dev, "slot %d (seq %llu) timed out: reset\n",
		 rq->tag, seq);
	irqbed_recover(ctrl, true);
out:
	mutex_unlock(&ctrl->recover_mutex);
	return ret;
}

/**
 * irqbed_reset_work() - reset after the controller reported a fatal error
 * @work: reset_work of the controller
 */
void irqbed_reset_work(struct work_struct *work)
{
	struct irqbed_ctrl *ctrl = container_of(work, struct irqbed_ctrl,
						reset_work);

	mutex_lock(&ctrl->recover_mutex);
	if (ctrl->state == IRQBED_CTRL_LIVE) {
		dev_err(&ctrl->pdev->dev, "fatal error: reset\n");
		irqbed_recover(ctrl, true);
	}
	mutex_unlock(&ctrl->recover_mutex);
}

/**
 * irqbed_reset_schedule() - ask for a reset
 * @ctrl: the controller
 *
 * Any context.
 */
void irqbed_reset_schedule(struct irqbed_ctrl *ctrl)
{
	if (READ_ONCE(ctrl->state) == IRQBED_CTRL_LIVE)
		queue_work(system_long_wq, &ctrl->reset_work);
}

/**
 * irqbed_kill() - the hardware is gone: fail everything, now and later
 * @ctrl: the controller
 */
void irqbed_kill(struct irqbed_ctrl *ctrl)
{
	mutex_lock(&ctrl->recover_mutex);
	if (ctrl->state != IRQBED_CTRL_DEAD)
		irqbed_recover(ctrl, false);
	mutex_unlock(&ctrl->recover_mutex);
}
