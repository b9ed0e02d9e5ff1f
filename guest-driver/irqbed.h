/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own types and what its files offer to each other.
 *
 * A controller (ctrl) has queues of up to 32 slots each; the blk-mq tag of a
 * request is its slot.  Queues share a tag set, or have one each; a disk belongs
 * to one tag set.  An interrupt vector looks after one or more queues.  A queue's
 * lock covers its doorbell and its slot maps, nothing else; no request is given
 * back to the block layer under it.
 */
#ifndef IRQBED_H
#define IRQBED_H

#include <linux/blk-mq.h>
#include <linux/interrupt.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "config.h"
#include "hist.h"
#include "policy.h"
#include "stats.h"
#include "transport.h"

#define IRQBED_VERSION		"1"
#define IRQBED_MAX_SLOTS	32
#define IRQBED_MAX_SEGMENTS	128
#define IRQBED_MAX_LUNS		32
#define IRQBED_NR_WLUNS		3	/* see tur.c */
#define IRQBED_MAX_QUEUES	32	/* so that a u32 can name any set of them */

/**
 * struct irqbed_lock - a spin lock that can say how it is used
 * @lock: the lock; it protects the other fields, too
 * @config: the controller's knobs
 * @is_measured: this hold is
 * @taken_ns: local_clock() when this hold began, if it is measured
 * @waited_ns: how long it was waited for, ditto
 * @hold_ns: of all measured holds
 * @wait_ns: ditto
 */
struct irqbed_lock {
	spinlock_t lock;	/* the lock itself */
	const struct irqbed_config *config;
	bool is_measured;
	u64 taken_ns;
	u64 waited_ns;
	struct irqbed_hist hold_ns;
	struct irqbed_hist wait_ns;
};

enum irqbed_queue_state {
	IRQBED_QUEUE_LIVE,
	IRQBED_QUEUE_RESETTING,	/* quiesced, the hardware is not ours */
	IRQBED_QUEUE_DEAD,	/* gone, or not to be revived: all I/O fails */
	IRQBED_NR_QUEUE_STATES
};

/*
 * Life of a request in the driver; irqbed_cmd_move() alone changes it.
 *
 *   IDLE --queue_rq--> ISSUED --reap--> IDLE (ended)
 *                        |  \--reap, device busy--> WAITING --queue_rq--> ISSUED
 *                        \--reset--> LOST --> WAITING, or IDLE (failed)
 */
enum irqbed_cmd_state {
	IRQBED_CMD_IDLE,
	IRQBED_CMD_ISSUED,	/* has a slot; held, or the hardware or a reaper has it */
	IRQBED_CMD_LOST,	/* taken from the hardware by a reset */
	IRQBED_CMD_WAITING,	/* on blk-mq's requeue list, no slot */
};

/* How often a step was taken, and how long it took. */
struct irqbed_step_stats {
	u64 count;
	u64 helped;		/* of them: no further step was needed at once */
	u64 sum_ns;
	u64 max_ns;
};

/* One request: the driver's part of a struct request. */
struct irqbed_cmd {
	u64 seq;		/* n-th doorbell of its queue; set when it rings */
	enum irqbed_cmd_state state;
	bool alone;		/* the hardware may have no other; see prep */
	bool needs_irq;		/* see irqbed_irq_need() */
	blk_status_t error;	/* see irqbed_lost_failed() */
	u32 retries;
	u32 lun;
	u64 submit_ns;		/* local_clock() at G1, while there is a time series */
	u32 cpu;		/* that found it finished, when blk-mq ends it */
	blk_status_t status;	/* its result, ditto */
	int nents;		/* of sgl, before mapping */
	int mapped;		/* of sgl, after mapping */
	struct scatterlist sgl[IRQBED_MAX_SEGMENTS];
};

struct irqbed_ctrl;
struct irqbed_vector;

/**
 * struct irqbed_queue - slots of a controller and what happened in them
 * @ctrl: the controller
 * @vec: the vector that looks after it
 * @index: its number in @ctrl
 * @state: written under @ctrl->recover_mutex
 * @set: the tag set of its disks; NULL when it has none
 * @tag_set: the tag set, in the first of the queues that share it
 * @lock: protects the doorbell and the fields down to @cmds, unless the
 *	controller's does; taken in hard interrupts; see irqbed_queue_lock()
 * @outstanding: slots that the hardware owns
 * @ready: slots that the hardware is done with, left by a pass that had to stop
 * @held: slots that wait because of a request that must be alone
 * @alone: of the slots held or outstanding, those with such a request
 * @seq: number of doorbells rung
 * @submitted: requests taken from blk-mq, each counted once however often sent
 * @cmds: the request in each slot, from doorbell to end; cleared by whoever
 *	ends it, without @lock
 * @waiting: requests on blk-mq's requeue lists that came from here
 * @failed_unsent: of those, failed there because the queue had died
 * @unexpected: things that cannot happen and did
 * @completing: requests that blk-mq was told of and has not ended
 * @needing: under the policy polled, how much there is for which it has to
 *	interrupt; under @ctrl->mask_lock, as @quiet
 * @quiet: it does not interrupt when requests have finished
 * @stats: counters; each CPU its own
 * @lost: the requests that a recovery took from the slots in @lost_slots; under
 *	@ctrl->recover_mutex
 * @lost_slots: see @lost
 * @lost_excused: it is known whose fault the recovery was: to send the others
 *	again is not counted against them
 * @barren: recoveries for a timeout since the last request that succeeded
 * @timeouts: requests that blk-mq said were too old; ditto
 */
