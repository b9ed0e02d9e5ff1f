/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hw/core/latency.c: exact draws of a seed, the shape of the distributions
 * against libm, cost by size, units and queueing; hw/core/dist_table.c.
 */

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../hw/core/dist_table.h"
#include "../../hw/core/latency.h"
#include "../../hw/core/normal_table.h"

#define SAMPLES 200000

/* A distribution without a table. */
#define DIST(k, mean, spread) \
    { .kind = IRQBED_DIST_##k, .mean_ns = mean, .spread_ns = spread }

/* xoshiro256** of the splitmix64 sequence: other seeds, other purposes. */
static void test_generator(void)
{
    IrqbedRng a, b;
    unsigned i, same = 0;

    irqbed_rng_seed(&a, 1, IRQBED_PURPOSE_READ);
    irqbed_rng_seed(&b, 1, IRQBED_PURPOSE_READ);
    for (i = 0; i < 1000; i++) {
        g_assert_cmphex(irqbed_rng_next(&a), ==, irqbed_rng_next(&b));
    }
    irqbed_rng_seed(&b, 1, IRQBED_PURPOSE_WRITE);
    irqbed_rng_seed(&a, 1, IRQBED_PURPOSE_READ);
    for (i = 0; i < 1000; i++) {
        same += irqbed_rng_next(&a) == irqbed_rng_next(&b);
    }
    g_assert_cmpuint(same, ==, 0);
    /* The published test vector of xoshiro256** for state 1, 2, 3, 4. */
    a = (IrqbedRng) { { 1, 2, 3, 4 } };
    g_assert_cmphex(irqbed_rng_next(&a), ==, 11520);
    g_assert_cmphex(irqbed_rng_next(&a), ==, 0);
    g_assert_cmphex(irqbed_rng_next(&a), ==, 1509978240);
}

static void draw_all(const IrqbedDist *d, int64_t *v)
{
    IrqbedRng rng;
    unsigned i;

    irqbed_rng_seed(&rng, 42, IRQBED_PURPOSE_READ);
    for (i = 0; i < SAMPLES; i++) {
        v[i] = irqbed_dist_draw(d, &rng);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double mean(const int64_t *v)
{
    double sum = 0;
    unsigned i;

    for (i = 0; i < SAMPLES; i++) {
        sum += v[i];
    }
    return sum / SAMPLES;
}

static void check_first(const IrqbedDist *d, const int64_t *expected,
                        unsigned n)
{
    IrqbedRng rng;
    unsigned i;

    irqbed_rng_seed(&rng, 1, IRQBED_PURPOSE_READ);
    for (i = 0; i < n; i++) {
        g_assert_cmpint(irqbed_dist_draw(d, &rng), ==, expected[i]);
    }
}

static void test_fixed(void)
{
    IrqbedDist d = DIST(FIXED, 20000, 5000);
    IrqbedRng rng, before;

    irqbed_rng_seed(&rng, 1, IRQBED_PURPOSE_READ);
    before = rng;
    g_assert_cmpint(irqbed_dist_draw(&d, &rng), ==, 20000);
    g_assert_cmpmem(&rng, sizeof(rng), &before, sizeof(before));
}

static void test_uniform(void)
{
    IrqbedDist d = DIST(UNIFORM, 20000, 5000);
    g_autofree int64_t *v = g_new(int64_t, SAMPLES);

    draw_all(&d, v);
    g_assert_cmpfloat(fabs(mean(v) - 20000), <, 30);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    g_assert_cmpint(v[0], ==, 15000);
    g_assert_cmpint(v[SAMPLES - 1], ==, 25000);
    g_assert_cmpint(llabs(v[SAMPLES / 4] - 17500), <, 60);
    /* Computed apart, from the published generators. */
    check_first(&d, (int64_t[]) { 24300, 23393, 16653, 21054, 22780 }, 5);
}

/* A width beyond the mean is cut off, not wrapped round. */
static void test_uniform_cut(void)
{
    IrqbedDist d = DIST(UNIFORM, 1000, 3000);
    g_autofree int64_t *v = g_new(int64_t, SAMPLES);

    draw_all(&d, v);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    g_assert_cmpint(v[0], ==, 0);
    g_assert_cmpint(v[SAMPLES - 1], ==, 4000);
}

static void test_lognormal(void)
{
    /* sigma = spread / median = 0.5 */
    IrqbedDist d = DIST(LOGNORMAL, 80000, 40000);
    static const struct {
        double p, z;
    } at[] = {
        { 0.001, -3.090232 }, { 0.01, -2.326348 }, { 0.1, -1.281552 },
        { 0.25, -0.674490 }, { 0.5, 0 }, { 0.75, 0.674490 },
        { 0.9, 1.281552 }, { 0.99, 2.326348 }, { 0.999, 3.090232 },
    };
    g_autofree int64_t *v = g_new(int64_t, SAMPLES);
    unsigned i;

    draw_all(&d, v);
    g_assert_cmpfloat(fabs(mean(v) / (80000 * exp(0.125)) - 1), <, 0.01);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    for (i = 0; i < G_N_ELEMENTS(at); i++) {
        double want = 80000 * exp(0.5 * at[i].z);
        double got = v[(unsigned)(at[i].p * SAMPLES)];

        /* The sample's own error is largest in the tails. */
        g_assert_cmpfloat(fabs(got / want - 1), <, 0.05);
    }
    /*
     * In floating point: 87378.8 98420.1 49186.8 149577.4 107389.7.  Any host
     * must come to these integers.
     */
    check_first(&d, (int64_t[]) { 87380, 98424, 49185, 149577, 107395 }, 5);
}

static void test_lognormal_extremes(void)
{
    IrqbedDist zero = DIST(LOGNORMAL, 0, 1000);
    IrqbedDist narrow = DIST(LOGNORMAL, 80000, 0);
    IrqbedDist wide = DIST(LOGNORMAL, 1, IRQBED_MAX_NS);
    IrqbedDist large = DIST(LOGNORMAL, IRQBED_MAX_NS, IRQBED_MAX_NS);
    IrqbedRng rng;
    int64_t v;
    unsigned i;

    irqbed_rng_seed(&rng, 7, IRQBED_PURPOSE_IRQ);
    for (i = 0; i < SAMPLES; i++) {
        g_assert_cmpint(irqbed_dist_draw(&zero, &rng), ==, 0);
        g_assert_cmpint(irqbed_dist_draw(&narrow, &rng), ==, 80000);
        v = irqbed_dist_draw(&wide, &rng);
        g_assert_cmpint(v, >=, 0);
        g_assert_cmpint(v, <=, IRQBED_MAX_NS);
        v = irqbed_dist_draw(&large, &rng);
        g_assert_cmpint(v, >=, 0);
        g_assert_cmpint(v, <=, IRQBED_MAX_NS);
    }
}

static void test_normal(void)
{
    IrqbedDist d = DIST(NORMAL, 80000, 20000);
    IrqbedDist wide = DIST(NORMAL, 1000, 100000);
    static const struct {
        double p, z;
    } at[] = {
        { 0.001, -3.090232 }, { 0.1, -1.281552 }, { 0.5, 0 },
        { 0.75, 0.674490 }, { 0.99, 2.326348 }, { 0.999, 3.090232 },
    };
    g_autofree int64_t *v = g_new(int64_t, SAMPLES);
    unsigned i;

    draw_all(&d, v);
    g_assert_cmpfloat(fabs(mean(v) - 80000), <, 200);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    for (i = 0; i < G_N_ELEMENTS(at); i++) {
        double want = 80000 + 20000 * at[i].z;

        g_assert_cmpfloat(fabs(v[(unsigned)(at[i].p * SAMPLES)] - want), <,
                          1500);
    }
    /* In floating point: 83529.0 88288.8 60543.9 105031.5 91777.5. */
    check_first(&d, (int64_t[]) { 83529, 88290, 60542, 105031, 91779 }, 5);
    /* What is below zero is zero: a little less than half. */
    draw_all(&wide, v);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    g_assert_cmpint(v[0], ==, 0);
    g_assert_cmpint(v[SAMPLES * 49 / 100], ==, 0);
    g_assert_cmpint(v[SAMPLES * 51 / 100], >, 0);
}

static void test_exponential(void)
{
    IrqbedDist d = DIST(EXPONENTIAL, 80000, 0);
    IrqbedDist largest = DIST(EXPONENTIAL, IRQBED_MAX_NS, 0);
    static const double at[] = { 0.01, 0.1, 0.5, 0.9, 0.99, 0.999 };
    g_autofree int64_t *v = g_new(int64_t, SAMPLES);
    unsigned i;

    draw_all(&d, v);
    g_assert_cmpfloat(fabs(mean(v) / 80000 - 1), <, 0.01);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    for (i = 0; i < G_N_ELEMENTS(at); i++) {
        double want = -80000 * log(1 - at[i]);

        g_assert_cmpfloat(fabs(v[(unsigned)(at[i] * SAMPLES)] / want - 1), <,
                          0.05);
    }
    /* In floating point: 5808.3 14017.2 143987.2 40154.2 20085.2. */
    check_first(&d, (int64_t[]) { 5808, 14017, 143987, 40154, 20085 }, 5);
    draw_all(&largest, v);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    g_assert_cmpint(v[0], >=, 0);
    g_assert_cmpint(v[SAMPLES - 1], ==, IRQBED_MAX_NS);
}

static void test_table(void)
{
    IrqbedDistTable t;
    IrqbedDist d = { .kind = IRQBED_DIST_TABLE, .table = &t };
    char why[IRQBED_DIST_WHY_BYTES];
    g_autofree int64_t *v = g_new(int64_t, SAMPLES);

    g_assert_true(irqbed_dist_table_parse(
        &t, "50:80000,90:120000,99:400000,99.9:2000000", why));
    draw_all(&d, v);
    qsort(v, SAMPLES, sizeof(v[0]), compare);
    /* The points, the lines between them, and nothing beyond the ends. */
    g_assert_cmpint(v[0], ==, 80000);
    g_assert_cmpint(v[SAMPLES * 49 / 100], ==, 80000);
    g_assert_cmpint(llabs(v[SAMPLES * 70 / 100] - 100000), <, 500);
    g_assert_cmpint(llabs(v[SAMPLES * 90 / 100] - 120000), <, 3000);
    g_assert_cmpint(llabs(v[SAMPLES * 95 / 100] - 275555), <, 4000);
    g_assert_cmpint(llabs(v[SAMPLES * 99 / 100] - 400000), <, 60000);
    g_assert_cmpint(v[SAMPLES - 1], ==, 2000000);
    /* In floating point: 213239.3 113927.7 80000 90536.2 107797.2. */
    check_first(&d, (int64_t[]) { 213239, 113927, 80000, 90536, 107797 }, 5);
    g_assert_true(irqbed_dist_table_parse(&t, "100:7", why));
    check_first(&d, (int64_t[]) { 7, 7, 7 }, 3);
    g_assert_true(irqbed_dist_table_parse(&t, "", why));
    check_first(&d, (int64_t[]) { 0, 0, 0 }, 3);
    d.table = NULL;
    check_first(&d, (int64_t[]) { 0, 0, 0 }, 3);
}

static void test_table_text(void)
{
    static const char *const good[] = {
        "", "0:0", "50:80000", "0.000001:5,99.999999:6,100:1000000000000",
        "1:1,2:1,3.5:1",
    };
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "50", "'50' is not" }, { ":5", "':5' is not" },
        { "x:1", "'x:1' is not" }, { "50:", "'50:' is not" },
        { "50:-1", "'50:-1' is not" }, { "50:1.5", "'50:1.5' is not" },
        { "101:1", "'101:1' is not" }, { "100.1:1", "'100.1:1' is not" },
        { "1.:1", "'1.:1' is not" }, { "1.0000001:1", "is not" },
        { "50:1000000000001", "is not" }, { "50:1 ", "is not" },
        { "99999999999999999999:1", "is not" },
        { "50:99999999999999999999", "is not" },
        { "50:1,,60:2", "',60:2' is not" }, { "50:1,", "a comma at the end" },
        { "50:2,60:1", "'60:1' is below" }, { "50:1,50:1", "is below" },
    };
    IrqbedDistTable t, before;
    char why[IRQBED_DIST_WHY_BYTES], text[IRQBED_DIST_TEXT_BYTES];
    g_autoptr(GString) many = g_string_new(NULL);
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(good); i++) {
        g_assert_true(irqbed_dist_table_parse(&t, good[i], why));
        irqbed_dist_table_format(&t, text);
        g_assert_cmpstr(text, ==, good[i]);
    }
    before = t;
    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(irqbed_dist_table_parse(&t, bad[i].text, why));
        if (!strstr(why, bad[i].why)) {
            g_test_message("'%s': expected: %s, got: %s", bad[i].text,
                           bad[i].why, why);
            g_test_fail();
        }
        g_assert_cmpmem(&t, sizeof(t), &before, sizeof(before));
    }
    /* As many points as there is room for, and one more. */
    for (i = 0; i < IRQBED_DIST_POINTS; i++) {
        g_string_append_printf(many, "%s%u.123456:%" PRId64, i ? "," : "",
                               i + 60, IRQBED_MAX_NS);
    }
    g_assert_true(irqbed_dist_table_parse(&t, many->str, why));
    irqbed_dist_table_format(&t, text);
    g_assert_cmpstr(text, ==, many->str);
    g_string_append_printf(many, ",99:%" PRId64, IRQBED_MAX_NS);
    g_assert_false(irqbed_dist_table_parse(&t, many->str, why));
    g_assert_cmpstr(why, ==, "more than 32 points");
}

