/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors of the UFS device, built when they are read.  UFS 3.1, 14.1.
 *
 * Each builder fills a zeroed buffer and returns the descriptor's length, or
 * 0 for an index that does not exist.
 */

#include "qemu/osdep.h"
#include "ufs.h"

#define UD_BASE_OFFSET   0x16   /* of the configuration descriptor */
#define UD_CONFIG_LENGTH 0x1a
#define CONFIG_LUS       8      /* logical units per configuration index */
#define CONFIG_LENGTH    (UD_BASE_OFFSET + CONFIG_LUS * UD_CONFIG_LENGTH)
#define SEGMENT_SECTORS  8192   /* allocation unit: 1 segment, 4 MiB */
#define PROVISIONING_TPRZ 3     /* thin; unmapped blocks read as zeroes */

/* Indices of the string descriptors */
enum {
    STRING_MANUFACTURER,
    STRING_PRODUCT,
    STRING_SERIAL,
    STRING_OEM_ID,
    STRING_REVISION,
};

static unsigned begin(uint8_t *buf, uint8_t idn, unsigned len)
{
    buf[UFS_QUERY_DESC_LENGTH_OFFSET] = len;
    buf[UFS_QUERY_DESC_DESC_TYPE_OFFSET] = idn;
    return len;
}

static uint64_t capacity_bytes(IrqbedUfs *u)
{
    uint64_t bytes = 0;
    int i;

    for (i = 0; i < IRQBED_UFS_MAX_LUS; i++) {
        bytes += u->lus[i] ? u->lus[i]->store.bytes : 0;
    }
    return bytes;
}

/* bLogicalBlockSize: 2 to the power of it */
static uint8_t block_exponent(IrqbedUfsLu *lu)
{
    return ctz32(lu->store.block_bytes);
}

static uint8_t lu_write_protect(IrqbedUfsLu *lu)
{
    return lu->store.read_only ? UFS_LU_PERM_WP : lu->protect;
}

static unsigned count_lus(IrqbedUfs *u)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < IRQBED_UFS_MAX_LUS; i++) {
        n += u->lus[i] != NULL;
    }
    return n;
}

static unsigned desc_device(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    const uint32_t temperature = UFS_DEV_HIGH_TEMP_NOTIF |
                                 UFS_DEV_LOW_TEMP_NOTIF;

    if (index) {
        return 0;
    }
    buf[UFS_DEVICE_DESC_PARAM_NUM_LU] = count_lus(u);
    buf[UFS_DEVICE_DESC_PARAM_NUM_WLU] = IRQBED_UFS_WLUNS;
    buf[UFS_DEVICE_DESC_PARAM_INIT_PWR_MODE] = 1;       /* active */
    buf[UFS_DEVICE_DESC_PARAM_HIGH_PR_LUN] = 0x7f;      /* none */
    buf[UFS_DEVICE_DESC_PARAM_BKOP_TERM_LT] = 0;
    stw_be_p(buf + UFS_DEVICE_DESC_PARAM_SPEC_VER, IRQBED_UFS_VERSION);
    stw_be_p(buf + UFS_DEVICE_DESC_PARAM_MANF_DATE, 0x0126);    /* 2026-01 */
    buf[UFS_DEVICE_DESC_PARAM_MANF_NAME] = STRING_MANUFACTURER;
    buf[UFS_DEVICE_DESC_PARAM_PRDCT_NAME] = STRING_PRODUCT;
    buf[UFS_DEVICE_DESC_PARAM_SN] = STRING_SERIAL;
    buf[UFS_DEVICE_DESC_PARAM_OEM_ID] = STRING_OEM_ID;
    buf[UFS_DEVICE_DESC_PARAM_UD_OFFSET] = UD_BASE_OFFSET;
    buf[UFS_DEVICE_DESC_PARAM_UD_LEN] = UD_CONFIG_LENGTH;
    if (u->temperature) {
        buf[UFS_DEVICE_DESC_PARAM_UFS_FEAT] = temperature;
        stl_be_p(buf + UFS_DEVICE_DESC_PARAM_EXT_UFS_FEATURE_SUP, temperature);
    }
    buf[UFS_DEVICE_DESC_PARAM_RTT_CAP] = 2;
    buf[UFS_DEVICE_DESC_PARAM_Q_DPTH] = u->nr_reqs;
    buf[UFS_DEVICE_DESC_PARAM_PRDCT_REV] = STRING_REVISION;
    return begin(buf, UFS_QUERY_DESC_IDN_DEVICE, sizeof(DeviceDescriptor));
}