struct irqbed_queue {
	struct irqbed_ctrl *ctrl;
	struct irqbed_vector *vec;
	u32 index;
	enum irqbed_queue_state state;
	struct blk_mq_tag_set *set;
	struct blk_mq_tag_set tag_set;

	struct irqbed_lock lock ____cacheline_aligned_in_smp;
	u32 outstanding;
	u32 ready;
	u32 held;
	u32 alone;
	u64 seq;
	u64 submitted;
	struct request *cmds[IRQBED_MAX_SLOTS];

	atomic_t waiting;
	atomic64_t failed_unsent;
	atomic64_t unexpected;
	atomic_t completing;
	u32 needing;
	bool quiet;
	struct irqbed_cpu_stats __percpu *stats;

	struct request *lost[IRQBED_MAX_SLOTS];
	u32 lost_slots;
	bool lost_excused;
	u32 barren;
	u64 timeouts;
};

/**
 * struct irqbed_vector - an interrupt and the queues behind it
 * @ctrl: the controller
 * @index: its number in @ctrl, which is its message's number too
 * @irq: the kernel's number of it
 * @queues: map of the queues that it looks after; of the controller's own, none
 * @left: map of the queues that the hard part has left for the rest
 * @left_ns: when it left the first of them; 0 when nothing is left
 * @masked: it does not interrupt; written under ctrl->mask_lock
 * @polling: irq_poll is in our function
 * @poll: irq_poll's part of it
 * @round: of irq_poll
 * @work: its work item
 * @stats: counters of the handler and its thread
 */
struct irqbed_vector {
	struct irqbed_ctrl *ctrl;
	u32 index;
	int irq;
	u32 queues;
	atomic_t left;
	atomic64_t left_ns;
	bool masked;
	atomic_t polling;
	struct irq_poll poll;
	struct irqbed_round round;
	struct work_struct work;
	struct irqbed_irq_stats stats;
};

/* A disk: one logical unit or port. */
struct irqbed_disk {
	struct irqbed_ctrl *ctrl;
	struct gendisk *gd;	/* a well-known unit has none */
	struct request_queue *q;
	u32 queue;		/* the first of its tag set */
	u32 lun;
	u32 block_shift;	/* log2 of the logical block's size */
	u64 blocks;
	u32 depth;		/* requests that it takes at once, 0: any number */
	u32 discard_sectors;	/* of 512 bytes, in one request; 0: none at all */
	bool live;		/* device_add_disk() was done */
};

/**
 * struct irqbed_ctrl - one controller
 * @index: the number in the disks' names
 * @depth: slots in use, of each queue
 * @config: the knobs; the live ones change only while the queues are frozen
 * @config_mutex: one change of a knob or of the disks, or reset of the counters,
 *	at a time
 * @irq_mode: what we got, which is not always what @config asks for
 * @recover_mutex: one timeout or reset at a time; also makes them the only
 *	writer of their counters
 * @steps: recovery so far; ditto
 * @recovering: a recovery is under way; written under @recover_mutex
 * @stuck: map of the queues that @recover_work is to recover
 * @plugged: map of the queues whose disks have gone or come, for @plug_work
 * @leaving: the driver leaves: @plug_work does nothing more; under @config_mutex
 * @disks: those with a gd; changes under @config_mutex once interrupts are on
 * @lock: protects status registers that several queues share, and command state
 *	when the knob "lock" says so; taken in hard interrupts
 * @mask_lock: protects which interrupts are on; taken in hard interrupts
 * @cpu_times: of each CPU
 * @series: the time series, of the requests and handlers of all queues
 * @series_since_ns: its beginning, on CLOCK_MONOTONIC, as a program sees it
 * @series_lock: protects @series; taken in hard interrupts
 * @priv: the transport's own
 * @own: the vector that tells of trouble, where each queue has one of its own
 */
