/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * UIC commands: the link's start, its attributes, power modes, hibernation.
 * UFSHCI 3.1, 5.6 and 7.4; attributes of UniPro 1.8 and M-PHY 4.1.
 *
 * A command is over before the write that starts it returns, unless it is
 * injected to be late, with HCS.UCRDY 0 meanwhile: result in UCMDARG2, value in
 * UCMDARG3, then IS.UCCS and, for power modes, the second status with
 * HCS.UPMCRS.
 */

#include "qemu/osdep.h"
#include "ufs.h"
#include "trace.h"

#define RO 0
#define RW 1
#define LANES      2
#define HS_GEAR    4
#define PWM_GEAR   4

#define PA_PWRMODE 0x1571

#define PA_PWRMODE_FAST (BIT(1) | BIT(4))       /* fast, fast auto */
#define TX_FSM_STATE 0x0041
#define RX_FSM_STATE 0x00c1
enum { FSM_HIBERN8 = 1, FSM_SLEEP, FSM_STALL };

/* UFSHCI 3.1, 5.3.6 to 5.3.10: UECPA, UECDL, UECN, UECT, UECDME */
#define UEC_ERROR       BIT(31)
static const struct {
    uint8_t reg;
    uint32_t code;
} link_errors[] = {
    [IRQBED_UFS_LINK_PA_INIT] = { A_UECDL, BIT(13) },
    [IRQBED_UFS_LINK_PA_LANE] = { A_UECPA, BIT(0) },
    [IRQBED_UFS_LINK_PA_GENERIC] = { A_UECPA, BIT(4) },
    [IRQBED_UFS_LINK_DL_NAC] = { A_UECDL, BIT(0) },
    [IRQBED_UFS_LINK_DL_REPLAY] = { A_UECDL, BIT(1) },
    [IRQBED_UFS_LINK_NETWORK] = { A_UECN, BIT(0) },
    [IRQBED_UFS_LINK_TRANSPORT] = { A_UECT, BIT(0) },
    [IRQBED_UFS_LINK_DME] = { A_UECDME, BIT(0) },
};

typedef struct UicAttr {
    uint16_t id;
    uint8_t access;
    uint32_t value;             /* after link start-up */
} UicAttr;

