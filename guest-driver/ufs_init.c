// SPDX-License-Identifier: GPL-2.0-only
/*
 * UFS transport, from power-on or any wreck to ready for requests.
 *
 * UFSHCI 3.1 section 7.1: host enable, link start-up, lists, run; then NOP and
 * fDeviceInit (UFS 3.1 section 13.1).  Process context, nothing in flight,
 * interrupts off: everything here is polled, so that probing and resetting
 * need neither the interrupt nor its handlers.  The link stays at the speed it
 * starts with; the device models no other.
 */
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>

#include "ufs.h"

#define IRQBED_POLL_US		100
#define IRQBED_LIMIT_US		1000000
#define IRQBED_LINK_TRIES	3
#define IRQBED_ADMIN_SLOT	0

static int irqbed_ufs_wait(struct irqbed_ctrl *ctrl, u32 reg, u32 mask,
			   u32 want)
{
	u32 val;
	int err;

	err = readl_poll_timeout(ctrl->regs + reg, val,
				 val == U32_MAX || (val & mask) == want,
				 IRQBED_POLL_US, IRQBED_LIMIT_US);
	return val == U32_MAX ? -ENODEV : err;
}

/**
 * irqbed_ufs_alloc() - slots, the memory for their lists, queue and vector
 * @ctrl: the controller, its registers mapped
 *
 * Return: 0 or -errno; the memory goes with the PCI device.
 */
int irqbed_ufs_alloc(struct irqbed_ctrl *ctrl)
{
	u32 cap = irqbed_ufs_read(ctrl, REG_CONTROLLER_CAPABILITIES);
	struct device *dev = &ctrl->pdev->dev;
	struct irqbed_ufs *ufs;
	u32 slots, rings;
	int err;

	if (cap == U32_MAX)
		return -ENODEV;
	ufs = devm_kzalloc(dev, sizeof(*ufs), GFP_KERNEL);
	if (!ufs)
		return -ENOMEM;
	err = dma_set_mask_and_coherent(dev, cap & MASK_64_ADDRESSING_SUPPORT ?
					DMA_BIT_MASK(64) : DMA_BIT_MASK(32));
	if (err)
		return err;
	rings = irqbed_ufs_mcq_queues(ctrl, cap);
	slots = (cap & MASK_TRANSFER_REQUESTS_SLOTS_SDB) + 1;
	if (rings) {
		ctrl->ops = &irqbed_ufs_mcq_transport;
		ufs->mac = (cap & MASK_TRANSFER_REQUESTS_SLOTS_MCQ) + 1;
		slots = min_t(u32, ufs->mac, IRQBED_MAX_SLOTS);
	}
	ctrl->depth = slots;
	if (ctrl->config.queue_depth && ctrl->config.queue_depth < slots)
		ctrl->depth = ctrl->config.queue_depth;
	slots *= max(rings, 1u);

	/* Whole pages: more than the 1 KiB alignment that the lists need. */
	ufs->utrd = dmam_alloc_coherent(dev, slots * sizeof(*ufs->utrd),
					&ufs->utrd_dma, GFP_KERNEL);
	ufs->ucd = dmam_alloc_coherent(dev, slots * sizeof(*ufs->ucd),
				       &ufs->ucd_dma, GFP_KERNEL);
	ufs->utmrd = dmam_alloc_coherent(dev, IRQBED_UFS_TM_SLOTS *
					 sizeof(*ufs->utmrd), &ufs->utmrd_dma,
					 GFP_KERNEL);
	ufs->admin = dmam_alloc_coherent(dev, IRQBED_UFS_ADMIN_BYTES,
					 &ufs->admin_dma, GFP_KERNEL);
	if (!ufs->utrd || !ufs->ucd || !ufs->utmrd || !ufs->admin)
		return -ENOMEM;
	ctrl->priv = ufs;
	err = irqbed_queues_alloc(ctrl, max(rings, 1u));
	if (!err && rings)
		err = irqbed_ufs_mcq_alloc(ctrl);
	if (err)
		return err;
	return irqbed_vectors_alloc(ctrl, ctrl->config.irq_vectors ==
				    IRQBED_VECTORS_PER_QUEUE ?
				    ctrl->nr_queues : 1);
}

/**
 * irqbed_ufs_exec() - do one request and wait for its end by looking
 * @ctrl: the controller
 * @dir: which way the data goes
 * @bytes: length of the data, in the admin buffer
 *
 * The caller has filled in the slot's request UPIU.
 *
 * Return: 0 when a response is there, whatever it says, or -errno.
 */
int irqbed_ufs_exec(struct irqbed_ctrl *ctrl, enum utp_data_direction dir,
		    u32 bytes)
{
	const u32 slot = IRQBED_ADMIN_SLOT;
	struct irqbed_ufs *ufs = irqbed_ufs(ctrl);
	u8 ocs;
	int err;

	irqbed_ufs_req(ufs, slot)->header.task_tag = slot;
	memset(ufs->ucd[slot].response_upiu, 0, ALIGNED_UPIU_SIZE);
	if (bytes)
		irqbed_ufs_fill_prd(ufs->ucd[slot].prdt, ufs->admin_dma, bytes);
	irqbed_ufs_fill_utrd(ufs, slot, dir, bytes ? 1 : 0);
	ctrl->queues[0]->seq++;
	irqbed_ufs_write(ctrl, REG_UTP_TRANSFER_REQ_DOOR_BELL, BIT(slot));
	err = irqbed_ufs_wait(ctrl, REG_UTP_TRANSFER_REQ_DOOR_BELL, BIT(slot), 0);
	if (err)
		return err;
	ocs = ufs->utrd[slot].header.ocs & MASK_OCS;
	if (ocs != OCS_SUCCESS) {
		dev_err(&ctrl->pdev->dev, "admin request: overall status 0x%x\n",
			ocs);
		return -EIO;
	}
	return 0;
}

