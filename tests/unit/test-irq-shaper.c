/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hw/core/irq_shaper.c: decisions event by event; the cases aggregation-window
 * and lost-irq at their pure level; conservation over random sequences.
 */

#include <glib.h>
#include "../../hw/core/irq_shaper.h"

/* A shaper with a clock and a driver that acknowledges what is raised. */
typedef struct Bench {
    IrqbedShaper s;
    IrqbedShaperCfg cfg;
    int64_t now;
    bool level;
    uint64_t raised, lowered, dropped, suppressed, coalesced;
} Bench;

static void bench_init(Bench *b, uint32_t count, int64_t timeout_ns,
                       int64_t latency_ns)
{
    *b = (Bench) {
        .cfg = {
            .coalesce_count = count,
            .coalesce_timeout_ns = timeout_ns,
            .latency = { .kind = IRQBED_DIST_FIXED, .mean_ns = latency_ns },
        },
    };
    irqbed_shaper_reset(&b->s);
    irqbed_shaper_seed(&b->s, 1);
}

static IrqbedShaperDecision step(Bench *b, IrqbedShaperEvent event)
{
    IrqbedShaperDecision d = irqbed_shaper_step(&b->s, &b->cfg, event,
                                                b->level, b->now);

    b->raised += d.raise;
    b->lowered += d.lower;
    b->dropped += d.dropped;
    b->suppressed += d.suppressed;
    b->coalesced += d.coalesced;
    return d;
}

static IrqbedShaperDecision post(Bench *b)
{
    b->level = true;
    return step(b, IRQBED_SHAPER_COMPLETION);
}

static IrqbedShaperDecision ack(Bench *b)
{
    b->level = false;
    return step(b, IRQBED_SHAPER_CLEARED);
}

static IrqbedShaperDecision at_next(Bench *b)
{
    g_assert_cmpint(b->s.next_ns, !=, IRQBED_SHAPER_NEVER);
    b->now = b->s.next_ns;
    return step(b, IRQBED_SHAPER_TIME);
}

static void test_plain(void)
{
    Bench b;
    IrqbedShaperDecision d;

    bench_init(&b, 1, 0, 0);
    d = post(&b);
    g_assert_true(d.raise);
    g_assert_cmpint(b.s.next_ns, ==, IRQBED_SHAPER_NEVER);
    /* Edge: nothing more is raised until the level has fallen. */
    d = post(&b);
    g_assert_false(d.raise);
    g_assert_cmpuint(d.coalesced, ==, 1);
    d = ack(&b);
    g_assert_true(d.lower);
    g_assert_false(d.suppressed);
    g_assert_true(post(&b).raise);
    g_assert_cmpuint(b.raised, ==, 2);
}

static void test_delay(void)
{
    Bench b;

    bench_init(&b, 1, 0, 3000);
    b.now = 100;
    g_assert_false(post(&b).raise);
    g_assert_cmpint(b.s.next_ns, ==, 3100);
    b.now = 2000;
    g_assert_false(post(&b).raise);
    g_assert_cmpint(b.s.next_ns, ==, 3100);
    b.now = 3099;
    g_assert_false(step(&b, IRQBED_SHAPER_TIME).raise);
    b.now = 3100;
    g_assert_true(step(&b, IRQBED_SHAPER_TIME).raise);
}

/* Acknowledged while under way: counted, and nothing is raised later. */
static void test_suppressed(void)
{
    Bench b;

    bench_init(&b, 1, 0, 3000);
    post(&b);
    g_assert_true(ack(&b).suppressed);
    g_assert_cmpint(b.s.next_ns, ==, IRQBED_SHAPER_NEVER);
    /* The next has a latency of its own, not the rest of the last one's. */
    b.now = 1000;
    post(&b);
    g_assert_cmpint(b.s.next_ns, ==, 4000);
    g_assert_true(at_next(&b).raise);
    g_assert_cmpuint(b.suppressed, ==, 1);
    g_assert_cmpuint(b.raised, ==, 1);

    bench_init(&b, 8, 200000, 0);
    post(&b);
    post(&b);
    g_assert_true(ack(&b).suppressed);
    g_assert_cmpint(b.s.next_ns, ==, IRQBED_SHAPER_NEVER);
    g_assert_cmpuint(b.coalesced, ==, 1);
}

