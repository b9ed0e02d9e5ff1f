/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * UFS host controller (UFSHCI 3.1; 4.0 with mcq=on) and the UFS device behind
 * it (UFS 3.1).
 *
 * Registers, UPIUs and descriptors come from include/block/ufs.h; here is what
 * it lacks, the controller's state, and what the files of this folder offer
 * each other.  Everything runs under the BQL.
 */

#ifndef HW_IRQBED_UFS_H
#define HW_IRQBED_UFS_H

#include "qemu/units.h"
#include "block/ufs.h"
#include "hw/block/block.h"
#include "../core/ctrl.h"

#define TYPE_IRQBED_UFS "irqbed-ufs"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedUfs, IRQBED_UFS)
#define TYPE_IRQBED_UFS_LU "irqbed-ufs-lu"
OBJECT_DECLARE_SIMPLE_TYPE(IrqbedUfsLu, IRQBED_UFS_LU)
#define TYPE_IRQBED_UFS_BUS "irqbed-ufs-bus"

/* UFSHCI 3.1, 5.4.11: interrupt aggregation control */
FIELD(UTRIACR, IATOVAL, 0, 8)           /* units of 40 us */
FIELD(UTRIACR, IACTH, 8, 5)
FIELD(UTRIACR, CTR, 16, 1)              /* WO: restart the window */
FIELD(UTRIACR, IASB, 20, 1)             /* RO: the window holds completions */
FIELD(UTRIACR, IAPWEN, 24, 1)           /* WO: take IACTH and IATOVAL */
FIELD(UTRIACR, IAEN, 31, 1)
#define IRQBED_UFS_IATOVAL_UNIT_NS 40000

/* UFSHCI 4.0: what block/ufs.h lacks of the registers for queues */
FIELD(CAP, NUTRS_MCQ, 0, 8)             /* with MCQS: all 8 bits */
FIELD(IS, SQES, 19, 1)                  /* an event of a submission queue */
FIELD(IS, IAGES, 21, 1)                 /* an aggregation window has closed */
FIELD(CONFIG, ESIE, 1, 1)               /* a message for each queue's events */
REG32(ESILBA, offsetof(UfsReg, esilba))
    FIELD(ESILBA, ESILBA, 2, 30)
REG32(ESIUBA, offsetof(UfsReg, esiuba))
FIELD(CQCFG, IAG, 0, 5)                 /* aggregation group: whose MCQIACR */
FIELD(CQCFG, IAGVLD, 8, 1)
FIELD(SQRTC, STP, 0, 1)                 /* stop fetching */
FIELD(SQRTC, ICU, 1, 1)                 /* clean up what SQCTI names */
FIELD(SQCTI, TAG, 0, 8)
FIELD(SQCTI, LUN, 8, 8)
FIELD(SQRTS, STS, 0, 1)                 /* stopped */
FIELD(SQRTS, CUS, 1, 1)                 /* clean-up is over */
FIELD(SQIS, STOP, 1, 1)                 /* stopped, or started again */
FIELD(SQIS, CLEANUP, 2, 1)              /* clean-up is over */
FIELD(SQRTS, RTC, 4, 4)                 /* ... with this result: */
#define IRQBED_UFS_RTC_DONE        0
#define IRQBED_UFS_RTC_NOT_FOUND   1
#define IRQBED_UFS_RTC_NOT_STOPPED 2
#define IRQBED_UFS_RTC_DISABLED    3

#define IRQBED_UFS_MCQ_VERSION   0x0400
#define IRQBED_UFS_MAX_QUEUES    IRQBED_MAX_QUEUES
#define IRQBED_UFS_QCFG_UNIT     0x200  /* of MCQCAP.QCFGPTR, bytes */
#define IRQBED_UFS_QCFGPTR       2
#define IRQBED_UFS_QCFG          (IRQBED_UFS_QCFGPTR * IRQBED_UFS_QCFG_UNIT)
#define IRQBED_UFS_QUEUE_ALIGN   1024
#define IRQBED_UFS_MSIX_BAR      1
/* Command type of an entry that the driver has taken back */
#define IRQBED_UFS_CT_NULLIFIED  0xf

