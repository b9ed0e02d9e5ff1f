/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Saved and restored in the middle of I/O with queues: some requests in the
 * device, some held, some behind a full completion queue, some not yet fetched,
 * and interrupts under way.  Everything happens as in a machine that went on.
 */

#include "mcq-harness.h"
#include "qobject/qjson.h"

#define QUEUES   3
#define DEPTH    8
#define STEPS    140
#define STEP_NS  2500
#define AT_STEP  12
#define DRAIN_AT 30
#define KNOBS    ",mcq=on,mcq-maxq=4,queue-depth=10,irq-mode=msix," \
                 "service-read-ns=20000,service-read-dist=lognormal," \
                 "service-read-spread-ns=9000,service-write-ns=30000," \
                 "units=4,irq-latency-ns=3000,irq-latency-dist=uniform," \
                 "irq-latency-spread-ns=2000,hold-every=11"

typedef struct Seen {
    uint32_t head[STEPS][QUEUES];
    uint32_t tail[STEPS][QUEUES];
    uint32_t messages[STEPS];
    unsigned answers[64];
    unsigned in_flight;
    GString *stats;
} Seen;

static void submit_round(Mcq *m)
{
    unsigned q, i;

    for (q = 0; q < QUEUES; q++) {
        for (i = 0; i < DEPTH - 1; i++) {
            unsigned slot = q * DEPTH + i;

            ufs_fill(m->u, UFS_DATA(slot), 4096, slot);
            ufs_prep_rw(m->u, slot, i & 1, slot, 1);
            mcq_put(m, q, slot);
        }
        mcq_ring(m, q);
    }
}

static void take_answers(Mcq *m, Seen *seen)
{
    UfsCqEntry entry;
    unsigned q;

    for (q = 0; q < QUEUES; q++) {
        mcq_write(m, MCQ_OP(q, cq_int.is), 1);
        while (mcq_pending(m, q)) {
            entry = mcq_pop(m, q);
            g_assert_cmphex(entry.status, ==, UFS_OCS_SUCCESS);
            seen->answers[mcq_slot(&entry)]++;
        }
        mcq_head(m, q);
    }
}

static void start_all(Mcq *m)
{
    unsigned q;

    ufs_up(m->u);
    m->bytes = DEPTH * MCQ_ENTRY;
    mcq_write(m, A_MCQCONFIG, 0xff << 8);
    /* Queues 0 and 1 share a completion queue, which fills up. */
    mcq_create_cq(m, 0, DEPTH);
    mcq_create_cq(m, 2, DEPTH);
    for (q = 0; q < QUEUES; q++) {
        mcq_create_sq(m, q, DEPTH, q & 2);
        mcq_write(m, MCQ_OP(q, cq_int.ie), 1);
    }
    mcq_write(m, MCQ_CFG(2, A_CQCFG), MCQ_IAGVLD | 2);
    mcq_write(m, MCQ_OP(2, cq_int.iacr), 1u << 31 | 1 << 24 | 3 << 8 | 1);
    mcq_write(m, A_CONFIG, 1 | MCQ_ESIE);
    mcq_msix_on(m);
}

static void run(Seen *seen, bool migrate)
{
    Mcq m = { .u = ufs_start(KNOBS) };
    QDict *stats;
    unsigned i, q;

    start_all(&m);
    ufs_step(m.u, 1000);
    submit_round(&m);
    for (i = 0; i < STEPS; i++) {
        ufs_step(m.u, STEP_NS);
        for (q = 0; q < QUEUES; q++) {
            seen->head[i][q] = mcq_read(&m, MCQ_OP(q, sq.hp));
            seen->tail[i][q] = mcq_read(&m, MCQ_OP(q, cq.tp));
        }
        for (q = 0; q <= QUEUES; q++) {
            seen->messages[i] |= mcq_msg_taken(&m, q) << q;
        }
        if (i == AT_STEP) {
            seen->in_flight = ufs_stat(m.u, "requests.in_flight");
            if (migrate) {
                ufs_migrate(m.u, KNOBS);
            }
        }
        if (i >= DRAIN_AT) {
            take_answers(&m, seen);
        }
    }
    stats = ufs_stats(m.u);
    seen->stats = qobject_to_json(QOBJECT(stats));
    qobject_unref(stats);
    /* What was not held came once. */
    for (i = 0; i < QUEUES * DEPTH; i++) {
        g_assert_cmpuint(seen->answers[i], <=, 1);
    }
    ufs_stop(m.u);
}

