/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Saving and restoring injections: entries, what they have counted, and what
 * is under way.  What the file says is checked, as it may come from anywhere.
 */

#include "qemu/osdep.h"
#include "qemu/memalign.h"
#include "qemu/units.h"
#include "migration/qemu-file-types.h"
#include "ctrl.h"

static bool entry_is_sound(IrqbedInjectEntry *e)
{
    e->id[IRQBED_INJECT_ID_LEN] = '\0';
    e->knob[IRQBED_INJECT_ID_LEN] = '\0';
    return e->rule.trigger < IRQBED_TRIGGER__MAX &&
           e->fault < IRQBED_FAULT__MAX && e->on < IRQBED_INJECT_ON__MAX &&
           e->target < IRQBED_INJECT_TARGETS &&
           e->ramp.ramp_ns >= 0 && e->ramp.ramp_ns <= IRQBED_MAX_NS &&
           e->ramp.for_ns >= 0 && e->ramp.for_ns <= IRQBED_MAX_NS &&
           e->rule.n <= (uint64_t)INT64_MAX / 2 &&
           (!e->rule.period_ns || e->rule.period_ns >= IRQBED_MIN_PERIOD_NS) &&
           e->rule.period_ns <= IRQBED_MAX_NS &&
           (e->fault || (irqbed_knob_may_be(e->knob, e->ramp.from) &&
                         irqbed_knob_may_be(e->knob, e->ramp.to)));
}

static bool event_is_sound(IrqbedCtrl *c, const IrqbedFaultEvent *ev)
{
    switch (ev->fault) {
    case IRQBED_FAULT_IRQ_LATE:
    case IRQBED_FAULT_IRQ_DOUBLE:
    case IRQBED_FAULT_IRQ_STUCK:
        return ev->target < c->nr_irqs;
    case IRQBED_FAULT_LINK_DOWN:
        return ev->target < IRQBED_INJECT_TARGETS;
    case IRQBED_FAULT_DATA_LATE:
    case IRQBED_FAULT_COMPLETE_TWICE:
    case IRQBED_FAULT_REMOVE:
    case IRQBED_FAULT_COMMAND_LATE:
        return true;
    default:
        return false;
    }
}

static int faults_post_load(void *opaque, int version_id)
{
    IrqbedFaults *f = opaque;
    IrqbedCtrl *c = container_of(f, IrqbedCtrl, faults);
    uint32_t i;

    if (f->nr_entries > IRQBED_INJECT_ENTRIES ||
        f->nr_events > IRQBED_FAULT_EVENTS) {
        return -EINVAL;
    }
    for (i = 0; i < f->nr_entries; i++) {
        if (!entry_is_sound(&f->entries[i])) {
            return -EINVAL;
        }
    }
    for (i = 0; i < f->nr_events; i++) {
        if (!event_is_sound(c, &f->events[i])) {
            return -EINVAL;
        }
    }
    return 0;
}

