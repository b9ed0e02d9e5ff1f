/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Query requests: descriptors, attributes, flags.  UFS 3.1, 10.7.8 to 10.7.9
 * and chapter 14.  Stage D2; the answer waits for its due time as any other.
 *
 * What is not in the tables is answered with the query response code that the
 * specification has for it, never silently.
 */

#include "qemu/osdep.h"
#include "ufs.h"
#include "trace.h"

#define R  BIT(0)
#define W  BIT(1)
#define S  BIT(2)               /* a flag that can be set */
#define C  BIT(3)               /* ... and cleared and toggled */
#define IX BIT(4)               /* of a logical unit: takes its index */
#define CX BIT(5)               /* of a context: takes a selector, too */
#define O  BIT(6)               /* can be written once, and has been */

/* bRefreshMethod (UFS 3.1, table 14.28) */
#define ATTR_REFRESH_METHOD 0x2f

#define COMPLETED 3             /* of bPurgeStatus and bRefreshStatus */

typedef struct QueryAttr {
    uint8_t access;             /* 0: not there */
    uint32_t max;               /* largest value that can be written */
    uint32_t value;             /* after reset */
} QueryAttr;

/* Table 14.28: attributes */
static const QueryAttr query_attrs[IRQBED_UFS_ATTRS] = {
    [UFS_QUERY_ATTR_IDN_BOOT_LU_EN] = { R | W, 2, 0 },
    [UFS_QUERY_ATTR_IDN_POWER_MODE] = { R, 0, 0x11 },
    [UFS_QUERY_ATTR_IDN_ACTIVE_ICC_LVL] = { R | W, 15, 0 },
    [UFS_QUERY_ATTR_IDN_OOO_DATA_EN] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_BKOPS_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_PURGE_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_MAX_DATA_IN] = { R | W, 8, 8 },
    [UFS_QUERY_ATTR_IDN_MAX_DATA_OUT] = { R | W, 8, 8 },
    [UFS_QUERY_ATTR_IDN_DYN_CAP_NEEDED] = { R | IX, 0, 0 },
    [UFS_QUERY_ATTR_IDN_REF_CLK_FREQ] = { R | W, 3, 1 },
    [UFS_QUERY_ATTR_IDN_CONF_DESC_LOCK] = { R | O, 0, 1 },
    [UFS_QUERY_ATTR_IDN_MAX_NUM_OF_RTT] = { R | W, 2, 2 },
    [UFS_QUERY_ATTR_IDN_EE_CONTROL] = { R | W, 0xffff, 0 },
    [UFS_QUERY_ATTR_IDN_EE_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_SECONDS_PASSED] = { W, UINT32_MAX, 0 },
    [UFS_QUERY_ATTR_IDN_CNTX_CONF] = { R | IX | CX, 0, 0 },
    [UFS_QUERY_ATTR_IDN_FFU_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_PSA_STATE] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_PSA_DATA_SIZE] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_REF_CLK_GATING_WAIT_TIME] = { R, 0, 50 },
    [UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_HIGH_TEMP_BOUND] = { R, 0, 160 },
    [UFS_QUERY_ATTR_IDN_LOW_TEMP_BOUND] = { R, 0, 60 },
    [UFS_QUERY_ATTR_IDN_THROTTLING_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_WB_FLUSH_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_AVAIL_WB_BUFF_SIZE] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_WB_BUFF_LIFE_TIME_EST] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_CURR_WB_BUFF_SIZE] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_REFRESH_STATUS] = { R, 0, 0 },
    [UFS_QUERY_ATTR_IDN_REFRESH_FREQ] = { R | W, 0xff, 0 },
    [UFS_QUERY_ATTR_IDN_REFRESH_UNIT] = { R | W, 1, 0 },
    [ATTR_REFRESH_METHOD] = { R | W, 2, 0 },
    [IRQBED_UFS_ATTR_TIMESTAMP] = { W, 0, 0 },
};

