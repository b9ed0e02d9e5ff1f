/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci: from PxIS to the interrupt, and back by acknowledgement.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "ahci-harness.h"

#define MS 1000000

static void issue_read(Ahci *a, unsigned port, unsigned slot)
{
    Cmd c = cmd_queued(false, slot * 8, 8);

    cmd_build(a, port, slot, &c);
    queue_issue(a, port, BIT(slot));
}

static bool intx_is_up(Ahci *a)
{
    return qpci_config_readw(a->dev, PCI_STATUS) & PCI_STATUS_INTERRUPT;
}

/* What a handler reads at the instant the interrupt is there. */
static void check_final(Ahci *a, uint32_t sact, uint32_t ci)
{
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, sact);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, ci);
}

/* Case status-before-irq: latency only. */
static void test_latency(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,irq-latency-ns=300");
    Cmd plain = { .command = ATA_READ_DMA_EXT, .count = 1, .bytes = 512 };

    port_start(a, 0);
    msi_enable(a, 0);
    issue_read(a, 0, 4);
    ahci_step(a, 999);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, BIT(4));
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, 0);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
    check_final(a, 0, 0);
    ahci_step(a, 299);
    g_assert_false(msi_take(a, NULL));
    ahci_step(a, 1);
    g_assert_true(msi_take(a, NULL));
    check_final(a, 0, 0);
    port_ack(a, 0);

    cmd_issue(a, 0, 2, &plain);
    ahci_step(a, 1000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_DHRS_MASK);
    check_final(a, 0, 0);
    ahci_step(a, 299);
    g_assert_false(msi_take(a, NULL));
    ahci_step(a, 1);
    g_assert_true(msi_take(a, NULL));
    g_assert_cmpuint(stat_of(a, "irq.raised"), ==, 2);
    g_assert_cmpuint(stat_of(a, "irq_to_read_ns.max"), ==, 0);
    ahci_stop(a);
}

/* Case status-before-irq: latency and coalescing, by count and by time. */
static void test_coalescing(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,irq-latency-ns=300,"
                         "irq-coalesce-count=4,irq-coalesce-timeout-ns=9000");
    unsigned slot;

    port_start(a, 0);
    msi_enable(a, 0);
    for (slot = 0; slot < 6; slot++) {
        issue_read(a, 0, slot);
    }
    ahci_step(a, 4000 + 299);
    g_assert_false(msi_take(a, NULL));
    check_final(a, 0x30, 0);
    ahci_step(a, 1);
    g_assert_true(msi_take(a, NULL));
    check_final(a, 0x30, 0);
    port_ack(a, 0);
    /* Two are left: they wait for the timeout. */
    ahci_step(a, 2000 - 300 + 8000 + 299);
    check_final(a, 0, 0);
    g_assert_false(msi_take(a, NULL));
    ahci_step(a, 1);
    g_assert_true(msi_take(a, NULL));
    g_assert_cmpuint(stat_of(a, "irq.raised"), ==, 2);
    g_assert_cmpuint(stat_of(a, "irq.coalesced"), ==, 4);
    ahci_stop(a);
}

/* An error waits in no window. */
static void test_error_is_urgent(void)
{
    Ahci *a = ahci_start(1, "ports=1,irq-coalesce-count=4,"
                         "irq-coalesce-timeout-ns=9000000");
    Cmd c = { .command = ATA_NOP };

    port_start(a, 0);
    msi_enable(a, 0);
    cmd_issue(a, 0, 0, &c);
    ahci_step(a, 1);
    g_assert_true(msi_take(a, NULL));
    ahci_stop(a);
}

/*
 * The theorem of hw/ahci/irq.c, shared vector: status that comes between the
 * handler's write of PxIS and its write of IS is not lost.
 */
static void test_shared_race(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000");

    port_start(a, 0);
    port_start(a, 1);
    msi_enable(a, 0);
    issue_read(a, 0, 0);
    ahci_step(a, 1000);
    g_assert_true(msi_take(a, NULL));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 1);
    port_wr(a, 0, A_PORT_IS, R_PORT_IS_SDBS_MASK);

    /* the same port again */
    issue_read(a, 0, 1);
    ahci_step(a, 1000);
    g_assert_false(msi_take(a, NULL));
    ahci_wr(a, A_HBA_IS, 1);
    g_assert_true(msi_take(a, NULL));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 1);

    /* another port, while this one is handled */
    issue_read(a, 1, 0);
    ahci_step(a, 1000);
    g_assert_false(msi_take(a, NULL));
    port_ack(a, 0);
    g_assert_true(msi_take(a, NULL));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 2);
    port_ack(a, 1);
    g_assert_false(msi_take(a, NULL));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    g_assert_cmpuint(stat_of(a, "irq.raised"), ==, 3);
    g_assert_cmpuint(stat_of(a, "irq_to_clear_ns.count"), ==, 3);
    ahci_stop(a);
}

