/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest memory, the only place that knows MEMTX_*.
 *
 * Addresses come from the guest.  The memory attribute refuses everything that
 * is not RAM, this device's own registers first of all, so that no DMA has a
 * side effect.
 */

#include "qemu/osdep.h"
#include "ctrl.h"
#include "trace.h"

static bool dma_rw(IrqbedCtrl *c, uint64_t addr, void *buf, uint32_t len,
                   DMADirection dir)
{
    MemTxAttrs attrs = { .memory = true };

    if (!len) {
        return true;
    }
    if (irqbed_ctrl_is_removed(c) || addr + len - 1 < addr ||
        pci_dma_rw(PCI_DEVICE(c), addr, buf, len, dir, attrs) != MEMTX_OK) {
        trace_irqbed_dma_error(c->name, addr, len,
                               dir == DMA_DIRECTION_FROM_DEVICE);
        c->stats.guest_errors++;
        return false;
    }
    return true;
}

bool irqbed_dma_read(IrqbedCtrl *c, uint64_t addr, void *buf, uint32_t len)
{
    return dma_rw(c, addr, buf, len, DMA_DIRECTION_TO_DEVICE);
}

bool irqbed_dma_write(IrqbedCtrl *c, uint64_t addr, const void *buf,
                      uint32_t len)
{
    return dma_rw(c, addr, (void *)buf, len, DMA_DIRECTION_FROM_DEVICE);
}

static bool dma_segments(IrqbedCtrl *c, const IrqbedSegment *segments,
                         uint32_t nr_segments, uint8_t *buf, uint32_t len,
                         DMADirection dir)
{
    uint32_t i, part;

    for (i = 0; i < nr_segments && len; i++) {
        part = MIN(len, segments[i].len);
        if (!dma_rw(c, segments[i].addr, buf, part, dir)) {
            return false;
        }
        buf += part;
        len -= part;
    }
    return !len;
}

bool irqbed_dma_gather(IrqbedReq *req, void *buf, uint32_t len)
{
    return dma_segments(req->ctrl, req->segments, req->nr_segments, buf, len,
                        DMA_DIRECTION_TO_DEVICE);
}

bool irqbed_dma_scatter(IrqbedReq *req, const void *buf, uint32_t len)
{
    return irqbed_dma_scatter_to(req->ctrl, req->segments, req->nr_segments,
                                 buf, len);
}

bool irqbed_dma_scatter_to(IrqbedCtrl *c, const IrqbedSegment *segments,
                           uint32_t nr_segments, const void *buf,
                           uint32_t len)
{
    return dma_segments(c, segments, nr_segments, (void *)buf, len,
                        DMA_DIRECTION_FROM_DEVICE);
}
