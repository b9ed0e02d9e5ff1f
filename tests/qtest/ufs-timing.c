/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When things happen: due times to the nanosecond, units, interrupt latency,
 * coalescing, faults; and that statuses are final before an interrupt.
 * Cases status-before-irq, aggregation-window and lost-irq.
 */

#include "ufs-harness.h"

#define READ_NS  20000
#define WRITE_NS 50000

/* Not done at t - 1, done at t. */
static void expect_done_at(Ufs *u, uint32_t slot, int64_t when)
{
    ufs_step_to(u, when - 1);
    g_assert_true(ufs_busy(u, BIT(slot)));
    g_assert_cmphex(ufs_ocs(u, slot), ==, UFS_OCS_INVALID_COMMAND_STATUS);
    ufs_step_to(u, when);
    g_assert_false(ufs_busy(u, BIT(slot)));
    ufs_expect_good(u, slot);
}

static void test_due(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,service-write-ns=50000,"
                          "service-read-ns-per-kib=100,service-other-ns=777");
    int64_t t;

    ufs_step(u, 1000);
    t = u->now;
    ufs_prep_rw(u, 0, false, 0, 2);
    ufs_ring(u, BIT(0));
    expect_done_at(u, 0, t + READ_NS + 800);
    t = u->now;
    ufs_prep_rw(u, 1, true, 0, 1);
    ufs_ring(u, BIT(1));
    expect_done_at(u, 1, t + WRITE_NS);
    t = u->now;
    ufs_prep_nop(u, 2);
    ufs_ring(u, BIT(2));
    expect_done_at(u, 2, t + 777);
    g_assert_cmpuint(ufs_stat(u, "service_read_ns.sum"), ==, READ_NS + 800);
    g_assert_cmpuint(ufs_stat(u, "service_write_ns.max"), ==, WRITE_NS);
    g_assert_cmpuint(ufs_stat(u, "service_other_ns.p50"), ==, 777);
    g_assert_cmpuint(ufs_stat(u, "device_ns.count"), ==, 3);
    ufs_stop(u);
}

static void test_units(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,units=2");
    int64_t t;
    unsigned i;

    ufs_step(u, 1);
    t = u->now;
    for (i = 0; i < 5; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    ufs_ring(u, 0x1f);
    /* Even blocks in one unit, odd ones in the other. */
    ufs_step_to(u, t + READ_NS - 1);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x1f);
    ufs_step_to(u, t + READ_NS);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x1c);
    ufs_step_to(u, t + 2 * READ_NS);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x10);
    ufs_step_to(u, t + 3 * READ_NS);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "queueing_ns.sum"), ==,
                     (1 + 1 + 2) * READ_NS);
    g_assert_cmpuint(ufs_stat(u, "queueing_ns.min"), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "queueing_ns.max"), ==, 2 * READ_NS);
    ufs_stop(u);
}

/* One block, two units: both serve it, and the third read waits for either. */
static void test_units_free(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,units=2,unit-choice=free");
    int64_t t;
    unsigned i;

    ufs_step(u, 1);
    t = u->now;
    for (i = 0; i < 3; i++) {
        ufs_prep_rw(u, i, false, 0, 1);
    }
    ufs_ring(u, 0x7);
    ufs_step_to(u, t + READ_NS - 1);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x7);
    ufs_step_to(u, t + READ_NS);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x4);
    ufs_step_to(u, t + 2 * READ_NS);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "queueing_ns.sum"), ==, READ_NS);
    ufs_stop(u);
}

/* One unit is slow from the moment the knob says so; the other is not. */
static void test_slow_unit(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,units=2,slow-unit=1");
    int64_t t;

    ufs_step(u, 1);
    qtest_qmp_assert_success(u->qts, "{ 'execute': 'qom-set', 'arguments': "
                             "{ 'path': 'ufs0', 'property': "
                             "'slow-unit-factor', 'value': 10 } }");
    t = u->now;
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_prep_rw(u, 1, false, 1, 1);
    ufs_ring(u, 0x3);
    expect_done_at(u, 0, t + READ_NS);
    expect_done_at(u, 1, t + 10 * READ_NS);
    ufs_stop(u);
}

/* What is written is what was there at the doorbell, and in doorbell order. */
static void test_order(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,service-write-ns=50000");

    ufs_fill(u, UFS_DATA(0), 4096, 1);
    ufs_fill(u, UFS_DATA(1), 4096, 2);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_prep_rw(u, 1, true, 0, 1);
    ufs_prep_rw(u, 2, false, 0, 1);
    ufs_ring(u, 0x7);
    ufs_fill(u, UFS_DATA(0), 4096, 8);
    ufs_fill(u, UFS_DATA(1), 4096, 9);
    /* Not before its time is the buffer touched. */
    ufs_fill(u, UFS_DATA(2), 4096, 5);
    ufs_step(u, 2 * WRITE_NS + READ_NS - 1);
    ufs_check(u, UFS_DATA(2), 4096, 5);
    ufs_step(u, 1);
    ufs_check(u, UFS_DATA(2), 4096, 2);
    ufs_stop(u);
}

