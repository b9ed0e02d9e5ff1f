/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A controller that is pulled out without notice, and put back: the fault
 * "remove".  While it is gone all its registers and its configuration space
 * read as ones and take no writes.  The transports look to their own BARs;
 * over that of the MSI-X table, which is QEMU's, lies a region that is enabled
 * only then.
 */

#include "qemu/osdep.h"
#include "hw/pci/msix.h"
#include "ctrl.h"

static uint64_t gone_read(void *opaque, hwaddr addr, unsigned size)
{
    return UINT64_MAX;
}

static void gone_write(void *opaque, hwaddr addr, uint64_t value,
                       unsigned size)
{
}

static const MemoryRegionOps gone_ops = {
    .read = gone_read,
    .write = gone_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

void irqbed_removal_realize(IrqbedCtrl *c)
{
    MemoryRegion *bar = &PCI_DEVICE(c)->msix_exclusive_bar;

    memory_region_init_io(&c->gone, OBJECT(c), &gone_ops, c, "irqbed-gone",
                          MAX(memory_region_size(bar), 1));
    memory_region_set_enabled(&c->gone, false);
    if (msix_present(PCI_DEVICE(c))) {
        memory_region_add_subregion_overlap(bar, 0, &c->gone, 1);
    }
}

void irqbed_removal_unrealize(IrqbedCtrl *c)
{
    if (memory_region_is_mapped(&c->gone)) {
        memory_region_del_subregion(&PCI_DEVICE(c)->msix_exclusive_bar,
                                    &c->gone);
    }
    object_unparent(OBJECT(&c->gone));
}

void irqbed_ctrl_set_removed(IrqbedCtrl *c, bool removed)
{
    if (c->unplugged) {
        return;
    }
    c->faults.removed = removed;
    memory_region_set_enabled(&c->gone, removed);
}

uint32_t irqbed_ctrl_config_read(PCIDevice *dev, uint32_t addr, int len)
{
    if (irqbed_ctrl_is_removed(IRQBED_CTRL(dev))) {
        return UINT32_MAX >> (32 - 8 * len);
    }
    return pci_default_read_config(dev, addr, len);
}

void irqbed_ctrl_config_write(PCIDevice *dev, uint32_t addr, uint32_t value,
                              int len)
{
    if (!irqbed_ctrl_is_removed(IRQBED_CTRL(dev))) {
        pci_default_write_config(dev, addr, value, len);
    }
}
