/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The only file that touches interrupt lines and messages: D5.
 *
 * The shaper (irq_shaper.c) decides, this file acts.  Status registers change
 * elsewhere, always before a function here is called, so that whatever a
 * handler reads is final at the instant the interrupt is raised.
 *
 * MSI is sent when the shaper raises; the line is up from then until the level
 * falls.  Time is measured from raising until the guest first reads its status
 * and until no enabled status bit is left.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msi.h"
#include "ctrl.h"
#include "trace.h"

static void irq_set_line(IrqbedCtrl *c, bool up)
{
    PCIDevice *dev = PCI_DEVICE(c);

    if (up && msi_enabled(dev)) {
        msi_notify(dev, 0);
    } else {
        pci_set_irq(dev, up);
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

static void irq_raise(IrqbedCtrl *c, int64_t now_ns)
{
    IrqbedIrq *irq = &c->irq;

    c->stats.irq_raised++;
    irq->raised_ns = now_ns;
    irq->await_read = true;
    irq->await_clear = true;
    trace_irqbed_irq_raise(c->name, irq->last_queue, irq->last_tag,
                           irq->last_seq, msi_enabled(PCI_DEVICE(c)));
    irq_set_line(c, true);
}

static void irq_lower(IrqbedCtrl *c, int64_t now_ns)
{
    IrqbedIrq *irq = &c->irq;

    trace_irqbed_irq_lower(c->name, irq->last_queue, irq->last_tag,
                           irq->last_seq, now_ns - irq->raised_ns);
    irq_set_line(c, false);
}

static void irq_step(IrqbedCtrl *c, IrqbedShaperEvent event, int64_t now_ns)
{
    IrqbedIrq *irq = &c->irq;
    IrqbedShaperDecision d;

    d = irqbed_shaper_step(&irq->shaper, &irq->cfg, event, irq->level, now_ns);
    trace_irqbed_irq_step(c->name, irq->last_queue, irq->last_tag,
                          irq->last_seq, event, irq->level,
                          irq->shaper.state, d.dropped, d.suppressed,
                          d.coalesced);
    c->stats.irq_dropped += d.dropped;
    c->stats.irq_suppressed += d.suppressed;
    c->stats.irq_coalesced += d.coalesced;
    irq_arm(irq);
    if (d.lower) {
        irq_lower(c, now_ns);
    }
    if (d.raise) {
        irq_raise(c, now_ns);
    }
}

void irqbed_irq_completion(IrqbedCtrl *c, IrqbedReq *req, bool urgent,
                           int64_t now_ns)
{
    IrqbedIrq *irq = &c->irq;

    irq->last_queue = req->queue;
    irq->last_tag = req->tag;
    irq->last_seq = req->seq;
    irq->level = irqbed_transport(c)->irq_level(c);
    /* Masked: enabling it later is what raises, not the completion. */
    if (irq->level) {
        irq_step(c, urgent ? IRQBED_SHAPER_URGENT : IRQBED_SHAPER_COMPLETION,
                 now_ns);
    }
}

void irqbed_irq_post(IrqbedCtrl *c)
{
    c->irq.level = irqbed_transport(c)->irq_level(c);
    if (c->irq.level) {
        irq_step(c, IRQBED_SHAPER_URGENT, irqbed_now_ns());
    }
}

void irqbed_irq_update(IrqbedCtrl *c)
{
    IrqbedIrq *irq = &c->irq;
    bool level = irqbed_transport(c)->irq_level(c);
    int64_t now_ns;

    if (level == irq->level) {
        return;
    }
    irq->level = level;
    now_ns = irqbed_now_ns();
    if (level) {
        irq_step(c, IRQBED_SHAPER_URGENT, now_ns);
        return;
    }
    if (irq->await_clear) {
        irqbed_hist_add(&c->stats.irq_to_clear_ns, now_ns - irq->raised_ns);
    }
    irq->await_clear = false;
    irq->await_read = false;
    irq_step(c, IRQBED_SHAPER_CLEARED, now_ns);
}

void irqbed_irq_status_read(IrqbedCtrl *c)
{
    IrqbedIrq *irq = &c->irq;

    if (irq->await_read) {
        irq->await_read = false;
        irqbed_hist_add(&c->stats.irq_to_read_ns,
                        irqbed_now_ns() - irq->raised_ns);
    }
}

void irqbed_irq_guest_window(IrqbedCtrl *c, bool on, uint32_t count,
                             int64_t timeout_ns)
{
    c->irq.guest_window = on;
    c->irq.guest_count = count;
    c->irq.guest_timeout_ns = timeout_ns;
    irqbed_knobs_apply(c);
}

void irqbed_irq_restart_window(IrqbedCtrl *c)
{
    irq_step(c, IRQBED_SHAPER_RESTART, irqbed_now_ns());
}

bool irqbed_irq_window_open(IrqbedCtrl *c)
{
    return c->irq.shaper.state == IRQBED_SHAPER_WINDOW;
}

static void irq_time(void *opaque)
{
    IrqbedCtrl *c = opaque;
    MemReentrancyGuard *guard = &DEVICE(c)->mem_reentrancy_guard;
    bool engaged = guard->engaged_in_io;

    /* A message may be aimed at this device's own registers. */
    guard->engaged_in_io = true;
    irq_step(c, IRQBED_SHAPER_TIME, irqbed_now_ns());
    guard->engaged_in_io = engaged;
}

void irqbed_irq_reset(IrqbedCtrl *c)
{
    IrqbedIrq *irq = &c->irq;

    irqbed_shaper_reset(&irq->shaper);
    irq_arm(irq);
    irq->level = false;
    irq->await_read = false;
    irq->await_clear = false;
    irqbed_irq_guest_window(c, false, 0, 0);
    irq_set_line(c, false);
}

bool irqbed_irq_realize(IrqbedCtrl *c, Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(c);

    pci_config_set_interrupt_pin(dev->config, 1);
    if (c->knobs.irq_mode == IRQBED_IRQ_MODE_MSI &&
        msi_init(dev, 0, 1, true, false, errp) < 0) {
        return false;
    }
    irqbed_shaper_init(&c->irq.shaper, c->knobs.seed);
    c->irq.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, irq_time, c);
    return true;
}

void irqbed_irq_unrealize(IrqbedCtrl *c)
{
    timer_free(c->irq.timer);
    c->irq.timer = NULL;
    msi_uninit(PCI_DEVICE(c));
}