/* UFSHCI 3.1, 6.1.1: UTRD dword 0, and the alignments of its addresses */
#define IRQBED_UFS_UTRD_CT_SHIFT 28
#define IRQBED_UFS_UTRD_DD_MASK \
    (UFS_UTP_HOST_TO_DEVICE | UFS_UTP_DEVICE_TO_HOST)
#define IRQBED_UFS_UCD_ALIGN     128
#define IRQBED_UFS_PRDT_ALIGN    4
#define IRQBED_UFS_PRDT_LEN_MASK 0x3ffff

/* Basic header and transaction specific fields of any UPIU */
#define IRQBED_UFS_UPIU_BYTES    32

#define IRQBED_UFS_VERSION       0x0310
#define IRQBED_UFS_MMIO_BYTES    (16 * KiB)
#define IRQBED_UFS_MAX_SLOTS     32
#define IRQBED_UFS_TM_SLOTS      8
#define IRQBED_UFS_MAX_LUS       32
#define IRQBED_UFS_MAX_TRANSFER  (4 * MiB)
#define IRQBED_UFS_MAX_UNMAP     16     /* descriptors of one UNMAP */
#define IRQBED_UFS_WLUNS         4      /* well-known logical units */
#define IRQBED_UFS_UNITS         (IRQBED_UFS_MAX_LUS + IRQBED_UFS_WLUNS)
/* Logical block: from bMinAddrBlockSize to what one bLogicalBlockSize makes */
#define IRQBED_UFS_MIN_BLOCK     (4 * KiB)
#define IRQBED_UFS_MAX_BLOCK     (64 * KiB)

/* qTimestamp (UFS 4.0, 14.3); write only, 64 bits */
#define IRQBED_UFS_ATTR_TIMESTAMP 0x30
#define IRQBED_UFS_CONTEXTS      5      /* bMaxContextIDNumber */
#define IRQBED_UFS_MAX_TEMPERATURE 250  /* bDeviceCaseRoughTemperature */
#define IRQBED_UFS_ATTRS         (IRQBED_UFS_ATTR_TIMESTAMP + 1)
#define IRQBED_UFS_FLAGS         UFS_QUERY_FLAG_IDN_COUNT
#define IRQBED_UFS_UIC_ATTRS     96

QEMU_BUILD_BUG_ON(IRQBED_UFS_MAX_TRANSFER > IRQBED_MAX_TRANSFER);
/* So that there is always memory for a request. */
QEMU_BUILD_BUG_ON(IRQBED_UFS_MAX_TRANSFER * IRQBED_MAX_DEPTH >
                  IRQBED_MAX_BUFFERS);
QEMU_BUILD_BUG_ON(IRQBED_UFS_MAX_UNMAP > IRQBED_MAX_EXTENTS);
QEMU_BUILD_BUG_ON(sizeof(UfsReg) > IRQBED_UFS_MMIO_BYTES);
QEMU_BUILD_BUG_ON(sizeof(UfsReg) > IRQBED_UFS_QCFG);
QEMU_BUILD_BUG_ON(sizeof(UfsMcqReg) != 0x40);
QEMU_BUILD_BUG_ON(sizeof(UfsMcqOpReg) != 48);
QEMU_BUILD_BUG_ON(sizeof(UtpTransferReqDesc) != 32);
QEMU_BUILD_BUG_ON(sizeof(UfsCqEntry) != 32);
QEMU_BUILD_BUG_ON(sizeof(UtpTaskReqDesc) != 80);
QEMU_BUILD_BUG_ON(sizeof(UfshcdSgEntry) != 16);
QEMU_BUILD_BUG_ON(offsetof(UtpUpiuReq, qr.data) != IRQBED_UFS_UPIU_BYTES);

