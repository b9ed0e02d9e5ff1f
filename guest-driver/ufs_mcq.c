// SPDX-License-Identifier: GPL-2.0-only
/*
 * UFS transport with queues: one submission and one completion queue for each
 * of the driver's, and a vector of its own for it, or one for all.
 *
 * Stages G1 and G2.  UFSHCI 4.0: CONFIG, MCQCONFIG, SQATTR to CQISAO, and the
 * registers that these point at.  Requests are described as with the doorbell
 * (ufs.c); an entry of a submission queue is that description.  Probing and
 * starting are done over the doorbell, before the controller is switched over.
 */
#include <linux/dma-mapping.h>

#include "ufs.h"

#define IRQBED_MCQ_QCFG(q)	(0x400 + 0x40 * (q))
#define IRQBED_MCQ_MAC		GENMASK(16, 8)	/* of MCQCONFIG, 0-based */
#define IRQBED_MCQ_MAXQ		GENMASK(7, 0)	/* of MCQCAP, 0-based */
#define IRQBED_MCQ_ENABLE	BIT(31)		/* of SQATTR and CQATTR */
#define IRQBED_MCQ_CQID		GENMASK(23, 16)	/* of SQATTR */
#define IRQBED_MCQ_ESIE		BIT(1)		/* of CONFIG */
/* A queue of 32 slots never fills this many entries. */
#define IRQBED_MCQ_ENTRIES	64
#define IRQBED_MCQ_BYTES	(IRQBED_MCQ_ENTRIES * sizeof(struct cq_entry))
/* Looks at IS in one interrupt, should hardware never be satisfied. */
#define IRQBED_MCQ_LOOKS	64

static_assert(sizeof(struct cq_entry) == sizeof(struct utp_transfer_req_desc));

static struct irqbed_ufs_ring *irqbed_mcq_ring(struct irqbed_queue *q)
{
	return &irqbed_ufs(q->ctrl)->rings[q->index];
}

static u32 irqbed_mcq_next(u32 offset)
{
	offset += sizeof(struct cq_entry);
	return offset == IRQBED_MCQ_BYTES ? 0 : offset;
}

/**
 * irqbed_ufs_mcq_queues() - queue pairs that will be used
 * @ctrl: the controller
 * @cap: its CAP register
 *
 * Return: 0 when it has the doorbell only.
 */
u32 irqbed_ufs_mcq_queues(struct irqbed_ctrl *ctrl, u32 cap)
{
	u32 offered, wanted = ctrl->config.hw_queues;

	if (!(cap & MASK_MCQ_SUPPORT))
		return 0;
	offered = FIELD_GET(IRQBED_MCQ_MAXQ,
			    irqbed_ufs_read(ctrl, REG_MCQCAP)) + 1;
	if (!wanted)
		wanted = num_online_cpus();
	return min3(wanted, offered, (u32)IRQBED_UFS_MAX_RINGS);
}

/**
 * irqbed_ufs_mcq_alloc() - memory for the rings
 * @ctrl: the controller, its queues there
 *
 * Return: 0 or -ENOMEM.
 */
int irqbed_ufs_mcq_alloc(struct irqbed_ctrl *ctrl)
{
	struct device *dev = &ctrl->pdev->dev;

	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_ufs_ring *r = &irqbed_ufs(ctrl)->rings[i];

		r->sq = dmam_alloc_coherent(dev, IRQBED_MCQ_BYTES, &r->sq_dma,
					    GFP_KERNEL);
		r->cq = dmam_alloc_coherent(dev, IRQBED_MCQ_BYTES, &r->cq_dma,
					    GFP_KERNEL);
		if (!r->sq || !r->cq)
			return -ENOMEM;
	}
	return 0;
}

/* Where the hardware says that a group of a queue's registers is. */
static void __iomem *irqbed_mcq_regs(struct irqbed_ctrl *ctrl, u32 q, u32 reg)
{
	u32 offset = irqbed_ufs_read(ctrl, IRQBED_MCQ_QCFG(q) + reg);
	resource_size_t size = pci_resource_len(ctrl->pdev, IRQBED_UFS_BAR);

	if (offset % 4 || offset > size - REG_SQRTS - sizeof(u32))
		return NULL;
	return ctrl->regs + offset;
}

