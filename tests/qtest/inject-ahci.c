/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections that are AHCI's own, with the device's count of each, and what is
 * every controller's once more on it.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "ahci-harness.h"
#include "inject.h"

#define READ_NS 7000

static uint64_t fired(Ahci *a, const char *id)
{
    return inject_fired(a->qts, "ahci0", id);
}

static Ahci *start(const char *entries)
{
    Ahci *a = ahci_start(1, "ports=2,service-read-ns=7000");

    port_start(a, 0);
    msi_enable(a, 0);
    ahci_step(a, 1000);
    inject(a->qts, "ahci0", entries);
    return a;
}

static void read_queued(Ahci *a, unsigned slot)
{
    Cmd c = cmd_queued(false, slot * 8, 8);

    cmd_build(a, 0, slot, &c);
    queue_issue(a, 0, BIT(slot));
}

static void test_irq_lost(void)
{
    Ahci *a = start("id=a,every=2,fault=irq-lost");
    uint32_t vector;
    unsigned i;

    for (i = 1; i <= 10; i++) {
        read_queued(a, 3);
        ahci_step(a, READ_NS);
        g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
        g_assert_cmpint(msi_take(a, &vector), ==, i % 2);
        port_ack(a, 0);
    }
    g_assert_cmpuint(fired(a, "a"), ==, 5);
    ahci_stop(a);
}

static void test_no_source(void)
{
    Ahci *a = start("id=a,at-ns=100,fault=irq-no-source");
    uint32_t vector;

    ahci_step(a, 99);
    g_assert_false(msi_take(a, &vector));
    ahci_step(a, 1);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, BIT(31));
    g_assert_cmphex(ahci_rd(a, A_HBA_PI) & BIT(31), ==, 0);
    ahci_wr(a, A_HBA_IS, BIT(31));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    ahci_stop(a);
}

/* One message granted of four: whatever a vector has to say comes by that. */
static void test_fewer_messages(void)
{
    Ahci *a = ahci_start(2, "ports=2,msi-vectors=4,service-read-ns=7000");
    Cmd c = cmd_queued(false, 0, 8);
    uint32_t vector;

    port_start(a, 1);
    msi_enable(a, 0);
    ahci_step(a, 1000);
    inject(a->qts, "ahci0", "id=a,at-ns=100,fault=irq-spurious,target=3;"
           "id=b,at-ns=200,fault=irq-stuck,target=2,for-ns=50");
    ahci_step(a, 100);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmpuint(vector, ==, 0);
    ahci_step(a, 100);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmpuint(vector, ==, 0);
    /* Fewer than when it began. */
    ahci_step(a, 1000);
    msi_enable(a, 2);
    inject(a->qts, "ahci0", "id=c,after=1,fault=irq-double,for-ns=500");
    cmd_build(a, 1, 0, &c);
    queue_issue(a, 1, 1);
    ahci_step(a, READ_NS);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmpuint(vector, ==, 1);
    port_ack(a, 1);
    msi_enable(a, 0);
    ahci_step(a, 499);
    g_assert_false(msi_take(a, &vector));
    ahci_step(a, 1);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmpuint(vector, ==, 0);
    g_assert_cmpuint(fired(a, "a") + fired(a, "b") + fired(a, "c"), ==, 3);
    ahci_stop(a);
}

static const struct {
    const char *word;
    uint32_t is;
    uint8_t error;
} statuses[] = {
    { "abrt", R_PORT_IS_TFES_MASK, ATA_ERR_ABRT },
    { "unc", R_PORT_IS_TFES_MASK, ATA_ERR_UNC },
    { "idnf", R_PORT_IS_TFES_MASK, ATA_ERR_IDNF },
    { "icrc", R_PORT_IS_TFES_MASK, ATA_ERR_ICRC | ATA_ERR_ABRT },
    { "ifs", R_PORT_IS_IFS_MASK },
    { "ofs", R_PORT_IS_OFS_MASK },
    { "hbfs", R_PORT_IS_HBFS_MASK },
    { "hbds", R_PORT_IS_HBDS_MASK },
};