static void test_irq_latency(bool msi)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,irq-latency-ns=3000");
    int64_t t;

    if (msi) {
        ufs_msi_on(u);
    }
    ufs_step(u, 1);
    t = u->now;
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_step_to(u, t + READ_NS);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    ufs_step_to(u, t + READ_NS + 2999);
    g_assert_false(msi ? ufs_msi_taken(u) : ufs_intx(u));
    ufs_step_to(u, t + READ_NS + 3000);
    g_assert_true(msi ? ufs_msi_taken(u) : ufs_intx(u));
    /* From raising to reading to clearing, by the device's own clock. */
    ufs_step(u, 400);
    ufs_read(u, A_IS);
    ufs_step(u, 50);
    ufs_ack_all(u);
    g_assert_false(ufs_intx(u));
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 1);
    g_assert_cmpuint(ufs_stat(u, "irq_to_read_ns.sum"), ==, 400);
    g_assert_cmpuint(ufs_stat(u, "irq_to_clear_ns.sum"), ==, 450);
    ufs_stop(u);
}

static void test_irq_latency_intx(void)
{
    test_irq_latency(false);
}

static void test_irq_latency_msi(void)
{
    test_irq_latency(true);
}

/* Acknowledged by a poller while under way: no interrupt, and counted. */
static void test_suppressed(void)
{
    Ufs *u = ufs_start_up(",irq-latency-ns=3000");

    ufs_msi_on(u);
    ufs_prep_nop(u, 0);
    ufs_ring(u, 1);
    ufs_step(u, 1000);
    ufs_ack_all(u);
    ufs_step(u, 10000);
    g_assert_false(ufs_msi_taken(u));
    g_assert_cmpuint(ufs_stat(u, "irq.suppressed"), ==, 1);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 0);
    ufs_stop(u);
}

/* The tag is in use again when the interrupt of its last request comes. */
static void test_late(void)
{
    Ufs *u = ufs_start_up(",irq-latency-ns=3000,service-read-ns=20000");

    ufs_msi_on(u);
    ufs_prep_nop(u, 0);
    ufs_ring(u, 1);
    ufs_step(u, 1000);
    g_assert_false(ufs_busy(u, 1));
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_step(u, 3000);
    g_assert_true(ufs_msi_taken(u));
    g_assert_true(ufs_busy(u, 1));
    g_assert_cmpuint(ufs_stat(u, "irq.late"), ==, 1);
    ufs_ack_all(u);
    /* Not late: the slot is free, or another is in use. */
    ufs_step(u, 20000);
    ufs_ack_all(u);
    ufs_prep_nop(u, 1);
    ufs_ring(u, 2);
    ufs_step(u, 1000);
    ufs_ring(u, 1);
    ufs_step(u, 3000);
    g_assert_true(ufs_msi_taken(u));
    g_assert_cmpuint(ufs_stat(u, "irq.late"), ==, 1);
    ufs_stop(u);
}

/* Masked: no interrupt; unmasked with status pending: one. */
static void test_mask(void)
{
    Ufs *u = ufs_start_up("");

    ufs_msi_on(u);
    ufs_write(u, A_IE, 0);
    ufs_prep_nop(u, 0);
    ufs_ring(u, 1);
    ufs_step(u, 1000);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    g_assert_false(ufs_msi_taken(u));
    ufs_write(u, A_IE, R_IE_UTRCE_MASK);
    g_assert_true(ufs_msi_taken(u));
    ufs_stop(u);
}

/* MSI is an edge: one message until the status has been clear. */
static void test_edge(void)
{
    Ufs *u = ufs_start_up("");

    ufs_msi_on(u);
    ufs_prep_nop(u, 0);
    ufs_prep_nop(u, 1);
    ufs_ring(u, 1);
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    ufs_ring(u, 2);
    ufs_step(u, 1);
    g_assert_false(ufs_busy(u, 3));
    g_assert_false(ufs_msi_taken(u));
    g_assert_cmpuint(ufs_stat(u, "irq.coalesced"), ==, 1);
    ufs_ack_all(u);
    ufs_ring(u, 1);
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    ufs_stop(u);
}

/*
 * status-before-irq: interrupt latency and coalescing on, random service
 * times; at the very nanosecond of each interrupt all that it stands for is
 * final: doorbell, notification, IS, overall status, response.
 */
