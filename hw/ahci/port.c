/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A port: its command engine and its link, AHCI 1.3.1, 5.3 and 10.
 *
 *   stopped --ST, FRE--> running --error--> halted (PxCI, PxSACT frozen)
 *      ^                    |                  |
 *      +---ST cleared-------+------------------+   PxCI = PxSACT = 0
 *
 * While running, slots of PxCI are fetched in turn.  A queued command leaves
 * PxCI at once and PxSACT when it is done; any other makes the drive busy
 * (PxTFD) and leaves PxCI when it is done, and nothing is fetched meanwhile.
 *
 * Link: a reset of the port (PxSCTL.DET 1, then 0), a drive plugged in, or the
 * end of offline mode sets PxSERR.DIAG.X; the drive's register FIS after that
 * is taken, and PxTFD shows it ready, once PxCMD.FRE is set and DIAG.X cleared.
 * After power-on and HBA reset DIAG.X is clear, as firmware would leave it.
 * All of this takes no time.
 */

#include "qemu/osdep.h"
#include "ahci.h"
#include "trace.h"

#define CMD_RW (R_PORT_CMD_ST_MASK | R_PORT_CMD_FRE_MASK | \
                R_PORT_CMD_ATAPI_MASK | R_PORT_CMD_DLAE_MASK)

static bool is_started(const IrqbedAhciPort *p)
{
    return p->cmd & R_PORT_CMD_ST_MASK;
}

/* A drive, and no fault between it and the port. */
static bool has_link(const IrqbedAhciPort *p)
{
    return p->drive && !irqbed_ctrl_link_is_down(IRQBED_CTRL(p->hba), p->nr);
}

/* May a command be sent to the drive now? */
static bool is_ready(const IrqbedAhciPort *p)
{
    return is_started(p) && (p->cmd & R_PORT_CMD_FRE_MASK) && !p->halted &&
           p->drive && !(p->tfd & (ATA_STS_BSY | ATA_STS_DRQ)) &&
           FIELD_EX32(p->ssts, PORT_SSTS, DET) == AHCI_DET_ESTABLISHED;
}

/*
 * The first of PxCI from the slot after the last one on, or from slot 0 after
 * a start; AHCI 1.3.1, 3.3.7: CCS.  PxCI is not 0.
 */
static unsigned next_slot(const IrqbedAhciPort *p)
{
    unsigned slot = p->next;

    while (!(p->ci & BIT(slot))) {
        slot = (slot + 1) % IRQBED_AHCI_MAX_SLOTS;
    }
    return slot;
}

void irqbed_ahci_port_run(IrqbedAhciPort *p)
{
    while (p->ci && is_ready(p)) {
        p->slot = next_slot(p);
        p->next = (p->slot + 1) % IRQBED_AHCI_MAX_SLOTS;
        irqbed_ahci_fetch(p, p->slot);
    }
    irqbed_ahci_ccc_update(p->hba);
}

/* Bits the guest sets in PxCI or PxSACT that it may set. */
static uint32_t allowed_slots(IrqbedAhciPort *p, uint32_t slots,
                              const char *what)
{
    uint32_t allowed = is_started(p) ? irqbed_ahci_slots_mask(p->hba) : 0;

    if (slots & ~allowed) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(p->hba), what, slots & ~allowed);
    }
    return slots & allowed;
}

void irqbed_ahci_port_issue(IrqbedAhciPort *p, uint32_t slots)
{
    p->ci |= allowed_slots(p, slots, "PxCI: port stopped, or no such slot");
    irqbed_ahci_port_run(p);
}

void irqbed_ahci_port_activate(IrqbedAhciPort *p, uint32_t slots)
{
    p->sact |= allowed_slots(p, slots,
                             "PxSACT: port stopped, or no such slot");
}

void irqbed_ahci_port_abandon(IrqbedAhciPort *p)
{
    unsigned i;

    for (i = 0; i < IRQBED_AHCI_MAX_SLOTS; i++) {
        irqbed_req_clear(&p->reqs[i].core);
    }
    irqbed_latency_idle(&IRQBED_CTRL(p->hba)->media[p->nr]);
    p->queued = 0;
}

void irqbed_ahci_port_halt(IrqbedAhciPort *p)
{
    p->halted = true;
    irqbed_ahci_port_abandon(p);
}

void irqbed_ahci_port_clear(IrqbedAhciPort *p)
{
    irqbed_ahci_port_abandon(p);
    p->ci = 0;
    p->sact = 0;
    p->slot = 0;
    p->next = 0;
    p->halted = false;
    irqbed_ahci_ccc_update(p->hba);
}

void irqbed_ahci_port_command(IrqbedAhciPort *p, uint32_t cmd)
{
    IrqbedCtrl *c = IRQBED_CTRL(p->hba);
    uint32_t rw = cmd & CMD_RW;
    bool was_started = is_started(p);

    if (cmd & R_PORT_CMD_CLO_MASK) {
        if (was_started) {
            irqbed_ctrl_guest_error(c, "PxCMD.CLO while started", cmd);
        } else {
            p->tfd &= ~(ATA_STS_BSY | ATA_STS_DRQ);
        }
    }
    if ((rw & R_PORT_CMD_ST_MASK) && !(rw & R_PORT_CMD_FRE_MASK)) {
        irqbed_ctrl_guest_error(c, "PxCMD.ST without PxCMD.FRE", cmd);
        /* Cleared under a running engine, it stays. */
        rw |= was_started ? p->cmd & R_PORT_CMD_FRE_MASK : 0;
    }
    trace_irqbed_ahci_port(c->name, p->nr, p->cmd, rw);
    p->cmd = rw;
    if (was_started && !is_started(p)) {
        irqbed_ahci_port_clear(p);
    }
    irqbed_ahci_port_signature(p);
    irqbed_ahci_port_run(p);
}

