/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A request in flight, from D1 to D4.
 *
 * The transport embeds an IrqbedReq in its own slot structure.  It gives it a
 * queue and a tag once, and for each request: operation, medium, segments,
 * buffer.  From irqbed_req_schedule() on it is the core's until the
 * transport's answer operation is called.
 */

#ifndef HW_IRQBED_REQUEST_H
#define HW_IRQBED_REQUEST_H

#include "qemu/iov.h"
#include "qemu/queue.h"
#include "qemu/units.h"
#include "block/aio.h"
#include "req_state.h"
#include "store.h"

typedef struct IrqbedCtrl IrqbedCtrl;
typedef struct IrqbedReq IrqbedReq;
typedef QTAILQ_HEAD(, IrqbedReq) IrqbedReqList;

/*
 * No request moves more than this.  A free slot keeps no more than that, and
 * none at all while there is more in the controller.
 */
#define IRQBED_MAX_TRANSFER (32 * MiB)
#define IRQBED_MAX_KEPT     (4 * MiB)
#define IRQBED_MAX_KEPT_ALL (64 * MiB)
/* The host's memory for a controller's data; a small request gets its own. */
#define IRQBED_MAX_BUFFERS  (2 * GiB)
#define IRQBED_MAX_SMALL    (64 * KiB)
#define IRQBED_MAX_EXTENTS  64

/* Queues, or ports, of a controller. */
#define IRQBED_MAX_QUEUES   32
/* Requests in a controller at once. */
#define IRQBED_MAX_DEPTH    255

typedef enum IrqbedOp {
    IRQBED_OP_NONE,             /* no medium: answered from the controller */
    IRQBED_OP_READ,
    IRQBED_OP_WRITE,
    IRQBED_OP_FLUSH,
    IRQBED_OP_ZERO,             /* unmap: extents[] read as zeroes after it */
} IrqbedOp;

typedef struct IrqbedSegment {
    uint64_t addr;
    uint32_t len;
} IrqbedSegment;

typedef struct IrqbedExtent {
    uint64_t offset;
    uint64_t bytes;
} IrqbedExtent;

struct IrqbedReq {
    IrqbedCtrl *ctrl;
    uint16_t queue;
    uint16_t tag;
    uint16_t vector;            /* of its interrupt; the transport's, or 0 */
    uint16_t medium;            /* whose units serve it; likewise */

    uint32_t state;             /* IrqbedReqState; see irqbed_req_set_state */
    uint64_t seq;               /* number of this request, from 1 */

    /* the transport's to fill at D2 */
    uint32_t op;                /* IrqbedOp */
    IrqbedStore *store;         /* NULL for IRQBED_OP_NONE */
    IrqbedExtent extents[IRQBED_MAX_EXTENTS];
    uint32_t nr_extents;
    bool fua;
    IrqbedSegment *segments;
    uint32_t nr_segments;
    uint32_t max_segments;
    uint8_t *buf;               /* bounce buffer, kept from one to the next */
    uint32_t buf_size;
    uint32_t to_guest;          /* bytes of buf to copy to the guest at D4 */

    /* the core's */
    int64_t fetch_ns;
    int64_t start_ns;
    int64_t due_ns;
    int32_t ret;                /* of the medium: 0 or -errno */
    bool dma_failed;            /* guest memory could not be accessed */
    uint32_t inject;            /* bit for each injection that hit it */
    bool io_busy;               /* host I/O under way */
    bool stopped;               /* it failed, and so the VM was stopped */
    uint32_t io_extent;
    QEMUIOVector qiov;
    QTAILQ_ENTRY(IrqbedReq) active_entry;
    QTAILQ_ENTRY(IrqbedReq) due_entry;
    QTAILQ_ENTRY(IrqbedReq) store_entry;
};

void irqbed_req_init(IrqbedReq *req, IrqbedCtrl *c, uint16_t queue,
                     uint16_t tag);
void irqbed_req_destroy(IrqbedReq *req);

/*
 * Make buf at least @bytes long; false beyond IRQBED_MAX_TRANSFER, and when the
 * controller has too much in flight: not for IRQBED_MAX_SMALL or less.
 */
bool irqbed_req_reserve(IrqbedReq *req, uint32_t bytes);
/* Room for @count segments, which it also makes the number in use. */
void irqbed_req_segments(IrqbedReq *req, uint32_t count);

/* D1 and D2: the doorbell of a FREE slot has rung. */
void irqbed_req_arrive(IrqbedReq *req);
/* D3: due time, data transfer.  The answer comes by itself. */
void irqbed_req_schedule(IrqbedReq *req);
/*
 * Give up an unanswered request: no answer, no data to the guest; a write that
 * was begun is finished on the medium.  The slot stays taken.
 */
void irqbed_req_abort(IrqbedReq *req);
/* Abort it if need be, and free the slot. */
void irqbed_req_clear(IrqbedReq *req);

/* The link is gone: all that a controller has in flight. */
void irqbed_req_abort_all(IrqbedCtrl *c);
/* All of a controller's. */
void irqbed_req_clear_all(IrqbedCtrl *c);
/* @store goes away: what is in flight on it is answered with -ENODEV. */
void irqbed_req_detach_store(IrqbedCtrl *c, IrqbedStore *store);
/* The VM runs again: host I/O that stopped it is done again. */
void irqbed_req_restart(IrqbedCtrl *c);
/* After loading: back into the lists, oldest first; then the timer. */
void irqbed_req_resume(IrqbedReq *req);
void irqbed_req_resume_timer(IrqbedCtrl *c);
/* There is room again for answers that had none. */
void irqbed_req_retry(IrqbedCtrl *c);
/* Callback of the due timer: D4 of everything that is due. */
void irqbed_req_run_due(void *opaque);

/* media.c: host I/O of one request; only request.c calls these. */
void irqbed_media_start(IrqbedReq *req);
void irqbed_media_wait(IrqbedReq *req);
bool irqbed_media_must_wait(void);

#endif
