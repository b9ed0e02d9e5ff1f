/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When does a posted status become an interrupt?  Stage D5: drop, coalesce,
 * delay.
 *
 * Pure: (state, event, level, now_ns) in, a decision out.  The caller owns
 * the timer and the line.  "level" is whether an enabled status bit is set
 * after the event; status bits are final before the event is given.
 *
 *      IDLE ----completion (below count)----> WINDOW
 *       |                                       | count reached, timeout,
 *       | completion (count 1), urgent          | or urgent
 *       v                                       v
 *      DELAY <----------------------------------+
 *       | interrupt latency over
 *       v
 *      RAISED      any state --level falls--> IDLE
 *
 * Rules:
 *  - One interrupt covers everything posted until the level falls: a
 *    completion in DELAY or RAISED raises none of its own ("coalesced").
 *  - The level falls in WINDOW or DELAY: what was under way is given up and
 *    counted as "suppressed".
 *  - Every drop_every-th completion changes no state at all.  As nothing was
 *    raised for it, the next completion interrupts as usual, even if the
 *    status bit of the dropped one is still set.
 *  - Therefore completions = dropped + coalesced + raised + suppressed +
 *    what is under way, if there are no urgent causes.
 */

#ifndef HW_IRQBED_IRQ_SHAPER_H
#define HW_IRQBED_IRQ_SHAPER_H

#include <stdbool.h>
#include "latency.h"

#define IRQBED_SHAPER_NEVER INT64_MAX

typedef struct IrqbedShaperCfg {
    uint32_t coalesce_count;        /* 1: off; 0: by timeout alone */
    int64_t coalesce_timeout_ns;    /* 0: by count alone */
    IrqbedDist latency;
    uint64_t drop_every;            /* 0: never */
} IrqbedShaperCfg;

typedef enum IrqbedShaperState {
    IRQBED_SHAPER_IDLE,
    IRQBED_SHAPER_WINDOW,
    IRQBED_SHAPER_DELAY,
    IRQBED_SHAPER_RAISED,
} IrqbedShaperState;

typedef struct IrqbedShaper {
    uint32_t state;             /* IrqbedShaperState */
    uint32_t window_count;
    int64_t next_ns;            /* end of window or delay, or NEVER */
    uint64_t completions;       /* ever, for drop_every */
    IrqbedRng rng;
} IrqbedShaper;

typedef enum IrqbedShaperEvent {
    IRQBED_SHAPER_COMPLETION,   /* a completion that wants an interrupt */
    IRQBED_SHAPER_URGENT,       /* a status that waits in no window */
    IRQBED_SHAPER_TIME,         /* next_ns is reached */
    IRQBED_SHAPER_CLEARED,      /* the level fell */
    IRQBED_SHAPER_RESTART,      /* the guest restarts the window */
    IRQBED_SHAPER_FORWARD,      /* raised by another shaper, on this line */
} IrqbedShaperEvent;

typedef struct IrqbedShaperDecision {
    bool raise;                 /* line up, or send the message, now */
    bool lower;                 /* line down now */
    bool dropped;
    bool suppressed;
    uint32_t coalesced;         /* completions that will raise none */
} IrqbedShaperDecision;

/* Random draws and the drop count start again. */
void irqbed_shaper_seed(IrqbedShaper *s, uint64_t seed);
/* Nothing raised, nothing under way.  The drop count goes on. */
void irqbed_shaper_reset(IrqbedShaper *s);

IrqbedShaperDecision irqbed_shaper_step(IrqbedShaper *s,
                                        const IrqbedShaperCfg *cfg,
                                        IrqbedShaperEvent event, bool level,
                                        int64_t now_ns);

#endif