/* Every entry of the table against the complementary error function. */
static void test_normal_table(void)
{
    unsigned i, last = IRQBED_NORMAL_OCTAVES * IRQBED_NORMAL_STEPS;

    for (i = 0; i <= last; i++) {
        unsigned k = IRQBED_NORMAL_OCTAVES - i / IRQBED_NORMAL_STEPS;
        double p = ldexp(1 + i % IRQBED_NORMAL_STEPS /
                         (double)IRQBED_NORMAL_STEPS, -(int)k - 1);
        double z = irqbed_normal_q24[i] / 16777216.0;

        g_assert_cmpfloat(fabs(0.5 * erfc(z / sqrt(2)) / p - 1), <, 0.000001);
    }
}

static const IrqbedLatencyCfg base_cfg = {
    .dist = {
        DIST(FIXED, 20000, 0), DIST(FIXED, 50000, 0),
    },
    .ns_per_kib = { 100, 200 },
    .other_ns = 7000,
    .units = 4,
    .stripe_bytes = 4096,
};

static void test_cost(void)
{
    g_autofree IrqbedLatency *m = g_new0(IrqbedLatency, 1);
    IrqbedSchedule s;

    irqbed_latency_seed(m, 1);
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_READ, 0, 4096, 1000);
    g_assert_cmpint(s.start_ns, ==, 1000);
    g_assert_cmpint(s.due_ns, ==, 1000 + 20000 + 400);
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_WRITE, 4096, 1,
                                1000);
    g_assert_cmpint(s.due_ns, ==, 1000 + 50000 + 1);
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_OTHER, 0, 0, 1000);
    g_assert_cmpint(s.start_ns, ==, 1000);
    g_assert_cmpint(s.due_ns, ==, 8000);
}

