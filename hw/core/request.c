/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The way of a request from the doorbell to its answer: D1 to D4.
 *
 * Due times are virtual time.  With a virtual clock (icount, qtest) a request
 * whose data is not there when it is due is waited for on the spot, so that
 * no byte and no time the guest sees depends on the host.  With the host's
 * clock it is answered when both are done.  Answers are given in one function
 * only, irqbed_req_run_due().
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/memalign.h"
#include "ctrl.h"
#include "trace.h"

static void free_buffer(IrqbedReq *req)
{
    req->ctrl->buffer_bytes -= req->buf_size;
    qemu_vfree(req->buf);
    req->buf = NULL;
    req->buf_size = 0;
}

/* The one function that changes a request's state. */
static void irqbed_req_set_state(IrqbedReq *req, IrqbedReqState to)
{
    IrqbedCtrl *c = req->ctrl;
    IrqbedReqState from = req->state;
    bool was = irqbed_req_state_is_in_flight(from);
    bool is = irqbed_req_state_is_in_flight(to);

    g_assert(irqbed_req_state_may(from, to));
    trace_irqbed_req_state(c->name, req->queue, req->tag, req->seq,
                           irqbed_req_state_name(from),
                           irqbed_req_state_name(to));
    req->state = to;
    c->stats.in_flight += is - was;
    switch (to) {
    case IRQBED_REQ_FETCHED:
        c->stats.fetched++;
        c->stats.queue_fetched[req->queue]++;
        QTAILQ_INSERT_TAIL(&c->active, req, active_entry);
        break;
    case IRQBED_REQ_HELD:
        c->stats.held++;
        break;
    case IRQBED_REQ_ABORTED:
        c->stats.aborted++;
        irqbed_record_req(req, IRQBED_MARK_ABORT, 0, irqbed_now_ns());
        break;
    case IRQBED_REQ_FREE:
        QTAILQ_REMOVE(&c->active, req, active_entry);
        if (req->buf_size > IRQBED_MAX_KEPT ||
            c->buffer_bytes > IRQBED_MAX_KEPT_ALL) {
            free_buffer(req);
        }
        break;
    default:
        break;
    }
}

void irqbed_req_arrive(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;

    req->seq = c->next_seq++;
    req->fetch_ns = irqbed_now_ns();
    req->op = IRQBED_OP_NONE;
    req->store = NULL;
    req->nr_extents = 0;
    req->fua = false;
    req->nr_segments = 0;
    req->to_guest = 0;
    req->ret = 0;
    req->stopped = false;
    req->dma_failed = false;
    req->inject = 0;
    trace_irqbed_doorbell(c->name, req->queue, req->tag, req->seq);
    irqbed_req_set_state(req, IRQBED_REQ_FETCHED);
    irqbed_record_req(req, IRQBED_MARK_FETCH, 0, req->fetch_ns);
}

/* Fault: the medium fails, or is not asked, and is left as it is. */
static bool is_failing(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;

    if (req->inject && irqbed_faults_status(req)) {
        return true;
    }
    if (!c->knobs.fail_every ||
        (req->op != IRQBED_OP_READ && req->op != IRQBED_OP_WRITE) ||
        ++c->fail_count % c->knobs.fail_every) {
        return false;
    }
    c->stats.failed_media++;
    req->ret = -EIO;
    return true;
}

/* Fault: it is never due, or *@held_ns later than by the model. */
static bool is_held(IrqbedReq *req, int64_t *held_ns)
{
    IrqbedCtrl *c = req->ctrl;
    const IrqbedInjectEntry *e = req->inject ?
        irqbed_faults_take(req, IRQBED_FAULT_HOLD) : NULL;

    if (e) {
        *held_ns = e->ramp.for_ns;
    }
    return (e && !e->ramp.for_ns) ||
           (c->knobs.hold_every && ++c->hold_count % c->knobs.hold_every == 0);
}

