/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A medium: a block node of QEMU, as one logical unit or drive sees it.
 */

#ifndef HW_IRQBED_STORE_H
#define HW_IRQBED_STORE_H

#include "qemu/queue.h"
#include "system/block-backend.h"

typedef struct IrqbedReq IrqbedReq;

typedef struct IrqbedStore {
    BlockBackend *blk;
    uint64_t bytes;             /* a whole number of blocks */
    uint32_t block_bytes;
    bool read_only;
    QTAILQ_HEAD(, IrqbedReq) busy;      /* host I/O under way, oldest first */
} IrqbedStore;

/* @blk belongs to the caller's drive property; @dev is its owner. */
bool irqbed_store_open(IrqbedStore *s, BlockBackend *blk, uint32_t block_bytes,
                       Error **errp);
/* Waits for host I/O under way. */
void irqbed_store_close(IrqbedStore *s);

#endif