/* In order of id. */
static const UicAttr uic_attrs[] = {
    /* M-PHY, of lane 0 */
    { 0x000f, RO, 1 },          /* TX_HIBERN8TIME_CAPABILITY */
    { 0x002b, RW, 1 },          /* TX_HIBERN8_CONTROL */
    { 0x002c, RW, 0 },          /* TX_LCC_ENABLE */
    { TX_FSM_STATE, RO, FSM_HIBERN8 },
    { 0x008b, RO, 0x4f },       /* RX_HS_G1_SYNC_LENGTH_CAPABILITY */
    { 0x008f, RO, 1 },          /* RX_MIN_ACTIVATETIME_CAPABILITY */
    { 0x0092, RO, 1 },          /* RX_HIBERN8TIME_CAPABILITY */
    { 0x0094, RO, 0x4f },       /* RX_HS_G2_SYNC_LENGTH_CAPABILITY */
    { 0x0095, RO, 0x4f },       /* RX_HS_G3_SYNC_LENGTH_CAPABILITY */
    { RX_FSM_STATE, RO, FSM_HIBERN8 },
    /* PHY adapter */
    { 0x1500, RO, 1 },          /* PA_PHYTYPE */
    { 0x1520, RO, LANES },      /* PA_AVAILTXDATALANES */
    { 0x1540, RO, LANES },      /* PA_AVAILRXDATALANES */
    { 0x1543, RO, 0 },          /* PA_MINRXTRAILINGCLOCKS */
    { 0x1544, RW, 0 },          /* PA_TXLINKSTARTUPHS */
    { 0x1552, RW, 0x4f },       /* PA_TXHSG1SYNCLENGTH */
    { 0x1554, RW, 0x4f },       /* PA_TXHSG2SYNCLENGTH */
    { 0x1556, RW, 0x4f },       /* PA_TXHSG3SYNCLENGTH */
    { 0x155a, RW, 0 },          /* PA_TXMK2EXTENSION */
    { 0x155c, RW, 0 },          /* PA_PEERSCRAMBLING */
    { 0x155d, RW, 0 },          /* PA_TXSKIP */
    { 0x155e, RW, 0 },          /* PA_LOCAL_TX_LCC_ENABLE */
    { 0x155f, RW, 0 },          /* PA_PEER_TX_LCC_ENABLE */
    { 0x1560, RW, LANES },      /* PA_ACTIVETXDATALANES */
    { 0x1561, RO, LANES },      /* PA_CONNECTEDTXDATALANES */
    { 0x1564, RW, 0xff },       /* PA_TXTRAILINGCLOCKS */
    { 0x1567, RO, 0 },          /* PA_TXPWRSTATUS */
    { 0x1568, RW, 1 },          /* PA_TXGEAR */
    { 0x1569, RW, 0 },          /* PA_TXTERMINATION */
    { 0x156a, RW, 1 },          /* PA_HSSERIES */
    { PA_PWRMODE, RW, 0x55 },   /* slow auto, both directions */
    { 0x1580, RW, LANES },      /* PA_ACTIVERXDATALANES */
    { 0x1581, RO, LANES },      /* PA_CONNECTEDRXDATALANES */
    { 0x1582, RO, 0 },          /* PA_RXPWRSTATUS */
    { 0x1583, RW, 1 },          /* PA_RXGEAR */
    { 0x1584, RW, 0 },          /* PA_RXTERMINATION */
    { 0x1585, RW, 0 },          /* PA_SCRAMBLING */
    { 0x1586, RO, PWM_GEAR },   /* PA_MAXRXPWMGEAR */
    { 0x1587, RO, HS_GEAR },    /* PA_MAXRXHSGEAR */
    { 0x1590, RW, 63 },         /* PA_PACPREQTIMEOUT */
    { 0x1591, RW, 127 },        /* PA_PACPREQEOBTIMEOUT */
    { 0x15a0, RO, 5 },          /* PA_REMOTEVERINFO */
    { 0x15a1, RO, 0 },          /* PA_LOGICALLANEMAP */
    { 0x15a2, RW, 15 },         /* PA_SLEEPNOCONFIGTIME */
    { 0x15a3, RW, 15 },         /* PA_STALLNOCONFIGTIME */
    { 0x15a4, RW, 15 },         /* PA_SAVECONFIGTIME */
    { 0x15a5, RO, 1 },          /* PA_RXHSUNTERMCAP */
    { 0x15a6, RO, 1 },          /* PA_RXLSTERMCAP */
    { 0x15a7, RW, 1 },          /* PA_HIBERN8TIME, 100 us */
    { 0x15a8, RW, 1 },          /* PA_TACTIVATE */
    { 0x15a9, RO, 5 },          /* PA_LOCALVERINFO: UniPro 1.8 */
    { 0x15aa, RW, 6 },          /* PA_GRANULARITY: 100 us */
    { 0x15b0, RW, 8191 },       /* PA_PWRMODEUSERDATA0 ... 11 */
    { 0x15b1, RW, 65535 },
    { 0x15b2, RW, 32767 },
    { 0x15b3, RW, 8191 },
    { 0x15b4, RW, 65535 },
    { 0x15b5, RW, 32767 },
    { 0x15b6, RW, 0 },
    { 0x15b7, RW, 0 },
    { 0x15b8, RW, 0 },
    { 0x15b9, RW, 0 },
    { 0x15ba, RW, 0 },
    { 0x15bb, RW, 0 },
    { 0x15d4, RW, 0 },          /* PA_TXHSADAPTTYPE */
    /* data link */
    { 0x2040, RO, 64 },         /* DL_TC0TXFCTHRESHOLD */
    { 0x2041, RW, 8191 },       /* DL_FC0PROTECTIONTIMEOUTVAL */
    { 0x2042, RW, 65535 },      /* DL_TC0REPLAYTIMEOUTVAL */
    { 0x2043, RW, 32767 },      /* DL_AFC0REQTIMEOUTVAL */
    { 0x2044, RW, 1 },          /* DL_AFC0CREDITTHRESHOLD */
    { 0x2045, RW, 0 },          /* DL_TC0OUTACKTHRESHOLD */
    { 0x2046, RO, 1 },          /* DL_PEERTC0PRESENT */
    /* network */
    { 0x3000, RW, 0 },          /* N_DEVICEID */
    { 0x3001, RW, 1 },          /* N_DEVICEID_VALID */
    /* transport, of connection 0 */
    { 0x4000, RO, 1 },          /* T_NUMCPORTS */
    { 0x4020, RW, 1 },          /* T_CONNECTIONSTATE */
    { 0x4021, RW, 1 },          /* T_PEERDEVICEID */
    { 0x4022, RW, 0 },          /* T_PEERCPORTID */
    { 0x4023, RW, 0 },          /* T_TRAFFICCLASS */
    { 0x4025, RW, 6 },          /* T_CPORTFLAGS */
    { 0x4026, RW, 0 },          /* T_TXTOKENVALUE */
    { 0x4027, RW, 0 },          /* T_RXTOKENVALUE */
    { 0x402b, RW, 1 },          /* T_CPORTMODE */
    /* DME: what takes effect with the next change of power mode */
    { 0xd041, RW, 8191 },       /* DME_LOCALFC0PROTECTIONTIMEOUTVAL */
    { 0xd042, RW, 65535 },      /* DME_LOCALTC0REPLAYTIMEOUTVAL */
    { 0xd043, RW, 32767 },      /* DME_LOCALAFC0REQTIMEOUTVAL */
};

