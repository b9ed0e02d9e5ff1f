/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A medium: checks a block node's size when it is opened, drains it on close.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "ctrl.h"

bool irqbed_store_open(IrqbedStore *s, BlockBackend *blk, uint32_t block_bytes,
                       Error **errp)
{
    int64_t length = blk_getlength(blk);

    if (length < 0) {
        error_setg_errno(errp, -length, "drive: its size is not known");
        return false;
    }
    if (length < block_bytes) {
        error_setg(errp, "drive: %" PRId64 " bytes, at least one block of %"
                   PRIu32 " needed", length, block_bytes);
        return false;
    }
    blk_iostatus_enable(blk);   /* an error may stop the VM */
    s->blk = blk;
    s->block_bytes = block_bytes;
    s->bytes = QEMU_ALIGN_DOWN(length, block_bytes);
    s->read_only = !blk_supports_write_perm(blk);
    QTAILQ_INIT(&s->busy);
    return true;
}

void irqbed_store_close(IrqbedStore *s)
{
    IrqbedReq *req;

    while ((req = QTAILQ_FIRST(&s->busy))) {
        irqbed_media_wait(req);
    }
    s->blk = NULL;
}
