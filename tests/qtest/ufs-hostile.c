/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest that does everything wrong: case before-setup, every length, offset
 * and address out of bounds, resets and unplugs at the worst moment.  The
 * device must answer or stay silent, never crash, and work again afterwards;
 * run it under an ASan build as well.
 */

#include "ufs-harness.h"

#define BAR_BYTES (16 * KiB)

/* After all of it: reset, and a read and a write as if nothing had been. */
static void expect_alive(Ufs *u)
{
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    ufs_fill(u, UFS_DATA(0), 4096, 11);
    ufs_prep_rw(u, 0, true, 5, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_prep_rw(u, 1, false, 5, 1);
    ufs_run(u, 1);
    ufs_expect_good(u, 1);
    ufs_check(u, UFS_DATA(1), 4096, 11);
}

static void write_everywhere(Ufs *u, GRand *rand, int kind)
{
    uint32_t reg, val;

    for (reg = 0; reg < BAR_BYTES; reg += 4) {
        val = kind == 0 ? 0 : kind == 1 ? UINT32_MAX : g_rand_int(rand);
        /* The whole BAR once, its registers more often. */
        if (reg < 0x400 || kind == 1) {
            ufs_write(u, reg, val);
        }
        ufs_read(u, reg);
    }
}

static void test_before_setup(void)
{
    Ufs *u = ufs_start("");
    GRand *rand = g_rand_new_with_seed(1);
    unsigned i;

    for (i = 0; i < 60; i++) {
        write_everywhere(u, rand, i % 3);
        ufs_step(u, 1000000);
        if (i % 7 == 0) {
            ufs_write(u, A_HCE, 1);
        }
        if (i % 9 == 0) {
            ufs_up(u);
            ufs_write(u, A_IE, UINT32_MAX);
        }
    }
    g_rand_free(rand);
    expect_alive(u);
    ufs_stop(u);
}

/* Narrow and odd accesses do not reach the registers at all. */
static void test_access_sizes(void)
{
    Ufs *u = ufs_start("");
    uint32_t reg;

    for (reg = 0; reg < 0x400; reg++) {
        qpci_io_writeb(u->dev, u->bar, reg, 0xff);
        qpci_io_readb(u->dev, u->bar, reg);
        qpci_io_writew(u->dev, u->bar, reg & ~1, 0xffff);
        qpci_io_readq(u->dev, u->bar, reg & ~7);
        qpci_io_writeq(u->dev, u->bar, reg & ~7, UINT64_MAX);
    }
    expect_alive(u);
    ufs_stop(u);
}

static void expect_ocs(Ufs *u, unsigned slot, uint32_t ocs)
{
    ufs_run(u, slot);
    g_assert_cmphex(ufs_ocs(u, slot), ==, ocs);
}

static void test_bad_utrd(void)
{
    static const struct {
        unsigned dword;
        uint32_t val;
        uint32_t ocs;
    } bad[] = {
        /* command type 0; UCD not on 128 bytes; UCD nowhere */
        { 0, UFS_UTP_REQ_DESC_INT_CMD, UFS_OCS_INVALID_CMD_TABLE_ATTR },
        { 4, (uint32_t)UFS_UCD(0) + 64, UFS_OCS_INVALID_CMD_TABLE_ATTR },
        { 5, 0x7fffffff, UFS_OCS_FATAL_ERROR },
        { 5, 0xffffffff, UFS_OCS_FATAL_ERROR },
        /* response: inside the command, too short, beyond memory */
        { 6, 0 << 16 | 128, UFS_OCS_INVALID_CMD_TABLE_ATTR },
        { 6, 7 << 16 | 128, UFS_OCS_INVALID_CMD_TABLE_ATTR },
        { 6, UFS_RSP_OFF / 4 << 16 | 7, UFS_OCS_MISMATCH_RESP_UPIU_SIZE },
        { 6, UFS_RSP_OFF / 4 << 16 | 0, UFS_OCS_MISMATCH_RESP_UPIU_SIZE },
        /* PRD table: inside the command, empty */
        { 7, 1 << 16 | 1, UFS_OCS_INVALID_CMD_TABLE_ATTR },
        { 7, UFS_PRDT_OFF / 4 << 16 | 0, UFS_OCS_MISMATCH_DATA_BUF_SIZE },
        /* no direction; the wrong one */
        { 0, 1u << 28 | UFS_UTP_REQ_DESC_INT_CMD,
          UFS_OCS_INVALID_CMD_TABLE_ATTR },
        { 0, 1u << 28 | UFS_UTP_HOST_TO_DEVICE | UFS_UTP_REQ_DESC_INT_CMD,
          UFS_OCS_INVALID_CMD_TABLE_ATTR },
    };
    Ufs *u = ufs_start_up("");
    int i;

    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        ufs_prep_rw(u, 0, false, 0, 1);
        ufs_set_utrd(u, 0, bad[i].dword, bad[i].val);
        expect_ocs(u, 0, bad[i].ocs);
    }
    g_assert_cmpuint(ufs_stat(u, "requests.failed"), ==, G_N_ELEMENTS(bad));
    g_assert_cmpuint(ufs_stat(u, "guest_errors"), >=, G_N_ELEMENTS(bad));
    expect_alive(u);
    ufs_stop(u);
}

