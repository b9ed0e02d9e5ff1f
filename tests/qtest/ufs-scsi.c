/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SCSI beyond reading and writing: unit attentions, mode pages, and the sense
 * data of every failure.
 */

#include "ufs-harness.h"

static const uint8_t tur[16] = { TEST_UNIT_READY };
static const uint8_t inquiry[16] = { INQUIRY, [4] = 36 };

static void test_attention(void)
{
    Ufs *u = ufs_start_up(",unit-attention=on");
    unsigned i;

    /* After power-on each unit has one, once; the command is not run. */
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, UNIT_ATTENTION, 0x29, 0);
    g_assert_cmpuint(ufs_stat(u, "bytes_written"), ==, 0);
    ufs_expect_ready(u, 0);
    for (i = 0; i < UFS_WLUNS; i++) {
        ufs_expect_attention(u, ufs_wluns[i], 0x29, 0);
        ufs_expect_ready(u, ufs_wluns[i]);
    }
    /* INQUIRY and REPORT LUNS leave it; REQUEST SENSE tells and takes it. */
    ufs_scsi(u, 1, inquiry, 36);
    ufs_expect_good(u, 0);
    ufs_expect_sense_data(u, 1, UNIT_ATTENTION, 0x29);
    ufs_expect_sense_data(u, 1, NO_SENSE, 0);
    ufs_expect_ready(u, 1);
    /* After a reset of the unit: that one. */
    g_assert_cmphex(ufs_task(u, UFS_LOGICAL_RESET, 1, 0), ==,
                    UFS_UPIU_TASK_MANAGEMENT_FUNC_COMPL);
    ufs_expect_ready(u, 0);
    ufs_expect_attention(u, 1, 0x29, 3);
    ufs_expect_ready(u, 1);
    /* Mode parameters that the guest did not change itself. */
    g_assert_null(ufs_set_word(u, "lu1", "write-protect", "permanent"));
    g_assert_null(ufs_set_word(u, "lu1", "write-protect", "permanent"));
    ufs_expect_attention(u, 1, 0x2a, 1);
    ufs_expect_ready(u, 1);
    /* A reset of all outdoes both; the link alone has no effect. */
    g_assert_null(ufs_set_word(u, "lu1", "write-protect", "off"));
    ufs_task(u, UFS_LOGICAL_RESET, 1, 0);
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    ufs_expect_attention(u, 1, 0x29, 0);
    ufs_expect_ready(u, 1);
    /* No unit, no attention: that is told first. */
    ufs_scsi(u, 9, tur, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x25, 0);
    ufs_expect_sense_data(u, 9, ILLEGAL_REQUEST, 0x25);
    ufs_stop(u);
}

/* The attentions of an LU go along when it is saved and restored. */
static void test_attention_migrates(void)
{
    Ufs *u = ufs_start_up(",unit-attention=on");

    ufs_expect_attention(u, 0, 0x29, 0);
    ufs_migrate(u, ",unit-attention=on");
    ufs_expect_ready(u, 0);
    ufs_expect_attention(u, 1, 0x29, 0);
    ufs_stop(u);
}

/* MODE SENSE 10 of one page; its bytes, behind the header. */
static void mode_page(Ufs *u, uint8_t control, uint8_t code, uint8_t *page,
                      uint8_t *specific)
{
    uint8_t cdb[16] = { MODE_SENSE_10, 8, control << 6 | code, [8] = 64 };
    uint8_t buf[64];

    ufs_scsi(u, 0, cdb, 64);
    ufs_expect_good(u, 0);
    qtest_memread(u->qts, UFS_DATA(0), buf, sizeof(buf));
    g_assert_cmpuint(lduw_be_p(buf), ==, 6 + 2 + buf[9]);
    g_assert_cmpuint(lduw_be_p(buf + 6), ==, 0);
    memcpy(page, buf + 8, 2 + buf[9]);
    *specific = buf[3];
}

