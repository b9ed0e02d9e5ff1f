/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The UFS transport's own types: UFSHCI 3.1 over the doorbell.
 *
 * Registers, descriptors and UPIUs are declared by <ufs/ufshci.h>; here is
 * what lies around them.
 */
#ifndef IRQBED_UFS_H
#define IRQBED_UFS_H

#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/unaligned.h>
#include <scsi/scsi_proto.h>
#include <ufs/ufs.h>
#include <ufs/ufshci.h>

#include "irqbed.h"

#define IRQBED_UFS_BAR		0
#define IRQBED_UFS_TM_SLOTS	8
#define IRQBED_UFS_MAX_RINGS	8	/* a task tag has eight bits */
#define IRQBED_UCD_ALIGN	128
#define IRQBED_UFS_ADMIN_BYTES	4096

/* UNMAP parameter list, SBC-3 5.28: header and one block descriptor. */
struct irqbed_ufs_unmap {
	__be16 data_len;	/* bytes after this field */
	__be16 descr_len;
	__be32 reserved;
	__be64 lba;
	__be32 blocks;
	__be32 reserved2;
};

static_assert(sizeof(struct irqbed_ufs_unmap) == 24);

/* UFSHCI 3.1 section 6.1.1: UTP command descriptor, 128-byte aligned. */
struct irqbed_ufs_ucd {
	u8 command_upiu[ALIGNED_UPIU_SIZE];
	u8 response_upiu[ALIGNED_UPIU_SIZE];
	struct ufshcd_sg_entry prdt[IRQBED_MAX_SEGMENTS];
	struct irqbed_ufs_unmap unmap;
} __aligned(IRQBED_UCD_ALIGN);

static_assert(sizeof(struct ufshcd_sg_entry) == 16);
static_assert(sizeof(struct utp_transfer_req_desc) == 32);
static_assert(sizeof(struct utp_task_req_desc) == 80);
static_assert(sizeof(struct utp_upiu_req) == 32);
static_assert(sizeof(struct irqbed_ufs_ucd) % 128 == 0);
static_assert(offsetof(struct irqbed_ufs_ucd, response_upiu) % 8 == 0);
static_assert(offsetof(struct irqbed_ufs_ucd, prdt) % 8 == 0);

/**
 * struct irqbed_ufs_ring - a submission queue and its completion queue
 * @sq: entries of the submission queue
 * @cq: entries of the completion queue
 * @sq_dma: bus address of @sq
 * @cq_dma: bus address of @cq
 * @sq_regs: SQHP and on
 * @cq_regs: CQHP and on
 * @irq_regs: CQIS and on
 * @sq_tail: where the next entry goes, in bytes; under the queue's lock
 * @cq_head: the next entry to look at, ditto
 * @events: CQIE as it was last written
 */
struct irqbed_ufs_ring {
	struct utp_transfer_req_desc *sq;
	struct cq_entry *cq;
	dma_addr_t sq_dma;
	dma_addr_t cq_dma;
	void __iomem *sq_regs;
	void __iomem *cq_regs;
	void __iomem *irq_regs;
	u32 sq_tail;
	u32 cq_head;
	u32 events;
};

/**
 * struct irqbed_ufs - the transport's part of a controller
 * @utrd: transfer request list, one descriptor for each slot
 * @ucd: command descriptors, one for each slot
 * @utmrd: task management list
 * @admin: data of requests made while probing or resetting
 * @rings: queue pairs, for a controller with queues
 * @mac: requests that such a controller takes at once
 * @utrd_dma: bus address of @utrd; and so on
 */
struct irqbed_ufs {
	struct utp_transfer_req_desc *utrd;
	struct irqbed_ufs_ucd *ucd;
	struct utp_task_req_desc *utmrd;
	u8 *admin;
	struct irqbed_ufs_ring rings[IRQBED_UFS_MAX_RINGS];
	u32 mac;
	dma_addr_t utrd_dma;
	dma_addr_t ucd_dma;
	dma_addr_t utmrd_dma;
	dma_addr_t admin_dma;
};

