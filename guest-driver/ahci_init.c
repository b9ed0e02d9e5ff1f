// SPDX-License-Identifier: GPL-2.0-only
/*
 * AHCI transport, from power-on or any wreck to ready for requests.
 *
 * AHCI 1.3.1 section 10.1.2 (initialization), 10.4 (resets), 6.2.2 (after an
 * error).  Process context; nothing of the ports concerned is in flight and
 * their interrupts are off, everything here is polled.
 *
 * A port that reported a task file error is started without a reset of its
 * link, because that would make the drive forget what failed; all others get
 * one.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>

#include "ahci.h"

#define IRQBED_POLL_US		100
#define IRQBED_LIMIT_US		1000000
#define IRQBED_COMRESET_US	1000
#define IRQBED_LINK_US		20000	/* for a drive to show itself */

static int irqbed_ahci_wait(void __iomem *addr, u32 mask, u32 want, u32 limit_us)
{
	u32 val;
	int err;

	err = readl_poll_timeout(addr, val,
				 val == U32_MAX || (val & mask) == want,
				 IRQBED_POLL_US, limit_us);
	return val == U32_MAX ? -ENODEV : err;
}

static int irqbed_ahci_alloc_ports(struct irqbed_ctrl *ctrl)
{
	struct irqbed_ahci *ahci = irqbed_ahci(ctrl);

	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_ahci_port *port = &ahci->port[i];

		if (!(ahci->ports & BIT(i)))
			continue;
		port->regs = ctrl->regs + IRQBED_AHCI_PORT_BASE +
			     i * IRQBED_AHCI_PORT_BYTES;
		/* Whole pages: more than the alignment that anything needs. */
		port->mem = dmam_alloc_coherent(&ctrl->pdev->dev,
						sizeof(*port->mem), &port->dma,
						GFP_KERNEL);
		if (!port->mem)
			return -ENOMEM;
	}
	return 0;
}

/*
 * A vector for each port, if that is wanted and granted.  An HBA that has fewer
 * than it asked for sends all messages as the first one (GHC.MRSM, 10.6.2.3):
 * then one handler has to look after all ports.
 */
static int irqbed_ahci_alloc_vectors(struct irqbed_ctrl *ctrl)
{
	bool own = ctrl->config.irq_vectors == IRQBED_VECTORS_PER_QUEUE;
	int err;

	err = irqbed_vectors_alloc(ctrl, own ? ctrl->nr_queues : 1);
	if (err || ctrl->nr_vectors == 1 ||
	    !(readl(ctrl->regs + AHCI_GHC) & AHCI_GHC_MRSM))
		return err;
	dev_info(&ctrl->pdev->dev, "messages revert to a single one\n");
	return irqbed_vectors_alloc(ctrl, 1);
}

/**
 * irqbed_ahci_alloc() - ports and slots, their memory, queues and vectors
 * @ctrl: the controller, its registers mapped
 *
 * A queue has the number of its port.
 *
 * Return: 0 or -errno; the memory goes with the PCI device.
 */
int irqbed_ahci_alloc(struct irqbed_ctrl *ctrl)
{
	struct device *dev = &ctrl->pdev->dev;
	struct irqbed_ahci *ahci;
	int err;

	if (pci_resource_len(ctrl->pdev, IRQBED_AHCI_BAR) <
	    IRQBED_AHCI_PORT_BASE + IRQBED_AHCI_PORT_BYTES)
		return -ENXIO;
	ahci = devm_kzalloc(dev, sizeof(*ahci), GFP_KERNEL);
	if (!ahci)
		return -ENOMEM;
	ctrl->priv = ahci;
	ahci->cap = readl(ctrl->regs + AHCI_CAP);
	ahci->ports = readl(ctrl->regs + AHCI_PI);
	if (ahci->cap == U32_MAX || !ahci->ports)
		return -ENODEV;
	if (pci_resource_len(ctrl->pdev, IRQBED_AHCI_BAR) <
	    IRQBED_AHCI_PORT_BASE + fls(ahci->ports) * IRQBED_AHCI_PORT_BYTES)
		return -ENXIO;
	err = dma_set_mask_and_coherent(dev, ahci->cap & AHCI_CAP_S64A ?
					DMA_BIT_MASK(64) : DMA_BIT_MASK(32));
	if (err)
		return err;
	ctrl->depth = AHCI_CAP_NCS(ahci->cap);
	if (ctrl->config.queue_depth && ctrl->config.queue_depth < ctrl->depth)
		ctrl->depth = ctrl->config.queue_depth;
	err = irqbed_queues_alloc(ctrl, fls(ahci->ports));
	if (err)
		return err;
	err = irqbed_ahci_alloc_ports(ctrl);
	if (err)
		return err;
	return irqbed_ahci_alloc_vectors(ctrl);
}

