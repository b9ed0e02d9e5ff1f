/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ufs: the device itself.  PCI identity, bus, power-on values of the
 * registers, and the transport's operations.
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/qdev-properties.h"
#include "ufs.h"

#define MAX_SERIAL 20

/* UFSHCI 3.1, chapter 5: read-only capabilities, everything else 0. */
static void irqbed_ufs_reset(IrqbedCtrl *c)
{
    IrqbedUfs *u = IRQBED_UFS(c);
    uint32_t cap = 0;

    memset(&u->reg, 0, sizeof(u->reg));
    cap = FIELD_DP32(cap, CAP, NUTRS, u->nr_reqs - 1);
    cap = FIELD_DP32(cap, CAP, RTT, 2);
    cap = FIELD_DP32(cap, CAP, NUTMRS, IRQBED_UFS_TM_SLOTS - 1);
    cap = FIELD_DP32(cap, CAP, 64AS, 1);
    u->reg.cap = cap;
    u->reg.ver = IRQBED_UFS_VERSION;
    u->link_error_count = 0;
    irqbed_ufs_mcq_reset(u);
    irqbed_ufs_uic_reset(u);
    irqbed_ufs_query_reset(u);
    irqbed_ufs_units_reset(u);
}

static const char *const hold_until_words[] = {
    [IRQBED_UFS_HOLD_UNTIL_ABORT] = "abort",
    [IRQBED_UFS_HOLD_UNTIL_LU_RESET] = "lu-reset",
    [IRQBED_UFS_HOLD_UNTIL_HOST_RESET] = "host-reset",
    NULL
};

static char *get_hold_until(Object *obj, Error **errp)
{
    return g_strdup(hold_until_words[IRQBED_UFS(obj)->hold_until]);
}

static void set_hold_until(Object *obj, const char *word, Error **errp)
{
    irqbed_parse_word("hold-until", word, hold_until_words,
                      &IRQBED_UFS(obj)->hold_until, errp);
}

/* In the order of IrqbedUfsLinkError. */
static const char *const link_error_words[] = {
    "pa-init", "pa-lane", "pa-generic", "dl-nac", "dl-replay", "network",
    "transport", "dme", NULL
};

static char *get_link_error_kind(Object *obj, Error **errp)
{
    return g_strdup(link_error_words[IRQBED_UFS(obj)->link_error_kind]);
}

static void set_link_error_kind(Object *obj, const char *word, Error **errp)
{
    irqbed_parse_word("link-error-kind", word, link_error_words,
                      &IRQBED_UFS(obj)->link_error_kind, errp);
}

static void visit_link_error_every(Object *obj, Visitor *v, const char *name,
                                   void *opaque, Error **errp)
{
    visit_type_uint64(v, name, &IRQBED_UFS(obj)->link_error_every, errp);
}

static void get_temperature(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    visit_type_uint64(v, name, &IRQBED_UFS(obj)->temperature, errp);
}

static void set_temperature(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    uint64_t value;

    if (!visit_type_uint64(v, name, &value, errp)) {
        return;
    }
    if (value > IRQBED_UFS_MAX_TEMPERATURE) {
        error_setg(errp, "case-temperature: %" PRIu64 " is not between 0 and "
                   "%d", value, IRQBED_UFS_MAX_TEMPERATURE);
        return;
    }
    IRQBED_UFS(obj)->temperature = value;
}

static bool check_queues(IrqbedUfs *u, Error **errp)
{
    uint64_t depth = IRQBED_CTRL(u)->knobs.queue_depth;

    if (!u->mcq_maxq || u->mcq_maxq > IRQBED_UFS_MAX_QUEUES) {
        error_setg(errp, "mcq-maxq: %u is not between 1 and %d", u->mcq_maxq,
                   IRQBED_UFS_MAX_QUEUES);
        return false;
    }
    if (!u->mcq && depth > IRQBED_UFS_MAX_SLOTS) {
        error_setg(errp, "queue-depth: %" PRIu64 " is not between 1 and %d; "
                   "more than that needs mcq=on", depth, IRQBED_UFS_MAX_SLOTS);
        return false;
    }
    return true;
}

static void init_requests(IrqbedUfs *u)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    unsigned i;

    u->nr_reqs = c->knobs.queue_depth;
    u->reqs = g_new0(IrqbedUfsReq, u->nr_reqs);
    for (i = 0; i < u->nr_reqs; i++) {
        irqbed_req_init(&u->reqs[i].core, c, 0, i);
    }
    u->fetch_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, irqbed_ufs_fetch_run, u);
}

static bool irqbed_ufs_realize(IrqbedCtrl *c, Error **errp)
{
    IrqbedUfs *u = IRQBED_UFS(c);
    PCIDevice *dev = PCI_DEVICE(c);

    if (!u->serial) {
        u->serial = g_strdup("IRQBED0001");
    }
    if (strlen(u->serial) > MAX_SERIAL) {
        error_setg(errp, "serial: longer than %d characters", MAX_SERIAL);
        return false;
    }
    if (!check_queues(u, errp)) {
        return false;
    }
    pci_config_set_prog_interface(dev->config, 0x1);
    init_requests(u);
    qbus_init(&u->bus, sizeof(u->bus), TYPE_IRQBED_UFS_BUS, DEVICE(u), NULL);
    memory_region_init_io(&u->mmio, OBJECT(u), &irqbed_ufs_mmio_ops, u,
                          "irqbed-ufs", IRQBED_UFS_MMIO_BYTES);
    pci_register_bar(dev, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &u->mmio);
    irqbed_ufs_reset(c);
    return true;
}

