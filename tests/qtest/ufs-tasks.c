/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Task management, clearing of slots, and errors of the link: what a driver's
 * error handling does.  Case abort-race.
 */

#include "ufs-harness.h"

#define COMPLETE  UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL
#define SUCCEEDED UFS_UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED
#define BAD_LUN   UFS_UPIU_INCORRECT_LOGICAL_UNIT_NO

static void test_tasks(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=1000000");

    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_prep_rw(u, 5, false, 1, 1);
    ufs_ring(u, BIT(0) | BIT(5));
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 5), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 6), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 7, 5), ==,
                    UFS_UPIU_INCORRECT_LOGICAL_UNIT_NO);
    g_assert_cmphex(ufs_task(u, 0x33, 0, 5), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_NOT_SUPPORTED);
    /* Aborted: no answer, and the slot is the controller's until cleared. */
    g_assert_cmphex(ufs_task(u, UFS_ABORT_TASK, 0, 5), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 5), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    ufs_step(u, 5000000);
    g_assert_false(ufs_busy(u, BIT(0)));
    g_assert_true(ufs_busy(u, BIT(5)));
    g_assert_cmphex(ufs_ocs(u, 5), ==, UFS_OCS_INVALID_COMMAND_STATUS);
    ufs_write(u, A_UTRLCLR, ~(uint32_t)BIT(5));
    g_assert_false(ufs_busy(u, BIT(5)));
    /* A reset of the logical unit takes all of its requests. */
    ufs_ring(u, BIT(0) | BIT(5));
    g_assert_cmphex(ufs_task(u, UFS_LOGICAL_RESET, 0, 0), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK_SET, 0, 0), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 3);
    g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
    ufs_stop(u);
}

/* What is held is let go by the function that hold-until names, no gentler. */
static void test_hold_until(void)
{
    static const char *const words[] = { "abort", "lu-reset", "host-reset" };
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(words); i++) {
        g_autofree char *knobs = g_strdup_printf(
            ",hold-every=1,hold-until=%s", words[i]);
        Ufs *u = ufs_start_up(knobs);

        ufs_prep_rw(u, 3, false, 0, 1);
        ufs_ring(u, BIT(3));
        ufs_step(u, 1000);
        g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 3), ==,
                        UFS_UPIU_TASK_MANAGEMENT_FUNC_SUCCEEDED);
        g_assert_cmphex(ufs_task(u, UFS_ABORT_TASK, 0, 3), ==,
                        i > 0 ? UFS_UPIU_TASK_MANAGEMENT_FUNC_FAILED :
                                UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
        g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, i > 0);
        g_assert_cmphex(ufs_task(u, UFS_LOGICAL_RESET, 0, 0), ==,
                        i > 1 ? UFS_UPIU_TASK_MANAGEMENT_FUNC_FAILED :
                                UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
        g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, i > 1);
        ufs_write(u, A_HCE, 0);
        g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
        ufs_stop(u);
    }
}

/* Reads of LUN 0 in slots 0 and 1, of LUN 1 in slot 2. */
static void ring_two_units(Ufs *u)
{
    uint8_t cdb[16] = { READ_10, [8] = 1 };

    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_prep_rw(u, 1, false, 1, 1);
    ufs_prep_scsi(u, 2, 1, cdb, UFS_UTP_DEVICE_TO_HOST, UFS_BLOCK);
    ufs_ring(u, 0x7);
}

/* Those that are for a whole unit leave the others alone. */
static void test_task_sets(void)
{
    static const uint8_t functions[] = {
        UFS_ABORT_TASK_SET, UFS_CLEAR_TASK_SET, UFS_LOGICAL_RESET,
    };
    Ufs *u = ufs_start_up(",service-read-ns=1000000,units=4");
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(functions); i++) {
        ring_two_units(u);
        g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK_SET, 0, 0), ==, SUCCEEDED);
        g_assert_cmphex(ufs_task(u, functions[i], 0, 0), ==, COMPLETE);
        g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK_SET, 0, 0), ==, COMPLETE);
        g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK_SET, 1, 0), ==, SUCCEEDED);
        ufs_step(u, 10000000);
        g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x3);
        ufs_expect_good(u, 2);
        /* UTRLCLR: zeroes clear, ones leave alone. */
        ufs_write(u, A_UTRLCLR, ~(uint32_t)0x1);
        g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0x2);
        ufs_write(u, A_UTRLCLR, 0);
        g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
        ufs_ack_all(u);
        g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 2 * (i + 1));
    }
    for (i = 0; i < UFS_WLUNS; i++) {
        g_assert_cmphex(ufs_task(u, UFS_LOGICAL_RESET, ufs_wluns[i], 0), ==,
                        COMPLETE);
    }
    g_assert_cmphex(ufs_task(u, UFS_ABORT_TASK_SET, 5, 0), ==, BAD_LUN);
    g_assert_cmphex(ufs_task(u, UFS_LOGICAL_RESET, 0x100, 0), ==, BAD_LUN);
    ufs_stop(u);
}

