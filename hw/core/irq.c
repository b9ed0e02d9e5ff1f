/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The only file that touches interrupt lines and messages: D5.
 *
 * The shaper (irq_shaper.c) decides, this file acts.  Status registers change
 * elsewhere, always before a function here is called, so that whatever a
 * handler reads is final at the instant the interrupt is raised.
 *
 * A message is sent when the shaper raises; the line is up from then until the
 * level falls, or, with irq-trigger=edge, until the status is read.  Time is
 * measured from raising until the guest first reads its status and until no
 * enabled status bit is left.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "ctrl.h"
#include "trace.h"

static bool irq_level(IrqbedIrq *irq)
{
    return irqbed_transport(irq->ctrl)->irq_level(irq->ctrl, irq->vector);
}

static IrqbedIrqRoute irq_route(IrqbedIrq *irq, MSIMessage *msg)
{
    const IrqbedTransport *t = irqbed_transport(irq->ctrl);

    if (irq->vector == 0 || !t->irq_route) {
        return IRQBED_IRQ_ROUTE_OWN;
    }
    return t->irq_route(irq->ctrl, irq->vector, msg);
}

/* @msg: what to send instead of the vector's own message, or NULL. */
static void irq_send(IrqbedIrq *irq, const MSIMessage *msg)
{
    PCIDevice *dev = PCI_DEVICE(irq->ctrl);
    MemReentrancyGuard *guard = &DEVICE(dev)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    if (irqbed_ctrl_is_removed(irq->ctrl)) {
        return;
    }
    irqbed_record_irq(irq->ctrl, irq->vector, irq->last_queue, irq->last_tag,
                      irq->last_seq);
    /* The message may be aimed at this device's own registers. */
    guard->engaged_in_io = true;
    if (msg) {
        msi_send_message(dev, *msg);
    } else if (msix_enabled(dev)) {
        msix_notify(dev, irq->vector);
    } else if (msi_enabled(dev)) {
        /* The guest may have granted fewer than the vectors there are. */
        msi_notify(dev, irq->vector < msi_nr_vectors_allocated(dev) ?
                        irq->vector : 0);
    } else if (irq->vector == 0) {
        pci_set_irq(dev, 1);
    }
    guard->engaged_in_io = engaged;
}

static void irq_line_down(IrqbedIrq *irq)
{
    if (irq->vector == 0 && !irqbed_ctrl_is_removed(irq->ctrl)) {
        pci_set_irq(PCI_DEVICE(irq->ctrl), 0);
    }
}

/* A line that is stuck does not come down, and a message is sent again. */
static void irq_let_go(IrqbedIrq *irq)
{
    MSIMessage msg;

    if (!irq->stuck) {
        irq_line_down(irq);
    } else if (irq_route(irq, &msg) == IRQBED_IRQ_ROUTE_MESSAGE) {
        irq_send(irq, &msg);
    } else {
        irq_send(irq, NULL);
    }
}

static void irq_arm(IrqbedIrq *irq)
{
    if (irq->shaper.next_ns == IRQBED_SHAPER_NEVER) {
        timer_del(irq->timer);
    } else {
        timer_mod(irq->timer, irq->shaper.next_ns);
    }
}

static void irq_step(IrqbedIrq *irq, IrqbedShaperEvent event, int64_t now_ns);

/* Vector 0 has a new status bit for this one, whose delays are behind it. */
static void irq_forward(IrqbedIrq *irq, int64_t now_ns)
{
    IrqbedIrq *to = &irq->ctrl->irqs[0];

    to->last_queue = irq->last_queue;
    to->last_tag = irq->last_tag;
    to->last_seq = irq->last_seq;
    to->level = irq_level(to);
    if (to->level) {
        irq_step(to, IRQBED_SHAPER_FORWARD, now_ns);
    }
}

static void irq_raise(IrqbedIrq *irq, int64_t now_ns)
{
    IrqbedCtrl *c = irq->ctrl;
    MSIMessage msg;
    IrqbedIrqRoute route = irq_route(irq, &msg);

    if (route == IRQBED_IRQ_ROUTE_SHARED) {
        irq_forward(irq, now_ns);
        return;
    }
    c->stats.irq_raised++;
    irqbed_series_irq(&c->series, now_ns);
    irq->raised_ns = now_ns;
    irq->await_read = true;
    irq->await_clear = true;
    trace_irqbed_irq_raise(c->name, irq->last_queue, irq->last_tag,
                           irq->last_seq, irq->vector,
                           irq->vector || msi_enabled(PCI_DEVICE(c)) ||
                           msix_enabled(PCI_DEVICE(c)));
    irq_send(irq, route == IRQBED_IRQ_ROUTE_MESSAGE ? &msg : NULL);
}

static void irq_lower(IrqbedIrq *irq, int64_t now_ns)
{
    trace_irqbed_irq_lower(irq->ctrl->name, irq->last_queue, irq->last_tag,
                           irq->last_seq, irq->vector,
                           now_ns - irq->raised_ns);
    irq_let_go(irq);
}