static const VMStateDescription vmstate_entry = {
    .name = "irqbed-inject-entry",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(rule.trigger, IrqbedInjectEntry),
        VMSTATE_UINT64(rule.n, IrqbedInjectEntry),
        VMSTATE_UINT64(rule.period_ns, IrqbedInjectEntry),
        VMSTATE_UINT64(rule.count, IrqbedInjectEntry),
        VMSTATE_BOOL(rule.armed, IrqbedInjectEntry),
        VMSTATE_INT64(rule.at_ns, IrqbedInjectEntry),
        VMSTATE_UINT64(rule.requests, IrqbedInjectEntry),
        VMSTATE_UINT64(rule.triggered, IrqbedInjectEntry),
        VMSTATE_UINT64_ARRAY(rule.rng.s, IrqbedInjectEntry, 4),
        VMSTATE_BUFFER_UNSAFE(id, IrqbedInjectEntry, 1,
                              IRQBED_INJECT_ID_LEN + 1),
        VMSTATE_BOOL(boot, IrqbedInjectEntry),
        VMSTATE_UINT32(on, IrqbedInjectEntry),
        VMSTATE_BUFFER_UNSAFE(knob, IrqbedInjectEntry, 1,
                              IRQBED_INJECT_ID_LEN + 1),
        VMSTATE_UINT64(ramp.from, IrqbedInjectEntry),
        VMSTATE_UINT64(ramp.to, IrqbedInjectEntry),
        VMSTATE_INT64(ramp.begun_ns, IrqbedInjectEntry),
        VMSTATE_INT64(ramp.ramp_ns, IrqbedInjectEntry),
        VMSTATE_INT64(ramp.for_ns, IrqbedInjectEntry),
        VMSTATE_INT64(step_ns, IrqbedInjectEntry),
        VMSTATE_BOOL(changed, IrqbedInjectEntry),
        VMSTATE_UINT32(fault, IrqbedInjectEntry),
        VMSTATE_UINT32(status, IrqbedInjectEntry),
        VMSTATE_UINT32(target, IrqbedInjectEntry),
        VMSTATE_UINT64(waiting, IrqbedInjectEntry),
        VMSTATE_UINT64(fired, IrqbedInjectEntry),
        VMSTATE_UINT64_ARRAY(fired_ns, IrqbedInjectEntry, IRQBED_INJECT_TIMES),
        VMSTATE_UINT64(refused, IrqbedInjectEntry),
        VMSTATE_END_OF_LIST()
    },
};

/* Data that is late: where to, how much, and what. */
static int put_data(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field, JSONWriter *vmdesc)
{
    IrqbedFaultEvent *ev = pv;

    irqbed_segments_put(f, ev->segments, ev->nr_segments);
    qemu_put_be32(f, ev->bytes);
    qemu_put_buffer(f, ev->data, ev->bytes);
    return 0;
}

static int get_data(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field)
{
    IrqbedFaultEvent *ev = pv;

    irqbed_fault_event_free(ev);
    if (!irqbed_segments_get(f, &ev->segments, &ev->nr_segments)) {
        return -EINVAL;
    }
    ev->bytes = qemu_get_be32(f);
    if (ev->bytes > IRQBED_MAX_TRANSFER) {
        return -EINVAL;
    }
    if (!ev->bytes) {
        return 0;
    }
    ev->data = qemu_memalign(4 * KiB, ev->bytes);
    return qemu_get_buffer(f, ev->data, ev->bytes) == ev->bytes ? 0 : -EINVAL;
}

static const VMStateInfo info_event_data = {
    .name = "irqbed-fault-event-data",
    .get = get_data,
    .put = put_data,
};

static const VMStateDescription vmstate_event = {
    .name = "irqbed-fault-event",
    .version_id = 2,
    .minimum_version_id = 2,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(due_ns, IrqbedFaultEvent),
        VMSTATE_UINT32(fault, IrqbedFaultEvent),
        VMSTATE_UINT32(target, IrqbedFaultEvent),
        VMSTATE_UINT16(queue, IrqbedFaultEvent),
        VMSTATE_UINT16(tag, IrqbedFaultEvent),
        {
            .name = "data",
            .size = sizeof(IrqbedFaultEvent),
            .info = &info_event_data,
            .flags = VMS_SINGLE,
        },
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription irqbed_vmstate_faults = {
    .name = "irqbed-faults",
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = faults_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(nr_entries, IrqbedFaults),
        VMSTATE_INT64(reset_ns, IrqbedFaults),
        VMSTATE_STRUCT_ARRAY(entries, IrqbedFaults, IRQBED_INJECT_ENTRIES, 1,
                             vmstate_entry, IrqbedInjectEntry),
        VMSTATE_UINT32(nr_events, IrqbedFaults),
        VMSTATE_STRUCT_ARRAY(events, IrqbedFaults, IRQBED_FAULT_EVENTS, 1,
                             vmstate_event, IrqbedFaultEvent),
        VMSTATE_UINT32(links_down, IrqbedFaults),
        VMSTATE_BOOL(removed, IrqbedFaults),
        VMSTATE_END_OF_LIST()
    },
};
