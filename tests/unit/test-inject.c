/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hw/core/inject.c: which request, which nanosecond, which value.
 */

#include <glib.h>
#include "../../hw/core/inject.h"

static IrqbedInject rule(IrqbedTrigger trigger, uint64_t n, uint64_t count)
{
    IrqbedInject e = { .trigger = trigger, .n = n, .count = count };

    irqbed_inject_arm(&e, 1, 0);
    return e;
}

static void test_requests(void)
{
    IrqbedInject after = rule(IRQBED_TRIGGER_AFTER, 3, 0);
    IrqbedInject every = rule(IRQBED_TRIGGER_EVERY, 3, 0);
    IrqbedInject some = rule(IRQBED_TRIGGER_EVERY, 3, 2);
    unsigned i;

    for (i = 1; i <= 12; i++) {
        g_assert_cmpint(irqbed_inject_request(&after), ==, i == 3);
        g_assert_cmpint(irqbed_inject_request(&every), ==, i % 3 == 0);
        g_assert_cmpint(irqbed_inject_request(&some), ==, i == 3 || i == 6);
        g_assert_false(irqbed_inject_time(&every, i));
    }
    g_assert_cmpuint(every.triggered, ==, 4);
    g_assert_cmpuint(some.triggered, ==, 2);
    /* Everything counts from here. */
    irqbed_inject_arm(&after, 1, 0);
    g_assert_false(irqbed_inject_request(&after));
    g_assert_false(irqbed_inject_request(&after));
    g_assert_true(irqbed_inject_request(&after));
}

static void test_unarmed(void)
{
    IrqbedInject e = { .trigger = IRQBED_TRIGGER_EVERY, .n = 1 };

    g_assert_false(irqbed_inject_request(&e));
    e = (IrqbedInject) { .trigger = IRQBED_TRIGGER_AT };
    g_assert_false(irqbed_inject_time(&e, 1000));
}

static void test_at(void)
{
    IrqbedInject e = { .trigger = IRQBED_TRIGGER_AT, .n = 500 };

    irqbed_inject_arm(&e, 1, 1000);
    g_assert_false(irqbed_inject_time(&e, 1499));
    g_assert_true(irqbed_inject_time(&e, 1500));
    g_assert_false(irqbed_inject_time(&e, 5000));
    g_assert_cmpint(e.at_ns, ==, IRQBED_INJECT_NEVER);

    e = (IrqbedInject) { .trigger = IRQBED_TRIGGER_AT, .n = 500,
                         .period_ns = 10, .count = 3 };
    irqbed_inject_arm(&e, 1, 1000);
    g_assert_true(irqbed_inject_time(&e, 1500));
    g_assert_cmpint(e.at_ns, ==, 1510);
    /* Two are due: two times. */
    g_assert_true(irqbed_inject_time(&e, 1525));
    g_assert_true(irqbed_inject_time(&e, 1525));
    g_assert_false(irqbed_inject_time(&e, 9999));
    g_assert_cmpint(e.at_ns, ==, IRQBED_INJECT_NEVER);
}

static guint64 chance_mask(uint64_t seed, uint64_t ppm)
{
    IrqbedInject e = { .trigger = IRQBED_TRIGGER_CHANCE, .n = ppm };
    guint64 mask = 0;
    unsigned i;

    irqbed_inject_arm(&e, seed, 0);
    for (i = 0; i < 64; i++) {
        mask |= (guint64)irqbed_inject_request(&e) << i;
    }
    return mask;
}

static void test_chance(void)
{
    IrqbedInject e = rule(IRQBED_TRIGGER_CHANCE, 250000, 0);
    unsigned i, hits = 0;

    g_assert_cmphex(chance_mask(1, 500000), ==, chance_mask(1, 500000));
    g_assert_cmphex(chance_mask(1, 500000), !=, chance_mask(2, 500000));
    g_assert_cmphex(chance_mask(1, 0), ==, 0);
    g_assert_cmphex(chance_mask(1, IRQBED_INJECT_PPM), ==, G_MAXUINT64);
    for (i = 0; i < 100000; i++) {
        hits += irqbed_inject_request(&e);
    }
    /* 25000, sigma 137 */
    g_assert_cmpuint(hits, >, 24300);
    g_assert_cmpuint(hits, <, 25700);
}

static void expect(const IrqbedRamp *r, int64_t now_ns, uint64_t value,
                   int64_t next_ns)
{
    int64_t next;

    g_assert_cmpuint(irqbed_ramp_value(r, now_ns, &next), ==, value);
    g_assert_cmpint(next, ==, next_ns);
}

static void test_ramp(void)
{
    IrqbedRamp step = { .from = 5, .to = 100, .begun_ns = 10 };
    IrqbedRamp back = { .from = 5, .to = 100, .begun_ns = 10, .for_ns = 50 };
    IrqbedRamp up = { .from = 0, .to = 200, .begun_ns = 0, .ramp_ns = 1000,
                      .for_ns = 5000 };
    IrqbedRamp down = { .from = 100, .to = 0, .ramp_ns = 10000 };
    IrqbedRamp cut = { .from = 0, .to = 100, .ramp_ns = 1000, .for_ns = 15 };

    expect(&step, 9, 5, 10);
    expect(&step, 10, 100, IRQBED_INJECT_NEVER);
    expect(&back, 10, 100, 60);
    expect(&back, 59, 100, 60);
    expect(&back, 60, 5, IRQBED_INJECT_NEVER);
    expect(&up, 0, 0, 10);
    expect(&up, 9, 0, 10);
    expect(&up, 10, 2, 20);
    expect(&up, 500, 100, 510);
    expect(&up, 1000, 200, 5000);
    expect(&up, 5000, 0, IRQBED_INJECT_NEVER);
    expect(&down, 100, 99, 200);
    expect(&down, 10000, 0, IRQBED_INJECT_NEVER);
    expect(&cut, 10, 1, 15);
    expect(&cut, 15, 0, IRQBED_INJECT_NEVER);
}

/* Following next_ns visits every step in order, whatever the length. */
static void test_ramp_short(void)
{
    IrqbedRamp r = { .from = 0, .to = 1000 };
    int64_t now, next;
    uint64_t value, last;

    for (r.ramp_ns = 0; r.ramp_ns < 350; r.ramp_ns += 7) {
        last = 0;
        for (now = 0; now != IRQBED_INJECT_NEVER; now = next) {
            value = irqbed_ramp_value(&r, now, &next);
            g_assert_cmpuint(value, >=, last);
            g_assert_cmpint(next, >, now);
            last = value;
        }
        g_assert_cmpuint(last, ==, 1000);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/inject/requests", test_requests);
    g_test_add_func("/inject/unarmed", test_unarmed);
    g_test_add_func("/inject/at", test_at);
    g_test_add_func("/inject/chance", test_chance);
    g_test_add_func("/inject/ramp", test_ramp);
    g_test_add_func("/inject/ramp-short", test_ramp_short);
    return g_test_run();
}
