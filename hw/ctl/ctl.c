/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ctl: the guest agent's in-band port to the testbed.
 *
 * A byte that the host sends to a serial port reaches the guest at a virtual
 * time that depends on the host.  Here the guest asks instead, and the device
 * answers inside the same register access, so that jobs, results and
 * statistics snapshots cost a fixed amount of virtual time.
 *
 * Registers (BAR 0, 4 KiB, 32-bit little endian, naturally aligned):
 *
 *   0x00 MAGIC      RO    "IRQB"
 *   0x04 VERSION    RO    1
 *   0x08 JOB_SIZE   RO    bytes in the job file
 *   0x0c JOB_DATA   RO    next four bytes of it, zero padded
 *   0x10 JOB_REWIND WO    start again at byte 0
 *   0x14 OUT_DATA   WO    append four bytes to the line buffer
 *   0x18 OUT_COMMIT WO    write the first N bytes of it out and empty it
 *   0x1c STATS_SNAP WO    1: snapshot all statistics; 2: and reset them;
 *                         3: snapshot what the recorders have
 *   0x20 STATS_SIZE RO    bytes in the snapshot (JSON), or of the last error
 *   0x24 STATS_DATA RO    next four bytes of it
 *   0x28 VTIME_LO   RO    virtual clock in ns; latches VTIME_HI
 *   0x2c VTIME_HI   RO
 *   0x30 EXIT       WO    end QEMU with this exit status
 *   0x34 INSNS_LO   RO    instructions executed by all vCPUs, 0 if they are
 *                         not counted (-icount); latches INSNS_HI
 *   0x38 INSNS_HI   RO
 *   0x3c INJECT     WO    the first N bytes of the line buffer, "NAME TEXT",
 *                         are all the injections of the device NAME from now
 *                         on (its property "inject"); STATS_SIZE is 0, or
 *                         there is an error to be read
 *
 * Context: everything runs in the vCPU thread under the BQL.
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "qobject/qdict.h"
#include "qobject/qjson.h"
#include "chardev/char-fe.h"
#include "hw/pci/pci_device.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "hw/registerfields.h"
#include "migration/vmstate.h"
#include "system/cpu-timers.h"
#include "system/runstate.h"
#include "hw/irqbed/core/stats.h"
#include "trace.h"

#define TYPE_IRQBED_CTL "irqbed-ctl"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedCtl, IRQBED_CTL)

#define IRQBED_CTL_VENDOR_ID 0x1234
#define IRQBED_CTL_DEVICE_ID 0x4952
#define IRQBED_CTL_MAGIC     0x42515249 /* "IRQB" */
#define IRQBED_CTL_BAR_SIZE  4096
#define IRQBED_CTL_JOB_MAX   (4 * MiB)
#define IRQBED_CTL_OUT_MAX   (16 * MiB)

REG32(MAGIC, 0x00)
REG32(VERSION, 0x04)
REG32(JOB_SIZE, 0x08)
REG32(JOB_DATA, 0x0c)
REG32(JOB_REWIND, 0x10)
REG32(OUT_DATA, 0x14)
REG32(OUT_COMMIT, 0x18)
REG32(STATS_SNAP, 0x1c)
REG32(STATS_SIZE, 0x20)
REG32(STATS_DATA, 0x24)
REG32(VTIME_LO, 0x28)
REG32(VTIME_HI, 0x2c)
REG32(EXIT, 0x30)
REG32(INSNS_LO, 0x34)
REG32(INSNS_HI, 0x38)
REG32(INJECT, 0x3c)

#define STATS_SNAP_ONLY      1
#define STATS_SNAP_AND_RESET 2
#define STATS_SNAP_RECORDS   3

struct IrqbedCtl {
    PCIDevice parent_obj;

    /* properties */
    char *job_path;
    CharBackend out;

    /* state */
    MemoryRegion mmio;
    char *job;
    gsize job_size;
    uint32_t job_pos;
    GByteArray *line;
    GString *stats;
    uint32_t stats_pos;
    uint32_t vtime_hi;
    uint32_t insns_hi;
};

/* Four bytes at *pos, zero padded past the end; moves *pos on. */
static uint32_t ctl_next_word(const char *data, gsize size, uint32_t *pos)
{
    uint8_t word[4] = { 0 };

    if (*pos < size) {
        memcpy(word, data + *pos, MIN(sizeof(word), size - *pos));
        *pos += sizeof(word);
    }
    return ldl_le_p(word);
}

