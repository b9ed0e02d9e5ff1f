/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Saving and restoring a controller, requests in flight included.
 *
 * When the machine is stopped, host I/O is over: a request in flight is its
 * descriptor, its due time and, for data to the guest or host I/O that is to be
 * done again, its buffer.  The lists
 * and timers are made anew.  Knobs are not saved: they belong to the command
 * line, so that one snapshot serves experiments with different ones.
 */

#include "qemu/osdep.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "migration/qemu-file-types.h"
#include "migration/vmstate.h"
#include "ctrl.h"

#define MAX_SEGMENTS 65536

/* Data to the guest, and what host I/O that is done again needs. */
static uint64_t kept_bytes(const IrqbedReq *req)
{
    bool again = req->stopped && (req->op == IRQBED_OP_READ ||
                                  req->op == IRQBED_OP_WRITE);

    return MAX(req->to_guest, again ? req->extents[0].bytes : 0);
}

void irqbed_segments_put(QEMUFile *f, const IrqbedSegment *segments,
                         uint32_t count)
{
    uint32_t i;

    qemu_put_be32(f, count);
    for (i = 0; i < count; i++) {
        qemu_put_be64(f, segments[i].addr);
        qemu_put_be32(f, segments[i].len);
    }
}

bool irqbed_segments_get(QEMUFile *f, IrqbedSegment **segments,
                         uint32_t *count)
{
    uint32_t i, n = qemu_get_be32(f);

    if (n > MAX_SEGMENTS) {
        return false;
    }
    *segments = g_renew(IrqbedSegment, *segments, n);
    *count = n;
    for (i = 0; i < n; i++) {
        (*segments)[i].addr = qemu_get_be64(f);
        (*segments)[i].len = qemu_get_be32(f);
    }
    return true;
}

static int put_data(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field, JSONWriter *vmdesc)
{
    IrqbedReq *req = pv;

    irqbed_segments_put(f, req->segments, req->nr_segments);
    qemu_put_be32(f, req->to_guest);
    qemu_put_buffer(f, req->buf, kept_bytes(req));
    return 0;
}

static int get_data(QEMUFile *f, void *pv, size_t size,
                    const VMStateField *field)
{
    IrqbedReq *req = pv;
    uint64_t bytes;

    if (!irqbed_segments_get(f, &req->segments, &req->nr_segments)) {
        return -EINVAL;
    }
    req->max_segments = req->nr_segments;
    req->to_guest = qemu_get_be32(f);
    bytes = kept_bytes(req);
    if (bytes > IRQBED_MAX_TRANSFER || !irqbed_req_reserve(req, bytes) ||
        qemu_get_buffer(f, req->buf, bytes) != bytes) {
        return -EINVAL;
    }
    return 0;
}

static const VMStateInfo info_req_data = {
    .name = "irqbed-req-data",
    .get = get_data,
    .put = put_data,
};

static int req_pre_save(void *opaque)
{
    irqbed_media_wait(opaque);
    return 0;
}

static int req_post_load(void *opaque, int version_id)
{
    IrqbedReq *req = opaque;

    if (req->state >= IRQBED_REQ_STATE__MAX || req->op > IRQBED_OP_ZERO ||
        req->nr_extents > IRQBED_MAX_EXTENTS ||
        (req->stopped && req->op == IRQBED_OP_NONE)) {
        return -EINVAL;
    }
    return 0;
}

