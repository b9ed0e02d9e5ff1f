/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SCSI commands of logical units, well-known ones included: which is which,
 * and those that move data or change state (sense.c, mode.c and scsi_info.c
 * have the others).  UFS 3.1, chapter 11; SBC-3.
 * Stage D2: the medium is read or written from D3 on, by core/media.c.
 */

#include "qemu/osdep.h"
#include "scsi/constants.h"
#include "ufs.h"
#include "trace.h"

#define UNMAP_HEADER 8
#define UNMAP_DESCRIPTOR 16

/* START STOP UNIT's power conditions, and bCurrentPowerMode for them */
#define POWER_ACTIVE 1
#define POWER_DEEP_SLEEP 4
#define START        0x01
#define LOEJ         0x02

/* CDB: NACA of the control byte; RDPROTECT, WRPROTECT and VRPROTECT */
#define CONTROL_NACA 0x04
#define PROTECT_MASK 0xe0

/* Where a command may go: UFS 3.1, well-known logical units. */
#define ON_LU     BIT(0)        /* an LU with a medium */
#define ON_LUNS   BIT(1)        /* REPORT LUNS */
#define ON_DEVICE BIT(2)
#define ON_BOOT   BIT(3)
#define ON_RPMB   BIT(4)
#define ON_NONE   BIT(5)        /* a LUN without a unit */
#define ON_WLUNS  (ON_LUNS | ON_DEVICE | ON_BOOT | ON_RPMB)

/* What sets a command apart. */
#define KEEPS_ATTENTION BIT(0)  /* is run in spite of one, and leaves it */
#define NEEDS_MEDIUM    BIT(1)  /* that the unit is started and awake */

typedef struct ScsiOp {
    uint8_t opcode;
    uint8_t units;
    uint8_t flags;
    void (*run)(IrqbedUfsReq *r, IrqbedUfsLu *lu);
} ScsiOp;

static const IrqbedUfsSense sense_out_of_range = {
    ILLEGAL_REQUEST, 0x21, 0x00
};
static const IrqbedUfsSense sense_protected = { DATA_PROTECT, 0x27, 0x00 };
static const IrqbedUfsSense sense_software_protected = {
    DATA_PROTECT, 0x27, 0x02
};
static const IrqbedUfsSense sense_asleep = { NOT_READY, 0x04, 0x02 };

/*
 * Expected against real length, and the direction the host has prepared for.
 * False, with the status set, if the data has no place to go to or come from.
 */
static bool check_transfer(IrqbedUfsReq *r, uint32_t bytes, uint32_t direction)
{
    uint32_t expected = be32_to_cpu(r->upiu.sc.exp_data_transfer_len);
    uint32_t dd = le32_to_cpu(r->utrd.header.dword_0) &
                  IRQBED_UFS_UTRD_DD_MASK;

    if (expected > bytes) {
        r->rsp.header.flags |= UFS_UPIU_FLAG_UNDERFLOW;
        r->rsp.sr.residual_transfer_count = cpu_to_be32(expected - bytes);
    } else if (expected < bytes) {
        r->rsp.header.flags |= UFS_UPIU_FLAG_OVERFLOW;
        r->rsp.sr.residual_transfer_count = cpu_to_be32(bytes - expected);
    }
    bytes = MIN(bytes, expected);
    if (bytes && dd != direction) {
        r->ocs = UFS_OCS_INVALID_CMD_TABLE_ATTR;
        irqbed_ctrl_guest_error(r->core.ctrl, "UTRD data direction", dd);
        return false;
    }
    return irqbed_ufs_fetch_prdt(r, bytes);
}

void irqbed_ufs_scsi_reply(IrqbedUfsReq *r, const void *data, uint32_t len,
                           uint32_t alloc)
{
    len = MIN(len, alloc);
    if (!check_transfer(r, len, UFS_UTP_DEVICE_TO_HOST)) {
        return;
    }
    len = MIN(len, be32_to_cpu(r->upiu.sc.exp_data_transfer_len));
    if (len) {
        irqbed_req_reserve(&r->core, len);
        memcpy(r->core.buf, data, len);
        r->core.to_guest = len;
    }
}

/* [lba, lba + blocks) within the LU: false with sense set if not. */
static bool check_range(IrqbedUfsReq *r, IrqbedUfsLu *lu, uint64_t lba,
                        uint64_t blocks)
{
    uint64_t end = lu->store.bytes / lu->store.block_bytes;

    if (lba > end || blocks > end - lba) {
        irqbed_ufs_scsi_check(r, sense_out_of_range);
        return false;
    }
    return true;
}