typedef struct IrqbedUfsReq {
    IrqbedReq core;
    UtpTransferReqDesc utrd;
    UtpUpiuReq upiu;
    UtpUpiuRsp rsp;
    uint32_t ocs;               /* enum UtpOcsCodes */
    bool utrd_read;             /* without it nothing can be answered */
    uint8_t cq;                 /* with queues: where the answer goes */
    QSLIST_ENTRY(IrqbedUfsReq) free_entry;
} IrqbedUfsReq;

/* When an LU is write-protected; property write-protect. */
typedef enum IrqbedUfsProtect {
    IRQBED_UFS_PROTECT_OFF = UFS_LU_NO_WP,
    IRQBED_UFS_PROTECT_POWER_ON = UFS_LU_POWER_ON_WP,   /* fPowerOnWPEn */
    IRQBED_UFS_PROTECT_PERMANENT = UFS_LU_PERM_WP,
} IrqbedUfsProtect;

/* A submission and a completion queue; offsets and sizes are bytes. */
typedef struct IrqbedUfsQueue {
    uint32_t sq_attr;
    uint64_t sq_base;
    uint32_t sq_cfg;
    uint32_t sq_bytes;          /* 0: there is none */
    uint32_t sq_head;           /* the device's */
    uint32_t sq_tail;           /* the driver's */
    uint32_t sq_is;
    uint32_t sq_ie;
    uint32_t rtc;
    uint32_t cti;
    uint32_t rts;
    uint32_t cq_attr;
    uint32_t cq_cfg;
    uint64_t cq_base;
    uint32_t cq_bytes;
    uint32_t cq_head;           /* the driver's */
    uint32_t cq_tail;           /* the device's */
    uint32_t iacr;
} IrqbedUfsQueue;

struct IrqbedUfsLu {
    DeviceState parent_obj;

    BlockConf conf;
    uint8_t lun;
    uint32_t block_bytes;
    uint64_t protect;           /* IrqbedUfsProtect */

    IrqbedUfs *ufs;             /* once realized */
    IrqbedStore store;
};

/* Unit attentions, the most important first. */
typedef enum IrqbedUfsAttention {
    IRQBED_UFS_ATTENTION_POWER_ON,
    IRQBED_UFS_ATTENTION_LU_RESET,
    IRQBED_UFS_ATTENTION_MODE,  /* mode parameters changed, not by the guest */
    IRQBED_UFS_ATTENTION__MAX
} IrqbedUfsAttention;

/* What the guest can change of a unit; well-known ones have no mode pages. */
typedef struct IrqbedUfsUnit {
    uint8_t attention;          /* bits, by IrqbedUfsAttention */
    bool stopped;               /* START STOP UNIT */
    bool write_cache;           /* WCE */
    bool software_wp;           /* SWP */
} IrqbedUfsUnit;

/* The gentlest function that lets a held request go: property hold-until. */
typedef enum IrqbedUfsHoldUntil {
    IRQBED_UFS_HOLD_UNTIL_ABORT,
    IRQBED_UFS_HOLD_UNTIL_LU_RESET,
    IRQBED_UFS_HOLD_UNTIL_HOST_RESET,
} IrqbedUfsHoldUntil;

/* Which layer reports what link-error-every lets happen: link-error-kind. */
typedef enum IrqbedUfsLinkError {
    IRQBED_UFS_LINK_PA_INIT,
    IRQBED_UFS_LINK_PA_LANE,
    IRQBED_UFS_LINK_PA_GENERIC,
    IRQBED_UFS_LINK_DL_NAC,
    IRQBED_UFS_LINK_DL_REPLAY,
    IRQBED_UFS_LINK_NETWORK,
    IRQBED_UFS_LINK_TRANSPORT,
    IRQBED_UFS_LINK_DME,
} IrqbedUfsLinkError;

struct IrqbedUfs {
    IrqbedCtrl parent_obj;