static void test_units(void)
{
    g_autofree IrqbedLatency *m = g_new0(IrqbedLatency, 1);
    IrqbedSchedule s;
    unsigned i;

    irqbed_latency_seed(m, 1);
    /* Four stripes go to four units and do not wait for each other ... */
    for (i = 0; i < 4; i++) {
        s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_READ, i * 4096,
                                    0, 100);
        g_assert_cmpuint(s.unit, ==, i);
        g_assert_cmpint(s.start_ns, ==, 100);
        g_assert_cmpint(s.due_ns, ==, 20100);
    }
    /* ... the fifth waits for the first, the sixth after it for the fifth. */
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_READ, 4 * 4096, 0,
                                200);
    g_assert_cmpuint(s.unit, ==, 0);
    g_assert_cmpint(s.start_ns, ==, 20100);
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_WRITE, 0, 0, 300);
    g_assert_cmpint(s.start_ns, ==, 40100);
    g_assert_cmpint(s.due_ns, ==, 90100);
    /* Other work takes no unit and waits for none. */
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_OTHER, 0, 0, 300);
    g_assert_cmpint(s.start_ns, ==, 300);
    /* A unit that has long been free starts at once. */
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_READ, 0, 0, 1000000);
    g_assert_cmpint(s.start_ns, ==, 1000000);
    irqbed_latency_idle(m);
    s = irqbed_latency_schedule(m, &base_cfg, IRQBED_WORK_READ, 0, 0, 1000001);
    g_assert_cmpint(s.start_ns, ==, 1000001);
}

