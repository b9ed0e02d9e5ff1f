// SPDX-License-Identifier: GPL-2.0-only
/*
 * UFS transport, the way of a request: UTRD and command UPIU, doorbell,
 * interrupt status, response.
 *
 * Stages G1 and G2.  UFSHCI 3.1 sections 5.3 (status), 5.4 (doorbell), 6.1
 * (descriptors); UFS 3.1 section 10.7 (UPIUs); SBC-3 for the commands.
 */
#include "ufs.h"

/* A SCSI command for a slot: where the pieces are put together. */
struct irqbed_ufs_cdb {
	u8 cdb[UFS_CDB_SIZE];
	u8 flags;			/* UPIU_CMD_FLAGS_* */
	enum utp_data_direction dir;
	u32 bytes;
};

/**
 * irqbed_ufs_fill_utrd() - describe a slot's request to the host controller
 * @ufs: the transport
 * @slot: the slot
 * @dir: which way the data goes
 * @segments: entries of the slot's PRDT
 */
void irqbed_ufs_fill_utrd(struct irqbed_ufs *ufs, u32 slot,
			  enum utp_data_direction dir, u32 segments)
{
	struct utp_transfer_req_desc *utrd = &ufs->utrd[slot];

	memset(utrd, 0, sizeof(*utrd));
	utrd->header.command_type = UTP_CMD_TYPE_UFS_STORAGE;
	utrd->header.data_direction = dir;
	utrd->header.interrupt = 1;
	/* The hardware overwrites it; this value means that it did not. */
	utrd->header.ocs = OCS_INVALID_COMMAND_STATUS;
	utrd->command_desc_base_addr =
		cpu_to_le64(irqbed_ufs_ucd_dma(ufs, slot));
	utrd->response_upiu_offset =
		cpu_to_le16(offsetof(struct irqbed_ufs_ucd, response_upiu) / 4);
	utrd->response_upiu_length = cpu_to_le16(ALIGNED_UPIU_SIZE / 4);
	utrd->prd_table_offset =
		cpu_to_le16(offsetof(struct irqbed_ufs_ucd, prdt) / 4);
	utrd->prd_table_length = cpu_to_le16(segments);
}

/**
 * irqbed_ufs_fill_prd() - one entry of a PRDT
 * @prd: the entry
 * @addr: bus address
 * @bytes: length, not 0, a multiple of 4
 */
void irqbed_ufs_fill_prd(struct ufshcd_sg_entry *prd, dma_addr_t addr,
			 u32 bytes)
{
	prd->addr = cpu_to_le64(addr);
	prd->reserved = 0;
	prd->size = cpu_to_le32(bytes - 1);
}

/* (10) while it reaches, else (16). */
static void irqbed_ufs_cdb_rw(struct irqbed_ufs_cdb *c, bool write, u64 lba,
			      u32 blocks)
{
	if (lba + blocks <= U32_MAX && blocks <= U16_MAX) {
		c->cdb[0] = write ? WRITE_10 : READ_10;
		put_unaligned_be32((u32)lba, &c->cdb[2]);
		put_unaligned_be16((u16)blocks, &c->cdb[7]);
	} else {
		c->cdb[0] = write ? WRITE_16 : READ_16;
		put_unaligned_be64(lba, &c->cdb[2]);
		put_unaligned_be32(blocks, &c->cdb[10]);
	}
	c->flags = write ? UPIU_CMD_FLAGS_WRITE : UPIU_CMD_FLAGS_READ;
	c->dir = write ? UTP_HOST_TO_DEVICE : UTP_DEVICE_TO_HOST;
}

static void irqbed_ufs_cdb_unmap(struct irqbed_ufs_cdb *c,
				 struct irqbed_ufs_unmap *list, u64 lba,
				 u32 blocks)
{
	memset(list, 0, sizeof(*list));
	list->data_len = cpu_to_be16(sizeof(*list) - sizeof(list->data_len));
	list->descr_len = cpu_to_be16(sizeof(*list) - 8);
	list->lba = cpu_to_be64(lba);
	list->blocks = cpu_to_be32(blocks);
	c->cdb[0] = UNMAP;
	put_unaligned_be16(sizeof(*list), &c->cdb[7]);
	c->flags = UPIU_CMD_FLAGS_WRITE;
	c->dir = UTP_HOST_TO_DEVICE;
	c->bytes = sizeof(*list);
}

