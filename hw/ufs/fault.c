/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What of an injected fault is UFS's own: overall command statuses, SCSI
 * statuses and sense data, completions posted twice, the link and its
 * commands.
 */

#include "qemu/osdep.h"
#include "scsi/constants.h"
#include "ufs.h"

const char *const irqbed_ufs_fault_statuses[] = {
    "ocs-command-table", "ocs-prdt", "ocs-data-size", "ocs-response-size",
    "ocs-peer-failure", "ocs-aborted", "ocs-fatal", "ocs-device-fatal",
    "ocs-crypto-config", "ocs-crypto",
    "not-ready", "medium-error", "hardware-error", "illegal-request",
    "unit-attention", "data-protect", "aborted-command",
    "busy", "task-set-full", NULL
};

/* In the order of the words. */
static const struct {
    uint8_t ocs;
    uint8_t scsi;
    IrqbedUfsSense sense;       /* of CHECK CONDITION */
} statuses[] = {
    { .ocs = UFS_OCS_INVALID_CMD_TABLE_ATTR },
    { .ocs = UFS_OCS_INVALID_PRDT_ATTR },
    { .ocs = UFS_OCS_MISMATCH_DATA_BUF_SIZE },
    { .ocs = UFS_OCS_MISMATCH_RESP_UPIU_SIZE },
    { .ocs = UFS_OCS_PEER_COMM_FAILURE },
    { .ocs = UFS_OCS_ABORTED },
    { .ocs = UFS_OCS_FATAL_ERROR },
    { .ocs = UFS_OCS_DEVICE_FATAL_ERROR },
    { .ocs = UFS_OCS_INVALID_CRYPTO_CONFIG },
    { .ocs = UFS_OCS_GENERAL_CRYPTO_ERROR },
    { .scsi = CHECK_CONDITION, .sense = { NOT_READY, 0x04, 0x01 } },
    { .scsi = CHECK_CONDITION, .sense = { MEDIUM_ERROR, 0x11, 0x00 } },
    { .scsi = CHECK_CONDITION, .sense = { HARDWARE_ERROR, 0x44, 0x00 } },
    { .scsi = CHECK_CONDITION, .sense = { ILLEGAL_REQUEST, 0x24, 0x00 } },
    { .scsi = CHECK_CONDITION, .sense = { UNIT_ATTENTION, 0x29, 0x00 } },
    { .scsi = CHECK_CONDITION, .sense = { DATA_PROTECT, 0x27, 0x00 } },
    { .scsi = CHECK_CONDITION, .sense = { ABORTED_COMMAND, 0x00, 0x00 } },
    { .scsi = BUSY },
    { .scsi = TASK_SET_FULL },
};

QEMU_BUILD_BUG_ON(ARRAY_SIZE(statuses) + 1 !=
                  ARRAY_SIZE(irqbed_ufs_fault_statuses));

/* The operation stays what it is: the model counts its service time. */
static bool fault_status(IrqbedReq *core, uint32_t status)
{
    IrqbedUfsReq *r = container_of(core, IrqbedUfsReq, core);
    IrqbedOp op = core->op;

    if (r->ocs != UFS_OCS_SUCCESS || status >= ARRAY_SIZE(statuses)) {
        return false;
    }
    if (statuses[status].ocs) {
        r->ocs = statuses[status].ocs;
        return true;
    }
    if ((r->upiu.header.trans_type & 0x3f) != UFS_UPIU_TRANSACTION_COMMAND) {
        return false;
    }
    if (statuses[status].scsi == CHECK_CONDITION) {
        irqbed_ufs_scsi_check(r, statuses[status].sense);
    } else {
        irqbed_ufs_scsi_status(r, statuses[status].scsi);
    }
    core->op = op;
    return true;
}

static bool fault_twice(IrqbedUfs *u, IrqbedReq *core)
{
    if (irqbed_ufs_has_queues(u)) {
        return core && irqbed_ufs_cq_answer_twice(
            container_of(core, IrqbedUfsReq, core));
    }
    if (core) {
        return false;
    }
    u->reg.is = FIELD_DP32(u->reg.is, IS, UTRCS, 1);
    irqbed_irq_post(IRQBED_CTRL(u), 0);
    return true;
}

bool irqbed_ufs_fault(IrqbedCtrl *c, const IrqbedFaultCall *call)
{
    IrqbedUfs *u = IRQBED_UFS(c);

    switch (call->fault) {
    case IRQBED_FAULT_STATUS:
        return fault_status(call->req, call->status);
    case IRQBED_FAULT_COMPLETE_TWICE:
        return fault_twice(u, call->req);
    case IRQBED_FAULT_LINK_DOWN:
        if (call->target) {
            return false;
        }
        irqbed_ufs_link_change(u, call->over);
        return true;
    case IRQBED_FAULT_COMMAND_LATE:
        irqbed_ufs_uic_finish(u);
        return true;
    default:
        return false;
    }
}
