/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-probe: the victim.  A PCI function that interrupts on a schedule and
 * measures, from the device's side, how long the guest takes to answer.
 *
 * Its interrupt goes to one vCPU; what the measured storage driver keeps that
 * vCPU busy with is what its neighbours wait for.
 *
 *   timer ---> RAISED --guest reads STATUS--> READ --guest writes ACK--> IDLE
 *                 \__________ the next period comes: "missed" _________/
 *
 * Registers (BAR 0, 4 KiB, 32-bit little endian):
 *
 *   0x00 MAGIC      RO   "IRPB"
 *   0x04 VERSION    RO   1
 *   0x08 CTRL       RW   bit 0: the schedule runs
 *   0x0c TARGET_CPU RO   property cpu: where the driver is to send the message
 *   0x10 STATUS     RO   1: an interrupt waits for its answer
 *   0x14 ACK        WO   the answer; any value
 *
 * Interrupts: one MSI message, no INTx.  Time is QEMU_CLOCK_VIRTUAL.
 * Context: everything runs under the BQL.
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "hw/core/cpu.h"
#include "hw/pci/msi.h"
#include "hw/pci/pci_device.h"
#include "hw/qdev-properties.h"
#include "hw/registerfields.h"
#include "migration/vmstate.h"
#include "qobject/qlist.h"
#include "hw/irqbed/core/latency.h"
#include "hw/irqbed/core/stats.h"
#include "trace.h"

#define TYPE_IRQBED_PROBE "irqbed-probe"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedProbe, IRQBED_PROBE)

#define PROBE_VENDOR_ID 0x1234
#define PROBE_DEVICE_ID 0x4950
#define PROBE_MAGIC     0x42505249 /* "IRPB" */
#define PROBE_BAR_SIZE  4096
#define PROBE_MAX_CPUS  256
#define PROBE_MIN_PERIOD_NS 1000

REG32(MAGIC, 0x00)
REG32(VERSION, 0x04)
REG32(CTRL, 0x08)
    FIELD(CTRL, RUN, 0, 1)
REG32(TARGET_CPU, 0x0c)
REG32(STATUS, 0x10)
REG32(ACK, 0x14)

/* What one vCPU did; allocated when it answers for the first time. */
typedef struct ProbeCpu {
    IrqbedHist read_ns;         /* message sent ... STATUS read */
    IrqbedHist ack_ns;          /* message sent ... ACK written */
} ProbeCpu;

struct IrqbedProbe {
    PCIDevice parent_obj;

    /* properties */
    uint64_t period_ns;
    uint64_t jitter_ns;
    uint64_t seed;
    uint32_t target_cpu;

    /* state */
    MemoryRegion mmio;
    QEMUTimer *timer;
    IrqbedRng rng;
    uint32_t ctrl;
    bool waiting;               /* sent, not acknowledged */
    bool is_read;               /* STATUS was read since */
    int64_t slot_ns;            /* this period's time, without its jitter */
    int64_t sent_ns;
    int64_t read_ns;

    /* statistics */
    uint64_t sent;
    uint64_t missed;
    uint64_t stray_acks;
    ProbeCpu *cpu[PROBE_MAX_CPUS];
};

static int64_t probe_now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* This period's moment: its slot, up to jitter_ns earlier or later. */
static void probe_arm(IrqbedProbe *s)
{
    IrqbedDist dist = {
        .kind = s->jitter_ns ? IRQBED_DIST_UNIFORM : IRQBED_DIST_FIXED,
        .mean_ns = s->period_ns,
        .spread_ns = s->jitter_ns,
    };

    timer_mod(s->timer, s->slot_ns + irqbed_dist_draw(&dist, &s->rng));
    s->slot_ns += s->period_ns;
}

/*
 * A message that is not answered yet would merge with a second one, in the
 * interrupt controller or in the handler: the period is counted as missed.
 */
static void probe_tick(void *opaque)
{
    IrqbedProbe *s = opaque;
    PCIDevice *pci = PCI_DEVICE(s);

    /* First: the message may stop the schedule, or pull the device out. */
    probe_arm(s);
    if (s->waiting) {
        s->missed++;
        trace_irqbed_probe_missed(s->sent, s->missed);
    } else if (msi_enabled(pci)) {
        s->waiting = true;
        s->is_read = false;
        s->sent_ns = probe_now_ns();
        s->sent++;
        trace_irqbed_probe_sent(s->sent, s->sent_ns);
        msi_notify(pci, 0);
    }
}

