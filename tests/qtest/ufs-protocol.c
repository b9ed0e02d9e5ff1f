/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the controller says: link, NOP, SCSI, data.
 */

#include "ufs-harness.h"

static void test_link(void)
{
    Ufs *u = ufs_start("");
    uint32_t value;

    g_assert_cmphex(ufs_read(u, A_VER), ==, 0x310);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_CAP), CAP, NUTRS), ==, 31);
    g_assert_cmphex(ufs_read(u, A_HCS), ==, 0);
    ufs_write(u, A_HCE, 1);
    g_assert_cmphex(ufs_read(u, A_HCE), ==, 1);
    g_assert_cmphex(ufs_read(u, A_HCS), ==, R_HCS_UCRDY_MASK);
    /* The peer cannot be asked before the link is up. */
    value = 0;
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_PEER_GET, 0x1581, &value), ==,
                    UFS_UIC_CMD_RESULT_PEER_COMM_FAILURE);
    ufs_up(u);
    g_assert_cmphex(ufs_read(u, A_HCS), ==, R_HCS_DP_MASK |
                    R_HCS_UTRLRDY_MASK | R_HCS_UTMRLRDY_MASK |
                    R_HCS_UCRDY_MASK);
    /* Connected lanes and gears, on both sides. */
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_GET, 0x1581, &value), ==, 0);
    g_assert_cmpuint(value, ==, 2);
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_PEER_GET, 0x1587, &value), ==,
                    0);
    g_assert_cmpuint(value, ==, 4);
    /* Unknown, read-only, bad value. */
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_GET, 0x1234, &value), ==,
                    UFS_UIC_CMD_RESULT_INVALID_ATTR);
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_SET, 0x1581, &value), ==,
                    UFS_UIC_CMD_RESULT_READ_ONLY_ATTR);
    value = 0x99;
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_SET, 0x1571, &value), ==,
                    UFS_UIC_CMD_RESULT_INVALID_ATTR_VALUE);
    /* A change of power mode has a status of its own. */
    ufs_ack_all(u);
    value = 0x11;
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_SET, 0x1571, &value), ==, 0);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UCCS_MASK | R_IS_UPMS_MASK);
    g_assert_cmpuint(FIELD_EX32(ufs_read(u, A_HCS), HCS, UPMCRS), ==,
                     UFS_PWR_LOCAL);
    ufs_ack_all(u);
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_ENTER, 0, NULL);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UCCS_MASK | R_IS_UHES_MASK);
    ufs_ack_all(u);
    ufs_uic(u, UFS_UIC_CMD_DME_HIBER_EXIT, 0, NULL);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UCCS_MASK | R_IS_UHXS_MASK);
    ufs_stop(u);
}

static void test_nop(void)
{
    Ufs *u = ufs_start_up(",queue-depth=4");
    UtpUpiuRsp rsp;

    ufs_prep_nop(u, 3);
    ufs_ring(u, BIT(3));
    ufs_step(u, 1);
    g_assert_false(ufs_busy(u, BIT(3)));
    g_assert_cmphex(ufs_read(u, A_UTRLCNR), ==, BIT(3));
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    ufs_response(u, 3, &rsp);
    g_assert_cmphex(rsp.header.trans_type, ==, UFS_UPIU_TRANSACTION_NOP_IN);
    ufs_expect_good(u, 3);
    ufs_write(u, A_UTRLCNR, BIT(3));
    g_assert_cmphex(ufs_read(u, A_UTRLCNR), ==, 0);
    /* There is no slot 4. */
    ufs_ring(u, BIT(4));
    g_assert_false(ufs_busy(u, UINT32_MAX));
    ufs_stop(u);
}

