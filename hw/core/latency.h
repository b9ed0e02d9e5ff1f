/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When is a request due?  Stage D3: service time by distribution and size,
 * queueing behind a number of parallel units.
 *
 * Pure: state, work and now_ns in, start and due time out.  Integers and
 * fixed point only, so that one seed gives the same bits on any host.
 */

#ifndef HW_IRQBED_LATENCY_H
#define HW_IRQBED_LATENCY_H

#include <stdint.h>

#define IRQBED_MAX_UNITS  4096
#define IRQBED_MAX_SLOW   1000
/* No knob and no draw is above this: 1000 s. */
#define IRQBED_MAX_NS     INT64_C(1000000000000)

typedef enum IrqbedDistKind {
    IRQBED_DIST_FIXED,          /* mean */
    IRQBED_DIST_UNIFORM,        /* mean +- spread, ends included */
    IRQBED_DIST_LOGNORMAL,      /* median; sigma = spread / median */
    IRQBED_DIST_NORMAL,         /* mean; sigma = spread; cut off at 0 */
    IRQBED_DIST_EXPONENTIAL,    /* mean */
    IRQBED_DIST_TABLE,          /* percentiles, see IrqbedDistTable */
    IRQBED_DIST__MAX
} IrqbedDistKind;

#define IRQBED_DIST_POINTS 32
/* Percentiles count millionths of a percent. */
#define IRQBED_PERCENT     1000000

/*
 * Percentiles ascend, durations do not descend.  Between two points the
 * duration is on the line through them; below the first and above the last it
 * is theirs.  Without points it is 0.
 */
typedef struct IrqbedDistTable {
    uint32_t count;
    uint32_t percentile[IRQBED_DIST_POINTS];
    uint64_t ns[IRQBED_DIST_POINTS];
} IrqbedDistTable;

typedef struct IrqbedDist {
    IrqbedDistKind kind;
    uint64_t mean_ns;
    uint64_t spread_ns;
    const IrqbedDistTable *table;       /* of IRQBED_DIST_TABLE alone */
} IrqbedDist;

/* Generator xoshiro256**, seeded by splitmix64. */
typedef struct IrqbedRng {
    uint64_t s[4];
} IrqbedRng;

/* One stream per purpose, so that no draw of one shifts the others. */
typedef enum IrqbedPurpose {
    IRQBED_PURPOSE_READ,
    IRQBED_PURPOSE_WRITE,
    IRQBED_PURPOSE_IRQ,
    IRQBED_PURPOSE_INJECT,
} IrqbedPurpose;

typedef enum IrqbedWork {
    IRQBED_WORK_READ,
    IRQBED_WORK_WRITE,
    IRQBED_WORK_OTHER,
    IRQBED_WORK__MAX
} IrqbedWork;

/* Which unit serves a read or a write. */
typedef enum IrqbedUnitChoice {
    IRQBED_UNIT_ADDRESS,        /* the one its address names */
    IRQBED_UNIT_FREE,           /* any: the one that is free first */
    IRQBED_UNIT_CHOICE__MAX
} IrqbedUnitChoice;

typedef struct IrqbedLatencyCfg {
    IrqbedDist dist[2];         /* by IRQBED_WORK_READ, _WRITE */
    uint64_t ns_per_kib[2];
    uint64_t other_ns;
    uint32_t units;
    IrqbedUnitChoice unit_choice;
    uint64_t stripe_bytes;
    uint32_t slow_unit;         /* takes slow_factor times as long, if > 1 */
    uint32_t slow_factor;       /* at most IRQBED_MAX_SLOW */
} IrqbedLatencyCfg;

typedef struct IrqbedLatency {
    IrqbedRng rng[2];
    int64_t busy_until_ns[IRQBED_MAX_UNITS];
} IrqbedLatency;

typedef struct IrqbedSchedule {
    uint32_t unit;
    int64_t start_ns;           /* now, or when the unit is free */
    int64_t due_ns;             /* start plus service time */
} IrqbedSchedule;

void irqbed_rng_seed(IrqbedRng *rng, uint64_t seed, IrqbedPurpose purpose);
uint64_t irqbed_rng_next(IrqbedRng *rng);

/* 0 ... IRQBED_MAX_NS.  IRQBED_DIST_FIXED draws nothing from the generator. */
int64_t irqbed_dist_draw(const IrqbedDist *dist, IrqbedRng *rng);

void irqbed_latency_seed(IrqbedLatency *m, uint64_t seed);
/* All units idle. */
void irqbed_latency_idle(IrqbedLatency *m);

/*
 * Reads and writes take a unit and wait until it is free.  By address it is
 * the unit of their first byte, addr / stripe % units; else the first idle
 * one, or the first of those that are free soonest.  Other work takes no unit.
 */
IrqbedSchedule irqbed_latency_schedule(IrqbedLatency *m,
                                       const IrqbedLatencyCfg *cfg,
                                       IrqbedWork work, uint64_t addr,
                                       uint32_t bytes, int64_t now_ns);

#endif
