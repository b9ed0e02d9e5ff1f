/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * With the host's clock a request is fetched some time after it was rung.  Task
 * management, clearing and a change of mode in between: what was rung belongs
 * to the device, and once a function says that it is over nothing of it is seen
 * any more.  (An aborted write may be on the medium, as it may anywhere.)
 *
 * The machine stands still, so "in between" is as long as the test wants.
 */

#include "mcq-harness.h"

#define COMPLETE  UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL
#define SUCCEEDED UFS_UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED

/* A write of slot 3, rung; the image is all zeroes. */
static void ring_write(Ufs *u)
{
    ufs_fill(u, UFS_DATA(3), UFS_BLOCK, 7);
    ufs_prep_rw(u, 3, true, 5, 1);
    ufs_ring(u, BIT(3));
    g_assert_true(ufs_busy(u, BIT(3)));
}

/* A read of slot 3, rung; 0xee is what it must not overwrite. */
static void ring_read(Ufs *u)
{
    qtest_memset(u->qts, UFS_DATA(3), 0xee, UFS_BLOCK);
    ufs_prep_rw(u, 3, false, 5, 1);
    ufs_ring(u, BIT(3));
    g_assert_true(ufs_busy(u, BIT(3)));
}

static void expect_untouched(Ufs *u)
{
    UtpUpiuRsp rsp;

    ufs_response(u, 3, &rsp);
    g_assert_cmphex(rsp.header.trans_type, ==, 0);
    g_assert_cmphex(qtest_readl(u->qts, UFS_DATA(3)), ==, 0xeeeeeeee);
}

/* A read of slot 4 by doorbell, after which all before it is over, too. */
static void read_back(Ufs *u, bool written)
{
    qtest_memset(u->qts, UFS_DATA(4), 0xee, UFS_BLOCK);
    ufs_prep_rw(u, 4, false, 5, 1);
    ufs_ring(u, BIT(4));
    ufs_go(u);
    ufs_wait(u, A_UTRLDBR, 0);
    ufs_expect_good(u, 4);
    if (written) {
        ufs_check(u, UFS_DATA(4), UFS_BLOCK, 7);
    } else {
        g_assert_cmphex(qtest_readl(u->qts, UFS_DATA(4)), ==, 0);
    }
}

static void test_still(void)
{
    Ufs *u = ufs_start_still("");

    ufs_up(u);
    ring_write(u);
    /* That this is the order the others are about. */
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 0);
    ufs_go(u);
    ufs_wait(u, A_UTRLDBR, 0);
    ufs_expect_good(u, 3);
    read_back(u, true);
    ufs_stop(u);
}

static void task_before_fetch(uint8_t function)
{
    Ufs *u = ufs_start_still("");

    ufs_up(u);
    ring_read(u);
    g_assert_cmphex(ufs_task(u, function, 0, 3), ==, COMPLETE);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 1);
    g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
    /* Its slot is the controller's until the driver takes it. */
    g_assert_true(ufs_busy(u, BIT(3)));
    g_assert_cmphex(ufs_ocs(u, 3), ==, UFS_OCS_INVALID_COMMAND_STATUS);
    ufs_write(u, A_UTRLCLR, ~(uint32_t)BIT(3));
    read_back(u, false);
    g_assert_cmphex(ufs_ocs(u, 3), ==, UFS_OCS_INVALID_COMMAND_STATUS);
    expect_untouched(u);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 2);
    ufs_stop(u);
}

static void test_abort(void)
{
    task_before_fetch(UFS_ABORT_TASK);
}

static void test_abort_set(void)
{
    task_before_fetch(UFS_ABORT_TASK_SET);
}

static void test_clear_set(void)
{
    task_before_fetch(UFS_CLEAR_TASK_SET);
}

static void test_lu_reset(void)
{
    task_before_fetch(UFS_LOGICAL_RESET);
}

