/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which status is whose interrupt; stage D5.  Lines and messages are
 * core/irq.c's.  UFSHCI 3.1, 5.4.11 and 7.2.3; UFSHCI 4.0, IS.CQES and IAGES,
 * CQIS, CQIE, MCQIACR, CONFIG.ESIE.
 *
 * Vector 0 is IS & IE.  Vector 1 + q is CQIS & CQIE of queue q, while
 * CONFIG.ESIE asks for a message for each queue: the MSI-X vector of that
 * number where MSI-X is enabled, else a write of the queue's number to
 * ESIUBA:ESILBA.
 *
 * Without ESIE a queue's event is IS.CQES, which is set for as long as one is
 * there; writing to it does nothing.  A queue with MCQIACR.IAEN is counted on
 * its own vector all the same, which at the window's end sets IS.IAGES.
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

static bool is_aggregating(IrqbedUfs *u, unsigned q)
{
    return FIELD_EX32(u->queues[q].iacr, UTRIACR, IAEN);
}

uint32_t irqbed_ufs_status(IrqbedUfs *u)
{
    bool cqes = irqbed_ufs_has_queues(u) && !is_esi(u) &&
                (u->cqes & u->cqie);

    return FIELD_DP32(u->reg.is, IS, CQES, cqes);
}

bool irqbed_ufs_irq_level(IrqbedCtrl *c, unsigned vector)
{
    IrqbedUfs *u = IRQBED_UFS(c);
    unsigned q = vector - 1;

    if (vector == 0) {
        return irqbed_ufs_status(u) & u->reg.ie;
    }
    return irqbed_ufs_has_queues(u) && (is_esi(u) || is_aggregating(u, q)) &&
           (u->cqis & u->cqie & BIT(q));
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
        u->reg.is = FIELD_DP32(u->reg.is, IS, IAGES, 1);
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
    *vector = is_esi(u) || windowed ? 1 + q : 0;
    return is_aggregating(u, q) && urgent ? IRQBED_ANSWER_IRQ_URGENT :
                                            IRQBED_ANSWER_IRQ;
}

void irqbed_ufs_irq_refresh(IrqbedUfs *u, unsigned q)
{
    irqbed_irq_update(IRQBED_CTRL(u), 0);
    irqbed_irq_update(IRQBED_CTRL(u), 1 + q);
}

void irqbed_ufs_cq_ack(IrqbedUfs *u, unsigned q, uint32_t bits)
{
    if (bits & R_CQIS_TEPS_MASK) {
        u->cqis &= ~BIT(q);
        u->cqes &= ~BIT(q);
        irqbed_ufs_irq_refresh(u, q);
    }
}

void irqbed_ufs_cq_irq_enable(IrqbedUfs *u, unsigned q, uint32_t bits)
{
    u->cqie = deposit32(u->cqie, q, 1, bits & R_CQIS_TEPS_MASK);
    irqbed_ufs_irq_refresh(u, q);
}

void irqbed_ufs_cq_status_read(IrqbedUfs *u, unsigned q)
{
    if (is_esi(u)) {
        irqbed_irq_status_read(IRQBED_CTRL(u), 1 + q);
    }
}

void irqbed_ufs_aggregate(IrqbedUfs *u, uint32_t *reg, unsigned vector,
                          uint32_t val)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    uint32_t count = FIELD_EX32(*reg, UTRIACR, IACTH);
    uint32_t timeout = FIELD_EX32(*reg, UTRIACR, IATOVAL);
    bool on = FIELD_EX32(val, UTRIACR, IAEN);

    if (FIELD_EX32(val, UTRIACR, IAPWEN)) {
        count = FIELD_EX32(val, UTRIACR, IACTH);
        timeout = FIELD_EX32(val, UTRIACR, IATOVAL);
    }
    *reg = FIELD_DP32(0, UTRIACR, IAEN, on);
    *reg = FIELD_DP32(*reg, UTRIACR, IACTH, count);
    *reg = FIELD_DP32(*reg, UTRIACR, IATOVAL, timeout);
    irqbed_irq_guest_window(c, vector, on, count,
                            (int64_t)timeout * IRQBED_UFS_IATOVAL_UNIT_NS);
    if (FIELD_EX32(val, UTRIACR, CTR)) {
        irqbed_irq_restart_window(c, vector);
    }
}