static bool is_dma_refused(IrqbedReq *req)
{
    return req->inject && irqbed_faults_take(req, IRQBED_FAULT_DMA_REFUSED);
}

static IrqbedWork req_work(const IrqbedReq *req)
{
    switch (req->op) {
    case IRQBED_OP_READ:
        return IRQBED_WORK_READ;
    case IRQBED_OP_WRITE:
        return IRQBED_WORK_WRITE;
    default:
        return IRQBED_WORK_OTHER;
    }
}

/* Those already due that wait for data (host clock) or room need no timer. */
static void arm_due_timer(IrqbedCtrl *c)
{
    IrqbedReq *req;

    QTAILQ_FOREACH(req, &c->due, due_entry) {
        if (req->state == IRQBED_REQ_SCHEDULED) {
            timer_mod(c->due_timer, req->due_ns);
            return;
        }
    }
    timer_del(c->due_timer);
}

/* In order of due time, and of arrival among equals. */
static void due_insert(IrqbedCtrl *c, IrqbedReq *req)
{
    IrqbedReq *before;

    QTAILQ_FOREACH_REVERSE(before, &c->due, due_entry) {
        if (before->due_ns <= req->due_ns) {
            QTAILQ_INSERT_AFTER(&c->due, before, req, due_entry);
            return;
        }
    }
    QTAILQ_INSERT_HEAD(&c->due, req, due_entry);
}

void irqbed_req_schedule(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;
    IrqbedExtent *where = &req->extents[0];
    int64_t held_ns = 0;
    IrqbedSchedule s;

    trace_irqbed_fetch(c->name, req->queue, req->tag, req->seq, req->op,
                       req->nr_extents ? where->offset : 0,
                       req->nr_extents ? where->bytes : 0);
    irqbed_faults_request(req);
    if (is_held(req, &held_ns)) {
        irqbed_req_set_state(req, IRQBED_REQ_HELD);
        irqbed_record_req(req, IRQBED_MARK_HOLD, 0, req->fetch_ns);
        return;
    }
    s = irqbed_latency_schedule(&c->media[req->medium], &c->latency_cfg,
                                req_work(req), where->offset, where->bytes,
                                req->fetch_ns);
    req->start_ns = s.start_ns;
    req->due_ns = s.due_ns + held_ns;
    trace_irqbed_schedule(c->name, req->queue, req->tag, req->seq, s.unit,
                          s.start_ns - req->fetch_ns, req->due_ns);
    irqbed_req_set_state(req, IRQBED_REQ_SCHEDULED);
    irqbed_record_req(req, IRQBED_MARK_SCHEDULE, 0, req->fetch_ns);

    /* What the guest changes in its buffer from here on is not written. */
    if (is_dma_refused(req) || (req->op == IRQBED_OP_WRITE &&
        !irqbed_dma_gather(req, req->buf, where->bytes))) {
        req->dma_failed = true;
    } else if (!is_failing(req) && req->op != IRQBED_OP_NONE) {
        irqbed_media_start(req);
    }
    due_insert(c, req);
    if (req->io_busy && req->due_ns <= req->fetch_ns &&
        !irqbed_media_must_wait()) {
        /* Only its data is waited for, and that arms the timer. */
        irqbed_req_set_state(req, IRQBED_REQ_DUE);
    } else {
        arm_due_timer(c);
    }
}

static void count_answer(IrqbedReq *req, unsigned answer, int64_t now_ns)
{
    IrqbedStats *stats = &req->ctrl->stats;

    if (answer & IRQBED_ANSWER_FAILED) {
        stats->failed++;
    } else {
        stats->completed++;
        if (req->op == IRQBED_OP_READ) {
            stats->bytes_read += req->extents[0].bytes;
        } else if (req->op == IRQBED_OP_WRITE) {
            stats->bytes_written += req->extents[0].bytes;
        }
    }
    irqbed_hist_add(&stats->service_ns[req_work(req)],
                    req->due_ns - req->start_ns);
    irqbed_hist_add(&stats->queueing_ns, req->start_ns - req->fetch_ns);
    irqbed_hist_add(&stats->device_ns, now_ns - req->fetch_ns);
    irqbed_series_completion(&req->ctrl->series, now_ns - req->fetch_ns,
                             now_ns);
    irqbed_record_req(req, IRQBED_MARK_COMPLETE,
                      !!(answer & IRQBED_ANSWER_FAILED), now_ns);
}

