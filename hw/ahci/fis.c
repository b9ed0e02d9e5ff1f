/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * FISes from the drive: posted where PxFB points to, and what they say is
 * taken into PxTFD and PxSACT.  AHCI 1.3.1, 4.2.1; Serial ATA 3.1, 10.5.
 *
 * DMA setup FISes are not posted: no bit of theirs asks for an interrupt, and
 * software has no use for them.
 */

#include "qemu/osdep.h"
#include "ahci.h"
#include "trace.h"

/* PxTFD bits that a set device bits FIS leaves alone */
#define TFD_KEPT_BY_SDB (ATA_STS_BSY | ATA_STS_DRQ)

static bool post(IrqbedAhciPort *p, uint32_t offset, const void *fis,
                 uint32_t len)
{
    IrqbedCtrl *c = IRQBED_CTRL(p->hba);

    trace_irqbed_ahci_fis(c->name, p->nr, *(const uint8_t *)fis,
                          p->tfd);
    if (!(p->cmd & R_PORT_CMD_FRE_MASK)) {
        return true;
    }
    return irqbed_dma_write(c, p->fb + offset, fis, len);
}

static void fill(FisD2h *fis, const IrqbedAhciReq *r)
{
    uint64_t lba = r ? r->out_lba : 1;
    uint16_t count = r ? r->out_count : 1;

    fis->lba0 = lba;
    fis->lba1 = lba >> 8;
    fis->lba2 = lba >> 16;
    fis->lba3 = lba >> 24;
    fis->lba4 = lba >> 32;
    fis->lba5 = lba >> 40;
    fis->device = r ? r->out_device : 0;
    fis->count0 = count;
    fis->count1 = count >> 8;
}

static void set_tfd(IrqbedAhciPort *p, uint8_t status, uint8_t error)
{
    p->tfd = FIELD_DP32(status, PORT_TFD, ERR, error);
}

bool irqbed_ahci_fis_d2h(IrqbedAhciPort *p, const IrqbedAhciReq *r,
                         uint8_t status, uint8_t error, bool irq)
{
    FisD2h fis = {
        .type = FIS_D2H,
        .flags = irq ? FIS_D2H_IRQ : 0,
        .status = status,
        .error = error,
    };

    fill(&fis, r);
    set_tfd(p, status, error);
    return post(p, AHCI_RX_D2H, &fis, sizeof(fis));
}

bool irqbed_ahci_fis_pio_setup(IrqbedAhciReq *r, uint8_t status,
                               uint8_t e_status, uint16_t bytes)
{
    FisD2h fis = {
        .type = FIS_PIO_SETUP,
        .flags = FIS_D2H_IRQ |
                 (r->ata->proto == ATA_PROTO_PIO_IN ? FIS_PIO_TO_HOST : 0),
        .status = status,
        .e_status = e_status,
        .bytes = cpu_to_le16(bytes),
    };

    fill(&fis, r);
    set_tfd(r->port, e_status, 0);
    return post(r->port, AHCI_RX_PIO_SETUP, &fis, sizeof(fis));
}

bool irqbed_ahci_fis_sdb(IrqbedAhciPort *p, uint32_t done, uint8_t status,
                         uint8_t error)
{
    FisSdb fis = {
        .type = FIS_SDB,
        .flags = FIS_D2H_IRQ,
        .status = status & ~TFD_KEPT_BY_SDB,
        .error = error,
        .sactive = cpu_to_le32(done),
    };

    p->sact &= ~done;
    set_tfd(p, (p->tfd & TFD_KEPT_BY_SDB) | fis.status, error);
    return post(p, AHCI_RX_SDB, &fis, sizeof(fis));
}