/* The completion queue first: the other one names it. */
static int irqbed_mcq_ring_start(struct irqbed_ctrl *ctrl, u32 q)
{
	struct irqbed_ufs_ring *r = &irqbed_ufs(ctrl)->rings[q];
	const u32 attr = IRQBED_MCQ_ENABLE | (IRQBED_MCQ_BYTES / 4 - 1);
	const u32 base = IRQBED_MCQ_QCFG(q);

	r->sq_regs = irqbed_mcq_regs(ctrl, q, REG_SQDAO);
	r->cq_regs = irqbed_mcq_regs(ctrl, q, REG_CQDAO);
	r->irq_regs = irqbed_mcq_regs(ctrl, q, REG_CQISAO);
	if (!r->sq_regs || !r->cq_regs || !r->irq_regs)
		return -EIO;
	r->sq_tail = 0;
	r->cq_head = 0;
	irqbed_ufs_write(ctrl, base + REG_CQLBA, lower_32_bits(r->cq_dma));
	irqbed_ufs_write(ctrl, base + REG_CQUBA, upper_32_bits(r->cq_dma));
	irqbed_ufs_write(ctrl, base + REG_CQATTR, attr);
	irqbed_ufs_write(ctrl, base + REG_SQLBA, lower_32_bits(r->sq_dma));
	irqbed_ufs_write(ctrl, base + REG_SQUBA, upper_32_bits(r->sq_dma));
	irqbed_ufs_write(ctrl, base + REG_SQATTR,
			 attr | FIELD_PREP(IRQBED_MCQ_CQID, q));
	/* Nothing, until the vector's mask is taken away. */
	r->events = 0;
	writel(0, r->irq_regs + REG_CQIE);
	return 0;
}

/* From the doorbell to the queues. */
static int irqbed_mcq_switch(struct irqbed_ctrl *ctrl)
{
	const u32 slots = ctrl->nr_queues * ctrl->depth;

	irqbed_ufs_write(ctrl, REG_UFS_MCQ_CFG,
			 FIELD_PREP(IRQBED_MCQ_MAC,
				    min_t(u32, slots, irqbed_ufs(ctrl)->mac) - 1));
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		int err = irqbed_mcq_ring_start(ctrl, i);

		if (err)
			return err;
	}
	irqbed_ufs_write(ctrl, REG_UFS_MEM_CFG, MCQ_MODE_SELECT |
			 (ctrl->nr_vectors > 1 ? IRQBED_MCQ_ESIE : 0));
	return 0;
}

/* The first time, the controller is scanned before it is switched over. */
static int irqbed_mcq_start(struct irqbed_ctrl *ctrl, struct irqbed_queue *q)
{
	int err = irqbed_ufs_start(ctrl, q);

	return err || !ctrl->nr_disks ? err : irqbed_mcq_switch(ctrl);
}

static int irqbed_mcq_scan(struct irqbed_ctrl *ctrl)
{
	int err = irqbed_ufs_scan(ctrl);

	return err || !ctrl->nr_disks ? err : irqbed_mcq_switch(ctrl);
}

static void irqbed_mcq_kick(struct irqbed_queue *q, u32 slot)
{
	struct irqbed_ufs_ring *r = irqbed_mcq_ring(q);
	struct irqbed_ufs *ufs = irqbed_ufs(q->ctrl);

	r->sq[r->sq_tail / sizeof(*r->sq)] =
		ufs->utrd[irqbed_ufs_index(q, slot)];
	r->sq_tail = irqbed_mcq_next(r->sq_tail);
	writel(r->sq_tail, r->sq_regs + REG_SQTP);
}

/* The slot that an entry is about; what is none of this queue's is passed by. */
static u32 irqbed_mcq_take(struct irqbed_queue *q, const struct cq_entry *e)
{
	struct irqbed_ufs *ufs = irqbed_ufs(q->ctrl);
	u64 addr = le64_to_cpu(READ_ONCE(e->command_desc_base_addr)) &
		   ~(u64)(IRQBED_UCD_ALIGN - 1);
	u64 index = div_u64(addr - ufs->ucd_dma, sizeof(*ufs->ucd));
	u64 slot = index - irqbed_ufs_index(q, 0);

	if (addr < ufs->ucd_dma || slot >= q->ctrl->depth ||
	    !(q->outstanding & BIT(slot)))
		return 0;
	ufs->utrd[index].header.ocs = le32_to_cpu(READ_ONCE(e->status)) &
				      MASK_OCS;
	return BIT(slot);
}

/* A controller that is gone, or mad, has finished nothing. */
static u32 irqbed_mcq_done(struct irqbed_queue *q)
{
	struct irqbed_ufs_ring *r = irqbed_mcq_ring(q);
	u32 tail = readl(r->cq_regs + REG_CQTP);
	u32 done = 0;

	if (tail >= IRQBED_MCQ_BYTES || tail % sizeof(struct cq_entry) ||
	    tail == r->cq_head)
		return 0;
	if (unlikely(irqbed_doubts(q->ctrl)) && !irqbed_ufs_is_on(q->ctrl))
		return 0;
	while (r->cq_head != tail) {
		done |= irqbed_mcq_take(q, &r->cq[r->cq_head / sizeof(*r->cq)]);
		r->cq_head = irqbed_mcq_next(r->cq_head);
	}
	writel(r->cq_head, r->cq_regs + REG_CQHP);
	return done;
}

