/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Queues: what the registers say, data both ways, wrapping, full and empty,
 * more entries than the device takes at once, and the doorbell beside them.
 */

#include "mcq-harness.h"

static void test_registers(void)
{
    Mcq *m = mcq_start(",mcq-maxq=5,queue-depth=200");
    uint32_t cap = mcq_read(m, A_MCQCAP);
    unsigned q;

    g_assert_cmphex(mcq_read(m, A_VER), ==, 0x400);
    g_assert_cmphex(mcq_read(m, A_CAP) & R_CAP_MCQS_MASK, ==,
                    R_CAP_MCQS_MASK);
    g_assert_cmpuint(mcq_read(m, A_CAP) & 0xff, ==, 199);
    g_assert_cmpuint(FIELD_EX32(cap, MCQCAP, MAXQ), ==, 4);
    g_assert_cmpuint(FIELD_EX32(cap, MCQCAP, QCFGPTR), ==, 2);
    g_assert_cmpuint(FIELD_EX32(cap, MCQCAP, RRP), ==, 1);
    for (q = 0; q < 5; q++) {
        g_assert_cmphex(mcq_read(m, MCQ_CFG(q, A_SQDAO)), ==,
                        MCQ_OP(q, sq.hp));
        g_assert_cmphex(mcq_read(m, MCQ_CFG(q, A_SQISAO)), ==,
                        MCQ_OP(q, sq_int.is));
        g_assert_cmphex(mcq_read(m, MCQ_CFG(q, A_CQDAO)), ==,
                        MCQ_OP(q, cq.hp));
        g_assert_cmphex(mcq_read(m, MCQ_CFG(q, A_CQISAO)), ==,
                        MCQ_OP(q, cq_int.is));
    }
    g_assert_cmpuint(ufs_stat(m->u, "guest_errors"), ==, 0);
    /* Of the sixth there is nothing. */
    mcq_read(m, MCQ_OP(5, sq.hp));
    mcq_read(m, MCQ_CFG(5, A_SQDAO));
    g_assert_cmpuint(ufs_stat(m->u, "guest_errors"), ==, 2);
    /* No more than there are. */
    mcq_up(m, 5, 4);
    g_assert_cmpuint(FIELD_EX32(mcq_read(m, A_MCQCONFIG), MCQCONFIG, MAC), ==,
                     199);
    mcq_stop(m);
}

static void test_off(void)
{
    Ufs *u = ufs_start_up("");

    g_assert_cmphex(ufs_read(u, A_VER), ==, 0x310);
    g_assert_cmphex(ufs_read(u, A_CAP) & R_CAP_MCQS_MASK, ==, 0);
    g_assert_cmphex(ufs_read(u, A_MCQCAP), ==, 0);
    ufs_write(u, A_CONFIG, 3);
    ufs_write(u, MCQ_CFG(0, A_CQATTR), UINT32_MAX);
    ufs_write(u, MCQ_OP(0, sq.tp), 32);
    g_assert_cmphex(ufs_read(u, A_CONFIG), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, 3);
    ufs_prep_nop(u, 0);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_stop(u);
}

static void test_read_write(void)
{
    Mcq *m = mcq_start_up(",service-write-ns=30000,service-read-ns=20000", 3,
                          8);
    Ufs *u = m->u;
    int64_t t;
    unsigned q;

    for (q = 0; q < 3; q++) {
        t = u->now;
        ufs_fill(u, UFS_DATA(q), 8192, q + 1);
        ufs_prep_rw(u, q, true, 2 * q, 2);
        mcq_submit(m, q, q);
        g_assert_cmpuint(mcq_read(m, MCQ_OP(q, sq.hp)), ==, MCQ_ENTRY);
        ufs_step_to(u, t + 29999);
        g_assert_cmpuint(mcq_pending(m, q), ==, 0);
        ufs_step_to(u, t + 30000);
        mcq_expect(m, q, q, q, UFS_OCS_SUCCESS);
    }
    for (q = 0; q < 3; q++) {
        ufs_fill(u, UFS_DATA(q), 8192, 0);
        ufs_prep_rw(u, q, false, 2 * (2 - q), 2);
        mcq_submit(m, q, q);
        ufs_step(u, 20000);
        mcq_expect(m, q, q, q, UFS_OCS_SUCCESS);
        ufs_check(u, UFS_DATA(q), 8192, 2 - q + 1);
    }
    /* A descriptor's own status stays what the driver wrote there. */
    g_assert_cmphex(qtest_readl(u->qts, MCQ_SQ(0) + 8), ==,
                    UFS_OCS_INVALID_COMMAND_STATUS);
    g_assert_cmpuint(ufs_stat(u, "requests.completed"), ==, 6);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, 0);
    mcq_stop(m);
}