static void irqbed_ahci_stop_port(struct irqbed_ahci_port *port)
{
	void __iomem *cmd = port->regs + AHCI_PX_CMD;
	u32 val;

	port->up = false;
	irqbed_ahci_enable(port, 0);
	val = readl(cmd);
	if (val == U32_MAX)
		return;
	writel(val & ~AHCI_PX_CMD_ST, cmd);
	irqbed_ahci_wait(cmd, AHCI_PX_CMD_CR, 0, IRQBED_LIMIT_US);
	writel(val & ~(AHCI_PX_CMD_ST | AHCI_PX_CMD_FRE), cmd);
	irqbed_ahci_wait(cmd, AHCI_PX_CMD_FR, 0, IRQBED_LIMIT_US);
}

/* 10.4.2; the port is stopped. */
static int irqbed_ahci_comreset(struct irqbed_ahci_port *port)
{
	void __iomem *sctl = port->regs + AHCI_PX_SCTL;
	u32 val = readl(sctl) & ~AHCI_PX_DET;
	int err;

	writel(val | AHCI_DET_COMRESET, sctl);
	usleep_range(IRQBED_COMRESET_US, 2 * IRQBED_COMRESET_US);
	writel(val, sctl);
	err = irqbed_ahci_wait(port->regs + AHCI_PX_SSTS, AHCI_PX_DET,
			       AHCI_DET_ESTABLISHED, IRQBED_LINK_US);
	return err ? -ENODEV : 0;
}

/* Lists in place, FISes received, commands issued. */
static int irqbed_ahci_run_port(struct irqbed_ahci_port *port)
{
	dma_addr_t list = port->dma + offsetof(struct irqbed_ahci_mem, list);
	dma_addr_t fb = port->dma + offsetof(struct irqbed_ahci_mem, received);
	u32 cmd = AHCI_PX_CMD_FRE | AHCI_PX_CMD_SUD | AHCI_PX_CMD_POD;
	int err;

	port->listed = true;
	writel(lower_32_bits(list), port->regs + AHCI_PX_CLB);
	writel(upper_32_bits(list), port->regs + AHCI_PX_CLBU);
	writel(lower_32_bits(fb), port->regs + AHCI_PX_FB);
	writel(upper_32_bits(fb), port->regs + AHCI_PX_FBU);
	writel(readl(port->regs + AHCI_PX_SERR), port->regs + AHCI_PX_SERR);
	writel(cmd, port->regs + AHCI_PX_CMD);
	err = irqbed_ahci_wait(port->regs + AHCI_PX_TFD, ATA_BUSY | ATA_DRQ, 0,
			       IRQBED_LIMIT_US);
	if (err)
		return err;
	if (readl(port->regs + AHCI_PX_SIG) != AHCI_SIG_ATA)
		return -ENODEV;
	writel(cmd | AHCI_PX_CMD_ST, port->regs + AHCI_PX_CMD);
	return 0;
}

static bool irqbed_ahci_has_link(struct irqbed_ahci_port *port)
{
	return (readl(port->regs + AHCI_PX_SSTS) & AHCI_PX_DET) ==
	       AHCI_DET_ESTABLISHED;
}

/* It has no drive, or none to be used: it only tells when one comes. */
static void irqbed_ahci_watch_port(struct irqbed_ahci_port *port)
{
	irqbed_ahci_enable(port, IRQBED_AHCI_LINK);
}

/* Return: 0; -EAGAIN when only a reset of the link can help. */
static int irqbed_ahci_start_softly(struct irqbed_queue *q)
{
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);

	if (irqbed_ahci_run_port(port) || irqbed_ahci_failed_slot(q))
		return -EAGAIN;
	return 0;
}

static int irqbed_ahci_start_hard(struct irqbed_ahci_port *port)
{
	int err;

	irqbed_ahci_stop_port(port);
	err = irqbed_ahci_comreset(port);
	if (err)
		return err;
	return irqbed_ahci_run_port(port);
}