static blk_status_t irqbed_ufs_cdb(struct irqbed_ufs *ufs, struct request *rq,
				   struct irqbed_ufs_cdb *c)
{
	struct irqbed_disk *disk = rq->q->queuedata;
	u64 lba = blk_rq_pos(rq) >> (disk->block_shift - SECTOR_SHIFT);
	u32 blocks = blk_rq_bytes(rq) >> disk->block_shift;

	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		irqbed_ufs_cdb_rw(c, req_op(rq) == REQ_OP_WRITE, lba, blocks);
		c->bytes = blk_rq_bytes(rq);
		break;
	case REQ_OP_FLUSH:
		c->cdb[0] = SYNCHRONIZE_CACHE;	/* all of it */
		break;
	case REQ_OP_DISCARD:
		irqbed_ufs_cdb_unmap(c, &ufs->ucd[irqbed_ufs_rq_index(rq)].unmap, lba, blocks);
		break;
	case REQ_OP_DRV_IN:
		c->cdb[0] = TEST_UNIT_READY;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	return BLK_STS_OK;
}

static u32 irqbed_ufs_prdt(struct irqbed_ufs *ufs, struct request *rq)
{
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct irqbed_ufs_ucd *ucd = &ufs->ucd[irqbed_ufs_rq_index(rq)];
	struct scatterlist *sg;
	int i;

	if (req_op(rq) == REQ_OP_DISCARD) {
		irqbed_ufs_fill_prd(ucd->prdt,
				    irqbed_ufs_ucd_dma(ufs, irqbed_ufs_rq_index(rq)) +
				    offsetof(struct irqbed_ufs_ucd, unmap),
				    sizeof(ucd->unmap));
		return 1;
	}
	for_each_sg(cmd->sgl, sg, cmd->mapped, i)
		irqbed_ufs_fill_prd(&ucd->prdt[i], sg_dma_address(sg),
				    sg_dma_len(sg));
	return cmd->mapped;
}

/**
 * irqbed_ufs_prep() - describe a request to the hardware
 * @q: its queue
 * @rq: the request, its data mapped
 *
 * Return: BLK_STS_OK, or BLK_STS_NOTSUPP.
 */
blk_status_t irqbed_ufs_prep(struct irqbed_queue *q, struct request *rq)
{
	struct irqbed_ufs *ufs = irqbed_ufs(q->ctrl);
	u32 index = irqbed_ufs_rq_index(rq);
	struct utp_upiu_req *req = irqbed_ufs_req(ufs, index);
	struct irqbed_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct irqbed_ufs_cdb c = { };
	blk_status_t status;

	status = irqbed_ufs_cdb(ufs, rq, &c);
	if (status)
		return status;
	memset(req, 0, sizeof(*req));
	req->header.transaction_code = UPIU_TRANSACTION_COMMAND;
	req->header.flags = c.flags;
	req->header.lun = cmd->lun;
	req->header.task_tag = index;
	req->sc.exp_data_transfer_len = cpu_to_be32(c.bytes);
	memcpy(req->sc.cdb, c.cdb, sizeof(c.cdb));
	memset(irqbed_ufs_rsp(ufs, index), 0, sizeof(struct utp_upiu_rsp));
	irqbed_ufs_fill_utrd(ufs, index, c.dir, irqbed_ufs_prdt(ufs, rq));
	return BLK_STS_OK;
}

static void irqbed_ufs_kick(struct irqbed_queue *q, u32 slot)
{
	irqbed_ufs_write(q->ctrl, REG_UTP_TRANSFER_REQ_DOOR_BELL, BIT(slot));
}

/*
 * The host controller clears a slot's bit when its response is in memory
 * (UFSHCI 3.1 section 5.4.3).  A controller that is gone reads as all ones,
 * which means here that nothing is finished.
 */
static u32 irqbed_ufs_done(struct irqbed_queue *q)
{
	u32 left = irqbed_ufs_read(q->ctrl, REG_UTP_TRANSFER_REQ_DOOR_BELL);

	if (unlikely(irqbed_doubts(q->ctrl)) && !irqbed_ufs_is_on(q->ctrl))
		return 0;
	return ~left;
}

/**
 * irqbed_ufs_sense_key() - sense key of a response, SPC-4 section 4.5
 * @rsp: the response UPIU
 *
 * Return: the key, NO_SENSE if there is none.
 */
int irqbed_ufs_sense_key(const struct utp_upiu_rsp *rsp)
{
	const u8 *sense = rsp->sr.sense_data;

	if (!rsp->sr.sense_data_len)
		return 0;
	return (sense[0] & 0x7f) >= 0x72 ? sense[1] & 0x0f : sense[2] & 0x0f;
}

