/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Stop, start and clean-up of submission queues, task management, and host
 * controller disable with requests in flight.
 */

#include "mcq-harness.h"

/* UFSHCI 4.0, SQRTS.RTC */
enum {
    DONE,
    NOT_FOUND,
    NOT_STOPPED,
    DISABLED,
};

static void sq_stop(Mcq *m, unsigned q)
{
    mcq_write(m, MCQ_OP(q, sq.rtc), MCQ_STP);
    g_assert_cmphex(mcq_read(m, MCQ_OP(q, sq.rts)) & MCQ_STS, ==, MCQ_STS);
}

static void sq_start(Mcq *m, unsigned q)
{
    mcq_write(m, MCQ_OP(q, sq.rtc), 0);
    g_assert_cmphex(mcq_read(m, MCQ_OP(q, sq.rts)), ==, 0);
}

static void test_stop_start(void)
{
    Mcq *m = mcq_start_up(",service-other-ns=1000", 1, 8);

    ufs_prep_nop(m->u, 0);
    ufs_prep_nop(m->u, 1);
    mcq_submit(m, 0, 0);
    sq_stop(m, 0);
    mcq_submit(m, 0, 1);
    ufs_step(m->u, 5000);
    /* What was fetched is answered, what came after it is not fetched. */
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    g_assert_cmpuint(mcq_read(m, MCQ_OP(0, sq.hp)), ==, MCQ_ENTRY);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 0);
    sq_start(m, 0);
    ufs_step(m->u, 1000);
    mcq_expect(m, 0, 0, 1, UFS_OCS_SUCCESS);
    mcq_stop(m);
}

/* As drivers do it: in the device, in the queue, and nowhere. */
static void test_cleanup(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=100000", 2, 8);
    unsigned i;

    ufs_step(m->u, 1);
    for (i = 0; i < 4; i++) {
        ufs_prep_rw(m->u, i, false, i, 1);
    }
    mcq_submit(m, 0, 0);
    mcq_submit(m, 0, 1);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 1), ==, NOT_STOPPED);
    g_assert_cmpint(mcq_cleanup(m, 5, 0, 1), ==, DISABLED);
    sq_stop(m, 0);
    mcq_submit(m, 0, 2);
    mcq_submit(m, 0, 3);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 9), ==, NOT_FOUND);
    g_assert_cmpint(mcq_cleanup(m, 0, 1, 1), ==, NOT_FOUND);
    /* In the device: answered at once, as aborted. */
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 1), ==, DONE);
    mcq_expect(m, 0, 0, 1, UFS_OCS_ABORTED);
    g_assert_cmpuint(ufs_stat(m->u, "requests.aborted"), ==, 1);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 1), ==, NOT_FOUND);
    /* Found by UFS drivers: ICU without STP starts the queue again. */
    mcq_write(m, MCQ_OP(1, sq.rtc), MCQ_STP);
    mcq_write(m, MCQ_OP(1, sq.rtc), MCQ_ICU);
    g_assert_cmphex(mcq_read(m, MCQ_OP(1, sq.rts)), ==,
                    MCQ_CUS | NOT_STOPPED << 4);
    /* Still in the queue: likewise, and never fetched. */
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 2), ==, DONE);
    mcq_expect(m, 0, 0, 2, UFS_OCS_ABORTED);
    sq_start(m, 0);
    ufs_step(m->u, 500000);
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    mcq_expect(m, 0, 0, 3, UFS_OCS_SUCCESS);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 0);
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), ==, 3);
    g_assert_cmpuint(ufs_stat(m->u, "guest_errors"), ==, 0);
    mcq_stop(m);
}

/* A driver's way of taking back an entry: its command type becomes Fh. */
static void test_nullified(void)
{
    Mcq *m = mcq_start_up("", 1, 8);

    ufs_prep_nop(m->u, 0);
    ufs_prep_nop(m->u, 1);
    sq_stop(m, 0);
    mcq_put(m, 0, 0);
    mcq_submit(m, 0, 1);
    qtest_writel(m->u->qts, MCQ_SQ(0), MCQ_NULLIFIED);
    sq_start(m, 0);
    ufs_step(m->u, 1);
    mcq_expect(m, 0, 0, 1, UFS_OCS_SUCCESS);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 0);
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), ==, 1);
    mcq_stop(m);
}