QEMU_BUILD_BUG_ON(ARRAY_SIZE(uic_attrs) > IRQBED_UFS_UIC_ATTRS);

static int find_attr(uint16_t id)
{
    int i;

    for (i = 0; i < ARRAY_SIZE(uic_attrs); i++) {
        if (uic_attrs[i].id == id) {
            return i;
        }
    }
    return -1;
}

static void post(IrqbedUfs *u, uint32_t is_bits)
{
    u->reg.is |= is_bits;
}

/* Result of a change of power mode: UFSHCI 3.1, 5.3.1, HCS.UPMCRS. */
static void power_result(IrqbedUfs *u, uint32_t is_bit, uint32_t code)
{
    u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UPMCRS, code);
    post(u, is_bit);
}

static bool is_power_mode(uint32_t value)
{
    /* fast, slow, fast auto, slow auto, unchanged */
    const uint32_t modes = BIT(1) | BIT(2) | BIT(4) | BIT(5) | BIT(7);

    return value <= 0xff && (modes & BIT(value & 0xf)) &&
           (modes & BIT(value >> 4));
}

static bool is_link_up(IrqbedUfs *u)
{
    return FIELD_EX32(u->reg.hcs, HCS, DP);
}

/* M-PHY 4.1: what a lane does between two bursts. */
static uint32_t fsm_state(IrqbedUfs *u)
{
    uint32_t mode = u->uic[0][find_attr(PA_PWRMODE)] & 0xf;

    return !is_link_up(u) || u->hibernated ? FSM_HIBERN8 :
           PA_PWRMODE_FAST & BIT(mode) ? FSM_STALL : FSM_SLEEP;
}

static uint32_t dme_get(IrqbedUfs *u, bool peer)
{
    int i = find_attr(u->reg.ucmdarg1 >> 16);

    if (i < 0) {
        return UFS_UIC_CMD_RESULT_INVALID_ATTR;
    }
    u->reg.ucmdarg3 = uic_attrs[i].id == TX_FSM_STATE ||
                      uic_attrs[i].id == RX_FSM_STATE ? fsm_state(u) :
                                                        u->uic[peer][i];
    return UFS_UIC_CMD_RESULT_SUCCESS;
}

static uint32_t dme_set(IrqbedUfs *u, bool peer)
{
    int i = find_attr(u->reg.ucmdarg1 >> 16);
    uint32_t value = u->reg.ucmdarg3;

    if (i < 0) {
        return UFS_UIC_CMD_RESULT_INVALID_ATTR;
    }
    if (uic_attrs[i].access == RO) {
        return UFS_UIC_CMD_RESULT_READ_ONLY_ATTR;
    }
    if (uic_attrs[i].id == PA_PWRMODE) {
        if (!is_power_mode(value)) {
            return UFS_UIC_CMD_RESULT_INVALID_ATTR_VALUE;
        }
        if (!peer) {
            power_result(u, R_IS_UPMS_MASK, UFS_PWR_LOCAL);
        }
    }
    u->uic[peer][i] = value;
    return UFS_UIC_CMD_RESULT_SUCCESS;
}

static uint32_t link_startup(IrqbedUfs *u)
{
    if (irqbed_ctrl_link_is_down(IRQBED_CTRL(u), 0)) {
        return UFS_UIC_CMD_RESULT_FAILURE;
    }
    /* The device comes up in active mode: bCurrentPowerMode. */
    u->attrs[UFS_QUERY_ATTR_IDN_POWER_MODE] = 0x11;
    u->hibernated = false;
    u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, DP, 1);
    u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UTRLRDY, 1);
    u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UTMRLRDY, 1);
    return UFS_UIC_CMD_RESULT_SUCCESS;
}

/* Nothing to enter, or to leave: the status says so. */
static uint32_t hibernate(IrqbedUfs *u, bool enter)
{
    bool can = is_link_up(u) && u->hibernated != enter;

    if (can) {
        u->hibernated = enter;
    }
    power_result(u, enter ? R_IS_UHES_MASK : R_IS_UHXS_MASK,
                 can ? UFS_PWR_LOCAL : UFS_PWR_ERROR_CAP);
    return UFS_UIC_CMD_RESULT_SUCCESS;
}

