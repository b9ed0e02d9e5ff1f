// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way of a request through the driver: from blk-mq to the doorbell, and
 * from a finished slot back to blk-mq.
 *
 * Stages G1 and G4.  The doorbell is rung under the queue's lock, because the
 * reaper takes "outstanding and not in the doorbell" for finished; requests
 * are ended outside of it, because ending one may well submit the next.
 *
 * Requests are ended by blk_mq_end_request() where they are found, and not by
 * blk_mq_complete_request(): that would move every completion of a controller's
 * only queue into the block softirq, or by an interrupt to the submitting CPU.
 * "Ended in the hard interrupt" means just that here, so rq_affinity has no say.
 * Two policies are the exception, and are about this; see irqbed_leave_to_block().
 */
#include <linux/cpu.h>
#include <linux/sched/clock.h>

#include "irqbed.h"
#include "trace.h"
#include "trend.h"

/**
 * irqbed_queues_alloc() - make a controller's queues
 * @ctrl: the controller
 * @count: how many, 1 to IRQBED_MAX_QUEUES
 *
 * Return: 0 or -ENOMEM; the memory goes with the PCI device.
 */
int irqbed_queues_alloc(struct irqbed_ctrl *ctrl, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct irqbed_queue *q = devm_kzalloc(&ctrl->pdev->dev,
						      sizeof(*q), GFP_KERNEL);

		if (!q)
			return -ENOMEM;
		q->stats = devm_alloc_percpu(&ctrl->pdev->dev,
					     struct irqbed_cpu_stats);
		if (!q->stats)
			return -ENOMEM;
		q->ctrl = ctrl;
		q->index = i;
		q->quiet = irqbed_polls(ctrl);
		irqbed_lock_init(&q->lock, ctrl);
		ctrl->queues[i] = q;
	}
	ctrl->nr_queues = count;
	return 0;
}

static void irqbed_unexpected(struct irqbed_queue *q, u32 tag, u64 seq,
			      const char *what)
{
	atomic64_inc(&q->unexpected);
	trace_irqbed_err_unexpected(q, tag, seq, what);
	dev_warn_ratelimited(&q->ctrl->pdev->dev, "unexpected: slot %u: %s\n",
			     tag, what);
}

/**
 * irqbed_cmd_move() - change a request's state
 * @q: its queue
 * @cmd: the request
 * @from: the state it has
 * @to: the state it gets
 *
 * Any other state than @from is a bug of the driver: counted and told.
 */
void irqbed_cmd_move(struct irqbed_queue *q, struct irqbed_cmd *cmd,
		     enum irqbed_cmd_state from, enum irqbed_cmd_state to)
{
	if (unlikely(cmd->state != from))
		irqbed_unexpected(q, blk_mq_rq_from_pdu(cmd)->tag, cmd->seq,
				  "wrong state");
	cmd->state = to;
}

static void irqbed_unmap(struct irqbed_ctrl *ctrl, struct request *rq)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	if (cmd->nents)
		dma_unmap_sg(&ctrl->pdev->dev, cmd->sgl, cmd->nents,
			     rq_dma_dir(rq));
	cmd->nents = 0;
}

/* Only reads and writes have data; a discard's list is the transport's own. */
static blk_status_t irqbed_map(struct irqbed_ctrl *ctrl, struct request *rq)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	cmd->nents = 0;
	cmd->mapped = 0;
	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return BLK_STS_OK;
	cmd->nents = blk_rq_map_sg(rq->q, rq, cmd->sgl);
	cmd->mapped = dma_map_sg(&ctrl->pdev->dev, cmd->sgl, cmd->nents,
				 rq_dma_dir(rq));
	if (!cmd->mapped) {
		cmd->nents = 0;
		return BLK_STS_RESOURCE;
	}
	return BLK_STS_OK;
}

/* The slot's request goes to the hardware. */
static void irqbed_ring_locked(struct irqbed_queue *q, u32 slot)
{
	struct request *rq = q->cmds[slot];
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	cmd->seq = ++q->seq;
	q->outstanding |= BIT(slot);
	trace_irqbed_submit(q, rq, cmd);
	q->ctrl->ops->kick(q, slot);
}

