/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections on irqbed-ufs that are the link's or the device's, with its own
 * count of each; what a guest can do in the middle of one; the same seed, the
 * same times; saving.
 */

#include "inject-ufs.h"
#include "mcq-harness.h"

static void test_link_command(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=1,fault=link-command-fail;"
                   "id=b,at-ns=2,fault=link-command-late,for-ns=4000");
    uint32_t done = R_IS_UCCS_MASK;

    ufs_step(u, 1);
    g_assert_cmpuint(ufs_uic(u, UFS_UIC_CMD_DME_GET, 0x1571, NULL), ==,
                     UFS_UIC_CMD_RESULT_FAILURE);
    ufs_ack_all(u);
    ufs_step(u, 1);
    ufs_write(u, A_UCMDARG1, 0x1571 << 16);
    ufs_write(u, A_UICCMD, UFS_UIC_CMD_DME_GET);
    g_assert_cmphex(ufs_read(u, A_HCS) & R_HCS_UCRDY_MASK, ==, 0);
    ufs_step(u, 3999);
    g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_IS), ==, done);
    g_assert_cmphex(ufs_read(u, A_HCS) & R_HCS_UCRDY_MASK, !=, 0);
    g_assert_cmphex(ufs_read(u, A_UCMDARG3), ==, 0x55);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    g_assert_cmpuint(ufs_fired(u, "b"), ==, 1);
    ufs_stop(u);
}

static void test_link_down(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=5000,fault=link-down,for-ns=100000");

    ufs_read_block(u, 0);
    ufs_step(u, 4999);
    g_assert_cmphex(ufs_read(u, A_HCS) & R_HCS_DP_MASK, !=, 0);
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_HCS) & R_HCS_DP_MASK, ==, 0);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_ULLS_MASK);
    /* What was in flight has no answer; the link does not start. */
    ufs_step(u, READ_NS);
    g_assert_true(ufs_busy(u, 1));
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 1);
    ufs_write(u, A_HCE, 0);
    ufs_write(u, A_HCE, 1);
    g_assert_cmpuint(ufs_uic(u, UFS_UIC_CMD_DME_LINK_STARTUP, 0, NULL), ==,
                     UFS_UIC_CMD_RESULT_FAILURE);
    ufs_ack_all(u);
    ufs_step(u, 100000 - READ_NS - 1);
    g_assert_cmphex(ufs_read(u, A_IS), ==, 0);
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_ULSS_MASK);
    ufs_ack_all(u);
    ufs_up(u);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_expect_good(u, 0);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

static void test_remove(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=5000,fault=remove,for-ns=100000");

    ufs_read_block(u, 0);
    ufs_read_block(u, 1);
    ufs_step(u, 5000);
    g_assert_cmphex(ufs_read(u, A_IS), ==, UINT32_MAX);
    g_assert_cmphex(ufs_read(u, A_CAP), ==, UINT32_MAX);
    g_assert_cmphex(qpci_config_readw(u->dev, PCI_VENDOR_ID), ==, 0xffff);
    g_assert_cmphex(qpci_config_readb(u->dev, PCI_REVISION_ID), ==, 0xff);
    ufs_write(u, A_HCE, 1);
    qpci_config_writew(u->dev, PCI_COMMAND, 0);
    ufs_step(u, 99999);
    g_assert_false(ufs_msi_taken(u));
    g_assert_cmphex(ufs_ocs(u, 0), ==, UFS_OCS_INVALID_COMMAND_STATUS);
    ufs_step(u, 1);
    g_assert_cmphex(qpci_config_readw(u->dev, PCI_VENDOR_ID), !=, 0xffff);
    /* As after power-on. */
    g_assert_cmphex(ufs_read(u, A_HCE), ==, 0);
    ufs_up(u);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_expect_good(u, 0);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 1);
    ufs_stop(u);
}

