/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Saved and restored in the middle of I/O: from then on everything happens at
 * the same nanosecond, with the same data, as in a machine that went on.
 */

#include "ufs-harness.h"
#include "qobject/qjson.h"

#define STEPS    120
#define STEP_NS  2500
#define AT_STEP  20
#define KNOBS    ",service-read-ns=20000,service-read-dist=lognormal," \
                 "service-read-spread-ns=9000,service-write-ns=30000," \
                 "units=4,irq-latency-ns=3000,irq-latency-dist=uniform," \
                 "irq-latency-spread-ns=2000,irq-coalesce-timeout-ns=9000," \
                 "irq-coalesce-count=3,hold-every=11,irq-drop-every=7," \
                 "series-window-ns=500"

typedef struct Seen {
    uint32_t doorbell[STEPS];
    uint32_t status[STEPS];
    bool irq[STEPS];
    GString *stats;
} Seen;

/* Two rounds of requests, the second after the machine has moved on. */
static void ring_all(Ufs *u)
{
    uint32_t free_slots = ~ufs_read(u, A_UTRLDBR);
    unsigned i;

    for (i = 0; i < UFS_SLOTS; i++) {
        if (free_slots & BIT(i)) {
            ufs_fill(u, UFS_DATA(i), 4096, i);
            ufs_prep_rw(u, i, i & 1, i / 2, 1);
        }
    }
    ufs_ring(u, free_slots);
}

static void run(Seen *seen, bool migrate)
{
    Ufs *u = ufs_start_up(KNOBS);
    QDict *stats;
    unsigned i;

    ufs_msi_on(u);
    ufs_step(u, 1000);
    ring_all(u);
    for (i = 0; i < STEPS; i++) {
        ufs_step(u, STEP_NS);
        seen->irq[i] = ufs_msi_taken(u);
        seen->doorbell[i] = ufs_read(u, A_UTRLDBR);
        if (seen->irq[i]) {
            seen->status[i] = ufs_read(u, A_IS);
            ufs_ack_all(u);
        }
        if (i == AT_STEP && migrate) {
            ufs_migrate(u, KNOBS);
        }
        if (i == AT_STEP + 30) {
            ring_all(u);
        }
    }
    stats = ufs_stats(u);
    seen->stats = qobject_to_json(QOBJECT(stats));
    qobject_unref(stats);
    /* What was read is what was written under it. */
    for (i = 0; i < UFS_SLOTS; i += 2) {
        if (!ufs_busy(u, BIT(i))) {
            ufs_expect_good(u, i);
        }
    }
    ufs_stop(u);
}

static void test_in_flight(void)
{
    g_autofree Seen *stayed = g_new0(Seen, 1);
    g_autofree Seen *moved = g_new0(Seen, 1);
    unsigned i;

    run(stayed, false);
    run(moved, true);
    /* It was in the middle of things. */
    g_assert_cmphex(stayed->doorbell[AT_STEP], !=, UINT32_MAX);
    g_assert_cmphex(stayed->doorbell[AT_STEP], !=, 0);
    for (i = 0; i < STEPS; i++) {
        g_assert_cmphex(moved->doorbell[i], ==, stayed->doorbell[i]);
        g_assert_cmpint(moved->irq[i], ==, stayed->irq[i]);
        g_assert_cmphex(moved->status[i], ==, stayed->status[i]);
    }
    /* The time series too, whose windows have doubled meanwhile. */
    g_assert_nonnull(strstr(stayed->stats->str, "\"series\""));
    g_assert_cmpstr(moved->stats->str, ==, stayed->stats->str);
    g_string_free(stayed->stats, true);
    g_string_free(moved->stats, true);
}

/* Data that waits for its due time travels along. */
static void test_read_data(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=1000000");

    ufs_fill(u, UFS_DATA(0), 8192, 77);
    ufs_prep_rw(u, 0, true, 3, 2);
    ufs_run(u, 0);
    ufs_prep_rw(u, 1, false, 3, 2);
    ufs_ring(u, BIT(1));
    ufs_step(u, 500000);
    ufs_migrate(u, ",service-read-ns=5");
    ufs_step(u, 499999);
    g_assert_true(ufs_busy(u, BIT(1)));
    ufs_step(u, 1);
    g_assert_false(ufs_busy(u, BIT(1)));
    ufs_expect_good(u, 1);
    ufs_check(u, UFS_DATA(1), 8192, 77);
    ufs_stop(u);
}

