// SPDX-License-Identifier: GPL-2.0-only
/*
 * TEST UNIT READY to any unit, well-known ones too, through a request queue of
 * its own: the least that makes a unit one of those that share the tags.
 *
 * Well-known units have no disk; their queues, as the SCSI layer has them, are
 * made when the knob "wluns" asks for it.
 *
 * Process context.
 */
#include "irqbed.h"

/* UFS 3.1 table 10.58, as SCSI numbers: 49488, 49456 and 49476. */
static const u32 irqbed_wlun_numbers[IRQBED_NR_WLUNS] = {
	0xc150,		/* UFS device */
	0xc130,		/* boot */
	0xc144,		/* RPMB */
};

/* A well-known unit's SCSI number as it stands in a UPIU, UFS 3.1 10.7.2. */
static u32 irqbed_wlun_upiu(u32 number)
{
	return 0x80 | (number & 0x7f);
}

/**
 * irqbed_wluns_add() - make the well-known units' queues, if they are wanted
 * @ctrl: the controller, scanned
 *
 * Return: 0 or -errno; in both cases irqbed_wluns_remove() cleans up.
 */
int irqbed_wluns_add(struct irqbed_ctrl *ctrl)
{
	if (!ctrl->config.wluns || !ctrl->ops->has_wluns || !ctrl->nr_disks)
		return 0;
	for (u32 i = 0; i < IRQBED_NR_WLUNS; i++) {
		struct irqbed_disk *unit = &ctrl->wluns[i];
		struct request_queue *q;

		unit->ctrl = ctrl;
		unit->lun = irqbed_wlun_upiu(irqbed_wlun_numbers[i]);
		unit->block_shift = SECTOR_SHIFT;
		q = blk_mq_alloc_queue(ctrl->queues[0]->set, NULL, unit);
		if (IS_ERR(q))
			return PTR_ERR(q);
		unit->q = q;
	}
	return 0;
}

/**
 * irqbed_wluns_remove() - take them away
 * @ctrl: the controller, still able to finish or fail what is in flight
 */
void irqbed_wluns_remove(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < IRQBED_NR_WLUNS; i++) {
		struct irqbed_disk *unit = &ctrl->wluns[i];

		if (!unit->q)
			continue;
		blk_mq_destroy_queue(unit->q);
		blk_put_queue(unit->q);
		unit->q = NULL;
	}
}

static struct request_queue *irqbed_unit_queue(struct irqbed_ctrl *ctrl,
					       u32 number)
{
	struct irqbed_disk *disk = NULL;

	while ((disk = irqbed_next_disk(ctrl, disk))) {
		if (disk->lun == number)
			return disk->q;
	}
	for (u32 i = 0; i < IRQBED_NR_WLUNS; i++) {
		if (irqbed_wlun_numbers[i] == number)
			return ctrl->wluns[i].q;
	}
	return NULL;
}

/**
 * irqbed_test_unit_ready() - send one, wait for its end
 * @ctrl: the controller
 * @number: the unit's SCSI number
 *
 * Return: 0, -ENODEV for a unit that is not there, or how it ended.
 */
int irqbed_test_unit_ready(struct irqbed_ctrl *ctrl, u32 number)
{
	struct request_queue *q = irqbed_unit_queue(ctrl, number);
	struct request *rq;
	blk_status_t status;

	if (!q)
		return -ENODEV;
	rq = blk_mq_alloc_request(q, REQ_OP_DRV_IN, 0);
	if (IS_ERR(rq))
		return PTR_ERR(rq);
	status = blk_execute_rq(rq, false);
	blk_mq_free_request(rq);
	return blk_status_to_errno(status);
}
