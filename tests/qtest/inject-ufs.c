/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections on irqbed-ufs that are a knob's, an interrupt's or a request's,
 * with the device's count of each.
 */

#include "ufs-harness.h"
#include "mcq-harness.h"
#include "inject-ufs.h"

uint64_t ufs_fired(Ufs *u, const char *id)
{
    return inject_fired(u->qts, "ufs0", id);
}

uint64_t ufs_get_knob(Ufs *u, const char *name)
{
    QDict *answer = qtest_qmp(u->qts, "{ 'execute': 'qom-get', 'arguments': "
                              "{ 'path': 'ufs0', 'property': %s } }", name);
    uint64_t value = qdict_get_int(answer, "return");

    qobject_unref(answer);
    return value;
}

Ufs *ufs_inject(const char *entries)
{
    Ufs *u = ufs_start_up(START);

    ufs_msi_on(u);
    ufs_step(u, 1000);
    inject(u->qts, "ufs0", entries);
    return u;
}

void ufs_read_block(Ufs *u, unsigned slot)
{
    ufs_prep_rw(u, slot, false, slot, 1);
    ufs_ring(u, BIT(slot));
}

/* The first 64 times at which an entry fired are kept. */
static void test_times(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=500,period-ns=100,fault=irq-spurious");
    uint64_t last;

    ufs_step(u, 499);
    g_assert_cmpuint(inject_times(u->qts, "ufs0", "a", &last), ==, 0);
    ufs_step(u, 101);
    g_assert_cmpuint(inject_times(u->qts, "ufs0", "a", &last), ==, 2);
    g_assert_cmpuint(last, ==, u->now);
    ufs_step(u, 10000);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 102);
    g_assert_cmpuint(inject_times(u->qts, "ufs0", "a", &last), ==, 64);
    g_assert_cmpuint(last, ==, u->now - (102 - 64) * 100);
    ufs_stop(u);
}

static void test_knob(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=5000,knob=irq-latency-ns,value=700,"
                        "for-ns=100");
    int64_t t = u->now;

    ufs_step_to(u, t + 4999);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 0);
    ufs_step_to(u, t + 5000);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 700);
    g_assert_cmpuint(ufs_stat(u, "knobs.irq_latency_ns"), ==, 700);
    ufs_step_to(u, t + 5099);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 700);
    ufs_step_to(u, t + 5100);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 0);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

/* It acts on the request that triggers it, and clearing undoes it. */
static void test_knob_by_request(void)
{
    Ufs *u = ufs_inject("id=a,after=2,knob=service-read-ns,value=50000");
    int64_t t;

    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    g_assert_false(ufs_busy(u, 1));
    t = u->now;
    ufs_read_block(u, 0);
    ufs_step_to(u, t + 49999);
    g_assert_true(ufs_busy(u, 1));
    ufs_step_to(u, t + 50000);
    g_assert_false(ufs_busy(u, 1));
    inject_clear(u->qts, "ufs0");
    g_assert_cmpuint(ufs_get_knob(u, "service-read-ns"), ==, READ_NS);
    ufs_stop(u);
}

static void test_ramp(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=1000,knob=irq-latency-ns,value=1000,"
                   "ramp-ns=10000");
    int64_t t = u->now + 1000;
    unsigned i;

    for (i = 1; i <= 100; i++) {
        ufs_step_to(u, t + i * 100 - 1);
        g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 10 * (i - 1));
        ufs_step_to(u, t + i * 100);
        g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 10 * i);
    }
    ufs_step(u, 1000000);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 1000);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

/* A value that does not go with the others is refused, and counted. */
static void test_knob_refused(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=10,knob=irq-coalesce-count,value=4");

    ufs_step(u, 100);
    g_assert_cmpuint(inject_count(u->qts, "ufs0", "a", "refused"), ==, 1);
    g_assert_cmpuint(ufs_get_knob(u, "irq-coalesce-count"), ==, 1);
    ufs_stop(u);
}

