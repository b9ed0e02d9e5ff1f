/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections, acted: see faults.h.
 *
 * One timer serves everything that has a time: entries, steps of a knob, and
 * the events that a fault leaves behind.  Whoever resets the controller makes
 * the events of its requests forgotten; what is of the hardware (a link, the
 * line, the whole device) goes on.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/memalign.h"
#include "ctrl.h"
#include "trace.h"

static bool is_of_request(IrqbedFault fault)
{
    return fault >= IRQBED_FAULT_HOLD && fault <= IRQBED_FAULT_IRQ_DOUBLE;
}

static bool is_of_controller(IrqbedFault fault)
{
    return fault >= IRQBED_FAULT_IRQ_SPURIOUS && fault <= IRQBED_FAULT_REMOVE;
}

/* Does it go on when the guest resets the controller? */
static bool is_of_hardware(IrqbedFault fault)
{
    return fault == IRQBED_FAULT_IRQ_STUCK ||
           fault == IRQBED_FAULT_LINK_DOWN || fault == IRQBED_FAULT_REMOVE;
}

static bool transport_fault(IrqbedCtrl *c, IrqbedFaultCall call)
{
    const IrqbedTransport *t = irqbed_transport(c);

    return t->fault && t->fault(c, &call);
}

/* ---- the timer ---- */

void irqbed_faults_arm_timer(IrqbedCtrl *c)
{
    IrqbedFaults *f = &c->faults;
    int64_t next_ns = IRQBED_INJECT_NEVER;
    uint32_t i;

    for (i = 0; i < f->nr_entries; i++) {
        IrqbedInjectEntry *e = &f->entries[i];

        if (e->rule.armed) {
            next_ns = MIN(next_ns, e->rule.at_ns);
        }
        next_ns = MIN(next_ns, e->step_ns);
        if (e->waiting && is_of_controller(e->fault)) {
            next_ns = irqbed_now_ns();
        }
    }
    for (i = 0; i < f->nr_events; i++) {
        next_ns = MIN(next_ns, f->events[i].due_ns);
    }
    if (next_ns == IRQBED_INJECT_NEVER) {
        timer_del(f->timer);
    } else {
        timer_mod(f->timer, next_ns);
    }
}

/* ---- events ---- */

static bool has_room(const IrqbedFaults *f)
{
    return f->nr_events < IRQBED_FAULT_EVENTS;
}

static IrqbedFaultEvent *event_add(IrqbedCtrl *c, IrqbedFault fault,
                                   int64_t due_ns)
{
    IrqbedFaults *f = &c->faults;
    IrqbedFaultEvent *ev;

    if (!has_room(f)) {
        return NULL;
    }
    ev = &f->events[f->nr_events++];
    *ev = (IrqbedFaultEvent) { .due_ns = due_ns, .fault = fault };
    irqbed_faults_arm_timer(c);
    return ev;
}

void irqbed_fault_event_free(IrqbedFaultEvent *ev)
{
    g_clear_pointer(&ev->data, qemu_vfree);
    g_clear_pointer(&ev->segments, g_free);
}

static IrqbedFaultEvent event_remove(IrqbedFaults *f, uint32_t i)
{
    IrqbedFaultEvent ev = f->events[i];

    f->nr_events--;
    memmove(&f->events[i], &f->events[i + 1],
            (f->nr_events - i) * sizeof(ev));
    f->events[f->nr_events] = (IrqbedFaultEvent) {};
    return ev;
}

static void link_up(IrqbedCtrl *c, uint32_t target)
{
    if (c->faults.links_down & BIT(target)) {
        c->faults.links_down &= ~BIT(target);
        transport_fault(c, (IrqbedFaultCall) {
            .fault = IRQBED_FAULT_LINK_DOWN, .over = true, .target = target,
        });
    }
}

