/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Logical units: write protection, block sizes, 32 of them, the well-known
 * ones, and properties that are refused.
 */

#include "ufs-harness.h"

static const uint8_t tur[16] = { TEST_UNIT_READY };
static const uint8_t inquiry[16] = { INQUIRY, [4] = 36 };
static const uint8_t capacity10[16] = { READ_CAPACITY_10 };

static void write_lu1(Ufs *u)
{
    uint8_t cdb[16] = { WRITE_10, [8] = 1 };

    ufs_scsi_out(u, 1, cdb, UFS_BLOCK);
}

/* All that writes; what reads goes on. */
static void expect_protected(Ufs *u)
{
    static const uint8_t unmap[16] = { UNMAP, [8] = 24 };
    static const uint8_t format[16] = { FORMAT_UNIT };
    uint8_t read[16] = { READ_10, [8] = 1 };

    write_lu1(u);
    ufs_expect_sense(u, 0, DATA_PROTECT, 0x27, 0);
    ufs_scsi_out(u, 1, unmap, 24);
    ufs_expect_sense(u, 0, DATA_PROTECT, 0x27, 0);
    ufs_scsi(u, 1, format, 0);
    ufs_expect_sense(u, 0, DATA_PROTECT, 0x27, 0);
    ufs_scsi(u, 1, read, UFS_BLOCK);
    ufs_expect_good(u, 0);
}

static void expect_write_protect_field(Ufs *u, uint8_t type)
{
    UtpUpiuRsp rsp;

    g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
                              UFS_QUERY_DESC_IDN_UNIT, 1, 0, &rsp), ==, 0);
    g_assert_cmphex(rsp.qr.data[UFS_UNIT_DESC_PARAM_LU_WR_PROTECT], ==, type);
}

static void test_write_protect(void)
{
    Ufs *u = ufs_start_lu1("", ",write-protect=power-on", "");
    g_autofree char *error = NULL;
    UtpUpiuRsp rsp;

    ufs_up(u);
    expect_write_protect_field(u, UFS_LU_POWER_ON_WP);
    write_lu1(u);
    ufs_expect_good(u, 0);
    g_assert_cmphex(ufs_query(u, true, UFS_UPIU_QUERY_OPCODE_SET_FLAG,
                              UFS_QUERY_FLAG_IDN_PWR_ON_WPE, 0, 0, &rsp), ==,
                    0);
    expect_protected(u);
    /* LUN 0 is not that kind. */
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    write_lu1(u);
    ufs_expect_good(u, 0);

    g_assert_null(ufs_set_word(u, "lu1", "write-protect", "permanent"));
    expect_write_protect_field(u, UFS_LU_PERM_WP);
    expect_protected(u);
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    expect_protected(u);
    error = ufs_set_word(u, "lu1", "write-protect", "sometimes");
    g_assert_cmpstr(error, ==, "write-protect: 'sometimes' is none of: off, "
                    "power-on, permanent");
    ufs_stop(u);
}