/* A response longer than its room is cut, and the status says so. */
static void test_response_room(void)
{
    static const uint8_t unknown[16] = { 0xc0 };
    Ufs *u = ufs_start_up("");

    ufs_prep_scsi(u, 0, 0, unknown, UFS_UTP_NO_DATA_TRANSFER, 0);
    ufs_set_utrd(u, 0, 6, UFS_RSP_OFF / 4 << 16 | 8);
    qtest_memset(u->qts, UFS_UCD(0) + UFS_RSP_OFF, 0xee, 64);
    expect_ocs(u, 0, UFS_OCS_MISMATCH_RESP_UPIU_SIZE);
    g_assert_cmphex(qtest_readb(u->qts, UFS_UCD(0) + UFS_RSP_OFF + 31), !=,
                    0xee);
    g_assert_cmphex(qtest_readb(u->qts, UFS_UCD(0) + UFS_RSP_OFF + 32), ==,
                    0xee);
    ufs_stop(u);
}

/* The first request ever has no buffer yet, and needs none. */
static void test_reply_of_nothing(void)
{
    static const uint8_t inquiry[16] = { INQUIRY, 0, 0, 0, 36 };
    Ufs *u = ufs_start_up("");

    ufs_prep_scsi(u, 0, 0, inquiry, UFS_UTP_NO_DATA_TRANSFER, 0);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    expect_alive(u);
    ufs_stop(u);
}

static void test_bad_prdt(void)
{
    Ufs *u = ufs_start_up("");
    uint64_t bar = qpci_config_readl(u->dev, PCI_BASE_ADDRESS_0) & ~0xfu;
    uint8_t upiu[32];

    /* Not on four bytes: address, length. */
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_set_prd(u, 0, 0, UFS_DATA(0) + 2, 4096);
    expect_ocs(u, 0, UFS_OCS_INVALID_PRDT_ATTR);
    ufs_set_prd(u, 0, 0, UFS_DATA(0), 4095);
    expect_ocs(u, 0, UFS_OCS_INVALID_PRDT_ATTR);
    /* Too little room. */
    ufs_set_prd(u, 0, 0, UFS_DATA(0), 2048);
    expect_ocs(u, 0, UFS_OCS_MISMATCH_DATA_BUF_SIZE);
    /* Beyond memory, across its end, wrapping round, at our own registers. */
    ufs_set_prd(u, 0, 0, UFS_RAM_BYTES + 4096, 4096);
    expect_ocs(u, 0, UFS_OCS_FATAL_ERROR);
    ufs_set_prd(u, 0, 0, UFS_RAM_BYTES - 2048, 4096);
    expect_ocs(u, 0, UFS_OCS_FATAL_ERROR);
    ufs_set_prd(u, 0, 0, UINT64_MAX - 2047, 4096);
    expect_ocs(u, 0, UFS_OCS_FATAL_ERROR);
    ufs_set_prd(u, 0, 0, bar, 4096);
    expect_ocs(u, 0, UFS_OCS_FATAL_ERROR);
    g_assert_cmphex(ufs_read(u, A_HCE), ==, 1);
    /* The same as the source of a write: nothing is written. */
    ufs_fill(u, UFS_DATA(1), 4096, 4);
    ufs_prep_rw(u, 1, true, 9, 1);
    expect_ocs(u, 1, UFS_OCS_SUCCESS);
    ufs_prep_rw(u, 1, true, 9, 1);
    ufs_set_prd(u, 1, 0, bar, 4096);
    expect_ocs(u, 1, UFS_OCS_FATAL_ERROR);
    ufs_prep_rw(u, 1, false, 9, 1);
    expect_ocs(u, 1, UFS_OCS_SUCCESS);
    ufs_check(u, UFS_DATA(1), 4096, 4);
    /* A table of 65535 entries, of which the first is enough. */
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_set_utrd(u, 0, 7, UFS_PRDT_OFF / 4 << 16 | 0xffff);
    expect_ocs(u, 0, UFS_OCS_SUCCESS);
    /* The command is the last thing in memory, its table behind the end. */
    ufs_prep_rw(u, 0, false, 0, 1);
    qtest_memread(u->qts, UFS_UCD(0), upiu, sizeof(upiu));
    qtest_memwrite(u->qts, UFS_RAM_BYTES - 1024, upiu, sizeof(upiu));
    ufs_set_utrd(u, 0, 4, UFS_RAM_BYTES - 1024);
    ufs_set_utrd(u, 0, 6, 0x100 / 4 << 16 | 512 / 4);
    expect_ocs(u, 0, UFS_OCS_FATAL_ERROR);
    expect_alive(u);
    ufs_stop(u);
}

