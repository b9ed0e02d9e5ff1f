/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Drop, coalesce and delay interrupts, stage D5.  Pure; see irq_shaper.h for
 * states and rules.
 */

#include "irq_shaper.h"

static void shaper_go(IrqbedShaper *s, IrqbedShaperState state,
                      int64_t next_ns)
{
    s->state = state;
    s->next_ns = next_ns;
}

static void shaper_raise(IrqbedShaper *s, bool level, IrqbedShaperDecision *d)
{
    /* A level that fell came as an event of its own: this is never needed. */
    if (!level) {
        d->suppressed = true;
        shaper_go(s, IRQBED_SHAPER_IDLE, IRQBED_SHAPER_NEVER);
        return;
    }
    d->raise = true;
    shaper_go(s, IRQBED_SHAPER_RAISED, IRQBED_SHAPER_NEVER);
}

/* The interrupt is decided: now only its latency is between it and the CPU. */
static void shaper_fire(IrqbedShaper *s, const IrqbedShaperCfg *cfg,
                        bool level, int64_t now_ns, IrqbedShaperDecision *d)
{
    int64_t delay_ns = irqbed_dist_draw(&cfg->latency, &s->rng);

    if (s->window_count > 1) {
        d->coalesced += s->window_count - 1;
    }
    s->window_count = 0;
    if (delay_ns) {
        shaper_go(s, IRQBED_SHAPER_DELAY, now_ns + delay_ns);
    } else {
        shaper_raise(s, level, d);
    }
}

static void shaper_completion(IrqbedShaper *s, const IrqbedShaperCfg *cfg,
                              bool level, int64_t now_ns,
                              IrqbedShaperDecision *d)
{
    s->completions++;
    if (cfg->drop_every && s->completions % cfg->drop_every == 0) {
        d->dropped = true;
        return;
    }
    if (s->state == IRQBED_SHAPER_DELAY || s->state == IRQBED_SHAPER_RAISED) {
        d->coalesced++;
        return;
    }
    s->window_count++;
    if (cfg->coalesce_count && s->window_count >= cfg->coalesce_count) {
        shaper_fire(s, cfg, level, now_ns, d);
    } else if (s->state == IRQBED_SHAPER_IDLE) {
        shaper_go(s, IRQBED_SHAPER_WINDOW,
                  cfg->coalesce_timeout_ns ? now_ns + cfg->coalesce_timeout_ns
                                           : IRQBED_SHAPER_NEVER);
    }
}

static void shaper_cleared(IrqbedShaper *s, IrqbedShaperDecision *d)
{
    d->lower = s->state == IRQBED_SHAPER_RAISED;
    if (s->state == IRQBED_SHAPER_WINDOW || s->state == IRQBED_SHAPER_DELAY) {
        d->suppressed = true;
    }
    if (s->window_count > 1) {
        d->coalesced += s->window_count - 1;
    }
    irqbed_shaper_reset(s);
}

void irqbed_shaper_seed(IrqbedShaper *s, uint64_t seed)
{
    irqbed_rng_seed(&s->rng, seed, IRQBED_PURPOSE_IRQ);
    s->completions = 0;
}

void irqbed_shaper_reset(IrqbedShaper *s)
{
    s->window_count = 0;
    shaper_go(s, IRQBED_SHAPER_IDLE, IRQBED_SHAPER_NEVER);
}

IrqbedShaperDecision irqbed_shaper_step(IrqbedShaper *s,
                                        const IrqbedShaperCfg *cfg,
                                        IrqbedShaperEvent event, bool level,
                                        int64_t now_ns)
{
    IrqbedShaperDecision d = { .raise = false };

    switch (event) {
    case IRQBED_SHAPER_COMPLETION:
        shaper_completion(s, cfg, level, now_ns, &d);
        break;
    case IRQBED_SHAPER_URGENT:
        if (s->state == IRQBED_SHAPER_IDLE ||
            s->state == IRQBED_SHAPER_WINDOW) {
            /* It takes what waited in the window along. */
            d.coalesced += s->window_count;
            s->window_count = 0;
            shaper_fire(s, cfg, level, now_ns, &d);
        }
        break;
    case IRQBED_SHAPER_TIME:
        if (now_ns < s->next_ns) {
            break;
        }
        if (s->state == IRQBED_SHAPER_WINDOW) {
            shaper_fire(s, cfg, level, now_ns, &d);
        } else if (s->state == IRQBED_SHAPER_DELAY) {
            shaper_raise(s, level, &d);
        }
        break;
    case IRQBED_SHAPER_CLEARED:
        shaper_cleared(s, &d);
        break;
    case IRQBED_SHAPER_FORWARD:
        if (s->state == IRQBED_SHAPER_DELAY ||
            s->state == IRQBED_SHAPER_RAISED) {
            d.coalesced++;
            break;
        }
        d.coalesced += s->window_count;
        s->window_count = 0;
        shaper_raise(s, level, &d);
        break;
    case IRQBED_SHAPER_RESTART:
        if (s->state == IRQBED_SHAPER_WINDOW) {
            d.coalesced += s->window_count;
            irqbed_shaper_reset(s);
        }
        break;
    }
    return d;
}
