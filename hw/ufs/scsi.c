/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SCSI commands of logical units, well-known ones included: which is which,
 * and those that move data or change state.  UFS 3.1, chapter 11; SBC-3.
 * Stage D2: the medium is read or written from D3 on, by core/media.c.
 */

#include "qemu/osdep.h"
#include "scsi/constants.h"
#include "ufs.h"
#include "trace.h"

#define FIXED_SENSE 0x70
#define UNMAP_HEADER 8
#define UNMAP_DESCRIPTOR 16

/* START STOP UNIT's power conditions, and bCurrentPowerMode for them */
#define POWER_ACTIVE 1
#define POWER_DEEP_SLEEP 4

typedef enum {
    NEED_NOTHING,
    NEED_LU,                    /* an LU with a medium */
    NEED_DEVICE_WLUN,
} ScsiNeeds;

typedef struct ScsiOp {
    uint8_t opcode;
    ScsiNeeds needs;
    void (*run)(IrqbedUfsReq *r, IrqbedUfsLu *lu);
} ScsiOp;

const IrqbedUfsSense irqbed_ufs_invalid_opcode = {
    ILLEGAL_REQUEST, 0x20, 0x00
};
const IrqbedUfsSense irqbed_ufs_invalid_field = { ILLEGAL_REQUEST, 0x24, 0x00 };
static const IrqbedUfsSense sense_no_sense = { NO_SENSE, 0x00, 0x00 };
static const IrqbedUfsSense sense_bad_lun = { ILLEGAL_REQUEST, 0x25, 0x00 };
static const IrqbedUfsSense sense_out_of_range = {
    ILLEGAL_REQUEST, 0x21, 0x00
};
static const IrqbedUfsSense sense_bad_list_length = {
    ILLEGAL_REQUEST, 0x1a, 0x00
};
static const IrqbedUfsSense sense_bad_list_field = {
    ILLEGAL_REQUEST, 0x26, 0x00
};
static const IrqbedUfsSense sense_protected = { DATA_PROTECT, 0x27, 0x00 };
static const IrqbedUfsSense sense_asleep = { NOT_READY, 0x04, 0x02 };
static const IrqbedUfsSense sense_read_error = { MEDIUM_ERROR, 0x11, 0x00 };
static const IrqbedUfsSense sense_write_error = { MEDIUM_ERROR, 0x0c, 0x00 };
static const IrqbedUfsSense sense_internal = { HARDWARE_ERROR, 0x44, 0x00 };

/* SPC-4, 4.5.3: fixed format */
static void build_sense(uint8_t *buf, IrqbedUfsSense sense)
{
    memset(buf, 0, UFS_SENSE_SIZE);
    buf[0] = FIXED_SENSE;
    buf[2] = sense.key;
    buf[7] = UFS_SENSE_SIZE - 8;
    buf[12] = sense.asc;
    buf[13] = sense.ascq;
}

void irqbed_ufs_scsi_check(IrqbedUfsReq *r, IrqbedUfsSense sense)
{
    UtpCmdRsp *sr = &r->rsp.sr;

    r->core.op = IRQBED_OP_NONE;
    r->core.to_guest = 0;
    r->rsp.header.flags = 0;
    r->rsp.header.scsi_status = CHECK_CONDITION;
    r->rsp.header.response = UFS_COMMAND_RESULT_SUCCESS;
    r->rsp.header.data_segment_length =
        cpu_to_be16(sizeof(sr->sense_data_len) + UFS_SENSE_SIZE);
    sr->residual_transfer_count = r->upiu.sc.exp_data_transfer_len;
    sr->sense_data_len = cpu_to_be16(UFS_SENSE_SIZE);
    build_sense(sr->sense_data, sense);
}