static void irqbed_ufs_unrealize(IrqbedCtrl *c)
{
    IrqbedUfs *u = IRQBED_UFS(c);
    unsigned i;

    g_clear_pointer(&u->fetch_timer, timer_free);
    for (i = 0; i < u->nr_reqs; i++) {
        irqbed_req_destroy(&u->reqs[i].core);
    }
    g_clear_pointer(&u->reqs, g_free);
}

static const Property irqbed_ufs_props[] = {
    DEFINE_PROP_STRING("serial", IrqbedUfs, serial),
    DEFINE_PROP_BOOL("unit-attention", IrqbedUfs, unit_attention, true),
    DEFINE_PROP_BOOL("mcq", IrqbedUfs, mcq, false),
    DEFINE_PROP_UINT8("mcq-maxq", IrqbedUfs, mcq_maxq, 8),
    /* As with the host's clock, whatever the clock is: for the fuzzer. */
    DEFINE_PROP_BOOL("x-fetch-by-timer", IrqbedUfs, fetch_by_timer, false),
};

static const IrqbedTransport irqbed_ufs_transport = {
    .realize = irqbed_ufs_realize,
    .unrealize = irqbed_ufs_unrealize,
    .reset = irqbed_ufs_reset,
    .answer = irqbed_ufs_answer,
    .irq_level = irqbed_ufs_irq_level,
    .can_answer = irqbed_ufs_can_answer,
    .vectors = irqbed_ufs_irq_vectors,
    .irq_route = irqbed_ufs_irq_route,
    .fault = irqbed_ufs_fault,
    .fault_statuses = irqbed_ufs_fault_statuses,
    .faults = BIT(IRQBED_FAULT_STATUS) | BIT(IRQBED_FAULT_COMPLETE_TWICE) |
              BIT(IRQBED_FAULT_LINK_DOWN) | BIT(IRQBED_FAULT_COMMAND_LATE) |
              BIT(IRQBED_FAULT_COMMAND_FAIL),
    .msix_bar = IRQBED_UFS_MSIX_BAR,
};

static void irqbed_ufs_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    IRQBED_CTRL_CLASS(oc)->transport = &irqbed_ufs_transport;
    pc->vendor_id = PCI_VENDOR_ID_REDHAT;
    pc->device_id = PCI_DEVICE_ID_REDHAT_UFS;
    pc->class_id = PCI_CLASS_STORAGE_UFS;
    dc->desc = "irqbed UFS host controller";
    dc->vmsd = &irqbed_ufs_vmstate;
    device_class_set_props(dc, irqbed_ufs_props);
    object_class_property_add_str(oc, "hold-until", get_hold_until,
                                  set_hold_until);
    object_class_property_set_description(oc, "hold-until",
        "gentlest function that lets go what hold-every holds "
        "[abort | lu-reset | host-reset]");
    object_class_property_add(oc, "link-error-every", "uint64",
                              visit_link_error_every, visit_link_error_every,
                              NULL, NULL);
    object_class_property_set_description(oc, "link-error-every",
        "fault: after every n-th request the link reports an error; 0: never "
        "[0 - 18446744073709551615]");
    object_class_property_add(oc, "case-temperature", "uint64",
                              get_temperature, set_temperature, NULL, NULL);
    object_class_property_set_description(oc, "case-temperature",
        "degrees Celsius + 80, as in the attribute; 0: no sensor [0 - 250]");
    object_class_property_add_str(oc, "link-error-kind", get_link_error_kind,
                                  set_link_error_kind);
    object_class_property_set_description(oc, "link-error-kind",
        "which layer reports the error of link-error-every [pa-init | pa-lane "
        "| pa-generic | dl-nac | dl-replay | network | transport | dme]");
}

static bool irqbed_ufs_bus_check_address(BusState *bus, DeviceState *dev,
                                         Error **errp)
{
    if (!object_dynamic_cast(OBJECT(dev), TYPE_IRQBED_UFS_LU)) {
        error_setg(errp, "%s cannot be on an %s", object_get_typename(
                   OBJECT(dev)), TYPE_IRQBED_UFS_BUS);
        return false;
    }
    return true;
}

static void irqbed_ufs_bus_class_init(ObjectClass *oc, void *data)
{
    BUS_CLASS(oc)->check_address = irqbed_ufs_bus_check_address;
}

static const TypeInfo irqbed_ufs_info = {
    .name = TYPE_IRQBED_UFS,
    .parent = TYPE_IRQBED_CTRL,
    .instance_size = sizeof(IrqbedUfs),
    .class_init = irqbed_ufs_class_init,
};

static const TypeInfo irqbed_ufs_bus_info = {
    .name = TYPE_IRQBED_UFS_BUS,
    .parent = TYPE_BUS,
    .instance_size = sizeof(BusState),
    .class_init = irqbed_ufs_bus_class_init,
};

static void irqbed_ufs_register_types(void)
{
    type_register_static(&irqbed_ufs_info);
    type_register_static(&irqbed_ufs_bus_info);
}

type_init(irqbed_ufs_register_types)
