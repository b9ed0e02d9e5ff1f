/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Saving and restoring irqbed-ufs; core/vmstate.c says what is saved of a
 * request in flight.  Registers and UPIUs are saved as they are in memory:
 * both hosts have the same byte order.
 */

#include "qemu/osdep.h"
#include "ufs.h"

/* Media are found again by LUN. */
static bool find_store(IrqbedUfs *u, IrqbedUfsReq *r)
{
    uint8_t lun = r->upiu.header.lun;
    IrqbedUfsLu *lu = lun < IRQBED_UFS_MAX_LUS ? u->lus[lun] : NULL;

    r->core.store = NULL;
    if (r->core.state == IRQBED_REQ_FREE || r->core.op == IRQBED_OP_NONE) {
        return true;
    }
    if (!lu) {
        return false;
    }
    r->core.store = &lu->store;
    return true;
}

static bool is_offset(uint32_t offset, uint32_t bytes)
{
    return bytes ? offset < bytes && offset % sizeof(UfsCqEntry) == 0 :
                   offset == 0;
}

/* What the code that uses queues relies on, whoever wrote the file. */
static bool queues_are_sound(IrqbedUfs *u)
{
    unsigned i;

    for (i = 0; i < IRQBED_UFS_MAX_QUEUES; i++) {
        IrqbedUfsQueue *q = &u->queues[i];
        uint32_t cq = FIELD_EX32(q->sq_attr, SQATTR, CQID);

        if ((q->sq_bytes && (cq >= u->mcq_maxq || !u->queues[cq].cq_bytes)) ||
            q->sq_bytes % sizeof(UtpTransferReqDesc) ||
            q->cq_bytes % sizeof(UfsCqEntry) ||
            FIELD_EX32(q->cq_cfg, CQCFG, IAG) >= u->mcq_maxq ||
            !is_offset(q->sq_head, q->sq_bytes) ||
            !is_offset(q->sq_tail, q->sq_bytes) ||
            !is_offset(q->cq_head, q->cq_bytes) ||
            !is_offset(q->cq_tail, q->cq_bytes)) {
            return false;
        }
    }
    for (i = 0; i < u->nr_reqs; i++) {
        IrqbedUfsReq *r = &u->reqs[i];

        if (r->cq >= u->mcq_maxq ||
            (irqbed_ufs_has_queues(u) && !u->queues[r->cq].cq_bytes &&
             r->core.state != IRQBED_REQ_FREE)) {
            return false;
        }
    }
    return true;
}

static bool new_slots_are_sound(IrqbedUfs *u)
{
    unsigned slot;

    if (u->new_slots & ~u->reg.utrldbr) {
        return false;
    }
    for (slot = 0; slot < IRQBED_UFS_MAX_SLOTS; slot++) {
        if (u->new_slots & BIT(slot) &&
            (slot >= u->nr_reqs ||
             u->reqs[slot].core.state != IRQBED_REQ_FREE)) {
            return false;
        }
    }
    return true;
}

static int ufs_post_load(void *opaque, int version_id)
{
    IrqbedUfs *u = opaque;
    int i;

    for (i = 0; i < IRQBED_UFS_UNITS; i++) {
        if (u->units[i].attention >> IRQBED_UFS_ATTENTION__MAX) {
            return -EINVAL;
        }
    }
    if (!queues_are_sound(u) || !new_slots_are_sound(u)) {
        return -EINVAL;
    }
    for (i = 0; i < u->nr_reqs; i++) {
        if (!find_store(u, &u->reqs[i])) {
            return -EINVAL;
        }
        irqbed_req_resume(&u->reqs[i].core);
    }
    irqbed_req_resume_timer(IRQBED_CTRL(u));
    irqbed_ufs_collect_free(u);
    if (u->sq_waiting || u->new_slots) {
        timer_mod(u->fetch_timer, irqbed_now_ns());
    }
    return 0;
}

