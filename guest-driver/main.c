// SPDX-License-Identifier: GPL-2.0-only
/*
 * irqbed: blk-mq driver of the testbed's storage controllers, whose subject is
 * how a driver completes interrupts.
 *
 * This file: the module, and a controller's life from probe to remove.  The
 * way of a request is queue.c, ufs.c or ahci.c, irq.c, reap.c, queue.c again.
 */
#include <linux/idr.h>
#include <linux/module.h>

#include "irqbed.h"
#include "trend.h"

static DEFINE_IDA(irqbed_ida);

static void irqbed_ctrl_init(struct irqbed_ctrl *ctrl, struct pci_dev *pdev,
			     const struct pci_device_id *id)
{
	ctrl->pdev = pdev;
	ctrl->ops = (const struct irqbed_transport *)id->driver_data;
	ctrl->config = irqbed_default_config;
	irqbed_lock_init(&ctrl->lock, ctrl);
	spin_lock_init(&ctrl->mask_lock);
	mutex_init(&ctrl->config_mutex);
	mutex_init(&ctrl->recover_mutex);
	spin_lock_init(&ctrl->series_lock);
	INIT_WORK(&ctrl->recover_work, irqbed_recover_work);
	INIT_WORK(&ctrl->plug_work, irqbed_plug_work);
}

/* Registers mapped, memory there, the device awake, its disks known. */
static int irqbed_hw_init(struct irqbed_ctrl *ctrl)
{
	struct pci_dev *pdev = ctrl->pdev;
	int err;

	err = pcim_enable_device(pdev);
	if (err)
		return err;
	ctrl->regs = pcim_iomap_region(pdev, ctrl->ops->bar, "irqbed");
	if (IS_ERR(ctrl->regs))
		return PTR_ERR(ctrl->regs);
	pci_set_master(pdev);
	ctrl->cpu_times = devm_alloc_percpu(&pdev->dev, struct irqbed_cpu_times);
	if (!ctrl->cpu_times)
		return -ENOMEM;
	err = irqbed_series_prepare(ctrl, ctrl->config.series_window_ns);
	if (err)
		return err;
	irqbed_series_reset(ctrl);
	err = ctrl->ops->alloc(ctrl);
	if (err)
		return err;
	err = irqbed_tags_check(ctrl, ctrl->config.tag_sharing);
	if (err)
		return err;
	err = ctrl->ops->start(ctrl, NULL);
	if (err)
		ctrl->ops->stop(ctrl, NULL);
	return err;
}

/*
 * At any time, under load: the disks go first, which waits until every request
 * has ended, if need be by a timeout and a reset; so interrupts stay on until
 * then.
 */
static void irqbed_take_down(struct irqbed_ctrl *ctrl)
{
	irqbed_plug_end(ctrl);
	irqbed_irqs_need(ctrl);
	irqbed_disks_remove(ctrl);
	irqbed_irq_mask(ctrl, true);
	irqbed_irq_exit(ctrl);
	cancel_work_sync(&ctrl->recover_work);
	cancel_work_sync(&ctrl->plug_work);
}

static int irqbed_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct irqbed_ctrl *ctrl;
	int err;

	ctrl = devm_kzalloc(&pdev->dev, sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return -ENOMEM;
	irqbed_ctrl_init(ctrl, pdev, id);
	ctrl->index = ida_alloc(&irqbed_ida, GFP_KERNEL);
	if (ctrl->index < 0)
		return ctrl->index;
	err = irqbed_hw_init(ctrl);
	if (err)
		goto out_free_index;
	err = ctrl->ops->scan(ctrl);
	if (err)
		goto out_remove_disks;
	err = irqbed_wluns_add(ctrl);
	if (err)
		goto out_remove_disks;
	err = irqbed_irq_init(ctrl);
	if (err)
		goto out_remove_disks;
	irqbed_irq_mask(ctrl, false);
	pci_set_drvdata(pdev, ctrl);
	mutex_lock(&ctrl->config_mutex);
	err = irqbed_disks_publish(ctrl);
	mutex_unlock(&ctrl->config_mutex);
	if (err)
		goto out_exit_irq;
	irqbed_debugfs_add(ctrl);
	dev_info(&pdev->dev, "%s: %u disks, %u slots, %s\n", ctrl->ops->name,
		 ctrl->nr_disks, ctrl->depth,
		 irqbed_irq_mode_words[ctrl->irq_mode]);
	return 0;

out_exit_irq:
	irqbed_take_down(ctrl);
out_remove_disks:
	irqbed_wluns_remove(ctrl);
	irqbed_disks_remove(ctrl);
	irqbed_tags_free(ctrl);
	ctrl->ops->stop(ctrl, NULL);
out_free_index:
	ida_free(&irqbed_ida, ctrl->index);
	return err;
}

/* With the hardware gone there is nothing to wait for. */
static void irqbed_remove(struct pci_dev *pdev)
{
	struct irqbed_ctrl *ctrl = pci_get_drvdata(pdev);

	irqbed_debugfs_remove(ctrl);
	if (!pci_device_is_present(pdev))
		irqbed_kill(ctrl);
	irqbed_wluns_remove(ctrl);
	irqbed_take_down(ctrl);
	ctrl->ops->stop(ctrl, NULL);
	irqbed_tags_free(ctrl);
	ida_free(&irqbed_ida, ctrl->index);
}

/* Reboot and power-off: no DMA into memory that somebody else will use. */
static void irqbed_shutdown(struct pci_dev *pdev)
{
	struct irqbed_ctrl *ctrl = pci_get_drvdata(pdev);

	irqbed_irqs_need(ctrl);
	irqbed_freeze(ctrl);
	irqbed_irq_mask(ctrl, true);
	ctrl->ops->stop(ctrl, NULL);
}

static const struct pci_device_id irqbed_ids[] = {
	{
		PCI_DEVICE(PCI_VENDOR_ID_REDHAT, 0x0013),
		.driver_data = (kernel_ulong_t)&irqbed_ufs_transport,
	},
	{
		PCI_DEVICE(0x1234, 0x4941),
		.driver_data = (kernel_ulong_t)&irqbed_ahci_transport,
	},
	{ }
};
MODULE_DEVICE_TABLE(pci, irqbed_ids);

static struct pci_driver irqbed_driver = {
	.name = "irqbed",
	.id_table = irqbed_ids,
	.probe = irqbed_probe,
	.remove = irqbed_remove,
	.shutdown = irqbed_shutdown,
};

static int __init irqbed_init(void)
{
	int err;

	err = irqbed_params_init();
	if (err)
		return err;
	err = irqbed_rest_module_init();
	if (err)
		return err;
	irqbed_debugfs_init();
	err = pci_register_driver(&irqbed_driver);
	if (err) {
		irqbed_debugfs_exit();
		irqbed_rest_module_exit();
	}
	return err;
}

static void __exit irqbed_exit(void)
{
	pci_unregister_driver(&irqbed_driver);
	irqbed_debugfs_exit();
	irqbed_rest_module_exit();
	ida_destroy(&irqbed_ida);
}

module_init(irqbed_init);
module_exit(irqbed_exit);

MODULE_DESCRIPTION("Storage driver of the irqbed testbed: who completes interrupts");
MODULE_AUTHOR("The irqbed authors");
MODULE_LICENSE("GPL");
