/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Register decoder of the host controller, stage D1; UFSHCI 3.1, chapter 5.
 *
 * Order that a driver's handler may rely on: a completion has written data,
 * response and status to memory, cleared its doorbell bit, set its UTRLCNR
 * bit and IS.UTRCS before an interrupt is raised for it.  A driver that clears
 * IS first and reads UTRLDBR after it misses nothing: what completes between
 * the two is in the doorbell it reads, and at worst raises one interrupt with
 * nothing left to do.
 */

#include "qemu/osdep.h"
#include "ufs.h"
#include "trace.h"

bool irqbed_ufs_is_enabled(IrqbedUfs *u)
{
    return FIELD_EX32(u->reg.hce, HCE, HCE);
}

/* Host controller disable: everything in flight is given up unanswered. */
static void host_disable(IrqbedUfs *u)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);

    irqbed_req_clear_all(c);
    irqbed_transport(c)->reset(c);
    irqbed_irq_reset(c);
}

static void write_hce(IrqbedUfs *u, uint32_t val)
{
    bool on = FIELD_EX32(val, HCE, HCE);

    if (on && !irqbed_ufs_is_enabled(u)) {
        u->reg.hce = FIELD_DP32(0, HCE, HCE, 1);
        u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UCRDY, 1);
    } else if (!on && irqbed_ufs_is_enabled(u)) {
        host_disable(u);
    }
}

static uint32_t read_utriacr(IrqbedUfs *u)
{
    return FIELD_DP32(u->reg.utriacr, UTRIACR, IASB,
                      irqbed_irq_window_open(IRQBED_CTRL(u), 0));
}

bool irqbed_ufs_is_running(IrqbedUfs *u)
{
    return FIELD_EX32(u->reg.hcs, HCS, UTRLRDY);
}

static void write_doorbell(IrqbedUfs *u, uint32_t val)
{
    if (!irqbed_ufs_is_running(u) || !(u->reg.utrlrsr & 1) ||
        irqbed_ufs_has_queues(u)) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u),
                                "doorbell while the list does not run", val);
        return;
    }
    irqbed_ufs_link_use(u);
    irqbed_ufs_doorbell(u, val);
}

static void write_task_doorbell(IrqbedUfs *u, uint32_t val)
{
    if (!FIELD_EX32(u->reg.hcs, HCS, UTMRLRDY) || !(u->reg.utmrlrsr & 1)) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u),
                                "task doorbell while the list does not run",
                                val);
        return;
    }
    irqbed_ufs_link_use(u);
    irqbed_ufs_task_doorbell(u, val);
}

static void ufs_write(IrqbedUfs *u, hwaddr addr, uint32_t val)
{
    switch (addr) {
    case A_AHIT: /* RW; auto-hibernate is not offered in CAP */
        u->reg.ahit = val;
        break;
    case A_IS: /* R/W1C */
        u->reg.is &= ~val;
        irqbed_irq_update(IRQBED_CTRL(u), 0);
        break;
    case A_IE: /* RW */
        u->reg.ie = val & (UFS_INTR_MASK | (u->mcq ? R_IS_IAGES_MASK |
                                                     R_IS_SQES_MASK : 0));
        irqbed_irq_update(IRQBED_CTRL(u), 0);
        break;
    case A_UTRIACR: /* RW, with WO and RO fields */
        irqbed_ufs_aggregate(u, val);
        break;
    case A_UTRLBA: /* RW */
        u->reg.utrlba = val & R_UTRLBA_UTRLBA_MASK;
        break;
    case A_UTRLBAU: /* RW */
        u->reg.utrlbau = val;
        break;
    case A_UTRLDBR: /* R/W1S */
        write_doorbell(u, val);
        break;
    case A_UTRLCLR: /* WO, zeroes clear */
        irqbed_ufs_clear_slots(u, ~val);
        break;
    case A_UTRLRSR: /* RW */
        u->reg.utrlrsr = val & 1;
        break;
    case A_UTRLCNR: /* R/W1C */
        u->reg.utrlcnr &= ~val;
        break;
    case A_UTMRLBA: /* RW */
        u->reg.utmrlba = val & R_UTMRLBA_UTMRLBA_MASK;
        break;
    case A_UTMRLBAU: /* RW */
        u->reg.utmrlbau = val;
        break;
    case A_UTMRLDBR: /* R/W1S */
        write_task_doorbell(u, val);
        break;
    case A_UTMRLCLR: /* WO; tasks are over before their doorbell returns */
        break;
    case A_UTMRLRSR: /* RW */
        u->reg.utmrlrsr = val & 1;
        break;
    case A_UICCMD: /* RW, starts the command */
        irqbed_ufs_uic_command(u, val);
        break;
    case A_UCMDARG1: /* RW */
        u->reg.ucmdarg1 = val;
        break;
    case A_UCMDARG2: /* RW */
        u->reg.ucmdarg2 = val;
        break;
    case A_UCMDARG3: /* RW */
        u->reg.ucmdarg3 = val;
        break;
    default: /* of the queues, RO, reserved, or not there */
        if (!irqbed_ufs_mcq_write(u, addr, val)) {
            irqbed_ctrl_guest_error(IRQBED_CTRL(u), "write to register", addr);
        }
        break;
    }
}

static void irqbed_ufs_mmio_write(void *opaque, hwaddr addr, uint64_t val,
                                  unsigned size)
{
    IrqbedUfs *u = opaque;

    trace_irqbed_ufs_mmio_write(IRQBED_CTRL(u)->name, addr, val);
    if (irqbed_ctrl_is_removed(IRQBED_CTRL(u))) {
        return;
    }
    if (addr == A_HCE) {
        write_hce(u, val);
    } else if (irqbed_ufs_is_enabled(u) || addr == A_IS || addr == A_IE) {
        /* Drivers clear and mask interrupts before they enable anything. */
        ufs_write(u, addr, val);
    } else {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "write while disabled", addr);
    }
}

static uint64_t irqbed_ufs_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    IrqbedUfs *u = opaque;
    uint32_t val = 0;

    if (irqbed_ctrl_is_removed(IRQBED_CTRL(u))) {
        return UINT64_MAX;
    }
    switch (addr) {
    case A_IS: /* the handler's first look */
        irqbed_irq_status_read(IRQBED_CTRL(u), 0);
        val = irqbed_ufs_status(u);
        break;
    case A_UTRIACR:
        val = read_utriacr(u);
        break;
    case A_UECPA ... A_UECDME: /* RO, a read clears it */
        memcpy(&val, (uint8_t *)&u->reg + addr, sizeof(val));
        memset((uint8_t *)&u->reg + addr, 0, sizeof(val));
        break;
    default:
        if (addr <= sizeof(u->reg) - sizeof(val)) {
            memcpy(&val, (uint8_t *)&u->reg + addr, sizeof(val));
        } else if (!irqbed_ufs_mcq_read(u, addr, &val)) {
            irqbed_ctrl_guest_error(IRQBED_CTRL(u), "read of register", addr);
        }
        break;
    }
    trace_irqbed_ufs_mmio_read(IRQBED_CTRL(u)->name, addr, val);
    return val;
}

const MemoryRegionOps irqbed_ufs_mmio_ops = {
    .read = irqbed_ufs_mmio_read,
    .write = irqbed_ufs_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 4,
        .max_access_size = 8,
    },
    .impl = {
        .min_access_size = 4,
        .max_access_size = 4,
    },
};