static void test_block_bytes(void)
{
    static const uint8_t capacity16[16] = {
        SERVICE_ACTION_IN_16, SAI_READ_CAPACITY_16, [13] = 32
    };
    static const uint8_t vpd_b0[16] = { INQUIRY, 1, 0xb0, 0, 64 };
    uint8_t write[16] = { WRITE_10, [5] = 3, [8] = 2 };
    uint8_t read[16] = { READ_16, [9] = 3, [13] = 2 };
    Ufs *u = ufs_start_lu1("", ",block-bytes=16384", "");
    UtpUpiuRsp rsp;

    ufs_up(u);
    ufs_scsi(u, 1, capacity10, 8);
    g_assert_cmpuint(be32_to_cpu(qtest_readl(u->qts, UFS_DATA(0))), ==,
                     UFS_IMAGE / (16 * KiB) - 1);
    ufs_scsi(u, 1, capacity16, 32);
    g_assert_cmpuint(be32_to_cpu(qtest_readl(u->qts, UFS_DATA(0) + 8)), ==,
                     16 * KiB);
    ufs_scsi(u, 1, vpd_b0, 64);
    g_assert_cmpuint(be32_to_cpu(qtest_readl(u->qts, UFS_DATA(0) + 8)), ==,
                     4 * MiB / (16 * KiB));
    ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
              UFS_QUERY_DESC_IDN_UNIT, 1, 0, &rsp);
    g_assert_cmpuint(rsp.qr.data[UFS_UNIT_DESC_PARAM_LOGICAL_BLK_SIZE], ==,
                     14);

    ufs_fill(u, UFS_DATA(0), 32 * KiB, 5);
    ufs_scsi_out(u, 1, write, 32 * KiB);
    ufs_expect_good(u, 0);
    qtest_memset(u->qts, UFS_DATA(0), 0, 32 * KiB);
    ufs_scsi(u, 1, read, 32 * KiB);
    ufs_expect_good(u, 0);
    ufs_check(u, UFS_DATA(0), 32 * KiB, 5);
    /* The last block, and one beyond it. */
    stl_be_p(write + 2, UFS_IMAGE / (16 * KiB) - 2);
    ufs_scsi_out(u, 1, write, 32 * KiB);
    ufs_expect_good(u, 0);
    stl_be_p(write + 2, UFS_IMAGE / (16 * KiB) - 1);
    ufs_scsi_out(u, 1, write, 32 * KiB);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x21, 0);
    /* LUN 0 has its own. */
    ufs_scsi(u, 0, capacity10, 8);
    g_assert_cmpuint(be32_to_cpu(qtest_readl(u->qts, UFS_DATA(0) + 4)), ==,
                     UFS_BLOCK);
    ufs_stop(u);
}

/* QEMU does not start, and says why in one line. */
static void expect_refused(const char *lu, const char *why)
{
    g_autofree char *device = g_strdup_printf(
        "irqbed-ufs-lu,bus=u.0,drive=n%s", lu);
    g_autofree char *bios = ufs_new_image(64 * KiB);
    const char *argv[] = {
        g_getenv("QTEST_QEMU_BINARY"), "-accel", "qtest", "-nodefaults",
        "-display", "none", "-machine", "pc",
        "-global", "apic-common.vapic=off", "-bios", bios, "-blockdev",
        "null-co,node-name=n,size=1048576,read-zeroes=on", "-device",
        "irqbed-ufs,id=u", "-device", device, NULL
    };
    g_autofree char *said = NULL;
    g_autoptr(GError) error = NULL;
    const char *line;
    int status;

    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
                 NULL, NULL, &said, &status, &error);
    g_assert_no_error(error);
    unlink(bios);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    line = said;
    /* AddressSanitizer has a line of its own first, about coroutines. */
    if (g_str_has_prefix(said, "==") && strchr(said, '\n')) {
        line = strchr(said, '\n') + 1;
    }
    if (!strstr(line, why) || strchr(line, '\n') != line + strlen(line) - 1) {
        g_test_message("expected: one line with '%s', got: %s", why, said);
        g_test_fail();
    }
}

static void test_lu_refusals(void)
{
    expect_refused(",block-bytes=512",
                   "block-bytes: 512 is not a power of two between 4096 and "
                   "65536");
    expect_refused(",block-bytes=131072", "block-bytes: 131072 is not");
    expect_refused(",block-bytes=12288", "block-bytes: 12288 is not");
    expect_refused(",lun=32", "lun: 32 is not between 0 and 31");
    expect_refused(",write-protect=on",
                   "'on' is none of: off, power-on, permanent");
}