static void test_irq_lost(void)
{
    Ufs *u = ufs_inject("id=a,every=3,fault=irq-lost,count=2");
    unsigned i, seen = 0;

    for (i = 1; i <= 12; i++) {
        ufs_read_block(u, 0);
        ufs_step(u, READ_NS);
        ufs_expect_good(u, 0);
        g_assert_cmpint(ufs_msi_taken(u), ==, i != 3 && i != 6);
        seen += i != 3 && i != 6;
        ufs_ack_all(u);
    }
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 2);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, seen);
    g_assert_cmpuint(ufs_stat(u, "irq.dropped"), ==, 2);
    ufs_stop(u);
}

static void test_irq_late(void)
{
    Ufs *u = ufs_inject("id=a,after=1,fault=irq-late,for-ns=7000");
    int64_t t = u->now;

    ufs_read_block(u, 0);
    ufs_step_to(u, t + READ_NS);
    ufs_expect_good(u, 0);
    ufs_step_to(u, t + READ_NS + 6999);
    g_assert_false(ufs_msi_taken(u));
    ufs_step_to(u, t + READ_NS + 7000);
    g_assert_true(ufs_msi_taken(u));
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

static void test_irq_double(void)
{
    Ufs *u = ufs_inject("id=a,after=1,fault=irq-double,for-ns=500");

    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    ufs_step(u, 499);
    g_assert_false(ufs_msi_taken(u));
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

static void test_irq_spurious(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=100,period-ns=1000,count=5,"
                        "fault=irq-spurious");
    int64_t t = u->now;
    unsigned i;

    for (i = 0; i < 5; i++) {
        ufs_step_to(u, t + 100 + i * 1000 - 1);
        g_assert_false(ufs_msi_taken(u));
        ufs_step_to(u, t + 100 + i * 1000);
        g_assert_true(ufs_msi_taken(u));
        g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    }
    ufs_step(u, 100000);
    g_assert_false(ufs_msi_taken(u));
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 5);
    ufs_stop(u);
}

