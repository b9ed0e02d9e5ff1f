/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The HBA as a QEMU device: PCI function, properties, reset.  AHCI 1.3.1, 2 and
 * 10.4.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msi.h"
#include "hw/qdev-properties.h"
#include "ahci.h"

#define PCI_ID_QEMU_1234        0x1234
#define PCI_ID_IRQBED_AHCI      0x4941
#define PCI_ID_ICH9_AHCI        0x2922
#define AHCI_BAR                5
#define AHCI_PROG_IF            1

void irqbed_ahci_hba_reset(IrqbedAhci *h)
{
    IrqbedCtrl *c = IRQBED_CTRL(h);
    unsigned i;

    irqbed_req_clear_all(c);
    h->ghc = 0;
    h->is = 0;
    irqbed_ahci_ccc_reset(h);
    for (i = 0; i < h->nr_ports; i++) {
        irqbed_ahci_port_reset(&h->ports[i]);
    }
    irqbed_irq_reset(c);
}

static void hba_power_on(IrqbedCtrl *c)
{
    IrqbedAhci *h = IRQBED_AHCI(c);

    h->bohc = 0;
    irqbed_ahci_hba_reset(h);
}

static bool check_params(IrqbedAhci *h, Error **errp)
{
    uint64_t depth = IRQBED_CTRL(h)->knobs.queue_depth;

    if (depth > IRQBED_AHCI_MAX_SLOTS) {
        error_setg(errp, "queue-depth: %" PRIu64 " is not between 1 and %d",
                   depth, IRQBED_AHCI_MAX_SLOTS);
        return false;
    }
    if (!h->nr_ports || h->nr_ports > IRQBED_AHCI_MAX_PORTS) {
        error_setg(errp, "ports: %" PRIu32 " is not between 1 and %d",
                   h->nr_ports, IRQBED_AHCI_MAX_PORTS);
        return false;
    }
    if (h->msi_vectors > IRQBED_AHCI_MAX_PORTS ||
        (h->msi_vectors & (h->msi_vectors - 1))) {
        error_setg(errp, "msi-vectors: %" PRIu32 " is none of 0, 1, 2, 4, 8, "
                   "16, 32", h->msi_vectors);
        return false;
    }
    return true;
}


/* PCI header as the specification wants it, or as QEMU's ICH9 has it. */
static bool init_pci(IrqbedAhci *h, Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(h);

    pci_config_set_prog_interface(dev->config, AHCI_PROG_IF);
    if (h->ich9) {
        pci_config_set_vendor_id(dev->config, PCI_VENDOR_ID_INTEL);
        pci_config_set_device_id(dev->config, PCI_ID_ICH9_AHCI);
        return true;
    }
    /* 2.1.14: it is the first in the list, hence added last. */
    return pci_pm_init(dev, 0, errp) >= 0;
}

static void init_ports(IrqbedAhci *h)
{
    unsigned i, slot;

    h->ports = g_new0(IrqbedAhciPort, h->nr_ports);
    for (i = 0; i < h->nr_ports; i++) {
        IrqbedAhciPort *p = &h->ports[i];

        p->hba = h;
        p->nr = i;
        for (slot = 0; slot < IRQBED_AHCI_MAX_SLOTS; slot++) {
            p->reqs[slot].port = p;
            irqbed_req_init(&p->reqs[slot].core, IRQBED_CTRL(h), i, slot);
            p->reqs[slot].core.medium = i;
        }
    }
}

static bool hba_realize(IrqbedCtrl *c, Error **errp)
{
    IrqbedAhci *h = IRQBED_AHCI(c);
    PCIDevice *dev = PCI_DEVICE(c);

    if (!check_params(h, errp) || !init_pci(h, errp)) {
        return false;
    }
    init_ports(h);
    irqbed_ahci_ccc_realize(h);
    memory_region_init_io(&h->mmio, OBJECT(h), &irqbed_ahci_mmio_ops, h,
                          "irqbed-ahci",
                          MAX(4 * KiB, pow2ceil(IRQBED_AHCI_PORT_BASE +
                              h->nr_ports * IRQBED_AHCI_PORT_BYTES)));
    pci_register_bar(dev, AHCI_BAR, PCI_BASE_ADDRESS_SPACE_MEMORY, &h->mmio);
    qbus_init(&h->bus, sizeof(h->bus), TYPE_IRQBED_AHCI_BUS, DEVICE(h), NULL);
    qbus_set_bus_hotplug_handler(&h->bus);
    hba_power_on(c);
    return true;
}

static void hba_unrealize(IrqbedCtrl *c)
{
    IrqbedAhci *h = IRQBED_AHCI(c);
    unsigned i, slot;

    irqbed_ahci_ccc_unrealize(h);
    for (i = 0; i < h->nr_ports; i++) {
        for (slot = 0; slot < IRQBED_AHCI_MAX_SLOTS; slot++) {
            irqbed_req_destroy(&h->ports[i].reqs[slot].core);
        }
    }
    g_clear_pointer(&h->ports, g_free);
}

static unsigned hba_media(IrqbedCtrl *c)
{
    return MIN(IRQBED_AHCI(c)->nr_ports, IRQBED_AHCI_MAX_PORTS);
}

static void hba_config_write(PCIDevice *dev, uint32_t addr, uint32_t value,
                             int len)
{
    irqbed_ctrl_config_write(dev, addr, value, len);
    irqbed_ahci_irq_refresh(IRQBED_AHCI(dev));
}

static const IrqbedTransport hba_transport = {
    .realize = hba_realize,
    .unrealize = hba_unrealize,
    .reset = hba_power_on,
    .answer = irqbed_ahci_answer,
    .irq_level = irqbed_ahci_irq_level,
    .vectors = irqbed_ahci_vectors,
    .media = hba_media,
    .fault = irqbed_ahci_fault,
    .fault_statuses = irqbed_ahci_fault_statuses,
    .faults = BIT(IRQBED_FAULT_STATUS) | BIT(IRQBED_FAULT_COMPLETE_TWICE) |
              BIT(IRQBED_FAULT_IRQ_NO_SOURCE) | BIT(IRQBED_FAULT_LINK_DOWN),
};

static const Property hba_properties[] = {
    DEFINE_PROP_UINT32("ports", IrqbedAhci, nr_ports, 6),
    DEFINE_PROP_UINT32("msi-vectors", IrqbedAhci, msi_vectors, 0),
    DEFINE_PROP_BOOL("ccc", IrqbedAhci, ccc_wanted, true),
    DEFINE_PROP_BOOL("ich9", IrqbedAhci, ich9, false),
};

static void hba_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    pc->vendor_id = PCI_ID_QEMU_1234;
    pc->device_id = PCI_ID_IRQBED_AHCI;
    pc->class_id = PCI_CLASS_STORAGE_SATA;
    pc->config_write = hba_config_write;
    dc->desc = "irqbed AHCI host bus adapter";
    dc->vmsd = &irqbed_ahci_vmstate;
    device_class_set_props(dc, hba_properties);
    IRQBED_CTRL_CLASS(oc)->transport = &hba_transport;
}

static const TypeInfo hba_types[] = {
    {
        .name = TYPE_IRQBED_AHCI,
        .parent = TYPE_IRQBED_CTRL,
        .instance_size = sizeof(IrqbedAhci),
        .class_init = hba_class_init,
    },
};

DEFINE_TYPES(hba_types)
