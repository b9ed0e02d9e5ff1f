/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ATA commands of a drive: what a command FIS means, D2.  ACS-2, 7; Serial ATA
 * 3.1, 13.6 for queued ones.  The table at the end is the list of commands;
 * any other is aborted.
 *
 * A handler either fails the command, or says what is to be done to the medium
 * (core.op and extents) or what is to be sent (reply), and reads the PRD table
 * for as many bytes as the command moves.
 */

#include "qemu/osdep.h"
#include "ahci.h"
#include "trace.h"

static IrqbedAhciDrive *drive_of(IrqbedAhciReq *r)
{
    return r->port->drive;
}

/* ---- what handlers use ---- */

void irqbed_ahci_ata_fail(IrqbedAhciReq *r, uint8_t error)
{
    r->error = error;
    trace_irqbed_ahci_ata_fail(r->core.ctrl->name, r->port->nr,
                               r->core.tag, r->core.seq, r->fis.command,
                               error);
}

static void fail_address(IrqbedAhciReq *r, uint64_t lba)
{
    r->out_lba = lba;
    irqbed_ahci_ata_fail(r, ATA_ERR_IDNF);
}

/* Are all sectors of the command on the medium?  Fails it if not. */
static bool check_range(IrqbedAhciReq *r)
{
    uint64_t total = irqbed_ahci_drive_sectors(drive_of(r));

    if (!(r->fis.device & ATA_DEV_LBA)) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return false;
    }
    if (r->lba >= total || r->sectors > total - r->lba) {
        fail_address(r, MAX(r->lba, total));
        return false;
    }
    return true;
}

uint8_t *irqbed_ahci_ata_buffer(IrqbedAhciReq *r, uint32_t bytes)
{
    irqbed_req_reserve(&r->core, bytes);
    return memset(r->core.buf, 0, bytes);
}

void irqbed_ahci_ata_reply(IrqbedAhciReq *r, uint32_t bytes)
{
    if (irqbed_ahci_fetch_prdt(r, bytes)) {
        r->bytes = bytes;
        r->core.to_guest = bytes;
    }
}

uint32_t irqbed_ahci_ata_block_bytes(const IrqbedAhciReq *r)
{
    const IrqbedAhciDrive *d = r->port->drive;

    if (r->core.op == IRQBED_OP_NONE) {
        return ATA_LOG_PAGE_BYTES;
    }
    return d->store.block_bytes *
           (r->ata->flags & ATA_MULTIPLE ? d->ata.multiple : 1);
}

void irqbed_ahci_ata_medium_error(IrqbedAhciReq *r)
{
    bool reading = r->core.op == IRQBED_OP_READ;

    irqbed_ahci_ata_fail(r, reading ? ATA_ERR_UNC : ATA_ERR_ABRT);
}

/* ---- handlers ---- */

static void ata_abort(IrqbedAhciReq *r)
{
    irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
}

static void ata_good(IrqbedAhciReq *r)
{
}

/* The medium's part of a read, write or verify. */
static bool use_medium(IrqbedAhciReq *r, IrqbedOp op)
{
    IrqbedAhciDrive *d = drive_of(r);
    uint64_t bytes = (uint64_t)r->sectors * d->store.block_bytes;

    if (!check_range(r)) {
        return false;
    }
    if (bytes > IRQBED_MAX_TRANSFER ||
        !irqbed_req_reserve(&r->core, bytes)) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return false;
    }
    d->ata.power = ATA_POWER_ACTIVE;
    r->bytes = bytes;
    r->core.store = &d->store;
    r->core.extents[0].offset = r->lba * d->store.block_bytes;
    r->core.extents[0].bytes = bytes;
    r->core.nr_extents = 1;
    r->core.op = op;
    return true;
}

static void give_up_medium(IrqbedAhciReq *r)
{
    r->core.op = IRQBED_OP_NONE;
    r->core.store = NULL;
    r->core.nr_extents = 0;
}