static blk_status_t irqbed_ufs_check(const struct utp_upiu_rsp *rsp)
{
	switch (irqbed_ufs_sense_key(rsp)) {
	case 0x6:	/* UNIT ATTENTION: told once, the command was not done */
	case 0x2:	/* NOT READY */
	case 0xb:	/* ABORTED COMMAND: for no fault of its own */
		return BLK_STS_RESOURCE;
	case 0x3:
		return BLK_STS_MEDIUM;
	case 0x5:	/* ILLEGAL REQUEST */
		return BLK_STS_NOTSUPP;
	case 0x7:	/* DATA PROTECT */
		return BLK_STS_TARGET;
	default:
		return BLK_STS_IOERR;
	}
}

/**
 * irqbed_ufs_result() - how a finished request went
 * @q: its queue
 * @rq: the request
 *
 * Return: the status; BLK_STS_RESOURCE, or BLK_STS_TIMEOUT when it was given
 * up, to send it again.
 */
blk_status_t irqbed_ufs_result(struct irqbed_queue *q, struct request *rq)
{
	struct irqbed_ufs *ufs = irqbed_ufs(q->ctrl);
	u32 index = irqbed_ufs_rq_index(rq);
	const struct utp_upiu_rsp *rsp = irqbed_ufs_rsp(ufs, index);
	u8 ocs = ufs->utrd[index].header.ocs & MASK_OCS;

	if (unlikely(ocs != OCS_SUCCESS)) {
		/* Given up, not done; by the queue's entry, or by us alone. */
		if (ocs == OCS_ABORTED || ocs == OCS_INVALID_COMMAND_STATUS)
			return BLK_STS_TIMEOUT;
		dev_err_ratelimited(&q->ctrl->pdev->dev,
				    "slot %d: overall command status 0x%x\n",
				    rq->tag, ocs);
		return BLK_STS_IOERR;
	}
	if (unlikely(rsp->header.transaction_code != UPIU_TRANSACTION_RESPONSE ||
		     rsp->header.task_tag != index)) {
		dev_err_ratelimited(&q->ctrl->pdev->dev,
				    "slot %d: response 0x%02x for tag %u\n",
				    rq->tag, rsp->header.transaction_code,
				    rsp->header.task_tag);
		return BLK_STS_IOERR;
	}
	switch (rsp->header.status) {
	case SAM_STAT_GOOD:
		if (unlikely(rsp->sr.residual_transfer_count))
			return BLK_STS_IOERR;
		return BLK_STS_OK;
	case SAM_STAT_BUSY:
	case SAM_STAT_TASK_SET_FULL:
		return BLK_STS_RESOURCE;
	case SAM_STAT_CHECK_CONDITION:
		return irqbed_ufs_check(rsp);
	default:
		return BLK_STS_IOERR;
	}
}

static struct irqbed_events irqbed_ufs_ack(struct irqbed_vector *vec)
{
	struct irqbed_ctrl *ctrl = vec->ctrl;
	u32 status = irqbed_ufs_read(ctrl, REG_INTERRUPT_STATUS);
	struct irqbed_events events = { };

	if (unlikely(status == U32_MAX))	/* gone */
		return events;
	status &= IRQBED_UFS_IE;
	if (!status)
		return events;
	if (!ctrl->config.keep_status)
		irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS, status);
	events.ours = true;
	if (status & UTP_TRANSFER_REQ_COMPL)
		events.done = vec->queues;
	if (unlikely(status & IRQBED_UFS_FATAL))
		events.stuck = vec->queues;
	return events;
}

static void irqbed_ufs_mask(struct irqbed_vector *vec, bool off)
{
	u32 events = vec->ctrl->queues[0]->quiet ? IRQBED_UFS_FATAL :
						   IRQBED_UFS_IE;

	irqbed_ufs_write(vec->ctrl, REG_INTERRUPT_ENABLE, off ? 0 : events);
}

const struct irqbed_transport irqbed_ufs_transport = {
	.name = "ufs",
	.bar = IRQBED_UFS_BAR,
	.has_wluns = true,
	.alloc = irqbed_ufs_alloc,
	.start = irqbed_ufs_start,
	.stop = irqbed_ufs_stop,
	.scan = irqbed_ufs_scan,
	.prep = irqbed_ufs_prep,
	.kick = irqbed_ufs_kick,
	.done = irqbed_ufs_done,
	.result = irqbed_ufs_result,
	.ack = irqbed_ufs_ack,
	.mask = irqbed_ufs_mask,
	.give_up = irqbed_ufs_give_up,
};
