/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One command of a slot: D1, D2 (command list, command table, PRD table) and
 * D4 (FISes, PxTFD, PxCI, PxSACT, PxIS).  AHCI 1.3.1, 4.2, 5.3 and 6.
 *
 * Whatever the guest gives is checked here or by the command: addresses by the
 * DMA helpers, alignment, lengths and counts before they are used.  A command
 * that the HBA cannot carry out stops the port with HBFS, HBDS, IFS or OFS.
 */

#include "qemu/osdep.h"
#include "ahci.h"
#include "trace.h"

#define PRDS_AT_ONCE 64

/* ---- D2: the PRD table ---- */

static bool prd_is_valid(const AhciPrd *prd)
{
    return !(le64_to_cpu(prd->dba) & 1) && (le32_to_cpu(prd->dbc) & 1);
}

/* Up to @count entries from @prds; returns the bytes they cover, 0: bad. */
static uint32_t take_prds(IrqbedAhciReq *r, const AhciPrd *prds,
                          uint32_t count, uint32_t bytes)
{
    IrqbedReq *core = &r->core;
    uint32_t used = core->nr_segments;
    uint32_t got = 0;
    uint32_t i;

    irqbed_req_segments(core, used + count);
    for (i = 0; i < count && got < bytes; i++) {
        uint32_t dbc = le32_to_cpu(prds[i].dbc);
        uint32_t room = (dbc & AHCI_PRD_DBC_MASK) + 1;

        if (!prd_is_valid(&prds[i])) {
            irqbed_ctrl_guest_error(core->ctrl, "PRD: odd address or length",
                                    dbc);
            return 0;
        }
        core->segments[used].addr = le64_to_cpu(prds[i].dba);
        core->segments[used].len = MIN(room, bytes - got);
        r->prd_irq |= dbc & AHCI_PRD_IRQ && room <= bytes - got;
        got += core->segments[used].len;
        used++;
    }
    core->nr_segments = used;
    return got;
}

bool irqbed_ahci_fetch_prdt(IrqbedAhciReq *r, uint32_t bytes)
{
    uint64_t table = r->header.ctba + AHCI_PRDT_OFFSET;
    uint32_t left = r->header.prdtl;
    bool in = r->ata->proto == ATA_PROTO_PIO_IN ||
              r->ata->proto == ATA_PROTO_DMA_IN ||
              r->ata->proto == ATA_PROTO_NCQ_IN;
    AhciPrd prds[PRDS_AT_ONCE];

    r->core.nr_segments = 0;
    while (bytes && left) {
        uint32_t count = MIN(left, PRDS_AT_ONCE);
        uint32_t got = 0;

        if (irqbed_dma_read(r->core.ctrl, table, prds,
                            count * sizeof(AhciPrd))) {
            got = take_prds(r, prds, count, bytes);
        }
        if (!got) {
            r->fatal = R_PORT_IS_HBFS_MASK;
            return false;
        }
        table += count * sizeof(AhciPrd);
        left -= count;
        bytes -= got;
    }
    if (bytes) {
        irqbed_ctrl_guest_error(r->core.ctrl, "PRD table too short by bytes",
                                bytes);
        r->fatal = in ? R_PORT_IS_OFS_MASK : R_PORT_IS_IFS_MASK;
        return false;
    }
    return true;
}

/* ---- D1 and D2: command list and command FIS ---- */

/* Returns the PxIS bits of what is wrong, 0 if nothing is. */
static uint32_t read_command(IrqbedAhciPort *p, unsigned slot,
                             AhciCmdHeader *header, FisH2d *fis)
{
    IrqbedCtrl *c = IRQBED_CTRL(p->hba);

    if (!irqbed_dma_read(c, p->clb + slot * sizeof(*header), header,
                         sizeof(*header))) {
        return R_PORT_IS_HBFS_MASK;
    }
    header->flags = le16_to_cpu(header->flags);
    header->prdtl = le16_to_cpu(header->prdtl);
    header->ctba = le64_to_cpu(header->ctba);
    if ((header->flags & AHCI_CMD_CFL_MASK) < FIS_H2D_DWORDS ||
        (header->flags & (AHCI_CMD_BIST | AHCI_CMD_PMP_MASK))) {
        irqbed_ctrl_guest_error(c, "command header: flags", header->flags);
        return R_PORT_IS_IFS_MASK;
    }
    if (header->ctba % AHCI_CTBA_ALIGN) {
        irqbed_ctrl_guest_error(c, "command table not aligned", header->ctba);
        return R_PORT_IS_HBFS_MASK;
    }
    if (!irqbed_dma_read(c, header->ctba, fis, sizeof(*fis))) {
        return R_PORT_IS_HBFS_MASK;
    }
    if (fis->type != FIS_H2D || (fis->flags & FIS_PM_PORT_MASK)) {
        irqbed_ctrl_guest_error(c, "command FIS: type or port",
                                fis->type << 8 | fis->flags);
        return R_PORT_IS_IFS_MASK;
    }
    return 0;
}