struct irqbed_ctrl {
	struct pci_dev *pdev;
	const struct irqbed_transport *ops;
	void __iomem *regs;
	void *priv;
	int index;
	u32 depth;
	enum irqbed_irq_mode irq_mode;
	struct irqbed_config config;
	struct mutex config_mutex;	/* changes of @config, see above */
	struct mutex recover_mutex;	/* timeouts and resets, see above */
	struct work_struct recover_work;
	struct work_struct plug_work;
	atomic_t stuck;
	atomic_t plugged;
	bool leaving;
	u64 resets;
	u64 resets_failed;
	spinlock_t mask_lock;	/* which interrupts are on */
	struct irqbed_step_stats steps[IRQBED_NR_STEPS];
	bool recovering;
	struct irqbed_cpu_times __percpu *cpu_times;
	struct irqbed_series series;
	u64 series_since_ns;
	spinlock_t series_lock;	/* see above */
	struct irqbed_disk disks[IRQBED_MAX_LUNS];
	u32 nr_disks;
	struct irqbed_disk wluns[IRQBED_NR_WLUNS];
	struct dentry *debugfs;
	struct irqbed_vector *vectors[IRQBED_MAX_QUEUES];
	struct irqbed_vector *own;
	u32 nr_vectors;
	struct irqbed_queue *queues[IRQBED_MAX_QUEUES];
	u32 nr_queues;
	struct irqbed_lock lock ____cacheline_aligned_in_smp;
};

/* The disk after one, or the first (NULL); NULL: there is none. */
static inline struct irqbed_disk *irqbed_next_disk(struct irqbed_ctrl *ctrl,
						   struct irqbed_disk *disk)
{
	disk = disk ? disk + 1 : ctrl->disks;
	while (disk < ctrl->disks + IRQBED_MAX_LUNS && !disk->gd)
		disk++;
	return disk < ctrl->disks + IRQBED_MAX_LUNS ? disk : NULL;
}

/**
 * struct irqbed_reap_result - what a pass did
 * @done: requests taken off the slots
 * @left: map of the queues in which requests were, or may have been, left
 * @reason: why, when there are such queues
 */
struct irqbed_reap_result {
	u32 done;
	u32 left;
	enum irqbed_reason reason;
};

static inline bool irqbed_locks_host(const struct irqbed_ctrl *ctrl)
{
	return READ_ONCE(ctrl->config.lock) == IRQBED_LOCK_HOST;
}

/* Is the policy one under which requests can be polled for? */
static inline bool irqbed_polls(const struct irqbed_ctrl *ctrl)
{
	return irqbed_policies[READ_ONCE(ctrl->config.policy)].polled;
}

/*
 * Is an empty doorbell not enough to call requests finished?  Hardware that went
 * and came back, or was reset behind our back, has one, too, but no interrupt: it
 * is only seen by who looks unasked.
 */
static inline bool irqbed_doubts(const struct irqbed_ctrl *ctrl)
{
	return READ_ONCE(ctrl->recovering) || irqbed_polls(ctrl);
}

static inline bool irqbed_queue_is_dead(const struct irqbed_queue *q)
{
	return READ_ONCE(q->state) == IRQBED_QUEUE_DEAD;
}

static inline u32 irqbed_all_queues(const struct irqbed_ctrl *ctrl)
{
	return GENMASK(ctrl->nr_queues - 1, 0);
}

/* Of the first of a vector's queues, for traces. */
static inline u64 irqbed_vector_seq(const struct irqbed_vector *vec)
{
	return READ_ONCE(vec->ctrl->queues[__ffs(vec->queues)]->seq);
}

/* Take the lowest of the queues in a map that is not empty. */
static inline struct irqbed_queue *irqbed_next_queue(struct irqbed_ctrl *ctrl,
						     u32 *queues)
{
	u32 index = __ffs(*queues);

	*queues &= ~BIT(index);
	return ctrl->queues[index];
}

static inline struct irqbed_queue *irqbed_rq_queue(const struct request *rq)
{
	return rq->mq_hctx->driver_data;
}

/* disk.c */
void irqbed_tags_free(struct irqbed_ctrl *ctrl);
int irqbed_disk_add(struct irqbed_ctrl *ctrl, const struct irqbed_disk *what);
void irqbed_disk_remove(struct irqbed_ctrl *ctrl, u32 queue);
int irqbed_disks_publish(struct irqbed_ctrl *ctrl);
void irqbed_disks_remove(struct irqbed_ctrl *ctrl);
void irqbed_freeze(struct irqbed_ctrl *ctrl);
void irqbed_unfreeze(struct irqbed_ctrl *ctrl);
void irqbed_tags_share(struct irqbed_ctrl *ctrl);
int irqbed_tags_check(struct irqbed_ctrl *ctrl, u64 sharing);
u32 irqbed_tag_users(struct irqbed_ctrl *ctrl);
void irqbed_tags_remap(struct irqbed_ctrl *ctrl);

