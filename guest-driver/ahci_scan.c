// SPDX-License-Identifier: GPL-2.0-only
/*
 * AHCI transport, asking a drive: what it is (IDENTIFY DEVICE, ACS-2 7.12), and
 * what failed (READ LOG EXT of the queued error log, ACS-2 7.24, Serial ATA 3.1
 * section 13.7.3).
 *
 * Commands in slot 0 of a started port that has nothing else to do; polled.
 */
#include <linux/iopoll.h>

#include "ahci.h"

#define IRQBED_POLL_US		100
#define IRQBED_LIMIT_US		1000000
#define IRQBED_ADMIN_SLOT	0

/* The queued error log */
#define IRQBED_LOG_TAG		0
#define IRQBED_LOG_STATUS	2
#define IRQBED_LOG_ERROR	3
#define IRQBED_LOG_NQ		BIT(7)	/* it was not a queued command */
#define IRQBED_LOG_TAG_MASK	0x1f

#define IRQBED_ID_SIGNED	0xa5	/* low byte of word 255: it has a checksum */

/* Return: 0 done, -EINPROGRESS, or -errno. */
static int irqbed_ahci_exec_state(struct irqbed_ahci_port *port)
{
	u32 ci = readl(port->regs + AHCI_PX_CI);

	if (ci == U32_MAX)
		return -ENODEV;
	if (readl(port->regs + AHCI_PX_IS) &
	    (AHCI_PX_IS_TFES | IRQBED_AHCI_FATAL))
		return -EIO;
	return ci & BIT(IRQBED_ADMIN_SLOT) ? -EINPROGRESS : 0;
}

/* A command with a page of data to port->mem->data. */
static int irqbed_ahci_exec(struct irqbed_queue *q,
			    const struct irqbed_ahci_command *c)
{
	const u32 slot = IRQBED_ADMIN_SLOT;
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	struct irqbed_ahci_mem *mem = port->mem;
	int state;

	irqbed_ahci_fill_prd(mem->table[slot].prdt, port->dma +
			     offsetof(struct irqbed_ahci_mem, data),
			     sizeof(mem->data));
	irqbed_ahci_fill(port, slot, c);
	writel(readl(port->regs + AHCI_PX_IS), port->regs + AHCI_PX_IS);
	q->seq++;
	writel(BIT(slot), port->regs + AHCI_PX_CI);
	if (read_poll_timeout(irqbed_ahci_exec_state, state,
			      state != -EINPROGRESS, IRQBED_POLL_US,
			      IRQBED_LIMIT_US, false, port))
		return -ETIMEDOUT;
	if (state)
		return state;
	if (le32_to_cpu(mem->list[slot].prdbc) != sizeof(mem->data))
		return -EPROTO;
	return 0;
}

static bool irqbed_ahci_sum_is_good(const u8 *data)
{
	u8 sum = 0;

	for (u32 i = 0; i < IRQBED_AHCI_LOG_BYTES; i++)
		sum += data[i];
	return !sum;
}

static blk_status_t irqbed_ahci_error(u8 error)
{
	if (error & ATA_UNC)
		return BLK_STS_MEDIUM;
	return BLK_STS_IOERR;
}

/* The slot of the only request that was lost, if it had to be alone; else -1. */
static int irqbed_ahci_lost_alone(struct irqbed_queue *q)
{
	int slot;

	if (!is_power_of_2(q->lost_slots))
		return -1;
	slot = __ffs(q->lost_slots);
	return ((struct irqbed_cmd *)blk_mq_rq_to_pdu(q->lost[slot]))->alone ?
	       slot : -1;
}

/**
 * irqbed_ahci_failed_slot() - find out who made the port stop
 * @q: its queue; the port runs again after a task file error
 *
 * A command that was not queued was the only one, and PxTFD has its error.
 * Queued ones failed together, and the drive's log names the one that was why;
 * until it is read the drive takes no other command.
 *
 * Return: 0 when the drive takes commands again, else -errno.
 */