/* The part of a unit that can be configured: table 14.12. */
static void config_unit(IrqbedUfs *u, unsigned lun, uint8_t *entry)
{
    IrqbedUfsLu *lu = u->lus[lun];

    if (!lu) {
        return;
    }
    entry[0x0] = 1;                             /* bLUEnable */
    stl_be_p(entry + 0x4,                       /* dNumAllocUnits */
             DIV_ROUND_UP(lu->store.bytes,
                          (uint64_t)SEGMENT_SECTORS * BDRV_SECTOR_SIZE));
    entry[0x2] = lu_write_protect(lu);          /* bLUWriteProtect */
    entry[0x9] = block_exponent(lu);            /* bLogicalBlockSize */
    entry[0xa] = PROVISIONING_TPRZ;             /* bProvisioningType */
}

static unsigned desc_configuration(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    unsigned last = IRQBED_UFS_MAX_LUS / CONFIG_LUS - 1;
    unsigned i;

    if (index > last) {
        return 0;
    }
    buf[0x2] = index < last;                    /* bConfDescContinue */
    buf[0x5] = 1;                               /* bInitPowerMode */
    buf[0x6] = 0x7f;                            /* bHighPriorityLUN */
    for (i = 0; i < CONFIG_LUS; i++) {
        config_unit(u, index * CONFIG_LUS + i,
                    buf + UD_BASE_OFFSET + i * UD_CONFIG_LENGTH);
    }
    return begin(buf, UFS_QUERY_DESC_IDN_CONFIGURATION, CONFIG_LENGTH);
}

static unsigned desc_unit(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    IrqbedUfsLu *lu;

    buf[UFS_UNIT_DESC_PARAM_UNIT_INDEX] = index;
    if (index == UFS_UPIU_RPMB_WLUN) {
        return begin(buf, UFS_QUERY_DESC_IDN_UNIT, sizeof(RpmbUnitDescriptor));
    }
    if (index >= IRQBED_UFS_MAX_LUS) {
        return 0;
    }
    lu = u->lus[index];
    if (lu) {
        uint64_t blocks = lu->store.bytes / lu->store.block_bytes;

        buf[UFS_UNIT_DESC_PARAM_LU_ENABLE] = 1;
        buf[UFS_UNIT_DESC_PARAM_LU_WR_PROTECT] = lu_write_protect(lu);
        buf[UFS_UNIT_DESC_PARAM_LOGICAL_BLK_SIZE] = block_exponent(lu);
        stq_be_p(buf + UFS_UNIT_DESC_PARAM_LOGICAL_BLK_COUNT, blocks);
        stl_be_p(buf + UFS_UNIT_DESC_PARAM_ERASE_BLK_SIZE, 1);
        buf[UFS_UNIT_DESC_PARAM_PROVISIONING_TYPE] = PROVISIONING_TPRZ;
        stq_be_p(buf + UFS_UNIT_DESC_PARAM_PHY_MEM_RSRC_CNT, blocks);
    }
    return begin(buf, UFS_QUERY_DESC_IDN_UNIT, sizeof(UnitDescriptor));
}

static unsigned desc_interconnect(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    if (index) {
        return 0;
    }
    stw_be_p(buf + UFS_INTERCONNECT_DESC_PARAM_UNIPRO_VER, 0x0180);
    stw_be_p(buf + UFS_INTERCONNECT_DESC_PARAM_MPHY_VER, 0x0410);
    return begin(buf, UFS_QUERY_DESC_IDN_INTERCONNECT,
                 sizeof(InterconnectDescriptor));
}

/* UTF-16, big endian; names as long as in INQUIRY, filled up with blanks */
static unsigned desc_string(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    static const char *const fixed[] = {
        [STRING_MANUFACTURER] = "IRQBED  ",
        [STRING_PRODUCT] = "irqbed-ufs      ",
        [STRING_OEM_ID] = "IRQBED",
        [STRING_REVISION] = "0100",
    };
    const char *text = index == STRING_SERIAL ? u->serial :
                       index < ARRAY_SIZE(fixed) ? fixed[index] : NULL;
    unsigned i;

    if (!text) {
        return 0;
    }
    for (i = 0; text[i]; i++) {
        stw_be_p(buf + UFS_QUERY_DESC_HDR_SIZE + 2 * i, (uint8_t)text[i]);
    }
    return begin(buf, UFS_QUERY_DESC_IDN_STRING,
                 UFS_QUERY_DESC_HDR_SIZE + 2 * i);
}

