/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Submission and completion queues: D1 the tail of a submission queue moves,
 * D2 its entries are fetched, D4 an entry is pushed to the completion queue.
 * UFSHCI 4.0, chapters on multi-circular queues; xfer.c has the request itself.
 *
 * Bases, sizes and offsets come from the guest: a queue begins to exist only if
 * they are sound, and an offset that is not within what the other side has
 * left is refused, so that later code need not ask.
 *
 * As many entries are fetched as there are free requests (queue-depth, and at
 * most MCQCONFIG.MAC + 1); the rest stays in its queue and is fetched, queue by
 * queue in turn, when requests become free.  A completion queue is never
 * overwritten: an answer waits until the driver has moved the head.
 */

#include "qemu/osdep.h"
#include "ufs.h"
#include "trace.h"

#define ENTRY_BYTES sizeof(UtpTransferReqDesc)

static uint32_t next_entry(uint32_t offset, uint32_t bytes)
{
    offset += ENTRY_BYTES;
    return offset == bytes ? 0 : offset;
}

/* Bytes from @from on to @to, round the end. */
static uint32_t distance(uint32_t from, uint32_t to, uint32_t bytes)
{
    return to >= from ? to - from : to + bytes - from;
}

static bool has_room(IrqbedUfsQueue *cq)
{
    return next_entry(cq->cq_tail, cq->cq_bytes) != cq->cq_head;
}

bool irqbed_ufs_can_answer(IrqbedReq *core)
{
    IrqbedUfsReq *r = container_of(core, IrqbedUfsReq, core);
    IrqbedUfs *u = irqbed_ufs_of(r);

    return !irqbed_ufs_has_queues(u) || has_room(&u->queues[r->cq]);
}

/* --- D1, D2: submission ------------------------------------------------- */

void irqbed_ufs_collect_free(IrqbedUfs *u)
{
    unsigned i;

    QSLIST_INIT(&u->free_reqs);
    u->nr_busy = u->nr_reqs;
    for (i = u->nr_reqs; i-- > 0;) {
        if (u->reqs[i].core.state == IRQBED_REQ_FREE) {
            QSLIST_INSERT_HEAD(&u->free_reqs, &u->reqs[i], free_entry);
            u->nr_busy--;
        }
    }
}

/* The request is over, or about to be: it is not used before the timer. */
static void release(IrqbedUfsReq *r)
{
    IrqbedUfs *u = irqbed_ufs_of(r);

    QSLIST_INSERT_HEAD(&u->free_reqs, r, free_entry);
    u->nr_busy--;
    if (u->sq_waiting) {
        timer_mod(u->fetch_timer, irqbed_now_ns());
    }
}

static bool has_free(IrqbedUfs *u)
{
    return !QSLIST_EMPTY(&u->free_reqs) &&
           u->nr_busy <= FIELD_EX32(u->reg.mcqconfig, MCQCONFIG, MAC);
}

static bool is_fetchable(IrqbedUfs *u, unsigned q)
{
    IrqbedUfsQueue *sq = &u->queues[q];

    return irqbed_ufs_has_queues(u) && irqbed_ufs_is_running(u) &&
           sq->sq_head != sq->sq_tail && !(sq->rts & R_SQRTS_STS_MASK);
}

static bool is_nullified(const UtpTransferReqDesc *utrd)
{
    return le32_to_cpu(utrd->header.dword_0) >> IRQBED_UFS_UTRD_CT_SHIFT ==
           IRQBED_UFS_CT_NULLIFIED;
}

/* False, with the queue stopped, if the entry is not in memory. */
static bool fetch_entry(IrqbedUfs *u, unsigned q)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    IrqbedUfsQueue *sq = &u->queues[q];
    IrqbedUfsReq *r = QSLIST_FIRST(&u->free_reqs);

    if (!irqbed_dma_read(c, sq->sq_base + sq->sq_head, &r->utrd,
                         sizeof(r->utrd))) {
        sq->rts |= R_SQRTS_STS_MASK;
        u->reg.is = FIELD_DP32(u->reg.is, IS, SBFES, 1);
        irqbed_irq_post(c, 0);
        return false;
    }
    sq->sq_head = next_entry(sq->sq_head, sq->sq_bytes);
    if (is_nullified(&r->utrd)) {
        return true;
    }
    QSLIST_REMOVE_HEAD(&u->free_reqs, free_entry);
    u->nr_busy++;
    r->cq = FIELD_EX32(sq->sq_attr, SQATTR, CQID);
    r->core.queue = q;
    irqbed_ufs_take_entry(r);
    return true;
}