static int irqbed_ahci_start_port(struct irqbed_queue *q)
{
	struct irqbed_ahci_port *port = irqbed_ahci_port(q);
	u32 error = atomic_xchg(&port->error, 0);
	unsigned long flags;
	int err = -EAGAIN;

	if (!port->regs)
		return -ENODEV;
	irqbed_ahci_enable(port, 0);
	/* A link that a disk had may be back in a moment. */
	if (!irqbed_ahci_has_link(port) &&
	    (!q->set || irqbed_ahci_wait(port->regs + AHCI_PX_SSTS, AHCI_PX_DET,
					 AHCI_DET_ESTABLISHED, IRQBED_LINK_US)))
		return -ENODEV;
	if (readl(port->regs + AHCI_PX_CMD) & (AHCI_PX_CMD_CR | AHCI_PX_CMD_FR))
		return -EBUSY;	/* it does not stop: the HBA has to be reset */
	if (error == AHCI_PX_IS_TFES)
		err = irqbed_ahci_start_softly(q);
	if (err)
		err = irqbed_ahci_start_hard(port);
	/* Also when it failed: that the link came up again is no news. */
	writel(readl(port->regs + AHCI_PX_SERR), port->regs + AHCI_PX_SERR);
	writel(readl(port->regs + AHCI_PX_IS), port->regs + AHCI_PX_IS);
	if (err)
		return err;
	atomic_set(&port->error, 0);
	spin_lock_irqsave(&q->ctrl->mask_lock, flags);
	port->up = true;
	irqbed_ahci_enable(port, irqbed_ahci_events(q));
	spin_unlock_irqrestore(&q->ctrl->mask_lock, flags);
	return 0;
}

/* 10.4.3; AE is set first because it gives the other bits their meaning. */
static int irqbed_ahci_reset(struct irqbed_ctrl *ctrl)
{
	void __iomem *ghc = ctrl->regs + AHCI_GHC;
	int err;

	irqbed_ahci_ghc(ctrl, false);
	writel(AHCI_GHC_AE | AHCI_GHC_HR, ghc);
	err = irqbed_ahci_wait(ghc, AHCI_GHC_HR, 0, IRQBED_LIMIT_US);
	if (err) {
		dev_err(&ctrl->pdev->dev, "HBA reset failed: %d\n", err);
		return err;
	}
	irqbed_ahci_ghc(ctrl, false);
	writel(readl(ctrl->regs + AHCI_IS), ctrl->regs + AHCI_IS);
	for (u32 i = 0; i < ctrl->nr_queues; i++)
		irqbed_ahci(ctrl)->port[i].listed = false;
	return 0;
}

/* By somebody else than us: then the port does not know its list any more. */
static bool irqbed_ahci_was_reset(const struct irqbed_ahci_port *port)
{
	return port->listed && !readl(port->regs + AHCI_PX_CLB);
}

/**
 * irqbed_ahci_start() - make a port, or the HBA, ready for requests
 * @ctrl: the controller
 * @q: the port's queue, with nothing in flight; NULL: all
 *
 * A port without a drive is not started and its interrupts tell when one comes.
 *
 * Return: 0 or -errno.
 */
int irqbed_ahci_start(struct irqbed_ctrl *ctrl, struct irqbed_queue *q)
{
	int err;

	if (q && irqbed_ahci_was_reset(irqbed_ahci_port(q)))
		return -EBUSY;
	if (q)
		return irqbed_ahci_start_port(q);
	err = irqbed_ahci_reset(ctrl);
	if (err)
		return err;
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		q = ctrl->queues[i];
		err = irqbed_ahci_start_port(q);
		if (!err)
			continue;
		if (q->set || err != -ENODEV)
			WRITE_ONCE(q->state, IRQBED_QUEUE_DEAD);
		if (irqbed_ahci_port(q)->regs)
			irqbed_ahci_stop(ctrl, q);
	}
	return 0;
}

/**
 * irqbed_ahci_stop() - no DMA of a port, or of the HBA, any more
 * @ctrl: the controller, in any state, also gone
 * @q: the port's queue; NULL: all, and no interrupts either
 */
void irqbed_ahci_stop(struct irqbed_ctrl *ctrl, struct irqbed_queue *q)
{
	if (q) {
		irqbed_ahci_stop_port(irqbed_ahci_port(q));
		irqbed_ahci_watch_port(irqbed_ahci_port(q));
		return;
	}
	irqbed_ahci_ghc(ctrl, false);
	for (u32 i = 0; i < ctrl->nr_queues; i++) {
		struct irqbed_ahci_port *port = &irqbed_ahci(ctrl)->port[i];

		if (port->regs)
			irqbed_ahci_stop_port(port);
	}
}