static void test_query_task(void)
{
    Ufs *u = ufs_start_still(",service-write-ns=1000000");

    ufs_up(u);
    ring_write(u);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 3), ==, SUCCEEDED);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK_SET, 0, 0), ==, SUCCEEDED);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 2), ==, COMPLETE);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK_SET, 1, 0), ==, COMPLETE);
    read_back(u, true);
    ufs_stop(u);
}

/* UTRLCLR alone: never fetched. */
static void test_clear(void)
{
    Ufs *u = ufs_start_still("");

    ufs_up(u);
    ring_write(u);
    ufs_write(u, A_UTRLCLR, ~(uint32_t)BIT(3));
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    read_back(u, false);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 1);
    ufs_stop(u);
}

static void test_disable(void)
{
    Ufs *u = ufs_start_still("");

    ufs_up(u);
    ring_write(u);
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
    read_back(u, false);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 1);
    ufs_stop(u);
}

/* From the first moment that time passes. */
static void link_goes_down(Ufs *u)
{
    g_autofree char *error = ufs_set_word(u, "ufs0", "inject",
                                          "id=a,at-ns=0,fault=link-down");

    g_assert_cmpstr(error, ==, NULL);
}

/* Nothing gets to the device any more: no fetch, no answer. */
static void expect_no_link(Ufs *u)
{
    ufs_go(u);
    ufs_wait(u, A_IS, R_IS_ULLS_MASK);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 0);
    expect_untouched(u);
}

static void test_link_down(void)
{
    Ufs *u = ufs_start_still("");

    ufs_up(u);
    link_goes_down(u);
    ring_read(u);
    expect_no_link(u);
    g_assert_true(ufs_busy(u, BIT(3)));
    ufs_write(u, A_UTRLCLR, ~(uint32_t)BIT(3));
    g_assert_false(ufs_busy(u, BIT(3)));
    ufs_stop(u);
}

/* What was rung by doorbell is in flight: no queues yet. */
static void test_mode(void)
{
    Ufs *u = ufs_start_still(",mcq=on");

    ufs_up(u);
    ring_write(u);
    ufs_write(u, A_CONFIG, 1);
    g_assert_cmphex(ufs_read(u, A_CONFIG), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, 1);
    read_back(u, true);
    ufs_write(u, A_CONFIG, 1);
    g_assert_cmphex(ufs_read(u, A_CONFIG), ==, 1);
    ufs_stop(u);
}

/* Saved in between, it is fetched where it is restored. */
static void test_migrate(void)
{
    Ufs *u = ufs_start_still("");

    ufs_up(u);
    ring_write(u);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 0);
    ufs_migrate(u, "");
    ufs_step(u, 1);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 1);
    g_assert_false(ufs_busy(u, BIT(3)));
    ufs_expect_good(u, 3);
    ufs_ack_all(u);
    qtest_memset(u->qts, UFS_DATA(4), 0xee, UFS_BLOCK);
    ufs_prep_rw(u, 4, false, 5, 1);
    ufs_run(u, 4);
    ufs_check(u, UFS_DATA(4), UFS_BLOCK, 7);
    g_assert_cmpuint(ufs_stat(u, "requests.completed"), ==, 2);
    ufs_stop(u);
}

/* A read of slot 3, rung in queue 0. */
static Mcq *still_queue(void)
{
    Mcq *m = g_new0(Mcq, 1);

    m->u = ufs_start_still(",mcq=on,service-read-ns=1000000");
    mcq_up(m, 1, 8);
    qtest_memset(m->u->qts, UFS_DATA(3), 0xee, UFS_BLOCK);
    ufs_prep_rw(m->u, 3, false, 5, 1);
    mcq_submit(m, 0, 3);
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), ==, 0);
    return m;
}

static void test_queue_link_down(void)
{
    Mcq *m = g_new0(Mcq, 1);

    m->u = ufs_start_still(",mcq=on");
    mcq_up(m, 1, 8);
    link_goes_down(m->u);
    qtest_memset(m->u->qts, UFS_DATA(3), 0xee, UFS_BLOCK);
    ufs_prep_rw(m->u, 3, false, 5, 1);
    mcq_submit(m, 0, 3);
    expect_no_link(m->u);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.hp)), ==, 0);
    mcq_stop(m);
}