/* Vectors of one's own: the same race between read and write of PxIS. */
static void test_own_vectors(void)
{
    Ahci *a = ahci_start(3, "ports=3,service-read-ns=1000");
    Cmd plain = { .command = ATA_FLUSH_CACHE };
    uint32_t vector;
    unsigned port;

    for (port = 0; port < 3; port++) {
        port_start(a, port);
    }
    msi_enable(a, 2);
    g_assert_false(ahci_rd(a, A_HBA_GHC) & R_HBA_GHC_MRSM_MASK);
    for (port = 0; port < 3; port++) {
        issue_read(a, port, 0);
        ahci_step(a, 1000);
        g_assert_true(msi_take(a, &vector));
        g_assert_cmphex(vector, ==, port);
    }
    /* Handlers of their own touch PxIS alone. */
    port_wr(a, 1, A_PORT_IS, R_PORT_IS_SDBS_MASK);
    cmd_issue(a, 1, 0, &plain);
    ahci_step(a, 1);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmphex(vector, ==, 1);
    /* Read: DHRS.  Now comes SDBS, which the write must not hide. */
    issue_read(a, 1, 2);
    ahci_step(a, 1000);
    g_assert_false(msi_take(a, NULL));
    port_wr(a, 1, A_PORT_IS, R_PORT_IS_DHRS_MASK);
    g_assert_true(msi_take(a, &vector));
    g_assert_cmphex(vector, ==, 1);
    port_wr(a, 1, A_PORT_IS, R_PORT_IS_SDBS_MASK);
    g_assert_false(msi_take(a, NULL));
    ahci_stop(a);
}

/* Case multi-msi-degraded: fewer than offered, or fewer offered than ports. */
static void test_mrsm(void)
{
    static const struct {
        const char *options;
        unsigned log2;
        bool mrsm;
    } cases[] = {
        { "ports=3,service-read-ns=1000", 1, true },
        { "ports=3,service-read-ns=1000,msi-vectors=8", 2, true },
        { "ports=3,service-read-ns=1000,msi-vectors=2", 1, true },
        { "ports=3,service-read-ns=1000,msi-vectors=1", 0, false },
        { "ports=3,service-read-ns=1000", 0, false },
    };
    unsigned i, port;

    for (i = 0; i < ARRAY_SIZE(cases); i++) {
        Ahci *a = ahci_start(3, cases[i].options);
        uint32_t vector;

        for (port = 0; port < 3; port++) {
            port_start(a, port);
        }
        g_assert_false(ahci_rd(a, A_HBA_GHC) & R_HBA_GHC_MRSM_MASK);
        msi_enable(a, cases[i].log2);
        g_assert_cmpint(!!(ahci_rd(a, A_HBA_GHC) & R_HBA_GHC_MRSM_MASK), ==,
                        cases[i].mrsm);
        for (port = 0; port < 3; port++) {
            issue_read(a, port, 0);
            ahci_step(a, 1000);
            g_assert_true(msi_take(a, &vector));
            g_assert_cmphex(vector, ==, 0);
            g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, BIT(port));
            port_ack(a, port);
        }
        ahci_stop(a);
    }
}

/* INTx: up with the status, down when IS is clear; off with GHC.IE. */
static void test_intx(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,irq-mode=intx");

    g_assert_cmphex(qpci_find_capability(a->dev, PCI_CAP_ID_MSI, 0), ==, 0);
    port_start(a, 0);
    issue_read(a, 0, 0);
    ahci_step(a, 999);
    g_assert_false(intx_is_up(a));
    ahci_step(a, 1);
    g_assert_true(intx_is_up(a));
    ahci_wr(a, A_HBA_GHC, 0);
    g_assert_false(intx_is_up(a));
    ahci_wr(a, A_HBA_GHC, R_HBA_GHC_IE_MASK);
    g_assert_true(intx_is_up(a));
    port_wr(a, 0, A_PORT_IS, R_PORT_IS_SDBS_MASK);
    g_assert_true(intx_is_up(a));
    ahci_wr(a, A_HBA_IS, 1);
    g_assert_false(intx_is_up(a));
    ahci_stop(a);
}

