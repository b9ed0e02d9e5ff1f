/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The recorder: what a controller did, stage by stage, in a window of time or
 * of requests.  Read once, at the window's end or later, through the control
 * port (hw/ctl) for `irqbed run --timeline`.
 *
 * It begins anew at each reset of the statistics, from which the window counts.
 * What comes after IRQBED_RECORD_MAX entries is counted as lost.  It is not
 * saved with the VM.
 *
 * Context: under the BQL.
 */

#ifndef HW_IRQBED_RECORD_H
#define HW_IRQBED_RECORD_H

#include "qobject/qdict.h"
#include "qom/object.h"
#include "request.h"

#define IRQBED_RECORD_MAX 16384

typedef enum IrqbedMark {
    IRQBED_MARK_FETCH,          /* D1, D2 */
    IRQBED_MARK_SCHEDULE,       /* D3; a: service begins at, b: due at; ns */
    IRQBED_MARK_HOLD,           /* instead of it: never due */
    IRQBED_MARK_COMPLETE,       /* D4; detail: 1 when it failed */
    IRQBED_MARK_ABORT,
    IRQBED_MARK_IRQ,            /* D5: sent; detail: the vector */
    IRQBED_MARK__MAX
} IrqbedMark;

typedef struct IrqbedRecordEntry {
    int64_t ns;
    int64_t a;
    int64_t b;
    uint64_t seq;
    uint32_t mark;              /* IrqbedMark */
    uint32_t detail;
    uint16_t queue;
    uint16_t tag;
} IrqbedRecordEntry;

typedef struct IrqbedRecord {
    /* properties, both windows empty when off */
    uint64_t from_ns;           /* after the reset */
    uint64_t for_ns;
    uint64_t first;             /* of a queue's requests since the reset */
    uint64_t requests;          /* so many; the first queue there begins it */

    int64_t reset_ns;
    bool begun;                 /* a window of requests */
    bool over;
    IrqbedRecordEntry *entries; /* IRQBED_RECORD_MAX, or NULL: off */
    uint32_t nr_entries;
    uint64_t lost;
} IrqbedRecord;

void irqbed_record_begin(IrqbedCtrl *c, int64_t now_ns);
void irqbed_record_free(IrqbedRecord *r);

/* Something happened to a request.  Nothing is done while it is off. */
void irqbed_record_req(IrqbedReq *req, IrqbedMark mark, uint32_t detail,
                       int64_t now_ns);
/* An interrupt was sent; correlators of the vector's last completion. */
void irqbed_record_irq(IrqbedCtrl *c, unsigned vector, uint16_t queue,
                       uint16_t tag, uint64_t seq);

/*
 * { "reset_ns", "lost", "events": [[mark, ns, queue, tag, seq, detail, a, b]] }
 * in order of time, the mark a word; NULL while it is off.
 */
QDict *irqbed_record_get(Object *obj);
void irqbed_record_add_properties(ObjectClass *oc);

#endif