/* MODE SELECT 10 of one page in UFS_DATA(0). */
static void select_page(Ufs *u, const uint8_t *page, unsigned len)
{
    uint8_t cdb[16] = { MODE_SELECT_10, 0x10, [8] = 8 + len };

    qtest_memset(u->qts, UFS_DATA(0), 0, 8);
    qtest_memwrite(u->qts, UFS_DATA(0) + 8, page, len);
    ufs_scsi_out(u, 0, cdb, 8 + len);
}

static void test_mode(void)
{
    Ufs *u = ufs_start_up("");
    uint8_t page[32], changeable[32], specific;
    uint8_t select6[16] = { MODE_SELECT, 0x10, [4] = 24 };
    uint8_t all[16] = { MODE_SENSE, 0, 0x3f, 0, 255 };

    mode_page(u, 1, 0x08, changeable, &specific);
    g_assert_cmphex(changeable[2], ==, 0x04);
    mode_page(u, 0, 0x08, page, &specific);
    g_assert_cmphex(page[2], ==, 0x04);
    g_assert_cmphex(specific, ==, 0x10);
    /* The write cache off, by the 6 byte command. */
    page[2] = 0;
    qtest_memset(u->qts, UFS_DATA(0), 0, 4);
    qtest_memwrite(u->qts, UFS_DATA(0) + 4, page, 20);
    ufs_scsi_out(u, 0, select6, 24);
    ufs_expect_good(u, 0);
    ufs_expect_ready(u, 0);
    mode_page(u, 0, 0x08, page, &specific);
    g_assert_cmphex(page[2], ==, 0);
    mode_page(u, 2, 0x08, page, &specific);
    g_assert_cmphex(page[2], ==, 0x04);
    /* Software write protection. */
    mode_page(u, 0, 0x0a, page, &specific);
    page[4] |= 0x08;
    select_page(u, page, 12);
    ufs_expect_good(u, 0);
    mode_page(u, 0, 0x0a, page, &specific);
    g_assert_cmphex(page[4], ==, 0x08);
    g_assert_cmphex(specific, ==, 0x90);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, DATA_PROTECT, 0x27, 2);
    /* A reset of the unit takes both back. */
    ufs_task(u, UFS_LOGICAL_RESET, 0, 0);
    mode_page(u, 0, 0x08, page, &specific);
    g_assert_cmphex(page[2], ==, 0x04);
    g_assert_cmphex(specific, ==, 0x10);
    ufs_prep_rw(u, 0, true, 0, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 0, all, 255);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0)), ==, 3 + 12 + 20 + 12);
    ufs_stop(u);
}