static const VMStateDescription vmstate_slot = {
    .name = "irqbed-ufs-slot",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(core, IrqbedUfsReq, 1, irqbed_vmstate_req, IrqbedReq),
        VMSTATE_UINT16(core.queue, IrqbedUfsReq),
        VMSTATE_UINT16(core.tag, IrqbedUfsReq),
        VMSTATE_UINT8(cq, IrqbedUfsReq),
        VMSTATE_BUFFER_UNSAFE(utrd, IrqbedUfsReq, 1,
                              sizeof(UtpTransferReqDesc)),
        VMSTATE_BUFFER_UNSAFE(upiu, IrqbedUfsReq, 1, sizeof(UtpUpiuReq)),
        VMSTATE_BUFFER_UNSAFE(rsp, IrqbedUfsReq, 1, sizeof(UtpUpiuRsp)),
        VMSTATE_UINT32(ocs, IrqbedUfsReq),
        VMSTATE_BOOL(utrd_read, IrqbedUfsReq),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_unit = {
    .name = "irqbed-ufs-unit",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT8(attention, IrqbedUfsUnit),
        VMSTATE_BOOL(stopped, IrqbedUfsUnit),
        VMSTATE_BOOL(write_cache, IrqbedUfsUnit),
        VMSTATE_BOOL(software_wp, IrqbedUfsUnit),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_queue = {
    .name = "irqbed-ufs-queue",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(sq_attr, IrqbedUfsQueue),
        VMSTATE_UINT64(sq_base, IrqbedUfsQueue),
        VMSTATE_UINT32(sq_cfg, IrqbedUfsQueue),
        VMSTATE_UINT32(sq_bytes, IrqbedUfsQueue),
        VMSTATE_UINT32(sq_head, IrqbedUfsQueue),
        VMSTATE_UINT32(sq_tail, IrqbedUfsQueue),
        VMSTATE_UINT32(sq_is, IrqbedUfsQueue),
        VMSTATE_UINT32(sq_ie, IrqbedUfsQueue),
        VMSTATE_UINT32(rtc, IrqbedUfsQueue),
        VMSTATE_UINT32(cti, IrqbedUfsQueue),
        VMSTATE_UINT32(rts, IrqbedUfsQueue),
        VMSTATE_UINT32(cq_attr, IrqbedUfsQueue),
        VMSTATE_UINT32(cq_cfg, IrqbedUfsQueue),
        VMSTATE_UINT64(cq_base, IrqbedUfsQueue),
        VMSTATE_UINT32(cq_bytes, IrqbedUfsQueue),
        VMSTATE_UINT32(cq_head, IrqbedUfsQueue),
        VMSTATE_UINT32(cq_tail, IrqbedUfsQueue),
        VMSTATE_UINT32(iacr, IrqbedUfsQueue),
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription irqbed_ufs_vmstate = {
    .name = TYPE_IRQBED_UFS,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = ufs_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(parent_obj, IrqbedUfs, 1, irqbed_vmstate_ctrl,
                       IrqbedCtrl),
        VMSTATE_BUFFER_UNSAFE(reg, IrqbedUfs, 1, sizeof(UfsReg)),
        VMSTATE_STRUCT_VARRAY_POINTER_UINT32(reqs, IrqbedUfs, nr_reqs,
                                             vmstate_slot, IrqbedUfsReq),
        VMSTATE_STRUCT_ARRAY(units, IrqbedUfs, IRQBED_UFS_UNITS, 1,
                             vmstate_unit, IrqbedUfsUnit),
        VMSTATE_STRUCT_ARRAY(queues, IrqbedUfs, IRQBED_UFS_MAX_QUEUES, 1,
                             vmstate_queue, IrqbedUfsQueue),
        VMSTATE_UINT32(cqis, IrqbedUfs),
        VMSTATE_UINT32(cqie, IrqbedUfs),
        VMSTATE_UINT32(cqes, IrqbedUfs),
        VMSTATE_UINT32(sqie, IrqbedUfs),
        VMSTATE_UINT32(iags, IrqbedUfs),
        VMSTATE_UINT32(sq_waiting, IrqbedUfs),
        VMSTATE_UINT32(sq_next, IrqbedUfs),
        VMSTATE_UINT32(new_slots, IrqbedUfs),
        VMSTATE_UINT32_2DARRAY(uic, IrqbedUfs, 2, IRQBED_UFS_UIC_ATTRS),
        VMSTATE_UINT32_ARRAY(attrs, IrqbedUfs, IRQBED_UFS_ATTRS),
        VMSTATE_UINT8_ARRAY(flags, IrqbedUfs, IRQBED_UFS_FLAGS),
        VMSTATE_UINT64(timestamp, IrqbedUfs),
        VMSTATE_UINT64(link_error_count, IrqbedUfs),
        VMSTATE_BOOL(hibernated, IrqbedUfs),
        VMSTATE_END_OF_LIST()
    },
};