static void test_status_before_irq(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,service-read-dist=uniform,"
                          "service-read-spread-ns=19000,units=64,"
                          "irq-latency-ns=2000,irq-latency-dist=uniform,"
                          "irq-latency-spread-ns=2000,"
                          "irq-coalesce-timeout-ns=4000,irq-coalesce-count=4");
    uint32_t done, seen = 0, cnr;
    unsigned i, interrupts = 0, completed = 0, round;

    ufs_msi_on(u);
    for (i = 0; i < UFS_SLOTS; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    for (round = 0; round < 20; round++) {
        for (i = 0; i < UFS_SLOTS; i++) {
            ufs_set_utrd(u, i, 2, UFS_OCS_INVALID_COMMAND_STATUS);
        }
        ufs_ring(u, UINT32_MAX);
        seen = 0;
        while (seen != UINT32_MAX) {
            ufs_step(u, 100);
            if (!ufs_msi_taken(u)) {
                continue;
            }
            interrupts++;
            /* A handler's order. */
            g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
            ufs_ack_all(u);
            done = ~ufs_read(u, A_UTRLDBR) & ~seen;
            g_assert_cmphex(done, !=, 0);
            cnr = ufs_read(u, A_UTRLCNR);
            ufs_write(u, A_UTRLCNR, cnr);
            g_assert_cmphex(cnr, ==, done);
            for (i = 0; i < UFS_SLOTS; i++) {
                if (done & BIT(i)) {
                    ufs_expect_good(u, i);
                    completed++;
                }
            }
            seen |= done;
        }
    }
    g_assert_cmpuint(completed, ==, 20 * UFS_SLOTS);
    g_assert_cmpuint(interrupts, ==, ufs_stat(u, "irq.raised"));
    g_assert_cmpuint(interrupts, <, completed);
    g_assert_cmpuint(ufs_stat(u, "irq.raised") +
                     ufs_stat(u, "irq.coalesced") +
                     ufs_stat(u, "irq.suppressed"), ==, completed);
    ufs_stop(u);
}

/* aggregation-window: depth 1, service 20 us, (20 completions, 200 us). */
static void test_window(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,"
                          "irq-coalesce-timeout-ns=200000,"
                          "irq-coalesce-count=20");
    int64_t t;
    unsigned i;

    ufs_msi_on(u);
    ufs_step(u, 1);
    for (i = 0; i < 5; i++) {
        t = u->now;
        ufs_prep_rw(u, 0, false, 0, 1);
        ufs_ring(u, 1);
        ufs_step_to(u, t + 219999);
        g_assert_false(ufs_msi_taken(u));
        ufs_step_to(u, t + 220000);
        g_assert_true(ufs_msi_taken(u));
        ufs_ack_all(u);
    }
    /* Depth 32, count 8: by count, four interrupts, long before the timeout. */
    ufs_set_knob(u, "irq-coalesce-count", 8);
    for (i = 0; i < UFS_SLOTS; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    ufs_ring(u, UINT32_MAX);
    for (i = 1; i <= 4; i++) {
        ufs_step(u, 8 * READ_NS - 1);
        g_assert_false(ufs_msi_taken(u));
        ufs_step(u, 1);
        g_assert_true(ufs_msi_taken(u));
        ufs_ack_all(u);
    }
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    ufs_stop(u);
}

/* The guest's own aggregation: UTRIACR, in units of 40 us. */
static void test_utriacr(void)
{
    Ufs *u = ufs_start_up("");
    uint32_t iacr = 1u << 31;
    int64_t t;
    unsigned i;

    ufs_msi_on(u);
    ufs_write(u, A_UTRIACR, iacr | 1u << 24 | 3 << 8 | 2);
    g_assert_cmphex(ufs_read(u, A_UTRIACR), ==, iacr | 3 << 8 | 2);
    /* Commands without the I bit wait for three of them, or 80 us. */
    for (i = 0; i < 4; i++) {
        ufs_prep_nop(u, i);
        ufs_set_utrd(u, i, 0, 1u << 28);
    }
    ufs_ring(u, 0x3);
    ufs_step(u, 1);
    g_assert_false(ufs_msi_taken(u));
    g_assert_cmphex(ufs_read(u, A_UTRIACR) & 1u << 20, ==, 1u << 20);
    ufs_ring(u, 0x4);
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    t = u->now;
    ufs_ring(u, 0x8);
    ufs_step_to(u, t + 79999);
    g_assert_false(ufs_msi_taken(u));
    ufs_step_to(u, t + 80000);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    /* With the I bit: at once. */
    ufs_prep_nop(u, 4);
    ufs_ring(u, BIT(4));
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    /* Aggregation off and no I bit: no interrupt and no status. */
    ufs_write(u, A_UTRIACR, 0);
    ufs_ring(u, 0x1);
    ufs_step(u, 1);
    g_assert_false(ufs_busy(u, 1));
    g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    ufs_stop(u);
}

