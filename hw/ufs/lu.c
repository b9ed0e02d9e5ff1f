/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Logical units: devices on the controller's bus, each with a block node.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "ufs.h"

static const Property irqbed_ufs_lu_props[] = {
    DEFINE_PROP_DRIVE("drive", IrqbedUfsLu, conf.blk),
    DEFINE_PROP_BOOL("share-rw", IrqbedUfsLu, conf.share_rw, false),
    DEFINE_PROP_UINT8("lun", IrqbedUfsLu, lun, 0),
};

static void irqbed_ufs_lu_realize(DeviceState *dev, Error **errp)
{
    IrqbedUfsLu *lu = IRQBED_UFS_LU(dev);
    IrqbedUfs *u = IRQBED_UFS(qdev_get_parent_bus(dev)->parent);

    if (lu->lun >= IRQBED_UFS_MAX_LUS) {
        error_setg(errp, "lun: %u is not between 0 and %u", lu->lun,
                   IRQBED_UFS_MAX_LUS - 1);
        return;
    }
    if (u->lus[lu->lun]) {
        error_setg(errp, "lun: %u is taken already", lu->lun);
        return;
    }
    if (!lu->conf.blk) {
        error_setg(errp, "drive: not set");
        return;
    }
    if (!blkconf_apply_backend_options(&lu->conf,
                                       !blk_supports_write_perm(lu->conf.blk),
                                       false, errp) ||
        !irqbed_store_open(&lu->store, lu->conf.blk, IRQBED_UFS_BLOCK_BYTES,
                           errp)) {
        return;
    }
    u->lus[lu->lun] = lu;
}

static void irqbed_ufs_lu_unrealize(DeviceState *dev)
{
    IrqbedUfsLu *lu = IRQBED_UFS_LU(dev);
    IrqbedUfs *u = IRQBED_UFS(qdev_get_parent_bus(dev)->parent);

    u->lus[lu->lun] = NULL;
    irqbed_req_detach_store(IRQBED_CTRL(u), &lu->store);
    irqbed_store_close(&lu->store);
}

static void irqbed_ufs_lu_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->realize = irqbed_ufs_lu_realize;
    dc->unrealize = irqbed_ufs_lu_unrealize;
    dc->bus_type = TYPE_IRQBED_UFS_BUS;
    dc->desc = "logical unit of irqbed-ufs";
    dc->hotpluggable = false;
    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
    device_class_set_props(dc, irqbed_ufs_lu_props);
}

static const TypeInfo irqbed_ufs_lu_info = {
    .name = TYPE_IRQBED_UFS_LU,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(IrqbedUfsLu),
    .class_init = irqbed_ufs_lu_class_init,
};

static void irqbed_ufs_lu_register_types(void)
{
    type_register_static(&irqbed_ufs_lu_info);
}

type_init(irqbed_ufs_lu_register_types)