/* A task is over with its doorbell: there is nothing for UTMRLCLR to clear. */
static void test_task_registers(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=1000000");

    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_write(u, A_UTMRLCLR, 0);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 1);
    /* The list does not run, and there are eight slots. */
    ufs_write(u, A_UTMRLRSR, 0);
    ufs_write(u, A_UTMRLDBR, 1);
    g_assert_cmphex(ufs_read(u, A_IS) & R_IS_UTMRCS_MASK, ==, 0);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, 1);
    ufs_write(u, A_UTMRLRSR, 1);
    ufs_write(u, A_UTMRLDBR, 1 << 8);
    g_assert_cmphex(ufs_read(u, A_IS) & R_IS_UTMRCS_MASK, ==, 0);
    g_assert_cmphex(ufs_read(u, A_UTMRLDBR), ==, 0);
    /* Aborted and cleared, or cleared alone: once. */
    ufs_task(u, UFS_ABORT_TASK, 0, 0);
    ufs_task(u, UFS_ABORT_TASK, 0, 0);
    ufs_write(u, A_UTRLCLR, 0);
    ufs_write(u, A_UTRLCLR, 0);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 1);
    ufs_stop(u);
}

/*
 * abort-race: the service time is that of the abort plus d, d from -50 to +50
 * us.  Either the request is answered, once, with its data, and the abort finds
 * nothing; or it is aborted, and nothing of it is ever seen.
 */
static void test_abort_race(void)
{
    const int64_t abort_ns = 1000000;
    Ufs *u = ufs_start_up("");
    unsigned ok = 0, aborted = 0;
    int d;

    ufs_msi_on(u);
    ufs_fill(u, UFS_DATA(0), 4096, 9);
    ufs_prep_rw(u, 0, true, 7, 1);
    ufs_run(u, 0);
    ufs_msi_taken(u);
    for (d = -50; d <= 50; d++) {
        bool early = d <= 0;

        g_assert_true(ufs_set_knob(u, "service-read-ns",
                                   abort_ns + d * 1000));
        ufs_prep_rw(u, 3, false, 7, 1);
        qtest_memset(u->qts, UFS_DATA(3), 0xee, 4096);
        ufs_ring(u, BIT(3));
        ufs_step(u, abort_ns);
        g_assert_cmphex(ufs_task(u, UFS_QUERY_TASK, 0, 3), ==,
                        early ? COMPLETE : SUCCEEDED);
        g_assert_cmphex(ufs_task(u, UFS_ABORT_TASK, 0, 3), ==, COMPLETE);
        g_assert_cmpint(ufs_busy(u, BIT(3)), ==, !early);
        ufs_write(u, A_UTRLCLR, ~(uint32_t)BIT(3));
        ufs_step(u, 100000);
        g_assert_false(ufs_busy(u, BIT(3)));
        g_assert_cmpint(ufs_msi_taken(u), ==, early);
        if (early) {
            ufs_expect_good(u, 3);
            ufs_check(u, UFS_DATA(3), 4096, 9);
            ok++;
        } else {
            g_assert_cmphex(ufs_ocs(u, 3), ==, UFS_OCS_INVALID_COMMAND_STATUS);
            g_assert_cmphex(qtest_readl(u->qts, UFS_DATA(3)), ==, 0xeeeeeeee);
            aborted++;
        }
        ufs_ack_all(u);
        g_assert_cmpuint(ufs_stat(u, "requests.completed"), ==, 1 + ok);
        g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, aborted);
    }
    g_assert_cmpuint(ok, ==, 51);
    g_assert_cmpuint(aborted, ==, 50);
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==, 1 + ok + aborted);
    ufs_stop(u);
}

/* TX and RX, here and at the peer. */
static void expect_fsm(Ufs *u, uint32_t state)
{
    static const uint16_t attrs[] = { 0x41, 0xc1 };
    uint32_t value;
    unsigned i;

    for (i = 0; i < 4; i++) {
        value = 0;
        g_assert_cmphex(ufs_uic(u, i < 2 ? UFS_UIC_CMD_DME_GET :
                                           UFS_UIC_CMD_DME_PEER_GET,
                                attrs[i % 2], &value), ==, 0);
        g_assert_cmpuint(value, ==, state);
    }
}