static void ata_read(IrqbedAhciReq *r)
{
    if (r->ata->flags & ATA_MULTIPLE && !drive_of(r)->ata.multiple) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    if (!use_medium(r, IRQBED_OP_READ)) {
        return;
    }
    if (!irqbed_ahci_fetch_prdt(r, r->bytes)) {
        give_up_medium(r);
        return;
    }
    r->core.to_guest = r->bytes;
}

static void ata_write(IrqbedAhciReq *r)
{
    IrqbedAhciDrive *d = drive_of(r);

    if (d->store.read_only ||
        (r->ata->flags & ATA_MULTIPLE && !d->ata.multiple)) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    if (!use_medium(r, IRQBED_OP_WRITE)) {
        return;
    }
    if (!irqbed_ahci_fetch_prdt(r, r->bytes)) {
        give_up_medium(r);
        return;
    }
    r->core.fua = r->ata->flags & ATA_FUA || !d->ata.write_cache ||
                  (irqbed_ahci_is_queued(r) &&
                   r->fis.device & ATA_DEV_FUA);
}

static void ata_verify(IrqbedAhciReq *r)
{
    if (use_medium(r, IRQBED_OP_READ)) {
        r->bytes = 0;           /* none of them reach the host */
    }
}

static void ata_flush(IrqbedAhciReq *r)
{
    r->core.store = &drive_of(r)->store;
    r->core.op = IRQBED_OP_FLUSH;
}

/* One range of a trim; adjacent ones become one extent. */
static bool trim_range(IrqbedAhciReq *r, uint64_t entry)
{
    IrqbedAhciDrive *d = drive_of(r);
    IrqbedReq *core = &r->core;
    uint64_t lba = extract64(entry, 0, 48);
    uint64_t sectors = extract64(entry, 48, 16);
    uint64_t total = irqbed_ahci_drive_sectors(d);
    uint64_t offset, bytes;
    IrqbedExtent *last = core->nr_extents ?
                         &core->extents[core->nr_extents - 1] : NULL;

    if (!sectors) {
        return true;
    }
    if (lba >= total || sectors > total - lba) {
        fail_address(r, MAX(lba, total));
        return false;
    }
    offset = lba * d->store.block_bytes;
    bytes = sectors * d->store.block_bytes;
    if (last && last->offset + last->bytes == offset) {
        last->bytes += bytes;
    } else {
        core->extents[core->nr_extents].offset = offset;
        core->extents[core->nr_extents].bytes = bytes;
        core->nr_extents++;
    }
    return true;
}