static void test_status(bool queued)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=7000");
    Cmd plain = { .command = ATA_READ_DMA_EXT, .count = 8,
                  .bytes = 4096 };
    Cmd ncq = cmd_queued(false, 0, 8);
    unsigned i;

    port_start(a, 0);
    ahci_step(a, 1);
    for (i = 0; i < ARRAY_SIZE(statuses); i++) {
        g_autofree char *e = g_strdup_printf(
            "id=a,after=1,fault=status,status=%s", statuses[i].word);

        inject(a->qts, "ahci0", e);
        if (queued) {
            cmd_build(a, 0, 5, &ncq);
            queue_issue(a, 0, BIT(5));
        } else {
            cmd_issue(a, 0, 5, &plain);
        }
        ahci_step(a, READ_NS);
        g_assert_cmphex(port_rd(a, 0, A_PORT_IS) & statuses[i].is, ==,
                        statuses[i].is);
        if (statuses[i].error) {
            g_assert_cmphex(port_rd(a, 0, A_PORT_TFD) >> 8, ==,
                            statuses[i].error);
        }
        g_assert_cmphex(port_rd(a, 0, queued ? A_PORT_SACT : A_PORT_CI), ==,
                        BIT(5));
        g_assert_cmpuint(fired(a, "a"), ==, 1);
        /* The HBA's own errors leave the drive busy. */
        port_stop(a, 0);
        port_wr(a, 0, A_PORT_CMD,
                port_rd(a, 0, A_PORT_CMD) | R_PORT_CMD_CLO_MASK);
        port_recover(a, 0);
        inject_clear(a->qts, "ahci0");
        if (queued && statuses[i].error) {
            Cmd log = { .command = ATA_READ_LOG_EXT, .lba = 0x10,
                        .count = 1, .bytes = 512 };

            cmd_do(a, 0, 0, &log);
            g_assert_cmphex(qtest_readb(a->qts, DATA(0, 0)) & 0x1f, ==, 5);
        }
    }
    cmd_issue(a, 0, 5, &plain);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD) & 0xff, ==, ATA_STS_GOOD);
    ahci_stop(a);
}

static void test_status_plain(void)
{
    test_status(false);
}

static void test_status_queued(void)
{
    test_status(true);
}

static void test_dma_refused(void)
{
    Ahci *a = start("id=a,after=1,fault=dma-refused");

    read_queued(a, 0);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS) & R_PORT_IS_HBDS_MASK, !=, 0);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    port_recover(a, 0);
    read_queued(a, 0);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    ahci_stop(a);
}

static void test_hold_and_late(void)
{
    Ahci *a = start("id=a,after=1,fault=hold,for-ns=3000;"
                    "id=b,after=2,fault=data-late,for-ns=500;"
                    "id=c,after=2,fault=irq-late,for-ns=900;"
                    "id=d,after=3,fault=hold");
    uint32_t vector;

    read_queued(a, 0);
    ahci_step(a, READ_NS + 2999);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 1);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    g_assert_true(msi_take(a, &vector));
    port_ack(a, 0);

    qtest_memset(a->qts, DATA(0, 1), 0xee, 512);
    read_queued(a, 1);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    ahci_step(a, 499);
    g_assert_cmphex(qtest_readb(a->qts, DATA(0, 1)), ==, 0xee);
    ahci_step(a, 1);
    g_assert_cmphex(qtest_readb(a->qts, DATA(0, 1)), !=, 0xee);
    ahci_step(a, 399);
    g_assert_false(msi_take(a, &vector));
    ahci_step(a, 1);
    g_assert_true(msi_take(a, &vector));
    port_ack(a, 0);

    read_queued(a, 2);
    ahci_step(a, INT64_C(60000000000));
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 4);
    port_stop(a, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    g_assert_cmpuint(fired(a, "a") + fired(a, "b") + fired(a, "c") +
                     fired(a, "d"), ==, 4);
    ahci_stop(a);
}

/* What would cost the host too much memory is not late. */
static void test_late_limit(void)
{
    Ahci *a = start("id=a,every=1,fault=data-late,for-ns=500");
    Cmd big = { .command = ATA_READ_DMA_EXT, .count = 16384,
                .bytes = 16384 * 512, .prd_bytes = 4 * 1024 * 1024,
                .data = 0x04000000 };

    qtest_memset(a->qts, big.data + big.bytes - 512, 0xee, 512);
    cmd_issue(a, 0, 0, &big);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 0);
    g_assert_cmphex(qtest_readb(a->qts, big.data + big.bytes - 1), !=, 0xee);
    g_assert_cmpuint(fired(a, "a"), ==, 0);
    read_queued(a, 1);
    ahci_step(a, READ_NS);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    ahci_stop(a);
}

static void test_twice(void)
{
    Ahci *a = start("id=a,after=1,fault=complete-twice,for-ns=200");
    uint32_t vector;

    read_queued(a, 0);
    ahci_step(a, READ_NS);
    g_assert_true(msi_take(a, &vector));
    port_ack(a, 0);
    ahci_step(a, 199);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, 0);
    ahci_step(a, 1);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    ahci_stop(a);
}

static void test_link_down(void)
{
    Ahci *a = start("id=a,at-ns=2000,fault=link-down,for-ns=100000;"
                    "id=b,at-ns=3000,fault=link-down,target=5");

    read_queued(a, 0);
    ahci_step(a, 2000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS) & R_PORT_IS_PRCS_MASK, !=, 0);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 1);
    /* There is no port 5. */
    g_assert_cmpuint(inject_count(a->qts, "ahci0", "b", "refused"), ==, 1);
    /* Neither reset brings it up. */
    port_stop(a, 0);
    port_wr(a, 0, A_PORT_SCTL, 1);
    port_wr(a, 0, A_PORT_SCTL, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 0);
    ahci_wr(a, A_HBA_GHC, R_HBA_GHC_HR_MASK);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 0);
    ahci_step(a, 100000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 3);
    port_wr(a, 0, A_PORT_SERR, UINT32_MAX);
    port_start(a, 0);
    read_queued(a, 0);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    ahci_stop(a);
}

