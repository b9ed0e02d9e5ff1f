/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Task management: UFSHCI 3.1, 6.2 and 7.3; UFS 3.1, 10.7.6 and 10.9.8.
 *
 * A task is over before the doorbell write that starts it returns.  An aborted
 * transfer request is given up by the device without an answer; its doorbell
 * bit stays until the driver clears it by UTRLCLR.  What the fault hold-every
 * holds is let go by the function that hold-until names; gentler ones fail.
 */

#include "qemu/osdep.h"
#include "ufs.h"
#include "trace.h"

/* 10.7.8: task management service response */
enum {
    SERVICE_COMPLETE = UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL,
    SERVICE_NOT_SUPPORTED = UFS_UPIU_TASK_MANAGEMENT_FUNC_NOT_SUPPORTED,
    SERVICE_FAILED = UFS_UPIU_TASK_MANAGEMENT_FUNC_FAILED,
    SERVICE_SUCCEEDED = UFS_UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED,
    SERVICE_BAD_LUN = UFS_UPIU_INCORRECT_LOGICAL_UNIT_NO,
};

static uint64_t utmrd_addr(IrqbedUfs *u, unsigned slot)
{
    return ((uint64_t)u->reg.utmrlbau << 32 | u->reg.utmrlba) +
           slot * sizeof(UtpTaskReqDesc);
}

/* A command of @lun that the device has and has not given up. */
static bool is_task_of(IrqbedUfsReq *r, uint8_t lun)
{
    return irqbed_req_state_is_in_flight(r->core.state) &&
           (r->upiu.header.trans_type & 0x3f) ==
           UFS_UPIU_TRANSACTION_COMMAND && r->upiu.header.lun == lun;
}

static IrqbedUfsReq *find_task(IrqbedUfs *u, uint8_t lun, uint32_t tag)
{
    int i;

    for (i = 0; i < u->nr_reqs; i++) {
        IrqbedUfsReq *r = &u->reqs[i];

        if (is_task_of(r, lun) && r->upiu.header.task_tag == tag) {
            return r;
        }
    }
    return NULL;
}

static unsigned abort_tasks_of(IrqbedUfs *u, uint8_t lun)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < u->nr_reqs; i++) {
        if (is_task_of(&u->reqs[i], lun)) {
            irqbed_req_abort(&u->reqs[i].core);
            n++;
        }
    }
    return n;
}

/* Is there a command that @function is too gentle for? @tag: -1 for all. */
static bool is_kept(IrqbedUfs *u, uint8_t lun, int64_t tag,
                    IrqbedUfsHoldUntil function)
{
    int i;

    for (i = 0; i < u->nr_reqs; i++) {
        IrqbedUfsReq *r = &u->reqs[i];

        if (is_task_of(r, lun) && r->core.state == IRQBED_REQ_HELD &&
            (tag < 0 || r->upiu.header.task_tag == tag)) {
            return u->hold_until > function;
        }
    }
    return false;
}

static bool has_tasks(IrqbedUfs *u, uint8_t lun)
{
    int i;

    for (i = 0; i < u->nr_reqs; i++) {
        if (is_task_of(&u->reqs[i], lun)) {
            return true;
        }
    }
    return false;
}