/* The table of messages is gone too, and is back as it was, masked or not. */
static void test_remove_msix(void)
{
    Mcq *m = mcq_start_up(",irq-mode=msix", 2, 8);
    QPCIDevice *dev = m->u->dev;
    uint64_t at = dev->msix_table_off + PCI_MSIX_ENTRY_DATA;

    mcq_msix_on(m);
    inject(m->u->qts, "ufs0", "id=a,at-ns=500,fault=remove,for-ns=1000");
    ufs_step(m->u, 500);
    g_assert_cmphex(qpci_io_readl(dev, dev->msix_table_bar, at), ==,
                    UINT32_MAX);
    qpci_io_writel(dev, dev->msix_table_bar, at, 77);
    ufs_step(m->u, 1000);
    g_assert_cmphex(qpci_io_readl(dev, dev->msix_table_bar, at), ==,
                    MCQ_MSG_DATA(0));
    mcq_stop(m);
}

/* In the middle of a doorbell with more to fetch; each right after its own. */
static void test_by_request(void)
{
    Ufs *u = ufs_inject("id=a,after=2,fault=link-down,for-ns=1000;"
                   "id=b,after=4,fault=remove,for-ns=1000;"
                   "id=c,after=1,fault=irq-spurious");
    unsigned i;

    for (i = 0; i < 3; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    ufs_ring(u, 7);
    ufs_step(u, 1);
    g_assert_true(ufs_msi_taken(u));
    g_assert_cmphex(ufs_read(u, A_HCS) & R_HCS_DP_MASK, ==, 0);
    g_assert_cmpuint(ufs_stat(u, "requests.aborted"), ==, 3);
    ufs_step(u, 1000);
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    ufs_ring(u, 7);
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_HCS), ==, UINT32_MAX);
    g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
    ufs_step(u, 1000);
    ufs_up(u);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_expect_good(u, 0);
    g_assert_cmpuint(ufs_fired(u, "a") + ufs_fired(u, "b") +
                     ufs_fired(u, "c"), ==, 3);
    ufs_stop(u);
}

/* MSI has one message, and a queue has none of its own. */
static void test_extra_of_queue(void)
{
    Mcq *m = mcq_start_up("", 2, 8);

    ufs_msi_on(m->u);
    ufs_step(m->u, 1000);
    inject(m->u->qts, "ufs0", "id=a,at-ns=100,fault=irq-spurious,target=2;"
           "id=b,at-ns=200,fault=irq-stuck,target=1,for-ns=50");
    ufs_step(m->u, 100);
    g_assert_true(ufs_msi_taken(m->u));
    ufs_step(m->u, 100);
    g_assert_true(ufs_msi_taken(m->u));
    g_assert_cmpuint(ufs_fired(m->u, "a") + ufs_fired(m->u, "b"), ==, 2);
    mcq_stop(m);
}

/*
 * So much is late that there is no room for more of it: what is late of a
 * request comes with it, and what is to end later is not begun.
 */
static void test_too_much_late(void)
{
    Ufs *u = ufs_inject("id=a,every=1,fault=data-late,for-ns=10000000;"
                        "id=b,every=1,fault=irq-late,for-ns=10000000;"
                        "id=c,every=1,fault=irq-double,for-ns=10000000;"
                        "id=d,every=1,fault=complete-twice,for-ns=10000000");
    unsigned i;

    for (i = 0; i < 70; i++) {
        ufs_read_block(u, 0);
        ufs_step(u, READ_NS);
        ufs_ack_all(u);
    }
    g_assert_cmpuint(ufs_fired(u, "a") + ufs_fired(u, "b") +
                     ufs_fired(u, "c") + ufs_fired(u, "d"), ==, 256);
    inject(u->qts, "ufs0", "id=e,at-ns=1,fault=link-down,for-ns=1000");
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_HCS) & R_HCS_DP_MASK, !=, 0);
    g_assert_cmpuint(ufs_fired(u, "e"), ==, 0);
    g_assert_cmpuint(inject_count(u->qts, "ufs0", "e", "refused"), ==, 1);
    ufs_stop(u);
}