/**
 * irqbed_advance_locked() - go on with what is held
 * @q: the queue, under its lock; the hardware has nothing of it
 * @alone_is_done: what the hardware had last was a request that must be alone
 *
 * Requests that must be alone and others take turns: one of the former, then
 * all of the others that have come.  So neither waits for more than what the
 * hardware had when it came, and one request that must be alone.
 */
void irqbed_advance_locked(struct irqbed_queue *q, bool alone_is_done)
{
	u32 others = q->held & ~q->alone;
	u32 alone = q->held & q->alone;
	u32 slots;

	if (alone && !(others && alone_is_done))
		slots = BIT(__ffs(alone));
	else
		slots = others;
	q->held &= ~slots;
	while (slots) {
		u32 slot = __ffs(slots);

		slots &= ~BIT(slot);
		irqbed_ring_locked(q, slot);
	}
}

/* Once something is held, what comes after it is held, too. */
static bool irqbed_must_wait(const struct irqbed_queue *q,
			     const struct irqbed_cmd *cmd)
{
	return q->held || (q->outstanding & q->alone) ||
	       (cmd->alone && q->outstanding);
}

/* From here on the request is in flight. */
static void irqbed_issue(struct irqbed_queue *q, struct request *rq)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct irqbed_lock *lock = irqbed_queue_lock(q);
	bool again = rq->rq_flags & RQF_DONTPREP;
	unsigned long flags;

	rq->rq_flags |= RQF_DONTPREP;
	cmd->needs_irq = irqbed_polls(q->ctrl) && !(rq->cmd_flags & REQ_POLLED);
	if (cmd->needs_irq)
		irqbed_irq_need(q);
	flags = irqbed_lock(lock);
	if (again)
		atomic_dec(&q->waiting);
	else
		q->submitted++;
	irqbed_cmd_move(q, cmd, again ? IRQBED_CMD_WAITING : IRQBED_CMD_IDLE,
			IRQBED_CMD_ISSUED);
	q->cmds[rq->tag] = rq;
	if (irqbed_must_wait(q, cmd))
		q->held |= BIT(rq->tag);
	else
		irqbed_ring_locked(q, rq->tag);
	if (cmd->alone)
		q->alone |= BIT(rq->tag);
	irqbed_unlock(lock, flags);
}

/*
 * The doorbell rings for each request, not once for a batch: a batch would
 * make the first request wait for the descriptors of the others.
 */
static blk_status_t irqbed_queue_rq(struct blk_mq_hw_ctx *hctx,
				    const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct irqbed_disk *disk = hctx->queue->queuedata;
	struct irqbed_ctrl *ctrl = disk->ctrl;
	struct irqbed_queue *q = hctx->driver_data;
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	blk_status_t status;

	if (!(rq->rq_flags & RQF_DONTPREP)) {
		cmd->retries = 0;
		cmd->lun = disk->lun;
		cmd->state = IRQBED_CMD_IDLE;
		if (irqbed_has_series(ctrl))
			cmd->submit_ns = local_clock();
	}
	cmd->alone = false;
	cmd->error = BLK_STS_OK;
	if (irqbed_queue_is_dead(q)) {
		status = BLK_STS_IOERR;
		goto out_fail;
	}
	blk_mq_start_request(rq);
	status = irqbed_map(ctrl, rq);
	if (status)
		goto out_fail;
	status = ctrl->ops->prep(q, rq);
	if (status)
		goto out_unmap;
	irqbed_issue(q, rq);
	return BLK_STS_OK;

out_unmap:
	irqbed_unmap(ctrl, rq);
out_fail:
	/* blk-mq ends it with any error but this one, and we counted it. */
	if (rq->rq_flags & RQF_DONTPREP && status != BLK_STS_RESOURCE) {
		irqbed_cmd_move(q, cmd, IRQBED_CMD_WAITING, IRQBED_CMD_IDLE);
		atomic_dec(&q->waiting);
		atomic64_inc(&q->failed_unsent);
	}
	return status;
}

/*
 * Send it again.  Not later than here is blk-mq told to look at its list: once
 * this request has ended, its disk may be gone at any time.
 */