static void link_down(IrqbedAhciPort *p, uint32_t det)
{
    irqbed_ahci_port_clear(p);
    p->ssts = FIELD_DP32(0, PORT_SSTS, DET, det);
    p->tfd = ATA_STS_NO_DEVICE;
    p->sig = AHCI_SIG_NONE;
    p->signature_due = false;
}

static void link_up(IrqbedAhciPort *p)
{
    uint32_t limit = FIELD_EX32(p->sctl, PORT_SCTL, SPD);
    uint32_t speed = limit ? MIN(limit, IRQBED_AHCI_SPEED_GEN3)
                           : IRQBED_AHCI_SPEED_GEN3;

    p->ssts = FIELD_DP32(0, PORT_SSTS, DET, AHCI_DET_ESTABLISHED);
    p->ssts = FIELD_DP32(p->ssts, PORT_SSTS, SPD, speed);
    p->ssts = FIELD_DP32(p->ssts, PORT_SSTS, IPM, 1);
    irqbed_ahci_ata_reset(p->drive, true);
    p->signature_due = true;
    trace_irqbed_ahci_link(IRQBED_CTRL(p->hba)->name, p->nr,
                           p->ssts);
}

/* A link that comes up while software runs; @diag: PxSERR bits it sees. */
static void link_exchanged(IrqbedAhciPort *p, uint32_t diag)
{
    link_up(p);
    p->tfd = ATA_STS_BSY;
    p->serr |= diag;
    irqbed_ahci_port_event(p, R_PORT_IS_PCS_MASK | R_PORT_IS_PRCS_MASK);
    irqbed_ahci_port_signature(p);
}

void irqbed_ahci_port_control(IrqbedAhciPort *p, uint32_t sctl)
{
    uint32_t old = FIELD_EX32(p->sctl, PORT_SCTL, DET);
    uint32_t det = FIELD_EX32(sctl, PORT_SCTL, DET);

    if (det != old && (is_started(p) || (det && det != AHCI_DET_COMRESET &&
                                         det != AHCI_DET_OFFLINE))) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(p->hba),
                                "PxSCTL.DET: reserved, or port started", sctl);
        det = old;
    }
    p->sctl = FIELD_DP32(sctl, PORT_SCTL, DET, det) &
              (R_PORT_SCTL_DET_MASK | R_PORT_SCTL_SPD_MASK |
               R_PORT_SCTL_IPM_MASK);
    if (det == old) {
        return;
    }
    if (det) {
        link_down(p, det == AHCI_DET_OFFLINE ? det : AHCI_DET_NONE);
    } else if (has_link(p)) {
        link_exchanged(p, R_PORT_SERR_DIAG_X_MASK);
    }
}

void irqbed_ahci_port_signature(IrqbedAhciPort *p)
{
    if (!p->signature_due || !(p->cmd & R_PORT_CMD_FRE_MASK) ||
        (p->serr & R_PORT_SERR_DIAG_X_MASK)) {
        return;
    }
    p->signature_due = false;
    p->sig = AHCI_SIG_ATA;
    if (!irqbed_ahci_fis_d2h(p, NULL, ATA_STS_GOOD, ATA_ERR_DIAGNOSTIC_PASSED,
                             false)) {
        irqbed_ahci_port_halt(p);
        irqbed_ahci_port_event(p, R_PORT_IS_HBFS_MASK);
    }
    irqbed_ahci_port_run(p);
}

void irqbed_ahci_port_plug(IrqbedAhciPort *p, IrqbedAhciDrive *drive)
{
    p->drive = drive;
    /* Before the machine runs, its reset brings the link up. */
    if (DEVICE(drive)->hotplugged && has_link(p) &&
        !FIELD_EX32(p->sctl, PORT_SCTL, DET)) {
        link_exchanged(p, R_PORT_SERR_DIAG_X_MASK | R_PORT_SERR_DIAG_N_MASK);
    }
}

void irqbed_ahci_port_link_lost(IrqbedAhciPort *p)
{
    uint32_t ci = p->ci;
    uint32_t sact = p->sact;
    bool was_up = FIELD_EX32(p->ssts, PORT_SSTS, DET) == AHCI_DET_ESTABLISHED;

    link_down(p, FIELD_EX32(p->sctl, PORT_SCTL, DET) == AHCI_DET_OFFLINE ?
              AHCI_DET_OFFLINE : AHCI_DET_NONE);
    /* Commands under way stay as they are until software stops the port. */
    p->ci = ci;
    p->sact = sact;
    if (was_up) {
        p->serr |= R_PORT_SERR_DIAG_N_MASK;
        irqbed_ahci_port_event(p, R_PORT_IS_PRCS_MASK);
    }
    irqbed_ahci_ccc_update(p->hba);
}

void irqbed_ahci_port_link_back(IrqbedAhciPort *p)
{
    if (p->drive && !FIELD_EX32(p->sctl, PORT_SCTL, DET)) {
        link_exchanged(p, R_PORT_SERR_DIAG_X_MASK | R_PORT_SERR_DIAG_N_MASK);
    }
}

void irqbed_ahci_port_unplug(IrqbedAhciPort *p)
{
    irqbed_ahci_port_link_lost(p);
    p->drive = NULL;
}

void irqbed_ahci_port_reset(IrqbedAhciPort *p)
{
    link_down(p, AHCI_DET_NONE);
    p->clb = 0;
    p->fb = 0;
    p->is = 0;
    p->ie = 0;
    p->cmd = 0;
    p->sctl = 0;
    p->serr = 0;
    if (has_link(p)) {
        link_up(p);
    }
}
