/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci, saved and restored in the middle of I/O: from then on everything
 * happens at the same nanosecond, with the same data, as in a machine that
 * went on.
 */

#include "qemu/osdep.h"
#include "qobject/qjson.h"
#include "qobject/qstring.h"
#include "ahci-harness.h"

#define PORTS    2
#define STEPS    120
#define STEP_NS  2500
#define AT_STEP  20
#define OPTIONS  "ports=2,service-read-ns=20000,service-read-dist=lognormal," \
                 "service-read-spread-ns=9000,service-write-ns=30000," \
                 "service-other-ns=60000,units=4,irq-latency-ns=3000," \
                 "irq-latency-dist=uniform,irq-latency-spread-ns=2000," \
                 "irq-coalesce-timeout-ns=9000,irq-coalesce-count=3," \
                 "hold-every=11,irq-drop-every=7"

typedef struct Seen {
    uint32_t sact[PORTS][STEPS];
    uint32_t tfd[PORTS][STEPS];
    uint32_t is[STEPS];
    bool irq[STEPS];
    GString *stats;
} Seen;

static void queue_all(Ahci *a, unsigned port)
{
    uint32_t slots = ~port_rd(a, port, A_PORT_SACT);
    unsigned slot;

    for (slot = 0; slot < 32; slot++) {
        Cmd c = cmd_queued(slot & 1, slot / 2 * 8, 8);

        if (slots & BIT(slot)) {
            qtest_memset(a->qts, DATA(port, slot), 0x40 + slot, 4096);
            cmd_build(a, port, slot, &c);
        }
    }
    queue_issue(a, port, slots);
}

static GString *all_stats(Ahci *a)
{
    QDict *reply = qtest_qmp(a->qts, "{'execute': 'qom-get', 'arguments': "
                             "{'path': 'ahci0', 'property': 'stats'}}");
    GString *text = qobject_to_json(qdict_get(reply, "return"));

    qobject_unref(reply);
    return text;
}

static void look(Ahci *a, Seen *seen, unsigned step)
{
    unsigned port;

    seen->irq[step] = msi_take(a, NULL);
    for (port = 0; port < PORTS; port++) {
        seen->sact[port][step] = port_rd(a, port, A_PORT_SACT);
        seen->tfd[port][step] = port_rd(a, port, A_PORT_TFD);
    }
    if (seen->irq[step]) {
        seen->is[step] = ahci_rd(a, A_HBA_IS);
        for (port = 0; port < PORTS; port++) {
            port_wr(a, port, A_PORT_IS, port_rd(a, port, A_PORT_IS));
        }
        ahci_wr(a, A_HBA_IS, seen->is[step]);
    }
}

static void run(Seen *seen, bool migrate)
{
    Ahci *a = ahci_start(PORTS, OPTIONS);
    Cmd flush = { .command = ATA_FLUSH_CACHE_EXT };
    unsigned i;

    port_start(a, 0);
    port_start(a, 1);
    msi_enable(a, 0);
    ahci_step(a, 1000);
    queue_all(a, 0);
    /* The other port: not queued, and busy with it for long. */
    cmd_issue(a, 1, 5, &flush);
    for (i = 0; i < STEPS; i++) {
        ahci_step(a, STEP_NS);
        look(a, seen, i);
        if (i == AT_STEP && migrate) {
            ahci_migrate(a);
        }
        if (i == AT_STEP + 30) {
            queue_all(a, 0);
            queue_all(a, 1);
        }
    }
    seen->stats = all_stats(a);
    ahci_stop(a);
}

static void test_in_flight(void)
{
    g_autofree Seen *stayed = g_new0(Seen, 1);
    g_autofree Seen *moved = g_new0(Seen, 1);
    unsigned i, port;

    run(stayed, false);
    run(moved, true);
    /* It was in the middle of things. */
    g_assert_cmphex(stayed->sact[0][AT_STEP], !=, UINT32_MAX);
    g_assert_cmphex(stayed->sact[0][AT_STEP], !=, 0);
    g_assert_true(stayed->tfd[1][AT_STEP] & ATA_STS_BSY);
    for (i = 0; i < STEPS; i++) {
        for (port = 0; port < PORTS; port++) {
            g_assert_cmphex(moved->sact[port][i], ==, stayed->sact[port][i]);
            g_assert_cmphex(moved->tfd[port][i], ==, stayed->tfd[port][i]);
        }
        g_assert_cmpint(moved->irq[i], ==, stayed->irq[i]);
        g_assert_cmphex(moved->is[i], ==, stayed->is[i]);
    }
    g_assert_cmpstr(moved->stats->str, ==, stayed->stats->str);
    g_string_free(stayed->stats, true);
    g_string_free(moved->stats, true);
}

/* What a drive remembers: the queue's error, and that it has stopped. */
static void test_drive_state(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000,fail-every=2");
    Cmd log = { .command = ATA_READ_LOG_EXT, .lba = ATA_LOG_NCQ_ERROR,
                .count = 1, .bytes = 512 };
    Cmd flush = { .command = ATA_FLUSH_CACHE };
    unsigned slot;

    port_start(a, 1);
    for (slot = 4; slot < 8; slot++) {
        Cmd c = cmd_queued(false, slot, 1);

        cmd_build(a, 1, slot, &c);
    }
    queue_issue(a, 1, 0xf0);
    ahci_step(a, 10000);
    ahci_migrate(a);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SACT), ==, 0xe0);
    g_assert_cmphex(port_rd(a, 1, A_PORT_TFD), ==,
                    ATA_ERR_UNC << 8 | ATA_STS_BAD);
    port_recover(a, 1);
    ahci_migrate(a);
    cmd_do(a, 1, 0, &log);
    g_assert_cmphex(qtest_readb(a->qts, DATA(1, 0)), ==, 5);
    ahci_migrate(a);
    cmd_do(a, 1, 0, &flush);
    ahci_stop(a);
}

/* What an engine remembers: the count to be written, and what is queued. */
static void test_engine_state(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000000");
    Cmd plain = { .command = ATA_READ_DMA_EXT, .count = 2, .bytes = 1024 };
    Cmd queued = cmd_queued(false, 0, 1);
    Cmd flush = { .command = ATA_FLUSH_CACHE };

    port_start(a, 0);
    port_start(a, 1);
    cmd_build(a, 0, 3, &queued);
    queue_issue(a, 0, BIT(3));
    cmd_issue(a, 1, 0, &plain);
    ahci_step(a, 1000);
    ahci_migrate(a);
    cmd_issue(a, 0, 0, &flush);
    ahci_step(a, 1000000);
    g_assert_cmphex(rx_d2h(a, 0).error, ==, ATA_ERR_ABRT);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, BIT(3));
    g_assert_cmphex(port_rd(a, 1, A_PORT_CI), ==, 0);
    g_assert_cmpuint(prdbc(a, 1, 0), ==, 1024);
    ahci_stop(a);
}

void add_migrate_tests(void)
{
    qtest_add_func("/ahci/migrate/in-flight", test_in_flight);
    qtest_add_func("/ahci/migrate/drive-state", test_drive_state);
    qtest_add_func("/ahci/migrate/engine-state", test_engine_state);
}