static void event_run(IrqbedCtrl *c, IrqbedFaultEvent *ev)
{
    switch (ev->fault) {
    case IRQBED_FAULT_DATA_LATE:
        irqbed_dma_scatter_to(c, ev->segments, ev->nr_segments, ev->data,
                              ev->bytes);
        break;
    case IRQBED_FAULT_COMPLETE_TWICE:
        transport_fault(c, (IrqbedFaultCall) {
            .fault = IRQBED_FAULT_COMPLETE_TWICE,
            .queue = ev->queue, .tag = ev->tag,
        });
        break;
    case IRQBED_FAULT_IRQ_LATE:
        irqbed_irq_post(c, ev->target);
        break;
    case IRQBED_FAULT_IRQ_DOUBLE:
        irqbed_irq_extra(c, ev->target);
        break;
    case IRQBED_FAULT_IRQ_STUCK:
        irqbed_irq_stick(c, ev->target, false);
        break;
    case IRQBED_FAULT_LINK_DOWN:
        link_up(c, ev->target);
        break;
    case IRQBED_FAULT_REMOVE:
        irqbed_ctrl_set_removed(c, false);
        break;
    case IRQBED_FAULT_COMMAND_LATE:
        transport_fault(c, (IrqbedFaultCall) {
            .fault = IRQBED_FAULT_COMMAND_LATE, .over = true,
        });
        break;
    default:
        g_assert_not_reached();
    }
    irqbed_fault_event_free(ev);
}

/* The first of those that are due earliest; false if none is due. */
static bool event_next(IrqbedFaults *f, int64_t now_ns, IrqbedFaultEvent *ev)
{
    uint32_t i, first = 0;

    for (i = 1; i < f->nr_events; i++) {
        if (f->events[i].due_ns < f->events[first].due_ns) {
            first = i;
        }
    }
    if (!f->nr_events || f->events[first].due_ns > now_ns) {
        return false;
    }
    *ev = event_remove(f, first);
    return true;
}

bool irqbed_faults_later(IrqbedCtrl *c, const IrqbedInjectEntry *e,
                         uint32_t target, int64_t now_ns)
{
    IrqbedFaultEvent *ev = event_add(c, e->fault, now_ns + e->ramp.for_ns);

    if (ev) {
        ev->target = target;
    }
    return ev;
}

static void events_drop(IrqbedCtrl *c, bool hardware_too)
{
    IrqbedFaults *f = &c->faults;
    uint32_t i = 0;

    while (i < f->nr_events) {
        if (hardware_too || !is_of_hardware(f->events[i].fault)) {
            IrqbedFaultEvent ev = event_remove(f, i);

            irqbed_fault_event_free(&ev);
        } else {
            i++;
        }
    }
}

void irqbed_faults_forget(IrqbedCtrl *c)
{
    events_drop(c, false);
    irqbed_faults_arm_timer(c);
}

/* ---- what an entry does ---- */

static void count_fired(IrqbedCtrl *c, IrqbedInjectEntry *e)
{
    /* Another vCPU's present may be a little before the one's that reset. */
    if (e->fired < IRQBED_INJECT_TIMES) {
        e->fired_ns[e->fired] = MAX(0, irqbed_now_ns() - c->faults.reset_ns);
    }
    e->fired++;
}

static bool knob_set(IrqbedCtrl *c, IrqbedInjectEntry *e, uint64_t value)
{
    Error *err = NULL;

    if (irqbed_knob_change(c, e->knob, value, &err)) {
        return true;
    }
    trace_irqbed_inject_refused(c->name, e->id, error_get_pretty(err));
    error_free(err);
    e->refused++;
    return false;
}

static bool knob_step(IrqbedCtrl *c, IrqbedInjectEntry *e, int64_t now_ns)
{
    e->changed = !e->ramp.for_ns || now_ns < e->ramp.begun_ns + e->ramp.for_ns;
    return knob_set(c, e, irqbed_ramp_value(&e->ramp, now_ns, &e->step_ns));
}

static void knob_begin(IrqbedCtrl *c, IrqbedInjectEntry *e, int64_t now_ns)
{
    if (!e->changed) {
        e->ramp.from = irqbed_knob_get(c, e->knob);
    }
    e->ramp.begun_ns = now_ns;
    if (knob_step(c, e, now_ns)) {
        count_fired(c, e);
    }
}