static void ata_trim(IrqbedAhciReq *r)
{
    IrqbedAhciDrive *d = drive_of(r);
    uint64_t ranges[ATA_DSM_RANGES];
    unsigned i;

    if (r->fis.feature0 != ATA_DSM_TRIM || r->sectors != ATA_DSM_MAX_BLOCKS ||
        d->store.read_only) {
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    if (!irqbed_ahci_fetch_prdt(r, sizeof(ranges))) {
        return;
    }
    if (!irqbed_dma_gather(&r->core, ranges, sizeof(ranges))) {
        r->fatal = R_PORT_IS_HBDS_MASK;
        return;
    }
    r->bytes = sizeof(ranges);
    for (i = 0; i < ARRAY_SIZE(ranges); i++) {
        if (!trim_range(r, le64_to_cpu(ranges[i]))) {
            r->core.nr_extents = 0;
            return;
        }
    }
    if (r->core.nr_extents) {
        r->core.store = &d->store;
        r->core.op = IRQBED_OP_ZERO;
    }
}

QEMU_BUILD_BUG_ON(ATA_DSM_RANGES * ATA_DSM_MAX_BLOCKS > IRQBED_MAX_EXTENTS);

static void ata_native_max(IrqbedAhciReq *r)
{
    uint64_t last = irqbed_ahci_drive_sectors(drive_of(r)) - 1;

    if (r->ata->flags & ATA_EXT) {
        r->out_lba = last;
        return;
    }
    last = MIN(last, ATA_LBA28_MAX);
    r->out_lba = last & 0xffffff;
    r->out_device = (r->fis.device & ~ATA_DEV_LBA_MASK) | last >> 24;
}

static void ata_diagnostic(IrqbedAhciReq *r)
{
    r->out_lba = 1;
    r->out_count = 1;
    r->out_device = 0;
    r->out_error = ATA_ERR_DIAGNOSTIC_PASSED;
}

/* ---- which command ---- */

const AtaCommand irqbed_ahci_ata_aborted = { ata_abort, ATA_PROTO_NONE };

static const AtaCommand smart_read_data = {
    irqbed_ahci_smart, ATA_PROTO_PIO_IN
};

static const AtaCommand commands[256] = {
    [ATA_NOP] = { ata_abort, ATA_PROTO_NONE },
    [ATA_DATA_SET_MANAGEMENT] = { ata_trim, ATA_PROTO_DMA_OUT, ATA_EXT },
    [ATA_READ_PIO] = { ata_read, ATA_PROTO_PIO_IN },
    [ATA_READ_PIO_EXT] = { ata_read, ATA_PROTO_PIO_IN, ATA_EXT },
    [ATA_READ_MULTIPLE] = { ata_read, ATA_PROTO_PIO_IN, ATA_MULTIPLE },
    [ATA_READ_MULTIPLE_EXT] = { ata_read, ATA_PROTO_PIO_IN,
                                ATA_MULTIPLE | ATA_EXT },
    [ATA_READ_DMA] = { ata_read, ATA_PROTO_DMA_IN },
    [ATA_READ_DMA_EXT] = { ata_read, ATA_PROTO_DMA_IN, ATA_EXT },
    [ATA_WRITE_PIO] = { ata_write, ATA_PROTO_PIO_OUT },
    [ATA_WRITE_PIO_EXT] = { ata_write, ATA_PROTO_PIO_OUT, ATA_EXT },
    [ATA_WRITE_MULTIPLE] = { ata_write, ATA_PROTO_PIO_OUT, ATA_MULTIPLE },
    [ATA_WRITE_MULTIPLE_EXT] = { ata_write, ATA_PROTO_PIO_OUT,
                                 ATA_MULTIPLE | ATA_EXT },
    [ATA_WRITE_DMA] = { ata_write, ATA_PROTO_DMA_OUT },
    [ATA_WRITE_DMA_EXT] = { ata_write, ATA_PROTO_DMA_OUT, ATA_EXT },
    [ATA_WRITE_DMA_FUA_EXT] = { ata_write, ATA_PROTO_DMA_OUT,
                                ATA_EXT | ATA_FUA },
    [ATA_READ_VERIFY] = { ata_verify, ATA_PROTO_NONE },
    [ATA_READ_VERIFY_EXT] = { ata_verify, ATA_PROTO_NONE, ATA_EXT },
    [ATA_READ_FPDMA_QUEUED] = { ata_read, ATA_PROTO_NCQ_IN, ATA_EXT },
    [ATA_WRITE_FPDMA_QUEUED] = { ata_write, ATA_PROTO_NCQ_OUT, ATA_EXT },
    [ATA_NCQ_NON_DATA] = { ata_abort, ATA_PROTO_NCQ_OUT, ATA_EXT },
    [ATA_SEND_FPDMA_QUEUED] = { ata_abort, ATA_PROTO_NCQ_OUT, ATA_EXT },
    [ATA_RECEIVE_FPDMA_QUEUED] = { ata_abort, ATA_PROTO_NCQ_IN, ATA_EXT },
    [ATA_READ_LOG_EXT] = { irqbed_ahci_read_log, ATA_PROTO_PIO_IN, ATA_EXT },
    [ATA_READ_LOG_DMA_EXT] = { irqbed_ahci_read_log, ATA_PROTO_DMA_IN,
                               ATA_EXT },
    [ATA_IDENTIFY_DEVICE] = { irqbed_ahci_identify, ATA_PROTO_PIO_IN },
    [ATA_SMART] = { irqbed_ahci_smart, ATA_PROTO_NONE },
    [ATA_FLUSH_CACHE] = { ata_flush, ATA_PROTO_NONE },
    [ATA_FLUSH_CACHE_EXT] = { ata_flush, ATA_PROTO_NONE, ATA_EXT },
    [ATA_READ_NATIVE_MAX] = { ata_native_max, ATA_PROTO_NONE },
    [ATA_READ_NATIVE_MAX_EXT] = { ata_native_max, ATA_PROTO_NONE, ATA_EXT },
    [ATA_EXECUTE_DIAGNOSTIC] = { ata_diagnostic, ATA_PROTO_NONE },
    [ATA_INITIALIZE_PARAMETERS] = { ata_good, ATA_PROTO_NONE },
    [ATA_SET_MULTIPLE_MODE] = { irqbed_ahci_set_multiple, ATA_PROTO_NONE },
    [ATA_SET_FEATURES] = { irqbed_ahci_set_features, ATA_PROTO_NONE },
    [ATA_STANDBY_IMMEDIATE] = { irqbed_ahci_power, ATA_PROTO_NONE },
    [ATA_IDLE_IMMEDIATE] = { irqbed_ahci_power, ATA_PROTO_NONE },
    [ATA_STANDBY] = { irqbed_ahci_power, ATA_PROTO_NONE },
    [ATA_IDLE] = { irqbed_ahci_power, ATA_PROTO_NONE },
    [ATA_SLEEP] = { irqbed_ahci_power, ATA_PROTO_NONE },
    [ATA_CHECK_POWER_MODE] = { irqbed_ahci_check_power, ATA_PROTO_NONE },
};

const AtaCommand *irqbed_ahci_ata_command(const FisH2d *fis)
{
    const AtaCommand *ata = &commands[fis->command];

    if (fis->command == ATA_SMART && fis->feature0 == ATA_SMART_READ_DATA) {
        return &smart_read_data;
    }
    return ata->prepare ? ata : &irqbed_ahci_ata_aborted;
}

/* After a queue error only log 10h is read, SATA 3.1, 13.6.5.4. */
bool irqbed_ahci_ata_refuses(const IrqbedAhciDrive *d, const FisH2d *fis)
{
    bool is_log = fis->command == ATA_READ_LOG_EXT ||
                  fis->command == ATA_READ_LOG_DMA_EXT;

    return d->ata.in_soft_reset || d->ata.power == ATA_POWER_SLEEP ||
           (d->ata.queue_failed &&
            !(is_log && fis->lba0 == ATA_LOG_NCQ_ERROR));
}

void irqbed_ahci_ata_prepare(IrqbedAhciReq *r)
{
    const FisH2d *fis = &r->fis;
    bool ext = r->ata->flags & ATA_EXT;
    bool queued = irqbed_ahci_is_queued(r);
    uint32_t count = fis->count1 << 8 | fis->count0;
    uint64_t low = fis->lba2 << 16 | fis->lba1 << 8 | fis->lba0;
    uint64_t high = (uint32_t)fis->lba5 << 16 | fis->lba4 << 8 | fis->lba3;

    r->out_lba = high << 24 | low;
    r->out_count = count;
    r->out_device = fis->device;
    if (queued) {
        count = fis->feature1 << 8 | fis->feature0;
    } else if (!ext) {
        /* QEMU's ICH9 takes all 16 bits. */
        count &= r->port->hba->ich9 ? 0xffff : 0xff;
        high = fis->device & ATA_DEV_LBA_MASK;
    }
    r->lba = high << 24 | low;
    r->sectors = count ?: (ext ? 0x10000 : 0x100);
    if (queued && fis->count0 >> 3 != r->core.tag) {
        irqbed_ctrl_guest_error(r->core.ctrl, "tag is not the slot's number",
                                fis->count0);
        irqbed_ahci_ata_fail(r, ATA_ERR_ABRT);
        return;
    }
    r->ata->prepare(r);
}

void irqbed_ahci_ata_reset(IrqbedAhciDrive *d, bool power_on)
{
    d->ata.power = ATA_POWER_ACTIVE;
    d->ata.in_soft_reset = false;
    d->ata.queue_failed = false;
    if (power_on) {
        d->ata.multiple = 0;
        d->ata.transfer_mode = ATA_MODE_UDMA | ATA_UDMA_MAX;
        d->ata.write_cache = blk_enable_write_cache(d->conf.blk);
        d->ata.look_ahead = true;
        d->ata.smart = true;
    }
}