static void irq_step(IrqbedIrq *irq, IrqbedShaperEvent event, int64_t now_ns)
{
    IrqbedStats *stats = &irq->ctrl->stats;
    IrqbedShaperDecision d;

    d = irqbed_shaper_step(&irq->shaper, &irq->cfg, event, irq->level, now_ns);
    trace_irqbed_irq_step(irq->ctrl->name, irq->last_queue, irq->last_tag,
                          irq->last_seq, irq->vector, event,
                          irq->shaper.state, d.dropped, d.suppressed,
                          d.coalesced);
    stats->irq_dropped += d.dropped;
    stats->irq_suppressed += d.suppressed;
    stats->irq_coalesced += d.coalesced;
    irq_arm(irq);
    if (d.lower) {
        irq_lower(irq, now_ns);
    }
    if (d.raise) {
        irq_raise(irq, now_ns);
    }
}

/* Injected: does this completion's interrupt not come now, or not alone? */
static bool irq_fault(IrqbedIrq *irq, IrqbedReq *req, int64_t now_ns)
{
    if (!req->inject) {
        return false;
    }
    if (irqbed_faults_take(req, IRQBED_FAULT_IRQ_LOST)) {
        irq->ctrl->stats.irq_dropped++;
        return true;
    }
    irqbed_faults_take_later(req, IRQBED_FAULT_IRQ_DOUBLE, irq->vector,
                             now_ns);
    return irqbed_faults_take_later(req, IRQBED_FAULT_IRQ_LATE, irq->vector,
                                    now_ns);
}

void irqbed_irq_completion(IrqbedCtrl *c, IrqbedReq *req, bool urgent,
                           int64_t now_ns)
{
    IrqbedIrq *irq = &c->irqs[req->vector];

    irq->last_queue = req->queue;
    irq->last_tag = req->tag;
    irq->last_seq = req->seq;
    irq->level = irq_level(irq);
    /* Masked: enabling it later is what raises, not the completion. */
    if (irq->level && !irq_fault(irq, req, now_ns)) {
        irq_step(irq, urgent ? IRQBED_SHAPER_URGENT :
                               IRQBED_SHAPER_COMPLETION, now_ns);
    }
}

void irqbed_irq_post(IrqbedCtrl *c, unsigned vector)
{
    IrqbedIrq *irq = &c->irqs[vector];

    irq->level = irq_level(irq);
    if (irq->level) {
        irq_step(irq, IRQBED_SHAPER_URGENT, irqbed_now_ns());
    }
}

/* What was raised is answered; whatever waits is given up. */
static void irq_cleared(IrqbedIrq *irq, int64_t now_ns)
{
    if (irq->await_clear) {
        irqbed_hist_add(&irq->ctrl->stats.irq_to_clear_ns,
                        now_ns - irq->raised_ns);
    }
    irq->await_clear = false;
    irq->await_read = false;
    irq_step(irq, IRQBED_SHAPER_CLEARED, now_ns);
}

void irqbed_irq_update(IrqbedCtrl *c, unsigned vector)
{
    IrqbedIrq *irq = &c->irqs[vector];
    bool level = irq_level(irq);

    if (level == irq->level) {
        return;
    }
    irq->level = level;
    if (level) {
        irq_step(irq, IRQBED_SHAPER_URGENT, irqbed_now_ns());
    } else {
        irq_cleared(irq, irqbed_now_ns());
    }
}

void irqbed_irq_retrigger(IrqbedCtrl *c, unsigned vector)
{
    IrqbedIrq *irq = &c->irqs[vector];
    int64_t now_ns = irqbed_now_ns();

    irq->level = irq_level(irq);
    /* One that waits or is under way covers what is left: let it come. */
    if (irq->level && irq->shaper.state != IRQBED_SHAPER_RAISED) {
        return;
    }
    irq_cleared(irq, now_ns);
    if (irq->level) {
        irq_step(irq, IRQBED_SHAPER_URGENT, now_ns);
    }
}

void irqbed_irq_status_read(IrqbedCtrl *c, unsigned vector)
{
    IrqbedIrq *irq = &c->irqs[vector];

    if (irq->await_read) {
        irq->await_read = false;
        irqbed_hist_add(&c->stats.irq_to_read_ns,
                        irqbed_now_ns() - irq->raised_ns);
        if (c->knobs.irq_trigger == IRQBED_IRQ_EDGE && !irq->stuck) {
            irq_line_down(irq);
        }
    }
}

void irqbed_irq_guest_window(IrqbedCtrl *c, unsigned vector, bool on,
                             uint32_t count, int64_t timeout_ns)
{
    IrqbedIrq *irq = &c->irqs[vector];

    irq->guest_window = on;
    irq->guest_count = count;
    irq->guest_timeout_ns = timeout_ns;
    irqbed_knobs_apply(c);
}

void irqbed_irq_restart_window(IrqbedCtrl *c, unsigned vector)
{
    irq_step(&c->irqs[vector], IRQBED_SHAPER_RESTART, irqbed_now_ns());
}