/* Any unit: none idles while a request waits, wherever it is addressed to. */
static void test_units_free(void)
{
    g_autofree IrqbedLatency *m = g_new0(IrqbedLatency, 1);
    IrqbedLatencyCfg cfg = base_cfg;
    IrqbedSchedule s;
    unsigned i;

    cfg.unit_choice = IRQBED_UNIT_FREE;
    irqbed_latency_seed(m, 1);
    /* Four for one address at once: four units, the first idle one each. */
    for (i = 0; i < 4; i++) {
        s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_READ, 0, 0,
                                    100 * i);
        g_assert_cmpuint(s.unit, ==, i);
        g_assert_cmpint(s.start_ns, ==, 100 * i);
        g_assert_cmpint(s.due_ns, ==, 100 * i + 20000);
    }
    /* All busy: unit 0 is free soonest, for a long one; then unit 1. */
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_WRITE, 8192, 0, 500);
    g_assert_cmpuint(s.unit, ==, 0);
    g_assert_cmpint(s.start_ns, ==, 20000);
    g_assert_cmpint(s.due_ns, ==, 70000);
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_READ, 8192, 0, 500);
    g_assert_cmpuint(s.unit, ==, 1);
    g_assert_cmpint(s.start_ns, ==, 20100);
    /* The very moment at which unit 2 becomes free it is idle. */
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_READ, 0, 0, 20200);
    g_assert_cmpuint(s.unit, ==, 2);
    g_assert_cmpint(s.start_ns, ==, 20200);
    /* Other work takes none. */
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_OTHER, 0, 0, 20250);
    g_assert_cmpint(s.start_ns, ==, 20250);
    /* Fewer units: those beyond are not asked, though 3 is idle. */
    cfg.units = 1;
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_READ, 0, 0, 20400);
    g_assert_cmpuint(s.unit, ==, 0);
    g_assert_cmpint(s.start_ns, ==, 70000);
}