/* CQIS is cleared before the tail is read, see irqbed_irq_hard(). */
static bool irqbed_mcq_ack_queue(struct irqbed_queue *q)
{
	struct irqbed_ufs_ring *r = irqbed_mcq_ring(q);
	u32 status = readl(r->irq_regs + REG_CQIS);

	if (status == U32_MAX ||
	    !(status & UFSHCD_MCQ_CQIS_TAIL_ENT_PUSH_STS))
		return false;
	writel(UFSHCD_MCQ_CQIS_TAIL_ENT_PUSH_STS, r->irq_regs + REG_CQIS);
	return true;
}

/*
 * A vector for all: IS is looked at until it is 0, since only its going from 0
 * to 1 sends the next message.
 */
static struct irqbed_events irqbed_mcq_ack_all(struct irqbed_vector *vec)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	struct irqbed_events events = { };

	for (u32 i = 0; i < IRQBED_MCQ_LOOKS; i++) {
		u32 status = irqbed_ufs_read(ctrl, REG_INTERRUPT_STATUS);
		u32 queues = vec->queues;

		if (status == U32_MAX || !(status & IRQBED_UFS_MCQ_IE))
			break;
		events.ours = true;
		if (status & IRQBED_UFS_FATAL) {
			irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS,
					 status & IRQBED_UFS_FATAL);
			events.stuck = vec->queues;
		}
		while (queues) {
			struct irqbed_queue *q = irqbed_next_queue(ctrl,
								   &queues);

			if (irqbed_mcq_ack_queue(q))
				events.done |= BIT(q->index);
		}
	}
	return events;
}

/* The controller's own vector: fatal errors, which stop all queues. */
static struct irqbed_events irqbed_mcq_ack_trouble(struct irqbed_ctrl *ctrl)
{
	u32 status = irqbed_ufs_read(ctrl, REG_INTERRUPT_STATUS);
	struct irqbed_events events = { };

	status &= status == U32_MAX ? 0 : IRQBED_UFS_FATAL;
	if (!status)
		return events;
	irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS, status);
	events.ours = true;
	events.stuck = irqbed_all_queues(ctrl);
	return events;
}

static struct irqbed_events irqbed_mcq_ack(struct irqbed_vector *vec)
{
	struct irqbed_events events = { };

	if (vec->ctrl->nr_vectors == 1)
		return irqbed_mcq_ack_all(vec);
	if (!vec->queues)
		return irqbed_mcq_ack_trouble(vec->ctrl);
	if (irqbed_mcq_ack_queue(vec->ctrl->queues[vec->index])) {
		events.ours = true;
		events.done = vec->queues;
	}
	return events;
}

static void irqbed_mcq_mask_queue(struct irqbed_queue *q, bool off)
{
	struct irqbed_ufs_ring *r = irqbed_mcq_ring(q);
	u32 events = off || q->quiet ? 0 : UFSHCD_MCQ_CQIS_TAIL_ENT_PUSH_STS;

	if (!r->irq_regs || r->events == events)
		return;
	r->events = events;
	writel(events, r->irq_regs + REG_CQIE);
}

/* One vector for all is masked as a whole, quickly. */
static void irqbed_mcq_mask(struct irqbed_vector *vec, bool off)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	u32 queues = vec->queues;

	if (!queues) {
		irqbed_ufs_write(ctrl, REG_INTERRUPT_ENABLE,
				 off ? 0 : IRQBED_UFS_FATAL);
		return;
	}
	if (ctrl->nr_vectors > 1) {
		irqbed_mcq_mask_queue(ctrl->queues[vec->index], off);
		return;
	}
	while (queues && !off)
		irqbed_mcq_mask_queue(irqbed_next_queue(ctrl, &queues), false);
	irqbed_ufs_write(ctrl, REG_INTERRUPT_ENABLE,
			 off ? 0 : IRQBED_UFS_MCQ_IE);
}

const struct irqbed_transport irqbed_ufs_mcq_transport = {
	.name = "ufs, queues",
	.bar = IRQBED_UFS_BAR,
	.has_wluns = true,
	.first_message = 1,
	.alloc = irqbed_ufs_alloc,
	.start = irqbed_mcq_start,
	.stop = irqbed_ufs_stop,
	.scan = irqbed_mcq_scan,
	.prep = irqbed_ufs_prep,
	.kick = irqbed_mcq_kick,
	.done = irqbed_mcq_done,
	.result = irqbed_ufs_result,
	.ack = irqbed_mcq_ack,
	.mask = irqbed_mcq_mask,
	.give_up = irqbed_ufs_give_up,
};