static void test_bad_upiu(void)
{
    Ufs *u = ufs_start_up("");
    UtpUpiuReq req = {
        .header.trans_type = UFS_UPIU_TRANSACTION_QUERY_REQ,
        .header.query_func = UFS_UPIU_QUERY_FUNC_STANDARD_WRITE_REQUEST,
        .qr.opcode = UFS_UPIU_QUERY_OPCODE_WRITE_DESC,
    };
    unsigned i;

    /* A data segment longer than any descriptor. */
    req.header.data_segment_length = cpu_to_be16(0xffff);
    ufs_prep_upiu(u, 0, &req, 32, 0, 0);
    expect_ocs(u, 0, UFS_OCS_INVALID_CMD_TABLE_ATTR);
    req.header.data_segment_length = cpu_to_be16(257);
    ufs_prep_upiu(u, 0, &req, 32, 0, 0);
    expect_ocs(u, 0, UFS_OCS_INVALID_CMD_TABLE_ATTR);
    req.header.data_segment_length = cpu_to_be16(256);
    ufs_prep_upiu(u, 0, &req, 32, 0, 0);
    expect_ocs(u, 0, UFS_OCS_SUCCESS);
    /* Every transaction type, opcode and LUN, with nonsense for a CDB. */
    for (i = 0; i < 256; i++) {
        memset(&req, i, sizeof(req));
        req.header.trans_type = i;
        req.header.data_segment_length = 0;
        ufs_prep_upiu(u, 0, &req, 32, UFS_UTP_DEVICE_TO_HOST, 1);
        ufs_set_prd(u, 0, 0, UFS_DATA(0), 64 * KiB);
        ufs_run(u, 0);
        req.header.trans_type = UFS_UPIU_TRANSACTION_COMMAND;
        req.header.lun = i & 1 ? 0 : i;
        req.sc.cdb[0] = i;
        ufs_prep_upiu(u, 0, &req, 32, i & 2 ? UFS_UTP_DEVICE_TO_HOST :
                                              UFS_UTP_HOST_TO_DEVICE, 1);
        ufs_set_prd(u, 0, 0, UFS_DATA(0), 64 * KiB);
        ufs_run(u, 0);
    }
    expect_alive(u);
    ufs_stop(u);
}

