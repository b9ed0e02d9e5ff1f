/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci: native command queuing, its timing, its errors, and the faults
 * that the knobs inject.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ahci-harness.h"

#define ALL 0xffffffff

static void build_reads(Ahci *a, unsigned port, uint32_t slots)
{
    unsigned slot;

    for (slot = 0; slot < 32; slot++) {
        Cmd c = cmd_queued(false, slot * 8, 8);

        if (slots & BIT(slot)) {
            cmd_build(a, port, slot, &c);
        }
    }
}

/* 32 writes at once, then 32 reads, each with data of its own. */
static void test_round_trip(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-write-ns=1000,"
                         "service-read-ns=700");
    g_autofree uint8_t *rx = g_malloc(4096);
    unsigned slot, i;

    port_start(a, 0);
    for (slot = 0; slot < 32; slot++) {
        Cmd c = cmd_queued(true, 1000 + slot * 8, 8);

        qtest_memset(a->qts, DATA(0, slot), 0xa0 ^ slot, 4096);
        cmd_build(a, 0, slot, &c);
    }
    queue_issue(a, 0, ALL);
    /* Accepted: gone from PxCI, the drive not busy, all in PxSACT. */
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, ALL);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD) & 0xff, ==, ATA_STS_GOOD);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, 0);
    ahci_step(a, 32 * 1000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
    g_assert_cmphex(le32_to_cpu(rx_sdb(a, 0).sactive), ==, BIT(31));
    port_ack(a, 0);

    for (slot = 0; slot < 32; slot++) {
        Cmd c = cmd_queued(false, 1000 + slot * 8, 8);

        qtest_memset(a->qts, DATA(0, slot), 0, 4096);
        cmd_build(a, 0, slot, &c);
    }
    queue_issue(a, 0, ALL);
    ahci_step(a, 32 * 700);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    for (slot = 0; slot < 32; slot++) {
        qtest_memread(a->qts, DATA(0, slot), rx, 4096);
        for (i = 0; i < 4096; i++) {
            g_assert_cmphex(rx[i], ==, 0xa0 ^ slot);
        }
    }
    g_assert_cmpuint(stat_of(a, "requests.completed"), ==, 64);
    ahci_stop(a);
}

/* Service time, cost per KiB, units; each drive has units of its own. */
static void test_due_time(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=10007,units=2,"
                         "service-read-ns-per-kib=1000");
    int64_t once = 10007 + 4 * 1000;

    port_start(a, 0);
    port_start(a, 1);
    /* Tags 0 and 2 share a unit of port 0; tag 1 has the other. */
    build_reads(a, 0, 7);
    build_reads(a, 1, 1);
    queue_issue(a, 0, 7);
    queue_issue(a, 1, 1);
    ahci_step(a, once - 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 7);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SACT), ==, 1);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 4);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SACT), ==, 0);
    ahci_step(a, once - 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 4);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    g_assert_cmpuint(stat_of(a, "queueing_ns.max"), ==, once);
    g_assert_cmpuint(stat_of(a, "service_read_ns.max"), ==, once);
    ahci_stop(a);
}

static void read_log(Ahci *a, uint8_t command, uint8_t log, uint8_t *page)
{
    Cmd c = { .command = command, .lba = log, .count = 1, .bytes = 512 };
    uint8_t sum = 0;
    unsigned i;

    cmd_do(a, 0, 0, &c);
    qtest_memread(a->qts, DATA(0, 0), page, 512);
    for (i = 0; i < 512; i++) {
        sum += page[i];
    }
    if (log == ATA_LOG_NCQ_ERROR) {
        g_assert_cmphex(sum, ==, 0);
    }
}

/* Case ncq-error: tag 7 of 32 fails. */
static void test_error(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,fail-every=8");
    uint8_t page[512];
    Cmd again = cmd_queued(false, 0, 8);

    port_start(a, 0);
    build_reads(a, 0, ALL);
    queue_issue(a, 0, ALL);
    ahci_step(a, 7 * 1000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0xffffff80);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
    port_ack(a, 0);
    ahci_step(a, 1000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==,
                    R_PORT_IS_SDBS_MASK | R_PORT_IS_TFES_MASK);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SERR), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==,
                    ATA_ERR_UNC << 8 | ATA_STS_BAD);
    g_assert_cmphex(le32_to_cpu(rx_sdb(a, 0).sactive), ==, 0);
    /* Frozen: nothing more completes, however long one waits. */
    ahci_step(a, 1000000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0xffffff80);
    g_assert_cmpuint(stat_of(a, "faults.failed"), ==, 1 + 3);
    g_assert_cmpuint(stat_of(a, "requests.completed"), ==, 7);
    g_assert_cmpuint(stat_of(a, "requests.failed"), ==, 1);
    g_assert_cmpuint(stat_of(a, "requests.aborted"), ==, 24);
    g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 0);
    knob_set(a, "fail-every", 0);

    /* Until the log is read the drive aborts everything. */
    port_recover(a, 0);
    cmd_build(a, 0, 3, &again);
    queue_issue(a, 0, BIT(3));
    ahci_step(a, 1000);
    g_assert_true(port_rd(a, 0, A_PORT_IS) & R_PORT_IS_TFES_MASK);
    g_assert_cmphex(rx_d2h(a, 0).error, ==, ATA_ERR_ABRT);
    port_recover(a, 0);
    read_log(a, ATA_READ_LOG_DMA_EXT, ATA_LOG_NCQ_ERROR, page);
    g_assert_cmphex(page[0], ==, ATA_LOG_NCQ_NOT_QUEUED);
    ahci_stop(a);
}