static void fetch_queue(IrqbedUfs *u, unsigned q)
{
    while (is_fetchable(u, q)) {
        if (!has_free(u)) {
            u->sq_waiting |= BIT(q);
            return;
        }
        if (!fetch_entry(u, q)) {
            return;
        }
    }
}

/* One entry of each queue in turn, for as long as there are free requests. */
void irqbed_ufs_fetch_run(void *opaque)
{
    IrqbedUfs *u = opaque;
    unsigned q;

    irqbed_ufs_take_slots(u);
    while (u->sq_waiting && has_free(u)) {
        q = u->sq_next % IRQBED_UFS_MAX_QUEUES;
        u->sq_next = q + 1;
        if (!(u->sq_waiting & BIT(q))) {
            continue;
        }
        if (!is_fetchable(u, q) || !fetch_entry(u, q) ||
            !is_fetchable(u, q)) {
            u->sq_waiting &= ~BIT(q);
        }
    }
}

void irqbed_ufs_sq_doorbell(IrqbedUfs *u, unsigned q, uint32_t tail)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    IrqbedUfsQueue *sq = &u->queues[q];

    if (!irqbed_ufs_has_queues(u) || !irqbed_ufs_is_running(u)) {
        irqbed_ctrl_guest_error(c, "SQ doorbell while queues do not run", q);
        return;
    }
    if (tail >= sq->sq_bytes || tail % ENTRY_BYTES) {
        irqbed_ctrl_guest_error(c, sq->sq_bytes ? "SQ tail out of range" :
                                "doorbell of no SQ", tail);
        return;
    }
    irqbed_ufs_link_use(u);
    sq->sq_tail = tail;
    if (irqbed_ufs_fetches_later(u)) {
        u->sq_waiting |= BIT(q);
        timer_mod(u->fetch_timer, irqbed_now_ns());
    } else {
        fetch_queue(u, q);
    }
}

/* --- D4: completion ------------------------------------------------------ */

/* The caller has seen that there is room. */
static bool push_entry(IrqbedUfs *u, unsigned q, unsigned sq,
                       const UtpTransferReqDesc *utrd, uint8_t ocs)
{
    IrqbedUfsQueue *cq = &u->queues[q];
    UfsCqEntry entry = {
        .utp_addr = cpu_to_le64(irqbed_ufs_ucd_addr(utrd) | sq),
        .resp_len = utrd->response_upiu_length,
        .resp_off = utrd->response_upiu_offset,
        .prdt_len = utrd->prd_table_length,
        .prdt_off = utrd->prd_table_offset,
        .status = ocs,
    };

    if (!irqbed_dma_write(IRQBED_CTRL(u), cq->cq_base + cq->cq_tail, &entry,
                          sizeof(entry))) {
        u->reg.is = FIELD_DP32(u->reg.is, IS, SBFES, 1);
        return false;
    }
    cq->cq_tail = next_entry(cq->cq_tail, cq->cq_bytes);
    return true;
}

unsigned irqbed_ufs_cq_answer(IrqbedUfsReq *r, bool urgent)
{
    IrqbedUfs *u = irqbed_ufs_of(r);

    release(r);
    if (!push_entry(u, r->cq, r->core.queue, &r->utrd, r->ocs)) {
        r->ocs = UFS_OCS_FATAL_ERROR;
        r->core.vector = 0;
        return IRQBED_ANSWER_IRQ_URGENT;
    }
    return irqbed_ufs_cq_event(u, r->cq, urgent || r->ocs != UFS_OCS_SUCCESS,
                               &r->core.vector);
}

