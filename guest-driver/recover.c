// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeouts and resets: every request ends exactly once, whatever the hardware
 * does.
 *
 * A timeout looks first: the request may be finished and only its interrupt
 * be missing.  If it is not, the hardware is asked to give it up; if it does not,
 * its port or the controller is reset, and what was in flight is sent again, or
 * failed when that has been tried often enough.  enum irqbed_step has the steps.
 *
 * One recovery at a time (ctrl->recover_mutex); process context.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/sched/clock.h>

#include "irqbed.h"

#define IRQBED_START_TRIES	5
/* Before the second one; each time twice as long.  A link may be down for a while. */
#define IRQBED_START_WAIT_MS	50
#define IRQBED_BACK_POLL_US	100
#define IRQBED_BACK_LIMIT_US	10000

/* Recoveries begin and end here; in between irqbed_doubts(). */
static void irqbed_recovery_begin(struct irqbed_ctrl *ctrl)
{
	mutex_lock(&ctrl->recover_mutex);
	WRITE_ONCE(ctrl->recovering, true);
}

static void irqbed_recovery_end(struct irqbed_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->recovering, false);
	mutex_unlock(&ctrl->recover_mutex);
}

static void irqbed_step_done(struct irqbed_ctrl *ctrl, enum irqbed_step step,
			     u64 start_ns, bool helped)
{
	struct irqbed_step_stats *s = &ctrl->steps[step];
	u64 ns = local_clock() - start_ns;

	lockdep_assert_held(&ctrl->recover_mutex);
	s->count++;
	s->helped += helped;
	s->sum_ns += ns;
	s->max_ns = max(s->max_ns, ns);
}

static bool irqbed_has_slot(const struct irqbed_queue *q,
			    const struct request *rq)
{
	return rq->tag >= 0 && READ_ONCE(q->cmds[rq->tag]) == rq;
}

/* The caller has taken these slots out of the maps. */
static void irqbed_lose(struct irqbed_queue *q, u32 slots)
{
	q->lost_slots |= slots;
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

/*
 * Take everything that the hardware owns.  From here on a reaper finds no
 * outstanding slot, so a doorbell that reads as empty because the hardware was
 * stopped finishes nothing, nor does a message that arrives late.
 */
static void irqbed_take_all(struct irqbed_queue *q)
{
	struct irqbed_lock *lock = irqbed_queue_lock(q);
	unsigned long flags = irqbed_lock(lock);
	u32 slots;

	slots = q->outstanding | q->ready;
	q->outstanding = 0;
	q->ready = 0;
	q->alone &= ~slots;
	irqbed_unlock(lock, flags);
	irqbed_lose(q, slots);
}

/* What is held goes to the hardware now, or is lost, too. */
static void irqbed_settle_held(struct irqbed_queue *q)
{
	struct irqbed_lock *lock = irqbed_queue_lock(q);
	unsigned long flags = irqbed_lock(lock);
	u32 slots = 0;

	if (irqbed_queue_is_dead(q)) {
		slots = q->held;
		q->held = 0;
		q->alone = 0;
	} else if (q->held && !q->outstanding) {
		irqbed_advance_locked(q, false);
	}
	irqbed_unlock(lock, flags);
	irqbed_lose(q, slots);
}

/*
 * Of a queue, or of all; 0, or -errno when the hardware does not come back, -EBUSY
 * when a queue cannot alone.
 */
static int irqbed_restart(struct irqbed_ctrl *ctrl, struct irqbed_queue *q)
{
	int err = 0;

	for (int i = 0; i < IRQBED_START_TRIES; i++) {
		if (i)
			msleep(IRQBED_START_WAIT_MS << (i - 1));
		ctrl->resets++;
		ctrl->ops->stop(ctrl, q);
		err = ctrl->ops->start(ctrl, q);
		if (!err || err == -ENODEV || (q && err == -EBUSY))
			return err;
		ctrl->resets_failed++;
		dev_err(&ctrl->pdev->dev, "reset %d of %d failed: %d\n",
			i + 1, IRQBED_START_TRIES, err);
	}
	return err;
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

/* From one state to another; queues in any third one keep it. */
static void irqbed_move(struct irqbed_ctrl *ctrl, u32 queues,
			enum irqbed_queue_state from,
			enum irqbed_queue_state to)
{
	while (queues) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);

		if (q->state == from)
			WRITE_ONCE(q->state, to);
	}
}