/* False, with sense set, if nothing may be written. */
static bool check_protection(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    if (!irqbed_ufs_is_protected(lu)) {
        return true;
    }
    irqbed_ufs_scsi_check(r, irqbed_ufs_of(r)->units[lu->lun].software_wp ?
                             sense_software_protected : sense_protected);
    return false;
}

bool irqbed_ufs_scsi_parameters(IrqbedUfsReq *r, void *list, uint32_t len)
{
    if (!check_transfer(r, len, UFS_UTP_HOST_TO_DEVICE)) {
        return false;
    }
    if (be32_to_cpu(r->upiu.sc.exp_data_transfer_len) < len) {
        r->ocs = UFS_OCS_MISMATCH_DATA_BUF_SIZE;
        return false;
    }
    if (!irqbed_dma_gather(&r->core, list, len)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
        return false;
    }
    return true;
}

/* READ, WRITE, VERIFY and SYNCHRONIZE CACHE have LBA and length alike. */
static void parse_range(const uint8_t *cdb, uint64_t *lba, uint64_t *blocks)
{
    switch (cdb[0] >> 5) {
    case 0: /* 6 bytes; length 0 means 256 */
        *lba = ldl_be_p(cdb) & 0x1fffff;
        *blocks = cdb[4] ? cdb[4] : 256;
        break;
    case 4: /* 16 bytes */
        *lba = ldq_be_p(cdb + 2);
        *blocks = ldl_be_p(cdb + 10);
        break;
    default: /* 10 bytes */
        *lba = ldl_be_p(cdb + 2);
        *blocks = lduw_be_p(cdb + 7);
        break;
    }
}

static void read_write(IrqbedUfsReq *r, IrqbedUfsLu *lu, IrqbedOp op)
{
    const uint8_t *cdb = r->upiu.sc.cdb;
    bool writing = op == IRQBED_OP_WRITE;
    bool six = !(cdb[0] >> 5);
    uint32_t block_bytes = lu->store.block_bytes;
    uint64_t lba, blocks;
    uint32_t bytes;

    parse_range(cdb, &lba, &blocks);
    if (writing && !check_protection(r, lu)) {
        return;
    }
    if (!check_range(r, lu, lba, blocks)) {
        return;
    }
    /* Protection information; the MAXIMUM TRANSFER LENGTH of VPD page b0 */
    if ((!six && (cdb[1] & PROTECT_MASK)) ||
        blocks > IRQBED_UFS_MAX_TRANSFER / block_bytes) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    bytes = blocks * block_bytes;
    if (!check_transfer(r, bytes, writing ? UFS_UTP_HOST_TO_DEVICE :
                                            UFS_UTP_DEVICE_TO_HOST)) {
        return;
    }
    if (be32_to_cpu(r->upiu.sc.exp_data_transfer_len) < bytes) {
        r->ocs = UFS_OCS_MISMATCH_DATA_BUF_SIZE;
        irqbed_ctrl_guest_error(r->core.ctrl, "expected length below data",
                                bytes);
        return;
    }
    if (!bytes) {
        return;
    }
    irqbed_req_reserve(&r->core, bytes);
    r->core.op = op;
    r->core.store = &lu->store;
    r->core.nr_extents = 1;
    r->core.extents[0].offset = lba * block_bytes;
    r->core.extents[0].bytes = bytes;
    r->core.to_guest = writing ? 0 : bytes;
    /* Force unit access: byte 1, bit 3, or no write cache at all */
    r->core.fua = writing &&
                  ((!six && (cdb[1] & BIT(3))) ||
                   !irqbed_ufs_of(r)->units[lu->lun].write_cache);
}

static void scsi_read(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    read_write(r, lu, IRQBED_OP_READ);
}

static void scsi_write(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    read_write(r, lu, IRQBED_OP_WRITE);
}

