/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interrupts of queues: IS.CQES, CQIS and CQIE; a message for each queue, by
 * MSI-X or to the address the driver gives; MCQIACR; and the line as level or
 * as edge.  Cases is-edge-level, aggregation-window and status-before-irq.
 */

#include "mcq-harness.h"

#define READ_NS 20000

static void submit_read(Mcq *m, unsigned q, unsigned slot)
{
    ufs_prep_rw(m->u, slot, false, slot, 1);
    mcq_submit(m, q, slot);
}

/* Without the I bit: what an aggregation window counts. */
static void submit_counted(Mcq *m, unsigned q, unsigned slot)
{
    ufs_prep_rw(m->u, slot, false, slot, 1);
    ufs_set_utrd(m->u, slot, 0, 1u << 28 | UFS_UTP_DEVICE_TO_HOST);
    mcq_submit(m, q, slot);
}

/* IS.CQES is there for as long as an enabled CQIS is. */
static void test_cqes(void)
{
    Mcq *m = mcq_start_up("", 2, 8);
    Ufs *u = m->u;

    submit_read(m, 0, 0);
    submit_read(m, 1, 1);
    ufs_step(u, 1);
    g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_CQES_MASK);
    g_assert_true(ufs_intx(u));
    mcq_write(m, A_IS, UINT32_MAX);
    g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_CQES_MASK);
    mcq_write(m, MCQ_OP(0, cq_int.is), 1);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq_int.is)), ==, 0);
    g_assert_cmphex(mcq_read(m, MCQ_OP(1, cq_int.is)), ==, 1);
    g_assert_true(ufs_intx(u));
    mcq_write(m, MCQ_OP(1, cq_int.ie), 0);
    g_assert_false(ufs_intx(u));
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    mcq_write(m, MCQ_OP(1, cq_int.ie), 1);
    g_assert_true(ufs_intx(u));
    mcq_write(m, MCQ_OP(1, cq_int.is), 1);
    g_assert_false(ufs_intx(u));
    /* A polled queue: everything but the interrupt. */
    mcq_write(m, MCQ_OP(0, cq_int.ie), 0);
    mcq_head(m, 0);
    submit_read(m, 0, 2);
    ufs_step(u, 1);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 2);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq_int.is)), ==, 1);
    g_assert_false(ufs_intx(u));
    mcq_stop(m);
}

static void test_msi(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,irq-latency-ns=3000", 2, 8);
    Ufs *u = m->u;

    ufs_msi_on(u);
    ufs_step(u, 1);
    submit_read(m, 0, 0);
    ufs_step(u, READ_NS + 2999);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 1);
    g_assert_false(ufs_msi_taken(u));
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    submit_read(m, 1, 1);
    ufs_step(u, READ_NS + 3000);
    g_assert_true(ufs_msi_taken(u));
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 2);
    mcq_stop(m);
}

/* CONFIG.ESIE with MSI-X: each queue by itself, the controller on vector 0. */
static void test_msix(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,irq-mode=msix,mcq-maxq=32,"
                          "units=8", 32, 8);
    Ufs *u = m->u;
    unsigned q;

    g_assert_cmpuint(qpci_msix_table_size(u->dev), ==, 33);
    mcq_msix_on(m);
    /* Not asked for: all on vector 0. */
    submit_read(m, 5, 0);
    ufs_step(u, READ_NS);
    g_assert_true(mcq_msg_taken(m, 0));
    g_assert_false(mcq_msg_taken(m, 6));
    mcq_expect(m, 5, 5, 0, UFS_OCS_SUCCESS);

    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    for (q = 0; q < 32; q++) {
        submit_read(m, q, q);
        ufs_step(u, READ_NS);
        g_assert_true(mcq_msg_taken(m, 1 + q));
        /* Not cleared: no other, and nobody else is told. */
        submit_read(m, q, q);
        ufs_step(u, READ_NS);
        g_assert_false(mcq_msg_taken(m, 1 + q));
        g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
        g_assert_false(mcq_msg_taken(m, 0));
        mcq_expect(m, q, q, q, UFS_OCS_SUCCESS);
        mcq_expect(m, q, q, q, UFS_OCS_SUCCESS);
    }
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 1 + 32);
    g_assert_cmpuint(ufs_stat(u, "irq.coalesced"), ==, 32);
    /* Task management and the like stay with vector 0. */
    mcq_write(m, A_IE, R_IE_UTMRCE_MASK);
    ufs_task(u, UFS_QUERY_TASK_SET, 0, 0);
    g_assert_true(mcq_msg_taken(m, 0));
    mcq_stop(m);
}