/* A FIS that sets the control register: software reset, SATA 3.1, 11.4. */
static void control(IrqbedAhciPort *p, unsigned slot,
                    const AhciCmdHeader *header, const FisH2d *fis)
{
    AtaState *ata = &p->drive->ata;
    bool ends = ata->in_soft_reset && !(fis->control & FIS_CONTROL_SRST);

    irqbed_ahci_port_abandon(p);
    ata->in_soft_reset = fis->control & FIS_CONTROL_SRST;
    if (ends) {
        irqbed_ahci_ata_reset(p->drive, false);
        p->ci &= ~BIT(slot);
        p->signature_due = true;
        irqbed_ahci_port_signature(p);
    } else if (header->flags & AHCI_CMD_CLEAR_BUSY) {
        p->ci &= ~BIT(slot);
    } else {
        /* No answer is to come: the slot waits for a reset. */
        p->tfd |= ATA_STS_BSY;
    }
}

/* Which command is it, given what the drive is doing? */
static const AtaCommand *choose(IrqbedAhciPort *p, unsigned slot,
                                const FisH2d *fis)
{
    const AtaCommand *ata = irqbed_ahci_ata_command(fis);
    bool is_queued = ata->proto >= ATA_PROTO_NCQ_IN;

    /* A tag twice, or anything else among queued commands, ends them all. */
    if (p->queued && (!is_queued || (p->queued & BIT(slot)))) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(p->hba),
                                "command breaks the queue", fis->command);
        irqbed_ahci_port_abandon(p);
        p->drive->ata.queue_failed = true;
        return &irqbed_ahci_ata_aborted;
    }
    if (irqbed_ahci_ata_refuses(p->drive, fis)) {
        return &irqbed_ahci_ata_aborted;
    }
    return ata;
}

void irqbed_ahci_fetch(IrqbedAhciPort *p, unsigned slot)
{
    IrqbedAhciReq *r = &p->reqs[slot];
    const AtaCommand *ata;
    AhciCmdHeader header;
    FisH2d fis;
    uint32_t fatal = read_command(p, slot, &header, &fis);

    if (fatal) {
        irqbed_ahci_port_halt(p);
        irqbed_ahci_port_event(p, fatal);
        return;
    }
    if (!(fis.flags & FIS_H2D_COMMAND)) {
        control(p, slot, &header, &fis);
        return;
    }
    ata = choose(p, slot, &fis);
    irqbed_req_arrive(&r->core);
    r->header = header;
    r->fis = fis;
    r->ata = ata;
    r->fatal = 0;
    r->error = 0;
    r->out_error = 0;
    r->prd_irq = false;
    r->bytes = 0;
    irqbed_ahci_ata_prepare(r);
    trace_irqbed_ahci_command(r->core.ctrl->name, p->nr, slot,
                              r->core.seq, fis.command, r->lba, r->sectors);
    if (irqbed_ahci_is_queued(r)) {
        p->ci &= ~BIT(slot);
        p->queued |= BIT(slot);
        if (!irqbed_ahci_fis_d2h(p, r, ATA_STS_GOOD, 0, false)) {
            r->fatal = R_PORT_IS_HBFS_MASK;
        }
    } else {
        p->tfd |= ATA_STS_BSY;
    }
    irqbed_req_schedule(&r->core);
}

/* ---- D4 ---- */