static void test_in_flight(void)
{
    g_autofree Seen *stayed = g_new0(Seen, 1);
    g_autofree Seen *moved = g_new0(Seen, 1);
    unsigned i, q, answered = 0;

    run(stayed, false);
    run(moved, true);
    /* It was in the middle of things: all requests in use, some not fetched. */
    g_assert_cmpuint(stayed->in_flight, >, 2);
    g_assert_cmphex(stayed->head[AT_STEP][1], !=, (DEPTH - 1) * MCQ_ENTRY);
    for (i = 0; i < STEPS; i++) {
        for (q = 0; q < QUEUES; q++) {
            g_assert_cmphex(moved->head[i][q], ==, stayed->head[i][q]);
            g_assert_cmphex(moved->tail[i][q], ==, stayed->tail[i][q]);
        }
        g_assert_cmphex(moved->messages[i], ==, stayed->messages[i]);
    }
    for (i = 0; i < QUEUES * DEPTH; i++) {
        g_assert_cmpuint(moved->answers[i], ==, stayed->answers[i]);
        answered += moved->answers[i];
    }
    /* 21 requests, of which every 11th is held. */
    g_assert_cmpuint(answered, ==, 20);
    g_assert_cmpstr(moved->stats->str, ==, stayed->stats->str);
    g_string_free(stayed->stats, true);
    g_string_free(moved->stats, true);
}

/* A clean-up that waits for room travels along. */
static void test_cleanup(void)
{
    static const char knobs[] = ",mcq=on,hold-every=3,service-other-ns=1000";
    Mcq m = { .u = ufs_start(knobs) };
    unsigned i;

    mcq_up(&m, 1, 3);
    for (i = 0; i < 3; i++) {
        ufs_prep_nop(m.u, i);
        mcq_submit(&m, 0, i);
        ufs_step(m.u, 1000);
    }
    mcq_write(&m, MCQ_OP(0, sq.rtc), MCQ_STP);
    g_assert_cmpint(mcq_cleanup(&m, 0, 0, 2), ==, -1);
    ufs_migrate(m.u, knobs);
    g_assert_cmphex(mcq_read(&m, MCQ_OP(0, sq.rts)), ==, MCQ_STS);
    mcq_expect(&m, 0, 0, 0, UFS_OCS_SUCCESS);
    g_assert_cmphex(mcq_read(&m, MCQ_OP(0, sq.rts)), ==, MCQ_STS | MCQ_CUS);
    mcq_expect(&m, 0, 0, 1, UFS_OCS_SUCCESS);
    mcq_expect(&m, 0, 0, 2, UFS_OCS_ABORTED);
    ufs_stop(m.u);
}

/* Every register, written with what is not its default. */
static void test_registers(void)
{
    static const char knobs[] = ",mcq=on,mcq-maxq=2";
    Mcq m = { .u = ufs_start(knobs) };
    g_autofree uint32_t *before = g_new0(uint32_t, 0x1100 / 4);
    unsigned at, q, changed = 0;

    for (at = 0; at < 0x1100; at += 4) {
        before[at / 4] = ufs_read(m.u, at);
    }
    mcq_up(&m, 2, 8);
    for (q = 0; q < 2; q++) {
        mcq_write(&m, MCQ_CFG(q, A_SQCFG), 3 + q);
        mcq_write(&m, MCQ_CFG(q, A_CQCFG), MCQ_IAGVLD | 1);
        mcq_write(&m, MCQ_OP(q, cq_int.iacr), 1u << 31 | 1 << 24 | 3 << 8 | 9);
        mcq_write(&m, MCQ_OP(q, sq_int.ie), MCQ_SQ_STOP << q);
        mcq_write(&m, MCQ_OP(q, sq.cti), 0x1234 + q);
        ufs_prep_nop(m.u, q);
        mcq_submit(&m, q, q);
        mcq_submit(&m, q, q);
        ufs_step(m.u, 1);
        mcq_pop(&m, q);
        mcq_head(&m, q);
        mcq_write(&m, MCQ_OP(q, sq.rtc), MCQ_STP);
    }
    mcq_write(&m, offsetof(UfsReg, esilba), 0x12345678);
    mcq_write(&m, offsetof(UfsReg, esiuba), 0x9abcdef0);
    ufs_write(m.u, A_AHIT, 0x3ff);
    ufs_write(m.u, A_UTRIACR, 1 << 24 | 7 << 8 | 11);
    for (at = 0; at < 0x1100; at += 4) {
        uint32_t now = ufs_read(m.u, at);

        changed += now != before[at / 4];
        before[at / 4] = now;
    }
    /* All that can be: 16 of the controller, 12 of each queue. */
    g_assert_cmpuint(changed, >=, 16 + 2 * 12);
    ufs_migrate(m.u, knobs);
    for (at = 0; at < 0x1100; at += 4) {
        uint32_t now = ufs_read(m.u, at);

        if (now != before[at / 4]) {
            g_test_message("register 0x%x: expected: 0x%x, got: 0x%x", at,
                           before[at / 4], now);
            g_test_fail();
        }
    }
    ufs_stop(m.u);
}

void add_mcq_migrate_tests(void)
{
    qtest_add_func("/irqbed-mcq/migrate/registers", test_registers);
    qtest_add_func("/irqbed-mcq/migrate/in-flight", test_in_flight);
    qtest_add_func("/irqbed-mcq/migrate/cleanup", test_cleanup);
}
