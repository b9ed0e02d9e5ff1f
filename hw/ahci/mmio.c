/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Registers, AHCI 1.3.1, 3: stage D1.  Decoding only: what a write does is in
 * port.c, irq.c and ccc.c.
 *
 * Reads of any size within a dword are good, writes are whole dwords; 64-bit
 * accesses are two of 32 bits, the lower address first.
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "ahci.h"
#include "trace.h"

static uint32_t cap_read(IrqbedAhci *h)
{
    uint32_t cap = R_HBA_CAP_PMD_MASK | R_HBA_CAP_SAM_MASK |
                   R_HBA_CAP_SCLO_MASK | R_HBA_CAP_SNCQ_MASK |
                   R_HBA_CAP_S64A_MASK;

    cap = FIELD_DP32(cap, HBA_CAP, NP, h->nr_ports - 1);
    cap = FIELD_DP32(cap, HBA_CAP, NCS, IRQBED_CTRL(h)->knobs.queue_depth - 1);
    cap = FIELD_DP32(cap, HBA_CAP, ISS, IRQBED_AHCI_SPEED_GEN3);
    cap = FIELD_DP32(cap, HBA_CAP, CCCS, irqbed_ahci_has_ccc(h));
    return cap;
}

static uint32_t hba_read(IrqbedAhci *h, hwaddr addr)
{
    switch (addr) {
    case A_HBA_CAP:         /* RO */
        return cap_read(h);
    case A_HBA_GHC:         /* RW, RO */
        return irqbed_ahci_ghc(h);
    case A_HBA_IS:          /* R/W1C */
        irqbed_ahci_hba_status_read(h);
        return h->is;
    case A_HBA_PI:          /* RO */
        return irqbed_ahci_ports_mask(h);
    case A_HBA_VS:          /* RO */
        return h->ich9 ? IRQBED_AHCI_VS_1_0 : IRQBED_AHCI_VS_1_3_1;
    case A_HBA_CCC_CTL:     /* RW, INT is RO */
        return h->ccc.ctl;
    case A_HBA_CCC_PORTS:   /* RW */
        return h->ccc.ports;
    case A_HBA_CAP2:        /* RO */
        return R_HBA_CAP2_BOH_MASK;
    case A_HBA_BOHC:        /* RW, OOC is R/W1C */
        return h->bohc;
    default:                /* no enclosure management; reserved */
        return 0;
    }
}

/* 10.6: there is no firmware that would own the HBA or want an SMI. */
static void bohc_write(IrqbedAhci *h, uint32_t value)
{
    uint32_t rw = R_HBA_BOHC_BOS_MASK | R_HBA_BOHC_OOS_MASK |
                  R_HBA_BOHC_SOOE_MASK | R_HBA_BOHC_BB_MASK;
    uint32_t ooc = h->bohc & R_HBA_BOHC_OOC_MASK & ~value;

    if (value & ~h->bohc & R_HBA_BOHC_OOS_MASK) {
        ooc = R_HBA_BOHC_OOC_MASK;
    }
    h->bohc = (value & rw) | ooc;
}

static void ghc_write(IrqbedAhci *h, uint32_t value)
{
    if (value & R_HBA_GHC_HR_MASK) {
        irqbed_ahci_hba_reset(h);
        return;
    }
    h->ghc = value & R_HBA_GHC_IE_MASK;
    irqbed_ahci_irq_refresh(h);
}

static void hba_write(IrqbedAhci *h, hwaddr addr, uint32_t value)
{
    switch (addr) {
    case A_HBA_GHC:         /* RW, RO */
        ghc_write(h, value);
        break;
    case A_HBA_IS:          /* R/W1C */
        irqbed_ahci_hba_ack(h, value);
        break;
    case A_HBA_CCC_CTL:     /* RW, INT is RO */
        irqbed_ahci_ccc_write(h, value);
        break;
    case A_HBA_CCC_PORTS:   /* RW */
        irqbed_ahci_ccc_select(h, value);
        break;
    case A_HBA_BOHC:        /* RW, OOC is R/W1C */
        bohc_write(h, value);
        break;
    case A_HBA_CAP:         /* HwInit: drivers write back what they read */
    case A_HBA_PI:
    case A_HBA_CAP2:
        break;
    default:                /* RO, reserved */
        irqbed_ctrl_guest_error(IRQBED_CTRL(h), "write to read-only register",
                                addr);
        break;
    }
}

static uint32_t cmd_read(IrqbedAhciPort *p)
{
    uint32_t cmd = p->cmd | R_PORT_CMD_SUD_MASK | R_PORT_CMD_POD_MASK |
                   R_PORT_CMD_HPCP_MASK;
    bool fr = p->cmd & R_PORT_CMD_FRE_MASK;

    cmd = FIELD_DP32(cmd, PORT_CMD, CCS, p->slot);
    cmd = FIELD_DP32(cmd, PORT_CMD, FR, fr);
    return FIELD_DP32(cmd, PORT_CMD, CR,
                      fr && (p->cmd & R_PORT_CMD_ST_MASK));
}

