/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SCSI commands that describe a logical unit: INQUIRY and its VPD pages,
 * REPORT LUNS, READ CAPACITY.  UFS 3.1, 11.3; SPC-4; SBC-3.
 * Stage D2: the data is built here and reaches the guest at D4.
 */

#include "qemu/osdep.h"
#include "scsi/constants.h"
#include "ufs.h"

#define INQUIRY_BYTES    36
#define VERSION_SPC4     0x06
#define PERIPHERAL_DISK  0x00
#define PERIPHERAL_WLUN  0x1e
#define PERIPHERAL_NONE  0x7f   /* qualifier 3: no LU can be here */
#define VPD_HEADER       4
#define VPD_MAX          64

#define VENDOR           "IRQBED  "
#define PRODUCT          "irqbed-ufs      "
#define REVISION         "0100"

static uint8_t peripheral(IrqbedUfsReq *r)
{
    int unit = irqbed_ufs_unit(irqbed_ufs_of(r), r->upiu.header.lun);

    return unit < 0 ? PERIPHERAL_NONE :
           unit < IRQBED_UFS_MAX_LUS ? PERIPHERAL_DISK : PERIPHERAL_WLUN;
}

static void inquiry_standard(IrqbedUfsReq *r, uint32_t alloc)
{
    uint8_t buf[INQUIRY_BYTES] = { 0 };

    buf[0] = peripheral(r);
    buf[2] = VERSION_SPC4;
    buf[3] = 0x12;              /* HISUP, response data format 2 */
    buf[4] = sizeof(buf) - 5;
    buf[7] = 0x02;              /* CMDQUE */
    memcpy(buf + 8, VENDOR, 8);
    memcpy(buf + 16, PRODUCT, 16);
    memcpy(buf + 32, REVISION, 4);
    irqbed_ufs_scsi_reply(r, buf, sizeof(buf), alloc);
}

static uint32_t vpd_supported(IrqbedUfsReq *r, IrqbedUfsLu *lu, uint8_t *page)
{
    static const uint8_t pages[] = { 0x00, 0x80, 0x83, 0xb0, 0xb1, 0xb2 };
    uint32_t n = lu ? sizeof(pages) : 3;

    memcpy(page, pages, n);
    return n;
}

static uint32_t vpd_serial(IrqbedUfsReq *r, IrqbedUfsLu *lu, uint8_t *page)
{
    return snprintf((char *)page, VPD_MAX - VPD_HEADER, "%.40s-%02x",
                    irqbed_ufs_of(r)->serial, r->upiu.header.lun);
}

/* A locally assigned NAA made of serial number and LUN: FNV-1a. */
static uint64_t lun_naa(IrqbedUfsReq *r)
{
    const char *text = irqbed_ufs_of(r)->serial;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++) {
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    hash = (hash ^ r->upiu.header.lun) * UINT64_C(0x100000001b3);
    return UINT64_C(3) << 60 | hash >> 4;
}

static uint32_t vpd_identification(IrqbedUfsReq *r, IrqbedUfsLu *lu,
                                   uint8_t *page)
{
    page[0] = 1;                /* binary */
    page[1] = 3;                /* of the logical unit, NAA */
    page[3] = 8;
    stq_be_p(page + 4, lun_naa(r));
    return 12;
}

static uint32_t vpd_block_limits(IrqbedUfsReq *r, IrqbedUfsLu *lu,
                                 uint8_t *page)
{
    uint32_t max = IRQBED_UFS_MAX_TRANSFER / lu->store.block_bytes;
    bool protected = irqbed_ufs_is_protected(lu);

    /* Offsets as in SBC-3, 6.5.3, less the header. */
    stw_be_p(page + 6 - VPD_HEADER, 1);         /* granularity */
    stl_be_p(page + 8 - VPD_HEADER, max);       /* maximum transfer */
    stl_be_p(page + 20 - VPD_HEADER, protected ? 0 : UINT32_MAX);
    stl_be_p(page + 24 - VPD_HEADER, protected ? 0 : IRQBED_UFS_MAX_UNMAP);
    stl_be_p(page + 28 - VPD_HEADER, 1);        /* unmap granularity */
    return 60;
}

static uint32_t vpd_characteristics(IrqbedUfsReq *r, IrqbedUfsLu *lu,
                                    uint8_t *page)
{
    stw_be_p(page, 1);          /* non-rotating */
    return 60;
}

static uint32_t vpd_provisioning(IrqbedUfsReq *r, IrqbedUfsLu *lu,
                                 uint8_t *page)
{
    if (!irqbed_ufs_is_protected(lu)) {
        page[1] = 0x84;         /* LBPU, LBPRZ */
        page[2] = 2;            /* thin */
    }
    return 4;
}