bool irqbed_ufs_cq_answer_twice(IrqbedUfsReq *r)
{
    IrqbedUfs *u = irqbed_ufs_of(r);
    uint16_t vector = 0;

    if (!has_room(&u->queues[r->cq]) ||
        !push_entry(u, r->cq, r->core.queue, &r->utrd, r->ocs)) {
        return false;
    }
    irqbed_ufs_cq_event(u, r->cq, true, &vector);
    irqbed_irq_post(IRQBED_CTRL(u), vector);
    return true;
}

/* --- clean-up: UFSHCI 4.0, SQRTC, SQCTI, SQRTS ---------------------------- */

static bool is_nexus(const UtpUpiuHeader *header, uint32_t cti)
{
    return header->task_tag == FIELD_EX32(cti, SQCTI, TAG) &&
           header->lun == FIELD_EX32(cti, SQCTI, LUN);
}

static IrqbedUfsReq *find_taken(IrqbedUfs *u, unsigned q)
{
    unsigned i;

    for (i = 0; i < u->nr_reqs; i++) {
        IrqbedUfsReq *r = &u->reqs[i];

        if (r->core.state != IRQBED_REQ_FREE && r->core.queue == q &&
            is_nexus(&r->upiu.header, u->queues[q].cti)) {
            return r;
        }
    }
    return NULL;
}

/* The entry still in the queue, by its offset; its content goes to @utrd. */
static bool find_waiting(IrqbedUfs *u, unsigned q, uint32_t *at,
                         UtpTransferReqDesc *utrd)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    IrqbedUfsQueue *sq = &u->queues[q];
    UtpUpiuHeader header;

    for (*at = sq->sq_head; *at != sq->sq_tail;
         *at = next_entry(*at, sq->sq_bytes)) {
        if (!irqbed_dma_read(c, sq->sq_base + *at, utrd, sizeof(*utrd))) {
            return false;
        }
        if (!is_nullified(utrd) &&
            irqbed_dma_read(c, irqbed_ufs_ucd_addr(utrd), &header,
                            sizeof(header)) && is_nexus(&header, sq->cti)) {
            return true;
        }
    }
    return false;
}

static void finish_cleanup(IrqbedUfs *u, unsigned q, uint32_t code)
{
    IrqbedUfsQueue *sq = &u->queues[q];

    sq->rtc &= ~R_SQRTC_ICU_MASK;
    sq->rts = FIELD_DP32(sq->rts, SQRTS, RTC, code);
    sq->rts |= R_SQRTS_CUS_MASK;
    irqbed_ufs_sq_event(u, q, R_SQIS_CLEANUP_MASK);
    trace_irqbed_ufs_cleanup(IRQBED_CTRL(u)->name, q,
                             FIELD_EX32(sq->cti, SQCTI, TAG), sq->cti, code);
}

/* The command is answered by an entry that says "aborted". */
static void answer_aborted(IrqbedUfs *u, unsigned q, unsigned cq,
                           const UtpTransferReqDesc *utrd)
{
    uint16_t vector = 0;

    if (push_entry(u, cq, q, utrd, UFS_OCS_ABORTED)) {
        irqbed_ufs_cq_event(u, cq, true, &vector);
    }
    finish_cleanup(u, q, IRQBED_UFS_RTC_DONE);
    irqbed_irq_post(IRQBED_CTRL(u), vector);
}