/* tur.c */
int irqbed_wluns_add(struct irqbed_ctrl *ctrl);
void irqbed_wluns_remove(struct irqbed_ctrl *ctrl);
int irqbed_test_unit_ready(struct irqbed_ctrl *ctrl, u32 number);

/* queue.c */
int irqbed_queues_alloc(struct irqbed_ctrl *ctrl, u32 count);

extern const struct blk_mq_ops irqbed_mq_ops;

void irqbed_cmd_move(struct irqbed_queue *q, struct irqbed_cmd *cmd,
		     enum irqbed_cmd_state from, enum irqbed_cmd_state to);
void irqbed_end_slot(struct irqbed_queue *q, u32 slot, enum irqbed_ctx ctx);
void irqbed_end_lost(struct irqbed_queue *q);
void irqbed_lost_failed(struct irqbed_queue *q, u32 slot, blk_status_t error);
void irqbed_advance_locked(struct irqbed_queue *q, bool alone_is_done);

/* lock.c */
void irqbed_lock_init(struct irqbed_lock *l, const struct irqbed_ctrl *ctrl);
struct irqbed_lock *irqbed_queue_lock(struct irqbed_queue *q);
unsigned long irqbed_lock(struct irqbed_lock *l) __acquires(&l->lock);
void irqbed_unlock(struct irqbed_lock *l, unsigned long flags)
	__releases(&l->lock);
void irqbed_lock_stats_reset(struct irqbed_lock *l);

/* reap.c */
struct irqbed_reap_result irqbed_reap(struct irqbed_ctrl *ctrl, u32 queues,
				      const struct irqbed_budget *budget,
				      enum irqbed_ctx ctx, u64 start_ns);

/* rest.c */
bool irqbed_cpu_is_flooded(const struct irqbed_ctrl *ctrl, u64 now_ns);
u64 irqbed_account(struct irqbed_vector *vec, enum irqbed_ctx ctx, u64 start_ns);
void irqbed_leave(struct irqbed_vector *vec, u32 queues);
irqreturn_t irqbed_hand_over(struct irqbed_vector *vec);
irqreturn_t irqbed_irq_thread(int irq, void *data);
void irqbed_rest_init(struct irqbed_vector *vec);
void irqbed_rest_sync(struct irqbed_vector *vec);
int irqbed_rest_module_init(void);
void irqbed_rest_module_exit(void);

/* polled.c */
struct io_comp_batch;

u32 irqbed_hctx_count(const struct irqbed_ctrl *ctrl);
int irqbed_init_hctx(struct blk_mq_hw_ctx *hctx, void *data,
		     unsigned int hctx_idx);
void irqbed_map_queues(struct blk_mq_tag_set *set);
void irqbed_irq_need(struct irqbed_queue *q);
void irqbed_irq_unneed(struct irqbed_queue *q);
void irqbed_irqs_need(struct irqbed_ctrl *ctrl);
void irqbed_irqs_unneed(struct irqbed_ctrl *ctrl);
int irqbed_mq_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob);

/* irq.c */
void irqbed_vector_mask(struct irqbed_vector *vec, bool off);
int irqbed_vectors_alloc(struct irqbed_ctrl *ctrl, u32 count);
struct irqbed_events irqbed_ack(struct irqbed_vector *vec);
int irqbed_irq_init(struct irqbed_ctrl *ctrl);
void irqbed_irq_exit(struct irqbed_ctrl *ctrl);
void irqbed_irq_mask(struct irqbed_ctrl *ctrl, bool off);
void irqbed_irq_sync(struct irqbed_ctrl *ctrl);

/* recover.c */
enum blk_eh_timer_return irqbed_timeout(struct request *rq);
bool irqbed_any_live(struct irqbed_ctrl *ctrl, u32 queues);
void irqbed_recover_work(struct work_struct *work);
void irqbed_recover_schedule(struct irqbed_ctrl *ctrl, u32 queues);
void irqbed_kill(struct irqbed_ctrl *ctrl);

/* plug.c */
void irqbed_plug_work(struct work_struct *work);
void irqbed_plug_schedule(struct irqbed_ctrl *ctrl, u32 queues);
void irqbed_plug_end(struct irqbed_ctrl *ctrl);

/* stats.c */
struct seq_file;

int irqbed_stats_print(struct irqbed_ctrl *ctrl, struct seq_file *m);
void irqbed_stats_reset(struct irqbed_ctrl *ctrl);

/* debugfs.c */
void irqbed_debugfs_init(void);
void irqbed_debugfs_exit(void);
void irqbed_debugfs_add(struct irqbed_ctrl *ctrl);
void irqbed_debugfs_remove(struct irqbed_ctrl *ctrl);

#endif /* IRQBED_H */