static uint32_t uic_execute(IrqbedUfs *u, uint32_t opcode)
{
    bool link = is_link_up(u);

    switch (opcode) {
    case UFS_UIC_CMD_DME_GET:
        return dme_get(u, false);
    case UFS_UIC_CMD_DME_SET:
        return dme_set(u, false);
    case UFS_UIC_CMD_DME_PEER_GET:
        return link ? dme_get(u, true) : UFS_UIC_CMD_RESULT_PEER_COMM_FAILURE;
    case UFS_UIC_CMD_DME_PEER_SET:
        return link ? dme_set(u, true) : UFS_UIC_CMD_RESULT_PEER_COMM_FAILURE;
    case UFS_UIC_CMD_DME_LINK_STARTUP:
        return link_startup(u);
    case UFS_UIC_CMD_DME_HIBER_ENTER:
        return hibernate(u, true);
    case UFS_UIC_CMD_DME_HIBER_EXIT:
        return hibernate(u, false);
    case UFS_UIC_CMD_DME_RESET:
    case UFS_UIC_CMD_DME_ENABLE:
    case UFS_UIC_CMD_DME_END_PT_RST:
        return UFS_UIC_CMD_RESULT_SUCCESS;
    default:
        irqbed_ctrl_guest_error(IRQBED_CTRL(u), "UIC command", opcode);
        return UFS_UIC_CMD_RESULT_FAILURE;
    }
}

void irqbed_ufs_uic_command(IrqbedUfs *u, uint32_t opcode)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    const IrqbedInjectEntry *late;

    if (!FIELD_EX32(u->reg.hcs, HCS, UCRDY)) {
        irqbed_ctrl_guest_error(c, "UIC command while one runs", opcode);
        return;
    }
    u->reg.uiccmd = opcode & 0xff;
    u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UCRDY, 0);
    late = irqbed_faults_take_command(c, IRQBED_FAULT_COMMAND_LATE);
    if (!late || !irqbed_faults_later(c, late, 0, irqbed_now_ns())) {
        irqbed_ufs_uic_finish(u);
    }
}

void irqbed_ufs_uic_finish(IrqbedUfs *u)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    uint32_t result;

    if (irqbed_faults_take_command(c, IRQBED_FAULT_COMMAND_FAIL)) {
        result = UFS_UIC_CMD_RESULT_FAILURE;
    } else {
        result = uic_execute(u, u->reg.uiccmd);
    }
    u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UCRDY, 1);
    u->reg.ucmdarg2 = (u->reg.ucmdarg2 & ~UFS_MASK_UIC_COMMAND_RESULT) |
                      result;
    trace_irqbed_ufs_uic(c->name, u->reg.uiccmd, u->reg.ucmdarg1,
                         u->reg.ucmdarg3, result);
    post(u, R_IS_UCCS_MASK);
    irqbed_irq_post(c, 0);
}

/* UFSHCI 3.1, 5.3.1: ULLS, ULSS.  What is in flight has no answer. */
void irqbed_ufs_link_change(IrqbedUfs *u, bool up)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);

    if (!irqbed_ufs_is_enabled(u)) {
        return;
    }
    if (!up) {
        u->hibernated = false;
        irqbed_req_abort_all(c);
        u->new_slots = 0;
        u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, DP, 0);
        u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UTRLRDY, 0);
        u->reg.hcs = FIELD_DP32(u->reg.hcs, HCS, UTMRLRDY, 0);
    }
    post(u, up ? R_IS_ULSS_MASK : R_IS_ULLS_MASK);
    irqbed_irq_post(c, 0);
}

void irqbed_ufs_link_use(IrqbedUfs *u)
{
    if (u->hibernated) {
        irqbed_ctrl_guest_error(IRQBED_CTRL(u),
                                "doorbell while the link hibernates", 0);
    }
}

void irqbed_ufs_link_fault(IrqbedUfs *u)
{
    IrqbedCtrl *c = IRQBED_CTRL(u);
    uint32_t code;

    if (u->link_error_every &&
        ++u->link_error_count % u->link_error_every == 0) {
        c->stats.link_errors++;
        code = UEC_ERROR | link_errors[u->link_error_kind].code;
        memcpy((uint8_t *)&u->reg + link_errors[u->link_error_kind].reg,
               &code, sizeof(code));
        post(u, R_IS_UE_MASK);
        irqbed_irq_post(c, 0);
    }
}

void irqbed_ufs_uic_reset(IrqbedUfs *u)
{
    int side, i;

    u->hibernated = false;
    for (side = 0; side < 2; side++) {
        for (i = 0; i < ARRAY_SIZE(uic_attrs); i++) {
            u->uic[side][i] = uic_attrs[i].value;
        }
    }
}