/* D4: data, then the transport's answer, then D5. */
static void complete(IrqbedReq *req, int64_t now_ns)
{
    IrqbedCtrl *c = req->ctrl;
    unsigned answer;

    QTAILQ_REMOVE(&c->due, req, due_entry);
    irqbed_req_set_state(req, IRQBED_REQ_COMPLETING);
    if (!req->ret && !req->dma_failed && req->to_guest &&
        !(req->inject && irqbed_faults_data_late(req, now_ns)) &&
        !irqbed_dma_scatter(req, req->buf, req->to_guest)) {
        req->dma_failed = true;
    }
    answer = irqbed_transport(c)->answer(req);
    count_answer(req, answer, now_ns);
    trace_irqbed_complete(c->name, req->queue, req->tag, req->seq,
                          answer & IRQBED_ANSWER_FAILED ? "failed" : "ok",
                          now_ns - req->fetch_ns);
    irqbed_req_set_state(req, IRQBED_REQ_FREE);
    if (answer & (IRQBED_ANSWER_IRQ | IRQBED_ANSWER_IRQ_URGENT)) {
        irqbed_irq_completion(c, req, answer & IRQBED_ANSWER_IRQ_URGENT,
                              now_ns);
    }
    if (req->inject) {
        irqbed_faults_twice(req, now_ns);
    }
}

static bool can_answer(IrqbedReq *req)
{
    const IrqbedTransport *t = irqbed_transport(req->ctrl);

    return !t->can_answer || t->can_answer(req);
}

/*
 * The first that is due, has room for its answer, and whose data is there or
 * may be waited for.
 */
static IrqbedReq *next_due(IrqbedCtrl *c, int64_t now_ns)
{
    IrqbedReq *req;

    QTAILQ_FOREACH(req, &c->due, due_entry) {
        if (req->due_ns > now_ns) {
            return NULL;
        }
        if (req->state == IRQBED_REQ_SCHEDULED) {
            irqbed_req_set_state(req, IRQBED_REQ_DUE);
        }
        if (!req->stopped && (!req->io_busy || irqbed_media_must_wait()) &&
            can_answer(req)) {
            return req;
        }
    }
    return NULL;
}

void irqbed_req_run_due(void *opaque)
{
    IrqbedCtrl *c = opaque;
    MemReentrancyGuard *guard = &DEVICE(c)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;
    int64_t now_ns = irqbed_now_ns();
    IrqbedReq *req;

    guard->engaged_in_io = true;
    while ((req = next_due(c, now_ns))) {
        irqbed_media_wait(req);
        if (!req->stopped) {
            complete(req, now_ns);
        }
    }
    arm_due_timer(c);
    guard->engaged_in_io = engaged;
}

void irqbed_req_retry(IrqbedCtrl *c)
{
    timer_mod(c->due_timer, irqbed_now_ns());
}

void irqbed_req_abort(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;

    if (req->state == IRQBED_REQ_SCHEDULED || req->state == IRQBED_REQ_DUE) {
        irqbed_media_wait(req);
        req->stopped = false;
        QTAILQ_REMOVE(&c->due, req, due_entry);
        irqbed_req_set_state(req, IRQBED_REQ_ABORTED);
        arm_due_timer(c);
    } else if (req->state == IRQBED_REQ_HELD) {
        irqbed_req_set_state(req, IRQBED_REQ_ABORTED);
    }
}

void irqbed_req_clear(IrqbedReq *req)
{
    irqbed_req_abort(req);
    if (req->state == IRQBED_REQ_ABORTED) {
        irqbed_req_set_state(req, IRQBED_REQ_FREE);
    }
}

