/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Decoder of the queues' registers, stage D1; UFSHCI 4.0.  The configuration
 * registers are at MCQCAP.QCFGPTR, the operation and runtime registers where
 * SQDAO, SQISAO, CQDAO and CQISAO say: both a block for each queue.
 *
 * Order that a driver may rely on: a completion has written data and response,
 * then its entry, then moved the tail, set CQIS.TEPS, and last raised its
 * interrupt.
 */

#include "qemu/osdep.h"
#include "ufs.h"

/* Offset of @reg within the runtime block of queue @q. */
#define OP_ADDR(q, reg) \
    (UFS_MCQ_OPR_START + (q) * sizeof(UfsMcqOpReg) + \
     offsetof(UfsMcqOpReg, reg))

/* Is @addr in the array of blocks at @start?  Which block, and where in it? */
static bool find_block(IrqbedUfs *u, hwaddr *addr, hwaddr start,
                       unsigned bytes, unsigned *q)
{
    if (*addr < start || *addr >= start + u->mcq_maxq * bytes) {
        return false;
    }
    *addr -= start;
    *q = *addr / bytes;
    *addr %= bytes;
    return true;
}

static void set_base(IrqbedUfs *u, uint64_t *base, unsigned shift,
                     uint32_t val, bool in_use)
{
    if (in_use) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "base of a queue in use", val);
        return;
    }
    *base = deposit64(*base, shift, 32, val) &
            ~(uint64_t)(IRQBED_UFS_QUEUE_ALIGN - 1);
}

static uint32_t read_config(IrqbedUfs *u, unsigned q, hwaddr reg)
{
    IrqbedUfsQueue *x = &u->queues[q];

    switch (reg) {
    case A_SQATTR:
        return x->sq_attr;
    case A_SQLBA:
        return x->sq_base;
    case A_SQUBA:
        return x->sq_base >> 32;
    case A_SQDAO:
        return OP_ADDR(q, sq);
    case A_SQISAO:
        return OP_ADDR(q, sq_int);
    case A_SQCFG:
        return x->sq_cfg;
    case A_CQATTR:
        return x->cq_attr;
    case A_CQLBA:
        return x->cq_base;
    case A_CQUBA:
        return x->cq_base >> 32;
    case A_CQDAO:
        return OP_ADDR(q, cq);
    case A_CQISAO:
        return OP_ADDR(q, cq_int);
    case A_CQCFG:
        return x->cq_cfg;
    default: /* reserved */
        return 0;
    }
}

static void write_queue_config(IrqbedUfs *u, unsigned q, hwaddr reg,
                               uint32_t val)
{
    IrqbedUfsQueue *x = &u->queues[q];

    switch (reg) {
    case A_SQATTR: /* RW */
        irqbed_ufs_sq_enable(u, q, val);
        break;
    case A_SQLBA: /* RW */
        set_base(u, &x->sq_base, 0, val, x->sq_bytes);
        break;
    case A_SQUBA: /* RW */
        set_base(u, &x->sq_base, 32, val, x->sq_bytes);
        break;
    case A_SQCFG: /* RW; all queues have one priority */
        x->sq_cfg = val;
        break;
    case A_CQATTR: /* RW */
        irqbed_ufs_cq_enable(u, q, val);
        break;
    case A_CQLBA: /* RW */
        set_base(u, &x->cq_base, 0, val, x->cq_bytes);
        break;
    case A_CQUBA: /* RW */
        set_base(u, &x->cq_base, 32, val, x->cq_bytes);
        break;
    case A_CQCFG: /* RW */
        irqbed_ufs_cq_set_group(u, q, val);
        break;
    default: /* RO, or reserved: only what is there may be written */
        if (val != read_config(u, q, reg)) {
            irqbed_ctrl_guest_error(IRQBED_CTRL(u), "write to queue register",
                                    reg);
        }
        break;
    }
}