static void test_uic_errors(void)
{
    Ufs *u = ufs_start("");
    uint32_t fast = 0x11;
    uint64_t errors;

    ufs_write(u, A_HCE, 1);
    /* No link yet: hibernation has no effect, and says so. */
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_ENTER, 0, NULL);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_HCS), HCS, UPMCRS), ==,
                     UFS_PWR_ERROR_CAP);
    g_assert_cmphex(ufs_uic(u, 0x42, 0, NULL), ==,
                    UFS_UIC_CMD_RESULT_FAILURE);
    ufs_up(u);
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_ENTER, 0, NULL);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_HCS), HCS, UPMCRS), ==,
                     UFS_PWR_LOCAL);
    expect_fsm(u, 1);
    /* Once is enough; the driver is not to ring now. */
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_ENTER, 0, NULL);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_HCS), HCS, UPMCRS), ==,
                     UFS_PWR_ERROR_CAP);
    expect_fsm(u, 1);
    errors = ufs_stat(u, "guest_errors");
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_task(u, UFS_QUERY_TASK_SET, 0, 0);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, errors + 2);
    ufs_migrate(u, "");
    expect_fsm(u, 1);
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_EXIT, 0, NULL);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_HCS), HCS, UPMCRS), ==,
                     UFS_PWR_LOCAL);
    expect_fsm(u, 2);
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_EXIT, 0, NULL);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_HCS), HCS, UPMCRS), ==,
                     UFS_PWR_ERROR_CAP);
    /* In fast mode a lane stalls instead of sleeping. */
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_SET, 0x1571, &fast), ==, 0);
    expect_fsm(u, 3);
    ufs_ack_all(u);
    errors = ufs_stat(u, "guest_errors");
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    /* A reset wakes it, too. */
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_ENTER, 0, NULL);
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    expect_fsm(u, 2);
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), ==, errors);
    ufs_stop(u);
}

/* Fault: the link breaks, once per two requests, which are answered. */
static void test_link_error(void)
{
    Ufs *u = ufs_start_up(",link-error-every=2");
    unsigned i;

    ufs_write(u, A_IE, R_IE_UTRCE_MASK | R_IS_UE_MASK);
    ufs_msi_on(u);
    for (i = 1; i <= 4; i++) {
        ufs_prep_rw(u, 0, false, 0, 1);
        ufs_ring(u, 1);
        ufs_step(u, 1);
        g_assert_true(ufs_msi_taken(u));
        ufs_expect_good(u, 0);
        g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK |
                        (i % 2 ? 0 : R_IS_UE_MASK));
        /* Bit 31 and PA_INIT_ERROR; a read clears it. */
        g_assert_cmphex(ufs_read(u, A_UECDL), ==,
                        i % 2 ? 0 : 1u << 31 | 1u << 13);
        g_assert_cmphex(ufs_read(u, A_UECDL), ==, 0);
        ufs_ack_all(u);
    }
    g_assert_cmpuint(ufs_stat(u, "faults.link_errors"), ==, 2);
    g_assert_cmpuint(ufs_stat(u, "requests.completed"), ==, 4);
    ufs_stop(u);
}

/* Each layer has its register, which a read clears. */
static void test_link_error_kinds(void)
{
    static const struct {
        const char *kind;
        uint32_t reg, code;
    } kinds[] = {
        { "pa-init", A_UECDL, 1 << 13 }, { "pa-lane", A_UECPA, 1 },
        { "pa-generic", A_UECPA, 1 << 4 }, { "dl-nac", A_UECDL, 1 },
        { "dl-replay", A_UECDL, 2 }, { "network", A_UECN, 1 },
        { "transport", A_UECT, 1 }, { "dme", A_UECDME, 1 },
    };
    Ufs *u = ufs_start_up(",link-error-every=1");
    uint32_t reg;
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_assert_null(ufs_set_word(u, "ufs0", "link-error-kind",
                                   kinds[i].kind));
        ufs_prep_nop(u, 0);
        ufs_ring(u, 1);
        ufs_step(u, 1);
        g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK | R_IS_UE_MASK);
        for (reg = A_UECPA; reg <= A_UECDME; reg += 4) {
            g_assert_cmphex(ufs_read(u, reg), ==, reg == kinds[i].reg ?
                            1u << 31 | kinds[i].code : 0);
        }
        g_assert_cmphex(ufs_read(u, kinds[i].reg), ==, 0);
        ufs_ack_all(u);
    }
    ufs_stop(u);
}

void add_task_tests(void)
{
    qtest_add_func("/irqbed-ufs/tasks/one", test_tasks);
    qtest_add_func("/irqbed-ufs/tasks/sets", test_task_sets);
    qtest_add_func("/irqbed-ufs/tasks/registers", test_task_registers);
    qtest_add_func("/irqbed-ufs/tasks/hold-until", test_hold_until);
    qtest_add_func("/irqbed-ufs/tasks/abort-race", test_abort_race);
    qtest_add_func("/irqbed-ufs/link/uic-errors", test_uic_errors);
    qtest_add_func("/irqbed-ufs/link/error-every", test_link_error);
    qtest_add_func("/irqbed-ufs/link/error-kinds", test_link_error_kinds);
}
