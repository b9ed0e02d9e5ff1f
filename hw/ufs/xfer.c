/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Transfer requests: D1 take the slot (by doorbell; mcq.c has the queues), D2
 * read and check descriptor, command UPIU and PRD table, D4 write response and
 * status.  UFSHCI 3.1, 6.1 and 7.2; UFS 3.1, chapter 10.
 *
 * Every length, offset and address here comes from the guest.  What is wrong
 * becomes an overall command status; what cannot be answered at all, because
 * the descriptor is not in memory, becomes IS.SBFES with the doorbell cleared
 * and the driver's own initial status left in place.
 */

#include "qemu/osdep.h"
#include "ufs.h"
#include "trace.h"

#define PRDT_CHUNK 64

static uint64_t utrd_addr(IrqbedUfsReq *r)
{
    UfsReg *reg = &irqbed_ufs_of(r)->reg;

    return ((uint64_t)reg->utrlbau << 32 | reg->utrlba) +
           r->core.tag * sizeof(UtpTransferReqDesc);
}

uint64_t irqbed_ufs_ucd_addr(const UtpTransferReqDesc *utrd)
{
    return (uint64_t)le32_to_cpu(utrd->command_desc_base_addr_hi) << 32 |
           le32_to_cpu(utrd->command_desc_base_addr_lo);
}

static uint64_t ucd_addr(IrqbedUfsReq *r)
{
    return irqbed_ufs_ucd_addr(&r->utrd);
}

/* Offsets and the response length count dwords. */
static uint32_t dwords(uint16_t field)
{
    return le16_to_cpu(field) * sizeof(uint32_t);
}

static bool is_aggregating(IrqbedUfs *u)
{
    return FIELD_EX32(u->reg.utriacr, UTRIACR, IAEN);
}

static bool fail(IrqbedUfsReq *r, uint32_t ocs, const char *what,
                 uint64_t value)
{
    r->ocs = ocs;
    irqbed_ctrl_guest_error(r->core.ctrl, what, value);
    return false;
}

static bool fetch_utrd(IrqbedUfsReq *r)
{
    r->utrd_read = irqbed_dma_read(r->core.ctrl, utrd_addr(r), &r->utrd,
                                   sizeof(r->utrd));
    if (!r->utrd_read) {
        r->ocs = UFS_OCS_FATAL_ERROR;
    }
    return r->utrd_read;
}

static bool check_utrd(IrqbedUfsReq *r)
{
    uint32_t type;

    type = le32_to_cpu(r->utrd.header.dword_0) >> IRQBED_UFS_UTRD_CT_SHIFT;
    if (type != UFS_UTP_CMD_TYPE_UFS_STORAGE) {
        return fail(r, UFS_OCS_INVALID_CMD_TABLE_ATTR, "UTRD command type",
                    type);
    }
    if (ucd_addr(r) % IRQBED_UFS_UCD_ALIGN) {
        return fail(r, UFS_OCS_INVALID_CMD_TABLE_ATTR, "UCD not aligned",
                    ucd_addr(r));
    }
    if (dwords(r->utrd.response_upiu_offset) < IRQBED_UFS_UPIU_BYTES) {
        return fail(r, UFS_OCS_INVALID_CMD_TABLE_ATTR,
                    "response inside the command",
                    dwords(r->utrd.response_upiu_offset));
    }
    if (dwords(r->utrd.response_upiu_length) < IRQBED_UFS_UPIU_BYTES) {
        return fail(r, UFS_OCS_MISMATCH_RESP_UPIU_SIZE, "response too short",
                    dwords(r->utrd.response_upiu_length));
    }
    if (r->utrd.prd_table_length &&
        dwords(r->utrd.prd_table_offset) < IRQBED_UFS_UPIU_BYTES) {
        return fail(r, UFS_OCS_INVALID_CMD_TABLE_ATTR,
                    "PRD table inside the command",
                    dwords(r->utrd.prd_table_offset));
    }
    return true;
}

static bool fetch_upiu(IrqbedUfsReq *r)
{
    uint8_t *upiu = (uint8_t *)&r->upiu;
    uint32_t data;

    if (!irqbed_dma_read(r->core.ctrl, ucd_addr(r), upiu,
                         IRQBED_UFS_UPIU_BYTES)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
        return false;
    }
    data = be16_to_cpu(r->upiu.header.data_segment_length);
    if (data > sizeof(r->upiu.qr.data)) {
        return fail(r, UFS_OCS_INVALID_CMD_TABLE_ATTR, "data segment length",
                    data);
    }
    if (!irqbed_dma_read(r->core.ctrl, ucd_addr(r) + IRQBED_UFS_UPIU_BYTES,
                         upiu + IRQBED_UFS_UPIU_BYTES, data)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
        return false;
    }
    return true;
}