    char *serial;
    bool unit_attention;
    uint64_t temperature;       /* degrees Celsius + 80; 0: no sensor */
    uint64_t hold_until;        /* IrqbedUfsHoldUntil */
    uint64_t link_error_every;  /* fault: requests per error; 0: never */
    uint64_t link_error_count;
    uint64_t link_error_kind;   /* IrqbedUfsLinkError */
    bool hibernated;            /* the link, by DME_HIBERNATE_ENTER */

    MemoryRegion mmio;
    BusState bus;
    UfsReg reg;
    IrqbedUfsReq *reqs;         /* of slots, or for whatever queues need */
    uint32_t nr_reqs;

    bool mcq;
    uint8_t mcq_maxq;
    IrqbedUfsQueue queues[IRQBED_UFS_MAX_QUEUES];
    QSLIST_HEAD(, IrqbedUfsReq) free_reqs;
    uint32_t nr_busy;           /* requests not in free_reqs */
    uint32_t cqis;              /* TEPS of each queue ... */
    uint32_t cqie;              /* ... its enable bit ... */
    uint32_t cqes;              /* ... and if it passed a window by */
    uint32_t sqie;              /* queues whose SQIE is not 0 */
    uint32_t iags;              /* aggregation groups with a closed window */
    uint32_t sq_waiting;        /* queues that wait for a free request */
    uint32_t sq_next;           /* whose turn it is */
    uint32_t new_slots;         /* doorbell rung, not fetched yet */
    bool fetch_by_timer;
    QEMUTimer *fetch_timer;

    IrqbedUfsLu *lus[IRQBED_UFS_MAX_LUS];
    IrqbedUfsUnit units[IRQBED_UFS_UNITS];      /* by irqbed_ufs_unit() */
    uint32_t uic[2][IRQBED_UFS_UIC_ATTRS];      /* own side, peer's side */
    uint32_t attrs[IRQBED_UFS_ATTRS];
    uint8_t flags[IRQBED_UFS_FLAGS];
    uint64_t timestamp;
};

static inline IrqbedUfs *irqbed_ufs_of(IrqbedUfsReq *r)
{
    return IRQBED_UFS(r->core.ctrl);
}

/* Does the driver use queues, not the doorbell?  UFSHCI 4.0, CONFIG.QT */
static inline bool irqbed_ufs_has_queues(IrqbedUfs *u)
{
    return FIELD_EX32(u->reg.config, CONFIG, QT);
}

/* mmio.c */
extern const MemoryRegionOps irqbed_ufs_mmio_ops;
bool irqbed_ufs_is_running(IrqbedUfs *u);
bool irqbed_ufs_is_enabled(IrqbedUfs *u);

/* mcq_mmio.c: registers of the queues; false if there is none at @addr */
bool irqbed_ufs_mcq_write(IrqbedUfs *u, hwaddr addr, uint32_t val);
bool irqbed_ufs_mcq_read(IrqbedUfs *u, hwaddr addr, uint32_t *val);

/* mcq.c: submission and completion queues, UFSHCI 4.0 */
void irqbed_ufs_mcq_reset(IrqbedUfs *u);
/* After the requests were changed from outside: which are free? */
void irqbed_ufs_collect_free(IrqbedUfs *u);
void irqbed_ufs_sq_enable(IrqbedUfs *u, unsigned q, uint32_t attr);
void irqbed_ufs_cq_enable(IrqbedUfs *u, unsigned q, uint32_t attr);
void irqbed_ufs_sq_doorbell(IrqbedUfs *u, unsigned q, uint32_t tail);
void irqbed_ufs_sq_control(IrqbedUfs *u, unsigned q, uint32_t val);
void irqbed_ufs_cq_doorbell(IrqbedUfs *u, unsigned q, uint32_t head);
bool irqbed_ufs_can_answer(IrqbedReq *core);
/* D4: the entry in the completion queue; IrqbedAnswer bits. */
unsigned irqbed_ufs_cq_answer(IrqbedUfsReq *r, bool urgent);
/* Fault: the entry of a request just answered once more, if there is room. */
bool irqbed_ufs_cq_answer_twice(IrqbedUfsReq *r);
/* Timer callback: slots and queues that wait to be fetched. */
void irqbed_ufs_fetch_run(void *opaque);