/* Every entry of both rings is used in turn, whatever the depth. */
static void test_wrap(void)
{
    static const unsigned depths[] = { 2, 3, 33, 1024 };
    Mcq *m = mcq_start("");
    unsigned i, n;

    for (i = 0; i < G_N_ELEMENTS(depths); i++) {
        mcq_write(m, A_HCE, 0);
        mcq_up(m, 1, depths[i]);
        for (n = 0; n < MIN(3 * depths[i], 1100); n++) {
            ufs_prep_nop(m->u, n % 32);
            mcq_submit(m, 0, n % 32);
            ufs_step(m->u, 1);
            mcq_expect(m, 0, 0, n % 32, UFS_OCS_SUCCESS);
        }
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.hp)), ==, m->tail[0]);
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq.tp)), ==, m->head[0]);
    }
    mcq_stop(m);
}

/*
 * A full completion queue: nothing in it is overwritten, what does not fit
 * waits, also behind what another queue has to say, and comes in order.
 */
static void test_cq_full(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=1000", 2, 16);
    UfsCqEntry first, entry;
    unsigned i, seen = 0;

    mcq_write(m, MCQ_CFG(0, A_SQATTR), 0);
    mcq_write(m, MCQ_CFG(0, A_CQATTR), 0);
    mcq_create_cq(m, 0, 4);
    mcq_create_sq(m, 0, 16, 0);
    for (i = 0; i < 10; i++) {
        ufs_prep_rw(m->u, i, false, i, 1);
        mcq_put(m, 0, i);
    }
    mcq_ring(m, 0);
    ufs_step(m->u, 20000);
    /* 4 entries, of which 3 can be used. */
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq.tp)), ==, 3 * MCQ_ENTRY);
    g_assert_cmpuint(ufs_stat(m->u, "requests.completed"), ==, 3);
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 7);
    qtest_memread(m->u->qts, MCQ_CQ(0), &first, sizeof(first));
    g_assert_cmpuint(mcq_slot(&first), ==, 0);
    /* The other queue is not held up. */
    ufs_prep_rw(m->u, 20, false, 0, 1);
    mcq_submit(m, 1, 20);
    ufs_step(m->u, 1000);
    mcq_expect(m, 1, 1, 20, UFS_OCS_SUCCESS);
    /* Nor may a head that goes past the tail make room. */
    mcq_expect_guest_errors(m, 0);
    mcq_write(m, MCQ_OP(0, cq.hp), 4 * MCQ_ENTRY);
    mcq_write(m, MCQ_OP(0, cq.hp), 5);
    mcq_expect_guest_errors(m, 2);
    m->bytes = 4 * MCQ_ENTRY;
    while (seen < 10) {
        g_assert_cmpuint(mcq_pending(m, 0), ==, MIN(3, 10 - seen));
        entry = mcq_pop(m, 0);
        g_assert_cmpuint(mcq_slot(&entry), ==, seen++);
        if (seen % 2 == 0 || seen >= 8) {
            mcq_head(m, 0);
        } else {
            entry = mcq_pop(m, 0);
            g_assert_cmpuint(mcq_slot(&entry), ==, seen++);
            mcq_head(m, 0);
        }
        ufs_step(m->u, 1);
    }
    g_assert_cmpuint(mcq_pending(m, 0), ==, 0);
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 0);
    mcq_stop(m);
}

