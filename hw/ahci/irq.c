/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From port status to the interrupt, AHCI 1.3.1, 10.6.2; stage D5.  Lines and
 * messages are core/irq.c's: here is only which status is whose vector's, and
 * what an acknowledgement leaves behind.
 *
 * One vector for all (INTx, a single message, or MRSM): the level is GHC.IE and
 * any bit of IS.  A bit of IS is latched while PxIS & PxIE is not zero.
 *
 *   Acknowledgement: PxIS first, IS last.  Clearing a bit of IS whose port has
 *   status again latches it anew, and whatever is left in IS sends a new
 *   message.  A handler therefore loses nothing between its reads and its
 *   writes; it costs an interrupt that finds nothing if it reads PxCI or
 *   PxSACT after the status came.
 *
 * A vector for each port: the level is GHC.IE and PxIS & PxIE; IS plays no
 * part, as software need not touch it.
 *
 *   Acknowledgement: PxIS alone; a bit that came between read and write is
 *   left, and sends a new message.
 */

#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "ahci.h"
#include "trace.h"

#define RO_BITS (R_PORT_IS_UFS_MASK | R_PORT_IS_PCS_MASK | R_PORT_IS_PRCS_MASK)

/*
 * Messages offered: for the ports, and for the CCC interrupt after them.
 * Called before the properties are checked.
 */
unsigned irqbed_ahci_vectors(IrqbedCtrl *c)
{
    IrqbedAhci *h = IRQBED_AHCI(c);
    uint32_t wanted = h->msi_vectors ?: h->nr_ports + irqbed_ahci_has_ccc(h);

    return pow2ceil(MIN(MAX(wanted, 1), IRQBED_AHCI_MAX_PORTS));
}

static unsigned messages_granted(IrqbedAhci *h)
{
    PCIDevice *dev = PCI_DEVICE(h);

    return msi_enabled(dev) ? msi_nr_vectors_allocated(dev) : 0;
}

static bool has_own_vectors(IrqbedAhci *h)
{
    unsigned granted = messages_granted(h);

    return granted > 1 && granted == irqbed_ahci_vectors(IRQBED_CTRL(h)) &&
           granted >= h->nr_ports + irqbed_ahci_has_ccc(h);
}

unsigned irqbed_ahci_vector(IrqbedAhci *h, unsigned source)
{
    return has_own_vectors(h) ? source : 0;
}

uint32_t irqbed_ahci_ghc(IrqbedAhci *h)
{
    bool mrsm = messages_granted(h) > 1 && !has_own_vectors(h);

    return FIELD_DP32(h->ghc | R_HBA_GHC_AE_MASK, HBA_GHC, MRSM, mrsm);
}

uint32_t irqbed_ahci_port_is(IrqbedAhciPort *p)
{
    uint32_t is = p->is;

    is = FIELD_DP32(is, PORT_IS, UFS, FIELD_EX32(p->serr, PORT_SERR, DIAG_F));
    is = FIELD_DP32(is, PORT_IS, PCS, FIELD_EX32(p->serr, PORT_SERR, DIAG_X));
    return FIELD_DP32(is, PORT_IS, PRCS,
                      FIELD_EX32(p->serr, PORT_SERR, DIAG_N));
}

static uint32_t enabled_status(IrqbedAhciPort *p)
{
    return irqbed_ahci_port_is(p) & p->ie;
}

bool irqbed_ahci_irq_level(IrqbedCtrl *c, unsigned vector)
{
    IrqbedAhci *h = IRQBED_AHCI(c);

    if (!(h->ghc & R_HBA_GHC_IE_MASK)) {
        return false;
    }
    if (!has_own_vectors(h)) {
        return vector == 0 && h->is;
    }
    if (vector < h->nr_ports) {
        return enabled_status(&h->ports[vector]);
    }
    return irqbed_ahci_has_ccc(h) && vector == irqbed_ahci_ccc_int(h) &&
           (h->is & BIT(vector));
}

void irqbed_ahci_hba_status_read(IrqbedAhci *h)
{
    if (!has_own_vectors(h)) {
        irqbed_irq_status_read(IRQBED_CTRL(h), 0);
    }
}

void irqbed_ahci_port_status_read(IrqbedAhciPort *p)
{
    if (has_own_vectors(p->hba)) {
        irqbed_irq_status_read(IRQBED_CTRL(p->hba), p->nr);
    }
}

static void latch(IrqbedAhciPort *p)
{
    if (enabled_status(p)) {
        p->hba->is |= BIT(p->nr);
    }
}

void irqbed_ahci_port_set(IrqbedAhciPort *p, uint32_t bits)
{
    p->is |= bits & ~RO_BITS;
    if (bits & R_PORT_IS_IFS_MASK) {
        p->serr |= R_PORT_SERR_DIAG_H_MASK;
    }
    trace_irqbed_ahci_status(IRQBED_CTRL(p->hba)->name, p->nr,
                             bits, irqbed_ahci_port_is(p), p->ie);
    latch(p);
}

void irqbed_ahci_port_event(IrqbedAhciPort *p, uint32_t bits)
{
    irqbed_ahci_port_set(p, bits);
    if (bits & p->ie) {
        irqbed_irq_post(IRQBED_CTRL(p->hba),
                        irqbed_ahci_vector(p->hba, p->nr));
    }
}

/* Status was acknowledged: is any left that was not reported? */
static void port_settle(IrqbedAhciPort *p, uint32_t before)
{
    IrqbedCtrl *c = IRQBED_CTRL(p->hba);
    uint32_t left = enabled_status(p);

    if (left == before || !has_own_vectors(p->hba)) {
        return;
    }
    if (left) {
        irqbed_irq_retrigger(c, p->nr);
    } else {
        irqbed_irq_update(c, p->nr);
    }
}

void irqbed_ahci_port_ack(IrqbedAhciPort *p, uint32_t bits)
{
    uint32_t before = enabled_status(p);

    p->is &= ~bits;
    port_settle(p, before);
}

void irqbed_ahci_port_serr_ack(IrqbedAhciPort *p, uint32_t bits)
{
    uint32_t before = enabled_status(p);

    p->serr &= ~bits;
    port_settle(p, before);
    irqbed_ahci_port_signature(p);
}

void irqbed_ahci_port_enable(IrqbedAhciPort *p, uint32_t ie)
{
    p->ie = ie;
    latch(p);
    irqbed_irq_update(IRQBED_CTRL(p->hba), irqbed_ahci_vector(p->hba, p->nr));
}

void irqbed_ahci_hba_ack(IrqbedAhci *h, uint32_t bits)
{
    IrqbedCtrl *c = IRQBED_CTRL(h);
    uint32_t cleared = h->is & bits;
    unsigned i;

    h->is &= ~bits;
    for (i = 0; i < h->nr_ports; i++) {
        latch(&h->ports[i]);
    }
    if (has_own_vectors(h)) {
        if (irqbed_ahci_has_ccc(h)) {
            irqbed_irq_update(c, irqbed_ahci_ccc_int(h));
        }
    } else if (h->is && cleared) {
        irqbed_irq_retrigger(c, 0);
    } else {
        irqbed_irq_update(c, 0);
    }
}

void irqbed_ahci_irq_refresh(IrqbedAhci *h)
{
    IrqbedCtrl *c = IRQBED_CTRL(h);
    unsigned i;

    for (i = 0; i < c->nr_irqs; i++) {
        irqbed_irq_update(c, i);
    }
}