static void test_remove(void)
{
    Ahci *a = start("id=a,at-ns=2000,fault=remove,for-ns=100000");
    uint32_t vector;

    read_queued(a, 0);
    ahci_step(a, 2000);
    g_assert_cmphex(ahci_rd(a, A_HBA_CAP), ==, UINT32_MAX);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS), ==, UINT32_MAX);
    g_assert_cmphex(qpci_config_readw(a->dev, PCI_VENDOR_ID), ==, 0xffff);
    ahci_wr(a, A_HBA_GHC, R_HBA_GHC_HR_MASK);
    ahci_step(a, 99999);
    g_assert_false(msi_take(a, &vector));
    ahci_step(a, 1);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 3);
    port_start(a, 0);
    read_queued(a, 0);
    ahci_step(a, READ_NS);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    ahci_stop(a);
}

/* Resets of all kinds in the middle of all of it. */
static void test_hostile(void)
{
    int64_t t;

    for (t = 1000; t < 60000; t += 4999) {
        Ahci *a = start(
            "id=a,every=2,fault=irq-late,for-ns=9000;"
            "id=b,every=3,fault=data-late,for-ns=9000;"
            "id=c,every=5,fault=complete-twice,for-ns=9000;"
            "id=d,every=7,fault=hold;id=e,every=11,fault=status,status=unc;"
            "id=f,at-ns=10000,period-ns=9000,fault=irq-stuck,for-ns=5000;"
            "id=g,at-ns=20000,period-ns=20000,fault=link-down,for-ns=5000;"
            "id=h,at-ns=30000,fault=remove,for-ns=9000;"
            "id=i,every=3,fault=irq-no-source");
        unsigned slot;

        for (slot = 0; slot < 32; slot++) {
            Cmd c = cmd_queued(false, slot * 8, 8);

            cmd_build(a, 0, slot, &c);
        }
        queue_issue(a, 0, UINT32_MAX);
        ahci_step(a, t);
        port_wr(a, 0, A_PORT_CMD, 0);
        port_wr(a, 0, A_PORT_SCTL, 1);
        port_wr(a, 0, A_PORT_SCTL, 0);
        ahci_step(a, 100);
        ahci_wr(a, A_HBA_GHC, R_HBA_GHC_HR_MASK);
        inject_clear(a->qts, "ahci0");
        ahci_step(a, 1000000);
        ahci_wr(a, A_HBA_GHC, R_HBA_GHC_HR_MASK);
        g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 0);
        port_wr(a, 0, A_PORT_SERR, UINT32_MAX);
        port_start(a, 0);
        read_queued(a, 0);
        ahci_step(a, READ_NS);
        g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
        check_conserved(a);
        ahci_stop(a);
    }
}

static void test_migrate(void)
{
    Ahci *a = start("id=a,after=1,fault=irq-late,for-ns=9000;"
                    "id=b,at-ns=8000,fault=link-down,for-ns=20000");

    read_queued(a, 0);
    ahci_step(a, 8500);
    ahci_migrate(a);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 0);
    ahci_step(a, 8000 + 20000 - 8500 - 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 0);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS) & 0xf, ==, 3);
    g_assert_cmpuint(fired(a, "a"), ==, 1);
    g_assert_cmpuint(fired(a, "b"), ==, 1);
    ahci_stop(a);
}

void add_ahci_tests(void)
{
    qtest_add_func("/irqbed-inject/ahci/irq-lost", test_irq_lost);
    qtest_add_func("/irqbed-inject/ahci/no-source", test_no_source);
    qtest_add_func("/irqbed-inject/ahci/fewer-messages", test_fewer_messages);
    qtest_add_func("/irqbed-inject/ahci/status-plain", test_status_plain);
    qtest_add_func("/irqbed-inject/ahci/status-queued", test_status_queued);
    qtest_add_func("/irqbed-inject/ahci/dma-refused", test_dma_refused);
    qtest_add_func("/irqbed-inject/ahci/hold-and-late", test_hold_and_late);
    qtest_add_func("/irqbed-inject/ahci/late-limit", test_late_limit);
    qtest_add_func("/irqbed-inject/ahci/twice", test_twice);
    qtest_add_func("/irqbed-inject/ahci/link-down", test_link_down);
    qtest_add_func("/irqbed-inject/ahci/remove", test_remove);
    qtest_add_func("/irqbed-inject/ahci/hostile", test_hostile);
    qtest_add_func("/irqbed-inject/ahci/migrate", test_migrate);
}