static const struct {
    uint8_t code;
    bool of_medium;
    uint32_t (*build)(IrqbedUfsReq *r, IrqbedUfsLu *lu, uint8_t *page);
} vpd_pages[] = {
    { 0x00, false, vpd_supported },
    { 0x80, false, vpd_serial },
    { 0x83, false, vpd_identification },
    { 0xb0, true, vpd_block_limits },
    { 0xb1, true, vpd_characteristics },
    { 0xb2, true, vpd_provisioning },
};

static void inquiry_vpd(IrqbedUfsReq *r, IrqbedUfsLu *lu, uint32_t alloc)
{
    uint8_t buf[VPD_MAX] = { 0 };
    uint8_t code = r->upiu.sc.cdb[2];
    uint32_t len;
    int i;

    for (i = 0; i < ARRAY_SIZE(vpd_pages); i++) {
        if (vpd_pages[i].code == code && (lu || !vpd_pages[i].of_medium)) {
            len = vpd_pages[i].build(r, lu, buf + VPD_HEADER);
            buf[0] = peripheral(r);
            buf[1] = code;
            stw_be_p(buf + 2, len);
            irqbed_ufs_scsi_reply(r, buf, VPD_HEADER + len, alloc);
            return;
        }
    }
    irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
}

void irqbed_ufs_scsi_inquiry(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    const uint8_t *cdb = r->upiu.sc.cdb;
    uint32_t alloc = lduw_be_p(cdb + 3);

    if (cdb[1] & 1) {
        inquiry_vpd(r, lu, alloc);
    } else if (cdb[2]) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    } else {
        inquiry_standard(r, alloc);
    }
}

/* SPC-4, 6.33: select report 0 LUs, 1 well-known LUs, 2 both. */
void irqbed_ufs_scsi_report_luns(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    uint8_t buf[8 + 8 * IRQBED_UFS_UNITS] = { 0 };
    IrqbedUfs *u = irqbed_ufs_of(r);
    uint8_t select = r->upiu.sc.cdb[2];
    uint32_t alloc = ldl_be_p(r->upiu.sc.cdb + 6);
    uint32_t len = 8;
    int i;

    if (select > 2 || alloc < 16) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    for (i = 0; select != 1 && i < IRQBED_UFS_MAX_LUS; i++) {
        if (u->lus[i]) {
            buf[len + 1] = i;   /* peripheral device addressing */
            len += 8;
        }
    }
    for (i = 0; select != 0 && i < IRQBED_UFS_WLUNS; i++) {
        buf[len] = 0xc1;        /* extended addressing, well known */
        buf[len + 1] = irqbed_ufs_wluns[i] & ~UFS_UPIU_WLUN_ID;
        len += 8;
    }
    stl_be_p(buf, len - 8);
    irqbed_ufs_scsi_reply(r, buf, len, alloc);
}

static uint64_t last_lba(IrqbedUfsLu *lu)
{
    return lu->store.bytes / lu->store.block_bytes - 1;
}

/* SBC-3: without PMI the address is reserved. */
static bool has_capacity_address(IrqbedUfsReq *r, bool pmi, uint64_t lba)
{
    if (!pmi && lba) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return false;
    }
    return true;
}

void irqbed_ufs_scsi_capacity10(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    const uint8_t *cdb = r->upiu.sc.cdb;
    uint8_t buf[8];

    if (has_capacity_address(r, cdb[8] & 1, ldl_be_p(cdb + 2))) {
        stl_be_p(buf, MIN(last_lba(lu), UINT32_MAX));
        stl_be_p(buf + 4, lu->store.block_bytes);
        irqbed_ufs_scsi_reply(r, buf, sizeof(buf), sizeof(buf));
    }
}

void irqbed_ufs_scsi_capacity16(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    const uint8_t *cdb = r->upiu.sc.cdb;
    uint8_t buf[32] = { 0 };

    if ((cdb[1] & 0x1f) != SAI_READ_CAPACITY_16) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    } else if (has_capacity_address(r, cdb[14] & 1, ldq_be_p(cdb + 2))) {
        stq_be_p(buf, last_lba(lu));
        stl_be_p(buf + 8, lu->store.block_bytes);
        if (!irqbed_ufs_is_protected(lu)) {
            buf[14] = 0xc0;     /* LBPME, LBPRZ */
        }
        irqbed_ufs_scsi_reply(r, buf, sizeof(buf), ldl_be_p(cdb + 10));
    }
}
