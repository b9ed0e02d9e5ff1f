/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The abstract controller's life: create, realize, reset, unrealize; and the
 * list of all controllers for the control port.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/log.h"
#include "ctrl.h"
#include "trace.h"

static QTAILQ_HEAD(, IrqbedCtrl) controllers =
    QTAILQ_HEAD_INITIALIZER(controllers);

void irqbed_ctrl_foreach(void (*fn)(IrqbedCtrl *, void *), void *opaque)
{
    IrqbedCtrl *c;

    QTAILQ_FOREACH(c, &controllers, entry) {
        fn(c, opaque);
    }
}

const char *irqbed_ctrl_name(IrqbedCtrl *c)
{
    return c->name;
}

void irqbed_ctrl_guest_error(IrqbedCtrl *c, const char *what, uint64_t value)
{
    c->stats.guest_errors++;
    trace_irqbed_guest_error(c->name, what, value);
    qemu_log_mask(LOG_GUEST_ERROR, "irqbed %s: %s: 0x%" PRIx64 "\n", c->name,
                  what, value);
}

static void irqbed_ctrl_realize(PCIDevice *dev, Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(dev);

    if (!irqbed_knobs_check(c, errp) || !irqbed_irq_realize(c, errp)) {
        return;
    }
    c->name = g_strdup(DEVICE(c)->id);
    if (!c->name) {
        c->name = g_strdup(object_get_canonical_path_component(OBJECT(c)));
    }
    irqbed_knobs_apply(c);
    irqbed_latency_seed(&c->latency, c->knobs.seed);
    c->due_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, irqbed_req_run_due, c);
    if (!irqbed_transport(c)->realize(c, errp)) {
        g_clear_pointer(&c->due_timer, timer_free);
        irqbed_irq_unrealize(c);
        g_clear_pointer(&c->name, g_free);
        return;
    }
    QTAILQ_INSERT_TAIL(&controllers, c, entry);
}

static void irqbed_ctrl_exit(PCIDevice *dev)
{
    IrqbedCtrl *c = IRQBED_CTRL(dev);

    QTAILQ_REMOVE(&controllers, c, entry);
    irqbed_req_clear_all(c);
    irqbed_irq_reset(c);
    irqbed_transport(c)->unrealize(c);
    g_clear_pointer(&c->due_timer, timer_free);
    irqbed_irq_unrealize(c);
    g_clear_pointer(&c->name, g_free);
}

static void irqbed_ctrl_reset_hold(Object *obj, ResetType type)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);

    irqbed_req_clear_all(c);
    irqbed_transport(c)->reset(c);
    irqbed_irq_reset(c);
    irqbed_latency_seed(&c->latency, c->knobs.seed);
    irqbed_shaper_init(&c->irq.shaper, c->knobs.seed);
    c->hold_count = 0;
}

static void irqbed_ctrl_get_stats(Object *obj, Visitor *v, const char *name,
                                  void *opaque, Error **errp)
{
    IrqbedCtrl *c = IRQBED_CTRL(obj);
    QObject *stats;

    if (!c->name) {
        error_setg(errp, "no statistics before the device is realized");
        return;
    }
    stats = QOBJECT(irqbed_ctrl_stats(c));
    visit_type_any(v, name, &stats, errp);
    qobject_unref(stats);
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

    pc->realize = irqbed_ctrl_realize;
    pc->exit = irqbed_ctrl_exit;
    rc->phases.hold = irqbed_ctrl_reset_hold;
    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
    irqbed_knobs_add(oc);
    object_class_property_add(oc, "stats", "any", irqbed_ctrl_get_stats, NULL,
                              NULL, NULL);
    object_class_property_set_description(oc, "stats",
                                          "counters and histograms");
}

static const TypeInfo irqbed_ctrl_info = {
    .name = TYPE_IRQBED_CTRL,
    .parent = TYPE_PCI_DEVICE,
    .abstract = true,
    .instance_size = sizeof(IrqbedCtrl),
    .instance_init = irqbed_ctrl_instance_init,
    .class_size = sizeof(IrqbedCtrlClass),
    .class_init = irqbed_ctrl_class_init,
    .interfaces = (InterfaceInfo[]) { { INTERFACE_PCIE_DEVICE }, { } },
};

static void irqbed_ctrl_register_types(void)
{
    type_register_static(&irqbed_ctrl_info);
}

type_init(irqbed_ctrl_register_types)