/* LUNs 2 to 31, each with a size of its own. */
static void test_many_units(void)
{
    static const uint8_t luns[16] = { REPORT_LUNS, 0, 2, [8] = 2 };
    g_autoptr(GString) extra = g_string_new(NULL);
    uint8_t buf[8 + 36 * 8];
    UtpUpiuRsp rsp;
    unsigned i;
    Ufs *u;

    for (i = 2; i < 32; i++) {
        g_string_append_printf(
            extra, " -blockdev null-co,node-name=x%u,size=%u,read-zeroes=on "
            "-device irqbed-ufs-lu,bus=ufs0.0,lun=%u,drive=x%u", i,
            (i + 1) * UFS_BLOCK, i, i);
    }
    u = ufs_start_lu1(",unit-attention=on", "", extra->str);
    ufs_up(u);
    ufs_scsi(u, UFS_UPIU_REPORT_LUNS_WLUN, luns, 512);
    ufs_expect_good(u, 0);
    qtest_memread(u->qts, UFS_DATA(0), buf, sizeof(buf));
    g_assert_cmpuint(ldl_be_p(buf), ==, 36 * 8);
    for (i = 0; i < 32; i++) {
        g_assert_cmphex(lduw_be_p(buf + 8 + i * 8), ==, i);
    }
    for (i = 0; i < 4; i++) {
        g_assert_cmphex(lduw_be_p(buf + 8 + (32 + i) * 8), ==,
                        0xc100 | (ufs_wluns[i] & 0x7f));
    }
    for (i = 2; i < 32; i++) {
        ufs_expect_attention(u, i, 0x29, 0);
        ufs_scsi(u, i, capacity10, 8);
        ufs_expect_good(u, 0);
        g_assert_cmpuint(be32_to_cpu(qtest_readl(u->qts, UFS_DATA(0))), ==, i);
        g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
                                  UFS_QUERY_DESC_IDN_UNIT, i, 0, &rsp), ==, 0);
        g_assert_cmpuint(rsp.qr.data[UFS_UNIT_DESC_PARAM_LU_ENABLE], ==, 1);
    }
    ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
              UFS_QUERY_DESC_IDN_DEVICE, 0, 0, &rsp);
    g_assert_cmpuint(rsp.qr.data[UFS_DEVICE_DESC_PARAM_NUM_LU], ==, 32);
    ufs_stop(u);
}

/* Each well-known unit does what it is for; a medium it has not. */
static void test_well_known(void)
{
    static const uint8_t luns[16] = { REPORT_LUNS, [9] = 16 };
    static const uint8_t read[16] = { READ_10, [8] = 1 };
    static const uint8_t mode[16] = { MODE_SENSE, 0, 0x3f, 0, 64 };
    static const uint8_t start[16] = { START_STOP, [4] = 1 << 4 };
    static const uint8_t format[16] = { FORMAT_UNIT };
    static const uint8_t rpmb_in[16] = { 0xa2, 0xec };  /* SECURITY PROTOCOL */
    Ufs *u = ufs_start_up("");
    unsigned i;

    for (i = 0; i < UFS_WLUNS; i++) {
        bool device = ufs_wluns[i] == UFS_UPIU_UFS_DEVICE_WLUN;

        ufs_scsi(u, ufs_wluns[i], inquiry, 36);
        g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0)), ==, 0x1e);
        ufs_expect_ready(u, ufs_wluns[i]);
        ufs_expect_sense_data(u, ufs_wluns[i], NO_SENSE, 0);
        ufs_scsi(u, ufs_wluns[i], luns, 16);
        ufs_expect_good(u, 0);
        ufs_scsi(u, ufs_wluns[i], read, UFS_BLOCK);
        ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x20, 0);
        ufs_scsi(u, ufs_wluns[i], mode, 64);
        ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x20, 0);
        ufs_scsi(u, ufs_wluns[i], rpmb_in, 64);
        ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x20, 0);
        ufs_scsi(u, ufs_wluns[i], start, 0);
        if (device) {
            ufs_expect_good(u, 0);
            ufs_scsi(u, ufs_wluns[i], format, 0);
            ufs_expect_good(u, 0);
        } else {
            ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x20, 0);
        }
    }
    /* Not a unit of ours: as any LUN that is not there. */
    ufs_scsi(u, 0x99, inquiry, 36);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0)), ==, 0x7f);
    ufs_scsi(u, 0x99, tur, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x25, 0);
    ufs_stop(u);
}

void add_unit_tests(void)
{
    qtest_add_func("/irqbed-ufs/units/write-protect", test_write_protect);
    qtest_add_func("/irqbed-ufs/units/block-bytes", test_block_bytes);
    qtest_add_func("/irqbed-ufs/units/refusals", test_lu_refusals);
    qtest_add_func("/irqbed-ufs/units/many", test_many_units);
    qtest_add_func("/irqbed-ufs/units/well-known", test_well_known);
}
