/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections of a controller: entries that change a knob or do a fault when
 * their rule (inject.h) says so.
 *
 * Three kinds of faults.  One of a request is put on the request when it is
 * scheduled, and is done where the request gets to it; one of a link command
 * waits for the next; any other is done at once.  An entry's "fired" counts
 * what was really done: a lost interrupt that nobody had enabled is none.
 */

#ifndef HW_IRQBED_FAULTS_H
#define HW_IRQBED_FAULTS_H

#include "qemu/timer.h"
#include "qobject/qlist.h"
#include "qom/object.h"
#include "inject.h"
#include "request.h"

#define IRQBED_INJECT_ENTRIES 32
#define IRQBED_INJECT_ID_LEN  31
#define IRQBED_INJECT_TARGETS 32
/* So many of the times at which an entry fired are kept, the first. */
#define IRQBED_INJECT_TIMES   64
/* With the host's clock, all that have passed are made up for. */
#define IRQBED_MIN_PERIOD_NS  100
#define IRQBED_FAULT_EVENTS   256
/* The host's memory for the data of each; more is never late. */
#define IRQBED_MAX_LATE       (4 * MiB)

typedef enum IrqbedFault {
    IRQBED_FAULT_NONE,          /* the entry is about a knob */
    /* of a request */
    IRQBED_FAULT_HOLD,
    IRQBED_FAULT_STATUS,
    IRQBED_FAULT_DMA_REFUSED,
    IRQBED_FAULT_DATA_LATE,
    IRQBED_FAULT_COMPLETE_TWICE,
    IRQBED_FAULT_IRQ_LOST,
    IRQBED_FAULT_IRQ_LATE,
    IRQBED_FAULT_IRQ_DOUBLE,
    /* of the controller */
    IRQBED_FAULT_IRQ_SPURIOUS,
    IRQBED_FAULT_IRQ_STUCK,
    IRQBED_FAULT_IRQ_NO_SOURCE,
    IRQBED_FAULT_LINK_DOWN,
    IRQBED_FAULT_REMOVE,
    /* of a link command */
    IRQBED_FAULT_COMMAND_LATE,
    IRQBED_FAULT_COMMAND_FAIL,
    IRQBED_FAULT__MAX
} IrqbedFault;

/* Which requests an entry is about. */
typedef enum IrqbedInjectOn {
    IRQBED_INJECT_ON_ANY,
    IRQBED_INJECT_ON_READ,
    IRQBED_INJECT_ON_WRITE,
    IRQBED_INJECT_ON_OTHER,
    IRQBED_INJECT_ON__MAX
} IrqbedInjectOn;

typedef struct IrqbedInjectEntry {
    IrqbedInject rule;
    char id[IRQBED_INJECT_ID_LEN + 1];
    bool boot;                  /* armed before the first reset of counters */
    uint32_t on;                /* IrqbedInjectOn */

    char knob[IRQBED_INJECT_ID_LEN + 1];
    IrqbedRamp ramp;            /* for_ns is the faults' too */
    int64_t step_ns;            /* next change of the knob, or NEVER */
    bool changed;               /* ramp.from is to be restored */

    uint32_t fault;             /* IrqbedFault */
    uint32_t status;            /* index of the transport's words */
    uint32_t target;
    uint64_t waiting;           /* for the next request or command */
    uint64_t fired;
    uint64_t fired_ns[IRQBED_INJECT_TIMES];     /* after reset_ns */
    uint64_t refused;           /* triggered, but it could not be done */
} IrqbedInjectEntry;

/* Something that is to be done later; only faults.c looks inside. */
typedef struct IrqbedFaultEvent {
    int64_t due_ns;
    uint32_t fault;
    uint32_t target;
    uint16_t queue;
    uint16_t tag;
    uint8_t *data;              /* of DATA_LATE */
    uint32_t nr_segments;
    IrqbedSegment *segments;
    uint32_t bytes;
} IrqbedFaultEvent;

typedef struct IrqbedFaults {
    IrqbedInjectEntry entries[IRQBED_INJECT_ENTRIES];
    uint32_t nr_entries;
    int64_t reset_ns;           /* of the statistics, or the machine */
    IrqbedFaultEvent events[IRQBED_FAULT_EVENTS];
    uint32_t nr_events;
    QEMUTimer *timer;
    uint32_t links_down;        /* bit for each target */
    bool removed;
} IrqbedFaults;

/* What a transport is asked to do; its operation "fault". */
typedef struct IrqbedFaultCall {
    IrqbedFault fault;
    bool over;                  /* LINK_DOWN, COMMAND_LATE: the end of it */
    uint32_t target;
    /*
     * STATUS, at D3: its answer is to be @status.  COMPLETE_TWICE, after D4:
     * post the answer again, if that can only be now; else false, and the call
     * comes later for @queue and @tag, without a request.
     */
    IrqbedReq *req;
    uint32_t status;
    uint16_t queue;
    uint16_t tag;
} IrqbedFaultCall;

/* Life cycle */
void irqbed_faults_realize(IrqbedCtrl *c);
/* Nothing more of them: the controller goes. */
void irqbed_faults_stop(IrqbedCtrl *c);
void irqbed_faults_unrealize(IrqbedCtrl *c);
/*
 * All counts and times of the entries start here; knobs are as they were
 * before and what lasts is over.  @all: also those that were not armed yet.
 */
void irqbed_faults_arm(IrqbedCtrl *c, bool all);
/* Entries from @first on have been added: armed now. */
void irqbed_faults_start(IrqbedCtrl *c, uint32_t first);
/* What is under way for requests and commands that are no more. */
void irqbed_faults_forget(IrqbedCtrl *c);
/* Restore what was changed, end what lasts, drop all entries. */
void irqbed_faults_clear(IrqbedCtrl *c);
/* After loading: the timer, and knobs that an entry had changed. */
void irqbed_faults_resume(IrqbedCtrl *c);
/* What an event holds; not the event itself. */
void irqbed_fault_event_free(IrqbedFaultEvent *ev);
void irqbed_faults_arm_timer(IrqbedCtrl *c);

/* D3: entries that count requests look at this one. */
void irqbed_faults_request(IrqbedReq *req);
/* The entry that does @fault to this request, counted as fired; or NULL. */
const IrqbedInjectEntry *irqbed_faults_take(IrqbedReq *req, IrqbedFault fault);
/* The same for what comes after its time; false, too, if it cannot be kept. */
bool irqbed_faults_take_later(IrqbedReq *req, IrqbedFault fault,
                              uint32_t target, int64_t now_ns);
/* The entry for a link command. */
const IrqbedInjectEntry *irqbed_faults_take_command(IrqbedCtrl *c,
                                                    IrqbedFault fault);
/* D3: is the answer an error, whatever the medium says? */
bool irqbed_faults_status(IrqbedReq *req);
/* D4: is the data to the guest written later?  It is taken from @req. */
bool irqbed_faults_data_late(IrqbedReq *req, int64_t now_ns);
/* After D5: is it answered a second time? */
void irqbed_faults_twice(IrqbedReq *req, int64_t now_ns);
/* @e has begun something for @target that ends after its time. */
bool irqbed_faults_later(IrqbedCtrl *c, const IrqbedInjectEntry *e,
                         uint32_t target, int64_t now_ns);

/* inject_parse.c: properties "inject" and "inject-clear" */
void irqbed_inject_add_properties(ObjectClass *oc);
/* { id, entry, triggered, fired, fired_ns, refused } of all; caller's */
QList *irqbed_inject_stats(IrqbedCtrl *c);

#endif
