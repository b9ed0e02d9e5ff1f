/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hw/core/hist.c: bucket borders, percentiles, the ends of the range.
 */

#include <glib.h>
#include "../../hw/core/hist.h"

static void test_buckets(void)
{
    unsigned i;

    for (i = 0; i < IRQBED_HIST_BUCKETS; i++) {
        g_assert_cmpuint(irqbed_hist_index(irqbed_hist_lo(i)), ==, i);
        if (i) {
            g_assert_cmpuint(irqbed_hist_index(irqbed_hist_lo(i) - 1), ==,
                             i - 1);
            g_assert_cmpuint(irqbed_hist_lo(i), >, irqbed_hist_lo(i - 1));
        }
    }
    g_assert_cmpuint(irqbed_hist_index(UINT64_MAX), ==,
                     IRQBED_HIST_BUCKETS - 1);
    /* Eight to an octave: 1024 ... 2047 in steps of 128. */
    g_assert_cmpuint(irqbed_hist_lo(irqbed_hist_index(1151)), ==, 1024);
    g_assert_cmpuint(irqbed_hist_lo(irqbed_hist_index(1152)), ==, 1152);
}

static void test_empty(void)
{
    IrqbedHist h;

    irqbed_hist_reset(&h);
    g_assert_cmpuint(h.count, ==, 0);
    g_assert_cmpuint(irqbed_hist_percentile(&h, 500), ==, 0);
}

static void test_one_value(void)
{
    IrqbedHist h;
    unsigned i;

    irqbed_hist_reset(&h);
    for (i = 0; i < 1000; i++) {
        irqbed_hist_add(&h, 20000);
    }
    g_assert_cmpuint(h.count, ==, 1000);
    g_assert_cmpuint(h.sum, ==, 20000000);
    g_assert_cmpuint(h.min, ==, 20000);
    g_assert_cmpuint(h.max, ==, 20000);
    g_assert_cmpuint(irqbed_hist_percentile(&h, 1), ==, 20000);
    g_assert_cmpuint(irqbed_hist_percentile(&h, 999), ==, 20000);
}

static void test_percentiles(void)
{
    IrqbedHist h;
    uint64_t p, exact;
    unsigned i;

    irqbed_hist_reset(&h);
    for (i = 1; i <= 100000; i++) {
        irqbed_hist_add(&h, i);
    }
    for (i = 1; i <= 1000; i++) {
        p = irqbed_hist_percentile(&h, i);
        exact = i * 100;
        /* Never below the exact one, and less than an eighth above it. */
        g_assert_cmpuint(p, >=, exact);
        g_assert_cmpuint(p, <=, exact + exact / 8);
    }
    g_assert_cmpuint(irqbed_hist_percentile(&h, 1000), ==, 100000);
    g_assert_cmpuint(irqbed_hist_percentile(&h, 0), ==, 1);
}

static void test_extremes(void)
{
    IrqbedHist h;

    irqbed_hist_reset(&h);
    irqbed_hist_add(&h, 0);
    irqbed_hist_add(&h, UINT64_MAX);
    g_assert_cmpuint(h.min, ==, 0);
    g_assert_cmpuint(h.max, ==, UINT64_MAX);
    g_assert_cmpuint(irqbed_hist_percentile(&h, 500), ==, 0);
    g_assert_cmpuint(irqbed_hist_percentile(&h, 501), ==, UINT64_MAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hist/buckets", test_buckets);
    g_test_add_func("/hist/empty", test_empty);
    g_test_add_func("/hist/one-value", test_one_value);
    g_test_add_func("/hist/percentiles", test_percentiles);
    g_test_add_func("/hist/extremes", test_extremes);
    return g_test_run();
}
