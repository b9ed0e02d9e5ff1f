/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest that does everything wrong with queues: case before-setup over all
 * their registers, bases that are no memory, offsets out of range, resets in
 * the middle.  The device must log, answer or stay silent, and work afterwards.
 */

#include "mcq-harness.h"

#define BAR_BYTES (16 * KiB)

static void expect_alive(Mcq *m)
{
    mcq_write(m, A_HCE, 0);
    mcq_up(m, 2, 8);
    ufs_fill(m->u, UFS_DATA(0), 4096, 11);
    ufs_prep_rw(m->u, 0, true, 5, 1);
    mcq_submit(m, 0, 0);
    ufs_step(m->u, 1000000);
    mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    ufs_prep_rw(m->u, 1, false, 5, 1);
    mcq_submit(m, 1, 1);
    ufs_step(m->u, 1000000);
    mcq_expect(m, 1, 1, 1, UFS_OCS_SUCCESS);
    ufs_check(m->u, UFS_DATA(1), 4096, 11);
}

static void before_setup(const char *knobs)
{
    Mcq *m = mcq_start(knobs);
    GRand *rand = g_rand_new_with_seed(1);
    unsigned round;
    uint32_t reg;

    for (round = 0; round < 36; round++) {
        for (reg = 0; reg < BAR_BYTES; reg += 4) {
            /* Registers are up to here. */
            if (reg < 0x1700 || round == 1) {
                mcq_write(m, reg, round % 3 == 0 ? 0 :
                                  round % 3 == 1 ? UINT32_MAX :
                                                   g_rand_int(rand));
            }
            mcq_read(m, reg);
        }
        ufs_step(m->u, 1000000);
        if (round % 5 == 0) {
            mcq_write(m, A_HCE, 1);
        }
        if (round % 7 == 0) {
            ufs_up(m->u);
            mcq_write(m, A_CONFIG, g_rand_int(rand));
            mcq_write(m, A_IE, UINT32_MAX);
        }
        if (round % 11 == 0) {
            mcq_up(m, 8, 8);
        }
    }
    g_rand_free(rand);
    g_assert_cmpuint(ufs_stat(m->u, "guest_errors"), >, 1000);
    expect_alive(m);
    mcq_stop(m);
}

static void test_before_setup(void)
{
    before_setup("");
}

static void test_before_setup_msix(void)
{
    before_setup(",irq-mode=msix,mcq-maxq=32,queue-depth=255");
}

/* Doorbells of queues that do not exist, and beyond those that do. */
static void test_doorbells(void)
{
    static const uint32_t beyond[] = { 8 * 32, 8 * 32 + 32, UINT32_MAX, 33, 1 };
    Mcq *m = mcq_start("");
    unsigned i;

    mcq_up(m, 1, 8);
    mcq_expect_guest_errors(m, 0);
    for (i = 0; i < G_N_ELEMENTS(beyond); i++) {
        mcq_write(m, MCQ_OP(0, sq.tp), beyond[i]);
        mcq_write(m, MCQ_OP(0, cq.hp), beyond[i]);
        mcq_write(m, MCQ_OP(1, sq.tp), beyond[i]);
        mcq_write(m, MCQ_OP(1, cq.hp), beyond[i]);
    }
    mcq_expect_guest_errors(m, 4 * G_N_ELEMENTS(beyond));
    /* A head before there is anything. */
    mcq_write(m, MCQ_OP(0, cq.hp), 32);
    mcq_write(m, MCQ_OP(0, sq.hp), 32);
    mcq_write(m, MCQ_OP(0, cq.tp), 32);
    mcq_write(m, MCQ_OP(0, sq.rts), 1);
    mcq_expect_guest_errors(m, 4);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.tp)), ==, 0);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq.hp)), ==, 0);
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), ==, 0);
    expect_alive(m);
    mcq_stop(m);
}

static void place(Mcq *m, uint64_t sq, uint64_t cq, unsigned depth)
{
    mcq_write(m, MCQ_CFG(0, A_SQATTR), 0);
    mcq_write(m, MCQ_CFG(0, A_CQATTR), 0);
    mcq_write(m, MCQ_CFG(0, A_CQLBA), (uint32_t)cq);
    mcq_write(m, MCQ_CFG(0, A_CQUBA), cq >> 32);
    mcq_write(m, MCQ_CFG(0, A_CQATTR), 1u << 31 | (depth * 8 - 1));
    mcq_write(m, MCQ_CFG(0, A_SQLBA), (uint32_t)sq);
    mcq_write(m, MCQ_CFG(0, A_SQUBA), sq >> 32);
    mcq_write(m, MCQ_CFG(0, A_SQATTR), 1u << 31 | (depth * 8 - 1));
    m->tail[0] = m->head[0] = 0;
    m->bytes = depth * MCQ_ENTRY;
}