/* One and the same load: the work is the same, no unit idles in vain. */
static void test_units_conserve(void)
{
    g_autofree IrqbedLatency *m = g_new0(IrqbedLatency, 1);
    IrqbedLatencyCfg cfg = base_cfg;
    int64_t last[2] = { 0, 0 };
    IrqbedRng rng;
    unsigned choice, i;

    for (choice = 0; choice < IRQBED_UNIT_CHOICE__MAX; choice++) {
        cfg.unit_choice = choice;
        irqbed_latency_idle(m);
        irqbed_rng_seed(&rng, 1, IRQBED_PURPOSE_READ);
        for (i = 0; i < 4000; i++) {
            IrqbedSchedule s = irqbed_latency_schedule(
                m, &cfg, IRQBED_WORK_READ, irqbed_rng_next(&rng) >> 30, 0, 0);

            last[choice] = MAX(last[choice], s.due_ns);
        }
    }
    g_assert_cmpint(last[IRQBED_UNIT_FREE], ==, 4000 / 4 * 20000);
    g_assert_cmpint(last[IRQBED_UNIT_ADDRESS], >, last[IRQBED_UNIT_FREE]);
}

/* One unit takes longer, by a factor; what it draws is what it drew before. */
static void test_slow_unit(void)
{
    g_autofree IrqbedLatency *m = g_new0(IrqbedLatency, 1);
    IrqbedLatencyCfg cfg = base_cfg;
    IrqbedSchedule s;
    unsigned i;

    cfg.slow_unit = 2;
    cfg.slow_factor = 10;
    irqbed_latency_seed(m, 1);
    for (i = 0; i < 4; i++) {
        s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_READ, i * 4096, 4096,
                                    0);
        g_assert_cmpint(s.due_ns, ==, i == 2 ? 204000 : 20400);
    }
    /* Who comes next to it waits for all of it. */
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_WRITE, 6 * 4096, 0, 100);
    g_assert_cmpint(s.start_ns, ==, 204000);
    g_assert_cmpint(s.due_ns, ==, 704000);
    cfg.dist[IRQBED_WORK_READ].mean_ns = IRQBED_MAX_NS;
    cfg.slow_factor = IRQBED_MAX_SLOW;
    irqbed_latency_idle(m);
    s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_READ, 2 * 4096, 0, 0);
    g_assert_cmpint(s.due_ns, ==, IRQBED_MAX_NS);
    /* No such unit: nothing is slow. */
    cfg.slow_unit = 4;
    irqbed_latency_idle(m);
    for (i = 0; i < 8; i++) {
        s = irqbed_latency_schedule(m, &cfg, IRQBED_WORK_WRITE, i % 4 * 4096,
                                    0, 0);
        g_assert_cmpint(s.due_ns - s.start_ns, ==, 50000);
    }
}