static void test_scsi_info(void)
{
    static const uint8_t inquiry[16] = { INQUIRY, 0, 0, 0, 36 };
    static const uint8_t vpd_b0[16] = { INQUIRY, 1, 0xb0, 0, 64 };
    static const uint8_t vpd_99[16] = { INQUIRY, 1, 0x99, 0, 64 };
    static const uint8_t capacity10[16] = { READ_CAPACITY_10 };
    static const uint8_t capacity16[16] = {
        SERVICE_ACTION_IN_16, SAI_READ_CAPACITY_16, [13] = 32
    };
    static const uint8_t luns[16] = { REPORT_LUNS, 0, 2, [8] = 2 };
    static const uint8_t mode[16] = { MODE_SENSE, 0, 0x3f, 0, 255 };
    static const uint8_t tur[16] = { TEST_UNIT_READY };
    static const uint8_t unknown[16] = { 0xc0 };
    Ufs *u = ufs_start_up("");
    UtpUpiuRsp rsp;
    uint8_t buf[128];

    ufs_scsi(u, 0, inquiry, 36);
    ufs_expect_good(u, 0);
    qtest_memread(u->qts, UFS_DATA(0), buf, 64);
    g_assert_cmphex(buf[0], ==, 0);
    g_assert_cmpmem(buf + 8, 8, "IRQBED  ", 8);
    g_assert_cmphex(buf[36], ==, 0xee);
    /* Shorter data than expected: underflow, with what is missing. */
    ufs_scsi(u, 0, inquiry, 64);
    ufs_response(u, 0, &rsp);
    g_assert_cmphex(rsp.header.flags, ==, UFS_UPIU_FLAG_UNDERFLOW);
    g_assert_cmpuint(be32_to_cpu(rsp.sr.residual_transfer_count), ==, 28);
    ufs_scsi(u, UFS_UPIU_UFS_DEVICE_WLUN, inquiry, 36);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0)), ==, 0x1e);
    ufs_scsi(u, 9, inquiry, 36);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0)), ==, 0x7f);
    ufs_scsi(u, 0, vpd_b0, 64);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 0, vpd_99, 64);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x24, 0);

    ufs_scsi(u, 0, capacity10, 8);
    qtest_memread(u->qts, UFS_DATA(0), buf, 8);
    g_assert_cmpuint(ldl_be_p(buf), ==, UFS_IMAGE / UFS_BLOCK - 1);
    g_assert_cmpuint(ldl_be_p(buf + 4), ==, UFS_BLOCK);
    ufs_scsi(u, 0, capacity16, 32);
    qtest_memread(u->qts, UFS_DATA(0), buf, 16);
    g_assert_cmpuint(ldq_be_p(buf), ==, UFS_IMAGE / UFS_BLOCK - 1);
    g_assert_cmphex(buf[14], ==, 0xc0);
    ufs_scsi(u, 0, luns, 512);
    qtest_memread(u->qts, UFS_DATA(0), buf, 64);
    g_assert_cmpuint(ldl_be_p(buf), ==, (2 + 4) * 8);
    ufs_scsi(u, 0, mode, 64);
    ufs_expect_good(u, 0);

    ufs_scsi(u, 0, tur, 0);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 9, tur, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x25, 0);
    ufs_scsi(u, 0, unknown, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x20, 0);
    ufs_stop(u);
}

/* Byte by byte: SPC-4, 7.8; SBC-3, 6.5. */
static void test_vpd(void)
{
    static const struct {
        uint8_t code, len;
        uint8_t bytes[64];
    } pages[] = {
        { 0x00, 6, { 0x00, 0x80, 0x83, 0xb0, 0xb1, 0xb2 } },
        { 0x80, 13, "IRQBED0001-00" },
        { 0xb0, 60, { [3] = 1, [6] = 4, [16] = 0xff, 0xff, 0xff, 0xff,
                      [23] = 16, [27] = 1 } },
        { 0xb1, 60, { 0, 1 } },
        { 0xb2, 4, { 0, 0x84, 2, 0 } },
    };
    uint8_t cdb[16] = { INQUIRY, 1, [4] = 255 }, buf[64], other[64];
    Ufs *u = ufs_start_up("");
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(pages); i++) {
        cdb[2] = pages[i].code;
        ufs_scsi(u, 0, cdb, 255);
        ufs_expect_good(u, 0);
        qtest_memread(u->qts, UFS_DATA(0), buf, sizeof(buf));
        g_assert_cmphex(buf[0], ==, 0);
        g_assert_cmphex(buf[1], ==, pages[i].code);
        g_assert_cmphex(lduw_be_p(buf + 2), ==, pages[i].len);
        g_assert_cmpmem(buf + 4, pages[i].len, pages[i].bytes, pages[i].len);
    }
    /* A name of the unit, NAA locally assigned: another for each. */
    cdb[2] = 0x83;
    ufs_scsi(u, 0, cdb, 255);
    qtest_memread(u->qts, UFS_DATA(0), buf, 16);
    ufs_scsi(u, 1, cdb, 255);
    qtest_memread(u->qts, UFS_DATA(0), other, 16);
    g_assert_cmphex(ldl_be_p(buf), ==, 0x0083000c);
    g_assert_cmphex(ldl_be_p(buf + 4), ==, 0x01030008);
    g_assert_cmphex(buf[8] >> 4, ==, 3);
    g_assert_cmpint(memcmp(buf + 8, other + 8, 8), !=, 0);
    ufs_stop(u);
}