/* aggregation-window: depth 1, service 20 us, (20 completions, 200 us). */
static void test_window_depth_1(void)
{
    Bench b;
    int64_t submitted;
    unsigned i;

    bench_init(&b, 20, 200000, 0);
    for (i = 0; i < 100; i++) {
        submitted = b.now;
        b.now += 20000;
        g_assert_false(post(&b).raise);
        g_assert_true(at_next(&b).raise);
        g_assert_cmpint(b.now - submitted, ==, 220000);
        ack(&b);
    }
    g_assert_cmpuint(b.raised, ==, 100);
    g_assert_cmpuint(b.coalesced, ==, 0);
}

/* aggregation-window: depth 32, count 8: almost all fire by count. */
static void test_window_depth_32(void)
{
    Bench b;
    unsigned i, by_count = 0;

    bench_init(&b, 8, 200000, 0);
    for (i = 0; i < 32000; i++) {
        b.now += 20000 / 32;
        if (post(&b).raise) {
            by_count++;
            ack(&b);
        }
    }
    g_assert_cmpuint(by_count, ==, 4000);
    g_assert_cmpuint(b.coalesced, ==, 28000);
}

static void test_window_then_delay(void)
{
    Bench b;

    bench_init(&b, 2, 200000, 5000);
    post(&b);
    b.now = 1000;
    g_assert_false(post(&b).raise);
    g_assert_cmpint(b.s.next_ns, ==, 6000);
    g_assert_true(at_next(&b).raise);
    ack(&b);
    post(&b);
    g_assert_false(at_next(&b).raise);
    g_assert_cmpint(b.now, ==, 206000);
    g_assert_true(at_next(&b).raise);
    g_assert_cmpint(b.now, ==, 211000);
}

/* Count 0: by timeout alone; timeout 0: by count alone. */
static void test_window_one_limit(void)
{
    Bench b;
    unsigned i;

    bench_init(&b, 0, 1000, 0);
    for (i = 0; i < 100; i++) {
        g_assert_false(post(&b).raise);
    }
    g_assert_true(at_next(&b).raise);
    g_assert_cmpuint(b.coalesced, ==, 99);

    bench_init(&b, 3, 0, 0);
    post(&b);
    g_assert_cmpint(b.s.next_ns, ==, IRQBED_SHAPER_NEVER);
    post(&b);
    g_assert_true(post(&b).raise);
}

static void test_urgent(void)
{
    Bench b;

    bench_init(&b, 8, 200000, 0);
    post(&b);
    post(&b);
    g_assert_true(step(&b, IRQBED_SHAPER_URGENT).raise);
    g_assert_cmpuint(b.coalesced, ==, 2);
    g_assert_cmpint(b.s.next_ns, ==, IRQBED_SHAPER_NEVER);
    /* Raised already: it is covered. */
    g_assert_false(step(&b, IRQBED_SHAPER_URGENT).raise);
}

static void test_restart(void)
{
    Bench b;

    bench_init(&b, 8, 200000, 0);
    post(&b);
    step(&b, IRQBED_SHAPER_RESTART);
    g_assert_cmpint(b.s.next_ns, ==, IRQBED_SHAPER_NEVER);
    b.now = 50000;
    post(&b);
    g_assert_cmpint(b.s.next_ns, ==, 250000);
    /* What is raised stays raised. */
    b.now = 250000;
    step(&b, IRQBED_SHAPER_TIME);
    step(&b, IRQBED_SHAPER_RESTART);
    g_assert_cmpuint(b.s.state, ==, IRQBED_SHAPER_RAISED);
}

/*
 * lost-irq: depth 1, every 1000th is dropped, the driver finds it by looking
 * and may or may not clear the status; all others interrupt as usual.
 */