/* Only the range is verified: a block that cannot be read is not modelled. */
static void scsi_verify(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    uint64_t lba, blocks;

    parse_range(r->upiu.sc.cdb, &lba, &blocks);
    if (r->upiu.sc.cdb[1] & (PROTECT_MASK | 0x06)) { /* BYTCHK */
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    check_range(r, lu, lba, blocks);
}

static void scsi_sync_cache(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    uint64_t lba, blocks;

    parse_range(r->upiu.sc.cdb, &lba, &blocks);
    if (check_range(r, lu, lba, blocks)) {
        /* All of the cache, whatever the range. */
        r->core.op = IRQBED_OP_FLUSH;
        r->core.store = &lu->store;
    }
}

/* SBC-3, 5.28.2: the list, already in @list, becomes extents. */
static bool parse_unmap(IrqbedUfsReq *r, IrqbedUfsLu *lu, const uint8_t *list,
                        uint32_t len)
{
    uint32_t n = lduw_be_p(list + 2) / UNMAP_DESCRIPTOR;
    uint32_t i;

    n = MIN(n, (len - UNMAP_HEADER) / UNMAP_DESCRIPTOR);
    if (n > IRQBED_UFS_MAX_UNMAP) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_bad_list_field);
        return false;
    }
    for (i = 0; i < n; i++) {
        const uint8_t *d = list + UNMAP_HEADER + i * UNMAP_DESCRIPTOR;
        uint64_t lba = ldq_be_p(d);
        uint64_t blocks = ldl_be_p(d + 8);
        IrqbedExtent *e = &r->core.extents[r->core.nr_extents];

        if (!check_range(r, lu, lba, blocks)) {
            return false;
        }
        if (blocks) {
            e->offset = lba * lu->store.block_bytes;
            e->bytes = blocks * lu->store.block_bytes;
            r->core.nr_extents++;
        }
    }
    return true;
}

static void scsi_unmap(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    uint8_t list[UNMAP_HEADER + IRQBED_UFS_MAX_UNMAP * UNMAP_DESCRIPTOR];
    uint32_t len = lduw_be_p(r->upiu.sc.cdb + 7);

    if (r->upiu.sc.cdb[1] & 1) { /* ANCHOR */
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    if (!len) {
        return;
    }
    if (!check_protection(r, lu)) {
        return;
    }
    if (len < UNMAP_HEADER) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_bad_list_length);
        return;
    }
    /* More descriptors than VPD page b0 says */
    if (len > sizeof(list)) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_bad_list_field);
        return;
    }
    if (!irqbed_ufs_scsi_parameters(r, list, len)) {
        return;
    }
    if (parse_unmap(r, lu, list, len) && r->core.nr_extents) {
        r->core.op = IRQBED_OP_ZERO;
        r->core.store = &lu->store;
    }
}

static void scsi_nothing(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
}

/*
 * UFS 3.1, FORMAT UNIT: nothing to do, for a block that was never written
 * reads as any other.  A parameter list, which could only describe defects, is
 * refused.
 */
static void scsi_format(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    if (r->upiu.sc.cdb[1]) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    } else if (lu) {
        check_protection(r, lu);
    }
}

/* UFS 3.1, 11.3.11: of the device, its power mode; of an LU, on or off. */
static void scsi_start_stop(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    uint8_t condition = r->upiu.sc.cdb[4] >> 4;

    if (lu && (condition || (r->upiu.sc.cdb[4] & LOEJ))) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    } else if (lu) {
        u->units[lu->lun].stopped = !(r->upiu.sc.cdb[4] & START);
    } else if (condition < POWER_ACTIVE || condition > POWER_DEEP_SLEEP) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    } else {
        u->attrs[UFS_QUERY_ATTR_IDN_POWER_MODE] = condition << 4 | condition;
    }
}

static const ScsiOp scsi_ops[] = {
    { TEST_UNIT_READY, ON_LU | ON_WLUNS, NEEDS_MEDIUM, scsi_nothing },
    { REQUEST_SENSE, ON_LU | ON_WLUNS | ON_NONE, KEEPS_ATTENTION,
      irqbed_ufs_scsi_request_sense },
    { INQUIRY, ON_LU | ON_WLUNS | ON_NONE, KEEPS_ATTENTION,
      irqbed_ufs_scsi_inquiry },
    { REPORT_LUNS, ON_LU | ON_WLUNS | ON_NONE, KEEPS_ATTENTION,
      irqbed_ufs_scsi_report_luns },
    { START_STOP, ON_LU | ON_DEVICE, 0, scsi_start_stop },
    { SEND_DIAGNOSTIC, ON_LU | ON_DEVICE, 0, scsi_nothing },
    { FORMAT_UNIT, ON_LU | ON_DEVICE, NEEDS_MEDIUM, scsi_format },
    { READ_6, ON_LU, NEEDS_MEDIUM, scsi_read },
    { READ_10, ON_LU, NEEDS_MEDIUM, scsi_read },
    { READ_16, ON_LU, NEEDS_MEDIUM, scsi_read },
    { WRITE_6, ON_LU, NEEDS_MEDIUM, scsi_write },
    { WRITE_10, ON_LU, NEEDS_MEDIUM, scsi_write },
    { WRITE_16, ON_LU, NEEDS_MEDIUM, scsi_write },
    { VERIFY_10, ON_LU, NEEDS_MEDIUM, scsi_verify },
    { SYNCHRONIZE_CACHE, ON_LU, NEEDS_MEDIUM, scsi_sync_cache },
    { SYNCHRONIZE_CACHE_16, ON_LU, NEEDS_MEDIUM, scsi_sync_cache },
    { UNMAP, ON_LU, NEEDS_MEDIUM, scsi_unmap },
    { READ_CAPACITY_10, ON_LU, NEEDS_MEDIUM, irqbed_ufs_scsi_capacity10 },
    { SERVICE_ACTION_IN_16, ON_LU, NEEDS_MEDIUM, irqbed_ufs_scsi_capacity16 },
    { MODE_SENSE, ON_LU, 0, irqbed_ufs_scsi_mode_sense },
    { MODE_SENSE_10, ON_LU, 0, irqbed_ufs_scsi_mode_sense },
    { MODE_SELECT, ON_LU, 0, irqbed_ufs_scsi_mode_select },
    { MODE_SELECT_10, ON_LU, 0, irqbed_ufs_scsi_mode_select },
};