/* The nanoseconds of the interrupts of a run, as a text. */
static char *chance_run(unsigned seed)
{
    g_autofree char *knobs = g_strdup_printf(START ",seed=%u", seed);
    GString *times = g_string_new(NULL);
    Ufs *u = ufs_start_up(knobs);
    unsigned i;

    ufs_msi_on(u);
    ufs_step(u, 1000);
    inject(u->qts, "ufs0", "id=a,chance-ppm=200000,fault=irq-lost;"
           "id=b,chance-ppm=300000,fault=hold,for-ns=777");
    for (i = 0; i < 60; i++) {
        ufs_read_block(u, 0);
        ufs_step(u, READ_NS);
        g_string_append_c(times, ufs_busy(u, 1) ? 'b' : '-');
        ufs_step(u, 777);
        g_string_append_c(times, ufs_msi_taken(u) ? 'i' : '-');
        ufs_ack_all(u);
    }
    g_string_append_printf(times, " %" PRIu64 " %" PRIu64, ufs_fired(u, "a"),
                           ufs_fired(u, "b"));
    g_assert_cmpuint(ufs_fired(u, "a"), >, 0);
    g_assert_cmpuint(ufs_fired(u, "b"), >, 0);
    ufs_stop(u);
    return g_string_free(times, false);
}

static void test_seed(void)
{
    g_autofree char *one = chance_run(1), *again = chance_run(1);
    g_autofree char *two = chance_run(2);

    g_assert_cmpstr(one, ==, again);
    g_assert_cmpstr(one, !=, two);
}

#define EVERYTHING \
    "id=a,every=2,fault=irq-late,for-ns=50000;" \
    "id=b,every=3,fault=data-late,for-ns=50000;" \
    "id=c,every=5,fault=complete-twice,for-ns=50000;" \
    "id=d,every=7,fault=hold;" \
    "id=e,at-ns=30000,period-ns=30000,fault=irq-stuck,for-ns=20000;" \
    "id=f,every=4,fault=irq-double,for-ns=50000;" \
    "id=g,every=2,knob=irq-latency-ns,value=90000,ramp-ns=70000,for-ns=90000;" \
    "id=h,at-ns=70000,fault=link-down,for-ns=10000;" \
    "id=i,at-ns=90000,fault=remove,for-ns=10000;" \
    "id=j,at-ns=1,fault=link-command-late,for-ns=100000"

static void make_busy(Ufs *u)
{
    unsigned i;

    for (i = 0; i < UFS_SLOTS; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    ufs_ring(u, UINT32_MAX);
}

/* In the middle of everything: disable, reset, clear; then it works again. */
static void test_hostile(void)
{
    int64_t t;

    for (t = 5000; t < 120000; t += 7919) {
        Ufs *u = ufs_inject(EVERYTHING);

        make_busy(u);
        ufs_step(u, t);
        ufs_write(u, A_UICCMD, UFS_UIC_CMD_DME_GET);
        ufs_write(u, A_UTRLCLR, 0xffff0000);
        ufs_write(u, A_HCE, 0);
        ufs_write(u, A_HCE, 1);
        ufs_write(u, A_UICCMD, UFS_UIC_CMD_DME_LINK_STARTUP);
        ufs_step(u, 300);
        inject_clear(u->qts, "ufs0");
        ufs_step(u, 1000000);
        ufs_write(u, A_HCE, 0);
        ufs_ack_all(u);
        g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 0);
        g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
        g_assert_false(ufs_intx(u));
        ufs_msi_taken(u);
        ufs_up(u);
        ufs_read_block(u, 0);
        ufs_step(u, READ_NS);
        ufs_expect_good(u, 0);
        ufs_stop(u);
    }
}

/* No timer is left when the device is gone for good. */
static void test_unplug(void)
{
    Ufs *u = ufs_inject(EVERYTHING);

    make_busy(u);
    ufs_step(u, 61000);
    g_free(u->dev);
    qpci_unplug_acpi_device_test(u->qts, "ufs0", 4);
    u->unplugged = true;
    ufs_step(u, 1000000000);
    ufs_stop(u);
}

/* A machine's reset: whole again, and the same from the start. */
static void test_machine_reset(void)
{
    Ufs *u = ufs_inject("id=a,at-ns=5000,fault=irq-spurious;"
                   "id=b,at-ns=1,knob=service-read-ns,value=99;"
                   "id=c,at-ns=100,fault=remove");

    ufs_step(u, 4000);
    g_assert_cmpuint(ufs_get_knob(u, "service-read-ns"), ==, 99);
    qtest_system_reset(u->qts);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 0);
    g_assert_cmpuint(ufs_fired(u, "b"), ==, 0);
    g_assert_cmpuint(ufs_get_knob(u, "service-read-ns"), ==, READ_NS);
    ufs_step(u, 6000);
    g_assert_cmpuint(ufs_fired(u, "b"), ==, 1);
    g_assert_cmpuint(ufs_fired(u, "c"), ==, 1);
    /* There was nothing left to interrupt. */
    g_assert_cmpuint(inject_count(u->qts, "ufs0", "a", "refused"), ==, 1);
    ufs_stop(u);
}