/* Table 14.26: flags */
static const struct {
    uint8_t access;
    uint8_t value;
} query_flags[IRQBED_UFS_FLAGS] = {
    [UFS_QUERY_FLAG_IDN_FDEVICEINIT] = { R | S, 0 },
    [UFS_QUERY_FLAG_IDN_PERMANENT_WPE] = { R | O, 1 },
    [UFS_QUERY_FLAG_IDN_PWR_ON_WPE] = { R | S, 0 },
    [UFS_QUERY_FLAG_IDN_BKOPS_EN] = { R | S | C, 1 },
    [UFS_QUERY_FLAG_IDN_LIFE_SPAN_MODE_ENABLE] = { R | S | C, 0 },
    [UFS_QUERY_FLAG_IDN_PURGE_ENABLE] = { S | C, 0 },
    [UFS_QUERY_FLAG_IDN_REFRESH_ENABLE] = { S | C, 0 },
    [UFS_QUERY_FLAG_IDN_FPHYRESOURCEREMOVAL] = { R, 0 },
    [UFS_QUERY_FLAG_IDN_BUSY_RTC] = { R, 0 },
    [UFS_QUERY_FLAG_IDN_PERMANENTLY_DISABLE_FW_UPDATE] = { R | O, 1 },
    [UFS_QUERY_FLAG_IDN_WB_EN] = { R, 0 },
    [UFS_QUERY_FLAG_IDN_WB_BUFF_FLUSH_EN] = { R, 0 },
    [UFS_QUERY_FLAG_IDN_WB_BUFF_FLUSH_DURING_HIBERN8] = { R, 0 },
};

static uint8_t read_descriptor(IrqbedUfsReq *r)
{
    const UtpUpiuQuery *q = &r->upiu.qr;
    uint8_t *buf = r->rsp.qr.data;
    unsigned len;

    if (!irqbed_ufs_has_descriptor(q->idn)) {
        return UFS_QUERY_RESULT_INVALID_IDN;
    }
    if (q->selector) {
        return UFS_QUERY_RESULT_INVALID_SELECTOR;
    }
    len = irqbed_ufs_descriptor(irqbed_ufs_of(r), q->idn, q->index, buf);
    if (!len) {
        return UFS_QUERY_RESULT_INVALID_INDEX;
    }
    len = MIN(len, be16_to_cpu(q->length));
    r->rsp.qr.length = cpu_to_be16(len);
    r->rsp.header.data_segment_length = cpu_to_be16(len);
    return UFS_QUERY_RESULT_SUCCESS;
}

/* Nothing can be configured: bConfigDescrLock is 1. */
static uint8_t write_descriptor(IrqbedUfsReq *r)
{
    return irqbed_ufs_has_descriptor(r->upiu.qr.idn) ?
           UFS_QUERY_RESULT_NOT_WRITEABLE : UFS_QUERY_RESULT_INVALID_IDN;
}

/* The error for what cannot be written. */
static uint8_t not_writeable(uint8_t access)
{
    return access & O ? UFS_QUERY_RESULT_ALREADY_WRITTEN :
                        UFS_QUERY_RESULT_NOT_WRITEABLE;
}

static uint8_t check_attr(IrqbedUfs *u, const UtpUpiuQuery *q)
{
    uint8_t access;

    if (q->idn >= IRQBED_UFS_ATTRS || !query_attrs[q->idn].access) {
        return UFS_QUERY_RESULT_INVALID_IDN;
    }
    access = query_attrs[q->idn].access;
    if (access & IX ? q->index >= IRQBED_UFS_MAX_LUS || !u->lus[q->index] :
                      q->index) {
        return UFS_QUERY_RESULT_INVALID_INDEX;
    }
    if (access & CX ? !q->selector || q->selector > IRQBED_UFS_CONTEXTS :
                      q->selector) {
        return UFS_QUERY_RESULT_INVALID_SELECTOR;
    }
    return UFS_QUERY_RESULT_SUCCESS;
}

