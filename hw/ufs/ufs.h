/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * UFS host controller (UFSHCI 3.1) and the UFS device behind it (UFS 3.1).
 *
 * Registers, UPIUs and descriptors come from include/block/ufs.h; here is what
 * it lacks, the controller's state, and what the files of this folder offer
 * each other.  Everything runs under the BQL.
 */

#ifndef HW_IRQBED_UFS_H
#define HW_IRQBED_UFS_H

#include "qemu/units.h"
#include "block/ufs.h"
#include "hw/block/block.h"
#include "../core/ctrl.h"

#define TYPE_IRQBED_UFS "irqbed-ufs"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedUfs, IRQBED_UFS)
#define TYPE_IRQBED_UFS_LU "irqbed-ufs-lu"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedUfsLu, IRQBED_UFS_LU)
#define TYPE_IRQBED_UFS_BUS "irqbed-ufs-bus"

/* UFSHCI 3.1, 5.4.11: interrupt aggregation control */
FIELD(UTRIACR, IATOVAL, 0, 8)           /* units of 40 us */
FIELD(UTRIACR, IACTH, 8, 5)
FIELD(UTRIACR, CTR, 16, 1)              /* WO: restart the window */
FIELD(UTRIACR, IASB, 20, 1)             /* RO: the window holds completions */
FIELD(UTRIACR, IAPWEN, 24, 1)           /* WO: take IACTH and IATOVAL */
FIELD(UTRIACR, IAEN, 31, 1)
#define IRQBED_UFS_IATOVAL_UNIT_NS 40000

/* UFSHCI 3.1, 6.1.1: UTRD dword 0, and the alignments of its addresses */
#define IRQBED_UFS_UTRD_CT_SHIFT 28
#define IRQBED_UFS_UTRD_DD_MASK \
    (UFS_UTP_HOST_TO_DEVICE | UFS_UTP_DEVICE_TO_HOST)
#define IRQBED_UFS_UCD_ALIGN     128
#define IRQBED_UFS_PRDT_ALIGN    4
#define IRQBED_UFS_PRDT_LEN_MASK 0x3ffff

/* Basic header and transaction specific fields of any UPIU */
#define IRQBED_UFS_UPIU_BYTES    32

#define IRQBED_UFS_VERSION       0x0310
#define IRQBED_UFS_MMIO_BYTES    (16 * KiB)
#define IRQBED_UFS_MAX_SLOTS     32
#define IRQBED_UFS_TM_SLOTS      8
#define IRQBED_UFS_MAX_LUS       32
#define IRQBED_UFS_MAX_TRANSFER  (4 * MiB)
#define IRQBED_UFS_MAX_UNMAP     16     /* descriptors of one UNMAP */
#define IRQBED_UFS_BLOCK_SHIFT   12
#define IRQBED_UFS_BLOCK_BYTES   (1u << IRQBED_UFS_BLOCK_SHIFT)

/* qTimestamp (UFS 4.0, 14.3); write only, 64 bits */
#define IRQBED_UFS_ATTR_TIMESTAMP 0x30
#define IRQBED_UFS_ATTRS         (IRQBED_UFS_ATTR_TIMESTAMP + 1)
#define IRQBED_UFS_FLAGS         UFS_QUERY_FLAG_IDN_COUNT
#define IRQBED_UFS_UIC_ATTRS     96

QEMU_BUILD_BUG_ON(IRQBED_UFS_MAX_TRANSFER > IRQBED_MAX_TRANSFER);
QEMU_BUILD_BUG_ON(IRQBED_UFS_MAX_UNMAP > IRQBED_MAX_EXTENTS);
QEMU_BUILD_BUG_ON(sizeof(UfsReg) > IRQBED_UFS_MMIO_BYTES);
QEMU_BUILD_BUG_ON(sizeof(UtpTransferReqDesc) != 32);
QEMU_BUILD_BUG_ON(sizeof(UtpTaskReqDesc) != 80);
QEMU_BUILD_BUG_ON(sizeof(UfshcdSgEntry) != 16);
QEMU_BUILD_BUG_ON(offsetof(UtpUpiuReq, qr.data) != IRQBED_UFS_UPIU_BYTES);

typedef struct IrqbedUfsReq {
    IrqbedReq core;
    UtpTransferReqDesc utrd;
    UtpUpiuReq upiu;
    UtpUpiuRsp rsp;
    uint32_t ocs;               /* enum UtpOcsCodes */
    bool utrd_read;             /* without it nothing can be answered */
} IrqbedUfsReq;

