/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * IDENTIFY DEVICE, ACS-2, 7.12: what a drive says it is and can do.
 */

#include "qemu/osdep.h"
#include "ahci.h"

#define ACS2_AND_BEFORE     0x03f0      /* word 80: ATA-4 ... ACS-2 */
#define WORD_VALID          0x4000      /* of words 83, 84, 87, 93, 119 */
#define SECTORS_PER_PIO_MAX 32768       /* bytes of a DRQ block */

/* Words 82-87: what is supported, and in 85-87 what is on */
enum {
    SUPPORTS_SMART = 1 << 0,            /* word 82 */
    SUPPORTS_POWER = 1 << 3,
    SUPPORTS_WRITE_CACHE = 1 << 5,
    SUPPORTS_LOOK_AHEAD = 1 << 6,
    SUPPORTS_NOP = 1 << 14,
    SUPPORTS_LBA48 = 1 << 10,           /* word 83 */
    SUPPORTS_FLUSH = 1 << 12,
    SUPPORTS_FLUSH_EXT = 1 << 13,
    SUPPORTS_LOGS = 1 << 5,             /* word 84 */
    SUPPORTS_FUA = 1 << 6,
    SUPPORTS_WWN = 1 << 8,
    SUPPORTS_LOG_DMA = 1 << 3,          /* word 119 */
    WORDS_119_120_VALID = 1 << 15,      /* word 86 */
};

uint64_t irqbed_ahci_drive_sectors(const IrqbedAhciDrive *d)
{
    return d->store.bytes / d->store.block_bytes;
}

uint8_t irqbed_ahci_drive_max_multiple(const IrqbedAhciDrive *d)
{
    return MIN(ATA_MAX_MULTIPLE, SECTORS_PER_PIO_MAX / d->store.block_bytes);
}

static void put(uint8_t *id, unsigned word, uint16_t value)
{
    stw_le_p(id + 2 * word, value);
}

/* Two characters to a word, the first in its high byte, blanks after them. */
static void put_string(uint8_t *id, unsigned word, unsigned words,
                       const char *text)
{
    size_t len = strlen(text);
    unsigned i;

    for (i = 0; i < 2 * words; i++) {
        id[2 * word + (i ^ 1)] = i < len ? text[i] : ' ';
    }
}

static void put_capacity(uint8_t *id, const IrqbedAhciDrive *d)
{
    uint64_t sectors = irqbed_ahci_drive_sectors(d);
    uint32_t logical = d->store.block_bytes;
    uint32_t physical = MAX(d->conf.physical_block_size, logical);
    uint16_t sizes = WORD_VALID;

    put(id, 1, 16383);                  /* the geometry of any large drive */
    put(id, 3, 16);
    put(id, 5, logical);                /* retired; some still read it */
    put(id, 6, 63);
    stl_le_p(id + 2 * 60, MIN(sectors, ATA_LBA28_MAX));
    stq_le_p(id + 2 * 100, sectors);
    if (physical > logical) {
        sizes |= 1 << 13 | ctz32(physical / logical);
    }
    if (logical > 512) {
        sizes |= 1 << 12;
        stl_le_p(id + 2 * 117, logical / 2);
    }
    put(id, 106, sizes);
    put(id, 209, WORD_VALID);           /* alignment: none */
}

static void put_modes(uint8_t *id, const AtaState *ata)
{
    uint16_t selected = 0x100 << (ata->transfer_mode & ATA_MODE_NUMBER_MASK);
    bool udma = ata->transfer_mode >= ATA_MODE_UDMA;

    put(id, 53, 0x0006);                /* words 64-70 and 88 are valid */
    put(id, 63, 0x0007 | (udma ? 0 : selected));
    put(id, 64, 0x0003);                /* PIO 3 and 4 */
    put(id, 65, 120);                   /* cycle times, ns */
    put(id, 66, 120);
    put(id, 67, 120);
    put(id, 68, 120);
    put(id, 88, 0x007f | (udma ? selected : 0));
}

static void put_features(uint8_t *id, const IrqbedAhciDrive *d)
{
    uint16_t word82 = SUPPORTS_SMART | SUPPORTS_POWER | SUPPORTS_WRITE_CACHE |
                      SUPPORTS_LOOK_AHEAD | SUPPORTS_NOP;
    uint16_t word83 = SUPPORTS_LBA48 | SUPPORTS_FLUSH | SUPPORTS_FLUSH_EXT;
    uint16_t word84 = WORD_VALID | SUPPORTS_LOGS | SUPPORTS_FUA |
                      (d->wwn ? SUPPORTS_WWN : 0);
    uint16_t off = (d->ata.smart ? 0 : SUPPORTS_SMART) |
                   (d->ata.write_cache ? 0 : SUPPORTS_WRITE_CACHE) |
                   (d->ata.look_ahead ? 0 : SUPPORTS_LOOK_AHEAD);

    put(id, 82, word82);
    put(id, 83, word83 | WORD_VALID);
    put(id, 84, word84);
    put(id, 85, word82 & ~off);
    put(id, 86, word83 | WORDS_119_120_VALID);
    put(id, 87, word84);
    put(id, 119, WORD_VALID | SUPPORTS_LOG_DMA);
    put(id, 120, WORD_VALID | SUPPORTS_LOG_DMA);
}

static void put_sata(uint8_t *id, IrqbedAhciReq *r)
{
    uint32_t speed = FIELD_EX32(r->port->ssts, PORT_SSTS, SPD);

    put(id, 75, r->core.ctrl->knobs.queue_depth - 1);
    /* generations 1 to 3, NCQ, READ LOG DMA EXT equals READ LOG EXT */
    put(id, 76, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8 | 1 << 15);
    put(id, 77, speed << 1);
    put(id, 222, 1 << 12 | 0x7f);       /* serial; up to SATA 3.1 */
}

void irqbed_ahci_identify(IrqbedAhciReq *r)
{
    IrqbedAhciDrive *d = r->port->drive;
    uint8_t *id = irqbed_ahci_ata_buffer(r, ATA_IDENTIFY_BYTES);
    uint8_t max_multiple = irqbed_ahci_drive_max_multiple(d);
    unsigned i;

    put(id, 0, 0x0040);                 /* ATA device, not removable */
    put_string(id, 10, 10, d->serial);
    put_string(id, 23, 4, d->version);
    put_string(id, 27, 20, d->model);
    put(id, 47, 0x8000 | max_multiple);
    put(id, 49, 0x2f00);                /* DMA, LBA, IORDY, standby timer */
    put(id, 50, WORD_VALID);
    put(id, 59, d->ata.multiple ? 0x0100 | d->ata.multiple : 0);
    put(id, 69, 1 << 14 | 1 << 5);      /* trimmed sectors read as zeroes */
    put(id, 80, ACS2_AND_BEFORE);
    put(id, 105, ATA_DSM_MAX_BLOCKS);
    put(id, 169, ATA_DSM_TRIM);
    put(id, 217, d->rotation_rate);
    for (i = 0; i < 4; i++) {
        put(id, 108 + i, d->wwn >> (48 - 16 * i));
    }
    put_capacity(id, d);
    put_modes(id, &d->ata);
    put_features(id, d);
    put_sata(id, r);
    id[510] = 0xa5;                     /* a checksum follows */
    irqbed_ahci_checksum(id);
    irqbed_ahci_ata_reply(r, ATA_IDENTIFY_BYTES);
}
