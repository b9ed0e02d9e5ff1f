/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The abstract controller: what every emulated controller shares.
 *
 * A controller is a PCI function with knobs, a latency model, an interrupt
 * shaper, requests in flight, and statistics.  What it looks like to the guest
 * is the transport's part, one const table of operations in the class.
 *
 * Context: all of it runs under the BQL, in a vCPU thread or the main loop.
 * Time is QEMU_CLOCK_VIRTUAL, read once per event and passed down.
 */

#ifndef HW_IRQBED_CTRL_H
#define HW_IRQBED_CTRL_H

#include "hw/pci/pci_device.h"
#include "migration/vmstate.h"
#include "faults.h"
#include "hist.h"
#include "irq_shaper.h"
#include "latency.h"
#include "record.h"
#include "request.h"
#include "series.h"
#include "stats.h"

#define TYPE_IRQBED_CTRL "irqbed-ctrl"
OBJECT_DECLARE_TYPE(IrqbedCtrl, IrqbedCtrlClass, IRQBED_CTRL)

/*
 * The knobs, declared with unit, range and default in knobs.c.  All but the
 * tables are uint64_t so that one getter and one setter serve them.
 */
typedef struct IrqbedKnobs {
    uint64_t queue_depth;
    uint64_t seed;
    uint64_t units;
    uint64_t unit_choice;
    uint64_t unit_stripe_bytes;
    uint64_t slow_unit;
    uint64_t slow_unit_factor;
    uint64_t service_read_dist;
    uint64_t service_read_ns;
    uint64_t service_read_spread_ns;
    uint64_t service_read_ns_per_kib;
    uint64_t service_write_dist;
    uint64_t service_write_ns;
    uint64_t service_write_spread_ns;
    uint64_t service_write_ns_per_kib;
    uint64_t service_other_ns;
    uint64_t irq_mode;
    uint64_t irq_trigger;
    uint64_t irq_latency_dist;
    uint64_t irq_latency_ns;
    uint64_t irq_latency_spread_ns;
    uint64_t irq_coalesce_count;
    uint64_t irq_coalesce_timeout_ns;
    uint64_t irq_drop_every;
    uint64_t hold_every;
    uint64_t fail_every;
    uint64_t series_window_ns;
    IrqbedDistTable service_read_table;
    IrqbedDistTable service_write_table;
    IrqbedDistTable irq_latency_table;
} IrqbedKnobs;

typedef enum IrqbedIrqMode {
    IRQBED_IRQ_MODE_MSI,        /* MSI offered; INTx while it is not enabled */
    IRQBED_IRQ_MODE_INTX,       /* neither MSI nor MSI-X */
    IRQBED_IRQ_MODE_MSIX,       /* MSI-X offered; INTx while not enabled */
    IRQBED_IRQ_MODE__MAX
} IrqbedIrqMode;

/* How long the line stays up; a message has no duration. */
typedef enum IrqbedIrqTrigger {
    IRQBED_IRQ_LEVEL,           /* until no enabled status bit is left */
    IRQBED_IRQ_EDGE,            /* until the status is read */
    IRQBED_IRQ_TRIGGER__MAX
} IrqbedIrqTrigger;

typedef struct IrqbedStats {
    uint64_t fetched;
    uint64_t completed;
    uint64_t failed;
    uint64_t aborted;
    uint64_t in_flight;
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t irq_raised;
    uint64_t irq_suppressed;
    uint64_t irq_dropped;
    uint64_t irq_coalesced;
    uint64_t irq_late;
    uint64_t irq_extra;         /* faults: that no status asked for */
    uint64_t held;
    uint64_t failed_media;
    uint64_t link_errors;
    uint64_t guest_errors;
    uint64_t queue_fetched[IRQBED_MAX_QUEUES];
    IrqbedHist service_ns[IRQBED_WORK__MAX];
    IrqbedHist queueing_ns;
    IrqbedHist device_ns;
    IrqbedHist irq_to_read_ns;
    IrqbedHist irq_to_clear_ns;
} IrqbedStats;

/* Interrupt of one vector; only irq.c looks inside. */
typedef struct IrqbedIrq {
    IrqbedCtrl *ctrl;
    unsigned vector;
    IrqbedShaper shaper;
    IrqbedShaperCfg cfg;
    QEMUTimer *timer;
    bool guest_window;          /* these two instead of the knobs' */
    uint32_t guest_count;
    int64_t guest_timeout_ns;
    bool level;                 /* the transport's level, as last seen */
    bool await_read;            /* raised, status not yet read */
    bool await_clear;           /* raised, status not yet cleared */
    bool stuck;                 /* fault: does not come down */
    int64_t raised_ns;
    uint16_t last_queue;        /* correlators of the last completion */
    uint16_t last_tag;
    uint64_t last_seq;
} IrqbedIrq;

struct IrqbedCtrl {
    PCIDevice parent_obj;

    IrqbedKnobs knobs;