static void device_remove(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < c->nr_irqs; i++) {
        irqbed_irq_stick(c, i, false);
    }
    irqbed_req_clear_all(c);
    irqbed_transport(c)->reset(c);
    irqbed_irq_reset(c);
    irqbed_ctrl_set_removed(c, true);
}

/* False if it cannot be done. */
static bool act(IrqbedCtrl *c, IrqbedInjectEntry *e)
{
    IrqbedFaultCall call = { .fault = e->fault, .target = e->target };

    if (irqbed_ctrl_is_removed(c)) {
        return false;
    }
    switch (e->fault) {
    case IRQBED_FAULT_IRQ_SPURIOUS:
        return irqbed_irq_extra(c, e->target);
    case IRQBED_FAULT_IRQ_STUCK:
        return irqbed_irq_stick(c, e->target, true);
    case IRQBED_FAULT_IRQ_NO_SOURCE:
        return transport_fault(c, call);
    case IRQBED_FAULT_LINK_DOWN:
        if ((c->faults.links_down & BIT(e->target)) ||
            !transport_fault(c, call)) {
            return false;
        }
        c->faults.links_down |= BIT(e->target);
        return true;
    case IRQBED_FAULT_REMOVE:
        device_remove(c);
        return true;
    default:
        g_assert_not_reached();
    }
}

/* A fault of the controller, from the timer: no request is half fetched. */
static void act_now(IrqbedCtrl *c, IrqbedInjectEntry *e, int64_t now_ns)
{
    /* Without a time it lasts. */
    bool ends = is_of_hardware(e->fault) && e->ramp.for_ns;

    e->waiting--;
    if ((ends && !has_room(&c->faults)) || !act(c, e)) {
        e->refused++;
        return;
    }
    count_fired(c, e);
    if (ends) {
        irqbed_faults_later(c, e, e->target, now_ns);
    }
}

/* @req: what triggers it, or NULL: what it is about is yet to come. */
static void trigger(IrqbedCtrl *c, IrqbedInjectEntry *e, IrqbedReq *req,
                    int64_t now_ns)
{
    trace_irqbed_inject(c->name, e->id, req ? req->seq : 0,
                        e->rule.triggered);
    if (e->fault == IRQBED_FAULT_NONE) {
        knob_begin(c, e, now_ns);
    } else if (is_of_request(e->fault) && req) {
        req->inject |= BIT(e - c->faults.entries);
    } else {
        e->waiting++;
    }
}

static void faults_time(void *opaque)
{
    IrqbedCtrl *c = opaque;
    IrqbedFaults *f = &c->faults;
    MemReentrancyGuard *guard = &DEVICE(c)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;
    int64_t now_ns = irqbed_now_ns();
    IrqbedFaultEvent ev;
    uint32_t i;

    guard->engaged_in_io = true;
    while (event_next(f, now_ns, &ev)) {
        event_run(c, &ev);
    }
    for (i = 0; i < f->nr_entries; i++) {
        IrqbedInjectEntry *e = &f->entries[i];

        if (e->step_ns <= now_ns) {
            knob_step(c, e, now_ns);
        }
        while (irqbed_inject_time(&e->rule, now_ns)) {
            trigger(c, e, NULL, now_ns);
        }
        while (e->waiting && is_of_controller(e->fault)) {
            act_now(c, e, now_ns);
        }
    }
    irqbed_faults_arm_timer(c);
    guard->engaged_in_io = engaged;
}

/* ---- requests and commands ---- */

static bool is_about(const IrqbedInjectEntry *e, const IrqbedReq *req)
{
    switch (e->on) {
    case IRQBED_INJECT_ON_READ:
        return req->op == IRQBED_OP_READ;
    case IRQBED_INJECT_ON_WRITE:
        return req->op == IRQBED_OP_WRITE;
    case IRQBED_INJECT_ON_OTHER:
        return req->op != IRQBED_OP_READ && req->op != IRQBED_OP_WRITE;
    default:
        return true;
    }
}