/* The answer of a clean-up overwrites nothing either. */
static void test_cleanup_full(void)
{
    Mcq *m = mcq_start_up(",service-other-ns=1000,hold-every=3", 1, 3);
    unsigned i;

    for (i = 0; i < 3; i++) {
        ufs_prep_nop(m->u, i);
        mcq_submit(m, 0, i);
        ufs_step(m->u, 1000);
    }
    g_assert_cmpuint(mcq_pending(m, 0), ==, 2);
    sq_stop(m, 0);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 2), ==, -1);
    ufs_step(m->u, 1000);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.rts)), ==, MCQ_STS);
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.rts)), ==, MCQ_STS | MCQ_CUS);
    mcq_expect(m, 0, 0, 1, UFS_OCS_SUCCESS);
    mcq_expect(m, 0, 0, 2, UFS_OCS_ABORTED);
    sq_start(m, 0);
    mcq_stop(m);
}

/* An aborted task is given up; its place comes back by clean-up. */
static void test_tasks(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=1000,hold-every=2,queue-depth=40,"
                          "hold-until=lu-reset", 2, 8);

    mcq_write(m, A_IE, R_IE_CQEE_MASK | R_IE_UTMRCE_MASK);
    ufs_prep_rw(m->u, 3, false, 0, 1);
    ufs_prep_rw(m->u, 35, false, 1, 1);
    mcq_submit(m, 0, 3);
    mcq_submit(m, 1, 35);
    ufs_step(m->u, 5000);
    mcq_expect(m, 0, 0, 3, UFS_OCS_SUCCESS);
    g_assert_cmphex(ufs_task(m->u, UFS_QUERY_TASK, 0, 35), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED);
    g_assert_cmphex(ufs_task(m->u, UFS_ABORT_TASK, 0, 35), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_FAILED);
    g_assert_cmphex(ufs_task(m->u, UFS_LOGICAL_RESET, 0, 0), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    g_assert_cmphex(ufs_task(m->u, UFS_QUERY_TASK, 0, 35), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    g_assert_cmpuint(mcq_pending(m, 1), ==, 0);
    sq_stop(m, 1);
    g_assert_cmpint(mcq_cleanup(m, 1, 0, 35), ==, DONE);
    mcq_expect(m, 1, 1, 35, UFS_OCS_ABORTED);
    g_assert_cmpuint(ufs_stat(m->u, "requests.aborted"), ==, 1);
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 0);
    mcq_stop(m);
}

/* HCE = 0 at any moment: nothing comes any more, and all of it works again. */
static void test_disable(void)
{
    Mcq *m = mcq_start(",service-other-ns=1000,queue-depth=8,hold-every=5");
    unsigned i, round;

    for (round = 0; round < 4; round++) {
        mcq_up(m, 2, 4);
        for (i = 0; i < 3; i++) {
            ufs_prep_nop(m->u, i);
            mcq_put(m, 0, i);
            mcq_put(m, 1, i);
        }
        mcq_ring(m, 0);
        mcq_ring(m, 1);
        ufs_step(m->u, 1 + round * 500);
        sq_stop(m, 1);
        mcq_write(m, A_HCE, 0);
        g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 0);
        g_assert_cmphex(mcq_read(m, A_CONFIG), ==, 0);
        g_assert_cmphex(mcq_read(m, MCQ_CFG(0, A_SQATTR)), ==, 0);
        g_assert_cmphex(mcq_read(m, MCQ_OP(1, sq.rts)), ==, 0);
        g_assert_cmphex(mcq_read(m, MCQ_OP(1, sq.tp)), ==, 0);
        ufs_step(m->u, 1000000);
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq.tp)), ==, 0);
        g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    }
    mcq_stop(m);
}

void add_control_tests(void)
{
    qtest_add_func("/irqbed-mcq/stop-start", test_stop_start);
    qtest_add_func("/irqbed-mcq/cleanup", test_cleanup);
    qtest_add_func("/irqbed-mcq/nullified", test_nullified);
    qtest_add_func("/irqbed-mcq/cleanup-full", test_cleanup_full);
    qtest_add_func("/irqbed-mcq/tasks", test_tasks);
    qtest_add_func("/irqbed-mcq/disable-in-flight", test_disable);
}
