/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which status is whose interrupt; stage D5.  Lines and messages are
 * core/irq.c's.  UFSHCI 3.1, 5.4.11 and 7.2.3; UFSHCI 4.0, IS.CQES, SQES and
 * IAGES, CQIS, CQIE, SQIS, SQIE, CQCFG, MCQIACR, CONFIG.ESIE.
 *
 * Vector 0 is IS & IE.  Vector 1 + q is CQIS & CQIE and SQIS & SQIE of queue q,
 * while CONFIG.ESIE asks for a message for each queue: the MSI-X vector of that
 * number where MSI-X is enabled, else a write of the queue's number to
 * ESIUBA:ESILBA.
 *
 * Without ESIE a queue's events are IS.CQES and IS.SQES, which are set for as
 * long as one is there; writing to them does nothing.  A queue in an
 * aggregation group whose MCQIACR has IAEN is counted on the group's vector all
 * the same, which at the window's end sets IS.IAGES, until MCQIACR.CTR.
 *
 *   Acknowledgement: CQIS first, then the tail is read.  An entry that comes
 *   between is seen, and costs an interrupt that finds nothing.  Where the
 *   queues share a message, IS is read again until nothing is left: only its
 *   going from 0 to 1 sends the next.
 */

#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "ufs.h"

static bool is_esi(IrqbedUfs *u)
{
    return FIELD_EX32(u->reg.config, CONFIG, ESIE);
}

/* Of the completion queue's aggregation group, if there is one. */
static unsigned group_of(IrqbedUfs *u, unsigned q)
{
    return FIELD_EX32(u->queues[q].cq_cfg, CQCFG, IAG);
}

static bool has_window(IrqbedUfs *u, unsigned group)
{
    return FIELD_EX32(u->queues[group].iacr, UTRIACR, IAEN);
}

static bool is_aggregating(IrqbedUfs *u, unsigned q)
{
    return FIELD_EX32(u->queues[q].cq_cfg, CQCFG, IAGVLD) &&
           has_window(u, group_of(u, q));
}

/* Where the completions of queue @q are counted, if not on vector 0. */
static unsigned cq_vector(IrqbedUfs *u, unsigned q)
{
    return 1 + (is_aggregating(u, q) ? group_of(u, q) : q);
}

static bool has_sq_event(IrqbedUfs *u, unsigned q)
{
    return u->queues[q].sq_is & u->queues[q].sq_ie;
}

uint32_t irqbed_ufs_status(IrqbedUfs *u)
{
    uint32_t cq = u->cqis & u->cqie, sq = u->sqie;
    bool cqes = cq & u->cqes, sqes = false;
    uint32_t is = u->reg.is;

    if (!irqbed_ufs_has_queues(u) || is_esi(u)) {
        return is;
    }
    for (; cq && !cqes; cq &= cq - 1) {
        cqes = !is_aggregating(u, ctz32(cq));
    }
    for (; sq && !sqes; sq &= sq - 1) {
        sqes = has_sq_event(u, ctz32(sq));
    }
    is = FIELD_DP32(is, IS, CQES, cqes);
    is = FIELD_DP32(is, IS, SQES, sqes);
    return FIELD_DP32(is, IS, IAGES, u->iags != 0);
}

bool irqbed_ufs_irq_level(IrqbedCtrl *c, unsigned vector)
{
    IrqbedUfs *u = IRQBED_UFS(c);
    uint32_t events = u->cqis & u->cqie;
    unsigned q;

    if (vector == 0) {
        return irqbed_ufs_status(u) & u->reg.ie;
    }
    if (!irqbed_ufs_has_queues(u)) {
        return false;
    }
    if (is_esi(u) && has_sq_event(u, vector - 1)) {
        return true;
    }
    for (; events; events &= events - 1) {
        q = ctz32(events);
        if (cq_vector(u, q) == vector && (is_esi(u) || is_aggregating(u, q))) {
            return true;
        }
    }
    return false;
}

/* Called before the properties are checked. */
unsigned irqbed_ufs_irq_vectors(IrqbedCtrl *c)
{
    IrqbedUfs *u = IRQBED_UFS(c);

    return u->mcq ? 1 + MIN(u->mcq_maxq, IRQBED_UFS_MAX_QUEUES) : 1;
}

IrqbedIrqRoute irqbed_ufs_irq_route(IrqbedCtrl *c, unsigned vector,
                                    MSIMessage *msg)
{
    IrqbedUfs *u = IRQBED_UFS(c);

    if (!is_esi(u)) {
        u->iags |= BIT(vector - 1);
        return IRQBED_IRQ_ROUTE_SHARED;
    }
    if (msix_enabled(PCI_DEVICE(c))) {
        return IRQBED_IRQ_ROUTE_OWN;
    }
    msg->address = (uint64_t)u->reg.esiuba << 32 | u->reg.esilba;
    msg->data = vector - 1;
    return IRQBED_IRQ_ROUTE_MESSAGE;
}