static uint32_t port_read(IrqbedAhciPort *p, hwaddr addr)
{
    switch (addr) {
    case A_PORT_CLB:        /* RW */
        return p->clb;
    case A_PORT_CLBU:       /* RW */
        return p->clb >> 32;
    case A_PORT_FB:         /* RW */
        return p->fb;
    case A_PORT_FBU:        /* RW */
        return p->fb >> 32;
    case A_PORT_IS:         /* R/W1C, RO */
        irqbed_ahci_port_status_read(p);
        return irqbed_ahci_port_is(p);
    case A_PORT_IE:         /* RW */
        return p->ie;
    case A_PORT_CMD:        /* RW, RO */
        return cmd_read(p);
    case A_PORT_TFD:        /* RO */
        return p->tfd;
    case A_PORT_SIG:        /* RO */
        return p->sig;
    case A_PORT_SSTS:       /* RO */
        return p->ssts;
    case A_PORT_SCTL:       /* RW */
        return p->sctl;
    case A_PORT_SERR:       /* R/W1C */
        return p->serr;
    case A_PORT_SACT:       /* R/W1S */
        return p->sact;
    case A_PORT_CI:         /* R/W1S */
        return p->ci;
    default:                /* no notification, FBS, DevSleep; reserved */
        return 0;
    }
}

static void port_write(IrqbedAhciPort *p, hwaddr addr, uint32_t value)
{
    switch (addr) {
    case A_PORT_CLB:        /* RW */
        p->clb = deposit64(p->clb, 0, 32, value & -AHCI_CLB_ALIGN);
        break;
    case A_PORT_CLBU:       /* RW */
        p->clb = deposit64(p->clb, 32, 32, value);
        break;
    case A_PORT_FB:         /* RW */
        p->fb = deposit64(p->fb, 0, 32, value & -AHCI_FB_ALIGN);
        break;
    case A_PORT_FBU:        /* RW */
        p->fb = deposit64(p->fb, 32, 32, value);
        break;
    case A_PORT_IS:         /* R/W1C, RO */
        irqbed_ahci_port_ack(p, value);
        break;
    case A_PORT_IE:         /* RW */
        irqbed_ahci_port_enable(p, value & IRQBED_AHCI_IE_MASK);
        break;
    case A_PORT_CMD:        /* RW, RO */
        irqbed_ahci_port_command(p, value);
        break;
    case A_PORT_SCTL:       /* RW */
        irqbed_ahci_port_control(p, value);
        break;
    case A_PORT_SERR:       /* R/W1C */
        irqbed_ahci_port_serr_ack(p, value);
        break;
    case A_PORT_SACT:       /* R/W1S */
        irqbed_ahci_port_activate(p, value);
        break;
    case A_PORT_CI:         /* R/W1S */
        irqbed_ahci_port_issue(p, value);
        break;
    case A_PORT_SNTF:       /* R/W1C, never set */
        break;
    default:                /* RO, reserved */
        irqbed_ctrl_guest_error(IRQBED_CTRL(p->hba),
                                "write to read-only port register", addr);
        break;
    }
}

/* The port whose registers hold @addr, or NULL; makes @addr relative to it. */
static IrqbedAhciPort *port_at(IrqbedAhci *h, hwaddr *addr)
{
    hwaddr offset = *addr - IRQBED_AHCI_PORT_BASE;

    if (*addr < IRQBED_AHCI_PORT_BASE ||
        offset / IRQBED_AHCI_PORT_BYTES >= h->nr_ports) {
        return NULL;
    }
    *addr = offset % IRQBED_AHCI_PORT_BYTES;
    return &h->ports[offset / IRQBED_AHCI_PORT_BYTES];
}

static uint64_t mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    IrqbedAhci *h = opaque;
    const char *name = IRQBED_CTRL(h)->name;
    hwaddr offset = addr & ~3;
    IrqbedAhciPort *p = port_at(h, &offset);
    uint32_t value;

    if (irqbed_ctrl_is_removed(IRQBED_CTRL(h))) {
        return UINT64_MAX;
    }
    value = p ? port_read(p, offset) : hba_read(h, offset);
    trace_irqbed_ahci_mmio_read(name, addr, value);
    return extract32(value, addr % 4 * 8, size * 8);
}

static void mmio_write(void *opaque, hwaddr addr, uint64_t value,
                       unsigned size)
{
    IrqbedAhci *h = opaque;
    IrqbedAhciPort *p;

    trace_irqbed_ahci_mmio_write(IRQBED_CTRL(h)->name, addr,
                                 value);
    if (irqbed_ctrl_is_removed(IRQBED_CTRL(h))) {
        return;
    }
    if (size != 4) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(h), "write of less than a dword",
                                addr);
        return;
    }
    p = port_at(h, &addr);
    if (p) {
        port_write(p, addr, value);
    } else {
        hba_write(h, addr, value);
    }
}

const MemoryRegionOps irqbed_ahci_mmio_ops = {
    .read = mmio_read,
    .write = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 4 },
};