struct IrqbedUfsLu {
    DeviceState parent_obj;

    BlockConf conf;
    uint8_t lun;

    IrqbedStore store;
};

/* The gentlest function that lets a held request go: property hold-until. */
typedef enum IrqbedUfsHoldUntil {
    IRQBED_UFS_HOLD_UNTIL_ABORT,
    IRQBED_UFS_HOLD_UNTIL_LU_RESET,
    IRQBED_UFS_HOLD_UNTIL_HOST_RESET,
} IrqbedUfsHoldUntil;

struct IrqbedUfs {
    IrqbedCtrl parent_obj;

    char *serial;
    char *hold_until_word;
    IrqbedUfsHoldUntil hold_until;

    MemoryRegion mmio;
    BusState bus;
    UfsReg reg;
    IrqbedUfsReq reqs[IRQBED_UFS_MAX_SLOTS];
    IrqbedUfsLu *lus[IRQBED_UFS_MAX_LUS];
    uint32_t uic[2][IRQBED_UFS_UIC_ATTRS];      /* own side, peer's side */
    uint32_t attrs[IRQBED_UFS_ATTRS];
    uint8_t flags[IRQBED_UFS_FLAGS];
    uint64_t timestamp;
};

static inline IrqbedUfs *irqbed_ufs_of(IrqbedUfsReq *r)
{
    return IRQBED_UFS(r->core.ctrl);
}

static inline bool irqbed_ufs_is_wlun(uint8_t lun)
{
    return lun & UFS_UPIU_WLUN_ID;
}

/* mmio.c */
extern const MemoryRegionOps irqbed_ufs_mmio_ops;

/* vmstate.c */
extern const VMStateDescription irqbed_ufs_vmstate;

/* uic.c: link and power mode, UFSHCI 3.1, 5.6 and UniPro's DME */
void irqbed_ufs_uic_command(IrqbedUfs *u, uint32_t opcode);
void irqbed_ufs_uic_reset(IrqbedUfs *u);

/* xfer.c: transfer requests, D1, D2 and D4 */
void irqbed_ufs_doorbell(IrqbedUfs *u, uint32_t slots);
void irqbed_ufs_clear_slots(IrqbedUfs *u, uint32_t slots);
unsigned irqbed_ufs_answer(IrqbedReq *core);
/* Segments for @bytes from the PRD table; sets ocs and is false if it fails. */
bool irqbed_ufs_fetch_prdt(IrqbedUfsReq *r, uint32_t bytes);

/* task.c: task management */
void irqbed_ufs_task_doorbell(IrqbedUfs *u, uint32_t slots);

/* query.c and desc.c: query requests */
void irqbed_ufs_query(IrqbedUfsReq *r);
void irqbed_ufs_query_reset(IrqbedUfs *u);
/* Length of the descriptor built in @buf (UFS_MAX_QUERY_DATA_SIZE), or 0. */
unsigned irqbed_ufs_descriptor(IrqbedUfs *u, uint8_t idn, uint8_t index,
                               uint8_t *buf);
bool irqbed_ufs_has_descriptor(uint8_t idn);

/* scsi.c: SCSI commands; scsi_info.c: those that describe the LU */
typedef struct IrqbedUfsSense {
    uint8_t key;
    uint8_t asc;
    uint8_t ascq;
} IrqbedUfsSense;

extern const IrqbedUfsSense irqbed_ufs_invalid_opcode;
extern const IrqbedUfsSense irqbed_ufs_invalid_field;

void irqbed_ufs_scsi(IrqbedUfsReq *r);
/* D4: the medium failed. */
void irqbed_ufs_scsi_medium_error(IrqbedUfsReq *r);
void irqbed_ufs_scsi_check(IrqbedUfsReq *r, IrqbedUfsSense sense);
/* Data to the guest: at most @alloc bytes of @data. */
void irqbed_ufs_scsi_reply(IrqbedUfsReq *r, const void *data, uint32_t len,
                           uint32_t alloc);
void irqbed_ufs_scsi_inquiry(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_report_luns(IrqbedUfsReq *r);
void irqbed_ufs_scsi_mode_sense(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_capacity10(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_capacity16(IrqbedUfsReq *r, IrqbedUfsLu *lu);

#endif