static unsigned desc_geometry(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    if (index) {
        return 0;
    }
    stq_be_p(buf + UFS_GEOMETRY_DESC_PARAM_DEV_CAP,
             capacity_bytes(u) >> UFS_GEOMETRY_CAPACITY_SHIFT);
    buf[UFS_GEOMETRY_DESC_PARAM_MAX_NUM_LUN] = 1;       /* 32 */
    stl_be_p(buf + UFS_GEOMETRY_DESC_PARAM_SEG_SIZE, SEGMENT_SECTORS);
    buf[UFS_GEOMETRY_DESC_PARAM_ALLOC_UNIT_SIZE] = 1;
    buf[UFS_GEOMETRY_DESC_PARAM_MIN_BLK_SIZE] =
        IRQBED_UFS_MIN_BLOCK / BDRV_SECTOR_SIZE;
    buf[UFS_GEOMETRY_DESC_PARAM_OPT_RD_BLK_SIZE] = 8;
    buf[UFS_GEOMETRY_DESC_PARAM_OPT_WR_BLK_SIZE] = 8;
    buf[UFS_GEOMETRY_DESC_PARAM_MAX_IN_BUF_SIZE] = 8;
    buf[UFS_GEOMETRY_DESC_PARAM_MAX_OUT_BUF_SIZE] = 8;
    buf[UFS_GEOMETRY_DESC_PARAM_MAX_NUM_CTX] = IRQBED_UFS_CONTEXTS;
    stw_be_p(buf + UFS_GEOMETRY_DESC_PARAM_MEM_TYPES, 0x0001);  /* normal */
    return begin(buf, UFS_QUERY_DESC_IDN_GEOMETRY,
                 sizeof(GeometryDescriptor));
}

/* All current levels 0: no supply is modelled. */
static unsigned desc_power(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    return index ? 0 : begin(buf, UFS_QUERY_DESC_IDN_POWER,
                             sizeof(PowerParametersDescriptor));
}

static unsigned desc_health(IrqbedUfs *u, uint8_t index, uint8_t *buf)
{
    if (index) {
        return 0;
    }
    buf[UFS_HEALTH_DESC_PARAM_EOL_INFO] = 1;            /* normal */
    buf[UFS_HEALTH_DESC_PARAM_LIFE_TIME_EST_A] = 1;     /* 0 - 10 % used */
    buf[UFS_HEALTH_DESC_PARAM_LIFE_TIME_EST_B] = 1;
    return begin(buf, UFS_QUERY_DESC_IDN_HEALTH,
                 sizeof(DeviceHealthDescriptor));
}

static unsigned (*const builders[UFS_QUERY_DESC_IDN_MAX])(IrqbedUfs *u,
                                                          uint8_t index,
                                                          uint8_t *buf) = {
    [UFS_QUERY_DESC_IDN_DEVICE] = desc_device,
    [UFS_QUERY_DESC_IDN_CONFIGURATION] = desc_configuration,
    [UFS_QUERY_DESC_IDN_UNIT] = desc_unit,
    [UFS_QUERY_DESC_IDN_INTERCONNECT] = desc_interconnect,
    [UFS_QUERY_DESC_IDN_STRING] = desc_string,
    [UFS_QUERY_DESC_IDN_GEOMETRY] = desc_geometry,
    [UFS_QUERY_DESC_IDN_POWER] = desc_power,
    [UFS_QUERY_DESC_IDN_HEALTH] = desc_health,
};

bool irqbed_ufs_has_descriptor(uint8_t idn)
{
    return idn < UFS_QUERY_DESC_IDN_MAX && builders[idn];
}

unsigned irqbed_ufs_descriptor(IrqbedUfs *u, uint8_t idn, uint8_t index,
                               uint8_t *buf)
{
    memset(buf, 0, UFS_MAX_QUERY_DATA_SIZE);
    return builders[idn](u, index, buf);
}
