// SPDX-License-Identifier: GPL-2.0-only
/*
 * AHCI transport, the way of a request: command header, FIS and PRD table,
 * PxSACT and PxCI, interrupt status.
 *
 * Stages G1 and G2.  AHCI 1.3.1 sections 4.2 (structures), 5.5.1 and 5.6
 * (issuing, completion), 10.6.2 (interrupts); ACS-2 and Serial ATA 3.1 section
 * 13.6 for the commands.
 *
 * Reads and writes are queued (NCQ) where the drive can; flushes and trims are
 * not, and must not be on their way beside queued commands: cmd->alone.
 */
#include "ahci.h"

/**
 * irqbed_ahci_fill_prd() - one entry of a PRD table
 * @prd: the entry
 * @addr: bus address, even
 * @bytes: length, even, not 0, at most 4 MiB
 */
void irqbed_ahci_fill_prd(struct irqbed_ahci_prd *prd, dma_addr_t addr,
			  u32 bytes)
{
	prd->dba = cpu_to_le64(addr);
	prd->reserved = 0;
	prd->dbc = cpu_to_le32(bytes - 1);
}

/**
 * irqbed_ahci_fill() - describe a command to the HBA
 * @port: the port
 * @slot: the slot, its PRD table filled
 * @c: the command
 */
void irqbed_ahci_fill(struct irqbed_ahci_port *port, u32 slot,
		      const struct irqbed_ahci_command *c)
{
	struct irqbed_ahci_header *header = &port->mem->list[slot];
	struct irqbed_ahci_fis *fis = &port->mem->table[slot].fis;

	memset(fis, 0, sizeof(*fis));
	fis->type = AHCI_FIS_H2D;
	fis->flags = AHCI_FIS_COMMAND;
	fis->command = c->command;
	fis->device = c->device;
	fis->feature_low = c->feature;
	fis->feature_high = c->feature >> 8;
	fis->count_low = c->count;
	fis->count_high = c->count >> 8;
	for (int i = 0; i < 3; i++) {
		fis->lba[i] = c->lba >> (8 * i);
		fis->lba_high[i] = c->lba >> (8 * i + 24);
	}
	memset(header, 0, sizeof(*header));
	header->flags = cpu_to_le16(AHCI_HEADER_CFL |
				    (c->write ? AHCI_HEADER_WRITE : 0));
	header->prdtl = cpu_to_le16(c->segments);
	header->ctba = cpu_to_le64(port->dma +
				   offsetof(struct irqbed_ahci_mem, table) +
				   slot * sizeof(struct irqbed_ahci_table));
}

static void irqbed_ahci_rw(struct irqbed_ahci_port *port, struct request *rq,
			   struct irqbed_ahci_command *c, u32 blocks)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct irqbed_ahci_table *table = &port->mem->table[rq->tag];
	struct scatterlist *sg;
	int i;

	c->write = req_op(rq) == REQ_OP_WRITE;
	c->device = ATA_LBA;
	c->segments = cmd->mapped;
	if (port->ncq) {
		c->command = c->write ? ATA_CMD_FPDMA_WRITE : ATA_CMD_FPDMA_READ;
		c->feature = blocks;
		c->count = rq->tag << 3;
	} else {
		c->command = c->write ? ATA_CMD_WRITE_EXT : ATA_CMD_READ_EXT;
		c->count = blocks;
		cmd->alone = true;
	}
	for_each_sg(cmd->sgl, sg, cmd->mapped, i)
		irqbed_ahci_fill_prd(&table->prdt[i], sg_dma_address(sg),
				     sg_dma_len(sg));
}

/* ACS-2 7.10: one block of ranges; what is left of it is 0. */
static void irqbed_ahci_trim(struct irqbed_ahci_port *port, struct request *rq,
			     struct irqbed_ahci_command *c, u32 blocks)
{
	struct irqbed_ahci_table *table = &port->mem->table[rq->tag];
	u64 lba = c->lba;

	memset(table->ranges, 0, sizeof(table->ranges));
	for (u32 i = 0; blocks && i < IRQBED_AHCI_RANGES; i++) {
		u32 count = min_t(u32, blocks, IRQBED_AHCI_RANGE_MAX);

		table->ranges[i] = cpu_to_le64(lba | (u64)count << 48);
		lba += count;
		blocks -= count;
	}
	irqbed_ahci_fill_prd(table->prdt, port->dma +
			     offsetof(struct irqbed_ahci_mem, table[rq->tag]) +
			     offsetof(struct irqbed_ahci_table, ranges),
			     sizeof(table->ranges));
	c->command = ATA_CMD_DSM;
	c->feature = ATA_DSM_TRIM;
	c->device = ATA_LBA;
	c->lba = 0;
	c->count = 1;
	c->write = true;
	c->segments = 1;
}

static blk_status_t irqbed_ahci_prep(struct irqbed_queue *q,
				     struct request *rq)
{
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	struct irqbed_disk *disk = rq->q->queuedata;
	u32 blocks = blk_rq_bytes(rq) >> disk->block_shift;
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct irqbed_ahci_command c = { };