void irqbed_faults_request(IrqbedReq *req)
{
    IrqbedCtrl *c = req->ctrl;
    uint32_t i;

    for (i = 0; i < c->faults.nr_entries; i++) {
        IrqbedInjectEntry *e = &c->faults.entries[i];

        if (!is_about(e, req)) {
            continue;
        }
        if (irqbed_inject_request(&e->rule)) {
            trigger(c, e, req, req->fetch_ns);
        } else if (e->waiting && is_of_request(e->fault)) {
            e->waiting--;
            req->inject |= BIT(i);
        }
    }
    if (c->faults.nr_entries) {
        irqbed_faults_arm_timer(c);
    }
}

static IrqbedInjectEntry *entry_of(IrqbedReq *req, IrqbedFault fault)
{
    uint32_t i, left;

    for (left = req->inject; left; left &= left - 1) {
        i = ctz32(left);
        if (req->ctrl->faults.entries[i].fault == fault) {
            return &req->ctrl->faults.entries[i];
        }
    }
    return NULL;
}

const IrqbedInjectEntry *irqbed_faults_take(IrqbedReq *req, IrqbedFault fault)
{
    IrqbedInjectEntry *e = entry_of(req, fault);

    if (e) {
        req->inject &= ~BIT(e - req->ctrl->faults.entries);
        count_fired(req->ctrl, e);
    }
    return e;
}

bool irqbed_faults_take_later(IrqbedReq *req, IrqbedFault fault,
                              uint32_t target, int64_t now_ns)
{
    IrqbedInjectEntry *e = entry_of(req, fault);

    return e && irqbed_faults_later(req->ctrl, e, target, now_ns) &&
           irqbed_faults_take(req, fault);
}

const IrqbedInjectEntry *irqbed_faults_take_command(IrqbedCtrl *c,
                                                    IrqbedFault fault)
{
    uint32_t i;

    for (i = 0; i < c->faults.nr_entries; i++) {
        IrqbedInjectEntry *e = &c->faults.entries[i];

        if (e->fault == fault && e->waiting) {
            e->waiting--;
            count_fired(c, e);
            return e;
        }
    }
    return NULL;
}

bool irqbed_faults_status(IrqbedReq *req)
{
    const IrqbedInjectEntry *e = entry_of(req, IRQBED_FAULT_STATUS);
    IrqbedFaultCall call = { .fault = IRQBED_FAULT_STATUS, .req = req };

    if (!e) {
        return false;
    }
    call.status = e->status;
    if (!transport_fault(req->ctrl, call)) {
        return false;
    }
    irqbed_faults_take(req, IRQBED_FAULT_STATUS);
    req->to_guest = 0;
    return true;
}

bool irqbed_faults_data_late(IrqbedReq *req, int64_t now_ns)
{
    IrqbedCtrl *c = req->ctrl;
    const IrqbedInjectEntry *e = entry_of(req, IRQBED_FAULT_DATA_LATE);
    IrqbedFaultEvent *ev;

    ev = e && req->buf_size <= IRQBED_MAX_LATE ?
         event_add(c, e->fault, now_ns + e->ramp.for_ns) : NULL;
    if (!ev) {
        return false;
    }
    irqbed_faults_take(req, IRQBED_FAULT_DATA_LATE);
    ev->data = g_steal_pointer(&req->buf);
    ev->bytes = req->to_guest;
    ev->segments = g_steal_pointer(&req->segments);
    ev->nr_segments = req->nr_segments;
    c->buffer_bytes -= req->buf_size;
    req->buf_size = 0;
    req->nr_segments = 0;
    req->max_segments = 0;
    req->to_guest = 0;
    return true;
}