unsigned irqbed_ufs_cq_event(IrqbedUfs *u, unsigned q, bool urgent,
                             uint16_t *vector)
{
    bool windowed = is_aggregating(u, q) && !urgent;

    u->cqis |= BIT(q);
    if (!windowed) {
        u->cqes |= BIT(q);
    }
    *vector = is_esi(u) || windowed ? cq_vector(u, q) : 0;
    /* A queue's vector may be that of other queues' window. */
    return !windowed && (is_aggregating(u, q) ||
                         (*vector && has_window(u, *vector - 1))) ?
           IRQBED_ANSWER_IRQ_URGENT : IRQBED_ANSWER_IRQ;
}

static void refresh(IrqbedUfs *u, unsigned q)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    unsigned vector = cq_vector(u, q);

    irqbed_irq_update(c, 0);
    irqbed_irq_update(c, 1 + q);
    if (vector != 1 + q) {
        irqbed_irq_update(c, vector);
    }
}

void irqbed_ufs_irq_refresh(IrqbedUfs *u)
{
    unsigned q;

    for (q = 0; q < u->mcq_maxq; q++) {
        refresh(u, q);
    }
}

void irqbed_ufs_cq_ack(IrqbedUfs *u, unsigned q, uint32_t bits)
{
    if (bits & R_CQIS_TEPS_MASK) {
        u->cqis &= ~BIT(q);
        u->cqes &= ~BIT(q);
        refresh(u, q);
    }
}

void irqbed_ufs_cq_irq_enable(IrqbedUfs *u, unsigned q, uint32_t bits)
{
    u->cqie = deposit32(u->cqie, q, 1, bits & R_CQIS_TEPS_MASK);
    refresh(u, q);
}

void irqbed_ufs_cq_set_group(IrqbedUfs *u, unsigned q, uint32_t cfg)
{
    cfg &= R_CQCFG_IAG_MASK | R_CQCFG_IAGVLD_MASK;
    if (FIELD_EX32(cfg, CQCFG, IAG) >= u->mcq_maxq) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "no such aggregation group",
                                cfg);
        return;
    }
    u->queues[q].cq_cfg = cfg;
    /* Who waits in the window of a group may have changed. */
    irqbed_ufs_irq_refresh(u);
}

void irqbed_ufs_sq_event(IrqbedUfs *u, unsigned q, uint32_t bit)
{
    u->queues[q].sq_is |= bit;
    if (has_sq_event(u, q)) {
        irqbed_irq_post(IRQBED_CTRL(u), is_esi(u) ? 1 + q : 0);
    }
}

void irqbed_ufs_sq_ack(IrqbedUfs *u, unsigned q, uint32_t bits)
{
    u->queues[q].sq_is &= ~bits;
    refresh(u, q);
}

void irqbed_ufs_sq_irq_enable(IrqbedUfs *u, unsigned q, uint32_t bits)
{
    bits &= R_SQIS_STOP_MASK | R_SQIS_CLEANUP_MASK;
    u->queues[q].sq_ie = bits;
    u->sqie = deposit32(u->sqie, q, 1, bits != 0);
    refresh(u, q);
}

void irqbed_ufs_cq_status_read(IrqbedUfs *u, unsigned q)
{
    if (is_esi(u)) {
        irqbed_irq_status_read(IRQBED_CTRL(u), 1 + q);
    }
}

/* @val is written to @reg: what it is now. */
static uint32_t aggregate(IrqbedUfs *u, uint32_t reg, unsigned vector,
                          uint32_t val)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    bool on = FIELD_EX32(val, UTRIACR, IAEN);

    if (!FIELD_EX32(val, UTRIACR, IAPWEN)) {
        val = deposit32(val, 0, R_UTRIACR_CTR_SHIFT, reg);
    }
    reg = val & (R_UTRIACR_IAEN_MASK | R_UTRIACR_IACTH_MASK |
                 R_UTRIACR_IATOVAL_MASK);
    irqbed_irq_guest_window(c, vector, on, FIELD_EX32(reg, UTRIACR, IACTH),
                            (int64_t)FIELD_EX32(reg, UTRIACR, IATOVAL) *
                            IRQBED_UFS_IATOVAL_UNIT_NS);
    if (FIELD_EX32(val, UTRIACR, CTR)) {
        irqbed_irq_restart_window(c, vector);
    }
    return reg;
}

void irqbed_ufs_aggregate(IrqbedUfs *u, uint32_t val)
{
    u->reg.utriacr = aggregate(u, u->reg.utriacr, 0, val);
}

void irqbed_ufs_aggregate_group(IrqbedUfs *u, unsigned group, uint32_t val)
{
    uint32_t *iacr = &u->queues[group].iacr;

    *iacr = aggregate(u, *iacr, 1 + group, val);
    if (FIELD_EX32(val, UTRIACR, CTR) || !FIELD_EX32(val, UTRIACR, IAEN)) {
        u->iags &= ~BIT(group);
    }
    irqbed_ufs_irq_refresh(u);
}