	c.lba = blk_rq_pos(rq) >> (disk->block_shift - SECTOR_SHIFT);
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		irqbed_ahci_rw(port, rq, &c, blocks);
		break;
	case REQ_OP_FLUSH:
		c.lba = 0;
		c.command = ATA_CMD_FLUSH_EXT;
		cmd->alone = true;
		break;
	case REQ_OP_DISCARD:
		irqbed_ahci_trim(port, rq, &c, blocks);
		cmd->alone = true;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	irqbed_ahci_fill(port, rq->tag, &c);
	return BLK_STS_OK;
}

/* 5.5.1: of a queued command, PxSACT goes first. */
static void irqbed_ahci_kick(struct irqbed_queue *q, u32 slot)
{
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(q->cmds[slot]);

	if (!cmd->alone)
		writel(BIT(slot), port->regs + AHCI_PX_SACT);
	writel(BIT(slot), port->regs + AHCI_PX_CI);
}

/*
 * A queued command leaves PxCI when the drive has taken it and PxSACT when it is
 * done; any other leaves PxCI when it is done; one that failed leaves neither
 * (5.5.3, 6.2.2).  Ports that are gone read as all ones, which means here that
 * nothing is finished.
 */
static u32 irqbed_ahci_done(struct irqbed_queue *q)
{
	void __iomem *regs = irqbed_ahci_port(q)->regs;

	u32 left = readl(regs + AHCI_PX_CI) | readl(regs + AHCI_PX_SACT);

	if (unlikely(irqbed_doubts(q->ctrl)) &&
	    !(readl(regs + AHCI_PX_CMD) & AHCI_PX_CMD_ST))
		return 0;
	return ~left;
}

/* What did not succeed is not finished, see above. */
static blk_status_t irqbed_ahci_result(struct irqbed_queue *q,
				       struct request *rq)
{
	return BLK_STS_OK;
}

/*
 * PxIS of one port.  PCS, PRCS and UFS mirror PxSERR and are cleared there.
 */
static void irqbed_ahci_ack_port(struct irqbed_queue *q,
				 struct irqbed_events *events)
{
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	u32 status = readl(port->regs + AHCI_PX_IS);

	if (unlikely(status == U32_MAX))	/* gone */
		return;
	if (unlikely(status & (IRQBED_AHCI_STUCK | AHCI_PX_IS_UFS))) {
		writel(readl(port->regs + AHCI_PX_SERR),
		       port->regs + AHCI_PX_SERR);
		if (status & IRQBED_AHCI_STUCK) {
			atomic_or(status & IRQBED_AHCI_STUCK, &port->error);
			events->stuck |= BIT(q->index);
		}
	}
	if (!q->ctrl->config.keep_status)
		writel(status, port->regs + AHCI_PX_IS);
	if (status & IRQBED_AHCI_DONE)
		events->done |= BIT(q->index);
	events->ours |= status;
}

/*
 * One vector for all ports: PxIS of each port that IS names, then IS, in this
 * order: IS latches what stands in PxIS (10.6.2).  A vector of a port's own: PxIS
 * alone.
 */
static struct irqbed_events irqbed_ahci_ack(struct irqbed_vector *vec)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	struct irqbed_events events = { };
	u32 status;
	u32 ports;

	if (ctrl->nr_vectors > 1) {
		irqbed_ahci_ack_port(ctrl->queues[vec->index], &events);
		return events;
	}
	status = readl(ctrl->regs + AHCI_IS);
	if (unlikely(status == U32_MAX && readl(ctrl->regs + AHCI_CAP) ==
		     U32_MAX))	/* gone */
		return events;
	ports = status & irqbed_ahci(ctrl)->ports;
	while (ports)
		irqbed_ahci_ack_port(irqbed_next_queue(ctrl, &ports), &events);
	if (status && !ctrl->config.keep_status)
		writel(status, ctrl->regs + AHCI_IS);
	events.ours |= status;
	return events;
}

/**
 * irqbed_ahci_enable() - say for what a port interrupts
 * @port: the port, which is there
 * @events: bits of PxIE
 */
void irqbed_ahci_enable(struct irqbed_ahci_port *port, u32 events)
{
	port->events = events;
	writel(events, port->regs + AHCI_PX_IE);
}

/* Several vectors have a port each; the global switch then stays on. */
static void irqbed_ahci_mask(struct irqbed_vector *vec, bool off)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	u32 queues = vec->queues;

	if (ctrl->nr_vectors == 1 || !off)
		irqbed_ahci_ghc(ctrl, !off);
	while (queues && !(off && ctrl->nr_vectors == 1)) {
		struct irqbed_queue *q = irqbed_next_queue(ctrl, &queues);
		struct irqbed_ahci_port *port = irqbed_ahci_port(q);
		u32 events = off ? 0 : irqbed_ahci_events(q);

		/* Without a drive it has events of its own. */
		if (port->regs && port->events != events &&
		    (port->up || ctrl->nr_vectors > 1))
			irqbed_ahci_enable(port, events);
	}
}

const struct irqbed_transport irqbed_ahci_transport = {
	.name = "ahci",
	.bar = IRQBED_AHCI_BAR,
	.queues_per_set = 1,
	.recovers_alone = true,
	.alloc = irqbed_ahci_alloc,
	.start = irqbed_ahci_start,
	.stop = irqbed_ahci_stop,
	.scan = irqbed_ahci_scan,
	.prep = irqbed_ahci_prep,
	.kick = irqbed_ahci_kick,
	.done = irqbed_ahci_done,
	.result = irqbed_ahci_result,
	.ack = irqbed_ahci_ack,
	.mask = irqbed_ahci_mask,
};