static void test_read_write(void)
{
    static const uint8_t flush[16] = { SYNCHRONIZE_CACHE };
    Ufs *u = ufs_start_up("");

    ufs_fill(u, UFS_DATA(0), 16 * KiB, 1);
    ufs_prep_rw(u, 0, true, 100, 4);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_prep_scsi(u, 1, 0, flush, UFS_UTP_NO_DATA_TRANSFER, 0);
    ufs_run(u, 1);
    ufs_expect_good(u, 1);

    /* Back in four pieces, at odd places, the first and last short. */
    ufs_prep_rw(u, 2, false, 100, 4);
    ufs_set_utrd(u, 2, 7, UFS_PRDT_OFF / 4 << 16 | 4);
    ufs_set_prd(u, 2, 0, UFS_DATA(2), 4);
    ufs_set_prd(u, 2, 1, UFS_DATA(2) + 4, 8 * KiB);
    ufs_set_prd(u, 2, 2, UFS_DATA(2) + 4 + 8 * KiB, 4 * KiB);
    ufs_set_prd(u, 2, 3, UFS_DATA(2) + 4 + 12 * KiB, 64 * KiB);
    qtest_memset(u->qts, UFS_DATA(2), 0xee, 32 * KiB);
    ufs_run(u, 2);
    ufs_expect_good(u, 2);
    ufs_check(u, UFS_DATA(2), 16 * KiB, 1);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(2) + 16 * KiB), ==, 0xee);

    g_assert_cmpuint(ufs_stat(u, "bytes_read"), ==, 16 * KiB);
    g_assert_cmpuint(ufs_stat(u, "bytes_written"), ==, 16 * KiB);

    /* The end of the medium, and one beyond it. */
    ufs_prep_rw(u, 0, false, UFS_IMAGE / UFS_BLOCK - 1, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_prep_rw(u, 0, false, UFS_IMAGE / UFS_BLOCK - 1, 2);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x21, 0);
    ufs_stop(u);
}

/* Slot 0, with as many PRD entries of 128 KiB as it takes, from UFS_DATA(0). */
static void run_rw(Ufs *u, const uint8_t *cdb, bool write, uint32_t bytes)
{
    unsigned i, n = DIV_ROUND_UP(bytes, 128 * KiB);

    ufs_prep_scsi(u, 0, 0, cdb, write ? UFS_UTP_HOST_TO_DEVICE :
                                        UFS_UTP_DEVICE_TO_HOST, bytes);
    ufs_set_utrd(u, 0, 7, UFS_PRDT_OFF / 4 << 16 | n);
    for (i = 0; i < n; i++) {
        ufs_set_prd(u, 0, i, UFS_DATA(i), 128 * KiB);
    }
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
}

/*
 * The three lengths of CDB, each with its way to say where and how much: what
 * one has written each reads.  And both of SYNCHRONIZE CACHE.
 */
static void test_cdb_lengths(void)
{
    static const struct {
        uint8_t write[16], read[16];
        uint32_t blocks;
    } forms[] = {
        { { WRITE_6, 0, 1, 2, 3 }, { READ_6, 0, 1, 2, 3 }, 3 },
        { { WRITE_6, 0, 1, 2, 0 }, { READ_6, 0, 1, 2, 0 }, 256 },
        { { WRITE_10, [4] = 1, 2, [8] = 3 }, { READ_10, [4] = 1, 2, [8] = 3 },
          3 },
        { { WRITE_16, [8] = 1, 2, [13] = 3 },
          { READ_16, [8] = 1, 2, [13] = 3 }, 3 },
    };
    static const uint8_t flush10[16] = { SYNCHRONIZE_CACHE, [4] = 1, 2 };
    static const uint8_t flush16[16] = { SYNCHRONIZE_CACHE_16, [8] = 1, 2 };
    Ufs *u = ufs_start_up("");
    unsigned i, j;

    for (i = 0; i < G_N_ELEMENTS(forms); i++) {
        uint32_t bytes = forms[i].blocks * UFS_BLOCK;

        ufs_fill(u, UFS_DATA(0), bytes, 40 + i);
        run_rw(u, forms[i].write, true, bytes);
        for (j = 0; j < G_N_ELEMENTS(forms); j++) {
            if (forms[j].blocks == forms[i].blocks) {
                qtest_memset(u->qts, UFS_DATA(0), 0, bytes);
                run_rw(u, forms[j].read, false, bytes);
                ufs_check(u, UFS_DATA(0), bytes, 40 + i);
            }
        }
    }
    ufs_scsi(u, 0, flush10, 0);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 0, flush16, 0);
    ufs_expect_good(u, 0);
    ufs_stop(u);
}

