/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What of an injected fault is the HBA's own: errors of a command, status
 * posted again, an interrupt of a port that is not there, the link.
 */

#include "qemu/osdep.h"
#include "ahci.h"

const char *const irqbed_ahci_fault_statuses[] = {
    "abrt", "unc", "idnf", "icrc", "ifs", "ofs", "hbfs", "hbds", NULL
};

/* In the order of the words: what the drive answers, or the HBA cannot. */
static const struct {
    uint8_t error;
    uint32_t fatal;
} statuses[] = {
    { .error = ATA_ERR_ABRT },
    { .error = ATA_ERR_UNC },
    { .error = ATA_ERR_IDNF },
    { .error = ATA_ERR_ICRC | ATA_ERR_ABRT },
    { .fatal = R_PORT_IS_IFS_MASK },
    { .fatal = R_PORT_IS_OFS_MASK },
    { .fatal = R_PORT_IS_HBFS_MASK },
    { .fatal = R_PORT_IS_HBDS_MASK },
};

QEMU_BUILD_BUG_ON(ARRAY_SIZE(statuses) + 1 !=
                  ARRAY_SIZE(irqbed_ahci_fault_statuses));

static bool fault_status(IrqbedReq *core, uint32_t status)
{
    IrqbedAhciReq *r = container_of(core, IrqbedAhciReq, core);

    if (r->fatal || r->error || status >= ARRAY_SIZE(statuses)) {
        return false;
    }
    r->error = statuses[status].error;
    r->fatal = statuses[status].fatal;
    return true;
}

/* Of a command that is over; the slot may have the next one already. */
static bool fault_twice(IrqbedAhci *h, const IrqbedFaultCall *call)
{
    IrqbedAhciPort *p;

    if (call->req || call->queue >= h->nr_ports ||
        call->tag >= IRQBED_AHCI_MAX_SLOTS) {
        return false;
    }
    p = &h->ports[call->queue];
    irqbed_ahci_port_event(p, irqbed_ahci_is_queued(&p->reqs[call->tag]) ?
                           R_PORT_IS_SDBS_MASK : R_PORT_IS_DHRS_MASK);
    return true;
}

static bool fault_no_source(IrqbedAhci *h)
{
    unsigned port = IRQBED_AHCI_MAX_PORTS - 1;

    if (port < h->nr_ports + irqbed_ahci_has_ccc(h) ||
        !(h->ghc & R_HBA_GHC_IE_MASK)) {
        return false;
    }
    h->is |= BIT(port);
    if (irqbed_ahci_irq_level(IRQBED_CTRL(h), 0)) {
        irqbed_irq_post(IRQBED_CTRL(h), 0);
        return true;
    }
    /* Each port has its vector; this one has the last there is. */
    return irqbed_irq_extra(IRQBED_CTRL(h), IRQBED_CTRL(h)->nr_irqs - 1);
}

static bool fault_link(IrqbedAhci *h, const IrqbedFaultCall *call)
{
    if (call->target >= h->nr_ports) {
        return false;
    }
    if (call->over) {
        irqbed_ahci_port_link_back(&h->ports[call->target]);
    } else {
        irqbed_ahci_port_link_lost(&h->ports[call->target]);
    }
    return true;
}

bool irqbed_ahci_fault(IrqbedCtrl *c, const IrqbedFaultCall *call)
{
    IrqbedAhci *h = IRQBED_AHCI(c);

    switch (call->fault) {
    case IRQBED_FAULT_STATUS:
        return fault_status(call->req, call->status);
    case IRQBED_FAULT_COMPLETE_TWICE:
        return fault_twice(h, call);
    case IRQBED_FAULT_IRQ_NO_SOURCE:
        return fault_no_source(h);
    case IRQBED_FAULT_LINK_DOWN:
        return fault_link(h, call);
    default:
        return false;
    }
}