/* It goes on when the completion queue has room for the answer. */
static void cleanup(IrqbedUfs *u, unsigned q)
{
    IrqbedUfsQueue *sq = &u->queues[q];
    unsigned cq = FIELD_EX32(sq->sq_attr, SQATTR, CQID);
    uint32_t nullified = cpu_to_le32(IRQBED_UFS_CT_NULLIFIED <<
                                     IRQBED_UFS_UTRD_CT_SHIFT);
    UtpTransferReqDesc utrd;
    IrqbedUfsReq *r;
    uint32_t at;

    if (!irqbed_ufs_has_queues(u) || !sq->sq_bytes) {
        finish_cleanup(u, q, IRQBED_UFS_RTC_DISABLED);
        return;
    }
    if (!(sq->rts & R_SQRTS_STS_MASK)) {
        finish_cleanup(u, q, IRQBED_UFS_RTC_NOT_STOPPED);
        return;
    }
    r = find_taken(u, q);
    if (r && has_room(&u->queues[r->cq])) {
        irqbed_req_clear(&r->core);
        release(r);
        answer_aborted(u, q, r->cq, &r->utrd);
    } else if (!r && !find_waiting(u, q, &at, &utrd)) {
        finish_cleanup(u, q, IRQBED_UFS_RTC_NOT_FOUND);
    } else if (!r && has_room(&u->queues[cq])) {
        irqbed_dma_write(IRQBED_CTRL(u), sq->sq_base + at, &nullified,
                         sizeof(nullified));
        answer_aborted(u, q, cq, &utrd);
    }
}

void irqbed_ufs_sq_control(IrqbedUfs *u, unsigned q, uint32_t val)
{
    IrqbedUfsQueue *sq = &u->queues[q];
    bool pending = sq->rtc & R_SQRTC_ICU_MASK;
    bool was_stopped = sq->rts & R_SQRTS_STS_MASK;

    sq->rtc = val & (R_SQRTC_STP_MASK | R_SQRTC_ICU_MASK);
    if (sq->rtc & R_SQRTC_STP_MASK) {
        sq->rts |= R_SQRTS_STS_MASK;
    } else {
        sq->rts = 0;
        fetch_queue(u, q);
    }
    if (was_stopped != !!(sq->rtc & R_SQRTC_STP_MASK)) {
        irqbed_ufs_sq_event(u, q, R_SQIS_STOP_MASK);
    }
    if (pending) {
        sq->rtc |= R_SQRTC_ICU_MASK;
    } else if (sq->rtc & R_SQRTC_ICU_MASK) {
        sq->rts &= ~(R_SQRTS_CUS_MASK | R_SQRTS_RTC_MASK);
        cleanup(u, q);
    }
}

void irqbed_ufs_cq_doorbell(IrqbedUfs *u, unsigned q, uint32_t head)
{
    IrqbedUfsQueue *cq = &u->queues[q];
    bool was_full;
    unsigned i;

    if (head >= cq->cq_bytes || head % ENTRY_BYTES ||
        distance(cq->cq_head, head, cq->cq_bytes) >
        distance(cq->cq_head, cq->cq_tail, cq->cq_bytes)) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), cq->cq_bytes ?
                                "CQ head out of range" : "doorbell of no CQ",
                                head);
        return;
    }
    was_full = !has_room(cq);
    cq->cq_head = head;
    if (!was_full || !has_room(cq)) {
        return;
    }
    for (i = 0; i < u->mcq_maxq; i++) {
        if (u->queues[i].rtc & R_SQRTC_ICU_MASK) {
            cleanup(u, i);
        }
    }
    irqbed_req_retry(IRQBED_CTRL(u));
}

/* --- begin and end of queues ---------------------------------------------- */

/* Bytes of a queue from its attribute: dwords - 1; 0 if it cannot be. */
static uint32_t queue_bytes(IrqbedUfs *u, uint64_t base, uint32_t attr)
{
    uint32_t bytes = QEMU_ALIGN_DOWN((FIELD_EX32(attr, SQATTR, SIZE) + 1) * 4,
                                     ENTRY_BYTES);

    if (bytes < 2 * ENTRY_BYTES) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "queue of less than 2 entries",
                                attr);
        return 0;
    }
    if (base + bytes - 1 < base) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "queue beyond the end of "
                                "memory", base);
        return 0;
    }
    return bytes;
}

static void sq_create(IrqbedUfs *u, unsigned q, uint32_t attr)
{
    IrqbedUfsQueue *sq = &u->queues[q];
    uint32_t cq = FIELD_EX32(attr, SQATTR, CQID);

    if (cq >= u->mcq_maxq || !u->queues[cq].cq_bytes) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "SQ to a CQ that is not there",
                                attr);
        return;
    }
    sq->sq_bytes = queue_bytes(u, sq->sq_base, attr);
    if (sq->sq_bytes) {
        sq->sq_attr = attr;
        sq->sq_head = sq->sq_tail = 0;
        sq->rtc = sq->rts = 0;
        trace_irqbed_ufs_sq(IRQBED_CTRL(u)->name, q, sq->sq_base,
                            sq->sq_bytes, cq);
    }
}