/* More entries than requests: they stay in their queues, and take turns. */
static void test_starved(void)
{
    Mcq *m = mcq_start_up(",service-other-ns=1000,queue-depth=4", 3, 16);
    unsigned i, q, left;

    for (q = 0; q < 3; q++) {
        for (i = 0; i < 8; i++) {
            ufs_prep_nop(m->u, q * 8 + i);
            mcq_put(m, q, q * 8 + i);
        }
        mcq_ring(m, q);
    }
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 4);
    g_assert_cmpuint(mcq_read(m, MCQ_OP(0, sq.hp)), ==, 4 * MCQ_ENTRY);
    g_assert_cmpuint(mcq_read(m, MCQ_OP(1, sq.hp)), ==, 0);
    for (left = 20; left; left -= 4) {
        ufs_step(m->u, 1000);
        g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 4);
    }
    ufs_step(m->u, 1000);
    g_assert_cmpuint(ufs_stat(m->u, "requests.completed"), ==, 24);
    for (q = 0; q < 3; q++) {
        for (i = 0; i < 8; i++) {
            mcq_expect(m, q, q, q * 8 + i, UFS_OCS_SUCCESS);
        }
    }
    mcq_stop(m);
}

/* MCQCONFIG.MAC bounds what the device takes; 0-based. */
static void test_mac(void)
{
    Mcq *m = mcq_start_up(",service-other-ns=1000,queue-depth=255", 1, 256);
    unsigned i;

    mcq_write(m, A_MCQCONFIG, 2 << 8);
    for (i = 0; i < 100; i++) {
        ufs_prep_nop(m->u, i);
        mcq_put(m, 0, i);
    }
    mcq_ring(m, 0);
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 3);
    mcq_write(m, A_MCQCONFIG, 0xff << 8);
    ufs_step(m->u, 1000);
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), ==, 97);
    ufs_step(m->u, 1000);
    for (i = 0; i < 100; i++) {
        mcq_expect(m, 0, 0, i, UFS_OCS_SUCCESS);
    }
    mcq_stop(m);
}

/* 32 submission queues, one completion queue, which says whose entry it is. */
static void test_shared_cq(void)
{
    Mcq *m = mcq_start(",mcq-maxq=32");
    unsigned q;

    mcq_up(m, 0, 64);
    mcq_create_cq(m, 7, 64);
    for (q = 0; q < 32; q++) {
        mcq_create_sq(m, q, 64, 7);
        ufs_prep_nop(m->u, q);
        mcq_submit(m, q, q);
    }
    ufs_step(m->u, 1);
    for (q = 0; q < 32; q++) {
        mcq_expect(m, 7, q, q, UFS_OCS_SUCCESS);
    }
    g_assert_cmpuint(ufs_stat(m->u, "guest_errors"), ==, 0);
    mcq_stop(m);
}

/* The command's own errors come in the entry; those of memory as SBFES. */
static void test_errors(void)
{
    Mcq *m = mcq_start_up("", 1, 8);

    ufs_prep_rw(m->u, 0, false, 0, 1);
    ufs_set_utrd(m->u, 0, 7, UFS_PRDT_OFF / 4 << 16 | 0);
    mcq_submit(m, 0, 0);
    ufs_step(m->u, 1);
    mcq_expect(m, 0, 0, 0, UFS_OCS_MISMATCH_DATA_BUF_SIZE);
    ufs_prep_rw(m->u, 0, false, 0x00ffffff, 1);
    mcq_submit(m, 0, 0);
    ufs_step(m->u, 1);
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    /* The status in the response: CHECK CONDITION. */
    g_assert_cmphex(qtest_readb(m->u->qts, UFS_UCD(0) + UFS_RSP_OFF + 7), ==,
                    CHECK_CONDITION);
    g_assert_cmpuint(ufs_stat(m->u, "requests.failed"), ==, 2);
    mcq_stop(m);
}