static void test_irq_stuck(void)
{
    Ufs *u = ufs_start_up(START);

    ufs_step(u, 1);
    inject(u->qts, "ufs0", "id=a,at-ns=100,fault=irq-stuck,for-ns=50000");
    ufs_step(u, 99);
    g_assert_false(ufs_intx(u));
    ufs_step(u, 1);
    g_assert_true(ufs_intx(u));
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_ack_all(u);
    g_assert_true(ufs_intx(u));
    /* Nothing the guest can do: not even a reset. */
    ufs_write(u, A_HCE, 0);
    g_assert_true(ufs_intx(u));
    ufs_step(u, 50000 - READ_NS - 1);
    g_assert_true(ufs_intx(u));
    ufs_step(u, 1);
    g_assert_false(ufs_intx(u));
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

/* A message for each acknowledgement. */
static void test_msi_stuck(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=100,fault=irq-stuck,for-ns=1000000");

    ufs_step(u, 100);
    g_assert_true(ufs_msi_taken(u));
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    g_assert_true(ufs_msi_taken(u));
    ufs_step(u, 1000000);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    g_assert_false(ufs_msi_taken(u));
    ufs_stop(u);
}

static void test_hold(void)
{
    Ufs *u = ufs_inject("id=a,after=1,fault=hold,for-ns=3000;"
                   "id=b,after=2,fault=hold");

    ufs_read_block(u, 0);
    ufs_step(u, READ_NS + 2999);
    g_assert_true(ufs_busy(u, 1));
    ufs_step(u, 1);
    ufs_expect_good(u, 0);
    ufs_ack_all(u);
    ufs_read_block(u, 1);
    ufs_step(u, INT64_C(60000000000));
    g_assert_true(ufs_busy(u, 2));
    ufs_write(u, A_UTRLCLR, ~2);
    g_assert_false(ufs_busy(u, 2));
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    g_assert_cmpuint(ufs_fired(u, "b"), ==, 1);
    g_assert_cmpuint(ufs_stat(u, "faults.held"), ==, 1);
    ufs_stop(u);
}

/* A time alone waits for the next request of its kind. */
static void test_at_and_on(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=10,fault=hold,for-ns=5000,on=write");
    int64_t t;

    ufs_step(u, 100);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_expect_good(u, 0);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 0);
    t = u->now;
    ufs_prep_rw(u, 1, true, 1, 1);
    ufs_ring(u, 2);
    ufs_step_to(u, t + 4999);
    g_assert_true(ufs_busy(u, 2));
    ufs_step_to(u, t + 5000);
    g_assert_false(ufs_busy(u, 2));
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

static const struct {
    const char *word;
    uint8_t ocs;
    uint8_t status;
    uint8_t key;
} statuses[] = {
    { "ocs-command-table", 1 }, { "ocs-prdt", 2 }, { "ocs-data-size", 3 },
    { "ocs-response-size", 4 }, { "ocs-peer-failure", 5 },
    { "ocs-aborted", 6 }, { "ocs-fatal", 7 }, { "ocs-device-fatal", 8 },
    { "ocs-crypto-config", 9 }, { "ocs-crypto", 10 },
    { "not-ready", 0, CHECK_CONDITION, NOT_READY },
    { "medium-error", 0, CHECK_CONDITION, MEDIUM_ERROR },
    { "hardware-error", 0, CHECK_CONDITION, HARDWARE_ERROR },
    { "illegal-request", 0, CHECK_CONDITION, ILLEGAL_REQUEST },
    { "unit-attention", 0, CHECK_CONDITION, UNIT_ATTENTION },
    { "data-protect", 0, CHECK_CONDITION, DATA_PROTECT },
    { "aborted-command", 0, CHECK_CONDITION, ABORTED_COMMAND },
    { "busy", 0, BUSY }, { "task-set-full", 0, TASK_SET_FULL },
};

static void test_status(void)
{
    Ufs *u = ufs_start_up(START);
    unsigned i;

    ufs_fill(u, UFS_DATA(0), 4096, 1);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    for (i = 0; i < ARRAY_SIZE(statuses); i++) {
        g_autofree char *e = g_strdup_printf(
            "id=a,every=1,fault=status,status=%s", statuses[i].word);
        UtpUpiuRsp rsp;

        inject(u->qts, "ufs0", e);
        /* A read moves no data, a write does not reach the medium. */
        ufs_fill(u, UFS_DATA(1), 4096, 7);
        ufs_prep_rw(u, 1, false, 0, 1);
        ufs_run(u, 1);
        ufs_check(u, UFS_DATA(1), 4096, 7);
        g_assert_cmpuint(ufs_ocs(u, 1), ==, statuses[i].ocs);
        ufs_prep_rw(u, 1, true, 0, 1);
        ufs_run(u, 1);
        g_assert_cmpuint(ufs_ocs(u, 1), ==, statuses[i].ocs);
        if (!statuses[i].ocs) {
            ufs_response(u, 1, &rsp);
            g_assert_cmpuint(rsp.header.scsi_status, ==, statuses[i].status);
            if (statuses[i].key) {
                g_assert_cmpuint(rsp.sr.sense_data[2], ==, statuses[i].key);
            }
        }
        g_assert_cmpuint(ufs_fired(u, "a"), ==, 2);
        inject_clear(u->qts, "ufs0");
    }
    ufs_prep_rw(u, 1, false, 0, 1);
    ufs_run(u, 1);
    ufs_expect_good(u, 1);
    ufs_check(u, UFS_DATA(1), 4096, 1);
    g_assert_cmpuint(ufs_stat(u, "requests.failed"), ==,
                     2 * ARRAY_SIZE(statuses));
    ufs_stop(u);
}

static void test_dma_refused(void)
{
    Ufs *u = ufs_inject("id=a,every=1,fault=dma-refused");

    ufs_fill(u, UFS_DATA(0), 4096, 3);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    g_assert_cmpuint(ufs_ocs(u, 0), ==, UFS_OCS_FATAL_ERROR);
    ufs_check(u, UFS_DATA(0), 4096, 3);
    ufs_prep_rw(u, 1, true, 1, 1);
    ufs_ring(u, 2);
    ufs_step(u, 1);
    g_assert_cmpuint(ufs_ocs(u, 1), ==, UFS_OCS_FATAL_ERROR);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 2);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, 0);
    ufs_stop(u);
}