    IrqbedLatencyCfg latency_cfg;
    IrqbedLatency *media;       /* units of each medium; IrqbedReq.medium */
    uint32_t nr_media;
    IrqbedIrq *irqs;
    uint32_t nr_irqs;
    IrqbedStats stats;
    IrqbedSeries series;
    IrqbedRecord record;
    VMChangeStateEntry *vm_state;
    QEMUTimer *due_timer;
    unsigned media_waits;       /* nested waits for host I/O */
    uint64_t buffer_bytes;      /* of all requests */
    IrqbedReqList active;       /* all but FREE ones, oldest first */
    IrqbedReqList due;          /* SCHEDULED and DUE ones, next due first */
    uint64_t next_seq;
    uint64_t hold_count;
    uint64_t fail_count;
    IrqbedFaults faults;
    MemoryRegion gone;          /* see removal.c */
    bool unplugged;             /* by QEMU, for good */
    char *name;
};

/* What a transport says about a request it has just answered. */
typedef enum IrqbedAnswer {
    IRQBED_ANSWER_OK = 0,
    IRQBED_ANSWER_FAILED = 1,        /* an error was answered */
    IRQBED_ANSWER_IRQ = 2,           /* wants an interrupt */
    IRQBED_ANSWER_IRQ_URGENT = 4,    /* ... that waits in no window */
} IrqbedAnswer;

/* How a vector other than 0 reaches the guest. */
typedef enum IrqbedIrqRoute {
    IRQBED_IRQ_ROUTE_OWN,       /* MSI or MSI-X vector of its number */
    IRQBED_IRQ_ROUTE_MESSAGE,   /* a message that the guest has given */
    IRQBED_IRQ_ROUTE_SHARED,    /* a status bit of vector 0, now set */
} IrqbedIrqRoute;

typedef struct IrqbedTransport {
    bool (*realize)(IrqbedCtrl *c, Error **errp);
    /* After a reset, and when the PCI function is gone already. */
    void (*unrealize)(IrqbedCtrl *c);
    /* Registers to their power-on values; no request is in flight. */
    void (*reset)(IrqbedCtrl *c);
    /* D4: response and every status the guest can see; IrqbedAnswer bits. */
    unsigned (*answer)(IrqbedReq *req);
    /* Is an enabled status bit of this vector set? */
    bool (*irq_level)(IrqbedCtrl *c, unsigned vector);
    /* Optional: is there room for the answer?  See irqbed_req_retry(). */
    bool (*can_answer)(IrqbedReq *req);
    /* Optional, 1 without: interrupt vectors; with MSI a power of two to 32. */
    unsigned (*vectors)(IrqbedCtrl *c);
    /* Optional, all have their own without.  @msg for ROUTE_MESSAGE. */
    IrqbedIrqRoute (*irq_route)(IrqbedCtrl *c, unsigned vector,
                                MSIMessage *msg);
    /* Optional, 1 without: media that do not share their units. */
    unsigned (*media)(IrqbedCtrl *c);
    /* Optional: what of an injected fault is its own; false: cannot be. */
    bool (*fault)(IrqbedCtrl *c, const IrqbedFaultCall *call);
    /* The errors that IRQBED_FAULT_STATUS can answer, and a NULL. */
    const char *const *fault_statuses;
    /* Faults that it does beside those of every controller: BIT(fault). */
    uint32_t faults;
    /* BAR of the MSI-X table; 0: no MSI-X.  Then MSI has one vector. */
    uint8_t msix_bar;
} IrqbedTransport;

struct IrqbedCtrlClass {
    PCIDeviceClass parent_class;

    const IrqbedTransport *transport;
};

static inline const IrqbedTransport *irqbed_transport(IrqbedCtrl *c)
{
    return IRQBED_CTRL_GET_CLASS(c)->transport;
}

static inline int64_t irqbed_now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* All random streams start again from the knob "seed". */
void irqbed_ctrl_seed(IrqbedCtrl *c);
static inline bool irqbed_ctrl_link_is_down(IrqbedCtrl *c, unsigned target)
{
    return c->faults.links_down & BIT(target);
}

/*
 * The registers read as ones and take no writes, no message and no memory
 * access leaves it: the device is gone.
 */
static inline bool irqbed_ctrl_is_removed(IrqbedCtrl *c)
{
    return c->faults.removed || c->unplugged;
}

/* The guest did something that the specification forbids. */
void irqbed_ctrl_guest_error(IrqbedCtrl *c, const char *what, uint64_t value);

/* removal.c; after irq.c, whose MSI-X table it covers */
void irqbed_removal_realize(IrqbedCtrl *c);
void irqbed_removal_unrealize(IrqbedCtrl *c);
void irqbed_ctrl_set_removed(IrqbedCtrl *c, bool removed);
uint32_t irqbed_ctrl_config_read(PCIDevice *dev, uint32_t addr, int len);
/* What a transport's own function for it calls. */
void irqbed_ctrl_config_write(PCIDevice *dev, uint32_t addr, uint32_t value,
                              int len);

/* knobs.c */
void irqbed_knobs_add(ObjectClass *oc);
void irqbed_knobs_init(IrqbedCtrl *c);
/* Derive the model's configuration from the knobs. */
void irqbed_knobs_apply(IrqbedCtrl *c);
bool irqbed_knobs_check(IrqbedCtrl *c, Error **errp);
/*
 * Which of @words (up to a NULL) @word is; *@value is left alone and an error
 * that names them set for the property @name if it is none.
 */
