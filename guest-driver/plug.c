// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks that go and come while the controller stays.
 *
 * Only of controllers whose queues are recovered alone, and which have a tag set
 * for each.  Work of its own: showing a disk reads its partition table, which
 * may need recover_work.  ctrl->config_mutex is held throughout, for it covers
 * the table of disks, and ctrl->recover_mutex for whatever a recovery looks at.
 */
#include <linux/sched/mm.h>

#include "irqbed.h"

/* The queue is dead, so nothing is waited for. */
static void irqbed_unplug(struct irqbed_queue *q)
{
	struct irqbed_ctrl *ctrl = q->ctrl;

	irqbed_disk_remove(ctrl, q->index);
	mutex_lock(&ctrl->recover_mutex);
	q->set = NULL;
	mutex_unlock(&ctrl->recover_mutex);
	blk_mq_free_tag_set(&q->tag_set);
}

/* No recovery meanwhile; so memory must not be waited for that needs one. */
static void irqbed_plug(struct irqbed_ctrl *ctrl, u32 queues)
{
	unsigned int flags = memalloc_noio_save();

	mutex_lock(&ctrl->recover_mutex);
	while (queues) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);

		if (q->set)
			continue;
		ctrl->ops->stop(ctrl, q);
		if (ctrl->ops->start(ctrl, q))
			ctrl->ops->stop(ctrl, q);
		else
			WRITE_ONCE(q->state, IRQBED_QUEUE_LIVE);
	}
	ctrl->ops->scan(ctrl);
	mutex_unlock(&ctrl->recover_mutex);
	memalloc_noio_restore(flags);
}

/**
 * irqbed_plug_work() - disks have gone, or new ones may be there
 * @work: plug_work of the controller
 */
void irqbed_plug_work(struct work_struct *work)
{
	struct irqbed_ctrl *ctrl = container_of(work, struct irqbed_ctrl,
						plug_work);
	u32 queues = atomic_xchg(&ctrl->plugged, 0);

	mutex_lock(&ctrl->config_mutex);
	if (!ctrl->leaving) {
		for (u32 rest = queues; rest; ) {
			struct irqbed_queue *q = irqbed_next_queue(ctrl, &rest);

			if (q->set && irqbed_queue_is_dead(q))
				irqbed_unplug(q);
		}
		irqbed_plug(ctrl, queues);
		if (irqbed_disks_publish(ctrl))
			dev_err(&ctrl->pdev->dev, "a new disk cannot be shown\n");
	}
	mutex_unlock(&ctrl->config_mutex);
}

/**
 * irqbed_plug_schedule() - look whether disks have gone or come
 * @ctrl: the controller
 * @queues: map of their queues
 */
void irqbed_plug_schedule(struct irqbed_ctrl *ctrl, u32 queues)
{
	atomic_or(queues, &ctrl->plugged);
	queue_work(system_long_wq, &ctrl->plug_work);
}

/**
 * irqbed_plug_end() - no disk comes or goes any more but by the caller
 * @ctrl: the controller, still able to finish or fail what is in flight
 */
void irqbed_plug_end(struct irqbed_ctrl *ctrl)
{
	mutex_lock(&ctrl->config_mutex);
	ctrl->leaving = true;
	mutex_unlock(&ctrl->config_mutex);
	cancel_work_sync(&ctrl->plug_work);
}