static uint32_t execute(IrqbedUfs *u, uint8_t function, uint32_t lun,
                        uint32_t tag)
{
    int unit = irqbed_ufs_unit(u, lun);
    IrqbedUfsReq *r;

    if (unit < 0) {
        return SERVICE_BAD_LUN;
    }
    switch (function) {
    case UFS_ABORT_TASK:
        if (is_kept(u, lun, tag, IRQBED_UFS_HOLD_UNTIL_ABORT)) {
            return SERVICE_FAILED;
        }
        r = find_task(u, lun, tag);
        if (r) {
            irqbed_req_abort(&r->core);
        }
        return SERVICE_COMPLETE;
    case UFS_ABORT_TASK_SET:
    case UFS_CLEAR_TASK_SET:
        if (is_kept(u, lun, -1, IRQBED_UFS_HOLD_UNTIL_ABORT)) {
            return SERVICE_FAILED;
        }
        abort_tasks_of(u, lun);
        return SERVICE_COMPLETE;
    case UFS_LOGICAL_RESET:
        if (is_kept(u, lun, -1, IRQBED_UFS_HOLD_UNTIL_LU_RESET)) {
            return SERVICE_FAILED;
        }
        abort_tasks_of(u, lun);
        irqbed_ufs_unit_reset(u, unit, IRQBED_UFS_ATTENTION_LU_RESET);
        return SERVICE_COMPLETE;
    case UFS_QUERY_TASK:
        return find_task(u, lun, tag) ? SERVICE_SUCCEEDED : SERVICE_COMPLETE;
    case UFS_QUERY_TASK_SET:
        return has_tasks(u, lun) ? SERVICE_SUCCEEDED : SERVICE_COMPLETE;
    default:
        return SERVICE_NOT_SUPPORTED;
    }
}

/* False if the descriptor is not in memory. */
static bool run_task(IrqbedUfs *u, unsigned slot)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    UtpTaskReqDesc d;
    UtpUpiuHeader *req = &d.upiu_req.req_header;
    UtpUpiuHeader *rsp = &d.upiu_rsp.rsp_header;
    uint32_t ocs = UFS_OCS_SUCCESS, service = 0;

    if (!irqbed_dma_read(c, utmrd_addr(u, slot), &d, sizeof(d))) {
        return false;
    }
    memset(&d.upiu_rsp, 0, sizeof(d.upiu_rsp));
    if ((req->trans_type & 0x3f) != UFS_UPIU_TRANSACTION_TASK_REQ) {
        irqbed_ctrl_guest_error(c, "task UPIU transaction type",
                                req->trans_type);
        ocs = UFS_OCS_INVALID_CMD_TABLE_ATTR;
    } else {
        service = execute(u, req->query_func,
                          be32_to_cpu(d.upiu_req.input_param1),
                          be32_to_cpu(d.upiu_req.input_param2));
        rsp->trans_type = UFS_UPIU_TRANSACTION_TASK_RSP;
        rsp->lun = req->lun;
        rsp->task_tag = req->task_tag;
        rsp->iid_cmd_set_type = req->iid_cmd_set_type;
        d.upiu_rsp.output_param1 = cpu_to_be32(service);
    }
    trace_irqbed_ufs_task(c->name, slot, req->query_func,
                          be32_to_cpu(d.upiu_req.input_param1),
                          be32_to_cpu(d.upiu_req.input_param2), service);
    d.header.dword_2 = cpu_to_le32(ocs);
    return irqbed_dma_write(c, utmrd_addr(u, slot) +
                            offsetof(UtpTaskReqDesc, upiu_rsp), &d.upiu_rsp,
                            sizeof(d.upiu_rsp)) &&
           irqbed_dma_write(c, utmrd_addr(u, slot) +
                            offsetof(RequestDescHeader, dword_2),
                            &d.header.dword_2, sizeof(d.header.dword_2));
}

void irqbed_ufs_task_doorbell(IrqbedUfs *u, uint32_t slots)
{
    unsigned slot;

    if (slots >> IRQBED_UFS_TM_SLOTS) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u),
                                "task doorbell beyond the list", slots);
        slots &= MAKE_64BIT_MASK(0, IRQBED_UFS_TM_SLOTS);
    }
    if (!slots) {
        return;
    }
    /* What was rung before belongs to the device, with any clock. */
    irqbed_ufs_fetch_run(u);
    for (slot = 0; slot < IRQBED_UFS_TM_SLOTS; slot++) {
        if ((slots & BIT(slot)) && !run_task(u, slot)) {
            u->reg.is = FIELD_DP32(u->reg.is, IS, SBFES, 1);
        }
    }
    u->reg.is = FIELD_DP32(u->reg.is, IS, UTMRCS, 1);
    irqbed_irq_post(IRQBED_CTRL(u), 0);
}