/* What the guest reads next; owns @text. */
static void ctl_answer(IrqbedCtl *s, GString *text)
{
    if (s->stats) {
        g_string_free(s->stats, true);
    }
    s->stats = text;
    s->stats_pos = 0;
}

static void ctl_snapshot(IrqbedCtl *s, uint32_t what)
{
    g_autoptr(QDict) all = what == STATS_SNAP_RECORDS ? irqbed_records_all()
                                                      : irqbed_stats_all();

    ctl_answer(s, qobject_to_json(QOBJECT(all)));
    trace_irqbed_ctl_snapshot(what, s->stats->len);
    if (what == STATS_SNAP_AND_RESET) {
        irqbed_stats_reset_all();
    }
}

static void ctl_append(IrqbedCtl *s, uint32_t val)
{
    uint8_t word[4];

    if (s->line->len + sizeof(word) > IRQBED_CTL_OUT_MAX) {
        qemu_log_mask(LOG_GUEST_ERROR, "irqbed-ctl: line longer than %u\n",
                      (unsigned)IRQBED_CTL_OUT_MAX);
        return;
    }
    stl_le_p(word, val);
    g_byte_array_append(s->line, word, sizeof(word));
}

/* @len, or what the line buffer has of it. */
static uint32_t ctl_line_len(IrqbedCtl *s, uint32_t len)
{
    if (len > s->line->len) {
        qemu_log_mask(LOG_GUEST_ERROR, "irqbed-ctl: a line of %u bytes, "
                      "%u are there\n", len, s->line->len);
        len = s->line->len;
    }
    return len;
}

static void ctl_commit(IrqbedCtl *s, uint32_t len)
{
    len = ctl_line_len(s, len);
    qemu_chr_fe_write_all(&s->out, s->line->data, len);
    g_byte_array_set_size(s->line, 0);
    trace_irqbed_ctl_commit(len);
}

static bool ctl_set_inject(const char *name, const char *text, Error **errp)
{
    Object *dev = irqbed_stats_find(name);

    if (!dev) {
        error_setg(errp, "no device '%s'", name);
        return false;
    }
    return object_property_set_bool(dev, "inject-clear", true, errp) &&
           (!*text || object_property_set_str(dev, "inject", text, errp));
}

/* Here and not by QMP, so that it is at a virtual time of the guest's own. */
static void ctl_inject(IrqbedCtl *s, uint32_t len)
{
    GString *answer = g_string_new(NULL);
    g_autofree char *line = NULL;
    char *text;
    Error *err = NULL;

    /* A line buffer that was never written to has no data. */
    len = ctl_line_len(s, len);
    line = g_strndup(len ? (const char *)s->line->data : "", len);
    g_byte_array_set_size(s->line, 0);
    text = strchr(line, ' ');
    if (text) {
        *text++ = '\0';
    }
    if (!ctl_set_inject(line, text ? text : "", &err)) {
        g_string_append(answer, error_get_pretty(err));
        error_free(err);
    }
    trace_irqbed_ctl_inject(line, answer->str);
    ctl_answer(s, answer);
}

static uint64_t ctl_read(void *opaque, hwaddr addr, unsigned size)
{
    IrqbedCtl *s = opaque;
    int64_t now_ns, insns;

    switch (addr) {
    case A_MAGIC:       /* RO */
        return IRQBED_CTL_MAGIC;
    case A_VERSION:     /* RO */
        return 1;
    case A_JOB_SIZE:    /* RO */
        return s->job_size;
    case A_JOB_DATA:    /* RO, moves on */
        return ctl_next_word(s->job, s->job_size, &s->job_pos);
    case A_STATS_SIZE:  /* RO */
        return s->stats ? s->stats->len : 0;
    case A_STATS_DATA:  /* RO, moves on */
        return s->stats ? ctl_next_word(s->stats->str, s->stats->len,
                                        &s->stats_pos) : 0;
    case A_VTIME_LO:    /* RO */
        now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        s->vtime_hi = now_ns >> 32;
        return (uint32_t)now_ns;
    case A_VTIME_HI:    /* RO */
        return s->vtime_hi;
    case A_INSNS_LO:    /* RO */
        insns = icount_enabled() ? icount_get_raw() : 0;
        s->insns_hi = insns >> 32;
        return (uint32_t)insns;
    case A_INSNS_HI:    /* RO */
        return s->insns_hi;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "irqbed-ctl: read of 0x%" HWADDR_PRIx
                      "\n", addr);
        return 0;
    }
}

