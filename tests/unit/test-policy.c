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
                                                  max_completions, false);

    return run_pass(&b, ready, COST_NS);
}

static void test_hardirq_ignores_limits(void)
{
    struct irqbed_budget b = irqbed_policy_budget(IRQBED_POLICY_HARDIRQ, 0, 0,
                                                  true);
    Pass p = run_pass(&b, 32, COST_NS);

    g_assert_cmpuint(p.done, ==, 32);
    g_assert_cmpint(p.reason, ==, IRQBED_REASON_NONE);
    g_assert_false(irqbed_budget_is_timed(&b));
}

static void test_threaded_does_nothing(void)
{
    struct irqbed_budget b = irqbed_policy_budget(IRQBED_POLICY_THREADED,
                                                  IRQBED_UNLIMITED_NS,
                                                  IRQBED_UNLIMITED_CNT, false);
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
                                                  IRQBED_UNLIMITED_CNT, false);
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

/* Who ends what, by name: the table is what the user chooses from. */
static void test_table(void)
{
    static const char *const names[] = {
        "hardirq", "threaded", "bounded", "softirq", "inline", "irq_poll",
        "workqueue", "flood", "polled",
    };

    G_STATIC_ASSERT(G_N_ELEMENTS(names) == IRQBED_NR_POLICIES);
    for (unsigned i = 0; i < IRQBED_NR_POLICIES; i++) {
        const struct irqbed_policy_desc *d = &irqbed_policies[i];
        struct irqbed_budget b = irqbed_policy_budget(i, 20000, 7, false);

        g_assert_cmpstr(irqbed_policy_words[i], ==, names[i]);
        /* The limits are the bounded policy's alone. */
        g_assert_cmpint(b.ns == 20000, ==, i == IRQBED_POLICY_BOUNDED);
        g_assert_cmpint(b.count == 7, ==, i == IRQBED_POLICY_BOUNDED);
        /* Nobody both defers everything and has a limit. */
        g_assert_false(d->defer && (d->bounded || d->flood));
        /* What is interrupted for under polled is ended where it is. */
        g_assert_cmpint(d->polled, ==, i == IRQBED_POLICY_POLLED);
        g_assert_false(d->polled && (d->defer || d->bounded || d->flood ||
                                     d->end != IRQBED_END_HERE));
    }
}

/* The flood policy ends in place until the CPU is flooded. */
static void test_flood_budget(void)
{
    struct irqbed_budget b;

    b = irqbed_policy_budget(IRQBED_POLICY_FLOOD, 0, 0, false);
    g_assert_cmpint(run_pass(&b, 32, COST_NS).done, ==, 32);
    b = irqbed_policy_budget(IRQBED_POLICY_FLOOD, 0, 0, true);
    g_assert_cmpint(run_pass(&b, 32, COST_NS).done, ==, 0);
    g_assert_cmpint(run_pass(&b, 32, COST_NS).reason, ==, IRQBED_REASON_FLOOD);
    b = irqbed_policy_budget(IRQBED_POLICY_THREADED, 0, 0, true);
    g_assert_cmpint(run_pass(&b, 32, COST_NS).reason, ==, IRQBED_REASON_POLICY);
}

static const struct irqbed_flood_limits limits = {
    .window_ns = 1000000, .enter_pct = 80, .leave_pct = 20,
};

/* @count interrupts of @busy_ns each, one every @every_ns. */
static bool irqs(struct irqbed_flood *f, u64 *now_ns, unsigned count,
                 u64 every_ns, u64 busy_ns)
{
    bool flooded = f->flooded;

    while (count--) {
        *now_ns += every_ns;
        flooded = irqbed_flood_account(f, &limits, *now_ns, busy_ns);
    }
    return flooded;
}

