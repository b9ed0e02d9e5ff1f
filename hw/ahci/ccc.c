/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Command completion coalescing, AHCI 1.3.1, 11: one interrupt, with a bit of
 * IS of its own, after a number of completions or a time.  The guest sets it up
 * and is to mask the selected ports' own completion interrupts (PxIE).
 *
 * The timer (hCccTimer) runs only while commands are outstanding on selected
 * ports, which includes those that are complete but not yet reported: without
 * that the last one would never be.  Timer and count start again with each
 * interrupt.
 */

#include "qemu/osdep.h"
#include "ahci.h"
#include "trace.h"

#define MS_NS INT64_C(1000000)

/* Its interrupt has the bit, in IS, of a port that does not exist. */
bool irqbed_ahci_has_ccc(IrqbedAhci *h)
{
    return h->ccc_wanted && !h->ich9 && h->nr_ports < IRQBED_AHCI_MAX_PORTS;
}

bool irqbed_ahci_ccc_is_enabled(IrqbedAhci *h)
{
    return h->ccc.ctl & R_HBA_CCC_CTL_EN_MASK;
}

unsigned irqbed_ahci_ccc_int(IrqbedAhci *h)
{
    return FIELD_EX32(h->ccc.ctl, HBA_CCC_CTL, INT);
}

static void load(IrqbedAhciCcc *ccc)
{
    timer_del(ccc->timer);
    ccc->completions = 0;
    ccc->left_ns = FIELD_EX32(ccc->ctl, HBA_CCC_CTL, TV) * MS_NS;
}

static bool is_outstanding(IrqbedAhci *h)
{
    unsigned i;

    if (h->ccc.completions) {
        return true;
    }
    for (i = 0; i < h->nr_ports; i++) {
        if ((h->ccc.ports & BIT(i)) && (h->ports[i].ci | h->ports[i].sact)) {
            return true;
        }
    }
    return false;
}

void irqbed_ahci_ccc_update(IrqbedAhci *h)
{
    IrqbedAhciCcc *ccc = &h->ccc;
    bool running = timer_pending(ccc->timer);
    bool wanted = irqbed_ahci_ccc_is_enabled(h) && is_outstanding(h);
    int64_t now_ns;

    if (running == wanted) {
        return;
    }
    now_ns = irqbed_now_ns();
    if (running) {
        /* 0 would be a timeout that never comes. */
        ccc->left_ns = MAX(1, timer_expire_time_ns(ccc->timer) - now_ns);
        timer_del(ccc->timer);
    } else if (ccc->left_ns) {      /* a timeout of 0 is reserved: none */
        timer_mod(ccc->timer, now_ns + ccc->left_ns);
    }
}

static void fire(IrqbedAhci *h)
{
    unsigned source = irqbed_ahci_ccc_int(h);

    trace_irqbed_ahci_ccc(IRQBED_CTRL(h)->name,
                          h->ccc.completions);
    load(&h->ccc);
    irqbed_ahci_ccc_update(h);
    h->is |= BIT(source);
    irqbed_irq_post(IRQBED_CTRL(h), irqbed_ahci_vector(h, source));
}

void irqbed_ahci_ccc_completion(IrqbedAhciPort *p)
{
    IrqbedAhci *h = p->hba;
    uint32_t limit = FIELD_EX32(h->ccc.ctl, HBA_CCC_CTL, CC);

    if (!irqbed_ahci_ccc_is_enabled(h) || !(h->ccc.ports & BIT(p->nr))) {
        return;
    }
    h->ccc.completions++;
    irqbed_ahci_ccc_update(h);
    if (limit && h->ccc.completions >= limit) {
        fire(h);
    }
}

static void ccc_timeout(void *opaque)
{
    fire(opaque);
}

void irqbed_ahci_ccc_write(IrqbedAhci *h, uint32_t value)
{
    uint32_t en = value & R_HBA_CCC_CTL_EN_MASK;
    uint32_t rw = R_HBA_CCC_CTL_CC_MASK | R_HBA_CCC_CTL_TV_MASK;
    uint32_t old = h->ccc.ctl;

    if (!irqbed_ahci_has_ccc(h)) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(h), "CCC_CTL without CAP.CCCS",
                                value);
        return;
    }
    if (old & R_HBA_CCC_CTL_EN_MASK) {
        if ((value ^ old) & rw) {
            irqbed_ctrl_guest_error(IRQBED_CTRL(h),
                                    "CCC_CTL changed while enabled", value);
        }
        rw = 0;
    }
    h->ccc.ctl = (old & ~(rw | R_HBA_CCC_CTL_EN_MASK)) | (value & rw) | en;
    if (en != (old & R_HBA_CCC_CTL_EN_MASK)) {
        load(&h->ccc);
    }
    irqbed_ahci_ccc_update(h);
}

void irqbed_ahci_ccc_select(IrqbedAhci *h, uint32_t ports)
{
    if (irqbed_ahci_has_ccc(h)) {
        h->ccc.ports = ports & irqbed_ahci_ports_mask(h);
        irqbed_ahci_ccc_update(h);
    }
}

void irqbed_ahci_ccc_reset(IrqbedAhci *h)
{
    h->ccc.ctl = 0;
    h->ccc.ports = 0;
    if (irqbed_ahci_has_ccc(h)) {
        h->ccc.ctl = FIELD_DP32(h->ccc.ctl, HBA_CCC_CTL, INT, h->nr_ports);
        h->ccc.ctl = FIELD_DP32(h->ccc.ctl, HBA_CCC_CTL, CC, 1);
        h->ccc.ctl = FIELD_DP32(h->ccc.ctl, HBA_CCC_CTL, TV, 1);
    }
    load(&h->ccc);
}

void irqbed_ahci_ccc_realize(IrqbedAhci *h)
{
    h->ccc.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, ccc_timeout, h);
}

void irqbed_ahci_ccc_unrealize(IrqbedAhci *h)
{
    g_clear_pointer(&h->ccc.timer, timer_free);
}