bool irqbed_irq_window_open(IrqbedCtrl *c, unsigned vector)
{
    return c->irqs[vector].shaper.state == IRQBED_SHAPER_WINDOW;
}

/* The guest found the last completion without it, and reuses the tag. */
static bool irq_is_late(IrqbedIrq *irq)
{
    IrqbedReq *req;

    QTAILQ_FOREACH(req, &irq->ctrl->active, active_entry) {
        if (req->queue == irq->last_queue && req->tag == irq->last_tag) {
            return req->seq != irq->last_seq;
        }
    }
    return false;
}

/* By the shaper: the line is up, or the message was the last word. */
static bool irq_is_up(IrqbedIrq *irq)
{
    return irq->shaper.state == IRQBED_SHAPER_RAISED &&
           (irq->await_read ||
            irq->ctrl->knobs.irq_trigger != IRQBED_IRQ_EDGE);
}

bool irqbed_irq_extra(IrqbedCtrl *c, unsigned vector)
{
    IrqbedIrq *irq = &c->irqs[vector];
    MSIMessage msg;

    if (vector >= c->nr_irqs) {
        return false;
    }
    irq_send(irq, irq_route(irq, &msg) == IRQBED_IRQ_ROUTE_MESSAGE ? &msg
                                                                   : NULL);
    c->stats.irq_late += irq_is_late(irq);
    if (!irq->stuck && !irq_is_up(irq)) {
        irq_line_down(irq);
    }
    c->stats.irq_extra++;
    return true;
}

bool irqbed_irq_stick(IrqbedCtrl *c, unsigned vector, bool stuck)
{
    IrqbedIrq *irq = &c->irqs[vector];

    if (vector >= c->nr_irqs || irq->stuck == stuck) {
        return false;
    }
    irq->stuck = stuck;
    if (stuck) {
        irq_let_go(irq);
    } else if (!irq_is_up(irq)) {
        irq_line_down(irq);
    }
    return true;
}

static void irq_time(void *opaque)
{
    IrqbedIrq *irq = opaque;
    IrqbedStats *stats = &irq->ctrl->stats;
    uint64_t raised = stats->irq_raised;

    irq_step(irq, IRQBED_SHAPER_TIME, irqbed_now_ns());
    stats->irq_late += stats->irq_raised > raised && irq_is_late(irq);
}

void irqbed_irq_seed(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < c->nr_irqs; i++) {
        irqbed_shaper_seed(&c->irqs[i].shaper, c->knobs.seed + i);
    }
}

void irqbed_irq_reset(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < c->nr_irqs; i++) {
        IrqbedIrq *irq = &c->irqs[i];

        irqbed_shaper_reset(&irq->shaper);
        irq_arm(irq);
        irq->level = false;
        irq->await_read = false;
        irq->await_clear = false;
        irqbed_irq_guest_window(c, i, false, 0, 0);
        if (!irq->stuck) {
            irq_line_down(irq);
        }
    }
}

void irqbed_irq_resume(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < c->nr_irqs; i++) {
        irq_arm(&c->irqs[i]);
    }
}

static bool offer_messages(IrqbedCtrl *c, unsigned n, Error **errp)
{
    uint8_t msix_bar = irqbed_transport(c)->msix_bar;
    PCIDevice *dev = PCI_DEVICE(c);
    unsigned i;

    switch (c->knobs.irq_mode) {
    case IRQBED_IRQ_MODE_MSI:
        return msi_init(dev, 0, msix_bar ? 1 : n, true, false, errp) == 0;
    case IRQBED_IRQ_MODE_MSIX:
        if (!msix_bar) {
            error_setg(errp, "irq-mode: this controller has no msix: must be "
                       "msi or intx");
            return false;
        }
        if (msix_init_exclusive_bar(dev, n, msix_bar, errp) < 0) {
            return false;
        }
        for (i = 0; i < n; i++) {
            msix_vector_use(dev, i);
        }
        return true;
    default:
        return true;
    }
}

bool irqbed_irq_realize(IrqbedCtrl *c, Error **errp)
{
    const IrqbedTransport *t = irqbed_transport(c);
    unsigned i, n = t->vectors ? t->vectors(c) : 1;

    pci_config_set_interrupt_pin(PCI_DEVICE(c)->config, 1);
    if (!offer_messages(c, n, errp)) {
        return false;
    }
    c->irqs = g_new0(IrqbedIrq, n);
    c->nr_irqs = n;
    for (i = 0; i < n; i++) {
        IrqbedIrq *irq = &c->irqs[i];

        irq->ctrl = c;
        irq->vector = i;
        irqbed_shaper_reset(&irq->shaper);
        irq->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, irq_time, irq);
    }
    return true;
}

void irqbed_irq_stop(IrqbedCtrl *c)
{
    msi_uninit(PCI_DEVICE(c));
    msix_uninit_exclusive_bar(PCI_DEVICE(c));
}

void irqbed_irq_unrealize(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < c->nr_irqs; i++) {
        timer_free(c->irqs[i].timer);
    }
    c->nr_irqs = 0;
    g_clear_pointer(&c->irqs, g_free);
}