void irqbed_ufs_sq_enable(IrqbedUfs *u, unsigned q, uint32_t attr)
{
    IrqbedUfsQueue *sq = &u->queues[q];
    bool on = FIELD_EX32(attr, SQATTR, SQEN);

    if (on && sq->sq_bytes) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "SQ is there already", q);
    } else if (on) {
        sq_create(u, q, attr);
    } else {
        /* What was fetched goes on; what was not is forgotten. */
        sq->sq_attr = attr;
        sq->sq_bytes = sq->sq_head = sq->sq_tail = 0;
        sq->rtc = 0;
        u->sq_waiting &= ~BIT(q);
    }
}

/* Does a submission queue, or a request, still want it? */
static bool cq_in_use(IrqbedUfs *u, unsigned q)
{
    unsigned i;

    for (i = 0; i < u->mcq_maxq; i++) {
        if (u->queues[i].sq_bytes &&
            FIELD_EX32(u->queues[i].sq_attr, SQATTR, CQID) == q) {
            return true;
        }
    }
    for (i = 0; i < u->nr_reqs; i++) {
        if (u->reqs[i].core.state != IRQBED_REQ_FREE && u->reqs[i].cq == q) {
            return true;
        }
    }
    return false;
}

void irqbed_ufs_cq_enable(IrqbedUfs *u, unsigned q, uint32_t attr)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    IrqbedUfsQueue *cq = &u->queues[q];
    bool on = FIELD_EX32(attr, CQATTR, CQEN);

    if (on && cq->cq_bytes) {
        irqbed_ctrl_guest_error(c, "CQ is there already", q);
        return;
    }
    if (!on && cq->cq_bytes && cq_in_use(u, q)) {
        irqbed_ctrl_guest_error(c, "CQ disabled while in use", q);
        return;
    }
    cq->cq_bytes = on ? queue_bytes(u, cq->cq_base, attr) : 0;
    if (on && !cq->cq_bytes) {
        return;
    }
    cq->cq_attr = attr;
    cq->cq_head = cq->cq_tail = 0;
    irqbed_ufs_cq_ack(u, q, UINT32_MAX);
    trace_irqbed_ufs_cq(c->name, q, cq->cq_base, cq->cq_bytes);
}

/* No request is in flight. */
void irqbed_ufs_mcq_reset(IrqbedUfs *u)
{
    uint32_t depth = MIN(u->nr_reqs, IRQBED_UFS_MAX_SLOTS);
    unsigned q;

    memset(u->queues, 0, sizeof(u->queues));
    u->cqis = u->cqie = u->cqes = u->sqie = u->iags = 0;
    u->sq_waiting = u->sq_next = u->new_slots = 0;
    timer_del(u->fetch_timer);
    irqbed_ufs_collect_free(u);
    if (!u->mcq) {
        return;
    }
    u->reg.ver = IRQBED_UFS_MCQ_VERSION;
    u->reg.cap = FIELD_DP32(u->reg.cap, CAP, NUTRS_MCQ, u->nr_reqs - 1);
    u->reg.cap = FIELD_DP32(u->reg.cap, CAP, MCQS, 1);
    q = u->mcq_maxq - 1;
    u->reg.mcqcap = FIELD_DP32(0, MCQCAP, MAXQ, q);
    u->reg.mcqcap = FIELD_DP32(u->reg.mcqcap, MCQCAP, RRP, 1);
    u->reg.mcqcap = FIELD_DP32(u->reg.mcqcap, MCQCAP, QCFGPTR,
                               IRQBED_UFS_QCFGPTR);
    u->reg.mcqcap = FIELD_DP32(u->reg.mcqcap, MCQCAP, MIAG, q);
    u->reg.mcqconfig = FIELD_DP32(0, MCQCONFIG, MAC, depth - 1);
}