static const VMStateDescription vmstate_extent = {
    .name = "irqbed-extent",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(offset, IrqbedExtent),
        VMSTATE_UINT64(bytes, IrqbedExtent),
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription irqbed_vmstate_req = {
    .name = "irqbed-req",
    .version_id = 2,
    .minimum_version_id = 2,
    .pre_save = req_pre_save,
    .post_load = req_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(state, IrqbedReq),
        VMSTATE_UINT64(seq, IrqbedReq),
        VMSTATE_UINT32(op, IrqbedReq),
        VMSTATE_UINT32(nr_extents, IrqbedReq),
        VMSTATE_STRUCT_ARRAY(extents, IrqbedReq, IRQBED_MAX_EXTENTS, 1,
                             vmstate_extent, IrqbedExtent),
        VMSTATE_BOOL(fua, IrqbedReq),
        VMSTATE_INT64(fetch_ns, IrqbedReq),
        VMSTATE_INT64(start_ns, IrqbedReq),
        VMSTATE_INT64(due_ns, IrqbedReq),
        VMSTATE_INT32(ret, IrqbedReq),
        VMSTATE_BOOL(dma_failed, IrqbedReq),
        VMSTATE_BOOL(stopped, IrqbedReq),
        VMSTATE_UINT32(inject, IrqbedReq),
        {
            .name = "data",
            .size = sizeof(IrqbedReq),
            .info = &info_req_data,
            .flags = VMS_SINGLE,
        },
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_rng = {
    .name = "irqbed-rng",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64_ARRAY(s, IrqbedRng, 4),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_latency = {
    .name = "irqbed-latency",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_ARRAY(rng, IrqbedLatency, 2, 1, vmstate_rng, IrqbedRng),
        VMSTATE_INT64_ARRAY(busy_until_ns, IrqbedLatency, IRQBED_MAX_UNITS),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_shaper = {
    .name = "irqbed-shaper",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(state, IrqbedShaper),
        VMSTATE_UINT32(window_count, IrqbedShaper),
        VMSTATE_INT64(next_ns, IrqbedShaper),
        VMSTATE_UINT64(completions, IrqbedShaper),
        VMSTATE_STRUCT(rng, IrqbedShaper, 1, vmstate_rng, IrqbedRng),
        VMSTATE_END_OF_LIST()
    },
};

static const VMStateDescription vmstate_irq = {
    .name = "irqbed-irq",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(shaper, IrqbedIrq, 1, vmstate_shaper, IrqbedShaper),
        VMSTATE_BOOL(guest_window, IrqbedIrq),
        VMSTATE_UINT32(guest_count, IrqbedIrq),
        VMSTATE_INT64(guest_timeout_ns, IrqbedIrq),
        VMSTATE_BOOL(level, IrqbedIrq),
        VMSTATE_BOOL(await_read, IrqbedIrq),
        VMSTATE_BOOL(await_clear, IrqbedIrq),
        VMSTATE_BOOL(stuck, IrqbedIrq),
        VMSTATE_INT64(raised_ns, IrqbedIrq),
        VMSTATE_UINT16(last_queue, IrqbedIrq),
        VMSTATE_UINT16(last_tag, IrqbedIrq),
        VMSTATE_UINT64(last_seq, IrqbedIrq),
        VMSTATE_END_OF_LIST()
    },
};

static int ctrl_post_load(void *opaque, int version_id)
{
    IrqbedCtrl *c = opaque;

    irqbed_knobs_apply(c);
    irqbed_irq_resume(c);
    irqbed_faults_resume(c);
    return 0;
}

QEMU_BUILD_BUG_ON(sizeof(IrqbedStats) % sizeof(uint64_t));

static int ctrl_pre_load(void *opaque)
{
    irqbed_ctrl_series_free(opaque);
    return 0;
}

static bool series_needed(void *opaque)
{
    return ((IrqbedCtrl *)opaque)->series.windows;
}

static int series_pre_load(void *opaque)
{
    IrqbedSeries *s = &((IrqbedCtrl *)opaque)->series;

    s->windows = g_new0(IrqbedSeriesWindow, IRQBED_SERIES_WINDOWS);
    return 0;
}

static int series_post_load(void *opaque, int version_id)
{
    const IrqbedSeries *s = &((IrqbedCtrl *)opaque)->series;

    return s->window_ns && s->used <= IRQBED_SERIES_WINDOWS ? 0 : -EINVAL;
}

QEMU_BUILD_BUG_ON(sizeof(IrqbedSeriesWindow) % sizeof(uint64_t));

static const VMStateDescription vmstate_series = {
    .name = "irqbed-ctrl/series",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = series_needed,
    .pre_load = series_pre_load,
    .post_load = series_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(series.start_ns, IrqbedCtrl),
        VMSTATE_UINT64(series.window_ns, IrqbedCtrl),
        VMSTATE_UINT32(series.used, IrqbedCtrl),
        /* As the statistics: counters only, all of them uint64_t. */
        VMSTATE_BUFFER_POINTER_UNSAFE(series.windows, IrqbedCtrl, 1,
                                      IRQBED_SERIES_WINDOWS *
                                      sizeof(IrqbedSeriesWindow)),
        VMSTATE_END_OF_LIST()
    },
};

const VMStateDescription irqbed_vmstate_ctrl = {
    .name = "irqbed-ctrl",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_load = ctrl_pre_load,
    .post_load = ctrl_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, IrqbedCtrl),
        VMSTATE_MSIX(parent_obj, IrqbedCtrl),
        VMSTATE_UINT64_EQUAL(knobs.queue_depth, IrqbedCtrl, NULL),
        VMSTATE_UINT32_EQUAL(nr_media, IrqbedCtrl, NULL),
        VMSTATE_STRUCT_VARRAY_POINTER_UINT32(media, IrqbedCtrl, nr_media,
                                             vmstate_latency, IrqbedLatency),
        VMSTATE_UINT32_EQUAL(nr_irqs, IrqbedCtrl, NULL),
        VMSTATE_STRUCT_VARRAY_POINTER_UINT32(irqs, IrqbedCtrl, nr_irqs,
                                             vmstate_irq, IrqbedIrq),
        /* Counters only, all of them uint64_t. */
        VMSTATE_BUFFER_UNSAFE(stats, IrqbedCtrl, 1, sizeof(IrqbedStats)),
        VMSTATE_UINT64(next_seq, IrqbedCtrl),
        VMSTATE_UINT64(hold_count, IrqbedCtrl),
        VMSTATE_UINT64(fail_count, IrqbedCtrl),
        VMSTATE_STRUCT(faults, IrqbedCtrl, 1, irqbed_vmstate_faults,
                       IrqbedFaults),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription *const []) {
        &vmstate_series,
        NULL
    },
};
