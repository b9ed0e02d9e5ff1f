/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Triggers and ramps of injections.  Pure; see inject.h for the contract.
 */

#include "inject.h"

void irqbed_inject_arm(IrqbedInject *e, uint64_t seed, int64_t now_ns)
{
    e->armed = true;
    e->at_ns = e->trigger == IRQBED_TRIGGER_AT ? now_ns + (int64_t)e->n
                                               : IRQBED_INJECT_NEVER;
    e->requests = 0;
    e->triggered = 0;
    irqbed_rng_seed(&e->rng, seed, IRQBED_PURPOSE_INJECT);
}

static bool is_over(const IrqbedInject *e)
{
    return !e->armed || (e->count && e->triggered >= e->count);
}

static bool is_hit(IrqbedInject *e)
{
    switch (e->trigger) {
    case IRQBED_TRIGGER_AFTER:
        return e->requests == e->n;
    case IRQBED_TRIGGER_EVERY:
        return e->n && e->requests % e->n == 0;
    case IRQBED_TRIGGER_CHANCE:
        return (unsigned __int128)irqbed_rng_next(&e->rng) *
               IRQBED_INJECT_PPM >> 64 < e->n;
    default:
        return false;
    }
}

bool irqbed_inject_request(IrqbedInject *e)
{
    if (is_over(e)) {
        return false;
    }
    e->requests++;
    if (!is_hit(e)) {
        return false;
    }
    e->triggered++;
    return true;
}

bool irqbed_inject_time(IrqbedInject *e, int64_t now_ns)
{
    if (is_over(e) || e->at_ns > now_ns) {
        return false;
    }
    e->triggered++;
    e->at_ns = e->period_ns && !is_over(e) ? e->at_ns + (int64_t)e->period_ns
                                           : IRQBED_INJECT_NEVER;
    return true;
}

/* When step @step of @r begins, rounded up. */
static int64_t step_ns(const IrqbedRamp *r, int64_t step)
{
    return r->begun_ns + (int64_t)(((__int128)r->ramp_ns * step +
                                    IRQBED_INJECT_RAMP_STEPS - 1) /
                                   IRQBED_INJECT_RAMP_STEPS);
}

uint64_t irqbed_ramp_value(const IrqbedRamp *r, int64_t now_ns,
                           int64_t *next_ns)
{
    const int64_t steps = IRQBED_INJECT_RAMP_STEPS;
    int64_t end_ns = r->for_ns ? r->begun_ns + r->for_ns
                               : IRQBED_INJECT_NEVER;
    int64_t step = steps;

    if (now_ns < r->begun_ns) {
        *next_ns = r->begun_ns;
        return r->from;
    }
    if (now_ns >= end_ns) {
        *next_ns = IRQBED_INJECT_NEVER;
        return r->from;
    }
    *next_ns = end_ns;
    if (now_ns < step_ns(r, steps)) {
        step = (__int128)(now_ns - r->begun_ns) * steps / r->ramp_ns;
        /* A ramp of fewer ns than steps has several in one. */
        while (step_ns(r, step + 1) <= now_ns) {
            step++;
        }
        if (step_ns(r, step + 1) < end_ns) {
            *next_ns = step_ns(r, step + 1);
        }
    }
    return r->from + (__int128)((__int128)r->to - r->from) * step / steps;
}
