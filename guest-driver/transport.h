/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver asks of a kind of controller: a table of operations, and the
 * words for what they are told and tell.
 */
#ifndef IRQBED_TRANSPORT_H
#define IRQBED_TRANSPORT_H

#include <linux/blk-mq.h>
#include <linux/types.h>

struct irqbed_ctrl;
struct irqbed_queue;
struct irqbed_vector;

/* What an interrupt status said, see irqbed_transport.ack; maps of queues. */
struct irqbed_events {
	bool ours;		/* the interrupt was the controller's */
	u32 done;		/* requests may have finished */
	u32 stuck;		/* only a recovery helps */
};

/* How much a recovery resets. */
enum irqbed_level {
	IRQBED_LEVEL_QUEUE,	/* one queue, while the others go on */
	IRQBED_LEVEL_CTRL,	/* the controller */
	IRQBED_LEVEL_NONE,	/* nothing: give it up */
};

/* What is done about a request that does not come back, the gentlest first. */
enum irqbed_step {
	IRQBED_STEP_LOOK,	/* is it finished, and only its interrupt missing? */
	IRQBED_STEP_ABORT,	/* the hardware gives that request up */
	IRQBED_STEP_UNIT,	/* its logical unit, or its port, is reset */
	IRQBED_STEP_HOST,	/* the controller is reset */
	IRQBED_STEP_OFFLINE,	/* given up: all I/O fails from now on */
	IRQBED_NR_STEPS
};

/**
 * struct irqbed_transport - what a kind of controller does in its own way
 * @name: for messages
 * @bar: of the registers
 * @first_message: of the first queue, with MSI-X and a vector for each; the one
 *	before it is the controller's own, for trouble
 * @has_wluns: it has well-known units, and knows REQ_OP_DRV_IN as TEST UNIT READY
 * @queues_per_set: queues that share a tag set; 0 for all
 * @recovers_alone: a queue can be stopped and started while others go on
 * @alloc: find out the number of slots, get queues (irqbed_queues_alloc()),
 *	vectors (irqbed_vectors_alloc()) and the memory that the hardware sees
 * @start: a queue, from any state to ready for requests; NULL: the controller
 *	and all its queues, interrupts off, a queue that does not start set dead;
 *	-ENODEV when nothing is there
 * @stop: a queue, no DMA any more; NULL: all, no interrupts either
 * @scan: call irqbed_disk_add() for each disk
 * @prep: describe a request to the hardware; sets cmd->alone for one beside
 *	which the hardware may have no other of its queue
 * @kick: ring the doorbell of a slot; under the queue's lock
 * @done: slots that the hardware has finished, of those it owns; ditto; under
 *	irqbed_doubts() none when it is not as @start left it
 * @result: how a finished request went; to send it again, BLK_STS_TIMEOUT when
 *	it was given up, BLK_STS_RESOURCE when the device could not do it now
 * @ack: read and clear the interrupt status of a vector's queues, or of the
 *	controller's own vector, which has none; masked or not
 * @mask: a vector's interrupts off (true) or on, of queues that are quiet only
 *	those that tell of trouble; under ctrl->mask_lock
 * @give_up: without a stop, make the hardware give up a request
 *	(IRQBED_STEP_ABORT) or all of its unit (IRQBED_STEP_UNIT): 0 when their
 *	slots are finished, with BLK_STS_TIMEOUT as @result; may sleep, under
 *	ctrl->recover_mutex; NULL when it cannot
 */
struct irqbed_transport {
	const char *name;
	int bar;
	bool has_wluns;
	u32 first_message;
	u32 queues_per_set;
	bool recovers_alone;
	int (*alloc)(struct irqbed_ctrl *ctrl);
	int (*start)(struct irqbed_ctrl *ctrl, struct irqbed_queue *q);
	void (*stop)(struct irqbed_ctrl *ctrl, struct irqbed_queue *q);
	int (*scan)(struct irqbed_ctrl *ctrl);
	blk_status_t (*prep)(struct irqbed_queue *q, struct request *rq);
	void (*kick)(struct irqbed_queue *q, u32 slot);
	u32 (*done)(struct irqbed_queue *q);
	blk_status_t (*result)(struct irqbed_queue *q, struct request *rq);
	struct irqbed_events (*ack)(struct irqbed_vector *vec);
	void (*mask)(struct irqbed_vector *vec, bool off);
	int (*give_up)(struct irqbed_queue *q, struct request *rq,
		       enum irqbed_step step);
};

/* ufs.c, ahci.c */
extern const struct irqbed_transport irqbed_ufs_transport;
extern const struct irqbed_transport irqbed_ahci_transport;

#endif /* IRQBED_TRANSPORT_H */