/* irq.c: whose status is whose interrupt; D5 */
uint32_t irqbed_ufs_status(IrqbedUfs *u);
bool irqbed_ufs_irq_level(IrqbedCtrl *c, unsigned vector);
unsigned irqbed_ufs_irq_vectors(IrqbedCtrl *c);
IrqbedIrqRoute irqbed_ufs_irq_route(IrqbedCtrl *c, unsigned vector,
                                    MSIMessage *msg);
/* An entry was pushed: status; then vector and IrqbedAnswer bits. */
unsigned irqbed_ufs_cq_event(IrqbedUfs *u, unsigned q, bool urgent,
                             uint16_t *vector);
void irqbed_ufs_cq_ack(IrqbedUfs *u, unsigned q, uint32_t bits);
void irqbed_ufs_cq_irq_enable(IrqbedUfs *u, unsigned q, uint32_t bits);
void irqbed_ufs_cq_status_read(IrqbedUfs *u, unsigned q);
void irqbed_ufs_cq_set_group(IrqbedUfs *u, unsigned q, uint32_t cfg);
/* Bits of SQIS: one comes, the guest takes them away, or enables them. */
void irqbed_ufs_sq_event(IrqbedUfs *u, unsigned q, uint32_t bit);
void irqbed_ufs_sq_ack(IrqbedUfs *u, unsigned q, uint32_t bits);
void irqbed_ufs_sq_irq_enable(IrqbedUfs *u, unsigned q, uint32_t bits);
/* What decides about the queues' vectors may have changed. */
void irqbed_ufs_irq_refresh(IrqbedUfs *u);
/* UTRIACR, or MCQIACR of a group, which looks the same: @val is written. */
void irqbed_ufs_aggregate(IrqbedUfs *u, uint32_t val);
void irqbed_ufs_aggregate_group(IrqbedUfs *u, unsigned group, uint32_t val);

/* vmstate.c */
extern const VMStateDescription irqbed_ufs_vmstate;

/* uic.c: link and power mode, UFSHCI 3.1, 5.6 and UniPro's DME */
void irqbed_ufs_uic_command(IrqbedUfs *u, uint32_t opcode);
/* What irqbed_ufs_uic_command() has put off. */
void irqbed_ufs_uic_finish(IrqbedUfs *u);
/* Fault: the link is lost, or could be started again. */
void irqbed_ufs_link_change(IrqbedUfs *u, bool up);
void irqbed_ufs_uic_reset(IrqbedUfs *u);
/* A doorbell was rung: not while the link hibernates. */
void irqbed_ufs_link_use(IrqbedUfs *u);
/* A request was answered: fault link-error-every. */
void irqbed_ufs_link_fault(IrqbedUfs *u);

/* xfer.c: transfer requests, D1, D2 and D4 */
void irqbed_ufs_doorbell(IrqbedUfs *u, uint32_t slots);
/*
 * Host clock: what is rung, slots or queues, is fetched by the main loop, while
 * the guest goes on.
 */
bool irqbed_ufs_fetches_later(IrqbedUfs *u);
/* D2 of those in new_slots. */
void irqbed_ufs_take_slots(IrqbedUfs *u);
/* D2 and D3 of one whose descriptor is in r->utrd. */
void irqbed_ufs_take_entry(IrqbedUfsReq *r);
uint64_t irqbed_ufs_ucd_addr(const UtpTransferReqDesc *utrd);
void irqbed_ufs_clear_slots(IrqbedUfs *u, uint32_t slots);
unsigned irqbed_ufs_answer(IrqbedReq *core);
/* Segments for @bytes from the PRD table; sets ocs and is false if it fails. */
bool irqbed_ufs_fetch_prdt(IrqbedUfsReq *r, uint32_t bytes);

