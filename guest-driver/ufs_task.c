// SPDX-License-Identifier: GPL-2.0-only
/*
 * UFS transport, taking requests back: ABORT TASK or LOGICAL UNIT RESET, and then
 * the host controller's part of it, UTRLCLR or the clean-up of a queue.
 *
 * UFS 3.1 section 10.7.6 (task management); UFSHCI 3.1 sections 5.4.5, 6.2;
 * UFSHCI 4.0, SQRTC.  Process context, one at a time (ctrl->recover_mutex), while
 * requests go on; polled.
 *
 * A slot that was given up is finished like any other, but says that it was
 * aborted, or still has the status that the driver has put there: see
 * irqbed_ufs_result().  A slot may have been ended and used again since the device
 * was asked: then its new request is given up, too, and sent again like the rest.
 */
#include <linux/iopoll.h>

#include "ufs.h"

#define IRQBED_TASK_SLOT	0
#define IRQBED_POLL_US		10
#define IRQBED_LIMIT_US		100000

static int irqbed_ufs_poll(void __iomem *addr, u32 mask, u32 want)
{
	u32 val;
	int err;

	err = readl_poll_timeout(addr, val,
				 val == U32_MAX || (val & mask) == want,
				 IRQBED_POLL_US, IRQBED_LIMIT_US);
	return val == U32_MAX ? -ENODEV : err;
}

/* 0: the device has done it. */
static int irqbed_ufs_task(struct irqbed_ctrl *ctrl, u8 function, u32 lun,
			   u32 tag)
{
	struct utp_task_req_desc *task = &irqbed_ufs(ctrl)->utmrd[IRQBED_TASK_SLOT];
	u32 service;
	int err;

	memset(task, 0, sizeof(*task));
	task->header.interrupt = 1;
	task->header.ocs = OCS_INVALID_COMMAND_STATUS;
	task->upiu_req.req_header.transaction_code = UPIU_TRANSACTION_TASK_REQ;
	task->upiu_req.req_header.lun = lun;
	task->upiu_req.req_header.task_tag = IRQBED_TASK_SLOT;
	task->upiu_req.req_header.tm_function = function;
	task->upiu_req.input_param1 = cpu_to_be32(lun);
	task->upiu_req.input_param2 = cpu_to_be32(tag);
	irqbed_ufs_write(ctrl, REG_UTP_TASK_REQ_DOOR_BELL,
			 BIT(IRQBED_TASK_SLOT));
	err = irqbed_ufs_poll(ctrl->regs + REG_UTP_TASK_REQ_DOOR_BELL,
			      BIT(IRQBED_TASK_SLOT), 0);
	irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS, UTP_TASK_REQ_COMPL);
	if (err)
		return err;
	if ((task->header.ocs & MASK_OCS) != OCS_SUCCESS)
		return -EIO;
	service = be32_to_cpu(task->upiu_rsp.output_param1) &
		  MASK_TM_SERVICE_RESP;
	return service == UPIU_TASK_MANAGEMENT_FUNC_COMPL ||
	       service == UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED ? 0 : -EBUSY;
}

/* Slots of a unit that the hardware has; under the queue's lock. */
static u32 irqbed_ufs_slots_of(struct irqbed_queue *q, u32 lun)
{
	u32 slots = 0;

	for (u32 rest = q->outstanding; rest; rest &= rest - 1) {
		struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(q->cmds[__ffs(rest)]);

		if (cmd->lun == lun)
			slots |= BIT(__ffs(rest));
	}
	return slots;
}

/*
 * Of these slots, those that the hardware still has.  By doorbell, a cleared bit
 * clears a slot: under the lock, so that none is used anew meanwhile.
 */
static u32 irqbed_ufs_clear(struct irqbed_queue *q, u32 lun, u32 slots)
{
	struct irqbed_lock *lock = irqbed_queue_lock(q);
	unsigned long flags = irqbed_lock(lock);

	slots &= irqbed_ufs_slots_of(q, lun);
	if (slots && !irqbed_ufs(q->ctrl)->rings[q->index].sq)
		irqbed_ufs_write(q->ctrl, REG_UTP_TRANSFER_REQ_LIST_CLEAR,
				 ~slots);
	irqbed_unlock(lock, flags);
	return slots;
}

/* Each is answered by an entry of the completion queue. */
static int irqbed_ufs_ring_clean(struct irqbed_queue *q, u32 lun, u32 slots)
{
	void __iomem *regs = irqbed_ufs(q->ctrl)->rings[q->index].sq_regs;
	int err;

	writel(SQ_STOP, regs + REG_SQRTC);
	err = irqbed_ufs_poll(regs + REG_SQRTS, SQ_STS, SQ_STS);
	for (; slots && !err; slots &= slots - 1) {
		u32 tag = irqbed_ufs_index(q, __ffs(slots));

		writel(lun << 8 | tag, regs + REG_SQCTI);
		writel(SQ_STOP | SQ_ICU, regs + REG_SQRTC);
		err = irqbed_ufs_poll(regs + REG_SQRTS, SQ_CUS, SQ_CUS);
	}
	writel(SQ_START, regs + REG_SQRTC);
	return err;
}

static int irqbed_ufs_take_slots(struct irqbed_queue *q, u32 lun, u32 slots)
{
	slots = irqbed_ufs_clear(q, lun, slots);
	if (slots && irqbed_ufs(q->ctrl)->rings[q->index].sq)
		return irqbed_ufs_ring_clean(q, lun, slots);
	return 0;
}

/**
 * irqbed_ufs_give_up() - have the device give up a request, or all of its unit
 * @q: the request's queue
 * @rq: the request
 * @step: IRQBED_STEP_ABORT or IRQBED_STEP_UNIT
 *
 * Return: 0 when the slots of what was given up are about to be finished, or
 * -errno.
 */
int irqbed_ufs_give_up(struct irqbed_queue *q, struct request *rq,
		       enum irqbed_step step)
{
	struct irqbed_ctrl *ctrl = q->ctrl;
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	bool all = step == IRQBED_STEP_UNIT;
	u32 lun = cmd->lun;
	int err;

	err = irqbed_ufs_task(ctrl, all ? UFS_LOGICAL_RESET : UFS_ABORT_TASK,
			      lun, irqbed_ufs_rq_index(rq));
	if (err)
		return err;
	if (!all)
		return irqbed_ufs_take_slots(q, lun, BIT(rq->tag));
	for (u32 i = 0; i < ctrl->nr_queues && !err; i++)
		err = irqbed_ufs_take_slots(ctrl->queues[i], lun, U32_MAX);
	return err;
}