void irqbed_faults_twice(IrqbedReq *req, int64_t now_ns)
{
    IrqbedCtrl *c = req->ctrl;
    const IrqbedInjectEntry *e = entry_of(req, IRQBED_FAULT_COMPLETE_TWICE);
    IrqbedFaultCall call = { .fault = IRQBED_FAULT_COMPLETE_TWICE,
                             .req = req };
    IrqbedFaultEvent *ev;

    if (!e) {
        return;
    }
    if (transport_fault(c, call)) {
        irqbed_faults_take(req, IRQBED_FAULT_COMPLETE_TWICE);
        return;
    }
    ev = event_add(c, e->fault, now_ns + e->ramp.for_ns);
    if (!ev) {
        return;
    }
    irqbed_faults_take(req, IRQBED_FAULT_COMPLETE_TWICE);
    ev->queue = req->queue;
    ev->tag = req->tag;
}

/* ---- life cycle ---- */

/* Knobs as they were, what is late comes now, what lasts is over. */
static void faults_end(IrqbedCtrl *c)
{
    IrqbedFaults *f = &c->faults;
    IrqbedFaultEvent ev;
    uint32_t i;

    for (i = f->nr_entries; i > 0; i--) {
        IrqbedInjectEntry *e = &f->entries[i - 1];

        if (e->changed) {
            knob_set(c, e, e->ramp.from);
        }
        e->changed = false;
        e->step_ns = IRQBED_INJECT_NEVER;
        e->waiting = 0;
    }
    while (event_next(f, INT64_MAX, &ev)) {
        event_run(c, &ev);
    }
    for (i = 0; i < c->nr_irqs; i++) {
        irqbed_irq_stick(c, i, false);
    }
    irqbed_ctrl_set_removed(c, false);
    while (f->links_down) {
        link_up(c, ctz32(f->links_down));
    }
}

void irqbed_faults_arm(IrqbedCtrl *c, bool all)
{
    IrqbedFaults *f = &c->faults;
    int64_t now_ns = irqbed_now_ns();
    IrqbedReq *req;
    uint32_t i;

    faults_end(c);
    f->reset_ns = now_ns;
    QTAILQ_FOREACH(req, &c->active, active_entry) {
        req->inject = 0;
    }
    for (i = 0; i < f->nr_entries; i++) {
        IrqbedInjectEntry *e = &f->entries[i];

        e->fired = 0;
        e->refused = 0;
        if (all || e->boot || e->rule.armed) {
            irqbed_inject_arm(&e->rule, c->knobs.seed + i, now_ns);
        }
    }
    irqbed_faults_arm_timer(c);
}

void irqbed_faults_start(IrqbedCtrl *c, uint32_t first)
{
    int64_t now_ns = irqbed_now_ns();
    uint32_t i;

    for (i = first; i < c->faults.nr_entries; i++) {
        irqbed_inject_arm(&c->faults.entries[i].rule, c->knobs.seed + i,
                          now_ns);
    }
    irqbed_faults_arm_timer(c);
}

void irqbed_faults_clear(IrqbedCtrl *c)
{
    IrqbedReq *req;

    faults_end(c);
    c->faults.nr_entries = 0;
    QTAILQ_FOREACH(req, &c->active, active_entry) {
        req->inject = 0;
    }
    irqbed_faults_arm_timer(c);
}

/* Knobs are the command line's; what an entry has made of one goes on. */
void irqbed_faults_resume(IrqbedCtrl *c)
{
    uint32_t i;

    irqbed_ctrl_set_removed(c, c->faults.removed);
    for (i = 0; i < c->faults.nr_entries; i++) {
        IrqbedInjectEntry *e = &c->faults.entries[i];

        if (e->changed) {
            e->ramp.from = irqbed_knob_get(c, e->knob);
            knob_step(c, e, irqbed_now_ns());
        }
    }
    irqbed_faults_arm_timer(c);
}

void irqbed_faults_realize(IrqbedCtrl *c)
{
    c->faults.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, faults_time, c);
}

void irqbed_faults_stop(IrqbedCtrl *c)
{
    events_drop(c, true);
    c->faults.nr_entries = 0;
}

void irqbed_faults_unrealize(IrqbedCtrl *c)
{
    g_clear_pointer(&c->faults.timer, timer_free);
}