/* wExceptionEventStatus, UFS 3.1, 13.4.11: the temperature is out of bounds */
static uint32_t event_status(IrqbedUfs *u)
{
    uint32_t status = 0;

    if (u->temperature >= u->attrs[UFS_QUERY_ATTR_IDN_HIGH_TEMP_BOUND]) {
        status |= MASK_EE_TOO_HIGH_TEMP;
    }
    if (u->temperature <= u->attrs[UFS_QUERY_ATTR_IDN_LOW_TEMP_BOUND]) {
        status |= MASK_EE_TOO_LOW_TEMP;
    }
    return u->temperature ? status : 0;
}

bool irqbed_ufs_has_alert(IrqbedUfs *u)
{
    return event_status(u) & u->attrs[UFS_QUERY_ATTR_IDN_EE_CONTROL];
}

static uint32_t attr_value(IrqbedUfs *u, uint8_t idn)
{
    uint32_t control = u->attrs[UFS_QUERY_ATTR_IDN_EE_CONTROL];

    switch (idn) {
    case UFS_QUERY_ATTR_IDN_EE_STATUS:
        return event_status(u);
    case UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP:
        /* Unknown while neither event is asked for. */
        return control & (MASK_EE_TOO_HIGH_TEMP | MASK_EE_TOO_LOW_TEMP) ?
               u->temperature : 0;
    default:
        return u->attrs[idn];
    }
}

static uint8_t read_attr(IrqbedUfsReq *r)
{
    const UtpUpiuQuery *q = &r->upiu.qr;
    uint8_t code = check_attr(irqbed_ufs_of(r), q);

    if (code != UFS_QUERY_RESULT_SUCCESS) {
        return code;
    }
    if (!(query_attrs[q->idn].access & R)) {
        return UFS_QUERY_RESULT_NOT_READABLE;
    }
    r->rsp.qr.value = cpu_to_be32(attr_value(irqbed_ufs_of(r), q->idn));
    return UFS_QUERY_RESULT_SUCCESS;
}

static uint8_t write_attr(IrqbedUfsReq *r)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    const UtpUpiuQuery *q = &r->upiu.qr;
    uint8_t code = check_attr(u, q);
    uint32_t value = be32_to_cpu(q->value);

    if (code != UFS_QUERY_RESULT_SUCCESS) {
        return code;
    }
    if (!(query_attrs[q->idn].access & W)) {
        return not_writeable(query_attrs[q->idn].access);
    }
    if (q->idn == IRQBED_UFS_ATTR_TIMESTAMP) {
        /* 64 bits, in the value field and the dword after it */
        u->timestamp = (uint64_t)value << 32 | be32_to_cpu(q->reserved[0]);
        return UFS_QUERY_RESULT_SUCCESS;
    }
    if (value > query_attrs[q->idn].max) {
        return UFS_QUERY_RESULT_INVALID_VALUE;
    }
    u->attrs[q->idn] = value;
    r->rsp.qr.value = q->value;
    return UFS_QUERY_RESULT_SUCCESS;
}

/* Flags that start something: it is over at once, and the flag 0 again. */
static bool finish_operation(IrqbedUfs *u, uint8_t idn)
{
    switch (idn) {
    case UFS_QUERY_FLAG_IDN_FDEVICEINIT:
        return true;
    case UFS_QUERY_FLAG_IDN_PURGE_ENABLE:
        u->attrs[UFS_QUERY_ATTR_IDN_PURGE_STATUS] = COMPLETED;
        return true;
    case UFS_QUERY_FLAG_IDN_REFRESH_ENABLE:
        u->attrs[UFS_QUERY_ATTR_IDN_REFRESH_STATUS] = COMPLETED;
        return true;
    default:
        return false;
    }
}

