// SPDX-License-Identifier: GPL-2.0-only
/*
 * irqbed-probe: answers the interrupts of the probe device, which measures how
 * long that takes (docs/device-probe.md).
 *
 * The victim of other drivers' handlers: it does as little as a handler can,
 * in the hard interrupt even under threadirqs, on the vCPU that the device
 * names.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>

#define PROBE_REG_MAGIC		0x00
#define PROBE_REG_VERSION	0x04
#define PROBE_REG_CTRL		0x08
#define PROBE_REG_TARGET_CPU	0x0c
#define PROBE_REG_STATUS	0x10
#define PROBE_REG_ACK		0x14

#define PROBE_MAGIC		0x42505249	/* "IRPB" */
#define PROBE_VERSION		1
#define PROBE_CTRL_RUN		BIT(0)

struct irqbed_probe {
	void __iomem *regs;
	int irq;
};

static irqreturn_t irqbed_probe_irq(int irq, void *data)
{
	struct irqbed_probe *probe = data;

	if (!readl(probe->regs + PROBE_REG_STATUS))
		return IRQ_NONE;
	writel(1, probe->regs + PROBE_REG_ACK);
	return IRQ_HANDLED;
}

static int irqbed_probe_map(struct irqbed_probe *probe, struct pci_dev *pdev)
{
	void __iomem *regs;
	int err;

	err = pcim_enable_device(pdev);
	if (err)
		return err;
	if (pci_resource_len(pdev, 0) < PROBE_REG_ACK + 4)
		return -ENODEV;
	regs = pcim_iomap_region(pdev, 0, "irqbed-probe");
	if (IS_ERR(regs))
		return PTR_ERR(regs);
	if (readl(regs + PROBE_REG_MAGIC) != PROBE_MAGIC ||
	    readl(regs + PROBE_REG_VERSION) != PROBE_VERSION)
		return -ENODEV;
	probe->regs = regs;
	return 0;
}

static int irqbed_probe_irq_init(struct irqbed_probe *probe,
				 struct pci_dev *pdev, u32 cpu)
{
	int err;

	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -ENXIO;
	err = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSI);
	if (err < 0)
		return err;
	probe->irq = pci_irq_vector(pdev, 0);
	err = request_irq(probe->irq, irqbed_probe_irq, IRQF_NO_THREAD,
			  "irqbed-probe", probe);
	if (err)
		goto out_free_vectors;
	err = irq_set_affinity(probe->irq, cpumask_of(cpu));
	if (err)
		goto out_free_irq;
	return 0;

out_free_irq:
	free_irq(probe->irq, probe);
out_free_vectors:
	pci_free_irq_vectors(pdev);
	return err;
}

static int irqbed_probe_probe(struct pci_dev *pdev,
			      const struct pci_device_id *id)
{
	struct irqbed_probe *probe;
	u32 cpu;
	int err;

	probe = devm_kzalloc(&pdev->dev, sizeof(*probe), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	err = irqbed_probe_map(probe, pdev);
	if (err)
		return err;
	cpu = readl(probe->regs + PROBE_REG_TARGET_CPU);
	pci_set_master(pdev);
	err = irqbed_probe_irq_init(probe, pdev, cpu);
	if (err) {
		dev_err(&pdev->dev, "no interrupt on CPU %u: %d\n", cpu, err);
		return err;
	}
	pci_set_drvdata(pdev, probe);
	writel(PROBE_CTRL_RUN, probe->regs + PROBE_REG_CTRL);
	dev_info(&pdev->dev, "running on CPU %u\n", cpu);
	return 0;
}

static void irqbed_probe_remove(struct pci_dev *pdev)
{
	struct irqbed_probe *probe = pci_get_drvdata(pdev);

	writel(0, probe->regs + PROBE_REG_CTRL);
	free_irq(probe->irq, probe);
	pci_free_irq_vectors(pdev);
}

static const struct pci_device_id irqbed_probe_ids[] = {
	{ PCI_DEVICE(0x1234, 0x4950) },
	{ }
};
MODULE_DEVICE_TABLE(pci, irqbed_probe_ids);

static struct pci_driver irqbed_probe_driver = {
	.name = "irqbed-probe",
	.id_table = irqbed_probe_ids,
	.probe = irqbed_probe_probe,
	.remove = irqbed_probe_remove,
};

module_pci_driver(irqbed_probe_driver);

MODULE_DESCRIPTION("Answers the irqbed testbed's interrupt latency probe");
MODULE_AUTHOR("The irqbed authors");
MODULE_LICENSE("GPL");