static bool add_segment(IrqbedUfsReq *r, const UfshcdSgEntry *entry)
{
    IrqbedSegment *segment;
    uint64_t addr = le64_to_cpu(entry->addr);
    uint32_t len = (le32_to_cpu(entry->size) & IRQBED_UFS_PRDT_LEN_MASK) + 1;

    if (addr % IRQBED_UFS_PRDT_ALIGN || len % IRQBED_UFS_PRDT_ALIGN) {
        return fail(r, UFS_OCS_INVALID_PRDT_ATTR, "PRD entry not aligned",
                    addr | len);
    }
    irqbed_req_segments(&r->core, r->core.nr_segments + 1);
    segment = &r->core.segments[r->core.nr_segments - 1];
    segment->addr = addr;
    segment->len = len;
    return true;
}

bool irqbed_ufs_fetch_prdt(IrqbedUfsReq *r, uint32_t bytes)
{
    UfshcdSgEntry chunk[PRDT_CHUNK];
    uint64_t addr = ucd_addr(r) + dwords(r->utrd.prd_table_offset);
    uint32_t left = le16_to_cpu(r->utrd.prd_table_length);
    uint64_t total = 0;
    uint32_t i, n;

    /* Only as many entries as the data needs: the table may be longer. */
    while (left && total < bytes) {
        n = MIN(left, PRDT_CHUNK);
        if (!irqbed_dma_read(r->core.ctrl, addr, chunk,
                             n * sizeof(chunk[0]))) {
            r->ocs = UFS_OCS_FATAL_ERROR;
            return false;
        }
        for (i = 0; i < n && total < bytes; i++) {
            if (!add_segment(r, &chunk[i])) {
                return false;
            }
            total += r->core.segments[r->core.nr_segments - 1].len;
        }
        addr += n * sizeof(chunk[0]);
        left -= n;
    }
    if (total < bytes) {
        return fail(r, UFS_OCS_MISMATCH_DATA_BUF_SIZE,
                    "PRD table shorter than the data", total);
    }
    return true;
}

/* The response's header mirrors the command's. */
static void begin_response(IrqbedUfsReq *r, uint8_t type)
{
    memset(&r->rsp, 0, sizeof(r->rsp));
    r->rsp.header.trans_type = type;
    r->rsp.header.lun = r->upiu.header.lun;
    r->rsp.header.task_tag = r->upiu.header.task_tag;
    r->rsp.header.iid_cmd_set_type = r->upiu.header.iid_cmd_set_type;
}

static void dispatch(IrqbedUfsReq *r)
{
    switch (r->upiu.header.trans_type & 0x3f) {
    case UFS_UPIU_TRANSACTION_NOP_OUT:
        begin_response(r, UFS_UPIU_TRANSACTION_NOP_IN);
        break;
    case UFS_UPIU_TRANSACTION_COMMAND:
        begin_response(r, UFS_UPIU_TRANSACTION_RESPONSE);
        irqbed_ufs_scsi(r);
        break;
    case UFS_UPIU_TRANSACTION_QUERY_REQ:
        begin_response(r, UFS_UPIU_TRANSACTION_QUERY_RSP);
        irqbed_ufs_query(r);
        break;
    default:
        fail(r, UFS_OCS_INVALID_CMD_TABLE_ATTR, "UPIU transaction type",
             r->upiu.header.trans_type);
        break;
    }
}

static void begin(IrqbedUfsReq *r)
{
    r->ocs = UFS_OCS_SUCCESS;
    memset(&r->upiu, 0, sizeof(r->upiu));
    memset(&r->rsp, 0, sizeof(r->rsp));
}

static void execute(IrqbedUfsReq *r, bool fetched)
{
    if (fetched) {
        dispatch(r);
    }
    if (r->ocs != UFS_OCS_SUCCESS) {
        r->core.op = IRQBED_OP_NONE;
        r->core.to_guest = 0;
    }
    irqbed_req_schedule(&r->core);
}

/* D1 to D3 of one slot. */
static void take_slot(IrqbedUfs *u, unsigned slot)
{
    IrqbedUfsReq *r = &u->reqs[slot];

    begin(r);
    r->core.queue = 0;
    r->core.tag = slot;
    r->core.vector = 0;
    irqbed_req_arrive(&r->core);
    execute(r, fetch_utrd(r) && check_utrd(r) && fetch_upiu(r));
}

void irqbed_ufs_take_entry(IrqbedUfsReq *r)
{
    bool fetched;

    begin(r);
    r->utrd_read = true;
    fetched = check_utrd(r) && fetch_upiu(r);
    r->core.tag = r->upiu.header.task_tag;
    irqbed_req_arrive(&r->core);
    execute(r, fetched);
}

bool irqbed_ufs_fetches_later(IrqbedUfs *u)
{
    return u->fetch_by_timer || !irqbed_media_must_wait();
}