int irqbed_ahci_failed_slot(struct irqbed_queue *q)
{
	static const struct irqbed_ahci_command read_log = {
		.command = ATA_CMD_READ_LOG_EXT,
		.device = ATA_LBA,
		.lba = ATA_LOG_SATA_NCQ,
		.count = 1,
		.segments = 1,
	};
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	u32 tfd = readl(port->regs + AHCI_PX_TFD);
	int slot = irqbed_ahci_lost_alone(q);
	const u8 *log = port->mem->data;
	int err;

	if (slot >= 0) {
		irqbed_lost_failed(q, slot, irqbed_ahci_error(tfd >> 8));
		return 0;
	}
	err = irqbed_ahci_exec(q, &read_log);
	if (err)
		return err;
	if (!irqbed_ahci_sum_is_good(log) || (log[IRQBED_LOG_TAG] & IRQBED_LOG_NQ))
		return -EPROTO;
	slot = log[IRQBED_LOG_TAG] & IRQBED_LOG_TAG_MASK;
	dev_err_ratelimited(&q->ctrl->pdev->dev,
			    "port %u: tag %d failed: status 0x%02x, error 0x%02x\n",
			    q->index, slot, log[IRQBED_LOG_STATUS],
			    log[IRQBED_LOG_ERROR]);
	irqbed_lost_failed(q, slot, irqbed_ahci_error(log[IRQBED_LOG_ERROR]));
	return 0;
}

static void irqbed_ahci_describe(struct irqbed_queue *q, const u16 *id,
				 struct irqbed_disk *disk)
{
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	u32 block_size = ata_id_logical_sector_size(id);

	disk->queue = q->index;
	disk->lun = q->index;
	disk->blocks = ata_id_u64(id, ATA_ID_LBA_CAPACITY_2);
	disk->block_shift = ilog2(block_size);
	port->ncq = (irqbed_ahci(q->ctrl)->cap & AHCI_CAP_SNCQ) &&
		    ata_id_has_ncq(id);
	if (port->ncq)
		disk->depth = ata_id_queue_depth(id);
	if (ata_id_has_trim(id))
		disk->discard_sectors = IRQBED_AHCI_RANGES *
					IRQBED_AHCI_RANGE_MAX *
					(block_size >> SECTOR_SHIFT);
}

static int irqbed_ahci_scan_port(struct irqbed_queue *q)
{
	static const struct irqbed_ahci_command identify = {
		.command = ATA_CMD_ID_ATA,
		.segments = 1,
	};
	const u8 *data = irqbed_ahci_port(q)->mem->data;
	struct irqbed_disk disk = { };
	u16 id[ATA_ID_WORDS];
	u32 block_size;
	int err;

	err = irqbed_ahci_exec(q, &identify);
	if (err)
		return err;
	if (data[510] == IRQBED_ID_SIGNED && !irqbed_ahci_sum_is_good(data))
		return -EPROTO;
	for (u32 i = 0; i < ATA_ID_WORDS; i++)
		id[i] = data[2 * i] | data[2 * i + 1] << 8;
	block_size = ata_id_logical_sector_size(id);
	if (!ata_id_has_lba48(id) || !is_power_of_2(block_size) ||
	    block_size < SECTOR_SIZE || block_size > PAGE_SIZE) {
		dev_err(&q->ctrl->pdev->dev, "port %u: no 48-bit addresses, or sectors of %u bytes, cannot use that\n",
			q->index, block_size);
		return -EINVAL;
	}
	irqbed_ahci_describe(q, id, &disk);
	return irqbed_disk_add(q->ctrl, &disk);
}

/**
 * irqbed_ahci_scan() - make disks of the drives that have none yet
 * @ctrl: the controller, its ports started
 *
 * One drive that cannot be used does not keep the others from it.
 *
 * Return: 0.
 */
int irqbed_ahci_scan(struct irqbed_ctrl *ctrl)
{
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_queue *q = ctrl->queues[i];
		int err;

		if (!irqbed_ahci_port(q)->up || q->set)
			continue;
		err = irqbed_ahci_scan_port(q);
		if (err)
			dev_err(&ctrl->pdev->dev, "port %u: %d\n", i, err);
	}
	return 0;
}