static void test_migrate(void)
{
    uint64_t last;
    Ufs *u = ufs_inject("id=a,at-ns=30000,period-ns=1000,fault=irq-spurious;"
                   "id=b,after=3,fault=hold,for-ns=5000;"
                   "id=c,at-ns=10000,knob=irq-latency-ns,value=500,"
                   "for-ns=40000;"
                   "id=d,after=1,fault=irq-late,for-ns=20000");
    int64_t t = u->now;

    ufs_read_block(u, 0);
    ufs_step_to(u, t + READ_NS + 3000);
    ufs_migrate(u, START);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 500);
    g_assert_cmpuint(ufs_fired(u, "d"), ==, 1);
    ufs_step_to(u, t + 29999);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 0);
    ufs_step_to(u, t + 33500);
    g_assert_cmpuint(ufs_fired(u, "a"), ==, 4);
    /* The machine was reset at 0. */
    g_assert_cmpuint(inject_times(u->qts, "ufs0", "a", &last), ==, 4);
    g_assert_cmpuint(last, ==, t + 33000);
    g_assert_cmpuint(inject_times(u->qts, "ufs0", "d", &last), ==, 1);
    g_assert_cmpuint(last, ==, t + READ_NS);
    ufs_step_to(u, t + 50000);
    g_assert_cmpuint(ufs_get_knob(u, "irq-latency-ns"), ==, 0);
    ufs_read_block(u, 1);
    ufs_read_block(u, 2);
    ufs_step(u, 2 * READ_NS);
    g_assert_true(ufs_busy(u, 4));
    ufs_step(u, 5000);
    ufs_expect_good(u, 2);
    g_assert_cmpuint(ufs_fired(u, "b"), ==, 1);
    ufs_stop(u);
}

/* What is late stays late, in another QEMU too. */
static void test_migrate_data_late(void)
{
    Ufs *u = ufs_start_up(START);
    int64_t t;

    ufs_fill(u, UFS_DATA(0), 4096, 1);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    inject(u->qts, "ufs0", "id=a,every=1,fault=data-late,for-ns=9000");
    ufs_fill(u, UFS_DATA(0), 4096, 2);
    ufs_read_block(u, 0);
    ufs_step(u, READ_NS);
    ufs_expect_good(u, 0);
    t = u->now;
    ufs_migrate(u, START);
    ufs_check(u, UFS_DATA(0), 4096, 2);
    ufs_step_to(u, t + 8999);
    ufs_check(u, UFS_DATA(0), 4096, 2);
    ufs_step_to(u, t + 9000);
    ufs_check(u, UFS_DATA(0), 4096, 1);
    ufs_stop(u);
}

void add_ufs_life_tests(void)
{
    qtest_add_func("/irqbed-inject/ufs/link-command", test_link_command);
    qtest_add_func("/irqbed-inject/ufs/link-down", test_link_down);
    qtest_add_func("/irqbed-inject/ufs/remove", test_remove);
    qtest_add_func("/irqbed-inject/ufs/remove-msix", test_remove_msix);
    qtest_add_func("/irqbed-inject/ufs/migrate-data-late",
                   test_migrate_data_late);
    qtest_add_func("/irqbed-inject/ufs/by-request", test_by_request);
    qtest_add_func("/irqbed-inject/ufs/extra-of-queue", test_extra_of_queue);
    qtest_add_func("/irqbed-inject/ufs/too-much-late", test_too_much_late);
    qtest_add_func("/irqbed-inject/ufs/seed", test_seed);
    qtest_add_func("/irqbed-inject/ufs/hostile", test_hostile);
    qtest_add_func("/irqbed-inject/ufs/unplug", test_unplug);
    qtest_add_func("/irqbed-inject/ufs/machine-reset", test_machine_reset);
    qtest_add_func("/irqbed-inject/ufs/migrate", test_migrate);
}
