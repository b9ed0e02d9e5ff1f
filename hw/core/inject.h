/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When does an injection happen, and which value has a knob while it does?
 *
 * Pure: a rule, an event and now_ns in, a decision out.  faults.c acts.
 *
 * A rule is armed at a time, and everything it counts starts there: requests
 * and times alike.  What it draws comes from a stream of its own, which
 * arming starts again.
 */

#ifndef HW_IRQBED_INJECT_H
#define HW_IRQBED_INJECT_H

#include <stdbool.h>
#include "latency.h"

#define IRQBED_INJECT_NEVER      INT64_MAX
#define IRQBED_INJECT_RAMP_STEPS 100
/* chance is a number of these */
#define IRQBED_INJECT_PPM        1000000

typedef enum IrqbedTrigger {
    IRQBED_TRIGGER_AT,          /* n ns after arming, then every period_ns */
    IRQBED_TRIGGER_AFTER,       /* the n-th request after arming */
    IRQBED_TRIGGER_EVERY,       /* every n-th request */
    IRQBED_TRIGGER_CHANCE,      /* each request, by n millionths */
    IRQBED_TRIGGER__MAX
} IrqbedTrigger;

typedef struct IrqbedInject {
    uint32_t trigger;           /* IrqbedTrigger */
    uint64_t n;
    uint64_t period_ns;         /* of AT; 0: once */
    uint64_t count;             /* most often; 0: no limit */

    bool armed;
    int64_t at_ns;              /* AT: when next, or NEVER */
    uint64_t requests;          /* seen since arming */
    uint64_t triggered;
    IrqbedRng rng;
} IrqbedInject;

/* From here on; @seed of this rule's own stream. */
void irqbed_inject_arm(IrqbedInject *e, uint64_t seed, int64_t now_ns);
/* A request of the kind the rule is about has come: does it happen? */
bool irqbed_inject_request(IrqbedInject *e);
/* Does it happen at @now_ns?  Once for each time that has passed: ask again. */
bool irqbed_inject_time(IrqbedInject *e, int64_t now_ns);

/*
 * A knob on its way: from @from to @to in @ramp_ns, in equal steps (at once
 * if 0), and back to @from, at once, @for_ns after the beginning (0: never).
 */
typedef struct IrqbedRamp {
    uint64_t from;
    uint64_t to;
    int64_t begun_ns;
    int64_t ramp_ns;
    int64_t for_ns;
} IrqbedRamp;

/*
 * The value at @now_ns; *@next_ns becomes the time at which there is another
 * one, or NEVER.
 */
uint64_t irqbed_ramp_value(const IrqbedRamp *r, int64_t now_ns,
                           int64_t *next_ns);

#endif