/* Requests finished, and everything after which only a reset helps. */
#define IRQBED_UFS_FATAL	INT_FATAL_ERRORS
#define IRQBED_UFS_IE		(UTP_TRANSFER_REQ_COMPL | IRQBED_UFS_FATAL)

#define IRQBED_UFS_MCQ_IE	(MCQ_CQ_EVENT_STATUS | IRQBED_UFS_FATAL)

/* Slots count through all queues; so do task tags. */
static inline u32 irqbed_ufs_index(const struct irqbed_queue *q, u32 slot)
{
	return q->index * q->ctrl->depth + slot;
}

static inline u32 irqbed_ufs_rq_index(const struct request *rq)
{
	return irqbed_ufs_index(irqbed_rq_queue(rq), rq->tag);
}

static inline struct irqbed_ufs *irqbed_ufs(struct irqbed_ctrl *ctrl)
{
	return ctrl->priv;
}

static inline u32 irqbed_ufs_read(struct irqbed_ctrl *ctrl, u32 reg)
{
	return readl(ctrl->regs + reg);
}

static inline void irqbed_ufs_write(struct irqbed_ctrl *ctrl, u32 reg, u32 val)
{
	writel(val, ctrl->regs + reg);
}

/* What was enabled is still: nothing has reset the controller. */
static inline bool irqbed_ufs_is_on(struct irqbed_ctrl *ctrl)
{
	return irqbed_ufs_read(ctrl, REG_CONTROLLER_ENABLE) & CONTROLLER_ENABLE;
}

static inline struct utp_upiu_req *irqbed_ufs_req(struct irqbed_ufs *ufs,
						  u32 slot)
{
	return (struct utp_upiu_req *)ufs->ucd[slot].command_upiu;
}

static inline struct utp_upiu_rsp *irqbed_ufs_rsp(struct irqbed_ufs *ufs,
						  u32 slot)
{
	return (struct utp_upiu_rsp *)ufs->ucd[slot].response_upiu;
}

static inline dma_addr_t irqbed_ufs_ucd_dma(struct irqbed_ufs *ufs, u32 slot)
{
	return ufs->ucd_dma + slot * sizeof(*ufs->ucd);
}

/* ufs.c */
void irqbed_ufs_fill_utrd(struct irqbed_ufs *ufs, u32 slot,
			  enum utp_data_direction dir, u32 segments);
void irqbed_ufs_fill_prd(struct ufshcd_sg_entry *prd, dma_addr_t addr,
			 u32 bytes);
int irqbed_ufs_sense_key(const struct utp_upiu_rsp *rsp);

blk_status_t irqbed_ufs_prep(struct irqbed_queue *q, struct request *rq);
blk_status_t irqbed_ufs_result(struct irqbed_queue *q, struct request *rq);

/* ufs_mcq.c */
extern const struct irqbed_transport irqbed_ufs_mcq_transport;

u32 irqbed_ufs_mcq_queues(struct irqbed_ctrl *ctrl, u32 cap);
int irqbed_ufs_mcq_alloc(struct irqbed_ctrl *ctrl);

/* ufs_init.c */
int irqbed_ufs_alloc(struct irqbed_ctrl *ctrl);
int irqbed_ufs_start(struct irqbed_ctrl *ctrl, struct irqbed_queue *q);
void irqbed_ufs_stop(struct irqbed_ctrl *ctrl, struct irqbed_queue *q);

/* ufs_scan.c */
int irqbed_ufs_scan(struct irqbed_ctrl *ctrl);
int irqbed_ufs_device_init(struct irqbed_ctrl *ctrl);

/* ufs_task.c */
int irqbed_ufs_give_up(struct irqbed_queue *q, struct request *rq,
		       enum irqbed_step step);

/* ufs_init.c: one request, polled, while nothing else is in flight */
int irqbed_ufs_exec(struct irqbed_ctrl *ctrl, enum utp_data_direction dir,
		    u32 bytes);

#endif /* IRQBED_UFS_H */