static void test_data_late(void)
{
    Ufs *u = ufs_start_up(START);

    ufs_fill(u, UFS_DATA(0), 4096, 1);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    inject(u->qts, "ufs0", "id=a,every=1,fault=data-late,for-ns=9000");
    ufs_fill(u, UFS_DATA(0), 4096, 2);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_expect_good(u, 0);
    ufs_step(u, 8999);
    ufs_check(u, UFS_DATA(0), 4096, 2);
    ufs_step(u, 1);
    ufs_check(u, UFS_DATA(0), 4096, 1);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    /* A reset in between: it never comes. */
    ufs_fill(u, UFS_DATA(0), 4096, 2);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_write(u, A_HCE, 0);
    ufs_step(u, 1000000);
    ufs_check(u, UFS_DATA(0), 4096, 2);
    ufs_stop(u);
}

static void test_twice(void)
{
    Ufs *u = ufs_inject("id=a,after=1,fault=complete-twice,for-ns=600");

    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    g_assert_true(ufs_msi_taken(u));
    ufs_ack_all(u);
    ufs_step(u, 599);
    g_assert_false(ufs_msi_taken(u));
    g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

static void test_twice_queues(void)
{
    Mcq *m = mcq_start_up("", 1, 8);
    unsigned i;

    ufs_step(m->u, 1);
    inject(m->u->qts, "ufs0", "id=a,after=1,fault=complete-twice");
    ufs_prep_nop(m->u, 0);
    mcq_submit(m, 0, 0);
    ufs_step(m->u, 1);
    g_assert_cmpuint(mcq_pending(m, 0), ==, 2);
    for (i = 0; i < 2; i++) {
        UfsCqEntry entry = mcq_pop(m, 0);

        g_assert_cmpuint(mcq_slot(&entry), ==, 0);
    }
    mcq_head(m, 0);
    g_assert_cmpuint(ufs_fired(m->u, "a"), ==, 1);
    mcq_stop(m);
}

void add_ufs_tests(void)
{
    qtest_add_func("/irqbed-inject/ufs/times", test_times);
    qtest_add_func("/irqbed-inject/ufs/knob", test_knob);
    qtest_add_func("/irqbed-inject/ufs/knob-by-request", test_knob_by_request);
    qtest_add_func("/irqbed-inject/ufs/ramp", test_ramp);
    qtest_add_func("/irqbed-inject/ufs/knob-refused", test_knob_refused);
    qtest_add_func("/irqbed-inject/ufs/irq-lost", test_irq_lost);
    qtest_add_func("/irqbed-inject/ufs/irq-late", test_irq_late);
    qtest_add_func("/irqbed-inject/ufs/irq-double", test_irq_double);
    qtest_add_func("/irqbed-inject/ufs/irq-spurious", test_irq_spurious);
    qtest_add_func("/irqbed-inject/ufs/irq-stuck", test_irq_stuck);
    qtest_add_func("/irqbed-inject/ufs/msi-stuck", test_msi_stuck);
    qtest_add_func("/irqbed-inject/ufs/hold", test_hold);
    qtest_add_func("/irqbed-inject/ufs/at-and-on", test_at_and_on);
    qtest_add_func("/irqbed-inject/ufs/status", test_status);
    qtest_add_func("/irqbed-inject/ufs/dma-refused", test_dma_refused);
    qtest_add_func("/irqbed-inject/ufs/data-late", test_data_late);
    qtest_add_func("/irqbed-inject/ufs/twice", test_twice);
    qtest_add_func("/irqbed-inject/ufs/twice-queues", test_twice_queues);
}