/* Status that is not enabled interrupts when it becomes so. */
static void test_enable_late(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000");

    port_start(a, 0);
    msi_enable(a, 0);
    port_wr(a, 0, A_PORT_IE, R_PORT_IS_DHRS_MASK);
    issue_read(a, 0, 0);
    ahci_step(a, 2000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    g_assert_false(msi_take(a, NULL));
    port_wr(a, 0, A_PORT_IE, R_PORT_IS_SDBS_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 1);
    g_assert_true(msi_take(a, NULL));
    ahci_stop(a);
}

/* Completions on both ports make one CCC interrupt; port bits are masked. */
static void start_ccc(Ahci *a, uint32_t count, uint32_t ms)
{
    uint32_t ctl = ahci_rd(a, A_HBA_CCC_CTL);
    unsigned port;

    g_assert_true(ahci_rd(a, A_HBA_CAP) & R_HBA_CAP_CCCS_MASK);
    g_assert_cmpuint(FIELD_EX32(ctl, HBA_CCC_CTL, INT), ==, 2);
    g_assert_cmpuint(FIELD_EX32(ctl, HBA_CCC_CTL, CC), ==, 1);
    g_assert_cmpuint(FIELD_EX32(ctl, HBA_CCC_CTL, TV), ==, 1);
    for (port = 0; port < 2; port++) {
        port_start(a, port);
        port_wr(a, port, A_PORT_IE, R_PORT_IS_TFES_MASK);
    }
    ctl = FIELD_DP32(0, HBA_CCC_CTL, CC, count);
    ctl = FIELD_DP32(ctl, HBA_CCC_CTL, TV, ms);
    ahci_wr(a, A_HBA_CCC_PORTS, 3);
    ahci_wr(a, A_HBA_CCC_CTL, ctl);
    ahci_wr(a, A_HBA_CCC_CTL, ctl | R_HBA_CCC_CTL_EN_MASK);
}

static void test_ccc_count(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000");
    unsigned slot;
    uint32_t vector;

    msi_enable(a, 2);
    start_ccc(a, 3, 10);
    for (slot = 0; slot < 3; slot++) {
        g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
        g_assert_false(msi_take(a, NULL));
        issue_read(a, slot % 2, slot);
        ahci_step(a, 1000);
    }
    /* Its own bit and its own message. */
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, BIT(2));
    g_assert_true(msi_take(a, &vector));
    g_assert_cmphex(vector, ==, 2);
    ahci_wr(a, A_HBA_IS, BIT(2));
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    ahci_step(a, 100 * MS);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    ahci_stop(a);
}

static void test_ccc_timeout(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000");

    msi_enable(a, 0);
    start_ccc(a, 3, 2);
    /* The timer stands still as long as nothing is outstanding. */
    ahci_step(a, 50 * MS);
    issue_read(a, 1, 0);
    ahci_step(a, 2 * MS - 1);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SACT), ==, 0);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    g_assert_false(msi_take(a, NULL));
    ahci_step(a, 1);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, BIT(2));
    g_assert_true(msi_take(a, NULL));
    ahci_wr(a, A_HBA_IS, BIT(2));

    /* Off with a command under way: no more of it. */
    issue_read(a, 1, 0);
    ahci_wr(a, A_HBA_CCC_CTL, 0);
    ahci_step(a, 50 * MS);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    ahci_stop(a);
}

static void test_no_ccc(void)
{
    static const char *const options[] = { "ports=32", "ports=2,ccc=off" };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(options); i++) {
        Ahci *a = ahci_start(1, options[i]);

        g_assert_false(ahci_rd(a, A_HBA_CAP) & R_HBA_CAP_CCCS_MASK);
        ahci_wr(a, A_HBA_CCC_CTL, 0xffffffff);
        ahci_wr(a, A_HBA_CCC_PORTS, 0xffffffff);
        g_assert_cmphex(ahci_rd(a, A_HBA_CCC_CTL), ==, 0);
        g_assert_cmphex(ahci_rd(a, A_HBA_CCC_PORTS), ==, 0);
        ahci_stop(a);
    }
}

void add_irq_tests(void)
{
    qtest_add_func("/ahci/irq/status-before/latency", test_latency);
    qtest_add_func("/ahci/irq/status-before/coalescing", test_coalescing);
    qtest_add_func("/ahci/irq/error-is-urgent", test_error_is_urgent);
    qtest_add_func("/ahci/irq/shared-race", test_shared_race);
    qtest_add_func("/ahci/irq/own-vectors", test_own_vectors);
    qtest_add_func("/ahci/irq/mrsm", test_mrsm);
    qtest_add_func("/ahci/irq/intx", test_intx);
    qtest_add_func("/ahci/irq/enable-late", test_enable_late);
    qtest_add_func("/ahci/ccc/count", test_ccc_count);
    qtest_add_func("/ahci/ccc/timeout", test_ccc_timeout);
    qtest_add_func("/ahci/ccc/absent", test_no_ccc);
}
