/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest driver's histogram against the device's: two pieces of code in two
 * worlds, but figures from both stand in one table, so they must agree on
 * every bucket and every percentile.
 */

#include <glib.h>

/* The driver's functions have the device's names: give them others. */
#define irqbed_hist_add guest_hist_add
#define irqbed_hist_merge guest_hist_merge
#define irqbed_hist_reset guest_hist_reset
#define irqbed_hist_index guest_hist_index
#define irqbed_hist_lo guest_hist_lo
#include "../../guest-driver/hist.c"
#undef irqbed_hist_add
#undef irqbed_hist_merge
#undef irqbed_hist_reset
#undef irqbed_hist_index
#undef irqbed_hist_lo

enum { GUEST_BUCKETS = IRQBED_HIST_BUCKETS, GUEST_SUB_BITS = IRQBED_HIST_SUB_BITS };
#undef IRQBED_HIST_BUCKETS
#undef IRQBED_HIST_SUB_BITS
#undef IRQBED_HIST_H
#include "../../hw/core/hist.h"

static void test_same_shape(void)
{
    g_assert_cmpint(GUEST_BUCKETS, ==, IRQBED_HIST_BUCKETS);
    g_assert_cmpint(GUEST_SUB_BITS, ==, IRQBED_HIST_SUB_BITS);
    for (unsigned i = 0; i < GUEST_BUCKETS; i++) {
        g_assert_cmpuint(guest_hist_lo(i), ==, irqbed_hist_lo(i));
        g_assert_cmpuint(guest_hist_index(guest_hist_lo(i)), ==, i);
        if (i) {
            g_assert_cmpuint(guest_hist_index(guest_hist_lo(i) - 1), ==, i - 1);
        }
    }
    g_assert_cmpuint(guest_hist_index(UINT64_MAX), ==, GUEST_BUCKETS - 1);
}

static void check_same(const struct irqbed_hist *g, const IrqbedHist *d)
{
    static const unsigned shares[] = { 1, 10, 500, 900, 990, 999, 1000 };

    g_assert_cmpuint(g->count, ==, d->count);
    g_assert_cmpuint(g->sum, ==, d->sum);
    g_assert_cmpuint(g->min, ==, d->min);
    g_assert_cmpuint(g->max, ==, d->max);
    for (unsigned i = 0; i < G_N_ELEMENTS(shares); i++) {
        g_assert_cmpuint(irqbed_hist_quantile(g, shares[i]), ==,
                         irqbed_hist_percentile(d, shares[i]));
    }
}

static void test_same_samples(void)
{
    g_autofree struct irqbed_hist *g = g_new0(struct irqbed_hist, 1);
    g_autofree IrqbedHist *d = g_new0(IrqbedHist, 1);
    GRand *rand = g_rand_new_with_seed(1);

    check_same(g, d);
    for (int i = 0; i < 5000; i++) {
        u64 val = ((u64)g_rand_int(rand) << 32 | g_rand_int(rand)) >>
                  g_rand_int_range(rand, 0, 64);

        guest_hist_add(g, val);
        irqbed_hist_add(d, val);
        if (i < 20 || i % 500 == 0) {
            check_same(g, d);
        }
    }
    g_rand_free(rand);
}

static void test_extremes(void)
{
    g_autofree struct irqbed_hist *g = g_new0(struct irqbed_hist, 1);

    g_assert_cmpuint(irqbed_hist_quantile(g, 500), ==, 0);
    guest_hist_add(g, UINT64_MAX);
    g_assert_cmpuint(irqbed_hist_quantile(g, 1), ==, UINT64_MAX);
    guest_hist_add(g, 0);
    g_assert_cmpuint(g->min, ==, 0);
    g_assert_cmpuint(irqbed_hist_quantile(g, 500), ==, 0);
    guest_hist_reset(g);
    g_assert_cmpuint(g->count, ==, 0);
    guest_hist_add(g, 7);
    g_assert_cmpuint(g->min, ==, 7);
    g_assert_cmpuint(g->max, ==, 7);
}

/* Two histograms merged are the histogram of all their samples. */
static void test_merge(void)
{
    g_autofree struct irqbed_hist *all = g_new0(struct irqbed_hist, 1);
    g_autofree struct irqbed_hist *sum = g_new0(struct irqbed_hist, 1);
    struct irqbed_hist *part[2] = { g_new0(struct irqbed_hist, 1),
                                    g_new0(struct irqbed_hist, 1) };

    guest_hist_merge(sum, part[0]);
    g_assert_cmpmem(sum, sizeof(*sum), all, sizeof(*all));
    for (u64 i = 0; i < 1000; i++) {
        u64 val = i * i * 37 + 5;

        guest_hist_add(all, val);
        guest_hist_add(part[i % 3 == 0], val);
    }
    guest_hist_merge(sum, part[1]);
    guest_hist_merge(sum, part[0]);
    g_assert_cmpmem(sum, sizeof(*sum), all, sizeof(*all));
    g_free(part[0]);
    g_free(part[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/guest-hist/same-shape", test_same_shape);
    g_test_add_func("/guest-hist/same-samples", test_same_samples);
    g_test_add_func("/guest-hist/extremes", test_extremes);
    g_test_add_func("/guest-hist/merge", test_merge);
    return g_test_run();
}