static void irqbed_requeue(struct irqbed_queue *q, struct request *rq,
			   enum irqbed_cmd_state from, enum irqbed_ctx ctx)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	irqbed_cmd_move(q, cmd, from, IRQBED_CMD_WAITING);
	if (cmd->needs_irq)
		irqbed_irq_unneed(q);
	this_cpu_inc(q->stats->ctx[ctx].requeued);
	atomic_inc(&q->waiting);
	blk_mq_requeue_request(rq, true);
}

static enum irqbed_where irqbed_where_am_i(void)
{
	if (in_hardirq())
		return IRQBED_WHERE_HARDIRQ;
	return in_serving_softirq() ? IRQBED_WHERE_SOFTIRQ :
				      IRQBED_WHERE_PROCESS;
}

static void irqbed_end(struct irqbed_queue *q, struct request *rq, u32 tag,
		       enum irqbed_cmd_state from, enum irqbed_ctx ctx,
		       blk_status_t status)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	irqbed_cmd_move(q, cmd, from, IRQBED_CMD_IDLE);
	if (cmd->needs_irq)
		irqbed_irq_unneed(q);
	if (likely(!status)) {
		this_cpu_inc(q->stats->ctx[ctx].completed);
		if (unlikely(q->barren))
			WRITE_ONCE(q->barren, 0);
	} else {
		this_cpu_inc(q->stats->ctx[ctx].failed);
	}
	this_cpu_inc(q->stats->ended[irqbed_where_am_i()]);
	trace_irqbed_end(q, cmd, tag, status, ctx);
	if (irqbed_has_series(q->ctrl))
		irqbed_series_end(q->ctrl, cmd);
	blk_mq_end_request(rq, status);
}

static bool irqbed_may_retry(const struct irqbed_queue *q,
			     const struct irqbed_cmd *cmd)
{
	return !irqbed_queue_is_dead(q) &&
	       cmd->retries < q->ctrl->config.max_retries;
}

/*
 * Does rq_affinity want it to be ended by another CPU than this one?  blk-mq
 * asks for a shared cache where we, being a module, ask for the same package;
 * like it we redirect nothing when hard handlers run in threads.
 */
static bool irqbed_wants_other_cpu(struct request *rq)
{
	int from = blk_mq_rq_cpu(rq);
	int here = raw_smp_processor_id();

	if (from == here || !in_hardirq() || !cpu_online(from) ||
	    !test_bit(QUEUE_FLAG_SAME_COMP, &rq->q->queue_flags))
		return false;
	return test_bit(QUEUE_FLAG_SAME_FORCE, &rq->q->queue_flags) ||
	       topology_physical_package_id(from) !=
	       topology_physical_package_id(here);
}

/*
 * The policies softirq and inline: let blk-mq end it, in its softirq and by
 * rq_affinity on the submitting CPU.  Its result is taken before, for a reset
 * could use the slot's memory in between.
 */
static bool irqbed_leave_to_block(struct irqbed_queue *q, struct request *rq,
				  blk_status_t status)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	switch (irqbed_policies[q->ctrl->config.policy].end) {
	case IRQBED_END_SOFTIRQ:
		break;
	case IRQBED_END_REDIRECT:
		if (irqbed_wants_other_cpu(rq))
			break;
		return false;
	case IRQBED_END_HERE:
	default:
		return false;
	}
	cmd->status = status;
	cmd->cpu = raw_smp_processor_id();
	atomic_inc(&q->completing);
	blk_mq_complete_request(rq);
	return true;
}

/* blk-mq ends a request that it was told of. */
static void irqbed_complete_rq(struct request *rq)
{
	struct irqbed_queue *q = irqbed_rq_queue(rq);
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	u64 start_ns = local_clock();

	irqbed_unmap(q->ctrl, rq);
	if (cmd->cpu != raw_smp_processor_id())
		this_cpu_inc(q->stats->redirected);
	atomic_dec(&q->completing);
	irqbed_end(q, rq, rq->tag, IRQBED_CMD_ISSUED, IRQBED_CTX_BLOCK,
		   cmd->status);
	this_cpu_add(q->ctrl->cpu_times->ns[IRQBED_CTX_BLOCK],
		     local_clock() - start_ns);
}