/* fault.c */
extern const char *const irqbed_ufs_fault_statuses[];
bool irqbed_ufs_fault(IrqbedCtrl *c, const IrqbedFaultCall *call);

/* task.c: task management */
void irqbed_ufs_task_doorbell(IrqbedUfs *u, uint32_t slots);

/* query.c and desc.c: query requests */
/* Has something happened that wExceptionEventControl asks to be told? */
bool irqbed_ufs_has_alert(IrqbedUfs *u);
void irqbed_ufs_query(IrqbedUfsReq *r);
void irqbed_ufs_query_reset(IrqbedUfs *u);
/* Length of the descriptor built in @buf (UFS_MAX_QUERY_DATA_SIZE), or 0. */
unsigned irqbed_ufs_descriptor(IrqbedUfs *u, uint8_t idn, uint8_t index,
                               uint8_t *buf);
bool irqbed_ufs_has_descriptor(uint8_t idn);

/* sense.c: sense data, unit attentions */
typedef struct IrqbedUfsSense {
    uint8_t key;
    uint8_t asc;
    uint8_t ascq;
} IrqbedUfsSense;

extern const IrqbedUfsSense irqbed_ufs_invalid_opcode;
extern const IrqbedUfsSense irqbed_ufs_invalid_field;
extern const IrqbedUfsSense irqbed_ufs_bad_lun;
extern const IrqbedUfsSense irqbed_ufs_bad_list_length;
extern const IrqbedUfsSense irqbed_ufs_bad_list_field;

/* D4: the medium failed. */
void irqbed_ufs_scsi_medium_error(IrqbedUfsReq *r);
void irqbed_ufs_scsi_check(IrqbedUfsReq *r, IrqbedUfsSense sense);
/* A SCSI status without sense data. */
void irqbed_ufs_scsi_status(IrqbedUfsReq *r, uint8_t status);
void irqbed_ufs_attention(IrqbedUfs *u, unsigned unit,
                          IrqbedUfsAttention what);
/* True, with CHECK CONDITION set, if the unit had one; it is over with that. */
bool irqbed_ufs_scsi_attention(IrqbedUfsReq *r);
void irqbed_ufs_scsi_request_sense(IrqbedUfsReq *r, IrqbedUfsLu *lu);

/* lu.c: as after a reset of one unit, or of all of them */
void irqbed_ufs_unit_reset(IrqbedUfs *u, unsigned unit,
                           IrqbedUfsAttention why);
void irqbed_ufs_units_reset(IrqbedUfs *u);
/* Does anything forbid to write? */
bool irqbed_ufs_is_protected(IrqbedUfsLu *lu);

/* scsi.c: SCSI commands; scsi_info.c: those that describe the LU */
void irqbed_ufs_scsi(IrqbedUfsReq *r);
/* In the order of their units. */
extern const uint8_t irqbed_ufs_wluns[IRQBED_UFS_WLUNS];
/* Index of the unit with this LUN in units[], the LUN of an LU; or -1. */
int irqbed_ufs_unit(IrqbedUfs *u, uint32_t lun);
/* Fetch a parameter list; false with the overall status set if it fails. */
bool irqbed_ufs_scsi_parameters(IrqbedUfsReq *r, void *list, uint32_t len);
/* Data to the guest: at most @alloc bytes of @data. */
void irqbed_ufs_scsi_reply(IrqbedUfsReq *r, const void *data, uint32_t len,
                           uint32_t alloc);
void irqbed_ufs_scsi_inquiry(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_report_luns(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_capacity10(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_capacity16(IrqbedUfsReq *r, IrqbedUfsLu *lu);

/* mode.c */
void irqbed_ufs_mode_reset(IrqbedUfsUnit *unit);
void irqbed_ufs_scsi_mode_sense(IrqbedUfsReq *r, IrqbedUfsLu *lu);
void irqbed_ufs_scsi_mode_select(IrqbedUfsReq *r, IrqbedUfsLu *lu);

#endif