static void test_drop(void)
{
    Bench b;
    unsigned i, lost = 0;

    bench_init(&b, 1, 0, 0);
    b.cfg.drop_every = 1000;
    for (i = 1; i <= 10000; i++) {
        if (post(&b).raise) {
            ack(&b);
        } else {
            g_assert_cmpuint(i % 1000, ==, 0);
            lost++;
            if (lost % 2) {
                ack(&b);
            }
        }
    }
    g_assert_cmpuint(lost, ==, 10);
    g_assert_cmpuint(b.dropped, ==, lost);
    g_assert_cmpuint(b.raised, ==, 9990);
    g_assert_cmpuint(b.suppressed, ==, 0);
}

/* completions = dropped + coalesced + raised + suppressed + under way */
static void test_conservation(void)
{
    Bench b;
    GRand *rand = g_rand_new_with_seed(1);
    uint64_t under_way;
    unsigned i, round;

    for (round = 0; round < 50; round++) {
        bench_init(&b, g_rand_int_range(rand, 1, 9),
                   g_rand_int_range(rand, 1, 100000),
                   g_rand_boolean(rand) ? 0 : 3000);
        b.cfg.latency.kind = IRQBED_DIST_UNIFORM;
        b.cfg.latency.spread_ns = b.cfg.latency.mean_ns;
        b.cfg.drop_every = g_rand_int_range(rand, 0, 20);
        for (i = 0; i < 20000; i++) {
            b.now += g_rand_int_range(rand, 0, 2000);
            if (b.s.next_ns <= b.now) {
                b.now = b.s.next_ns;
                step(&b, IRQBED_SHAPER_TIME);
            } else if (g_rand_int_range(rand, 0, 3)) {
                post(&b);
            } else if (b.level) {
                ack(&b);
            }
        }
        under_way = b.s.state == IRQBED_SHAPER_DELAY ? 1 : b.s.window_count;
        g_assert_cmpuint(b.s.completions, ==, b.dropped + b.coalesced +
                         b.raised + b.suppressed + under_way);
        g_assert_cmpuint(b.raised - b.lowered, ==,
                         b.s.state == IRQBED_SHAPER_RAISED);
    }
    g_rand_free(rand);
}

/* What another shaper has delayed is not delayed again, nor raised twice. */
static void test_forward(void)
{
    Bench b;

    bench_init(&b, 20, 200000, 3000);
    b.level = true;
    g_assert_true(step(&b, IRQBED_SHAPER_FORWARD).raise);
    g_assert_cmpuint(step(&b, IRQBED_SHAPER_FORWARD).coalesced, ==, 1);
    ack(&b);
    /* It takes what waits in the window along. */
    post(&b);
    post(&b);
    g_assert_true(step(&b, IRQBED_SHAPER_FORWARD).raise);
    g_assert_cmpuint(b.coalesced, ==, 3);
    g_assert_cmpuint(b.raised, ==, 2);
    ack(&b);
    /* One that is under way covers it. */
    step(&b, IRQBED_SHAPER_URGENT);
    b.level = true;
    g_assert_false(step(&b, IRQBED_SHAPER_FORWARD).raise);
    g_assert_cmpuint(b.coalesced, ==, 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/irq-shaper/plain", test_plain);
    g_test_add_func("/irq-shaper/delay", test_delay);
    g_test_add_func("/irq-shaper/suppressed", test_suppressed);
    g_test_add_func("/irq-shaper/window-depth-1", test_window_depth_1);
    g_test_add_func("/irq-shaper/window-depth-32", test_window_depth_32);
    g_test_add_func("/irq-shaper/window-then-delay", test_window_then_delay);
    g_test_add_func("/irq-shaper/window-one-limit", test_window_one_limit);
    g_test_add_func("/irq-shaper/urgent", test_urgent);
    g_test_add_func("/irq-shaper/restart", test_restart);
    g_test_add_func("/irq-shaper/forward", test_forward);
    g_test_add_func("/irq-shaper/drop", test_drop);
    g_test_add_func("/irq-shaper/conservation", test_conservation);
    return g_test_run();
}