static bool write_byte_count(IrqbedAhciReq *r)
{
    uint32_t prdbc = cpu_to_le32(r->bytes);
    uint64_t header = r->port->clb + r->core.tag * sizeof(AhciCmdHeader);

    return irqbed_dma_write(r->core.ctrl,
                            header + offsetof(AhciCmdHeader, prdbc), &prdbc,
                            sizeof(prdbc));
}

/* FISes of a good PIO transfer but the last register FIS; PxIS bits. */
static uint32_t end_pio(IrqbedAhciReq *r, bool *written)
{
    bool in = r->ata->proto == ATA_PROTO_PIO_IN;
    uint32_t block = irqbed_ahci_ata_block_bytes(r);
    uint32_t blocks = DIV_ROUND_UP(r->bytes, block);
    uint32_t last = r->bytes - (blocks - 1) * block;

    *written &= irqbed_ahci_fis_pio_setup(r, ATA_STS_GOOD | ATA_STS_DRQ,
                                          in ? ATA_STS_GOOD : ATA_STS_BSY,
                                          last);
    /* Of blocks to the drive, the first asks for no interrupt. */
    return in || blocks > 1 ? R_PORT_IS_PSS_MASK : 0;
}

static uint32_t answer_plain(IrqbedAhciReq *r, bool *written)
{
    IrqbedAhciPort *p = r->port;
    bool in = r->ata->proto == ATA_PROTO_PIO_IN;
    uint32_t bits = 0;

    if (r->error) {
        if (p->drive->ata.queue_failed) {
            irqbed_ahci_log_queue_error(r, ATA_STS_BAD, r->error);
        }
        *written = irqbed_ahci_fis_d2h(p, r, ATA_STS_BAD, r->error, true);
        return R_PORT_IS_DHRS_MASK | R_PORT_IS_TFES_MASK;
    }
    if (in || r->ata->proto == ATA_PROTO_PIO_OUT) {
        bits |= end_pio(r, written);
    }
    /* Data to the host ends with its PIO setup FIS. */
    if (!in || p->hba->ich9) {
        *written &= irqbed_ahci_fis_d2h(p, r, ATA_STS_GOOD, r->out_error,
                                        true);
        bits |= R_PORT_IS_DHRS_MASK;
    }
    *written &= write_byte_count(r);
    p->ci &= ~BIT(r->core.tag);
    return bits;
}

static uint32_t answer_queued(IrqbedAhciReq *r, bool *written)
{
    IrqbedAhciPort *p = r->port;

    if (r->error) {
        p->drive->ata.queue_failed = true;
        irqbed_ahci_log_queue_error(r, ATA_STS_BAD, r->error);
        *written = irqbed_ahci_fis_sdb(p, 0, ATA_STS_BAD, r->error);
        return R_PORT_IS_SDBS_MASK | R_PORT_IS_TFES_MASK;
    }
    p->queued &= ~BIT(r->core.tag);
    *written = irqbed_ahci_fis_sdb(p, BIT(r->core.tag), ATA_STS_GOOD, 0);
    return R_PORT_IS_SDBS_MASK;
}

unsigned irqbed_ahci_answer(IrqbedReq *core)
{
    IrqbedAhciReq *r = container_of(core, IrqbedAhciReq, core);
    IrqbedAhciPort *p = r->port;
    bool written = true;
    uint32_t bits = r->fatal;

    core->vector = irqbed_ahci_vector(p->hba, p->nr);
    if (core->dma_failed) {
        bits |= R_PORT_IS_HBDS_MASK;
    } else if (!bits) {
        if (core->ret) {
            irqbed_ahci_ata_medium_error(r);
        }
        bits = irqbed_ahci_is_queued(r) ? answer_queued(r, &written)
                                        : answer_plain(r, &written);
        if (!written) {
            bits |= R_PORT_IS_HBFS_MASK;
        } else if (r->prd_irq && !r->error && !p->hba->ich9) {
            bits |= R_PORT_IS_DPS_MASK;
        }
    }
    irqbed_ahci_port_set(p, bits);
    if (bits & IRQBED_AHCI_IS_ERRORS) {
        irqbed_ahci_port_halt(p);
        return IRQBED_ANSWER_FAILED | IRQBED_ANSWER_IRQ_URGENT;
    }
    irqbed_ahci_ccc_completion(p);
    irqbed_ahci_port_run(p);
    return IRQBED_ANSWER_IRQ;
}