/* Lists in our own registers, and nowhere at all. */
static void test_bad_lists(void)
{
    Ufs *u = ufs_start_up("");
    uint64_t bar = qpci_config_readl(u->dev, PCI_BASE_ADDRESS_0) & ~0xfu;
    uint64_t where[] = { bar, UFS_RAM_BYTES, UINT64_MAX & ~0x3ff };
    int i;

    for (i = 0; i < G_N_ELEMENTS(where); i++) {
        ufs_write(u, A_UTRLBA, (uint32_t)where[i]);
        ufs_write(u, A_UTRLBAU, where[i] >> 32);
        ufs_write(u, A_UTMRLBA, (uint32_t)where[i]);
        ufs_write(u, A_UTMRLBAU, where[i] >> 32);
        ufs_ring(u, UINT32_MAX);
        ufs_step(u, 1);
        /* Not answered in memory, but not left hanging: SBFES. */
        g_assert_cmphex(ufs_read(u, A_UTRLDBR), ==, 0);
        g_assert_cmphex(ufs_read(u, A_IS) & R_IS_SBFES_MASK, ==,
                        R_IS_SBFES_MASK);
        ufs_ack_all(u);
        ufs_write(u, A_UTMRLDBR, UINT32_MAX);
        g_assert_cmphex(ufs_read(u, A_IS) & R_IS_SBFES_MASK, ==,
                        R_IS_SBFES_MASK);
        ufs_ack_all(u);
    }
    expect_alive(u);
    ufs_stop(u);
}

/* The message of a completion is a write to our own host controller enable. */
static void test_reset_in_completion(void)
{
    Ufs *u = ufs_start_up(",irq-latency-ns=1000");
    uint64_t bar = qpci_config_readl(u->dev, PCI_BASE_ADDRESS_0) & ~0xfu;
    uint8_t cap;
    unsigned i;

    for (i = 0; i < 2; i++) {
        ufs_msi_on(u);
        cap = qpci_find_capability(u->dev, PCI_CAP_ID_MSI, 0);
        qpci_config_writel(u->dev, cap + PCI_MSI_ADDRESS_LO, bar + A_HCE);
        qpci_config_writew(u->dev, cap + PCI_MSI_DATA_64, 0);
        ufs_prep_nop(u, 0);
        ufs_prep_nop(u, 1);
        ufs_ring(u, 3);
        ufs_step(u, 5000);
        g_assert_false(ufs_busy(u, 3));
        ufs_ack_all(u);
        /* From the timer of the completion itself, too. */
        g_assert_true(ufs_set_knob(u, "irq-latency-ns", 0));
    }
    expect_alive(u);
    ufs_stop(u);
}

static void start_busy(Ufs *u)
{
    unsigned i;

    for (i = 0; i < UFS_SLOTS; i++) {
        ufs_prep_rw(u, i, i & 1, i, 1);
    }
    ufs_ring(u, UINT32_MAX);
    ufs_step(u, 60000);
    g_assert_cmphex(ufs_read(u, A_UTRLDBR), !=, 0);
}

#define BUSY_KNOBS ",service-read-ns=20000,service-write-ns=50000," \
                   "irq-latency-ns=1000000,hold-every=7"

static void test_system_reset(void)
{
    Ufs *u = ufs_start_up(BUSY_KNOBS);

    start_busy(u);
    qobject_unref(qtest_qmp(u->qts, "{ 'execute': 'system_reset' }"));
    qtest_qmp_eventwait(u->qts, "RESET");
    qpci_device_enable(u->dev);
    g_free(u->dev);
    u->dev = qpci_device_find(u->bus, QPCI_DEVFN(4, 0));
    qpci_device_enable(u->dev);
    u->bar = qpci_iomap(u->dev, 0, NULL);
    g_assert_cmphex(ufs_read(u, A_HCE), ==, 0);
    g_assert_cmpuint(ufs_stat(u, "requests.in_flight"), ==, 0);
    ufs_step(u, 100000000);
    g_assert_cmpuint(ufs_stat(u, "irq.raised"), ==, 0);
    g_assert_true(ufs_set_knob(u, "hold-every", 0));
    expect_alive(u);
    ufs_stop(u);
}