/* Queues in our own registers, beyond memory, in the BIOS, and wrapping. */
static void test_bases(void)
{
    Mcq *m = mcq_start("");
    Ufs *u = m->u;
    uint64_t bar = qpci_config_readl(u->dev, PCI_BASE_ADDRESS_0) & ~0xfu;
    uint64_t where[] = { bar, bar + 0x1000, UFS_RAM_BYTES, 1ull << 63 };
    unsigned i;

    mcq_up(m, 1, 8);
    for (i = 0; i < G_N_ELEMENTS(where); i++) {
        /* Nothing can be fetched: the queue stops, and can be started. */
        place(m, where[i], MCQ_CQ(0), 8);
        mcq_write(m, MCQ_OP(0, sq.tp), 96);
        g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_SBFES_MASK);
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.rts)), ==, MCQ_STS);
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.hp)), ==, 0);
        ufs_ack_all(u);
        mcq_write(m, MCQ_OP(0, sq.rtc), 0);
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.rts)), ==, MCQ_STS);
        ufs_ack_all(u);
        mcq_cleanup(m, 0, 0, 0);
        /* Nothing can be answered. */
        place(m, MCQ_SQ(0), where[i], 8);
        ufs_prep_nop(u, 0);
        mcq_submit(m, 0, 0);
        ufs_step(u, 1);
        g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_SBFES_MASK);
        g_assert_cmphex(mcq_read(m, MCQ_OP(0, cq.tp)), ==, 0);
        g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
        ufs_ack_all(u);
    }
    /* Unaligned: the lower bits do not exist. */
    place(m, MCQ_SQ(0) + 0x3ff, MCQ_CQ(0) + 0x1e0, 8);
    g_assert_cmphex(mcq_read(m, MCQ_CFG(0, A_SQLBA)), ==, MCQ_SQ(0));
    g_assert_cmphex(mcq_read(m, MCQ_CFG(0, A_CQLBA)), ==, MCQ_CQ(0));
    /* Round the end of the address space: there is no such queue. */
    mcq_expect_guest_errors(m, 0);
    place(m, UINT64_MAX, MCQ_CQ(0), 1024);
    mcq_write(m, MCQ_OP(0, sq.tp), 32);
    mcq_expect_guest_errors(m, 2);
    /* The last that fits: it is only not memory. */
    place(m, UINT64_MAX, UINT64_MAX, 32);
    mcq_write(m, MCQ_OP(0, sq.tp), 32);
    g_assert_cmphex(mcq_read(m, A_IS), ==, R_IS_SBFES_MASK);
    expect_alive(m);
    mcq_stop(m);
}

/* The largest queue there can be, full of entries taken back. */
static void test_nullified(void)
{
    Mcq *m = mcq_start("");

    mcq_up(m, 0, 8);
    qtest_memset(m->u->qts, 0x02000000, 0xff, 8192 * MCQ_ENTRY);
    mcq_create_cq(m, 0, 8);
    mcq_write(m, MCQ_CFG(0, A_SQLBA), 0x02000000);
    mcq_write(m, MCQ_CFG(0, A_SQATTR), 1u << 31 | 0xffff);
    mcq_write(m, MCQ_OP(0, sq.rtc), MCQ_STP);
    mcq_write(m, MCQ_OP(0, sq.tp), 8191 * MCQ_ENTRY);
    /* Looked for among all of them. */
    g_assert_cmpint(mcq_cleanup(m, 0, 0, 1), ==, 1);
    mcq_write(m, MCQ_OP(0, sq.rtc), 0);
    g_assert_cmphex(mcq_read(m, MCQ_OP(0, sq.hp)), ==, 8191 * MCQ_ENTRY);
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), ==, 0);
    expect_alive(m);
    mcq_stop(m);
}

/* Messages aimed at our own registers: HCE, and the queue's own doorbell. */
static void test_message_to_self(void)
{
    static const uint32_t where[] = { A_HCE, MCQ_OP(0, sq.tp), A_CONFIG };
    Mcq *m = mcq_start("");
    uint64_t bar = qpci_config_readl(m->u->dev, PCI_BASE_ADDRESS_0) & ~0xfu;
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(where); i++) {
        mcq_write(m, A_HCE, 0);
        mcq_up(m, 1, 8);
        mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
        mcq_write(m, offsetof(UfsReg, esilba), bar + where[i]);
        ufs_prep_nop(m->u, 0);
        mcq_submit(m, 0, 0);
        ufs_step(m->u, 1);
        mcq_expect(m, 0, 0, 0, UFS_OCS_SUCCESS);
    }
    expect_alive(m);
    mcq_stop(m);
}