/* The log names the tag, status, error and address; then all is well. */
static void test_error_log(void)
{
    static const uint8_t commands[] = {
        ATA_READ_LOG_EXT, ATA_READ_LOG_DMA_EXT
    };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(commands); i++) {
        Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,fail-every=8");
        uint8_t page[512];

        port_start(a, 0);
        build_reads(a, 0, ALL);
        queue_issue(a, 0, ALL);
        ahci_step(a, 8 * 1000);
        port_recover(a, 0);
        knob_set(a, "fail-every", 0);
        read_log(a, commands[i], ATA_LOG_NCQ_ERROR, page);
        g_assert_cmphex(page[0], ==, 7);
        g_assert_cmphex(page[2], ==, ATA_STS_BAD);
        g_assert_cmphex(page[3], ==, ATA_ERR_UNC);
        g_assert_cmphex(page[4], ==, 7 * 8);
        read_log(a, commands[i], ATA_LOG_DIRECTORY, page);
        g_assert_cmphex(page[0], ==, 1);
        g_assert_cmphex(page[2 * ATA_LOG_NCQ_ERROR], ==, 1);

        port_ack(a, 0);
        queue_issue(a, 0, 0xffffff80);
        ahci_step(a, 25 * 1000);
        g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
        g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
        g_assert_cmpuint(stat_of(a, "requests.completed"), ==, 7 + 2 + 25);
        ahci_stop(a);
    }
}

/* An address past the end fails that tag, when it is due. */
static void test_bad_address(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-other-ns=500");
    Cmd c = cmd_queued(true, DISK_BYTES / 512, 1);
    uint8_t page[512];

    port_start(a, 0);
    cmd_build(a, 0, 9, &c);
    queue_issue(a, 0, BIT(9));
    ahci_step(a, 499);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, 0);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==,
                    ATA_ERR_IDNF << 8 | ATA_STS_BAD);
    port_recover(a, 0);
    knob_set(a, "service-other-ns", 0);
    read_log(a, ATA_READ_LOG_EXT, ATA_LOG_NCQ_ERROR, page);
    g_assert_cmphex(page[0], ==, 9);
    g_assert_cmphex(page[3], ==, ATA_ERR_IDNF);
    ahci_stop(a);
}

/* What may not stand beside queued commands ends them all. */
static void test_broken_queue(void)
{
    static const struct {
        uint8_t command;
        unsigned slot;
    } breakers[] = {
        { ATA_FLUSH_CACHE_EXT, 4 }, { ATA_READ_LOG_EXT, 4 },
        { ATA_READ_FPDMA_QUEUED, 1 },           /* in use */
    };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(breakers); i++) {
        Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000");
        Cmd c = { .command = breakers[i].command, .lba = ATA_LOG_NCQ_ERROR,
                  .count = 1, .bytes = 512 };

        port_start(a, 0);
        build_reads(a, 0, 7);
        queue_issue(a, 0, 7);
        cmd_issue(a, 0, breakers[i].slot, &c);
        ahci_step(a, 1);
        g_assert_true(port_rd(a, 0, A_PORT_IS) & R_PORT_IS_TFES_MASK);
        g_assert_cmphex(rx_d2h(a, 0).error, ==, ATA_ERR_ABRT);
        ahci_step(a, 10000);
        g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 7);
        g_assert_cmpuint(stat_of(a, "requests.aborted"), ==, 3);
        g_assert_cmpuint(stat_of(a, "guest_errors"), ==, 1);
        ahci_stop(a);
    }
}

/* The tag in the command is the slot's number, or nothing is done. */
static void test_wrong_tag(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = cmd_queued(false, 0, 1);

    port_start(a, 0);
    cmd_build(a, 0, 5, &c);
    qtest_writeb(a->qts, TABLE(0, 5) + offsetof(FisH2d, count0), 6 << 3);
    queue_issue(a, 0, BIT(5));
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==,
                    ATA_ERR_ABRT << 8 | ATA_STS_BAD);
    ahci_stop(a);
}

/* hold-every: the held ones stay in PxSACT until the port is stopped. */
static void test_held(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,hold-every=4");

    port_start(a, 0);
    build_reads(a, 0, 0xff);
    queue_issue(a, 0, 0xff);
    ahci_step(a, 1000000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0x88);
    g_assert_cmpuint(stat_of(a, "faults.held"), ==, 2);
    g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 2);
    port_recover(a, 0);
    g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 0);
    ahci_stop(a);
}

/* irq-drop-every: complete, status set, no interrupt; the next one comes. */
static void test_dropped(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,irq-drop-every=2");
    unsigned slot;

    port_start(a, 0);
    msi_enable(a, 0);
    build_reads(a, 0, 0xf);
    for (slot = 0; slot < 4; slot++) {
        queue_issue(a, 0, BIT(slot));
        ahci_step(a, 1000);
        g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
        g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_SDBS_MASK);
        g_assert_cmpint(msi_take(a, NULL), ==, slot % 2 == 0);
        port_ack(a, 0);
    }
    g_assert_cmpuint(stat_of(a, "faults.irq_dropped"), ==, 2);
    ahci_stop(a);
}

void add_queue_tests(void)
{
    qtest_add_func("/ahci/queue/round-trip", test_round_trip);
    qtest_add_func("/ahci/queue/due-time", test_due_time);
    qtest_add_func("/ahci/queue/error", test_error);
    qtest_add_func("/ahci/queue/error-log", test_error_log);
    qtest_add_func("/ahci/queue/bad-address", test_bad_address);
    qtest_add_func("/ahci/queue/broken", test_broken_queue);
    qtest_add_func("/ahci/queue/wrong-tag", test_wrong_tag);
    qtest_add_func("/ahci/queue/held", test_held);
    qtest_add_func("/ahci/queue/dropped", test_dropped);
}