/* CONFIG.ESIE without MSI-X: the queue's number to ESIUBA:ESILBA. */
static void test_esi(void)
{
    Mcq *m = mcq_start_up("", 3, 8);
    Ufs *u = m->u;

    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    mcq_write(m, offsetof(UfsReg, esilba), UFS_MSI_ADDR);
    mcq_write(m, offsetof(UfsReg, esiuba), 0);
    qtest_writel(u->qts, UFS_MSI_ADDR, 0xffff);
    submit_read(m, 2, 0);
    ufs_step(u, 1);
    g_assert_cmphex(qtest_readl(u->qts, UFS_MSI_ADDR), ==, 2);
    submit_read(m, 0, 1);
    ufs_step(u, 1);
    g_assert_cmphex(qtest_readl(u->qts, UFS_MSI_ADDR), ==, 0);
    g_assert_false(ufs_intx(u));
    mcq_expect(m, 2, 2, 0, UFS_OCS_SUCCESS);
    mcq_expect(m, 0, 0, 1, UFS_OCS_SUCCESS);
    mcq_stop(m);
}

/* Depth 1, 20 completions or 200 us: 220 us.  Depth 32, 8: by count. */
static void test_window(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,irq-mode=msix", 2, 64);
    Ufs *u = m->u;
    unsigned i;
    int64_t t;

    mcq_msix_on(m);
    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    mcq_write(m, MCQ_CFG(0, A_CQCFG), MCQ_IAGVLD);
    mcq_write(m, MCQ_OP(0, cq_int.iacr), 1u << 31 | 1 << 24 | 20 << 8 | 5);
    ufs_step(u, 1);
    t = u->now;
    submit_counted(m, 0, 0);
    ufs_step_to(u, t + READ_NS);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 1);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq_int.iacr)) & BIT(20), ==,
                    BIT(20));
    ufs_step_to(u, t + READ_NS + 199999);
    g_assert_false(mcq_msg_taken(m, 1));
    ufs_step_to(u, t + READ_NS + 200000);
    g_assert_true(mcq_msg_taken(m, 1));
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    /* The other queue has no window. */
    submit_counted(m, 1, 1);
    ufs_step(u, READ_NS);
    g_assert_true(mcq_msg_taken(m, 2));
    mcq_expect(m, 1, 1, 1, UFS_OCS_SUCCESS);
    /* A command with the I bit passes it by. */
    submit_read(m, 0, 0);
    ufs_step(u, READ_NS);
    g_assert_true(mcq_msg_taken(m, 1));
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);

    mcq_write(m, MCQ_OP(0, cq_int.iacr), 1u << 31 | 1 << 24 | 8 << 8 | 5);
    for (i = 0; i < 32; i++) {
        submit_counted(m, 0, i);
    }
    for (i = 1; i <= 32; i++) {
        ufs_step(u, READ_NS);
        g_assert_cmpint(mcq_msg_taken(m, 1), ==, i % 8 == 0);
        if (i % 8 == 0) {
            mcq_write(m, MCQ_OP(0, cq_int.is), 1);
        }
    }
    /* CTR: what waits is the handler's, the window begins anew. */
    mcq_write(m, MCQ_OP(0, cq_int.iacr), 1u << 31 | 1 << 24 | 20 << 8 | 5);
    submit_counted(m, 0, 0);
    ufs_step(u, READ_NS + 100000);
    mcq_write(m, MCQ_OP(0, cq_int.iacr), 1u << 31 | MCQ_CTR);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq_int.iacr)), ==,
                    1u << 31 | 20 << 8 | 5);
    ufs_step(u, 400000);
    g_assert_false(mcq_msg_taken(m, 1));
    submit_counted(m, 0, 1);
    ufs_step(u, READ_NS + 199999);
    g_assert_false(mcq_msg_taken(m, 1));
    ufs_step(u, 1);
    g_assert_true(mcq_msg_taken(m, 1));
    mcq_stop(m);
}