static void irqbed_quiesce(struct irqbed_ctrl *ctrl, u32 queues, bool on)
{
	while (queues) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);

		if (q->set != &q->tag_set)
			continue;
		if (on)
			blk_mq_quiesce_tagset(q->set);
		else
			blk_mq_unquiesce_tagset(q->set);
	}
}

/* Steps 1 to 5 of irqbed_recover(). */
static void irqbed_take_over(struct irqbed_ctrl *ctrl, u32 queues, bool all,
			     enum irqbed_level level)
{
	u32 rest = queues;

	irqbed_move(ctrl, queues, IRQBED_QUEUE_LIVE, IRQBED_QUEUE_RESETTING);
	irqbed_quiesce(ctrl, queues, true);
	if (all)
		irqbed_irq_mask(ctrl, true);
	irqbed_irq_sync(ctrl);
	if (level != IRQBED_LEVEL_NONE)
		irqbed_reap(ctrl, queues, &irqbed_budget_unlimited,
			    IRQBED_CTX_RESET, local_clock());
	while (rest)
		irqbed_take_all(irqbed_next_queue(ctrl, &rest));
	irqbed_irq_sync(ctrl);
	atomic_andnot(queues, &ctrl->stuck);
}

/*
 * Reset a queue, or the whole controller (@q is NULL), or give it up.  The
 * order matters:
 *  1. no new requests;
 *  2. interrupts off, if they are not other queues', too; handlers and threads
 *     through;
 *  3. what is finished is ended, also what an earlier pass left (not when
 *     the hardware is gone: its doorbell would say that everything is);
 *  4. the rest is taken, and no reaper knows of it any more;
 *  5. handlers and threads are through again, for a thread of step 2 may have
 *     unmasked; only now nobody reads the slots' memory;
 *  6. the hardware stops: no DMA into the requests' pages after this;
 *  7. only then are they sent again or failed.
 * A queue that does not come back alone takes the whole controller with it,
 * unless there is nothing behind it any more.
 */
static void irqbed_recover(struct irqbed_ctrl *ctrl, struct irqbed_queue *q,
			   enum irqbed_level level)
{
	const u32 queues = q ? BIT(q->index) : irqbed_all_queues(ctrl);
	u64 start_ns = local_clock();
	int err = -EIO;

	lockdep_assert_held(&ctrl->recover_mutex);
	irqbed_take_over(ctrl, queues, !q, level);
	if (level != IRQBED_LEVEL_NONE) {
		err = irqbed_restart(ctrl, q);
		irqbed_step_done(ctrl, q ? IRQBED_STEP_UNIT : IRQBED_STEP_HOST,
				 start_ns, !err);
		start_ns = local_clock();
	}
	if (err && err != -ENODEV && level == IRQBED_LEVEL_QUEUE) {
		irqbed_recover(ctrl, NULL, IRQBED_LEVEL_CTRL);
		goto out;
	}
	if (err == -ENODEV && q)
		irqbed_plug_schedule(ctrl, queues);
	if (err) {
		ctrl->ops->stop(ctrl, q);
		irqbed_move(ctrl, queues, IRQBED_QUEUE_RESETTING,
			    IRQBED_QUEUE_DEAD);
		dev_err(&ctrl->pdev->dev, "queues 0x%x given up: all their I/O fails from now on\n",
			queues);
	}
	irqbed_move(ctrl, queues, IRQBED_QUEUE_RESETTING, IRQBED_QUEUE_LIVE);
	for (u32 rest = queues; rest; ) {
		struct irqbed_queue *one = irqbed_next_queue(ctrl, &rest);

		irqbed_settle_held(one);
		irqbed_end_lost(one);
	}
	if (!q)
		irqbed_irq_mask(ctrl, false);
	if (err)
		irqbed_step_done(ctrl, IRQBED_STEP_OFFLINE, start_ns, true);
out:
	irqbed_quiesce(ctrl, queues, false);
}

/* The queue alone where that can be, at this level; else the controller. */
static void irqbed_recover_queue(struct irqbed_queue *q,
				 enum irqbed_level level)
{
	struct irqbed_ctrl *ctrl = q->ctrl;

