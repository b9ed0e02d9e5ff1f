/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a guest sets in a drive and asks about it: SET FEATURES, SET MULTIPLE
 * MODE, power modes, SMART.  ACS-2, 7.  None of it touches the medium, and no
 * mode but sleep changes how long a command takes.
 */

#include "qemu/osdep.h"
#include "ahci.h"

static bool is_transfer_mode(uint8_t mode)
{
    uint8_t number = mode & ATA_MODE_NUMBER_MASK;

    switch (mode & ATA_MODE_KIND_MASK) {
    case ATA_MODE_PIO_DEFAULT:
        return number <= 1;
    case ATA_MODE_PIO_FLOW:
        return number <= ATA_PIO_MAX;
    case ATA_MODE_MWDMA:
        return number <= ATA_MWDMA_MAX;
    case ATA_MODE_UDMA:
        return number <= ATA_UDMA_MAX;
    default:
        return false;
    }
}

void irqbed_ahci_set_features(IrqbedAhciReq *r)
{
    AtaState *ata = &r->port->drive->ata;

    switch (r->fis.feature0) {
    case ATA_FEAT_WRITE_CACHE_ON:
    case ATA_FEAT_WRITE_CACHE_OFF:
        ata->write_cache = r->fis.feature0 == ATA_FEAT_WRITE_CACHE_ON;
        break;
    case ATA_FEAT_LOOK_AHEAD_ON:
    case ATA_FEAT_LOOK_AHEAD_OFF:
        ata->look_ahead = r->fis.feature0 == ATA_FEAT_LOOK_AHEAD_ON;
        break;
    case ATA_FEAT_TRANSFER_MODE:
        if (!is_transfer_mode(r->fis.count0)) {
            irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        } else if (r->fis.count0 >= ATA_MODE_MWDMA) {
            ata->transfer_mode = r->fis.count0;
        }
        break;
    case ATA_FEAT_KEEP_SETTINGS:
    case ATA_FEAT_REVERT_SETTINGS:
        break;
    default:
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        break;
    }
}

/* A power of two of sectors, not more than a PIO setup FIS can count. */
void irqbed_ahci_set_multiple(IrqbedAhciReq *r)
{
    IrqbedAhciDrive *d = r->port->drive;
    uint8_t sectors = r->fis.count0;

    if (sectors > irqbed_ahci_drive_max_multiple(d) ||
        (sectors & (sectors - 1))) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    d->ata.multiple = sectors;
}

/* STANDBY, IDLE, their immediate forms, SLEEP.  Their timers never expire. */
void irqbed_ahci_power(IrqbedAhciReq *r)
{
    AtaState *ata = &r->port->drive->ata;

    switch (r->fis.command) {
    case ATA_STANDBY:
    case ATA_STANDBY_IMMEDIATE:
        ata->power = ATA_POWER_STANDBY;
        break;
    case ATA_SLEEP:
        ata->power = ATA_POWER_SLEEP;
        break;
    default:
        ata->power = ATA_POWER_IDLE;
        break;
    }
}

void irqbed_ahci_check_power(IrqbedAhciReq *r)
{
    r->out_count = r->port->drive->ata.power;
}

/* A drive that measures nothing, and is in good health. */
static void smart_data(IrqbedAhciReq *r)
{
    uint8_t *data = irqbed_ahci_ata_buffer(r, ATA_LOG_PAGE_BYTES);

    stw_le_p(data, 1);          /* revision; no attribute follows */
    irqbed_ahci_checksum(data);
    irqbed_ahci_ata_reply(r, ATA_LOG_PAGE_BYTES);
}

void irqbed_ahci_smart(IrqbedAhciReq *r)
{
    AtaState *ata = &r->port->drive->ata;

    if (r->fis.lba1 != ATA_SMART_LBA_MID ||
        r->fis.lba2 != ATA_SMART_LBA_HIGH ||
        (!ata->smart && r->fis.feature0 != ATA_SMART_ENABLE)) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    switch (r->fis.feature0) {
    case ATA_SMART_READ_DATA:
        smart_data(r);
        break;
    case ATA_SMART_ENABLE:
    case ATA_SMART_DISABLE:
        ata->smart = r->fis.feature0 == ATA_SMART_ENABLE;
        break;
    case ATA_SMART_AUTOSAVE:
    case ATA_SMART_RETURN_STATUS:   /* good: the LBA comes back unchanged */
        break;
    default:
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        break;
    }
}
