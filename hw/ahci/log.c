/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * READ LOG EXT and READ LOG DMA EXT: the general purpose log directory and the
 * queued error log, ACS-2, 7.24 and annex A; Serial ATA 3.1, 13.7.3.
 */

#include "qemu/osdep.h"
#include "ahci.h"

/* Fields of the queued error log */
enum {
    QUEUE_ERROR_TAG = 0,        /* or ATA_LOG_NCQ_NOT_QUEUED */
    QUEUE_ERROR_STATUS = 2,
    QUEUE_ERROR_ERROR = 3,
    QUEUE_ERROR_LBA0 = 4,
    QUEUE_ERROR_DEVICE = 7,
    QUEUE_ERROR_LBA3 = 8,
    QUEUE_ERROR_COUNT0 = 12,
};

void irqbed_ahci_checksum(uint8_t *page)
{
    uint8_t sum = 0;
    unsigned i;

    for (i = 0; i < ATA_LOG_PAGE_BYTES - 1; i++) {
        sum += page[i];
    }
    page[ATA_LOG_PAGE_BYTES - 1] = -sum;
}

void irqbed_ahci_log_queue_error(IrqbedAhciReq *r, uint8_t status,
                                 uint8_t error)
{
    uint8_t *log = r->port->drive->ata.queue_error;

    memset(log, 0, ATA_LOG_PAGE_BYTES);
    log[QUEUE_ERROR_TAG] = irqbed_ahci_is_queued(r) ?
                           r->core.tag : ATA_LOG_NCQ_NOT_QUEUED;
    log[QUEUE_ERROR_STATUS] = status;
    log[QUEUE_ERROR_ERROR] = error;
    stw_le_p(&log[QUEUE_ERROR_LBA0], r->out_lba);
    log[QUEUE_ERROR_LBA0 + 2] = r->out_lba >> 16;
    log[QUEUE_ERROR_DEVICE] = r->out_device;
    stw_le_p(&log[QUEUE_ERROR_LBA3], r->out_lba >> 24);
    log[QUEUE_ERROR_LBA3 + 2] = r->out_lba >> 40;
    stw_le_p(&log[QUEUE_ERROR_COUNT0], r->out_count);
    irqbed_ahci_checksum(log);
}

static void directory(uint8_t *page)
{
    stw_le_p(page, 1);                              /* version */
    stw_le_p(&page[2 * ATA_LOG_NCQ_ERROR], 1);      /* pages of each log */
}

void irqbed_ahci_read_log(IrqbedAhciReq *r)
{
    AtaState *ata = &r->port->drive->ata;
    uint16_t page = r->fis.lba4 << 8 | r->fis.lba1;
    uint8_t *buf;

    if (page || r->sectors != 1 || (r->fis.lba0 != ATA_LOG_DIRECTORY &&
                                    r->fis.lba0 != ATA_LOG_NCQ_ERROR)) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    buf = irqbed_ahci_ata_buffer(r, ATA_LOG_PAGE_BYTES);
    if (r->fis.lba0 == ATA_LOG_DIRECTORY) {
        directory(buf);
    } else {
        memcpy(buf, ata->queue_error, ATA_LOG_PAGE_BYTES);
        /* The host knows: the drive takes commands again. */
        ata->queue_failed = false;
    }
    irqbed_ahci_ata_reply(r, ATA_LOG_PAGE_BYTES);
}