static uint32_t probe_status_read(IrqbedProbe *s)
{
    if (s->waiting && !s->is_read) {
        s->is_read = true;
        s->read_ns = probe_now_ns();
    }
    return s->waiting;
}

static void probe_ack(IrqbedProbe *s)
{
    unsigned index = current_cpu ? current_cpu->cpu_index : 0;
    int64_t now_ns = probe_now_ns();
    ProbeCpu *cpu;

    if (!s->waiting || !s->is_read || index >= PROBE_MAX_CPUS) {
        s->stray_acks++;
        return;
    }
    if (!s->cpu[index]) {
        s->cpu[index] = g_new0(ProbeCpu, 1);
    }
    cpu = s->cpu[index];
    irqbed_hist_add(&cpu->read_ns, s->read_ns - s->sent_ns);
    irqbed_hist_add(&cpu->ack_ns, now_ns - s->sent_ns);
    s->waiting = false;
    trace_irqbed_probe_ack(s->sent, index, now_ns - s->sent_ns);
}

static void probe_set_ctrl(IrqbedProbe *s, uint32_t val)
{
    bool was_running = s->ctrl & R_CTRL_RUN_MASK;

    s->ctrl = val & R_CTRL_RUN_MASK;
    if (!s->ctrl) {
        timer_del(s->timer);
        s->waiting = false;
    } else if (!was_running) {
        s->slot_ns = probe_now_ns();
        probe_arm(s);
    }
}

static uint64_t probe_read(void *opaque, hwaddr addr, unsigned size)
{
    IrqbedProbe *s = opaque;

    switch (addr) {
    case A_MAGIC:       /* RO */
        return PROBE_MAGIC;
    case A_VERSION:     /* RO */
        return 1;
    case A_CTRL:        /* RW */
        return s->ctrl;
    case A_TARGET_CPU:  /* RO */
        return s->target_cpu;
    case A_STATUS:      /* RO, measured */
        return probe_status_read(s);
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "irqbed-probe: read of 0x%"
                      HWADDR_PRIx "\n", addr);
        return 0;
    }
}

static void probe_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    IrqbedProbe *s = opaque;

    switch (addr) {
    case A_CTRL:        /* RW */
        probe_set_ctrl(s, val);
        break;
    case A_ACK:         /* WO, measured */
        probe_ack(s);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "irqbed-probe: write of 0x%"
                      HWADDR_PRIx "\n", addr);
    }
}