void irqbed_ufs_scsi_medium_error(IrqbedUfsReq *r)
{
    IrqbedOp op = r->core.op;

    irqbed_ufs_scsi_check(r, r->core.ret == -ENODEV ? sense_bad_lun :
                             op == IRQBED_OP_READ ? sense_read_error :
                             op == IRQBED_OP_FLUSH ? sense_internal :
                             sense_write_error);
    r->core.op = op;
}

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
    if (check_transfer(r, len, UFS_UTP_DEVICE_TO_HOST)) {
        len = MIN(len, be32_to_cpu(r->upiu.sc.exp_data_transfer_len));
        irqbed_req_reserve(&r->core, len);
        memcpy(r->core.buf, data, len);
        r->core.to_guest = len;
    }
}

/* [lba, lba + blocks) within the LU: false with sense set if not. */
static bool check_range(IrqbedUfsReq *r, IrqbedUfsLu *lu, uint64_t lba,
                        uint64_t blocks)
{
    uint64_t end = lu->store.bytes >> IRQBED_UFS_BLOCK_SHIFT;

    if (lba > end || blocks > end - lba) {
        irqbed_ufs_scsi_check(r, sense_out_of_range);
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
    uint64_t lba, blocks;
    uint32_t bytes;

    parse_range(cdb, &lba, &blocks);
    if (writing && lu->store.read_only) {
        irqbed_ufs_scsi_check(r, sense_protected);
        return;
    }
    if (!check_range(r, lu, lba, blocks)) {
        return;
    }
    /* Beyond the MAXIMUM TRANSFER LENGTH of VPD page b0 */
    if (blocks > IRQBED_UFS_MAX_TRANSFER / IRQBED_UFS_BLOCK_BYTES) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    bytes = blocks << IRQBED_UFS_BLOCK_SHIFT;
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
    r->core.extents[0].offset = lba << IRQBED_UFS_BLOCK_SHIFT;
    r->core.extents[0].bytes = bytes;
    r->core.to_guest = writing ? 0 : bytes;
    /* Force unit access: byte 1, bit 3, not in the 6 byte commands */
    r->core.fua = writing && (cdb[0] >> 5) && (cdb[1] & BIT(3));
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
    if (r->upiu.sc.cdb[1] & 0x06) { /* BYTCHK */
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
        irqbed_ufs_scsi_check(r, sense_bad_list_field);
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
            e->offset = lba << IRQBED_UFS_BLOCK_SHIFT;
            e->bytes = blocks << IRQBED_UFS_BLOCK_SHIFT;
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
    if (lu->store.read_only) {
        irqbed_ufs_scsi_check(r, sense_protected);
        return;
    }
    if (len < UNMAP_HEADER || len > sizeof(list)) {
        irqbed_ufs_scsi_check(r, sense_bad_list_length);
        return;
    }
    if (!check_transfer(r, len, UFS_UTP_HOST_TO_DEVICE)) {
        return;
    }
    if (be32_to_cpu(r->upiu.sc.exp_data_transfer_len) < len) {
        r->ocs = UFS_OCS_MISMATCH_DATA_BUF_SIZE;
        return;
    }
    if (!irqbed_dma_gather(&r->core, list, len)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
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

static void scsi_request_sense(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    uint8_t buf[UFS_SENSE_SIZE];

    if (r->upiu.sc.cdb[1] & 1) { /* DESC */
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    build_sense(buf, sense_no_sense);
    irqbed_ufs_scsi_reply(r, buf, sizeof(buf), r->upiu.sc.cdb[4]);
}

/* UFS 3.1, 11.3.11: the device's power mode, by its well-known LU. */
static void scsi_start_stop(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    uint8_t condition = r->upiu.sc.cdb[4] >> 4;

    if (condition < POWER_ACTIVE || condition > POWER_DEEP_SLEEP) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    u->attrs[UFS_QUERY_ATTR_IDN_POWER_MODE] = condition << 4 | condition;
}

static void scsi_service_action_in(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    if ((r->upiu.sc.cdb[1] & 0x1f) == SAI_READ_CAPACITY_16) {
        irqbed_ufs_scsi_capacity16(r, lu);
    } else {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
    }
}

static void scsi_report_luns(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    irqbed_ufs_scsi_report_luns(r);
}

static const ScsiOp scsi_ops[] = {
    { TEST_UNIT_READY, NEED_NOTHING, scsi_nothing },
    { REQUEST_SENSE, NEED_NOTHING, scsi_request_sense },
    { INQUIRY, NEED_NOTHING, irqbed_ufs_scsi_inquiry },
    { REPORT_LUNS, NEED_NOTHING, scsi_report_luns },
    { START_STOP, NEED_DEVICE_WLUN, scsi_start_stop },
    { SEND_DIAGNOSTIC, NEED_NOTHING, scsi_nothing },
    { READ_6, NEED_LU, scsi_read },
    { READ_10, NEED_LU, scsi_read },
    { READ_16, NEED_LU, scsi_read },
    { WRITE_6, NEED_LU, scsi_write },
    { WRITE_10, NEED_LU, scsi_write },
    { WRITE_16, NEED_LU, scsi_write },
    { VERIFY_10, NEED_LU, scsi_verify },
    { SYNCHRONIZE_CACHE, NEED_LU, scsi_sync_cache },
    { SYNCHRONIZE_CACHE_16, NEED_LU, scsi_sync_cache },
    { UNMAP, NEED_LU, scsi_unmap },
    { READ_CAPACITY_10, NEED_LU, irqbed_ufs_scsi_capacity10 },
    { SERVICE_ACTION_IN_16, NEED_LU, scsi_service_action_in },
    { MODE_SENSE, NEED_LU, irqbed_ufs_scsi_mode_sense },
    { MODE_SENSE_10, NEED_LU, irqbed_ufs_scsi_mode_sense },
};

static bool is_known_wlun(uint8_t lun)
{
    return lun == UFS_UPIU_REPORT_LUNS_WLUN ||
           lun == UFS_UPIU_UFS_DEVICE_WLUN || lun == UFS_UPIU_BOOT_WLUN ||
           lun == UFS_UPIU_RPMB_WLUN;
}

/* SPC-4: INQUIRY, REPORT LUNS and REQUEST SENSE go to any LUN. */
static bool may_lack_lu(uint8_t opcode)
{
    return opcode == INQUIRY || opcode == REPORT_LUNS ||
           opcode == REQUEST_SENSE;
}

static void run_op(IrqbedUfsReq *r, const ScsiOp *op, IrqbedUfsLu *lu)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    uint8_t lun = r->upiu.header.lun;
    bool asleep = (u->attrs[UFS_QUERY_ATTR_IDN_POWER_MODE] & 0xf) !=
                  POWER_ACTIVE;

    if (!lu && !is_known_wlun(lun) && !may_lack_lu(op->opcode)) {
        irqbed_ufs_scsi_check(r, sense_bad_lun);
    } else if (op->needs == NEED_LU && !lu) {
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_opcode);
    } else if (op->needs == NEED_DEVICE_WLUN &&
               lun != UFS_UPIU_UFS_DEVICE_WLUN) {
        /* A data LU is always started: nothing to do, and no error. */
        scsi_nothing(r, lu);
    } else if (op->needs == NEED_LU && asleep) {
        irqbed_ufs_scsi_check(r, sense_asleep);
    } else {
        op->run(r, lu);
    }
}

void irqbed_ufs_scsi(IrqbedUfsReq *r)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    uint8_t lun = r->upiu.header.lun;
    uint8_t opcode = r->upiu.sc.cdb[0];
    IrqbedUfsLu *lu = lun < IRQBED_UFS_MAX_LUS ? u->lus[lun] : NULL;
    const ScsiOp *op = NULL;
    int i;

    for (i = 0; i < ARRAY_SIZE(scsi_ops); i++) {
        if (scsi_ops[i].opcode == opcode) {
            op = &scsi_ops[i];
            break;
        }
    }
    if (op) {
        run_op(r, op, lu);
    } else {
        irqbed_ufs_scsi_check(r, lu || is_known_wlun(lun) ?
                                 irqbed_ufs_invalid_opcode : sense_bad_lun);
    }
    trace_irqbed_ufs_scsi(r->core.ctrl->name, r->core.queue, r->core.tag,
                          r->core.seq, lun, opcode,
                          r->rsp.header.scsi_status);
}