static void test_mode_refusals(void)
{
    static const struct {
        unsigned at;            /* byte of the caching page and its header */
        uint8_t value;
        uint8_t asc;
    } bad[] = {
        { 7, 8, 0x26 },         /* a block descriptor */
        { 8, 0x3e, 0x26 },      /* no such page */
        { 8, 0x88, 0x26 },      /* reserved bit of MODE SELECT: PS */
        { 9, 0x11, 0x26 },      /* not its length */
        { 9, 0x20, 0x1a },      /* longer than the list */
        { 10, 0x05, 0x26 },     /* RCD cannot be changed */
        { 27, 1, 0x26 },        /* reserved */
    };
    static const struct {
        uint8_t cdb[16];
        uint8_t asc;
    } cdbs[] = {
        { { MODE_SELECT_10, 0x00, [8] = 28 }, 0x24 },   /* no PF */
        { { MODE_SELECT_10, 0x11, [8] = 28 }, 0x24 },   /* SP */
        { { MODE_SELECT_10, 0x10, [8] = 7 }, 0x1a },
        { { MODE_SELECT_10, 0x10, [8] = 9 }, 0x1a },
        { { MODE_SELECT_10, 0x10, [7] = 0xff, [8] = 0xff }, 0x1a },
        { { MODE_SELECT, 0x10, [4] = 3 }, 0x1a },
    };
    static const uint8_t nothing[16] = { MODE_SELECT_10, 0x10 };
    static const uint8_t saved[16] = { MODE_SENSE_10, 0, 0xc8, [8] = 64 };
    static const uint8_t subpage[16] = { MODE_SENSE_10, 0, 8, 1, [8] = 64 };
    static const uint8_t unknown[16] = { MODE_SENSE_10, 0, 0x1c, [8] = 64 };
    Ufs *u = ufs_start_up("");
    uint8_t list[32] = { 0 }, page[32], specific;
    uint8_t cdb[16] = { MODE_SELECT_10, 0x10, [8] = 28 };
    unsigned i;

    mode_page(u, 0, 0x08, list + 8, &specific);
    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        uint8_t was = list[bad[i].at];

        list[bad[i].at] = bad[i].value;
        qtest_memwrite(u->qts, UFS_DATA(0), list, 28);
        ufs_scsi_out(u, 0, cdb, 28);
        ufs_expect_sense(u, 0, ILLEGAL_REQUEST, bad[i].asc, 0);
        list[bad[i].at] = was;
    }
    qtest_memwrite(u->qts, UFS_DATA(0), list, 28);
    for (i = 0; i < G_N_ELEMENTS(cdbs); i++) {
        ufs_scsi_out(u, 0, cdbs[i].cdb, 4096);
        ufs_expect_sense(u, 0, ILLEGAL_REQUEST, cdbs[i].asc, 0);
    }
    ufs_scsi(u, 0, nothing, 0);
    ufs_expect_good(u, 0);
    /* A good page and a bad one: neither is taken. */
    list[10] = 0;
    memcpy(page, list, 28);
    page[28] = 0x3e;
    page[29] = 0;
    qtest_memwrite(u->qts, UFS_DATA(0), page, 30);
    cdb[8] = 30;
    ufs_scsi_out(u, 0, cdb, 30);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x26, 0);
    mode_page(u, 0, 0x08, page, &specific);
    g_assert_cmphex(page[2], ==, 0x04);

    ufs_scsi(u, 0, saved, 64);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x39, 0);
    ufs_scsi(u, 0, subpage, 64);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x24, 0);
    ufs_scsi(u, 0, unknown, 64);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x24, 0);
    ufs_stop(u);
}

static void test_start_stop(void)
{
    static const uint8_t stop[16] = { START_STOP };
    static const uint8_t start[16] = { START_STOP, [4] = 1 };
    static const uint8_t eject[16] = { START_STOP, [4] = 2 };
    static const uint8_t idle[16] = { START_STOP, [4] = 1 << 4 };
    Ufs *u = ufs_start_up("");

    ufs_scsi(u, 0, stop, 0);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 0, tur, 0);
    ufs_expect_sense(u, 0, NOT_READY, 0x04, 0x02);
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, NOT_READY, 0x04, 0x02);
    ufs_expect_ready(u, 1);
    ufs_scsi(u, 0, inquiry, 36);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 0, start, 0);
    ufs_expect_ready(u, 0);
    ufs_scsi(u, 0, eject, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x24, 0);
    ufs_scsi(u, 0, idle, 0);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x24, 0);
    ufs_stop(u);
}

