/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest driver's hand-over decision (guest-driver/policy.c, the same file
 * that is in the module): who finishes requests, and when it stops.
 */

#include <glib.h>
#include "../../guest-driver/policy.h"

#define COST_NS 5000

/* A pass over @ready requests that take @cost_ns each, as reap.c makes it. */
typedef struct Pass {
    u64 done;
    u64 ns;
    enum irqbed_reason reason;
} Pass;

static Pass run_pass(const struct irqbed_budget *b, u64 ready, u64 cost_ns)
{
    Pass p = { 0 };

    p.reason = irqbed_budget_check(b, 0, 0);
    while (!p.reason && p.done < ready) {
        p.done++;
        p.ns += cost_ns;
        if (p.done < ready) {
            p.reason = irqbed_budget_check(b, p.ns, p.done);
        }
    }
    return p;
}

static Pass bounded(u64 time_limit_ns, u64 max_completions, u64 ready)
{
    struct irqbed_budget b = irqbed_policy_budget(IRQBED_POLICY_BOUNDED,
                                                  time_limit_ns,
                                                  max_completions);

    return run_pass(&b, ready, COST_NS);
}

static void test_hardirq_ignores_limits(void)
{
    struct irqbed_budget b = irqbed_policy_budget(IRQBED_POLICY_HARDIRQ, 0, 0);
    Pass p = run_pass(&b, 32, COST_NS);

    g_assert_cmpuint(p.done, ==, 32);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_NONE);
    g_assert_false(irqbed_budget_is_timed(&b));
}

static void test_threaded_does_nothing(void)
{
    struct irqbed_budget b = irqbed_policy_budget(IRQBED_POLICY_THREADED,
                                                  IRQBED_UNLIMITED_NS,
                                                  IRQBED_UNLIMITED_CNT);
    Pass p = run_pass(&b, 32, COST_NS);

    g_assert_cmpuint(p.done, ==, 0);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_POLICY);
}

/* Case time-limit-real: at most the limit and the request begun within it. */
static void test_time_limit(void)
{
    Pass p = bounded(20000, IRQBED_UNLIMITED_CNT, 32);

    g_assert_cmpint(p.reason, ==, IRQBED_REASON_TIME);
    g_assert_cmpuint(p.done, ==, 4);
    g_assert_cmpuint(p.ns, ==, 20000);

    p = bounded(20001, IRQBED_UNLIMITED_CNT, 32);
    g_assert_cmpuint(p.done, ==, 5);
    g_assert_cmpuint(p.ns, <=, 20001 + COST_NS);
}

static void test_zero_is_a_limit(void)
{
    Pass p = bounded(0, IRQBED_UNLIMITED_CNT, 32);

    g_assert_cmpuint(p.done, ==, 0);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_TIME);

    p = bounded(IRQBED_UNLIMITED_NS, 0, 32);
    g_assert_cmpuint(p.done, ==, 0);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_COUNT);
}

static void test_none_is_no_limit(void)
{
    struct irqbed_budget b = irqbed_policy_budget(IRQBED_POLICY_BOUNDED,
                                                  IRQBED_UNLIMITED_NS,
                                                  IRQBED_UNLIMITED_CNT);
    Pass p = run_pass(&b, 32, COST_NS);

    g_assert_cmpuint(p.done, ==, 32);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_NONE);
    g_assert_false(irqbed_budget_is_timed(&b));
    /* Not even the greatest values that can be counted are a limit. */
    g_assert_cmpint(irqbed_budget_check(&b, U64_MAX, U64_MAX), ==,
                    IRQBED_REASON_NONE);
}

static void test_count_limit(void)
{
    Pass p = bounded(IRQBED_UNLIMITED_NS, 7, 32);

    g_assert_cmpuint(p.done, ==, 7);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_COUNT);

    /* The last request of all is no reason to hand over. */
    p = bounded(IRQBED_UNLIMITED_NS, 7, 7);
    g_assert_cmpuint(p.done, ==, 7);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_NONE);
}

/* With both limits the nearer one ends the pass. */
static void test_both_limits(void)
{
    g_assert_cmpint(bounded(20000, 2, 32).reason, ==, IRQBED_REASON_COUNT);
    g_assert_cmpuint(bounded(20000, 2, 32).done, ==, 2);
    g_assert_cmpint(bounded(10000, 30, 32).reason, ==, IRQBED_REASON_TIME);
    g_assert_cmpuint(bounded(10000, 30, 32).done, ==, 2);
}

/* The thread's budget. */
static void test_unlimited(void)
{
    Pass p = run_pass(&irqbed_budget_unlimited, 1000, G_GUINT64_CONSTANT(1) << 50);

    g_assert_cmpuint(p.done, ==, 1000);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_NONE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/policy/hardirq-ignores-limits",
                    test_hardirq_ignores_limits);
    g_test_add_func("/policy/threaded-does-nothing",
                    test_threaded_does_nothing);
    g_test_add_func("/policy/time-limit", test_time_limit);
    g_test_add_func("/policy/zero-is-a-limit", test_zero_is_a_limit);
    g_test_add_func("/policy/none-is-no-limit", test_none_is_no_limit);
    g_test_add_func("/policy/count-limit", test_count_limit);
    g_test_add_func("/policy/both-limits", test_both_limits);
    g_test_add_func("/policy/unlimited", test_unlimited);
    return g_test_run();
}