/* The same without ESIE: the window's end is IS.IAGES, on the one line. */
static void test_iages(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,irq-latency-ns=1000", 2, 8);
    Ufs *u = m->u;
    int64_t t;

    mcq_write(m, A_IE, R_IE_CQEE_MASK | MCQ_IAGES);
    mcq_write(m, MCQ_CFG(0, A_CQCFG), MCQ_IAGVLD);
    mcq_write(m, MCQ_OP(0, cq_int.iacr), 1u << 31 | 1 << 24 | 20 << 8 | 5);
    ufs_step(u, 1);
    t = u->now;
    submit_counted(m, 0, 0);
    ufs_step_to(u, t + READ_NS + 200000 + 999);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 1);
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    /* One latency, not two. */
    ufs_step_to(u, t + READ_NS + 200000 + 1000);
    g_assert_cmphex(mcq_read(m, A_IS), ==, MCQ_IAGES);
    g_assert_true(ufs_intx(u));
    /* Neither IS nor CQIS takes it away, but the group's counter does. */
    mcq_write(m, A_IS, MCQ_IAGES);
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    g_assert_cmphex(mcq_read(m, A_IS), ==, MCQ_IAGES);
    g_assert_true(ufs_intx(u));
    mcq_write(m, MCQ_OP(0, cq_int.iacr),
              mcq_read(m, MCQ_OP(0, cq_int.iacr)) | MCQ_CTR);
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    g_assert_false(ufs_intx(u));
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq_int.iacr)), ==,
                    1u << 31 | 20 << 8 | 5);
    /* Two more, the second does not wait: IS.CQES takes both along. */
    submit_counted(m, 0, 1);
    submit_read(m, 0, 2);
    ufs_step(u, 2 * READ_NS + 1000);
    g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_CQES_MASK);
    g_assert_true(ufs_intx(u));
    mcq_expect(m, 0, 0, 1, UFS_OCS_SUCCESS);
    mcq_expect(m, 0, 0, 2, UFS_OCS_SUCCESS);
    g_assert_false(ufs_intx(u));
    /* The other queue, as ever. */
    submit_counted(m, 1, 3);
    ufs_step(u, READ_NS + 1000);
    g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_CQES_MASK);
    mcq_expect(m, 1, 1, 3, UFS_OCS_SUCCESS);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 3);
    g_assert_cmpuint(ufs_stat(u, "irq.suppressed"), ==, 1);
    /* What waits in a window that is switched off does not wait any more. */
    submit_counted(m, 0, 4);
    ufs_step(u, READ_NS + 1000);
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    mcq_write(m, MCQ_OP(0, cq_int.iacr), 0);
    g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_CQES_MASK);
    ufs_step(u, 1000);
    g_assert_true(ufs_intx(u));
    mcq_stop(m);
}

