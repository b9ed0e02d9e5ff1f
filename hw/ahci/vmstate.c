/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Saving and restoring irqbed-ahci and its drives; core/vmstate.c says what is
 * saved of a request in flight.  FISes are saved as they are in memory.
 *
 * A drive's medium is found again by its port: the same drives must be there.
 */

#include "qemu/osdep.h"
#include "ahci.h"

/* ---- a slot ---- */

static int slot_pre_save(void *opaque)
{
    IrqbedAhciReq *r = opaque;

    r->aborted = r->ata == &irqbed_ahci_ata_aborted;
    return 0;
}

static const VMStateDescription vmstate_slot = {
    .name = "irqbed-ahci-slot",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = slot_pre_save,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(core, IrqbedAhciReq, 1, irqbed_vmstate_req, IrqbedReq),
        VMSTATE_BUFFER_UNSAFE(fis, IrqbedAhciReq, 1, sizeof(FisH2d)),
        VMSTATE_BOOL(aborted, IrqbedAhciReq),
        VMSTATE_UINT64(lba, IrqbedAhciReq),
        VMSTATE_UINT32(sectors, IrqbedAhciReq),
        VMSTATE_UINT32(bytes, IrqbedAhciReq),
        VMSTATE_UINT32(fatal, IrqbedAhciReq),
        VMSTATE_BOOL(prd_irq, IrqbedAhciReq),
        VMSTATE_UINT8(error, IrqbedAhciReq),
        VMSTATE_UINT8(out_error, IrqbedAhciReq),
        VMSTATE_UINT64(out_lba, IrqbedAhciReq),
        VMSTATE_UINT16(out_count, IrqbedAhciReq),
        VMSTATE_UINT8(out_device, IrqbedAhciReq),
        VMSTATE_END_OF_LIST()
    },
};

/* ---- a port ---- */

static const VMStateDescription vmstate_port = {
    .name = "irqbed-ahci-port",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(clb, IrqbedAhciPort),
        VMSTATE_UINT64(fb, IrqbedAhciPort),
        VMSTATE_UINT32(is, IrqbedAhciPort),
        VMSTATE_UINT32(ie, IrqbedAhciPort),
        VMSTATE_UINT32(cmd, IrqbedAhciPort),
        VMSTATE_UINT32(tfd, IrqbedAhciPort),
        VMSTATE_UINT32(sig, IrqbedAhciPort),
        VMSTATE_UINT32(ssts, IrqbedAhciPort),
        VMSTATE_UINT32(sctl, IrqbedAhciPort),
        VMSTATE_UINT32(serr, IrqbedAhciPort),
        VMSTATE_UINT32(sact, IrqbedAhciPort),
        VMSTATE_UINT32(ci, IrqbedAhciPort),
        VMSTATE_UINT8(slot, IrqbedAhciPort),
        VMSTATE_UINT8(next, IrqbedAhciPort),
        VMSTATE_BOOL(halted, IrqbedAhciPort),
        VMSTATE_BOOL(signature_due, IrqbedAhciPort),
        VMSTATE_UINT32(queued, IrqbedAhciPort),
        VMSTATE_STRUCT_ARRAY(reqs, IrqbedAhciPort, IRQBED_AHCI_MAX_SLOTS, 1,
                             vmstate_slot, IrqbedAhciReq),
        VMSTATE_END_OF_LIST()
    },
};

static bool resume_slot(IrqbedAhciPort *p, IrqbedAhciReq *r)
{
    r->ata = r->aborted ? &irqbed_ahci_ata_aborted
                        : irqbed_ahci_ata_command(&r->fis);
    r->core.store = NULL;
    if (r->core.state != IRQBED_REQ_FREE && r->core.op != IRQBED_OP_NONE) {
        if (!p->drive) {
            return false;
        }
        r->core.store = &p->drive->store;
    }
    irqbed_req_resume(&r->core);
    return true;
}

static int hba_post_load(void *opaque, int version_id)
{
    IrqbedAhci *h = opaque;
    unsigned i, slot;

    for (i = 0; i < h->nr_ports; i++) {
        IrqbedAhciPort *p = &h->ports[i];

        p->slot %= IRQBED_AHCI_MAX_SLOTS;
        p->next %= IRQBED_AHCI_MAX_SLOTS;
        for (slot = 0; slot < IRQBED_AHCI_MAX_SLOTS; slot++) {
            if (!resume_slot(p, &p->reqs[slot])) {
                return -EINVAL;
            }
        }
    }
    irqbed_req_resume_timer(IRQBED_CTRL(h));
    return 0;
}

const VMStateDescription irqbed_ahci_vmstate = {
    .name = TYPE_IRQBED_AHCI,
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = hba_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(parent_obj, IrqbedAhci, 1, irqbed_vmstate_ctrl,
                       IrqbedCtrl),
        VMSTATE_UINT32_EQUAL(nr_ports, IrqbedAhci, NULL),
        VMSTATE_UINT32(ghc, IrqbedAhci),
        VMSTATE_UINT32(is, IrqbedAhci),
        VMSTATE_UINT32(bohc, IrqbedAhci),
        VMSTATE_UINT32(ccc.ctl, IrqbedAhci),
        VMSTATE_UINT32(ccc.ports, IrqbedAhci),
        VMSTATE_UINT32(ccc.completions, IrqbedAhci),
        VMSTATE_INT64(ccc.left_ns, IrqbedAhci),
        VMSTATE_TIMER_PTR(ccc.timer, IrqbedAhci),
        VMSTATE_STRUCT_VARRAY_POINTER_UINT32(ports, IrqbedAhci, nr_ports,
                                             vmstate_port, IrqbedAhciPort),
        VMSTATE_END_OF_LIST()
    },
};

/* ---- a drive ---- */

const VMStateDescription irqbed_ahci_drive_vmstate = {
    .name = TYPE_IRQBED_AHCI_DRIVE,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT16(ata.power, IrqbedAhciDrive),
        VMSTATE_UINT8(ata.multiple, IrqbedAhciDrive),
        VMSTATE_UINT8(ata.transfer_mode, IrqbedAhciDrive),
        VMSTATE_BOOL(ata.write_cache, IrqbedAhciDrive),
        VMSTATE_BOOL(ata.look_ahead, IrqbedAhciDrive),
        VMSTATE_BOOL(ata.smart, IrqbedAhciDrive),
        VMSTATE_BOOL(ata.in_soft_reset, IrqbedAhciDrive),
        VMSTATE_BOOL(ata.queue_failed, IrqbedAhciDrive),
        VMSTATE_UINT8_ARRAY(ata.queue_error, IrqbedAhciDrive,
                            ATA_LOG_PAGE_BYTES),
        VMSTATE_END_OF_LIST()
    },
};
