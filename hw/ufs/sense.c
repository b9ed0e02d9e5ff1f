/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sense data (SPC-4, 4.5) and unit attentions (SAM-5).
 * Stage D2, and D4 for a medium that failed.
 *
 * A unit has at most one of each kind of attention.  Power-on and reset outdo
 * the others, for everything else is back at its default then.
 */

#include "qemu/osdep.h"
#include "scsi/constants.h"
#include "ufs.h"

#define FIXED_SENSE       0x70
#define INFORMATION_VALID 0x80

const IrqbedUfsSense irqbed_ufs_invalid_opcode = {
    ILLEGAL_REQUEST, 0x20, 0x00
};
const IrqbedUfsSense irqbed_ufs_invalid_field = { ILLEGAL_REQUEST, 0x24, 0x00 };
const IrqbedUfsSense irqbed_ufs_bad_lun = { ILLEGAL_REQUEST, 0x25, 0x00 };
const IrqbedUfsSense irqbed_ufs_bad_list_length = {
    ILLEGAL_REQUEST, 0x1a, 0x00
};
const IrqbedUfsSense irqbed_ufs_bad_list_field = {
    ILLEGAL_REQUEST, 0x26, 0x00
};
static const IrqbedUfsSense sense_none = { NO_SENSE, 0x00, 0x00 };
static const IrqbedUfsSense sense_read_error = { MEDIUM_ERROR, 0x11, 0x00 };
static const IrqbedUfsSense sense_write_error = { MEDIUM_ERROR, 0x0c, 0x00 };
static const IrqbedUfsSense sense_internal = { HARDWARE_ERROR, 0x44, 0x00 };

static const IrqbedUfsSense sense_attention[] = {
    [IRQBED_UFS_ATTENTION_POWER_ON] = { UNIT_ATTENTION, 0x29, 0x00 },
    [IRQBED_UFS_ATTENTION_LU_RESET] = { UNIT_ATTENTION, 0x29, 0x03 },
    [IRQBED_UFS_ATTENTION_MODE] = { UNIT_ATTENTION, 0x2a, 0x01 },
};

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

void irqbed_ufs_scsi_status(IrqbedUfsReq *r, uint8_t status)
{
    r->core.op = IRQBED_OP_NONE;
    r->core.to_guest = 0;
    r->rsp.header.flags = 0;
    r->rsp.header.scsi_status = status;
    r->rsp.header.response = UFS_COMMAND_RESULT_SUCCESS;
    r->rsp.header.data_segment_length = 0;
    r->rsp.sr.residual_transfer_count = r->upiu.sc.exp_data_transfer_len;
}

void irqbed_ufs_scsi_medium_error(IrqbedUfsReq *r)
{
    IrqbedOp op = r->core.op;
    IrqbedStore *store = r->core.store;

    irqbed_ufs_scsi_check(r, r->core.ret == -ENODEV ? irqbed_ufs_bad_lun :
                             op == IRQBED_OP_READ ? sense_read_error :
                             op == IRQBED_OP_FLUSH ? sense_internal :
                             sense_write_error);
    r->core.op = op;
    /* INFORMATION: the first block that failed; no block of it was good. */
    if (store && op != IRQBED_OP_FLUSH) {
        uint64_t lba = r->core.extents[0].offset / store->block_bytes;

        if (lba <= UINT32_MAX) {
            r->rsp.sr.sense_data[0] |= INFORMATION_VALID;
            stl_be_p(r->rsp.sr.sense_data + 3, lba);
        }
    }
}

void irqbed_ufs_attention(IrqbedUfs *u, unsigned unit,
                          IrqbedUfsAttention what)
{
    uint8_t *pending = &u->units[unit].attention;

    if (u->unit_attention) {
        *pending = what == IRQBED_UFS_ATTENTION_MODE ? *pending | BIT(what) :
                                                       BIT(what);
    }
}

/* Takes the most important one away; false if there is none. */
static bool take_attention(IrqbedUfs *u, int unit, IrqbedUfsSense *sense)
{
    uint8_t *pending;
    unsigned what;

    if (unit < 0 || !u->units[unit].attention) {
        return false;
    }
    pending = &u->units[unit].attention;
    what = ctz32(*pending);
    *pending &= ~BIT(what);
    *sense = sense_attention[what];
    return true;
}

bool irqbed_ufs_scsi_attention(IrqbedUfsReq *r)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    IrqbedUfsSense sense;

    if (!take_attention(u, irqbed_ufs_unit(u, r->upiu.header.lun), &sense)) {
        return false;
    }
    irqbed_ufs_scsi_check(r, sense);
    return true;
}

void irqbed_ufs_scsi_request_sense(IrqbedUfsReq *r, IrqbedUfsLu *lu)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    int unit = irqbed_ufs_unit(u, r->upiu.header.lun);
    IrqbedUfsSense sense = unit < 0 ? irqbed_ufs_bad_lun : sense_none;
    uint8_t buf[UFS_SENSE_SIZE];

    if (r->upiu.sc.cdb[1] & 1) { /* DESC */
        irqbed_ufs_scsi_check(r, irqbed_ufs_invalid_field);
        return;
    }
    take_attention(u, unit, &sense);
    build_sense(buf, sense);
    irqbed_ufs_scsi_reply(r, buf, sizeof(buf), r->upiu.sc.cdb[4]);
}