void irqbed_ufs_doorbell(IrqbedUfs *u, uint32_t slots)
{
    unsigned nutrs = MIN(u->nr_reqs, IRQBED_UFS_MAX_SLOTS);

    if (nutrs < IRQBED_UFS_MAX_SLOTS && slots >> nutrs) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "doorbell beyond the list",
                                slots);
    }
    slots &= ~u->reg.utrldbr & MAKE_64BIT_MASK(0, nutrs);
    u->reg.utrldbr |= slots;
    u->new_slots |= slots;
    if (irqbed_ufs_fetches_later(u)) {
        timer_mod(u->fetch_timer, irqbed_now_ns());
    } else {
        irqbed_ufs_take_slots(u);
    }
}

void irqbed_ufs_take_slots(IrqbedUfs *u)
{
    while (u->new_slots) {
        unsigned slot = ctz32(u->new_slots);

        u->new_slots &= ~BIT(slot);
        take_slot(u, slot);
    }
}

void irqbed_ufs_clear_slots(IrqbedUfs *u, uint32_t slots)
{
    unsigned slot;

    /* With queues no bit is set. */
    slots &= u->reg.utrldbr;
    for (slot = 0; slot < IRQBED_UFS_MAX_SLOTS; slot++) {
        if (slots & BIT(slot)) {
            irqbed_req_clear(&u->reqs[slot].core);
        }
    }
    u->reg.utrldbr &= ~slots;
    u->new_slots &= ~slots;
}

/* The response UPIU, as much of it as the guest has room for. */
static void write_response(IrqbedUfsReq *r)
{
    uint32_t room = dwords(r->utrd.response_upiu_length);
    uint32_t len = IRQBED_UFS_UPIU_BYTES +
                   be16_to_cpu(r->rsp.header.data_segment_length);

    if (len > room) {
        fail(r, UFS_OCS_MISMATCH_RESP_UPIU_SIZE, "response does not fit", len);
        len = room;
    }
    if (!irqbed_dma_write(r->core.ctrl,
                          ucd_addr(r) + dwords(r->utrd.response_upiu_offset),
                          &r->rsp, len)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
    }
}

static bool write_status(IrqbedUfsReq *r)
{
    uint32_t dword = cpu_to_le32(r->ocs);

    return r->utrd_read &&
           irqbed_dma_write(r->core.ctrl, utrd_addr(r) +
                            offsetof(RequestDescHeader, dword_2),
                            &dword, sizeof(dword));
}

/*
 * Who wants an interrupt: UFSHCI 3.1, 7.2.3.  With aggregation on, commands
 * without the I bit wait in the window and all others pass it by; with it off,
 * commands without the I bit raise none.
 */
static unsigned interrupt_wish(IrqbedUfs *u, bool now_wanted)
{
    if (!is_aggregating(u)) {
        return now_wanted ? IRQBED_ANSWER_IRQ : 0;
    }
    return now_wanted ? IRQBED_ANSWER_IRQ_URGENT : IRQBED_ANSWER_IRQ;
}

/* D4 by doorbell: status, doorbell bit, UTRLCNR, IS.UTRCS. */
static unsigned slot_answer(IrqbedUfsReq *r, bool wanted)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    unsigned answer;

    if (!write_status(r)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
        u->reg.is = FIELD_DP32(u->reg.is, IS, SBFES, 1);
    }
    u->reg.utrldbr &= ~BIT(r->core.tag);
    u->reg.utrlcnr |= BIT(r->core.tag);
    answer = interrupt_wish(u, wanted || r->ocs != UFS_OCS_SUCCESS);
    if (answer) {
        u->reg.is = FIELD_DP32(u->reg.is, IS, UTRCS, 1);
    }
    return answer;
}

unsigned irqbed_ufs_answer(IrqbedReq *core)
{
    IrqbedUfsReq *r = container_of(core, IrqbedUfsReq, core);
    bool wanted = le32_to_cpu(r->utrd.header.dword_0) &
                  UFS_UTP_REQ_DESC_INT_CMD;
    unsigned answer;

    if (core->dma_failed) {
        r->ocs = UFS_OCS_FATAL_ERROR;
    } else if (core->ret && r->ocs == UFS_OCS_SUCCESS) {
        irqbed_ufs_scsi_medium_error(r);
    }
    if (r->ocs == UFS_OCS_SUCCESS) {
        /* Device information: EVENT_ALERT */
        r->rsp.header.device_inf = r->rsp.header.trans_type ==
                                   UFS_UPIU_TRANSACTION_RESPONSE &&
                                   irqbed_ufs_has_alert(irqbed_ufs_of(r));
        write_response(r);
    }
    answer = irqbed_ufs_has_queues(irqbed_ufs_of(r)) ?
             irqbed_ufs_cq_answer(r, wanted) : slot_answer(r, wanted);
    trace_irqbed_ufs_answer(core->ctrl->name, core->queue, core->tag,
                            core->seq, r->ocs, r->rsp.header.response,
                            r->rsp.header.scsi_status);
    irqbed_ufs_link_fault(irqbed_ufs_of(r));
    if (r->ocs != UFS_OCS_SUCCESS || r->rsp.header.response ||
        r->rsp.header.scsi_status) {
        answer |= IRQBED_ANSWER_FAILED;
    }
    return answer;
}
