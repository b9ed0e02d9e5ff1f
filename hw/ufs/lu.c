/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Logical units: devices on the controller's bus, each with a block node; what
 * a reset does to them, and when they are write-protected.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/host-utils.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "ufs.h"

static const char *const protect_words[] = {
    [IRQBED_UFS_PROTECT_OFF] = "off",
    [IRQBED_UFS_PROTECT_POWER_ON] = "power-on",
    [IRQBED_UFS_PROTECT_PERMANENT] = "permanent",
    NULL
};

void irqbed_ufs_unit_reset(IrqbedUfs *u, unsigned unit,
                           IrqbedUfsAttention why)
{
    u->units[unit].stopped = false;
    irqbed_ufs_mode_reset(&u->units[unit]);
    irqbed_ufs_attention(u, unit, why);
}

void irqbed_ufs_units_reset(IrqbedUfs *u)
{
    unsigned i;

    for (i = 0; i < IRQBED_UFS_UNITS; i++) {
        irqbed_ufs_unit_reset(u, i, IRQBED_UFS_ATTENTION_POWER_ON);
    }
}

bool irqbed_ufs_is_protected(IrqbedUfsLu *lu)
{
    return lu->store.read_only || lu->protect == IRQBED_UFS_PROTECT_PERMANENT ||
           lu->ufs->units[lu->lun].software_wp ||
           (lu->protect == IRQBED_UFS_PROTECT_POWER_ON &&
            lu->ufs->flags[UFS_QUERY_FLAG_IDN_PWR_ON_WPE]);
}

static char *get_protect(Object *obj, Error **errp)
{
    return g_strdup(protect_words[IRQBED_UFS_LU(obj)->protect]);
}

/* At run time the guest hears of it: the WP bit of MODE SENSE may differ. */
static void set_protect(Object *obj, const char *word, Error **errp)
{
    IrqbedUfsLu *lu = IRQBED_UFS_LU(obj);
    uint64_t old = lu->protect;

    if (irqbed_parse_word("write-protect", word, protect_words, &lu->protect,
                          errp) && lu->ufs && lu->protect != old) {
        irqbed_ufs_attention(lu->ufs, lu->lun, IRQBED_UFS_ATTENTION_MODE);
    }
}

static const Property irqbed_ufs_lu_props[] = {
    DEFINE_PROP_DRIVE("drive", IrqbedUfsLu, conf.blk),
    DEFINE_PROP_BOOL("share-rw", IrqbedUfsLu, conf.share_rw, false),
    DEFINE_PROP_UINT8("lun", IrqbedUfsLu, lun, 0),
    DEFINE_PROP_UINT32("block-bytes", IrqbedUfsLu, block_bytes,
                       IRQBED_UFS_MIN_BLOCK),
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
    if (!is_power_of_2(lu->block_bytes) ||
        lu->block_bytes < IRQBED_UFS_MIN_BLOCK ||
        lu->block_bytes > IRQBED_UFS_MAX_BLOCK) {
        error_setg(errp, "block-bytes: %" PRIu32 " is not a power of two "
                   "between %" PRIu64 " and %" PRIu64, lu->block_bytes,
                   (uint64_t)IRQBED_UFS_MIN_BLOCK,
                   (uint64_t)IRQBED_UFS_MAX_BLOCK);
        return;
    }
    if (!lu->conf.blk) {
        error_setg(errp, "drive: not set");
        return;
    }
    if (!blkconf_apply_backend_options(&lu->conf,
                                       !blk_supports_write_perm(lu->conf.blk),
                                       false, errp) ||
        !irqbed_store_open(&lu->store, lu->conf.blk, lu->block_bytes,
                           errp)) {
        return;
    }
    lu->ufs = u;
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
    object_class_property_add_str(oc, "write-protect", get_protect,
                                  set_protect);
    object_class_property_set_description(oc, "write-protect",
        "when nothing can be written [off | power-on | permanent]");
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
