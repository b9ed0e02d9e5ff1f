/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Service times and queueing, stage D3.  Pure; see latency.h for the contract.
 */

#include <string.h>
#include "latency.h"
#include "normal_table.h"

/* log2(e), and the Taylor coefficients ln(2)^i / i! of 2^x, i = 9 ... 1 */
#define LOG2_E_Q32 UINT64_C(6196328019)
#define LN2_Q32    UINT64_C(2977044472)
static const uint64_t exp2_q32[] = {
    437, 5676, 65510, 661577, 5726720, 41309550, 238388332, 1031764991,
    LN2_Q32,
};

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void irqbed_rng_seed(IrqbedRng *rng, uint64_t seed, IrqbedPurpose purpose)
{
    uint64_t state = seed;
    unsigned i;

    /* Purposes start far apart in the seeding sequence of one seed. */
    state = splitmix64(&state) + purpose;
    for (i = 0; i < 4; i++) {
        rng->s[i] = splitmix64(&state);
    }
}

static uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

uint64_t irqbed_rng_next(IrqbedRng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

/* A standard normal deviate in Q24 from 64 random bits, by inversion. */
static int64_t normal_q24(uint64_t bits)
{
    uint64_t r = bits << 1 | 1;     /* p = r / 2^65, in (0, 1/2) */
    unsigned zeros = __builtin_clzll(r);
    int64_t z = irqbed_normal_q24[0];

    if (zeros < IRQBED_NORMAL_OCTAVES) {
        /* The bits after the leading one: the place within the octave. */
        uint64_t m = r << zeros << 1;
        const int32_t *knot = irqbed_normal_q24 + (m >> 60) +
            (IRQBED_NORMAL_OCTAVES - 1 - zeros) * IRQBED_NORMAL_STEPS;
        int64_t part = m << 4 >> 32;

        z = knot[0] + (((int64_t)knot[1] - knot[0]) * part >> 32);
    }
    return bits >> 63 ? z : -z;
}

/* value * 2^(x / 2^32), at most IRQBED_MAX_NS */
static uint64_t scale_exp2(uint64_t value, int64_t x_q32)
{
    int64_t whole = x_q32 >> 32;
    uint64_t f = (uint32_t)x_q32;
    uint64_t power = 0;
    unsigned __int128 v;
    unsigned i;

    for (i = 0; i < sizeof(exp2_q32) / sizeof(exp2_q32[0]); i++) {
        power = (power + exp2_q32[i]) * f >> 32;
    }
    power += UINT64_C(1) << 32;
    v = (unsigned __int128)value * power >> 32;
    if (whole < 0) {
        v = whole > -64 ? v >> -whole : 0;
    } else if (whole >= 40) {
        v = v ? IRQBED_MAX_NS : 0;
    } else {
        v <<= whole;
    }
    return v > IRQBED_MAX_NS ? IRQBED_MAX_NS : v;
}

static uint64_t draw_uniform(const IrqbedDist *d, uint64_t bits)
{
    uint64_t width = 2 * d->spread_ns + 1;
    uint64_t offset = (unsigned __int128)bits * width >> 64;

    /* A width beyond the mean is cut off at zero. */
    if (d->mean_ns + offset < d->spread_ns) {
        return 0;
    }
    return d->mean_ns + offset - d->spread_ns;
}

static uint64_t draw_lognormal(const IrqbedDist *d, uint64_t bits)
{
    uint64_t sigma_q32;
    __int128 x;

    if (!d->mean_ns) {
        return 0;
    }
    /* Both at most 10^12 < 2^40: neither this nor the product overflows. */
    sigma_q32 = ((unsigned __int128)d->spread_ns << 32) / d->mean_ns;
    x = ((__int128)sigma_q32 * normal_q24(bits)) >> 24;
    x = (x * LOG2_E_Q32) >> 32;
    if (x > INT64_C(63) << 32) {
        x = INT64_C(63) << 32;
    } else if (x < -(INT64_C(64) << 32)) {
        x = -(INT64_C(64) << 32);
    }
    return scale_exp2(d->mean_ns, x);
}

static uint64_t draw_normal(const IrqbedDist *d, uint64_t bits)
{
    __int128 ns = d->mean_ns +
                  (((__int128)d->spread_ns * normal_q24(bits)) >> 24);

    return ns < 0 ? 0 : ns;
}

/* -log2(p) in Q32 for p = (bits + 1) / 2^64, bit by bit from squares. */
static uint64_t minus_log2_q32(uint64_t bits)
{
    uint64_t p = bits + 1;
    uint64_t m, fraction = 0;
    unsigned zeros;
    int i;

    if (!p) { /* p is 2^64 / 2^64 */
        return 0;
    }
    zeros = __builtin_clzll(p);
    m = p << zeros;             /* in [1, 2), Q63 */
    for (i = 31; i >= 0; i--) {
        unsigned __int128 square = (unsigned __int128)m * m;
        unsigned bit = square >> 127;

        fraction |= (uint64_t)bit << i;
        m = square >> (63 + bit);
    }
    return ((uint64_t)(zeros + 1) << 32) - fraction;
}

static uint64_t draw_exponential(const IrqbedDist *d, uint64_t bits)
{
    /* 40 bits, 39 bits and 32 bits: the product does not overflow. */
    return (unsigned __int128)d->mean_ns * minus_log2_q32(bits) * LN2_Q32 >>
           64;
}

static uint64_t draw_table(const IrqbedDistTable *t, uint64_t bits)
{
    /* In Q32; 100 % is below 2^27. */
    uint64_t at = (unsigned __int128)bits * (100 * IRQBED_PERCENT) >> 32;
    uint64_t from, to;
    uint32_t i = 0;

    if (!t || !t->count) {
        return 0;
    }
    while (i < t->count && (uint64_t)t->percentile[i] << 32 <= at) {
        i++;
    }
    if (i == 0 || i == t->count) {
        return t->ns[i ? i - 1 : 0];
    }
    from = (uint64_t)t->percentile[i - 1] << 32;
    to = (uint64_t)t->percentile[i] << 32;
    return t->ns[i - 1] + (unsigned __int128)(t->ns[i] - t->ns[i - 1]) *
           (at - from) / (to - from);
}

int64_t irqbed_dist_draw(const IrqbedDist *dist, IrqbedRng *rng)
{
    uint64_t ns;

    switch (dist->kind) {
    case IRQBED_DIST_UNIFORM:
        ns = draw_uniform(dist, irqbed_rng_next(rng));
        break;
    case IRQBED_DIST_LOGNORMAL:
        ns = draw_lognormal(dist, irqbed_rng_next(rng));
        break;
    case IRQBED_DIST_NORMAL:
        ns = draw_normal(dist, irqbed_rng_next(rng));
        break;
    case IRQBED_DIST_EXPONENTIAL:
        ns = draw_exponential(dist, irqbed_rng_next(rng));
        break;
    case IRQBED_DIST_TABLE:
        ns = draw_table(dist->table, irqbed_rng_next(rng));
        break;
    default:
        ns = dist->mean_ns;
        break;
    }
    return ns > IRQBED_MAX_NS ? IRQBED_MAX_NS : ns;
}

void irqbed_latency_seed(IrqbedLatency *m, uint64_t seed)
{
    irqbed_rng_seed(&m->rng[IRQBED_WORK_READ], seed, IRQBED_PURPOSE_READ);
    irqbed_rng_seed(&m->rng[IRQBED_WORK_WRITE], seed, IRQBED_PURPOSE_WRITE);
}

void irqbed_latency_idle(IrqbedLatency *m)
{
    memset(m->busy_until_ns, 0, sizeof(m->busy_until_ns));
}

/* The first unit that is idle, or else the first that is free soonest. */
static uint32_t free_unit(const IrqbedLatency *m, uint32_t units,
                          int64_t now_ns)
{
    uint32_t i, best = 0;

    for (i = 0; i < units; i++) {
        if (m->busy_until_ns[i] <= now_ns) {
            return i;
        }
        if (m->busy_until_ns[i] < m->busy_until_ns[best]) {
            best = i;
        }
    }
    return best;
}

static int64_t capped(int64_t ns)
{
    return ns > IRQBED_MAX_NS ? IRQBED_MAX_NS : ns;
}

IrqbedSchedule irqbed_latency_schedule(IrqbedLatency *m,
                                       const IrqbedLatencyCfg *cfg,
                                       IrqbedWork work, uint64_t addr,
                                       uint32_t bytes, int64_t now_ns)
{
    IrqbedSchedule s = { .unit = 0, .start_ns = now_ns };
    int64_t service_ns;

    if (work >= IRQBED_WORK_OTHER) {
        s.due_ns = now_ns + cfg->other_ns;
        return s;
    }
    service_ns = irqbed_dist_draw(&cfg->dist[work], &m->rng[work]);
    /* The cost of a part of a KiB is that part of the cost, rounded up. */
    service_ns += ((unsigned __int128)cfg->ns_per_kib[work] * bytes + 1023) >>
                  10;
    service_ns = capped(service_ns);
    s.unit = cfg->unit_choice == IRQBED_UNIT_FREE ?
        free_unit(m, cfg->units, now_ns) :
        addr / cfg->stripe_bytes % cfg->units;
    if (s.unit == cfg->slow_unit && cfg->slow_factor > 1) {
        service_ns = capped(service_ns * cfg->slow_factor);
    }
    if (m->busy_until_ns[s.unit] > now_ns) {
        s.start_ns = m->busy_until_ns[s.unit];
    }
    s.due_ns = s.start_ns + service_ns;
    m->busy_until_ns[s.unit] = s.due_ns;
    return s;
}
