// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks: one gendisk for each logical unit or port, and the tag sets that they
 * share.
 *
 * All disks of a set are made before the first one is shown to the world, because
 * a reset quiesces and later releases all queues of the set: one that came in
 * between would be released without being quiesced.
 */
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/sched/mm.h>

#include "irqbed.h"

static const struct block_device_operations irqbed_fops = {
	.owner = THIS_MODULE,
};

/* No I/O scheduler by default: nothing between the workload and the slots. */
static int irqbed_tags_init(struct irqbed_queue *first, u32 depth)
{
	struct irqbed_ctrl *ctrl = first->ctrl;
	struct blk_mq_tag_set *set = &first->tag_set;
	u32 count = ctrl->ops->queues_per_set;
	int err;

	if (!count)
		count = ctrl->nr_queues;
	set->ops = &irqbed_mq_ops;
	set->nr_hw_queues = irqbed_hctx_count(ctrl);
	set->nr_maps = HCTX_MAX_TYPES;
	set->queue_depth = depth && depth < ctrl->depth ? depth : ctrl->depth;
	set->numa_node = dev_to_node(&ctrl->pdev->dev);
	set->cmd_size = sizeof(struct irqbed_cmd);
	set->flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	/*
	 * One map of tags for the whole set.  It is the same with a single
	 * hardware queue, but who waits for a tag then is woken by whoever
	 * frees one, also when irqbed_queue_share() was here.  And the polled
	 * requests' hardware queue, when there is one, has the same slots.
	 */
	if (count == 1)
		set->flags |= BLK_MQ_F_TAG_HCTX_SHARED;
	/* blk-mq's timer has no finer unit; budgets are never counted in it. */
	set->timeout = DIV_ROUND_UP(ctrl->config.timeout_ms * HZ, MSEC_PER_SEC);
	set->driver_data = first;
	err = blk_mq_alloc_tag_set(set);
	if (err)
		return err;
	for (u32 i = 0; i < count; i++)
		ctrl->queues[first->index + i]->set = set;
	return 0;
}

/**
 * irqbed_tags_free() - free the tag sets
 * @ctrl: the controller, without disks
 */
void irqbed_tags_free(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_queue *q = ctrl->queues[i];

		if (q->set == &q->tag_set)
			blk_mq_free_tag_set(q->set);
		q->set = NULL;
	}
}

/**
 * irqbed_tags_remap() - hardware queues as the policy wants them
 * @ctrl: the controller, its disks frozen, under config_mutex
 *
 * For polled requests there are hardware queues of their own only while they
 * can be used, for blk-mq treats a disk with a single one in its own way.
 */
void irqbed_tags_remap(struct irqbed_ctrl *ctrl)
{
	/* Frozen disks write nothing back. */
	unsigned int flags = memalloc_noio_save();

	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_queue *q = ctrl->queues[i];

		if (q->set != &q->tag_set ||
		    !q->set->map[HCTX_TYPE_POLL].nr_queues != irqbed_polls(ctrl))
			continue;
		blk_mq_update_nr_hw_queues(q->set, irqbed_hctx_count(ctrl));
	}
	memalloc_noio_restore(flags);
}

static struct irqbed_disk *irqbed_free_disk(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ARRAY_SIZE(ctrl->disks); i++) {
		if (!ctrl->disks[i].gd)
			return &ctrl->disks[i];
	}
	return NULL;
}

/**
 * irqbed_disk_add() - make a disk, which nobody sees yet
 * @ctrl: the controller
 * @what: queue, lun, block_shift, blocks, depth and discard_sectors
 *
 * Makes the tag set, too, when it is the first disk of it.
 *
 * Return: 0 or -errno.
 */
int irqbed_disk_add(struct irqbed_ctrl *ctrl, const struct irqbed_disk *what)
{
	struct queue_limits lim = {
		.features = BLK_FEAT_WRITE_CACHE,
		.logical_block_size = 1u << what->block_shift,
		.physical_block_size = 1u << what->block_shift,
		.io_min = 1u << what->block_shift,
		.max_segments = IRQBED_MAX_SEGMENTS,
		.max_segment_size = SZ_256K,
		.max_hw_sectors = SZ_1M >> SECTOR_SHIFT,
		.dma_alignment = 3,
	};
	struct irqbed_queue *q = ctrl->queues[what->queue];
	struct irqbed_disk *disk;
	struct gendisk *gd;
	int err;

	disk = irqbed_free_disk(ctrl);
	if (!disk)
		return -ENOSPC;
	if (!q->set) {
		err = irqbed_tags_init(q, what->depth);
		if (err)
			return err;
	}
	*disk = *what;
	disk->ctrl = ctrl;
	if (disk->discard_sectors) {
		lim.max_hw_discard_sectors = disk->discard_sectors;
		lim.max_discard_segments = 1;
		lim.discard_granularity = lim.logical_block_size;
	}
	gd = blk_mq_alloc_disk(q->set, &lim, disk);
	if (IS_ERR(gd))
		return PTR_ERR(gd);
	disk->gd = gd;
	disk->q = gd->queue;
	disk->gd->fops = &irqbed_fops;
	disk->gd->private_data = disk;
	snprintf(disk->gd->disk_name, DISK_NAME_LEN, "irqbed%dl%u",
		 ctrl->index, disk->lun);
	set_capacity(disk->gd,
		     disk->blocks << (disk->block_shift - SECTOR_SHIFT));
	ctrl->nr_disks++;
	return 0;
}

