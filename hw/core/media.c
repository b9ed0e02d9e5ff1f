/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Host I/O of one request: begun at D3, over by D4.
 *
 * Requests in flight at once may be done by the host in any order.  Where that
 * could be seen, that is where two overlap and one of them writes, the older
 * is waited for before the newer begins.  Host I/O is never cancelled: what
 * the medium holds after an abort must not depend on how fast the host was.
 */

#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "system/cpu-timers.h"
#include "system/qtest.h"
#include "ctrl.h"
#include "trace.h"

static void media_submit(IrqbedReq *req);

/* With a virtual clock the due time holds, whatever the host does. */
bool irqbed_media_must_wait(void)
{
    return icount_enabled() || qtest_enabled();
}

static bool is_writing(const IrqbedReq *req)
{
    return req->op == IRQBED_OP_WRITE || req->op == IRQBED_OP_ZERO;
}

static bool extents_overlap(const IrqbedReq *a, const IrqbedReq *b)
{
    uint32_t i, j;

    for (i = 0; i < a->nr_extents; i++) {
        for (j = 0; j < b->nr_extents; j++) {
            const IrqbedExtent *x = &a->extents[i], *y = &b->extents[j];

            if (x->offset < y->offset + y->bytes &&
                y->offset < x->offset + x->bytes) {
                return true;
            }
        }
    }
    return false;
}

/* The oldest request that @req must not overtake, or NULL. */
static IrqbedReq *media_conflict(const IrqbedReq *req)
{
    IrqbedReq *older;

    QTAILQ_FOREACH(older, &req->store->busy, store_entry) {
        if ((is_writing(req) || is_writing(older)) &&
            extents_overlap(req, older)) {
            return older;
        }
    }
    return NULL;
}

/* A host error, as the block backend's rerror= and werror= say. */
static void media_error(IrqbedReq *req, int ret)
{
    IrqbedCtrl *c = req->ctrl;
    BlockBackend *blk = req->store->blk;
    bool reading = req->op == IRQBED_OP_READ;
    BlockErrorAction action = blk_get_error_action(blk, reading, -ret);

    trace_irqbed_media_error(c->name, req->queue, req->tag, req->seq, ret);
    req->stopped = action == BLOCK_ERROR_ACTION_STOP;
    if (action == BLOCK_ERROR_ACTION_REPORT) {
        req->ret = ret;
    }
    blk_error_action(blk, action, reading, -ret);
}

static void media_done(void *opaque, int ret)
{
    IrqbedReq *req = opaque;
    IrqbedCtrl *c = req->ctrl;

    if (ret < 0) {
        media_error(req, ret);
    } else if (req->op == IRQBED_OP_ZERO &&
               ++req->io_extent < req->nr_extents) {
        media_submit(req);
        return;
    }
    req->io_busy = false;
    QTAILQ_REMOVE(&req->store->busy, req, store_entry);
    aio_wait_kick();
    /*
     * Host clock: it was only this that the answer waited for.  Whoever waits
     * for host I/O may be on a walk over the requests, so not below that.
     */
    if (req->state != IRQBED_REQ_DUE || irqbed_media_must_wait()) {
        return;
    }
    if (c->media_waits) {
        irqbed_req_retry(c);
    } else {
        irqbed_req_run_due(c);
    }
}

static void media_submit(IrqbedReq *req)
{
    IrqbedExtent *e = &req->extents[req->io_extent];
    BlockBackend *blk = req->store->blk;

    switch (req->op) {
    case IRQBED_OP_READ:
        qemu_iovec_init_buf(&req->qiov, req->buf, e->bytes);
        blk_aio_preadv(blk, e->offset, &req->qiov, 0, media_done, req);
        break;
    case IRQBED_OP_WRITE:
        qemu_iovec_init_buf(&req->qiov, req->buf, e->bytes);
        blk_aio_pwritev(blk, e->offset, &req->qiov,
                        req->fua ? BDRV_REQ_FUA : 0, media_done, req);
        break;
    case IRQBED_OP_ZERO:
        /* Not discard: what it leaves behind depends on the host. */
        blk_aio_pwrite_zeroes(blk, e->offset, e->bytes, BDRV_REQ_MAY_UNMAP,
                              media_done, req);
        break;
    case IRQBED_OP_FLUSH:
        blk_aio_flush(blk, media_done, req);
        break;
    default:
        g_assert_not_reached();
    }
}

void irqbed_media_start(IrqbedReq *req)
{
    IrqbedReq *older;

    while ((older = media_conflict(req))) {
        irqbed_media_wait(older);
    }
    req->io_extent = 0;
    req->io_busy = true;
    QTAILQ_INSERT_TAIL(&req->store->busy, req, store_entry);
    media_submit(req);
}

void irqbed_media_wait(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;

    if (req->io_busy) {
        c->media_waits++;
        AIO_WAIT_WHILE(blk_get_aio_context(req->store->blk), req->io_busy);
        c->media_waits--;
    }
}