static void random_action(Mcq *m, GRand *rand)
{
    unsigned q = g_rand_int_range(rand, 0, 4);
    unsigned slot = g_rand_int_range(rand, 0, 64);

    switch (g_rand_int_range(rand, 0, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        ufs_prep_rw(m->u, slot, g_rand_boolean(rand),
                    g_rand_int_range(rand, 0, 2100),
                    g_rand_int_range(rand, 0, 20));
        if (g_rand_int_range(rand, 0, 6) == 0) {
            ufs_set_utrd(m->u, slot, g_rand_int_range(rand, 0, 8),
                         g_rand_int(rand));
        }
        mcq_submit(m, q, slot);
        break;
    case 6:
    case 7:
    case 8:
        m->head[q] = mcq_read(m, MCQ_OP(q, cq.tp));
        mcq_head(m, q);
        mcq_write(m, MCQ_OP(q, cq_int.is), 1);
        break;
    case 9:
        mcq_write(m, MCQ_OP(q, sq.rtc), g_rand_int_range(rand, 0, 4));
        break;
    case 10:
        mcq_write(m, MCQ_OP(q, sq.cti), slot);
        mcq_write(m, MCQ_OP(q, sq.rtc), MCQ_STP | MCQ_ICU);
        mcq_write(m, MCQ_OP(q, sq.rtc), 0);
        break;
    case 11:
        mcq_write(m, UFS_MCQ_OPR_START + 4 * g_rand_int_range(rand, 0, 100),
                  g_rand_int_range(rand, 0, 8) * 32);
        break;
    case 12:
        mcq_write(m, 0x400 + 4 * g_rand_int_range(rand, 0, 70),
                  g_rand_int(rand));
        break;
    case 13:
        mcq_write(m, g_rand_boolean(rand) ? A_CONFIG : A_MCQCONFIG,
                  g_rand_int(rand));
        break;
    case 14:
        if (g_rand_int_range(rand, 0, 12) == 0) {
            mcq_write(m, A_HCE, 0);
            mcq_up(m, 4, 16);
        }
        break;
    default:
        ufs_step(m->u, g_rand_int_range(rand, 1, 60000));
        break;
    }
}

static void test_random(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,service-write-ns=30000,"
                          "irq-latency-ns=2000,irq-coalesce-timeout-ns=9000,"
                          "irq-coalesce-count=3,units=3,queue-depth=12,"
                          "hold-every=50", 4, 16);
    GRand *rand = g_rand_new_with_seed(20);
    unsigned i;

    for (i = 0; i < 6000; i++) {
        random_action(m, rand);
    }
    g_assert_cmpuint(ufs_stat(m->u, "requests.fetched"), >, 500);
    g_rand_free(rand);
    g_assert_true(ufs_set_knob(m->u, "hold-every", 0));
    expect_alive(m);
    mcq_stop(m);
}

/* Gone with queues full, clean-up pending and timers armed. */
static void test_unplug(void)
{
    Mcq *m = mcq_start_up(",service-read-ns=20000,queue-depth=4,hold-every=3,"
                          "irq-latency-ns=1000000", 2, 8);
    unsigned i;

    for (i = 0; i < 7; i++) {
        ufs_prep_rw(m->u, i, false, i, 1);
        mcq_submit(m, 0, i);
    }
    ufs_step(m->u, 30000);
    g_assert_cmpuint(ufs_stat(m->u, "requests.in_flight"), >, 0);
    g_free(m->u->dev);
    qpci_unplug_acpi_device_test(m->u->qts, "ufs0", 4);
    m->u->unplugged = true;
    ufs_step(m->u, 100000000);
    mcq_stop(m);
}

void add_mcq_hostile_tests(void)
{
    qtest_add_func("/irqbed-mcq/hostile/before-setup", test_before_setup);
    qtest_add_func("/irqbed-mcq/hostile/before-setup-msix",
                   test_before_setup_msix);
    qtest_add_func("/irqbed-mcq/hostile/doorbells", test_doorbells);
    qtest_add_func("/irqbed-mcq/hostile/bases", test_bases);
    qtest_add_func("/irqbed-mcq/hostile/nullified", test_nullified);
    qtest_add_func("/irqbed-mcq/hostile/message-to-self",
                   test_message_to_self);
    qtest_add_func("/irqbed-mcq/hostile/random", test_random);
    qtest_add_func("/irqbed-mcq/hostile/unplug", test_unplug);
}