static uint8_t query_flag(IrqbedUfsReq *r)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    const UtpUpiuQuery *q = &r->upiu.qr;
    uint8_t access;

    if (q->idn >= IRQBED_UFS_FLAGS || !query_flags[q->idn].access) {
        return UFS_QUERY_RESULT_INVALID_IDN;
    }
    if (q->index) {
        return UFS_QUERY_RESULT_INVALID_INDEX;
    }
    if (q->selector) {
        return UFS_QUERY_RESULT_INVALID_SELECTOR;
    }
    access = query_flags[q->idn].access;
    switch (q->opcode) {
    case UFS_UPIU_QUERY_OPCODE_READ_FLAG:
        if (!(access & R)) {
            return UFS_QUERY_RESULT_NOT_READABLE;
        }
        break;
    case UFS_UPIU_QUERY_OPCODE_SET_FLAG:
        if (!(access & S)) {
            return not_writeable(access);
        }
        u->flags[q->idn] = !finish_operation(u, q->idn);
        break;
    case UFS_UPIU_QUERY_OPCODE_CLEAR_FLAG:
        if (!(access & C)) {
            return not_writeable(access);
        }
        u->flags[q->idn] = 0;
        break;
    case UFS_UPIU_QUERY_OPCODE_TOGGLE_FLAG:
        if (!(access & C)) {
            return not_writeable(access);
        }
        u->flags[q->idn] ^= 1;
        break;
    }
    r->rsp.qr.value = cpu_to_be32(u->flags[q->idn]);
    return UFS_QUERY_RESULT_SUCCESS;
}

static uint8_t execute_read(IrqbedUfsReq *r)
{
    switch (r->upiu.qr.opcode) {
    case UFS_UPIU_QUERY_OPCODE_NOP:
        return UFS_QUERY_RESULT_SUCCESS;
    case UFS_UPIU_QUERY_OPCODE_READ_DESC:
        return read_descriptor(r);
    case UFS_UPIU_QUERY_OPCODE_READ_ATTR:
        return read_attr(r);
    case UFS_UPIU_QUERY_OPCODE_READ_FLAG:
        return query_flag(r);
    default:
        return UFS_QUERY_RESULT_INVALID_OPCODE;
    }
}

static uint8_t execute_write(IrqbedUfsReq *r)
{
    switch (r->upiu.qr.opcode) {
    case UFS_UPIU_QUERY_OPCODE_NOP:
        return UFS_QUERY_RESULT_SUCCESS;
    case UFS_UPIU_QUERY_OPCODE_WRITE_DESC:
        return write_descriptor(r);
    case UFS_UPIU_QUERY_OPCODE_WRITE_ATTR:
        return write_attr(r);
    case UFS_UPIU_QUERY_OPCODE_SET_FLAG:
    case UFS_UPIU_QUERY_OPCODE_CLEAR_FLAG:
    case UFS_UPIU_QUERY_OPCODE_TOGGLE_FLAG:
        return query_flag(r);
    default:
        return UFS_QUERY_RESULT_INVALID_OPCODE;
    }
}

void irqbed_ufs_query(IrqbedUfsReq *r)
{
    const UtpUpiuQuery *q = &r->upiu.qr;
    uint8_t code;

    r->rsp.header.query_func = r->upiu.header.query_func;
    r->rsp.qr.opcode = q->opcode;
    r->rsp.qr.idn = q->idn;
    r->rsp.qr.index = q->index;
    r->rsp.qr.selector = q->selector;
    switch (r->upiu.header.query_func) {
    case UFS_UPIU_QUERY_FUNC_STANDARD_READ_REQUEST:
        code = execute_read(r);
        break;
    case UFS_UPIU_QUERY_FUNC_STANDARD_WRITE_REQUEST:
        code = execute_write(r);
        break;
    default:
        code = UFS_QUERY_RESULT_GENERAL_FAILURE;
        break;
    }
    r->rsp.header.response = code;
    trace_irqbed_ufs_query(r->core.ctrl->name, r->core.queue, r->core.tag,
                           r->core.seq, q->opcode, q->idn, q->index,
                           q->selector, code);
}

void irqbed_ufs_query_reset(IrqbedUfs *u)
{
    int i;

    for (i = 0; i < IRQBED_UFS_ATTRS; i++) {
        u->attrs[i] = query_attrs[i].value;
    }
    for (i = 0; i < IRQBED_UFS_FLAGS; i++) {
        u->flags[i] = query_flags[i].value;
    }
    u->timestamp = 0;
}