bool irqbed_parse_word(const char *name, const char *word,
                       const char *const *words, uint64_t *value,
                       Error **errp);

/* A knob that can change while the device runs: its value from a text. */
bool irqbed_knob_parse(const char *name, const char *text, uint64_t *value,
                       Error **errp);
/* Is there such a knob, and is the value one of its? */
bool irqbed_knob_may_be(const char *name, uint64_t value);
bool irqbed_knob_is_word(const char *name);
/* The caller frees it. */
char *irqbed_knob_format(const char *name, uint64_t value);
uint64_t irqbed_knob_get(IrqbedCtrl *c, const char *name);
/* False if it does not go with the others. */
bool irqbed_knob_change(IrqbedCtrl *c, const char *name, uint64_t value,
                        Error **errp);

/* All as they are now, "_" for "-"; the caller owns it. */
QDict *irqbed_knobs_stats(IrqbedCtrl *c);

/* ctrl_stats.c: counters and histograms as an object; the caller owns it */
QDict *irqbed_ctrl_stats(Object *obj);
/* All counters but in_flight to 0; what is in flight counts as fetched. */
void irqbed_ctrl_stats_reset(Object *obj);
/* A series begins, by the knob, or there is none; the recorder, too. */
void irqbed_ctrl_series_reset(IrqbedCtrl *c);
void irqbed_ctrl_series_free(IrqbedCtrl *c);

/*
 * irq.c: vector 0 is INTx too.  Shaping is per vector, statistics are summed.
 * The random stream of vector n, and of medium n, is that of seed + n.
 */
bool irqbed_irq_realize(IrqbedCtrl *c, Error **errp);
/* No messages any more; the function still has its configuration space. */
void irqbed_irq_stop(IrqbedCtrl *c);
void irqbed_irq_unrealize(IrqbedCtrl *c);
/* Nothing raised, nothing under way, on any vector. */
void irqbed_irq_reset(IrqbedCtrl *c);
void irqbed_irq_seed(IrqbedCtrl *c);
/* After loading: the timers. */
void irqbed_irq_resume(IrqbedCtrl *c);
/* D5: @req was answered, its status is posted, it wants an interrupt. */
void irqbed_irq_completion(IrqbedCtrl *c, IrqbedReq *req, bool urgent,
                           int64_t now_ns);
/* A status bit was set that is no completion's. */
void irqbed_irq_post(IrqbedCtrl *c, unsigned vector);
/* Status or enable bits were changed by the guest. */
void irqbed_irq_update(IrqbedCtrl *c, unsigned vector);
/* The guest acknowledged, and what is left wants an interrupt of its own. */
void irqbed_irq_retrigger(IrqbedCtrl *c, unsigned vector);
/* The guest reads its interrupt status. */
void irqbed_irq_status_read(IrqbedCtrl *c, unsigned vector);
/* The guest's own coalescing, instead of the knobs' while it is @on. */
void irqbed_irq_guest_window(IrqbedCtrl *c, unsigned vector, bool on,
                             uint32_t count, int64_t timeout_ns);
/* The guest restarts the coalescing window. */
void irqbed_irq_restart_window(IrqbedCtrl *c, unsigned vector);
bool irqbed_irq_window_open(IrqbedCtrl *c, unsigned vector);
/*
 * Faults.  An interrupt that no status asks for; the vector does not come down
 * while it is stuck (a message is sent again whenever it would).  False: there
 * is no such vector, or nothing changes.
 */
bool irqbed_irq_extra(IrqbedCtrl *c, unsigned vector);
bool irqbed_irq_stick(IrqbedCtrl *c, unsigned vector, bool stuck);

/* vmstate.c: a transport saves these, and resumes its requests after loading */
extern const VMStateDescription irqbed_vmstate_ctrl;
extern const VMStateDescription irqbed_vmstate_req;
/* Where data goes; read, it replaces what was there.  False: it cannot be. */
void irqbed_segments_put(QEMUFile *f, const IrqbedSegment *segments,
                         uint32_t count);
bool irqbed_segments_get(QEMUFile *f, IrqbedSegment **segments,
                         uint32_t *count);
/* inject_vmstate.c */
extern const VMStateDescription irqbed_vmstate_faults;

/* dma.c: guest RAM only; false if any byte is not RAM, or addresses wrap */
bool irqbed_dma_read(IrqbedCtrl *c, uint64_t addr, void *buf, uint32_t len);
bool irqbed_dma_write(IrqbedCtrl *c, uint64_t addr, const void *buf,
                      uint32_t len);
/* The first @len bytes of the request's segments, from or to its buffer. */
bool irqbed_dma_gather(IrqbedReq *req, void *buf, uint32_t len);
bool irqbed_dma_scatter(IrqbedReq *req, const void *buf, uint32_t len);
bool irqbed_dma_scatter_to(IrqbedCtrl *c, const IrqbedSegment *segments,
                           uint32_t nr_segments, const void *buf,
                           uint32_t len);

#endif