/* Queues 0 and 2 are of group 1, whose count is 4; queue 1 of none. */
static void test_groups(void)
{
    static const unsigned order[] = { 0, 2, 2, 0 };
    Mcq *m = mcq_start_up(",irq-mode=msix", 3, 8);
    Ufs *u = m->u;
    unsigned i;

    g_assert_cmpuint(FIELD_EX32(mcq_read(m, A_MCQCAP), MCQCAP, MIAG), ==, 7);
    mcq_msix_on(m);
    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    mcq_write(m, MCQ_CFG(0, A_CQCFG), MCQ_IAGVLD | 1);
    mcq_write(m, MCQ_CFG(1, A_CQCFG), 1);
    mcq_write(m, MCQ_CFG(2, A_CQCFG), MCQ_IAGVLD | 1);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(2, A_CQCFG)), ==, MCQ_IAGVLD | 1);
    mcq_write(m, MCQ_OP(1, cq_int.iacr), 1u << 31 | 1 << 24 | 4 << 8 | 255);
    for (i = 0; i < 4; i++) {
        g_assert_false(mcq_msg_taken(m, 2));
        submit_counted(m, order[i], i);
        ufs_step(u, 1);
    }
    /* One message, the group's; none of the queues' own. */
    g_assert_true(mcq_msg_taken(m, 2));
    g_assert_false(mcq_msg_taken(m, 1));
    g_assert_false(mcq_msg_taken(m, 3));
    /* One queue's acknowledgement is not yet that of the other. */
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    mcq_expect(m, 0, 0, 3, UFS_OCS_SUCCESS);
    submit_counted(m, 0, 4);
    ufs_step(u, 1);
    g_assert_cmpuint(ufs_stat(u, "irq.coalesced"), ==, 4);
    mcq_expect(m, 0, 0, 4, UFS_OCS_SUCCESS);
    mcq_expect(m, 2, 2, 1, UFS_OCS_SUCCESS);
    mcq_expect(m, 2, 2, 2, UFS_OCS_SUCCESS);
    /* Its IAGVLD is 0: at once, on its own vector. */
    submit_counted(m, 1, 5);
    ufs_step(u, 1);
    g_assert_true(mcq_msg_taken(m, 2));
    mcq_expect(m, 1, 1, 5, UFS_OCS_SUCCESS);
    /* Out of the group with one waiting: that one comes. */
    submit_counted(m, 2, 6);
    ufs_step(u, 1);
    g_assert_false(mcq_msg_taken(m, 3));
    mcq_write(m, MCQ_CFG(2, A_CQCFG), 0);
    g_assert_true(mcq_msg_taken(m, 3));
    mcq_expect(m, 2, 2, 6, UFS_OCS_SUCCESS);
    /* There are eight groups. */
    mcq_write(m, MCQ_CFG(2, A_CQCFG), MCQ_IAGVLD | 8);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(2, A_CQCFG)), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, 1);
    mcq_stop(m);
}

static void sq_stop_start(Mcq *m, unsigned q, bool stop)
{
    mcq_write(m, MCQ_OP(q, sq.rtc), stop ? MCQ_STP : 0);
}

/* SQIS: stopped, started, cleaned up; IS.SQES, or the queue's message. */
static void test_sq_events(void)
{
    Mcq *m = mcq_start_up(",hold-every=1,irq-mode=msix", 2, 8);
    Ufs *u = m->u;

    ufs_prep_nop(u, 0);
    mcq_submit(m, 0, 0);
    ufs_step(u, 1);
    mcq_write(m, A_IE, MCQ_SQES);
    sq_stop_start(m, 0, true);
    /* Polled: SQIE is 0. */
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq_int.is)), ==, MCQ_SQ_STOP);
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    g_assert_false(ufs_intx(u));
    sq_stop_start(m, 0, true);
    mcq_write(m, MCQ_OP(0, sq_int.is), MCQ_SQ_STOP);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq_int.is)), ==, 0);
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 0), ==, 0);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq_int.is)), ==, MCQ_SQ_CLEANUP);
    mcq_expect(m, 0, 0, 0, UFS_OCS_ABORTED);
    /* Enabled while it is there; writing IS does nothing. */
    mcq_write(m, MCQ_OP(0, sq_int.ie), UINT32_MAX);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq_int.ie)), ==,
                    MCQ_SQ_STOP | MCQ_SQ_CLEANUP);
    g_assert_true(ufs_intx(u));
    mcq_write(m, A_IS, UINT32_MAX);
    g_assert_cmphex(mcq_read(m, A_IS), ==, MCQ_SQES);
    mcq_write(m, MCQ_OP(0, sq_int.is), MCQ_SQ_CLEANUP);
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    g_assert_false(ufs_intx(u));
    sq_stop_start(m, 0, false);
    g_assert_true(ufs_intx(u));
    mcq_write(m, MCQ_OP(0, sq_int.is), MCQ_SQ_STOP);
    g_assert_false(ufs_intx(u));
    /* With ESIE it is the queue's message, and IS has none of it. */
    mcq_msix_on(m);
    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    mcq_write(m, MCQ_OP(1, sq_int.ie), MCQ_SQ_STOP);
    sq_stop_start(m, 1, true);
    g_assert_true(mcq_msg_taken(m, 2));
    g_assert_false(mcq_msg_taken(m, 1));
    g_assert_false(mcq_msg_taken(m, 0));
    g_assert_cmphex(mcq_read(m, A_IS), ==, 0);
    mcq_stop(m);
}

