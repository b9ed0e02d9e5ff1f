/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The abstract controller's life: create, realize, reset, unrealize.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "system/runstate.h"
#include "ctrl.h"
#include "trace.h"

void irqbed_ctrl_guest_error(IrqbedCtrl *c, const char *what, uint64_t value)
{
    c->stats.guest_errors++;
    trace_irqbed_guest_error(c->name, what, value);
    qemu_log_mask(LOG_GUEST_ERROR, "irqbed %s: %s: 0x%" PRIx64 "\n", c->name,
                  what, value);
}

void irqbed_ctrl_seed(IrqbedCtrl *c)
{
    unsigned i;

    for (i = 0; i < c->nr_media; i++) {
        irqbed_latency_seed(&c->media[i], c->knobs.seed + i);
    }
    irqbed_irq_seed(c);
}

static void ctrl_vm_state(void *opaque, bool running, RunState state)
{
    if (running) {
        irqbed_req_restart(opaque);
    }
}

/* It is no PCI function any more. */
static void ctrl_stop(IrqbedCtrl *c)
{
    c->unplugged = true;
    g_clear_pointer(&c->vm_state, qemu_del_vm_change_state_handler);
    irqbed_faults_stop(c);
    irqbed_removal_unrealize(c);
    irqbed_irq_stop(c);
}

static void ctrl_free(IrqbedCtrl *c)
{
    g_clear_pointer(&c->due_timer, timer_free);
    irqbed_faults_unrealize(c);
    irqbed_ctrl_series_free(c);
    irqbed_irq_unrealize(c);
    g_clear_pointer(&c->media, g_free);
    c->nr_media = 0;
    g_clear_pointer(&c->name, g_free);
}

static void irqbed_ctrl_realize(PCIDevice *dev, Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(dev);
    const IrqbedTransport *t = irqbed_transport(c);

    if (!irqbed_knobs_check(c, errp) || !irqbed_irq_realize(c, errp)) {
        return;
    }
    c->name = g_strdup(irqbed_stats_name(OBJECT(c)));
    c->nr_media = t->media ? t->media(c) : 1;
    c->media = g_new0(IrqbedLatency, c->nr_media);
    irqbed_knobs_apply(c);
    irqbed_ctrl_seed(c);
    c->due_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, irqbed_req_run_due, c);
    c->vm_state = qdev_add_vm_change_state_handler(DEVICE(c), ctrl_vm_state, c);
    irqbed_faults_realize(c);
    irqbed_ctrl_series_reset(c);
    irqbed_removal_realize(c);
    if (!t->realize(c, errp)) {
        ctrl_stop(c);
        ctrl_free(c);
    }
}

static void ctrl_unrealize(void *opaque)
{
    IrqbedCtrl *c = opaque;

    irqbed_transport(c)->unrealize(c);
    ctrl_free(c);
    object_unref(OBJECT(c));
}

/*
 * A message may be aimed at what unplugs this very device, so that we may be
 * below one of our own functions.  Until that has returned, memory and timers
 * stay; nothing reaches the guest or its memory any more.
 */
static void irqbed_ctrl_exit(PCIDevice *dev)
{
    IrqbedCtrl *c = IRQBED_CTRL(dev);

    irqbed_req_clear_all(c);
    irqbed_transport(c)->reset(c);
    irqbed_irq_reset(c);
    ctrl_stop(c);
    object_ref(OBJECT(c));
    aio_bh_schedule_oneshot(qemu_get_aio_context(), ctrl_unrealize, c);
}

static void irqbed_ctrl_reset_hold(Object *obj, ResetType type)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);

    irqbed_faults_arm(c, false);
    irqbed_req_clear_all(c);
    irqbed_transport(c)->reset(c);
    irqbed_irq_reset(c);
    irqbed_ctrl_seed(c);
    c->hold_count = 0;
    c->fail_count = 0;
}

static void irqbed_ctrl_instance_init(Object *obj)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);

    QTAILQ_INIT(&c->active);
    QTAILQ_INIT(&c->due);
    c->next_seq = 1;
    irqbed_knobs_init(c);
}

static void irqbed_ctrl_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);
    ResettableClass *rc = RESETTABLE_CLASS(oc);
    IrqbedStatsSourceClass *sc = IRQBED_STATS_SOURCE_CLASS(oc);

    pc->realize = irqbed_ctrl_realize;
    pc->exit = irqbed_ctrl_exit;
    pc->config_read = irqbed_ctrl_config_read;
    pc->config_write = irqbed_ctrl_config_write;
    rc->phases.hold = irqbed_ctrl_reset_hold;
    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
    irqbed_knobs_add(oc);
    sc->stats = irqbed_ctrl_stats;
    sc->reset = irqbed_ctrl_stats_reset;
    irqbed_stats_add_property(oc);
    irqbed_inject_add_properties(oc);
    irqbed_record_add_properties(oc);
    sc->record = irqbed_record_get;
}

static const TypeInfo irqbed_ctrl_info = {
    .name = TYPE_IRQBED_CTRL,
    .parent = TYPE_PCI_DEVICE,
    .abstract = true,
    .instance_size = sizeof(IrqbedCtrl),
    .instance_init = irqbed_ctrl_instance_init,
    .class_size = sizeof(IrqbedCtrlClass),
    .class_init = irqbed_ctrl_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { TYPE_IRQBED_STATS_SOURCE },
        { },
    },
};

static void irqbed_ctrl_register_types(void)
{
    type_register_static(&irqbed_ctrl_info);
}

type_init(irqbed_ctrl_register_types)