/* mcq=on, but the driver stays with the doorbell. */
static void test_doorbell(void)
{
    Ufs *u = ufs_start_up(",mcq=on,queue-depth=64,service-read-ns=20000");

    mcq_expect_guest_errors(&(Mcq) { .u = u }, 0);
    ufs_write(u, MCQ_OP(0, sq.tp), 32);
    mcq_expect_guest_errors(&(Mcq) { .u = u }, 1);
    ufs_prep_rw(u, 31, false, 0, 1);
    ufs_ring(u, BIT(31));
    ufs_step(u, 19999);
    g_assert_true(ufs_busy(u, BIT(31)));
    /* Not now. */
    ufs_write(u, A_CONFIG, 1);
    g_assert_cmphex(ufs_read(u, A_CONFIG), ==, 0);
    ufs_step(u, 1);
    g_assert_false(ufs_busy(u, BIT(31)));
    ufs_expect_good(u, 31);
    g_assert_true(ufs_intx(u));
    /* With queues it is the other way round. */
    ufs_write(u, A_CONFIG, 1);
    ufs_ring(u, 1);
    g_assert_false(ufs_busy(u, 1));
    ufs_stop(u);
}

static void test_create(void)
{
    Mcq *m = mcq_start(",service-other-ns=1000");

    mcq_up(m, 0, 8);
    mcq_expect_guest_errors(m, 0);
    /* No completion queue yet; none of this number. */
    mcq_create_sq(m, 0, 8, 1);
    mcq_create_sq(m, 0, 8, 8);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(0, A_SQATTR)), ==, 0);
    /* A queue of one entry is always empty, or full. */
    mcq_create_cq(m, 1, 1);
    mcq_expect_guest_errors(m, 3);
    mcq_create_cq(m, 1, 8);
    mcq_create_sq(m, 0, 8, 1);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(0, A_SQATTR)), ==, 0x80010000 | 63);
    /* In use: neither base nor queue goes away. */
    mcq_write(m, MCQ_CFG(0, A_SQLBA), 0x10000);
    mcq_write(m, MCQ_CFG(1, A_CQUBA), 1);
    mcq_write(m, MCQ_CFG(1, A_CQATTR), 0);
    mcq_write(m, MCQ_CFG(0, A_SQATTR), 1u << 31 | 15);
    mcq_expect_guest_errors(m, 4);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(0, A_SQLBA)), ==, MCQ_SQ(0));
    ufs_prep_nop(m->u, 0);
    mcq_submit(m, 0, 0);
    /* The submission queue may go, what it gave is still answered. */
    mcq_write(m, MCQ_CFG(0, A_SQATTR), 0);
    mcq_write(m, MCQ_CFG(1, A_CQATTR), 0);
    mcq_expect_guest_errors(m, 1);
    ufs_step(m->u, 1000);
    mcq_expect(m, 1, 0, 0, UFS_OCS_SUCCESS);
    mcq_write(m, MCQ_CFG(1, A_CQATTR), 0);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(1, A_CQATTR)), ==, 0);
    mcq_stop(m);
}

void add_queue_tests(void)
{
    qtest_add_func("/irqbed-mcq/registers", test_registers);
    qtest_add_func("/irqbed-mcq/off", test_off);
    qtest_add_func("/irqbed-mcq/read-write", test_read_write);
    qtest_add_func("/irqbed-mcq/wrap", test_wrap);
    qtest_add_func("/irqbed-mcq/cq-full", test_cq_full);
    qtest_add_func("/irqbed-mcq/starved", test_starved);
    qtest_add_func("/irqbed-mcq/mac", test_mac);
    qtest_add_func("/irqbed-mcq/shared-cq", test_shared_cq);
    qtest_add_func("/irqbed-mcq/errors", test_errors);
    qtest_add_func("/irqbed-mcq/doorbell", test_doorbell);
    qtest_add_func("/irqbed-mcq/create", test_create);
}