static int irqbed_ufs_uic(struct irqbed_ctrl *ctrl, u32 cmd)
{
	int err;

	err = irqbed_ufs_wait(ctrl, REG_CONTROLLER_STATUS, UIC_COMMAND_READY,
			      UIC_COMMAND_READY);
	if (err)
		return err;
	irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS, UIC_COMMAND_COMPL);
	irqbed_ufs_write(ctrl, REG_UIC_COMMAND_ARG_1, 0);
	irqbed_ufs_write(ctrl, REG_UIC_COMMAND_ARG_2, 0);
	irqbed_ufs_write(ctrl, REG_UIC_COMMAND_ARG_3, 0);
	irqbed_ufs_write(ctrl, REG_UIC_COMMAND, cmd);
	err = irqbed_ufs_wait(ctrl, REG_INTERRUPT_STATUS, UIC_COMMAND_COMPL,
			      UIC_COMMAND_COMPL);
	if (err)
		return err;
	irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS, UIC_COMMAND_COMPL);
	if (irqbed_ufs_read(ctrl, REG_UIC_COMMAND_ARG_2) &
	    MASK_UIC_COMMAND_RESULT)
		return -EIO;
	return 0;
}

static int irqbed_ufs_link_up(struct irqbed_ctrl *ctrl)
{
	int err = -EIO;

	for (int i = 0; i < IRQBED_LINK_TRIES; i++) {
		err = irqbed_ufs_uic(ctrl, UIC_CMD_DME_LINK_STARTUP);
		if (err == -ENODEV)
			return err;
		if (!err && irqbed_ufs_read(ctrl, REG_CONTROLLER_STATUS) &
		    DEVICE_PRESENT)
			return 0;
	}
	dev_err(&ctrl->pdev->dev, "link start-up failed: %d\n", err);
	return err ? err : -ENXIO;
}

static int irqbed_ufs_lists_run(struct irqbed_ctrl *ctrl)
{
	const u32 ready = UTP_TRANSFER_REQ_LIST_READY | UTP_TASK_REQ_LIST_READY;
	struct irqbed_ufs *ufs = irqbed_ufs(ctrl);

	irqbed_ufs_write(ctrl, REG_UTP_TRANSFER_REQ_LIST_BASE_L,
			 lower_32_bits(ufs->utrd_dma));
	irqbed_ufs_write(ctrl, REG_UTP_TRANSFER_REQ_LIST_BASE_H,
			 upper_32_bits(ufs->utrd_dma));
	irqbed_ufs_write(ctrl, REG_UTP_TASK_REQ_LIST_BASE_L,
			 lower_32_bits(ufs->utmrd_dma));
	irqbed_ufs_write(ctrl, REG_UTP_TASK_REQ_LIST_BASE_H,
			 upper_32_bits(ufs->utmrd_dma));
	if (irqbed_ufs_wait(ctrl, REG_CONTROLLER_STATUS, ready, ready)) {
		dev_err(&ctrl->pdev->dev, "request lists do not get ready\n");
		return -EIO;
	}
	irqbed_ufs_write(ctrl, REG_UTP_TASK_REQ_LIST_RUN_STOP,
			 UTP_TASK_REQ_LIST_RUN_STOP_BIT);
	irqbed_ufs_write(ctrl, REG_UTP_TRANSFER_REQ_LIST_RUN_STOP,
			 UTP_TRANSFER_REQ_LIST_RUN_STOP_BIT);
	return 0;
}

/**
 * irqbed_ufs_start() - make the controller ready for requests
 * @ctrl: the controller, in any state, with nothing in flight
 * @q: not looked at, for queues are not reset alone
 *
 * Leaves the interrupts off and their status clear.
 *
 * Return: 0 or -errno.
 */
int irqbed_ufs_start(struct irqbed_ctrl *ctrl, struct irqbed_queue *q)
{
	int err;

	irqbed_ufs_stop(ctrl, q);
	irqbed_ufs_write(ctrl, REG_CONTROLLER_ENABLE, CONTROLLER_ENABLE);
	err = irqbed_ufs_wait(ctrl, REG_CONTROLLER_ENABLE, CONTROLLER_ENABLE,
			      CONTROLLER_ENABLE);
	if (err) {
		dev_err(&ctrl->pdev->dev, "host enable failed: %d\n", err);
		return err;
	}
	err = irqbed_ufs_link_up(ctrl);
	if (err)
		return err;
	err = irqbed_ufs_lists_run(ctrl);
	if (err)
		return err;
	err = irqbed_ufs_device_init(ctrl);
	if (err)
		return err;
	irqbed_ufs_write(ctrl, REG_INTERRUPT_STATUS,
			 irqbed_ufs_read(ctrl, REG_INTERRUPT_STATUS));
	return 0;
}

/**
 * irqbed_ufs_stop() - no DMA and no interrupts any more
 * @ctrl: the controller, in any state, also gone
 * @q: not looked at, for queues are not reset alone
 */
void irqbed_ufs_stop(struct irqbed_ctrl *ctrl, struct irqbed_queue *q)
{
	/* While disabled the other registers are not to be written. */
	if (!(irqbed_ufs_read(ctrl, REG_CONTROLLER_ENABLE) & CONTROLLER_ENABLE))
		return;
	irqbed_ufs_write(ctrl, REG_INTERRUPT_ENABLE, 0);
	irqbed_ufs_write(ctrl, REG_CONTROLLER_ENABLE, CONTROLLER_DISABLE);
	irqbed_ufs_wait(ctrl, REG_CONTROLLER_ENABLE, CONTROLLER_ENABLE, 0);
}