static const MemoryRegionOps probe_ops = {
    .read = probe_read,
    .write = probe_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/* --- statistics ------------------------------------------------------- */

static QDict *probe_stats(Object *obj)
{
    IrqbedProbe *s = IRQBED_PROBE(obj);
    QDict *all = qdict_new();
    QList *cpus = qlist_new();
    unsigned i;

    irqbed_stats_put(all, "sent", s->sent);
    irqbed_stats_put(all, "missed", s->missed);
    irqbed_stats_put(all, "stray_acks", s->stray_acks);
    irqbed_stats_put(all, "waiting", s->waiting);
    for (i = 0; i < PROBE_MAX_CPUS; i++) {
        QDict *d;

        if (!s->cpu[i]) {
            continue;
        }
        d = qdict_new();
        irqbed_stats_put(d, "cpu", i);
        irqbed_stats_put_hist(d, "read_ns", &s->cpu[i]->read_ns);
        irqbed_stats_put_hist(d, "ack_ns", &s->cpu[i]->ack_ns);
        qlist_append(cpus, d);
    }
    qdict_put(all, "cpus", cpus);
    return all;
}

static void probe_stats_reset(Object *obj)
{
    IrqbedProbe *s = IRQBED_PROBE(obj);
    unsigned i;

    s->sent = s->waiting;
    s->missed = 0;
    s->stray_acks = 0;
    for (i = 0; i < PROBE_MAX_CPUS; i++) {
        g_clear_pointer(&s->cpu[i], g_free);
    }
}

/* --- lifecycle ---------------------------------------------------------- */

static bool probe_check_params(IrqbedProbe *s, Error **errp)
{
    if (s->period_ns < PROBE_MIN_PERIOD_NS ||
        s->period_ns > IRQBED_MAX_NS) {
        error_setg(errp, "irqbed-probe: period-ns must be %d to %" PRId64,
                   PROBE_MIN_PERIOD_NS, IRQBED_MAX_NS);
        return false;
    }
    if (s->jitter_ns >= s->period_ns / 2) {
        error_setg(errp, "irqbed-probe: jitter-ns must be below half of "
                   "period-ns, %" PRIu64, s->period_ns / 2);
        return false;
    }
    if (s->target_cpu >= PROBE_MAX_CPUS) {
        error_setg(errp, "irqbed-probe: cpu must be below %d", PROBE_MAX_CPUS);
        return false;
    }
    return true;
}

static void probe_reset(DeviceState *dev)
{
    IrqbedProbe *s = IRQBED_PROBE(dev);

    probe_set_ctrl(s, 0);
    irqbed_rng_seed(&s->rng, s->seed, IRQBED_PURPOSE_IRQ);
}

static void probe_realize(PCIDevice *pci, Error **errp)
{
    IrqbedProbe *s = IRQBED_PROBE(pci);

    if (!probe_check_params(s, errp)) {
        return;
    }
    if (msi_init(pci, 0, 1, true, false, errp)) {
        return;
    }
    memory_region_init_io(&s->mmio, OBJECT(s), &probe_ops, s,
                          TYPE_IRQBED_PROBE, PROBE_BAR_SIZE);
    pci_register_bar(pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->mmio);
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, probe_tick, s);
}

static void probe_exit(PCIDevice *pci)
{
    IrqbedProbe *s = IRQBED_PROBE(pci);

    timer_free(s->timer);
    probe_stats_reset(OBJECT(s));
    msi_uninit(pci);
}

static const Property probe_props[] = {
    DEFINE_PROP_UINT64("period-ns", IrqbedProbe, period_ns, 100000),
    DEFINE_PROP_UINT64("jitter-ns", IrqbedProbe, jitter_ns, 0),
    DEFINE_PROP_UINT64("seed", IrqbedProbe, seed, 1),
    DEFINE_PROP_UINT32("cpu", IrqbedProbe, target_cpu, 0),
};

/* Statistics stay behind: they belong to a run, not to the machine. */
static const VMStateDescription probe_vmstate = {
    .name = TYPE_IRQBED_PROBE,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, IrqbedProbe),
        VMSTATE_TIMER_PTR(timer, IrqbedProbe),
        VMSTATE_UINT64_ARRAY(rng.s, IrqbedProbe, 4),
        VMSTATE_UINT32(ctrl, IrqbedProbe),
        VMSTATE_BOOL(waiting, IrqbedProbe),
        VMSTATE_BOOL(is_read, IrqbedProbe),
        VMSTATE_INT64(slot_ns, IrqbedProbe),
        VMSTATE_INT64(sent_ns, IrqbedProbe),
        VMSTATE_INT64(read_ns, IrqbedProbe),
        VMSTATE_END_OF_LIST()
    },
};

static void probe_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    IrqbedStatsSourceClass *sc = IRQBED_STATS_SOURCE_CLASS(klass);

    pc->realize = probe_realize;
    pc->exit = probe_exit;
    pc->vendor_id = PROBE_VENDOR_ID;
    pc->device_id = PROBE_DEVICE_ID;
    pc->class_id = PCI_CLASS_OTHERS;
    sc->stats = probe_stats;
    sc->reset = probe_stats_reset;
    irqbed_stats_add_property(klass);
    dc->desc = "irqbed interrupt latency probe";
    dc->vmsd = &probe_vmstate;
    device_class_set_legacy_reset(dc, probe_reset);
    device_class_set_props(dc, probe_props);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo probe_types[] = {
    {
        .name = TYPE_IRQBED_PROBE,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(IrqbedProbe),
        .class_init = probe_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_CONVENTIONAL_PCI_DEVICE },
            { TYPE_IRQBED_STATS_SOURCE },
            { },
        },
    },
};

DEFINE_TYPES(probe_types)