/* Every other way to fail, with its sense. */
static void test_sense(void)
{
    static const struct {
        uint8_t cdb[16];
        uint32_t bytes;
        uint8_t asc;
    } bad[] = {
        { { READ_10, [5] = 0xff, [3] = 0xff, [8] = 1 }, 4096, 0x21 },
        { { READ_16, [2] = 0xff, [13] = 1 }, 4096, 0x21 },
        { { READ_16, [10] = 0xff, [11] = 0xff, [12] = 0xff, [13] = 0xff },
          4096, 0x21 },
        { { READ_10, 0x20, [8] = 1 }, 4096, 0x24 },     /* RDPROTECT */
        { { READ_10, [8] = 1, [9] = 4 }, 4096, 0x24 },  /* NACA */
        { { READ_16, [13] = 1, [15] = 4 }, 4096, 0x24 },
        { { TEST_UNIT_READY, [5] = 4 }, 0, 0x24 },
        { { READ_10, [7] = 4, [8] = 1 }, 4096, 0x24 },  /* above 4 MiB */
        { { VERIFY_10, 2, [8] = 1 }, 0, 0x24 },         /* BYTCHK */
        { { VERIFY_10, [4] = 0xff, [8] = 1 }, 0, 0x21 },
        { { SYNCHRONIZE_CACHE, [2] = 0xff }, 0, 0x21 },
        { { SYNCHRONIZE_CACHE_16, [2] = 0xff }, 0, 0x21 },
        { { FORMAT_UNIT, 0x10 }, 0, 0x24 },             /* FMTDATA */
        { { READ_CAPACITY_10, [5] = 1 }, 8, 0x24 },     /* LBA without PMI */
        { { SERVICE_ACTION_IN_16, 0x10, [9] = 1, [13] = 32 }, 32, 0x24 },
        { { SERVICE_ACTION_IN_16, 0x11, [13] = 32 }, 32, 0x24 },
        { { INQUIRY, 0, 0x80, 0, 36 }, 36, 0x24 },      /* page without EVPD */
        { { INQUIRY, 1, 0x99, 0, 36 }, 36, 0x24 },
        { { REQUEST_SENSE, 1, [4] = 18 }, 18, 0x24 },   /* DESC */
        { { REPORT_LUNS, 0, 3, [9] = 64 }, 64, 0x24 },
        { { REPORT_LUNS, [9] = 8 }, 8, 0x24 },
        { { UNMAP, 1, [8] = 24 }, 0, 0x24 },            /* ANCHOR */
        { { 0xc0 }, 0, 0x20 },
        { { WRITE_SAME_16 }, 0, 0x20 },
    };
    static const uint8_t verify[16] = { VERIFY_10, [8] = 4 };
    static const uint8_t format[16] = { FORMAT_UNIT };
    uint8_t unmap[16] = { UNMAP, [8] = 7 };
    Ufs *u = ufs_start_up("");
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(bad); i++) {
        ufs_scsi(u, 0, bad[i].cdb, bad[i].bytes);
        ufs_expect_sense(u, 0, ILLEGAL_REQUEST, bad[i].asc, 0);
    }
    /* Lists: shorter than its header, more descriptors than b0 says. */
    ufs_scsi_out(u, 0, unmap, 8);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x1a, 0);
    stw_be_p(unmap + 7, 8 + 17 * 16);
    ufs_scsi_out(u, 0, unmap, 8 + 17 * 16);
    ufs_expect_sense(u, 0, ILLEGAL_REQUEST, 0x26, 0);
    /* And these are good; formatting leaves data alone. */
    ufs_fill(u, UFS_DATA(1), 4096, 3);
    ufs_prep_rw(u, 1, true, 0, 1);
    ufs_run(u, 1);
    ufs_scsi(u, 0, verify, 0);
    ufs_expect_good(u, 0);
    ufs_scsi(u, 0, format, 0);
    ufs_expect_good(u, 0);
    ufs_prep_rw(u, 1, false, 0, 1);
    ufs_run(u, 1);
    ufs_check(u, UFS_DATA(1), 4096, 3);
    ufs_stop(u);
}

/* A medium error says which block. */
static void test_information(void)
{
    Ufs *u = ufs_start_up(",fail-every=1");
    UtpUpiuRsp rsp;

    ufs_prep_rw(u, 0, false, 0x123, 2);
    ufs_run(u, 0);
    ufs_expect_sense(u, 0, MEDIUM_ERROR, 0x11, 0);
    ufs_response(u, 0, &rsp);
    g_assert_cmphex(rsp.sr.sense_data[0], ==, 0xf0);
    g_assert_cmphex(ldl_be_p(rsp.sr.sense_data + 3), ==, 0x123);
    ufs_stop(u);
}

void add_scsi_tests(void)
{
    qtest_add_func("/irqbed-ufs/scsi/attention", test_attention);
    qtest_add_func("/irqbed-ufs/scsi/attention-migrates",
                   test_attention_migrates);
    qtest_add_func("/irqbed-ufs/scsi/mode", test_mode);
    qtest_add_func("/irqbed-ufs/scsi/mode-refusals", test_mode_refusals);
    qtest_add_func("/irqbed-ufs/scsi/start-stop", test_start_stop);
    qtest_add_func("/irqbed-ufs/scsi/sense", test_sense);
    qtest_add_func("/irqbed-ufs/scsi/information", test_information);
}