static void test_flood_enter_and_leave(void)
{
    struct irqbed_flood f = { 0 };
    u64 now_ns = 5000000;

    f.start_ns = now_ns;
    /* 90 % of the time, but not yet for a window. */
    g_assert_false(irqs(&f, &now_ns, 99, 10000, 9000));
    g_assert_true(irqs(&f, &now_ns, 1, 10000, 9000));
    g_assert_cmpuint(f.entered, ==, 1);
    /* Between the limits nothing changes, whichever side it comes from. */
    g_assert_true(irqs(&f, &now_ns, 500, 10000, 5000));
    g_assert_true(irqs(&f, &now_ns, 99, 10000, 1000));
    g_assert_false(irqs(&f, &now_ns, 1, 10000, 1000));
    g_assert_false(irqs(&f, &now_ns, 500, 10000, 5000));
    g_assert_cmpuint(f.entered, ==, 1);
    /* Exactly the limit is a flood. */
    g_assert_true(irqs(&f, &now_ns, 100, 10000, 8000));
    g_assert_cmpuint(f.entered, ==, 2);
}

/* One long interrupt after a long sleep is no flood; nor is asking. */
static void test_flood_idle(void)
{
    struct irqbed_flood f = { 0 };

    g_assert_false(irqbed_flood_account(&f, &limits, 1000000000, 900000));
    g_assert_false(irqbed_flood_account(&f, &limits, 1000900000, 0));
    f.flooded = true;
    g_assert_true(irqbed_flood_account(&f, &limits, 1000950000, 0));
    g_assert_false(irqbed_flood_account(&f, &limits, 3000000000, 0));
}

/* A limit of 0 % is always a flood, after one window; 101 % never. */
static void test_flood_extremes(void)
{
    struct irqbed_flood_limits l = { .window_ns = 0, .enter_pct = 0,
                                     .leave_pct = 0 };
    struct irqbed_flood f = { 0 };

    g_assert_true(irqbed_flood_account(&f, &l, 10, 0));
    g_assert_true(irqbed_flood_account(&f, &l, 20, 0));
    l.enter_pct = l.leave_pct = 101;
    g_assert_false(irqbed_flood_account(&f, &l, 30, 10));
    g_assert_false(irqbed_flood_account(&f, &l, 40, 10));
}

/* Calls of 60 until 256 are done: the last one gets what is left. */
static void test_round_count(void)
{
    struct irqbed_round r = { 0 };
    struct irqbed_budget b;
    enum irqbed_reason reason = IRQBED_REASON_NONE;
    u64 done = 0;
    unsigned calls = 0;

    while (!reason) {
        b = irqbed_round_budget(&r, 60, 256, IRQBED_UNLIMITED_NS, 1000);
        done += b.count;
        calls++;
        reason = irqbed_round_account(&r, b.count, 256, IRQBED_UNLIMITED_NS,
                                      1000);
    }
    g_assert_cmpint(reason, ==, IRQBED_REASON_COUNT);
    g_assert_cmpuint(done, ==, 256);
    g_assert_cmpuint(calls, ==, 5);
    g_assert_false(r.open);
    /* The next round starts afresh. */
    b = irqbed_round_budget(&r, 60, 256, IRQBED_UNLIMITED_NS, 2000);
    g_assert_cmpuint(b.count, ==, 60);
    g_assert_cmpuint(r.start_ns, ==, 2000);
}

static void test_round_time(void)
{
    struct irqbed_round r = { 0 };
    struct irqbed_budget b;

    b = irqbed_round_budget(&r, 64, IRQBED_UNLIMITED_CNT, 2000000, 5000);
    g_assert_cmpuint(b.ns, ==, 2000000);
    g_assert_cmpint(irqbed_round_account(&r, 64, IRQBED_UNLIMITED_CNT, 2000000,
                                         2004999), ==, IRQBED_REASON_NONE);
    irqbed_round_budget(&r, 64, IRQBED_UNLIMITED_CNT, 2000000, 2004999);
    g_assert_cmpuint(r.start_ns, ==, 5000);
    g_assert_cmpint(irqbed_round_account(&r, 1, IRQBED_UNLIMITED_CNT, 2000000,
                                         2005000), ==, IRQBED_REASON_TIME);
    g_assert_false(r.open);
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
    g_test_add_func("/policy/table", test_table);
    g_test_add_func("/policy/flood-budget", test_flood_budget);
    g_test_add_func("/policy/flood-enter-and-leave",
                    test_flood_enter_and_leave);
    g_test_add_func("/policy/flood-idle", test_flood_idle);
    g_test_add_func("/policy/flood-extremes", test_flood_extremes);
    g_test_add_func("/policy/round-count", test_round_count);
    g_test_add_func("/policy/round-time", test_round_time);
    return g_test_run();
}
