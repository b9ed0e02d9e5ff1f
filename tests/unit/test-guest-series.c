/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * guest-driver/series.c: which window a time is in, and what doubling keeps.
 */

#include <glib.h>
#include "../../guest-driver/hist.c"
#include "../../guest-driver/series.c"

static struct irqbed_series_window windows[IRQBED_SERIES_WINDOWS];

static struct irqbed_series series_new(u64 window_ns, u64 now_ns)
{
    struct irqbed_series s = { .windows = windows };

    irqbed_series_begin(&s, window_ns, now_ns);
    return s;
}

static void test_borders(void)
{
    struct irqbed_series s = series_new(100, 1000);

    g_assert_true(irqbed_series_at(&s, 900) == &windows[0]);
    g_assert_cmpuint(s.used, ==, 1);
    g_assert_true(irqbed_series_at(&s, 1099) == &windows[0]);
    g_assert_true(irqbed_series_at(&s, 1100) == &windows[1]);
    g_assert_true(irqbed_series_at(&s, 1000 + 100 * IRQBED_SERIES_WINDOWS - 1) ==
                  &windows[IRQBED_SERIES_WINDOWS - 1]);
    g_assert_cmpuint(s.used, ==, IRQBED_SERIES_WINDOWS);
    g_assert_cmpuint(s.window_ns, ==, 100);
}

/* As many windows as there are, and one event more. */
static void test_doubling(void)
{
    struct irqbed_series s = series_new(10, 0);

    for (unsigned i = 0; i <= IRQBED_SERIES_WINDOWS; i++) {
        struct irqbed_series_window *w = irqbed_series_at(&s, i * 10);

        w->irqs++;
        w->handovers += 2;
        irqbed_hist_add(&w->latency_ns, i);
    }
    g_assert_cmpuint(s.window_ns, ==, 20);
    g_assert_cmpuint(s.used, ==, IRQBED_SERIES_WINDOWS / 2 + 1);
    for (unsigned i = 0; i < IRQBED_SERIES_WINDOWS; i++) {
        unsigned n = i < IRQBED_SERIES_WINDOWS / 2 ? 2 :
                     i == IRQBED_SERIES_WINDOWS / 2;

        g_assert_cmpuint(windows[i].irqs, ==, n);
        g_assert_cmpuint(windows[i].handovers, ==, 2 * n);
        g_assert_cmpuint(windows[i].latency_ns.count, ==, n);
        g_assert_cmpuint(windows[i].latency_ns.min, ==, n ? 2 * i : 0);
    }
}

static void test_long(void)
{
    struct irqbed_series s = series_new(1, 0);
    u64 irqs = 0;

    for (u64 i = 0; i < 64; i++) {
        irqbed_series_at(&s, (1ull << i) - 1)->irqs++;
    }
    for (unsigned i = 0; i < IRQBED_SERIES_WINDOWS; i++) {
        irqs += windows[i].irqs;
    }
    g_assert_cmpuint(irqs, ==, 64);
    irqbed_series_begin(&s, 1, 0);
    g_assert_cmpuint(windows[0].irqs, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/guest-series/borders", test_borders);
    g_test_add_func("/guest-series/doubling", test_doubling);
    g_test_add_func("/guest-series/long", test_long);
    return g_test_run();
}
