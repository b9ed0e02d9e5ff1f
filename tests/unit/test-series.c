/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hw/core/series.c: which window an event is in, and what doubling keeps.
 */

#include <glib.h>
#include "../../hw/core/series.h"

static IrqbedSeriesWindow windows[IRQBED_SERIES_WINDOWS];

static IrqbedSeries series_new(uint64_t window_ns, int64_t now_ns)
{
    IrqbedSeries s = { .windows = windows };

    irqbed_series_begin(&s, window_ns, now_ns);
    return s;
}

static void test_off(void)
{
    IrqbedSeries s = { 0 };

    irqbed_series_completion(&s, 1, 1);
    irqbed_series_irq(&s, 1);
    g_assert_cmpuint(s.used, ==, 0);
}

static void test_borders(void)
{
    IrqbedSeries s = series_new(100, 1000);

    irqbed_series_irq(&s, 900);         /* another vCPU's present */
    irqbed_series_irq(&s, 1000);
    irqbed_series_irq(&s, 1099);
    irqbed_series_completion(&s, 7, 1100);
    irqbed_series_completion(&s, 9, 1199);
    irqbed_series_irq(&s, 1400);
    g_assert_cmpuint(s.used, ==, 5);
    g_assert_cmpuint(windows[0].irqs, ==, 3);
    g_assert_cmpuint(windows[1].irqs, ==, 0);
    g_assert_cmpuint(windows[1].latency_ns.count, ==, 2);
    g_assert_cmpuint(windows[1].latency_ns.sum, ==, 16);
    g_assert_cmpuint(windows[3].latency_ns.count, ==, 0);
    g_assert_cmpuint(windows[4].irqs, ==, 1);
}

/* One event in each window, and one more just behind the last. */
static void test_doubling(void)
{
    IrqbedSeries s = series_new(10, 0);
    unsigned i;

    for (i = 0; i < IRQBED_SERIES_WINDOWS; i++) {
        irqbed_series_completion(&s, i, i * 10);
        irqbed_series_irq(&s, i * 10 + 9);
    }
    g_assert_cmpuint(s.used, ==, IRQBED_SERIES_WINDOWS);
    irqbed_series_irq(&s, IRQBED_SERIES_WINDOWS * 10);
    g_assert_cmpuint(s.window_ns, ==, 20);
    g_assert_cmpuint(s.used, ==, IRQBED_SERIES_WINDOWS / 2 + 1);
    for (i = 0; i < IRQBED_SERIES_WINDOWS / 2; i++) {
        g_assert_cmpuint(windows[i].irqs, ==, 2);
        g_assert_cmpuint(windows[i].latency_ns.count, ==, 2);
        g_assert_cmpuint(windows[i].latency_ns.min, ==, 2 * i);
        g_assert_cmpuint(windows[i].latency_ns.max, ==, 2 * i + 1);
    }
    g_assert_cmpuint(windows[i].irqs, ==, 1);
    for (i++; i < IRQBED_SERIES_WINDOWS; i++) {
        g_assert_cmpuint(windows[i].irqs, ==, 0);
        g_assert_cmpuint(windows[i].latency_ns.count, ==, 0);
    }
}

/* Nothing is lost however long the pause, or however short the window. */
static void test_long(void)
{
    IrqbedSeries s = series_new(1, 0);
    uint64_t irqs = 0;
    unsigned i;

    for (i = 0; i < 1000; i++) {
        irqbed_series_irq(&s, i * 7);
    }
    irqbed_series_irq(&s, INT64_MAX);
    for (i = 0; i < IRQBED_SERIES_WINDOWS; i++) {
        irqs += windows[i].irqs;
    }
    g_assert_cmpuint(irqs, ==, 1001);
    g_assert_cmpuint(s.used, <=, IRQBED_SERIES_WINDOWS);
    irqbed_series_begin(&s, 5, 0);
    g_assert_cmpuint(windows[0].irqs, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/series/off", test_off);
    g_test_add_func("/series/borders", test_borders);
    g_test_add_func("/series/doubling", test_doubling);
    g_test_add_func("/series/long", test_long);
    return g_test_run();
}
