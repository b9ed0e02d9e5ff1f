/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A SATA drive as a QEMU device: properties, medium, plugging in and out.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/hotplug.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "ahci.h"

#define SERIAL_CHARS    20
#define VERSION_CHARS   8
#define MODEL_CHARS     40
#define PORT_AUTO       0xff

static bool check_string(const char *name, const char *text, size_t max,
                         Error **errp)
{
    const char *c;

    if (strlen(text) > max) {
        error_setg(errp, "%s: more than %zu characters", name, max);
        return false;
    }
    for (c = text; *c; c++) {
        if (*c < ' ' || *c > '~') {
            error_setg(errp, "%s: not printable ASCII", name);
            return false;
        }
    }
    return true;
}

static bool check_params(IrqbedAhciDrive *d, Error **errp)
{
    if (!d->conf.blk) {
        error_setg(errp, "drive: missing; the name of a block node is needed");
        return false;
    }
    if (!check_string("serial", d->serial, SERIAL_CHARS, errp) ||
        !check_string("ver", d->version, VERSION_CHARS, errp) ||
        !check_string("model", d->model, MODEL_CHARS, errp) ||
        !blkconf_blocksizes(&d->conf, errp)) {
        return false;
    }
    if (d->conf.logical_block_size != 512 &&
        d->conf.logical_block_size != 4096) {
        error_setg(errp, "logical_block_size: %" PRIu32 " is neither 512 nor "
                   "4096", d->conf.logical_block_size);
        return false;
    }
    return true;
}

static IrqbedAhciPort *find_port(IrqbedAhci *h, uint8_t nr, Error **errp)
{
    unsigned i;

    if (nr != PORT_AUTO && nr >= h->nr_ports) {
        error_setg(errp, "port: %u is not between 0 and %u", nr,
                   h->nr_ports - 1);
        return NULL;
    }
    if (nr != PORT_AUTO && h->ports[nr].drive) {
        error_setg(errp, "port: %u is in use", nr);
        return NULL;
    }
    if (nr != PORT_AUTO) {
        return &h->ports[nr];
    }
    for (i = 0; i < h->nr_ports; i++) {
        if (!h->ports[i].drive) {
            return &h->ports[i];
        }
    }
    error_setg(errp, "port: all %u are in use", h->nr_ports);
    return NULL;
}

static void drive_realize(DeviceState *dev, Error **errp)
{
    IrqbedAhciDrive *d = IRQBED_AHCI_DRIVE(dev);
    IrqbedAhci *h = IRQBED_AHCI(qdev_get_parent_bus(dev)->parent);
    IrqbedAhciPort *p = find_port(h, d->port, errp);
    bool read_only;

    if (!p) {
        return;
    }
    if (!d->serial) {
        d->serial = g_strdup_printf("%s-%u", IRQBED_CTRL(h)->name,
                                    p->nr);
    }
    if (!check_params(d, errp)) {
        return;
    }
    read_only = !blk_supports_write_perm(d->conf.blk);
    if (!blkconf_apply_backend_options(&d->conf, read_only, false, errp) ||
        !irqbed_store_open(&d->store, d->conf.blk, d->conf.logical_block_size,
                           errp)) {
        return;
    }
    d->port = p->nr;
    irqbed_ahci_port_plug(p, d);
}

static void drive_unrealize(DeviceState *dev)
{
    IrqbedAhciDrive *d = IRQBED_AHCI_DRIVE(dev);
    IrqbedAhci *h = IRQBED_AHCI(qdev_get_parent_bus(dev)->parent);

    irqbed_ahci_port_unplug(&h->ports[d->port]);
    irqbed_store_close(&d->store);
}

static const Property drive_properties[] = {
    DEFINE_BLOCK_PROPERTIES(IrqbedAhciDrive, conf),
    DEFINE_BLOCK_ERROR_PROPERTIES(IrqbedAhciDrive, conf),
    DEFINE_PROP_UINT8("port", IrqbedAhciDrive, port, PORT_AUTO),
    DEFINE_PROP_STRING("serial", IrqbedAhciDrive, serial),
    DEFINE_PROP_STRING("model", IrqbedAhciDrive, model),
    DEFINE_PROP_STRING("ver", IrqbedAhciDrive, version),
    DEFINE_PROP_UINT64("wwn", IrqbedAhciDrive, wwn, 0),
    DEFINE_PROP_UINT16("rotation_rate", IrqbedAhciDrive, rotation_rate, 1),
};

static void drive_instance_init(Object *obj)
{
    IrqbedAhciDrive *d = IRQBED_AHCI_DRIVE(obj);

    d->model = g_strdup("irqbed SATA drive");
    d->version = g_strdup("1.0");
}

static void drive_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->realize = drive_realize;
    dc->unrealize = drive_unrealize;
    dc->bus_type = TYPE_IRQBED_AHCI_BUS;
    dc->vmsd = &irqbed_ahci_drive_vmstate;
    dc->desc = "SATA drive of irqbed-ahci";
    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
    device_class_set_props(dc, drive_properties);
}

/* A drive's state is saved under the name of its port. */
static char *bus_get_dev_path(DeviceState *dev)
{
    g_autofree char *hba = qdev_get_dev_path(qdev_get_parent_bus(dev)->parent);

    return g_strdup_printf("%s/port%u", hba ?: "",
                           IRQBED_AHCI_DRIVE(dev)->port);
}

static void bus_class_init(ObjectClass *oc, void *data)
{
    BusClass *bc = BUS_CLASS(oc);
    HotplugHandlerClass *hc = HOTPLUG_HANDLER_CLASS(oc);

    bc->max_dev = IRQBED_AHCI_MAX_PORTS;
    bc->get_dev_path = bus_get_dev_path;
    hc->unplug = qdev_simple_device_unplug_cb;
}

static const TypeInfo drive_types[] = {
    {
        .name = TYPE_IRQBED_AHCI_DRIVE,
        .parent = TYPE_DEVICE,
        .instance_size = sizeof(IrqbedAhciDrive),
        .instance_init = drive_instance_init,
        .class_init = drive_class_init,
    }, {
        .name = TYPE_IRQBED_AHCI_BUS,
        .parent = TYPE_BUS,
        .instance_size = sizeof(BusState),
        .class_init = bus_class_init,
        .interfaces = (InterfaceInfo[]) { { TYPE_HOTPLUG_HANDLER }, { } },
    },
};

DEFINE_TYPES(drive_types)