/* lost-irq: the result is posted, the interrupt is not raised, at depth 1. */
static void test_drop(void)
{
    Ufs *u = ufs_start_up(",irq-drop-every=10");
    unsigned i, lost = 0;

    ufs_msi_on(u);
    ufs_prep_nop(u, 0);
    for (i = 1; i <= 100; i++) {
        ufs_ring(u, 1);
        ufs_step(u, 1);
        g_assert_false(ufs_busy(u, 1));
        ufs_expect_good(u, 0);
        if (ufs_msi_taken(u)) {
            g_assert_cmpuint(i % 10, !=, 0);
            ufs_ack_all(u);
            continue;
        }
        g_assert_cmpuint(i % 10, ==, 0);
        lost++;
        g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
        /* Found by looking; the status may be left as it is, or not. */
        if (lost % 2) {
            ufs_ack_all(u);
        }
    }
    g_assert_cmpuint(lost, ==, 10);
    g_assert_cmpuint(ufs_stat(u, "faults.irq_dropped"), ==, lost);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 90);
    ufs_stop(u);
}

static void test_hold(void)
{
    Ufs *u = ufs_start_up(",hold-every=3");
    unsigned i;

    for (i = 0; i < 3; i++) {
        ufs_prep_nop(u, i);
    }
    ufs_ring(u, 0x7);
    ufs_step(u, INT64_C(60000000000));
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x4);
    g_assert_cmpuint(ufs_stat(u, "faults.held"), ==, 1);
    g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 1);
    ufs_write(u, A_UTRLCLR, ~0x4);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 1);
    /* The slot works again. */
    ufs_ring(u, 0x4);
    ufs_step(u, 1);
    ufs_expect_good(u, 2);
    ufs_stop(u);
}

static void test_clear(void)
{
    Ufs *u = ufs_start_up(",service-write-ns=50000");

    ufs_msi_on(u);
    ufs_fill(u, UFS_DATA(0), 4096, 3);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_prep_rw(u, 1, true, 1, 1);
    ufs_ring(u, 0x3);
    ufs_step(u, 1000);
    ufs_write(u, A_UTRLCLR, ~0x1);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x2);
    ufs_step(u, 200000);
    /* No answer, no notification, no interrupt of its own. */
    g_assert_cmphex(ufs_ocs(u, 0), ==, UFS_OCS_INVALID_COMMAND_STATUS);
    g_assert_cmphex(ufs_read(u, A_UTRLCNR), ==, 0x2);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 1);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 1);
    ufs_stop(u);
}

static void test_disable(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,irq-latency-ns=100000");
    unsigned i;

    for (i = 0; i < UFS_SLOTS; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    ufs_ring(u, UINT32_MAX);
    /* Some are done, their interrupt is under way, the others are not. */
    ufs_step(u, 3 * READ_NS);
    ufs_write(u, A_HCE, 0);
    g_assert_cmphex(ufs_read(u, A_HCE), ==, 0);
    g_assert_cmphex(ufs_read(u, A_HCS), ==, 0);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    ufs_step(u, 10000000);
    g_assert_false(ufs_intx(u));
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "requests.completed"), ==, 3);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 29);
    ufs_up(u);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_stop(u);
}

void add_timing_tests(void)
{
    qtest_add_func("/irqbed-ufs/time/due", test_due);
    qtest_add_func("/irqbed-ufs/time/units", test_units);
    qtest_add_func("/irqbed-ufs/time/units-free", test_units_free);
    qtest_add_func("/irqbed-ufs/time/slow-unit", test_slow_unit);
    qtest_add_func("/irqbed-ufs/time/order", test_order);
    qtest_add_func("/irqbed-ufs/irq/latency-intx", test_irq_latency_intx);
    qtest_add_func("/irqbed-ufs/irq/latency-msi", test_irq_latency_msi);
    qtest_add_func("/irqbed-ufs/irq/suppressed", test_suppressed);
    qtest_add_func("/irqbed-ufs/irq/late", test_late);
    qtest_add_func("/irqbed-ufs/irq/mask", test_mask);
    qtest_add_func("/irqbed-ufs/irq/edge", test_edge);
    qtest_add_func("/irqbed-ufs/irq/status-before-irq",
                   test_status_before_irq);
    qtest_add_func("/irqbed-ufs/irq/aggregation-window", test_window);
    qtest_add_func("/irqbed-ufs/irq/utriacr", test_utriacr);
    qtest_add_func("/irqbed-ufs/fault/drop", test_drop);
    qtest_add_func("/irqbed-ufs/fault/hold", test_hold);
    qtest_add_func("/irqbed-ufs/clear-slot", test_clear);
    qtest_add_func("/irqbed-ufs/disable-in-flight", test_disable);
}