	if (level == IRQBED_LEVEL_QUEUE && !ctrl->ops->recovers_alone)
		level = IRQBED_LEVEL_CTRL;
	irqbed_recover(ctrl, level == IRQBED_LEVEL_CTRL ? NULL : q, level);
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

/* Does the hardware still have it, in this very attempt? */
static bool irqbed_is_out(const struct irqbed_queue *q, struct request *rq,
			  u64 seq)
{
	const struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	return irqbed_has_slot(q, rq) && cmd->seq == seq &&
	       READ_ONCE(q->outstanding) & BIT(rq->tag);
}

static bool irqbed_is_back(struct irqbed_queue *q, struct request *rq, u64 seq)
{
	irqbed_reap(q->ctrl, irqbed_all_queues(q->ctrl),
		    &irqbed_budget_unlimited, IRQBED_CTX_RESET, local_clock());
	return !irqbed_is_out(q, rq, seq);
}

/*
 * Have it given up, alone or with all of its unit.  What is given up is a
 * finished slot, and is to be sent again; all queues may have such.
 *
 * Return: whether that helped.
 */
static bool irqbed_take_back(struct irqbed_queue *q, struct request *rq, u64 seq)
{
	struct irqbed_ctrl *ctrl = q->ctrl;

	if (!ctrl->ops->give_up)
		return false;
	for (u32 step = IRQBED_STEP_ABORT; step <= IRQBED_STEP_UNIT; step++) {
		u64 start_ns = local_clock();
		bool helped = false;

		if (!ctrl->ops->give_up(q, rq, step))
			read_poll_timeout(irqbed_is_back, helped, helped,
					  IRQBED_BACK_POLL_US,
					  IRQBED_BACK_LIMIT_US, false, q, rq,
					  seq);
		irqbed_step_done(ctrl, step, start_ns, helped);
		if (helped)
			return true;
	}
	return false;
}

/*
 * What helps against a request that does not come back: its queue is reset;
 * when that was not followed by a single success, the controller; and when that
 * was not either, nothing does.
 */
static enum irqbed_level irqbed_timeout_level(struct irqbed_queue *q)
{
	if (!q->ctrl->ops->recovers_alone)
		return IRQBED_LEVEL_CTRL;
	switch (q->barren++) {
	case 0:
		return IRQBED_LEVEL_QUEUE;
	case 1:
		return IRQBED_LEVEL_CTRL;
	default:
		return IRQBED_LEVEL_NONE;
	}
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
	u64 start_ns;
	bool is_out;

	irqbed_recovery_begin(ctrl);
	q->timeouts++;
	/* Another recovery may have sent it again while we waited. */
	if (!irqbed_has_slot(q, rq) || cmd->seq != seq) {
		ret = BLK_EH_RESET_TIMER;
		goto out;
	}
	if (!pci_device_is_present(ctrl->pdev)) {
		irqbed_recover(ctrl, NULL, IRQBED_LEVEL_NONE);
		goto out;
	}
	start_ns = local_clock();
	irqbed_look(q);
	is_out = irqbed_is_out(q, rq, seq);
	irqbed_step_done(ctrl, IRQBED_STEP_LOOK, start_ns, !is_out);
	if (is_out) {
		dev_warn(&ctrl->pdev->dev, "queue %u, slot %d (seq %llu) timed out\n",
			 q->index, rq->tag, seq);
		if (!irqbed_take_back(q, rq, seq)) {
			irqbed_recover_queue(q, irqbed_timeout_level(q));
			goto out;
		}
	}
	/* The handler or the thread may have it in hand this moment. */
	if (irqbed_has_slot(q, rq) && cmd->seq == seq)
		ret = BLK_EH_RESET_TIMER;
out:
	irqbed_recovery_end(ctrl);
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

	irqbed_recovery_begin(ctrl);
	/* A recovery of all of them takes the others out of the map. */
	while ((queues = atomic_read(&ctrl->stuck))) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);

		atomic_andnot(BIT(q->index), &ctrl->stuck);
		if (!q->set || irqbed_queue_is_dead(q)) {
			if (ctrl->ops->recovers_alone)
				irqbed_plug_schedule(ctrl, BIT(q->index));
			continue;
		}
		dev_err_ratelimited(&ctrl->pdev->dev, "queue %u: error\n",
				    q->index);
		irqbed_recover_queue(q, IRQBED_LEVEL_QUEUE);
	}
	irqbed_recovery_end(ctrl);
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
	irqbed_recovery_begin(ctrl);
	if (irqbed_any_live(ctrl, irqbed_all_queues(ctrl)))
		irqbed_recover(ctrl, NULL, IRQBED_LEVEL_NONE);
	irqbed_recovery_end(ctrl);
}