static void ctl_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    IrqbedCtl *s = opaque;

    switch (addr) {
    case A_JOB_REWIND:  /* WO */
        s->job_pos = 0;
        break;
    case A_OUT_DATA:    /* WO */
        ctl_append(s, val);
        break;
    case A_OUT_COMMIT:  /* WO */
        ctl_commit(s, val);
        break;
    case A_STATS_SNAP:  /* WO */
        ctl_snapshot(s, val);
        break;
    case A_INJECT:      /* WO */
        ctl_inject(s, val);
        break;
    case A_EXIT:        /* WO */
        qemu_system_shutdown_request_with_code(SHUTDOWN_CAUSE_GUEST_SHUTDOWN,
                                               val & 0x7f);
        break;
    default:
        qemu_log_mask(LOG_GUEST_ERROR, "irqbed-ctl: write of 0x%" HWADDR_PRIx
                      "\n", addr);
    }
}

static const MemoryRegionOps ctl_ops = {
    .read = ctl_read,
    .write = ctl_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static bool ctl_load_job(IrqbedCtl *s, Error **errp)
{
    g_autoptr(GError) err = NULL;

    if (!s->job_path) {
        return true;
    }
    if (!g_file_get_contents(s->job_path, &s->job, &s->job_size, &err)) {
        error_setg(errp, "irqbed-ctl: job: %s", err->message);
        return false;
    }
    if (s->job_size > IRQBED_CTL_JOB_MAX) {
        error_setg(errp, "irqbed-ctl: job: %s is longer than %u bytes",
                   s->job_path, (unsigned)IRQBED_CTL_JOB_MAX);
        g_clear_pointer(&s->job, g_free);
        return false;
    }
    return true;
}

static void ctl_realize(PCIDevice *pci, Error **errp)
{
    IrqbedCtl *s = IRQBED_CTL(pci);

    if (!ctl_load_job(s, errp)) {
        return;
    }
    s->line = g_byte_array_new();
    memory_region_init_io(&s->mmio, OBJECT(s), &ctl_ops, s, TYPE_IRQBED_CTL,
                          IRQBED_CTL_BAR_SIZE);
    pci_register_bar(pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->mmio);
}

static void ctl_exit(PCIDevice *pci)
{
    IrqbedCtl *s = IRQBED_CTL(pci);

    g_clear_pointer(&s->job, g_free);
    g_byte_array_unref(s->line);
    if (s->stats) {
        g_string_free(s->stats, true);
        s->stats = NULL;
    }
}

static void ctl_reset(DeviceState *dev)
{
    IrqbedCtl *s = IRQBED_CTL(dev);

    s->job_pos = 0;
    s->stats_pos = 0;
    s->vtime_hi = 0;
    s->insns_hi = 0;
    g_byte_array_set_size(s->line, 0);
}

static const Property ctl_props[] = {
    DEFINE_PROP_STRING("job", IrqbedCtl, job_path),
    DEFINE_PROP_CHR("out", IrqbedCtl, out),
};

/*
 * A snapshot carries the read positions; the job is read anew from job=, the
 * statistics snapshot and a half-written line are not kept: the agent is never
 * between two of their accesses when a VM is saved at a cell's edge.
 */
static const VMStateDescription ctl_vmstate = {
    .name = TYPE_IRQBED_CTL,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, IrqbedCtl),
        VMSTATE_UINT32(job_pos, IrqbedCtl),
        VMSTATE_UINT32(vtime_hi, IrqbedCtl),
        VMSTATE_UINT32(insns_hi, IrqbedCtl),
        VMSTATE_END_OF_LIST()
    },
};

static void ctl_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = ctl_realize;
    pc->exit = ctl_exit;
    pc->vendor_id = IRQBED_CTL_VENDOR_ID;
    pc->device_id = IRQBED_CTL_DEVICE_ID;
    pc->class_id = PCI_CLASS_OTHERS;
    dc->desc = "irqbed in-band job, result and statistics port";
    dc->vmsd = &ctl_vmstate;
    device_class_set_legacy_reset(dc, ctl_reset);
    device_class_set_props(dc, ctl_props);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo ctl_types[] = {
    {
        .name = TYPE_IRQBED_CTL,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(IrqbedCtl),
        .class_init = ctl_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_CONVENTIONAL_PCI_DEVICE },
            { },
        },
    },
};

DEFINE_TYPES(ctl_types)