/* Another read through the queue is the only answer. */
static void queue_goes_on(Mcq *m)
{
    Ufs *u = m->u;

    ufs_prep_rw(u, 4, false, 5, 1);
    mcq_submit(m, 0, 4);
    ufs_go(u);
    ufs_wait(u, MCQ_OP(0, cq.tp), (m->head[0] + MCQ_ENTRY) % m->bytes);
    mcq_expect(m, 0, 0, 4, UFS_OCS_SUCCESS);
    expect_untouched(u);
}

static void test_queue_abort(void)
{
    Mcq *m = still_queue();

    g_assert_cmphex(ufs_task(m->u, UFS_QUERY_TASK, 0, 3), ==, SUCCEEDED);
    g_assert_cmphex(ufs_task(m->u, UFS_ABORT_TASK, 0, 3), ==, COMPLETE);
    g_assert_cmpuint(ufs_stat(m->u, "requests.aborted"), ==, 1);
    queue_goes_on(m);
    /* Its place comes back by clean-up, once. */
    mcq_write(m, MCQ_OP(0, sq.rtc), MCQ_STP);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 3), ==, 0);
    mcq_expect(m, 0, 0, 3, UFS_OCS_ABORTED);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 3), ==, 1);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 0);
    mcq_stop(m);
}

static void test_queue_lu_reset(void)
{
    Mcq *m = still_queue();

    g_assert_cmphex(ufs_task(m->u, UFS_LOGICAL_RESET, 0, 0), ==, COMPLETE);
    g_assert_cmpuint(ufs_stat(m->u, "requests.aborted"), ==, 1);
    queue_goes_on(m);
    mcq_stop(m);
}

/* A driver's own way: stop, look, clean up; not a task of the device yet. */
static void test_queue_cleanup(void)
{
    Mcq *m = still_queue();

    mcq_write(m, MCQ_OP(0, sq.rtc), MCQ_STP);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.hp)), ==, 0);
    g_assert_cmphex(ufs_task(m->u, UFS_ABORT_TASK, 0, 3), ==, COMPLETE);
    g_assert_cmpuint(ufs_stat(m->u, "requests.aborted"), ==, 0);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 3), ==, 0);
    mcq_expect(m, 0, 0, 3, UFS_OCS_ABORTED);
    mcq_write(m, MCQ_OP(0, sq.rtc), 0);
    queue_goes_on(m);
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), ==, 1);
    mcq_stop(m);
}

void add_host_clock_tests(void)
{
    qtest_add_func("/irqbed-mcq/host-clock/still", test_still);
    qtest_add_func("/irqbed-mcq/host-clock/abort", test_abort);
    qtest_add_func("/irqbed-mcq/host-clock/abort-set", test_abort_set);
    qtest_add_func("/irqbed-mcq/host-clock/clear-set", test_clear_set);
    qtest_add_func("/irqbed-mcq/host-clock/lu-reset", test_lu_reset);
    qtest_add_func("/irqbed-mcq/host-clock/query-task", test_query_task);
    qtest_add_func("/irqbed-mcq/host-clock/clear", test_clear);
    qtest_add_func("/irqbed-mcq/host-clock/disable", test_disable);
    qtest_add_func("/irqbed-mcq/host-clock/link-down", test_link_down);
    qtest_add_func("/irqbed-mcq/host-clock/mode", test_mode);
    qtest_add_func("/irqbed-mcq/host-clock/migrate", test_migrate);
    qtest_add_func("/irqbed-mcq/host-clock/queue-abort", test_queue_abort);
    qtest_add_func("/irqbed-mcq/host-clock/queue-lu-reset",
                   test_queue_lu_reset);
    qtest_add_func("/irqbed-mcq/host-clock/queue-cleanup",
                   test_queue_cleanup);
    qtest_add_func("/irqbed-mcq/host-clock/queue-link-down",
                   test_queue_link_down);
}