/**
 * irqbed_disks_publish() - show the disks to the world that it does not know yet
 * @ctrl: the controller, ready for I/O: partition tables are read now
 *
 * Return: 0 or -errno; in both cases irqbed_disks_remove() cleans up.
 */
int irqbed_disks_publish(struct irqbed_ctrl *ctrl)
{
	struct irqbed_disk *disk = NULL;

	irqbed_tags_share(ctrl);
	while ((disk = irqbed_next_disk(ctrl, disk))) {
		int err;

		if (disk->live)
			continue;
		err = device_add_disk(&ctrl->pdev->dev, disk->gd, NULL);
		if (err)
			return err;
		disk->live = true;
	}
	return 0;
}

static void irqbed_disk_put(struct irqbed_disk *disk)
{
	put_disk(disk->gd);
	disk->gd = NULL;
	disk->ctrl->nr_disks--;
}

/**
 * irqbed_disks_remove() - take the disks away
 * @ctrl: the controller, still able to finish or fail what is in flight
 *
 * On return no request is in flight and none will come.
 */
void irqbed_disks_remove(struct irqbed_ctrl *ctrl)
{
	struct irqbed_disk *disk = NULL;

	while ((disk = irqbed_next_disk(ctrl, disk))) {
		if (disk->live)
			del_gendisk(disk->gd);
	}
	while ((disk = irqbed_next_disk(ctrl, disk)))
		irqbed_disk_put(disk);
}

/**
 * irqbed_disk_remove() - take the disk of one queue away
 * @ctrl: the controller
 * @queue: number of the queue, which can still finish or fail requests
 */
void irqbed_disk_remove(struct irqbed_ctrl *ctrl, u32 queue)
{
	struct irqbed_disk *disk = NULL;

	while ((disk = irqbed_next_disk(ctrl, disk))) {
		if (disk->queue != queue)
			continue;
		if (disk->live)
			del_gendisk(disk->gd);
		irqbed_disk_put(disk);
	}
}

/**
 * irqbed_tags_check() - can tags be shared like this?
 * @ctrl: the controller; it has its queues
 * @sharing: a value of enum irqbed_tag_sharing
 *
 * Greedily only with one map of tags, see irqbed_tags_init().
 *
 * Return: 0, or -EOPNOTSUPP after saying so.
 */
int irqbed_tags_check(struct irqbed_ctrl *ctrl, u64 sharing)
{
	if (sharing != IRQBED_TAGS_GREEDY || ctrl->nr_queues == 1 ||
	    ctrl->ops->queues_per_set == 1)
		return 0;
	dev_err(&ctrl->pdev->dev, "tag_sharing=greedy: only with one hardware queue, this has %u\n",
		ctrl->nr_queues);
	return -EOPNOTSUPP;
}

static void irqbed_queue_share(struct request_queue *q, bool greedy)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long index;

	if (!(q->tag_set->flags & BLK_MQ_F_TAG_QUEUE_SHARED))
		return;
	queue_for_each_hw_ctx(q, hctx, index) {
		if (greedy)
			hctx->flags &= ~BLK_MQ_F_TAG_QUEUE_SHARED;
		else
			hctx->flags |= BLK_MQ_F_TAG_QUEUE_SHARED;
	}
}

/**
 * irqbed_tags_share() - who gets a tag when several disks want one
 * @ctrl: the controller, its disks frozen or not yet published
 *
 * blk-mq divides the tags among the disks that are active, and a disk is active
 * until it has been idle for a timeout.  It does so for hardware queues with a
 * flag, which it sets itself when a tag set gets its second disk.
 */
void irqbed_tags_share(struct irqbed_ctrl *ctrl)
{
	bool greedy = ctrl->config.tag_sharing == IRQBED_TAGS_GREEDY;
	struct irqbed_disk *disk = NULL;

	while ((disk = irqbed_next_disk(ctrl, disk)))
		irqbed_queue_share(disk->q, greedy);
	for (u32 i = 0; i < IRQBED_NR_WLUNS; i++) {
		if (ctrl->wluns[i].q)
			irqbed_queue_share(ctrl->wluns[i].q, greedy);
	}
}

/**
 * irqbed_tag_users() - among how many disks and units tags are divided now
 * @ctrl: the controller
 *
 * The busy ones and those that blk-mq has not yet noticed to be idle, over all
 * tag sets.
 *
 * Return: their number.
 */
u32 irqbed_tag_users(struct irqbed_ctrl *ctrl)
{
	u32 users = 0;

	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_queue *q = ctrl->queues[i];

		if (q->set == &q->tag_set)
			users += READ_ONCE(q->set->tags[0]->active_queues);
	}
	return users;
}

/**
 * irqbed_freeze() - wait until nothing is in flight, let nothing in
 * @ctrl: the controller
 */
void irqbed_freeze(struct irqbed_ctrl *ctrl)
{
	struct irqbed_disk *disk = NULL;

	while ((disk = irqbed_next_disk(ctrl, disk)))
		blk_freeze_queue_start(disk->gd->queue);
	while ((disk = irqbed_next_disk(ctrl, disk)))
		blk_mq_freeze_queue_wait(disk->gd->queue);
}

/**
 * irqbed_unfreeze() - go on after irqbed_freeze()
 * @ctrl: the controller
 */
void irqbed_unfreeze(struct irqbed_ctrl *ctrl)
{
	struct irqbed_disk *disk = NULL;

	while ((disk = irqbed_next_disk(ctrl, disk)))
		blk_mq_unfreeze_queue(disk->gd->queue);
}