static uint32_t read_runtime(IrqbedUfs *u, unsigned q, hwaddr reg)
{
    IrqbedUfsQueue *x = &u->queues[q];

    switch (reg) {
    case offsetof(UfsMcqOpReg, sq.hp):
        return x->sq_head;
    case offsetof(UfsMcqOpReg, sq.tp):
        return x->sq_tail;
    case offsetof(UfsMcqOpReg, sq.rtc):
        return x->rtc;
    case offsetof(UfsMcqOpReg, sq.cti):
        return x->cti;
    case offsetof(UfsMcqOpReg, sq.rts):
        return x->rts;
    case offsetof(UfsMcqOpReg, sq_int.is):
        return x->sq_is;
    case offsetof(UfsMcqOpReg, sq_int.ie):
        return x->sq_ie;
    case offsetof(UfsMcqOpReg, cq.hp):
        return x->cq_head;
    case offsetof(UfsMcqOpReg, cq.tp):
        return x->cq_tail;
    case offsetof(UfsMcqOpReg, cq_int.is):
        irqbed_ufs_cq_status_read(u, q);
        return extract32(u->cqis, q, 1);
    case offsetof(UfsMcqOpReg, cq_int.ie):
        return extract32(u->cqie, q, 1);
    default: /* MCQIACR */
        return FIELD_DP32(x->iacr, UTRIACR, IASB,
                          irqbed_irq_window_open(IRQBED_CTRL(u), 1 + q));
    }
}

static void write_runtime(IrqbedUfs *u, unsigned q, hwaddr reg, uint32_t val)
{
    IrqbedUfsQueue *x = &u->queues[q];

    switch (reg) {
    case offsetof(UfsMcqOpReg, sq.tp): /* RW */
        irqbed_ufs_sq_doorbell(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, sq.rtc): /* RW */
        irqbed_ufs_sq_control(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, sq.cti): /* RW */
        x->cti = val;
        break;
    case offsetof(UfsMcqOpReg, sq_int.is): /* R/W1C */
        irqbed_ufs_sq_ack(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, sq_int.ie): /* RW */
        irqbed_ufs_sq_irq_enable(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, cq.hp): /* RW */
        irqbed_ufs_cq_doorbell(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, cq_int.is): /* R/W1C */
        irqbed_ufs_cq_ack(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, cq_int.ie): /* RW */
        irqbed_ufs_cq_irq_enable(u, q, val);
        break;
    case offsetof(UfsMcqOpReg, cq_int.iacr): /* RW, with WO and RO fields */
        irqbed_ufs_aggregate_group(u, q, val);
        break;
    default: /* RO */
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "write to runtime register",
                                reg);
        break;
    }
}

/* CONFIG.QT or ESIE: who takes requests, and how queues interrupt. */
static void write_mode(IrqbedUfs *u, uint32_t val)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    uint32_t changed = (val ^ u->reg.config) & R_CONFIG_QT_MASK;

    val &= R_CONFIG_QT_MASK | R_CONFIG_ESIE_MASK;
    if (changed && (!QTAILQ_EMPTY(&c->active) || u->new_slots)) {
        irqbed_ctrl_guest_error(c, "CONFIG.QT while requests are in flight",
                                val);
        val ^= changed;
    }
    u->reg.config = val;
    irqbed_ufs_collect_free(u);
    irqbed_ufs_irq_refresh(u);
}

static bool write_global(IrqbedUfs *u, hwaddr addr, uint32_t val)
{
    switch (addr) {
    case A_CONFIG: /* RW */
        write_mode(u, val);
        return true;
    case A_MCQCONFIG: /* RW; no more than there are */
        val = MIN(FIELD_EX32(val, MCQCONFIG, MAC), u->nr_reqs - 1);
        u->reg.mcqconfig = FIELD_DP32(0, MCQCONFIG, MAC, val);
        return true;
    case A_ESILBA: /* RW */
        u->reg.esilba = val & R_ESILBA_ESILBA_MASK;
        return true;
    case A_ESIUBA: /* RW */
        u->reg.esiuba = val;
        return true;
    default:
        return false;
    }
}

bool irqbed_ufs_mcq_write(IrqbedUfs *u, hwaddr addr, uint32_t val)
{
    unsigned q;

    if (!u->mcq) {
        return false;
    }
    if (find_block(u, &addr, UFS_MCQ_OPR_START, sizeof(UfsMcqOpReg), &q)) {
        write_runtime(u, q, addr, val);
        return true;
    }
    if (find_block(u, &addr, IRQBED_UFS_QCFG, sizeof(UfsMcqReg), &q)) {
        write_queue_config(u, q, addr, val);
        return true;
    }
    return write_global(u, addr, val);
}

bool irqbed_ufs_mcq_read(IrqbedUfs *u, hwaddr addr, uint32_t *val)
{
    unsigned q;

    if (!u->mcq) {
        return false;
    }
    if (find_block(u, &addr, UFS_MCQ_OPR_START, sizeof(UfsMcqOpReg), &q)) {
        *val = read_runtime(u, q, addr);
        return true;
    }
    if (find_block(u, &addr, IRQBED_UFS_QCFG, sizeof(UfsMcqReg), &q)) {
        *val = read_config(u, q, addr);
        return true;
    }
    return false;
}