/* What the guest has set in the device: units, attributes, flags, UniPro. */
static void test_settings(void)
{
    static const uint8_t stop[16] = { START_STOP };
    static const uint8_t select[16] = { MODE_SELECT, 0x10, [4] = 24 };
    static const uint8_t select_wp[16] = { MODE_SELECT, 0x10, [4] = 16 };
    static const uint8_t sense[16] = { MODE_SENSE, 8, 0x08, 0, 64 };
    static const uint8_t sense_wp[16] = { MODE_SENSE, 8, 0x0a, 0, 64 };
    static const uint8_t page[24] = { [4] = 0x08, 0x12 };
    static const uint8_t page_wp[16] = {
        [4] = 0x0a, 0x0a, 0, 0x10, 0x08, [12] = 0xff, 0xff
    };
    static const uint8_t tur[16] = { TEST_UNIT_READY };
    Ufs *u = ufs_start_lu1(",link-error-every=3", ",write-protect=power-on",
                           "");
    uint8_t write[16] = { WRITE_10, [8] = 1 };
    uint32_t value;
    UtpUpiuRsp rsp;

    ufs_up(u);
    value = 0x22;
    ufs_uic(u, UFS_UIC_CMD_DME_SET, 0x1571, &value);
    value = 3;
    ufs_uic(u, UFS_UIC_CMD_DME_PEER_SET, 0x1568, &value);
    ufs_scsi(u, 0, stop, 0);
    qtest_memwrite(u->qts, UFS_DATA(0), page, sizeof(page));
    ufs_scsi_out(u, 1, select, sizeof(page));
    ufs_expect_good(u, 0);
    qtest_memwrite(u->qts, UFS_DATA(0), page_wp, sizeof(page_wp));
    ufs_scsi_out(u, 0, select_wp, sizeof(page_wp));
    ufs_expect_good(u, 0);
    ufs_query(u, true, UFS_UPIU_QUERY_OPCODE_WRITE_ATTR,
              UFS_QUERY_ATTR_IDN_ACTIVE_ICC_LVL, 0, 9, &rsp);
    ufs_query(u, true, UFS_UPIU_QUERY_OPCODE_SET_FLAG,
              UFS_QUERY_FLAG_IDN_PWR_ON_WPE, 0, 0, &rsp);
    /* Five requests so far: the next error is that of the sixth. */
    g_assert_cmpuint(ufs_stat(u, "faults.link_errors"), ==, 1);

    ufs_migrate(u, ",link-error-every=3");
    value = 0;
    ufs_uic(u, UFS_UIC_CMD_DME_GET, 0x1571, &value);
    g_assert_cmphex(value, ==, 0x22);
    ufs_uic(u, UFS_UIC_CMD_DME_PEER_GET, 0x1568, &value);
    g_assert_cmphex(value, ==, 3);
    ufs_scsi(u, 0, tur, 0);
    ufs_expect_sense(u, 0, NOT_READY, 0x04, 0x02);
    g_assert_cmpuint(ufs_stat(u, "faults.link_errors"), ==, 2);
    ufs_scsi(u, 1, sense, 64);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0) + 4 + 2), ==, 0);
    ufs_scsi(u, 0, sense_wp, 64);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0) + 4 + 4), ==, 0x08);
    ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_ATTR,
              UFS_QUERY_ATTR_IDN_ACTIVE_ICC_LVL, 0, 0, &rsp);
    g_assert_cmpuint(be32_to_cpu(rsp.qr.value), ==, 9);
    ufs_scsi_out(u, 1, write, UFS_BLOCK);
    ufs_expect_sense(u, 0, DATA_PROTECT, 0x27, 0);
    ufs_stop(u);
}

void add_migrate_tests(void)
{
    qtest_add_func("/irqbed-ufs/migrate/settings", test_settings);
    qtest_add_func("/irqbed-ufs/migrate/in-flight", test_in_flight);
    qtest_add_func("/irqbed-ufs/migrate/read-data", test_read_data);
}