static void test_unplug(void)
{
    Ufs *u = ufs_start_up(BUSY_KNOBS);
    QDict *answer;

    start_busy(u);
    /* A logical unit cannot go alone, and goes with its controller. */
    answer = qtest_qmp(u->qts, "{ 'execute': 'device_del', "
                       "'arguments': { 'id': 'lu1' } }");
    g_assert_true(qdict_haskey(answer, "error"));
    qobject_unref(answer);
    g_free(u->dev);
    qpci_unplug_acpi_device_test(u->qts, "ufs0", 4);
    u->unplugged = true;
    /* No timer of it is left. */
    ufs_step(u, 100000000);
    ufs_stop(u);
}

/* A prepared request with some of its dwords replaced by noise. */
static void prep_noise(Ufs *u, GRand *rand, unsigned slot)
{
    uint8_t cdb[UFS_CDB_SIZE];
    unsigned i, n = g_rand_int_range(rand, 0, 4);

    for (i = 0; i < UFS_CDB_SIZE; i++) {
        cdb[i] = g_rand_int(rand);
    }
    if (g_rand_boolean(rand)) {
        ufs_prep_rw(u, slot, g_rand_boolean(rand),
                    g_rand_int_range(rand, 0, 2100),
                    g_rand_int_range(rand, 0, 40));
    } else {
        ufs_prep_scsi(u, slot, g_rand_int_range(rand, 0, 3), cdb,
                      g_rand_boolean(rand) ? UFS_UTP_HOST_TO_DEVICE :
                                             UFS_UTP_DEVICE_TO_HOST,
                      g_rand_int_range(rand, 0, 8192));
    }
    for (i = 0; i < n; i++) {
        if (g_rand_boolean(rand)) {
            ufs_set_utrd(u, slot, g_rand_int_range(rand, 0, 8),
                         g_rand_int(rand));
        } else {
            qtest_writel(u->qts, UFS_UCD(slot) +
                         4 * g_rand_int_range(rand, 0, 1024),
                         g_rand_int(rand));
        }
    }
}

static void test_random(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=20000,service-write-ns=30000,"
                          "irq-latency-ns=2000,irq-coalesce-timeout-ns=9000,"
                          "irq-coalesce-count=3,units=3");
    GRand *rand = g_rand_new_with_seed(20);
    unsigned i;

    for (i = 0; i < 3000; i++) {
        switch (g_rand_int_range(rand, 0, 8)) {
        case 0:
        case 1:
        case 2:
            prep_noise(u, rand, g_rand_int_range(rand, 0, UFS_SLOTS));
            break;
        case 3:
        case 4:
            ufs_ring(u, g_rand_int(rand));
            break;
        case 5:
            ufs_write(u, 4 * g_rand_int_range(rand, 0, 40), g_rand_int(rand));
            break;
        case 6:
            ufs_step(u, g_rand_int_range(rand, 1, 50000));
            break;
        default:
            if (g_rand_int_range(rand, 0, 6) == 0) {
                ufs_up(u);
            } else {
                ufs_ack_all(u);
            }
            break;
        }
    }
    g_assert_cmpuint(ufs_stat(u, "requests.fetched"), >, 1000);
    g_rand_free(rand);
    expect_alive(u);
    ufs_stop(u);
}

void add_hostile_tests(void)
{
    qtest_add_func("/irqbed-ufs/hostile/before-setup", test_before_setup);
    qtest_add_func("/irqbed-ufs/hostile/access-sizes", test_access_sizes);
    qtest_add_func("/irqbed-ufs/hostile/utrd", test_bad_utrd);
    qtest_add_func("/irqbed-ufs/hostile/response-room", test_response_room);
    qtest_add_func("/irqbed-ufs/hostile/reply-of-nothing",
                   test_reply_of_nothing);
    qtest_add_func("/irqbed-ufs/hostile/prdt", test_bad_prdt);
    qtest_add_func("/irqbed-ufs/hostile/upiu", test_bad_upiu);
    qtest_add_func("/irqbed-ufs/hostile/lists", test_bad_lists);
    qtest_add_func("/irqbed-ufs/hostile/reset-in-completion",
                   test_reset_in_completion);
    qtest_add_func("/irqbed-ufs/hostile/random", test_random);
    qtest_add_func("/irqbed-ufs/hostile/system-reset", test_system_reset);
    qtest_add_func("/irqbed-ufs/hostile/unplug", test_unplug);
}