void irqbed_req_abort_all(IrqbedCtrl *c)
{
    IrqbedReq *req;

    QTAILQ_FOREACH(req, &c->active, active_entry) {
        irqbed_req_abort(req);
    }
}

void irqbed_req_clear_all(IrqbedCtrl *c)
{
    IrqbedReq *req, *next;
    unsigned i;

    irqbed_faults_forget(c);

    QTAILQ_FOREACH_SAFE(req, &c->active, active_entry, next) {
        irqbed_req_clear(req);
    }
    for (i = 0; i < c->nr_media; i++) {
        irqbed_latency_idle(&c->media[i]);
    }
}

void irqbed_req_detach_store(IrqbedCtrl *c, IrqbedStore *store)
{
    IrqbedReq *req;

    QTAILQ_FOREACH(req, &c->active, active_entry) {
        if (req->store == store) {
            irqbed_media_wait(req);
            req->stopped = false;
            req->store = NULL;
            req->ret = -ENODEV;
        }
    }
}

void irqbed_req_restart(IrqbedCtrl *c)
{
    IrqbedReq *req;
    bool any = false;

    QTAILQ_FOREACH(req, &c->active, active_entry) {
        if (req->stopped) {
            req->stopped = false;
            irqbed_media_start(req);
            any = true;
        }
    }
    if (any) {
        irqbed_req_retry(c);
    }
}

/* The guest's order of arrival decides among those due at the same time. */
void irqbed_req_resume(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;
    IrqbedReq *older;

    if (req->state == IRQBED_REQ_FREE) {
        return;
    }
    QTAILQ_FOREACH_REVERSE(older, &c->active, active_entry) {
        if (older->seq < req->seq) {
            QTAILQ_INSERT_AFTER(&c->active, older, req, active_entry);
            return;
        }
    }
    QTAILQ_INSERT_HEAD(&c->active, req, active_entry);
}

void irqbed_req_resume_timer(IrqbedCtrl *c)
{
    IrqbedReq *req;

    QTAILQ_FOREACH(req, &c->active, active_entry) {
        if (req->state == IRQBED_REQ_SCHEDULED ||
            req->state == IRQBED_REQ_DUE) {
            req->state = IRQBED_REQ_SCHEDULED;
            due_insert(c, req);
        }
    }
    arm_due_timer(c);
}

bool irqbed_req_reserve(IrqbedReq *req, uint32_t bytes)
{
    IrqbedCtrl *c = req->ctrl;

    if (bytes > IRQBED_MAX_TRANSFER) {
        return false;
    }
    if (bytes > req->buf_size) {
        if (bytes > IRQBED_MAX_SMALL &&
            c->buffer_bytes + bytes > IRQBED_MAX_BUFFERS) {
            return false;
        }
        free_buffer(req);
        req->buf_size = QEMU_ALIGN_UP(bytes, 4 * KiB);
        c->buffer_bytes += req->buf_size;
        req->buf = qemu_memalign(4 * KiB, req->buf_size);
    }
    return true;
}

void irqbed_req_segments(IrqbedReq *req, uint32_t count)
{
    if (count > req->max_segments) {
        req->segments = g_renew(IrqbedSegment, req->segments, count);
        req->max_segments = count;
    }
    req->nr_segments = count;
}

void irqbed_req_init(IrqbedReq *req, IrqbedCtrl *c, uint16_t queue,
                     uint16_t tag)
{
    g_assert(queue < IRQBED_MAX_QUEUES);
    req->ctrl = c;
    req->queue = queue;
    req->tag = tag;
    req->state = IRQBED_REQ_FREE;
}

void irqbed_req_destroy(IrqbedReq *req)
{
    g_assert(req->state == IRQBED_REQ_FREE);
    g_clear_pointer(&req->segments, g_free);
    req->max_segments = 0;
    free_buffer(req);
}