static void test_unmap(void)
{
    static const uint8_t unmap[16] = { UNMAP, [8] = 40 };
    uint8_t list[40] = { 0, 38, 0, 32 };
    Ufs *u = ufs_start_up("");
    uint8_t zero[UFS_BLOCK] = { 0 }, buf[UFS_BLOCK];

    ufs_fill(u, UFS_DATA(0), 16 * KiB, 7);
    ufs_prep_rw(u, 0, true, 0, 4);
    ufs_run(u, 0);
    stq_be_p(list + 8, 1);
    stl_be_p(list + 16, 1);
    stq_be_p(list + 24, 3);
    stl_be_p(list + 32, 1);
    qtest_memwrite(u->qts, UFS_DATA(1), list, sizeof(list));
    ufs_prep_scsi(u, 1, 0, unmap, UFS_UTP_HOST_TO_DEVICE, sizeof(list));
    ufs_run(u, 1);
    ufs_expect_good(u, 1);

    ufs_prep_rw(u, 2, false, 0, 4);
    ufs_run(u, 2);
    ufs_check(u, UFS_DATA(2), 4 * KiB, 7);
    qtest_memread(u->qts, UFS_DATA(2) + 4 * KiB, buf, sizeof(buf));
    g_assert_cmpmem(buf, sizeof(buf), zero, sizeof(zero));
    qtest_memread(u->qts, UFS_DATA(2) + 12 * KiB, buf, sizeof(buf));
    g_assert_cmpmem(buf, sizeof(buf), zero, sizeof(zero));

    /* A range beyond the medium changes nothing. */
    stq_be_p(list + 24, UFS_IMAGE / UFS_BLOCK);
    stq_be_p(list + 8, 0);
    qtest_memwrite(u->qts, UFS_DATA(1), list, sizeof(list));
    ufs_run(u, 1);
    ufs_expect_sense(u, 1, ILLEGAL_REQUEST, 0x21, 0);
    ufs_run(u, 2);
    ufs_check(u, UFS_DATA(2), 4 * KiB, 7);
    ufs_stop(u);
}

static void test_read_only(void)
{
    Ufs *u = ufs_start_ro("");
    uint8_t cdb[16] = { WRITE_10, [8] = 1 };

    ufs_up(u);
    ufs_prep_scsi(u, 0, 1, cdb, UFS_UTP_HOST_TO_DEVICE, UFS_BLOCK);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, DATA_PROTECT, 0x27, 0);
    cdb[0] = READ_10;
    ufs_prep_scsi(u, 0, 1, cdb, UFS_UTP_DEVICE_TO_HOST, UFS_BLOCK);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_stop(u);
}

static void test_fail_every(void)
{
    Ufs *u = ufs_start_up(",fail-every=3");
    unsigned i;

    for (i = 1; i <= 9; i++) {
        ufs_prep_rw(u, 0, i & 1, 0, 1);
        ufs_run(u, 0);
        if (i % 3) {
            ufs_expect_good(u, 0);
        } else {
            ufs_expect_sense(u, 0, MEDIUM_ERROR, i & 1 ? 0x0c : 0x11, 0);
        }
    }
    g_assert_cmpuint(ufs_stat(u, "faults.failed"), ==, 3);
    g_assert_cmpuint(ufs_stat(u, "requests.failed"), ==, 3);
    ufs_stop(u);
}

static void test_power_mode(void)
{
    static const uint8_t sleep[16] = { START_STOP, [4] = 2 << 4 };
    static const uint8_t active[16] = { START_STOP, [4] = 1 << 4 };
    static const uint8_t bad[16] = { START_STOP, [4] = 9 << 4 };
    Ufs *u = ufs_start_up("");
    UtpUpiuRsp rsp;

    ufs_scsi(u, UFS_UPIU_UFS_DEVICE_WLUN, sleep, 0);
    ufs_expect_good(u, 0);
    ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_ATTR,
              UFS_QUERY_ATTR_IDN_POWER_MODE, 0, 0, &rsp);
    g_assert_cmphex(be32_to_cpu(rsp.qr.value), ==, 0x22);
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, NOT_READY, 0x04, 0x02);
    ufs_scsi(u, UFS_UPIU_UFS_DEVICE_WLUN, active, 0);
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_scsi(u, UFS_UPIU_UFS_DEVICE_WLUN, bad, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x24, 0);
    ufs_stop(u);
}

void add_protocol_tests(void)
{
    qtest_add_func("/irqbed-ufs/link", test_link);
    qtest_add_func("/irqbed-ufs/nop", test_nop);
    qtest_add_func("/irqbed-ufs/scsi/info", test_scsi_info);
    qtest_add_func("/irqbed-ufs/scsi/vpd", test_vpd);
    qtest_add_func("/irqbed-ufs/scsi/read-write", test_read_write);
    qtest_add_func("/irqbed-ufs/scsi/cdb-lengths", test_cdb_lengths);
    qtest_add_func("/irqbed-ufs/scsi/unmap", test_unmap);
    qtest_add_func("/irqbed-ufs/scsi/read-only", test_read_only);
    qtest_add_func("/irqbed-ufs/scsi/fail-every", test_fail_every);
    qtest_add_func("/irqbed-ufs/scsi/power-mode", test_power_mode);
}