/* When the interrupt is there, so is all that a handler reads. */
static void test_status_before_irq(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,service-read-dist=uniform,"
                          "service-read-spread-ns=15000,units=4,"
                          "irq-latency-ns=700,irq-coalesce-count=3,"
                          "irq-coalesce-timeout-ns=9000,irq-mode=msix", 1, 33);
    Ufs *u = m->u;
    UfsCqEntry entry;
    unsigned i, seen = 0, interrupts = 0;

    mcq_msix_on(m);
    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    for (i = 0; i < 32; i++) {
        ufs_fill(u, UFS_DATA(i), 4096, 5);
        submit_read(m, 0, i);
    }
    for (i = 0; i < 4000 && seen < 32; i++) {
        ufs_step(u, 100);
        if (!mcq_msg_taken(m, 1)) {
            continue;
        }
        interrupts++;
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq_int.is)), ==, 1);
        mcq_write(m, MCQ_OP(0, cq_int.is), 1);
        g_assert_cmpuint(mcq_pending(m, 0), >, 0);
        while (mcq_pending(m, 0)) {
            entry = mcq_pop(m, 0);
            g_assert_cmphex(entry.status, ==, UFS_OCS_SUCCESS);
            /* The image was empty: the data is there too. */
            g_assert_cmphex(qtest_readl(u->qts, UFS_DATA(mcq_slot(&entry))),
                            ==, 0);
            g_assert_cmphex(qtest_readb(u->qts, UFS_UCD(mcq_slot(&entry)) +
                                        UFS_RSP_OFF), ==,
                            UFS_UPIU_TRANSACTION_RESPONSE);
            seen++;
        }
        mcq_head(m, 0);
    }
    g_assert_cmpuint(seen, ==, 32);
    g_assert_cmpuint(interrupts, >=, 5);
    g_assert_cmpuint(interrupts, ==, ufs_stat(u, "irq.raised"));
    mcq_stop(m);
}

/* UTRCS twice while it stays 1; the doorbell's, with either trigger. */
static void trigger_twice(bool edge)
{
    Ufs *u = ufs_start_up(edge ? ",irq-trigger=edge" : ",irq-trigger=level");

    ufs_prep_nop(u, 0);
    ufs_prep_nop(u, 1);
    ufs_ring(u, 1);
    ufs_step(u, 1);
    g_assert_true(ufs_intx(u));
    /* Reading is what ends an edge; the level needs IS to be cleared. */
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    g_assert_cmpint(ufs_intx(u), ==, !edge);
    ufs_ring(u, 2);
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    g_assert_cmpint(ufs_intx(u), ==, !edge);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 1);
    ufs_ack_all(u);
    g_assert_false(ufs_intx(u));
    /* From 0 to 1 again. */
    ufs_ring(u, 1);
    ufs_step(u, 1);
    g_assert_true(ufs_intx(u));
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 2);
    ufs_stop(u);
}

static void test_level(void)
{
    trigger_twice(false);
}

static void test_edge(void)
{
    trigger_twice(true);
}

void add_irq_tests(void)
{
    qtest_add_func("/irqbed-mcq/irq/cqes", test_cqes);
    qtest_add_func("/irqbed-mcq/irq/msi", test_msi);
    qtest_add_func("/irqbed-mcq/irq/msix", test_msix);
    qtest_add_func("/irqbed-mcq/irq/esi", test_esi);
    qtest_add_func("/irqbed-mcq/irq/aggregation-window", test_window);
    qtest_add_func("/irqbed-mcq/irq/iages", test_iages);
    qtest_add_func("/irqbed-mcq/irq/groups", test_groups);
    qtest_add_func("/irqbed-mcq/irq/sq-events", test_sq_events);
    qtest_add_func("/irqbed-mcq/irq/status-before-irq",
                   test_status_before_irq);
    qtest_add_func("/irqbed-mcq/irq/is-edge-level-level", test_level);
    qtest_add_func("/irqbed-mcq/irq/is-edge-level-edge", test_edge);
}