/* Draws of writes must not shift those of reads. */
static void test_streams(void)
{
    g_autofree IrqbedLatency *a = g_new0(IrqbedLatency, 1);
    g_autofree IrqbedLatency *b = g_new0(IrqbedLatency, 1);
    IrqbedLatencyCfg cfg = base_cfg;
    IrqbedSchedule x, y;
    unsigned i;

    cfg.units = IRQBED_MAX_UNITS;
    cfg.dist[0] = (IrqbedDist) DIST(LOGNORMAL, 20000, 9000);
    cfg.dist[1] = (IrqbedDist) DIST(UNIFORM, 20000, 9000);
    irqbed_latency_seed(a, 3);
    irqbed_latency_seed(b, 3);
    for (i = 0; i < 1000; i++) {
        x = irqbed_latency_schedule(a, &cfg, IRQBED_WORK_READ, i * 4096, 0, 0);
        irqbed_latency_schedule(b, &cfg, IRQBED_WORK_WRITE,
                                (i + 2048) * 4096, 0, 0);
        y = irqbed_latency_schedule(b, &cfg, IRQBED_WORK_READ, i * 4096, 0, 0);
        g_assert_cmpint(x.due_ns, ==, y.due_ns);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/latency/generator", test_generator);
    g_test_add_func("/latency/fixed", test_fixed);
    g_test_add_func("/latency/uniform", test_uniform);
    g_test_add_func("/latency/uniform-cut", test_uniform_cut);
    g_test_add_func("/latency/lognormal", test_lognormal);
    g_test_add_func("/latency/lognormal-extremes", test_lognormal_extremes);
    g_test_add_func("/latency/normal", test_normal);
    g_test_add_func("/latency/exponential", test_exponential);
    g_test_add_func("/latency/table", test_table);
    g_test_add_func("/latency/table-text", test_table_text);
    g_test_add_func("/latency/normal-table", test_normal_table);
    g_test_add_func("/latency/cost", test_cost);
    g_test_add_func("/latency/units", test_units);
    g_test_add_func("/latency/units-free", test_units_free);
    g_test_add_func("/latency/units-conserve", test_units_conserve);
    g_test_add_func("/latency/slow-unit", test_slow_unit);
    g_test_add_func("/latency/streams", test_streams);
    return g_test_run();
}