/**
 * irqbed_end_slot() - end the request in a slot that the hardware is done with
 * @q: the queue
 * @slot: the slot; the caller has taken its bit out of the maps
 * @ctx: who found it
 *
 * Any context, no lock held.
 */
void irqbed_end_slot(struct irqbed_queue *q, u32 slot, enum irqbed_ctx ctx)
{
	struct request *rq = q->cmds[slot];
	struct irqbed_cmd *cmd;
	blk_status_t status;

	if (unlikely(!rq)) {
		irqbed_unexpected(q, slot, q->seq, "finished, but empty");
		return;
	}
	q->cmds[slot] = NULL;
	cmd = blk_mq_rq_to_pdu(rq);
	status = q->ctrl->ops->result(q, rq);
	if (unlikely(status == BLK_STS_RESOURCE || status == BLK_STS_TIMEOUT)) {
		if (irqbed_may_retry(q, cmd)) {
			irqbed_unmap(q->ctrl, rq);
			cmd->retries++;
			irqbed_requeue(q, rq, IRQBED_CMD_ISSUED, ctx);
			return;
		}
		if (status == BLK_STS_RESOURCE)
			status = BLK_STS_IOERR;
	}
	if (ctx == IRQBED_CTX_HARD && irqbed_leave_to_block(q, rq, status))
		return;
	irqbed_unmap(q->ctrl, rq);
	irqbed_end(q, rq, slot, IRQBED_CMD_ISSUED, ctx, status);
}

static void irqbed_end_lost_one(struct irqbed_queue *q, struct request *rq)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	irqbed_unmap(q->ctrl, rq);
	if (!cmd->error && irqbed_may_retry(q, cmd)) {
		cmd->retries += !q->lost_excused;
		irqbed_requeue(q, rq, IRQBED_CMD_LOST, IRQBED_CTX_RESET);
		return;
	}
	if (!cmd->error)
		cmd->error = irqbed_queue_is_dead(q) ? BLK_STS_IOERR :
			     BLK_STS_TIMEOUT;
	irqbed_end(q, rq, rq->tag, IRQBED_CMD_LOST, IRQBED_CTX_RESET,
		   cmd->error);
}

/**
 * irqbed_lost_failed() - this request was why the queue had to be recovered
 * @q: the queue, in the middle of a recovery
 * @slot: the slot that the request had
 * @error: what it is to end with
 *
 * For the transport's start.  A slot that had none is the hardware's mistake.
 */
void irqbed_lost_failed(struct irqbed_queue *q, u32 slot, blk_status_t error)
{
	struct irqbed_cmd *cmd;

	if (slot >= IRQBED_MAX_SLOTS || !(q->lost_slots & BIT(slot))) {
		irqbed_unexpected(q, slot, q->seq, "failed, but empty");
		return;
	}
	cmd = blk_mq_rq_to_pdu(q->lost[slot]);
	cmd->error = error;
	q->lost_excused = true;
}

/**
 * irqbed_end_lost() - end or send again what a recovery took from the hardware
 * @q: the queue, quiesced; ctrl->recover_mutex is held
 *
 * What is sent again waits until the caller ends the quiescence.
 */
void irqbed_end_lost(struct irqbed_queue *q)
{
	u32 slots = q->lost_slots;

	q->lost_slots = 0;
	while (slots) {
		u32 slot = __ffs(slots);

		slots &= ~BIT(slot);
		irqbed_end_lost_one(q, q->lost[slot]);
	}
	q->lost_excused = false;
}

static int irqbed_init_request(struct blk_mq_tag_set *set, struct request *rq,
			       unsigned int hctx_idx, unsigned int numa_node)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);

	sg_init_table(cmd->sgl, IRQBED_MAX_SEGMENTS);
	return 0;
}

const struct blk_mq_ops irqbed_mq_ops = {
	.queue_rq = irqbed_queue_rq,
	.init_hctx = irqbed_init_hctx,
	.map_queues = irqbed_map_queues,
	.complete = irqbed_complete_rq,
	.timeout = irqbed_timeout,
	.poll = irqbed_mq_poll,
	.init_request = irqbed_init_request,
};