const uint8_t irqbed_ufs_wluns[IRQBED_UFS_WLUNS] = {
    UFS_UPIU_REPORT_LUNS_WLUN, UFS_UPIU_BOOT_WLUN, UFS_UPIU_RPMB_WLUN,
    UFS_UPIU_UFS_DEVICE_WLUN,
};

int irqbed_ufs_unit(IrqbedUfs *u, uint32_t lun)
{
    int i;

    if (lun < IRQBED_UFS_MAX_LUS) {
        return u->lus[lun] ? lun : -1;
    }
    for (i = 0; i < IRQBED_UFS_WLUNS; i++) {
        if (lun == irqbed_ufs_wluns[i]) {
            return IRQBED_UFS_MAX_LUS + i;
        }
    }
    return -1;
}

static uint8_t kind_of_unit(int unit)
{
    static const uint8_t wlun_kinds[IRQBED_UFS_WLUNS] = {
        ON_LUNS, ON_BOOT, ON_RPMB, ON_DEVICE,
    };

    return unit < 0 ? ON_NONE : unit < IRQBED_UFS_MAX_LUS ? ON_LU :
           wlun_kinds[unit - IRQBED_UFS_MAX_LUS];
}

/* The last byte of a CDB of that group is its control byte. */
static bool wants_naca(const uint8_t *cdb)
{
    unsigned len = cdb[0] < 0x20 ? 6 : cdb[0] < 0x80 ? 10 :
                   cdb[0] < 0xa0 ? 16 : 12;

    return cdb[len - 1] & CONTROL_NACA;
}

static bool is_ready(IrqbedUfs *u, IrqbedUfsLu *lu)
{
    return (u->attrs[UFS_QUERY_ATTR_IDN_POWER_MODE] & 0xf) == POWER_ACTIVE &&
           !u->units[lu->lun].stopped;
}

static void run_op(IrqbedUfsReq *r, const ScsiOp *op, int unit)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    IrqbedUfsLu *lu = unit >= 0 && unit < IRQBED_UFS_MAX_LUS ? u->lus[unit] :
                                                               NULL;

    if (unit < 0 && (!op || !(op->units & ON_NONE))) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_bad_lun);
    } else if (!(op && (op->flags & KEEPS_ATTENTION)) &&
               irqbed_ufs_scsi_attention(r)) {
        return;
    } else if (!op || !(op->units & kind_of_unit(unit))) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_opcode);
    } else if (wants_naca(r->upiu.sc.cdb)) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    } else if (lu && (op->flags & NEEDS_MEDIUM) && !is_ready(u, lu)) {
        irqbed_ufs_scsi_check(r, sense_asleep);
    } else {
        op->run(r, lu);
    }
}

void irqbed_ufs_scsi(IrqbedUfsReq *r)
{
    uint8_t lun = r->upiu.header.lun;
    uint8_t opcode = r->upiu.sc.cdb[0];
    const ScsiOp *op = NULL;
    int i;

    for (i = 0; i < ARRAY_SIZE(scsi_ops); i++) {
        if (scsi_ops[i].opcode == opcode) {
            op = &scsi_ops[i];
            break;
        }
    }
    run_op(r, op, irqbed_ufs_unit(irqbed_ufs_of(r), lun));
    trace_irqbed_ufs_scsi(r->core.ctrl->name, r->core.queue, r->core.tag,
                          r->core.seq, lun, opcode,
                          r->rsp.header.scsi_status);
}
