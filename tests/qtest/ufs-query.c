/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Query requests: every descriptor, attribute and flag that the specification
 * has and that Linux, ufs-utils or U-Boot read or write; what is not there, or
 * cannot be read or written, is answered with the code for it.
 */

#include "ufs-harness.h"

#define UPIU_SELECTOR 15

typedef enum { READ_D, WRITE_D, READ_A, WRITE_A, READ_F, SET_F, CLEAR_F,
               TOGGLE_F } Op;

static const struct {
    bool write;
    uint8_t opcode;
} ops[] = {
    [READ_D] = { false, UFS_UPIU_QUERY_OPCODE_READ_DESC },
    [WRITE_D] = { true, UFS_UPIU_QUERY_OPCODE_WRITE_DESC },
    [READ_A] = { false, UFS_UPIU_QUERY_OPCODE_READ_ATTR },
    [WRITE_A] = { true, UFS_UPIU_QUERY_OPCODE_WRITE_ATTR },
    [READ_F] = { false, UFS_UPIU_QUERY_OPCODE_READ_FLAG },
    [SET_F] = { true, UFS_UPIU_QUERY_OPCODE_SET_FLAG },
    [CLEAR_F] = { true, UFS_UPIU_QUERY_OPCODE_CLEAR_FLAG },
    [TOGGLE_F] = { true, UFS_UPIU_QUERY_OPCODE_TOGGLE_FLAG },
};

#define OK              UFS_QUERY_RESULT_SUCCESS
#define NOT_READABLE    UFS_QUERY_RESULT_NOT_READABLE
#define NOT_WRITEABLE   UFS_QUERY_RESULT_NOT_WRITEABLE
#define ALREADY_WRITTEN UFS_QUERY_RESULT_ALREADY_WRITTEN
#define BAD_VALUE       UFS_QUERY_RESULT_INVALID_VALUE
#define BAD_SELECTOR    UFS_QUERY_RESULT_INVALID_SELECTOR
#define BAD_INDEX       UFS_QUERY_RESULT_INVALID_INDEX
#define BAD_IDN         UFS_QUERY_RESULT_INVALID_IDN
#define BAD_OPCODE      UFS_QUERY_RESULT_INVALID_OPCODE

typedef struct Ask {
    Op op;
    uint8_t idn, index, selector;
    uint32_t value;             /* to write, or expected of a read */
    uint8_t code;
} Ask;

static void ask_all(Ufs *u, const Ask *asks, unsigned count)
{
    UtpUpiuRsp rsp;
    unsigned i;

    for (i = 0; i < count; i++) {
        const Ask *a = &asks[i];

        ufs_prep_query(u, 0, ops[a->op].write, ops[a->op].opcode, a->idn,
                       a->index, a->value);
        qtest_writeb(u->qts, UFS_UCD(0) + UPIU_SELECTOR, a->selector);
        ufs_run(u, 0);
        ufs_response(u, 0, &rsp);
        if (rsp.header.response != a->code ||
            (a->code == OK && (a->op == READ_A || a->op == READ_F) &&
             be32_to_cpu(rsp.qr.value) != a->value)) {
            g_test_message("row %u, idn 0x%x: expected: code 0x%x value %u, "
                           "got: code 0x%x value %u", i, a->idn, a->code,
                           a->value, rsp.header.response,
                           be32_to_cpu(rsp.qr.value));
            g_test_fail();
        }
    }
}

static void test_query_descriptors(void)
{
    static const struct {
        uint8_t idn, index, len;
    } there[] = {
        { UFS_QUERY_DESC_IDN_DEVICE, 0, 89 },
        { UFS_QUERY_DESC_IDN_CONFIGURATION, 3, 230 },
        { UFS_QUERY_DESC_IDN_UNIT, 0, 45 },
        { UFS_QUERY_DESC_IDN_UNIT, 31, 45 },
        { UFS_QUERY_DESC_IDN_UNIT, UFS_UPIU_RPMB_WLUN, 35 },
        { UFS_QUERY_DESC_IDN_INTERCONNECT, 0, 6 },
        { UFS_QUERY_DESC_IDN_STRING, 1, 34 },
        { UFS_QUERY_DESC_IDN_GEOMETRY, 0, 87 },
        { UFS_QUERY_DESC_IDN_POWER, 0, 98 },
        { UFS_QUERY_DESC_IDN_HEALTH, 0, 45 },
    };
    Ufs *u = ufs_start_up("");
    UtpUpiuRsp rsp;
    int i;

    for (i = 0; i < G_N_ELEMENTS(there); i++) {
        g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
                                  there[i].idn, there[i].index, 0, &rsp), ==,
                        UFS_QUERY_RESULT_SUCCESS);
        g_assert_cmpuint(be16_to_cpu(rsp.qr.length), ==, there[i].len);
        g_assert_cmpuint(be16_to_cpu(rsp.header.data_segment_length), ==,
                         there[i].len);
        g_assert_cmpuint(rsp.qr.data[0], ==, there[i].len);
        g_assert_cmpuint(rsp.qr.data[1], ==, there[i].idn);
    }
    g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
                              UFS_QUERY_DESC_IDN_DEVICE, 0, 0, &rsp), ==, 0);
    g_assert_cmpuint(rsp.qr.data[UFS_DEVICE_DESC_PARAM_NUM_LU], ==, 2);
    g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
                              UFS_QUERY_DESC_IDN_UNIT, 1, 0, &rsp), ==, 0);
    g_assert_cmpuint(rsp.qr.data[UFS_UNIT_DESC_PARAM_LU_ENABLE], ==, 1);
    g_assert_cmpuint(ldq_be_p(rsp.qr.data +
                              UFS_UNIT_DESC_PARAM_LOGICAL_BLK_COUNT), ==,
                     UFS_IMAGE / UFS_BLOCK);
    g_assert_cmpuint(rsp.qr.data[UFS_UNIT_DESC_PARAM_LOGICAL_BLK_SIZE], ==,
                     12);
    ufs_stop(u);
}

/* What a descriptor has beside length and identification; the rest is 0. */
typedef struct Field {
    uint8_t at, bytes;
    uint64_t value;
} Field;

static void expect_fields(Ufs *u, uint8_t idn, uint8_t index, unsigned len,
                          const Field *fields, unsigned count)
{
    uint8_t expected[256] = { len, idn };
    UtpUpiuRsp rsp;
    unsigned i, j;

    for (i = 0; i < count; i++) {
        for (j = 0; j < fields[i].bytes; j++) {
            expected[fields[i].at + fields[i].bytes - 1 - j] =
                fields[i].value >> (8 * j);
        }
    }
    g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC, idn,
                              index, 0, &rsp), ==, 0);
    for (i = 0; i < len; i++) {
        if (rsp.qr.data[i] != expected[i]) {
            g_test_message("descriptor %u index %u, byte 0x%x: expected: "
                           "0x%02x, got: 0x%02x", idn, index, i, expected[i],
                           rsp.qr.data[i]);
            g_test_fail();
        }
    }
}

/* Byte by byte, by the offsets of UFS 3.1, 14.1. */
static void test_descriptor_bytes(void)
{
    static const Field device[] = {
        { 0x06, 1, 2 }, { 0x07, 1, 4 }, { 0x0a, 1, 1 }, { 0x0b, 1, 0x7f },
        { 0x10, 2, 0x310 }, { 0x12, 2, 0x126 }, { 0x15, 1, 1 },
        { 0x16, 1, 2 }, { 0x17, 1, 3 }, { 0x1a, 1, 0x16 }, { 0x1b, 1, 0x1a },
        { 0x1c, 1, 2 }, { 0x21, 1, 32 }, { 0x2a, 1, 4 },
    };
    static const Field geometry[] = {
        { 0x04, 8, 2 * UFS_IMAGE / 512 }, { 0x0c, 1, 1 }, { 0x0d, 4, 8192 },
        { 0x11, 1, 1 }, { 0x12, 1, 8 }, { 0x13, 1, 8 }, { 0x14, 1, 8 },
        { 0x15, 1, 8 }, { 0x16, 1, 8 }, { 0x1a, 1, 5 }, { 0x1e, 2, 1 },
    };
    static const Field configuration[] = {
        { 0x02, 1, 1 }, { 0x05, 1, 1 }, { 0x06, 1, 0x7f },
        { 0x16, 1, 1 }, { 0x1a, 4, 2 }, { 0x1f, 1, 12 }, { 0x20, 1, 3 },
        { 0x30, 1, 1 }, { 0x34, 4, 2 }, { 0x39, 1, 12 }, { 0x3a, 1, 3 },
    };
    static const Field unit[] = {
        { 0x02, 1, 1 }, { 0x03, 1, 1 }, { 0x0a, 1, 12 }, { 0x0b, 8, 2048 },
        { 0x13, 4, 1 }, { 0x17, 1, 3 }, { 0x18, 8, 2048 },
    };
    static const Field interconnect[] = { { 2, 2, 0x180 }, { 4, 2, 0x410 } };
    static const Field health[] = { { 2, 1, 1 }, { 3, 1, 1 }, { 4, 1, 1 } };
    static const Field oem[] = {
        { 2, 2, 'I' }, { 4, 2, 'R' }, { 6, 2, 'Q' }, { 8, 2, 'B' },
        { 10, 2, 'E' }, { 12, 2, 'D' },
    };
    Ufs *u = ufs_start_up("");

    expect_fields(u, 0, 0, 0x59, device, G_N_ELEMENTS(device));
    expect_fields(u, 1, 0, 0xe6, configuration, G_N_ELEMENTS(configuration));
    expect_fields(u, 2, 1, 0x2d, unit, G_N_ELEMENTS(unit));
    expect_fields(u, 4, 0, 0x06, interconnect, G_N_ELEMENTS(interconnect));
    expect_fields(u, 5, 3, 0x0e, oem, G_N_ELEMENTS(oem));
    expect_fields(u, 7, 0, 0x57, geometry, G_N_ELEMENTS(geometry));
    expect_fields(u, 8, 0, 0x62, NULL, 0);
    expect_fields(u, 9, 0, 0x2d, health, G_N_ELEMENTS(health));
    ufs_stop(u);
}

static void test_refusals(void)
{
    static const Ask asks[] = {
        { READ_D, 3, .code = BAD_IDN },
        { READ_D, 0xff, .code = BAD_IDN },
        { READ_D, UFS_QUERY_DESC_IDN_UNIT, 32, .code = BAD_INDEX },
        { READ_D, UFS_QUERY_DESC_IDN_DEVICE, 1, .code = BAD_INDEX },
        { READ_D, UFS_QUERY_DESC_IDN_STRING, 9, .code = BAD_INDEX },
        { READ_D, UFS_QUERY_DESC_IDN_DEVICE, 0, 1, .code = BAD_SELECTOR },
        { WRITE_D, UFS_QUERY_DESC_IDN_CONFIGURATION, .code = NOT_WRITEABLE },
        { WRITE_D, UFS_QUERY_DESC_IDN_DEVICE, .code = NOT_WRITEABLE },
        { WRITE_D, 0x77, .code = BAD_IDN },
        { READ_A, 0x77, .code = BAD_IDN },
        { WRITE_A, 0x77, .code = BAD_IDN },
        { READ_A, UFS_QUERY_ATTR_IDN_POWER_MODE, 1, .code = BAD_INDEX },
        { READ_A, UFS_QUERY_ATTR_IDN_POWER_MODE, 0, 1, .code = BAD_SELECTOR },
        { READ_F, 0xee, .code = BAD_IDN },
        { SET_F, 0xee, .code = BAD_IDN },
        { READ_F, UFS_QUERY_FLAG_IDN_BKOPS_EN, 1, .code = BAD_INDEX },
        { READ_F, UFS_QUERY_FLAG_IDN_BKOPS_EN, 0, 1, .code = BAD_SELECTOR },
    };
    Ufs *u = ufs_start_up("");
    UtpUpiuRsp rsp;

    ask_all(u, asks, G_N_ELEMENTS(asks));
    /* The function and the operation do not fit; there is no such one. */
    g_assert_cmphex(ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_WRITE_DESC,
                              UFS_QUERY_DESC_IDN_CONFIGURATION, 0, 0, &rsp),
                    ==, BAD_OPCODE);
    g_assert_cmphex(ufs_query(u, true, UFS_UPIU_QUERY_OPCODE_READ_FLAG,
                              UFS_QUERY_FLAG_IDN_BKOPS_EN, 0, 0, &rsp),
                    ==, BAD_OPCODE);
    g_assert_cmphex(ufs_query(u, false, 0x55, 0, 0, 0, &rsp), ==, BAD_OPCODE);
    ufs_stop(u);
}

/* Each attribute of UFS 3.1, table 14.28, and qTimestamp: what a read gives. */
static void test_attributes(void)
{
    static const struct {
        uint8_t idn;
        uint32_t value;
        bool writable;
        uint32_t most;
    } attrs[] = {
        { UFS_QUERY_ATTR_IDN_BOOT_LU_EN, 0, true, 2 },
        { UFS_QUERY_ATTR_IDN_POWER_MODE, 0x11 },
        { UFS_QUERY_ATTR_IDN_ACTIVE_ICC_LVL, 0, true, 15 },
        { UFS_QUERY_ATTR_IDN_OOO_DATA_EN, 0 },
        { UFS_QUERY_ATTR_IDN_BKOPS_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_PURGE_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_MAX_DATA_IN, 8, true, 8 },
        { UFS_QUERY_ATTR_IDN_MAX_DATA_OUT, 8, true, 8 },
        { UFS_QUERY_ATTR_IDN_DYN_CAP_NEEDED, 0 },
        { UFS_QUERY_ATTR_IDN_REF_CLK_FREQ, 1, true, 3 },
        { UFS_QUERY_ATTR_IDN_MAX_NUM_OF_RTT, 2, true, 2 },
        { UFS_QUERY_ATTR_IDN_EE_CONTROL, 0, true, 0xffff },
        { UFS_QUERY_ATTR_IDN_EE_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_FFU_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_PSA_STATE, 0 },
        { UFS_QUERY_ATTR_IDN_PSA_DATA_SIZE, 0 },
        { UFS_QUERY_ATTR_IDN_REF_CLK_GATING_WAIT_TIME, 50 },
        { UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP, 0 },
        { UFS_QUERY_ATTR_IDN_HIGH_TEMP_BOUND, 160 },
        { UFS_QUERY_ATTR_IDN_LOW_TEMP_BOUND, 60 },
        { UFS_QUERY_ATTR_IDN_THROTTLING_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_WB_FLUSH_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_AVAIL_WB_BUFF_SIZE, 0 },
        { UFS_QUERY_ATTR_IDN_WB_BUFF_LIFE_TIME_EST, 0 },
        { UFS_QUERY_ATTR_IDN_CURR_WB_BUFF_SIZE, 0 },
        { UFS_QUERY_ATTR_IDN_REFRESH_STATUS, 0 },
        { UFS_QUERY_ATTR_IDN_REFRESH_FREQ, 0, true, 0xff },
        { UFS_QUERY_ATTR_IDN_REFRESH_UNIT, 0, true, 1 },
        { 0x2f, 0, true, 2 },   /* bRefreshMethod */
    };
    Ufs *u = ufs_start_up("");
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(attrs); i++) {
        const Ask fixed[] = {
            { READ_A, attrs[i].idn, .value = attrs[i].value },
            { WRITE_A, attrs[i].idn, .code = NOT_WRITEABLE },
        };
        const Ask writable[] = {
            { READ_A, attrs[i].idn, .value = attrs[i].value },
            { WRITE_A, attrs[i].idn, .value = attrs[i].most },
            { READ_A, attrs[i].idn, .value = attrs[i].most },
            { WRITE_A, attrs[i].idn, .value = attrs[i].most + 1,
              .code = BAD_VALUE },
            { READ_A, attrs[i].idn, .value = attrs[i].most },
        };

        if (attrs[i].writable) {
            ask_all(u, writable, G_N_ELEMENTS(writable));
        } else {
            ask_all(u, fixed, G_N_ELEMENTS(fixed));
        }
    }
    ufs_stop(u);
}

static void test_special_attributes(void)
{
    static const Ask asks[] = {
        /* Locked: writable once, and written. */
        { READ_A, UFS_QUERY_ATTR_IDN_CONF_DESC_LOCK, .value = 1 },
        { WRITE_A, UFS_QUERY_ATTR_IDN_CONF_DESC_LOCK,
          .code = ALREADY_WRITTEN },
        /* Written, never read. */
        { WRITE_A, UFS_QUERY_ATTR_IDN_SECONDS_PASSED, .value = 12345 },
        { READ_A, UFS_QUERY_ATTR_IDN_SECONDS_PASSED, .code = NOT_READABLE },
        { WRITE_A, 0x30, .value = 1 },
        { READ_A, 0x30, .code = NOT_READABLE },
        /* Of an LU, and of its context. */
        { READ_A, UFS_QUERY_ATTR_IDN_DYN_CAP_NEEDED, 1 },
        { READ_A, UFS_QUERY_ATTR_IDN_DYN_CAP_NEEDED, 2, .code = BAD_INDEX },
        { READ_A, UFS_QUERY_ATTR_IDN_CNTX_CONF, 1, 5 },
        { READ_A, UFS_QUERY_ATTR_IDN_CNTX_CONF, 1, 0, .code = BAD_SELECTOR },
        { READ_A, UFS_QUERY_ATTR_IDN_CNTX_CONF, 1, 6, .code = BAD_SELECTOR },
        { READ_A, UFS_QUERY_ATTR_IDN_CNTX_CONF, 9, 1, .code = BAD_INDEX },
        { WRITE_A, UFS_QUERY_ATTR_IDN_CNTX_CONF, 1, 1,
          .code = NOT_WRITEABLE },
    };
    Ufs *u = ufs_start_up("");

    ask_all(u, asks, G_N_ELEMENTS(asks));
    ufs_stop(u);
}

static void test_flags(void)
{
    static const Ask asks[] = {
        /* What is started is over when it is asked for. */
        { SET_F, UFS_QUERY_FLAG_IDN_FDEVICEINIT },
        { READ_F, UFS_QUERY_FLAG_IDN_FDEVICEINIT },
        { CLEAR_F, UFS_QUERY_FLAG_IDN_FDEVICEINIT, .code = NOT_WRITEABLE },
        { SET_F, UFS_QUERY_FLAG_IDN_PURGE_ENABLE },
        { READ_F, UFS_QUERY_FLAG_IDN_PURGE_ENABLE, .code = NOT_READABLE },
        { READ_A, UFS_QUERY_ATTR_IDN_PURGE_STATUS, .value = 3 },
        { SET_F, UFS_QUERY_FLAG_IDN_REFRESH_ENABLE },
        { READ_F, UFS_QUERY_FLAG_IDN_REFRESH_ENABLE, .code = NOT_READABLE },
        { READ_A, UFS_QUERY_ATTR_IDN_REFRESH_STATUS, .value = 3 },
        { READ_F, UFS_QUERY_FLAG_IDN_PERMANENT_WPE, .value = 1 },
        { SET_F, UFS_QUERY_FLAG_IDN_PERMANENT_WPE, .code = ALREADY_WRITTEN },
        { READ_F, UFS_QUERY_FLAG_IDN_PWR_ON_WPE },
        { SET_F, UFS_QUERY_FLAG_IDN_PWR_ON_WPE },
        { READ_F, UFS_QUERY_FLAG_IDN_PWR_ON_WPE, .value = 1 },
        { CLEAR_F, UFS_QUERY_FLAG_IDN_PWR_ON_WPE, .code = NOT_WRITEABLE },
        { READ_F, UFS_QUERY_FLAG_IDN_BKOPS_EN, .value = 1 },
        { TOGGLE_F, UFS_QUERY_FLAG_IDN_BKOPS_EN },
        { READ_F, UFS_QUERY_FLAG_IDN_BKOPS_EN },
        { SET_F, UFS_QUERY_FLAG_IDN_BKOPS_EN },
        { CLEAR_F, UFS_QUERY_FLAG_IDN_BKOPS_EN },
        { READ_F, UFS_QUERY_FLAG_IDN_BKOPS_EN },
        { SET_F, UFS_QUERY_FLAG_IDN_LIFE_SPAN_MODE_ENABLE },
        { READ_F, UFS_QUERY_FLAG_IDN_LIFE_SPAN_MODE_ENABLE, .value = 1 },
        { READ_F, UFS_QUERY_FLAG_IDN_FPHYRESOURCEREMOVAL },
        { SET_F, UFS_QUERY_FLAG_IDN_FPHYRESOURCEREMOVAL,
          .code = NOT_WRITEABLE },
        { READ_F, UFS_QUERY_FLAG_IDN_BUSY_RTC },
        { READ_F, UFS_QUERY_FLAG_IDN_PERMANENTLY_DISABLE_FW_UPDATE,
          .value = 1 },
        { SET_F, UFS_QUERY_FLAG_IDN_PERMANENTLY_DISABLE_FW_UPDATE,
          .code = ALREADY_WRITTEN },
        { READ_F, UFS_QUERY_FLAG_IDN_WB_EN },
        { SET_F, UFS_QUERY_FLAG_IDN_WB_EN, .code = NOT_WRITEABLE },
        { TOGGLE_F, UFS_QUERY_FLAG_IDN_WB_EN, .code = NOT_WRITEABLE },
        { READ_F, UFS_QUERY_FLAG_IDN_WB_BUFF_FLUSH_EN },
        { READ_F, UFS_QUERY_FLAG_IDN_WB_BUFF_FLUSH_DURING_HIBERN8 },
    };
    static const Ask again[] = {
        { READ_F, UFS_QUERY_FLAG_IDN_PWR_ON_WPE },
        { READ_F, UFS_QUERY_FLAG_IDN_BKOPS_EN, .value = 1 },
        { READ_A, UFS_QUERY_ATTR_IDN_PURGE_STATUS },
    };
    Ufs *u = ufs_start_up("");

    ask_all(u, asks, G_N_ELEMENTS(asks));
    /* A reset takes all of it back. */
    ufs_write(u, A_HCE, 0);
    ufs_up(u);
    ask_all(u, again, G_N_ELEMENTS(again));
    ufs_stop(u);
}

static uint8_t device_information(Ufs *u)
{
    static const uint8_t tur[16] = { TEST_UNIT_READY };
    UtpUpiuRsp rsp;

    ufs_scsi(u, 0, tur, 0);
    ufs_expect_good(u, 0);
    ufs_response(u, 0, &rsp);
    return rsp.header.device_inf;
}

/* Too hot, too cold: told by each response to who has asked for it. */
static void test_temperature(void)
{
    static const Ask off[] = {
        { READ_A, UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP },
        { READ_A, UFS_QUERY_ATTR_IDN_EE_STATUS, .value = 8 },
        { WRITE_A, UFS_QUERY_ATTR_IDN_EE_CONTROL, .value = 8 },
        { READ_A, UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP, .value = 160 },
    };
    static const Ask cold[] = {
        { READ_A, UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP, .value = 60 },
        { READ_A, UFS_QUERY_ATTR_IDN_EE_STATUS, .value = 16 },
    };
    static const Ask mild[] = {
        { WRITE_A, UFS_QUERY_ATTR_IDN_EE_CONTROL, .value = 24 },
        { READ_A, UFS_QUERY_ATTR_IDN_EE_STATUS },
    };
    static const Ask none[] = {
        { READ_A, UFS_QUERY_ATTR_IDN_CASE_ROUGH_TEMP },
        { READ_A, UFS_QUERY_ATTR_IDN_EE_STATUS },
    };
    Ufs *u = ufs_start_up(",case-temperature=160");
    UtpUpiuRsp rsp;

    ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
              UFS_QUERY_DESC_IDN_DEVICE, 0, 0, &rsp);
    g_assert_cmphex(rsp.qr.data[0x1f], ==, 0x30);
    g_assert_cmphex(ldl_be_p(rsp.qr.data + 0x4f), ==, 0x30);
    g_assert_cmphex(device_information(u), ==, 0);
    ask_all(u, off, G_N_ELEMENTS(off));
    g_assert_cmphex(device_information(u), ==, 1);
    /* Not asked for: the other one. */
    g_assert_true(ufs_set_knob(u, "case-temperature", 60));
    ask_all(u, cold, G_N_ELEMENTS(cold));
    g_assert_cmphex(device_information(u), ==, 0);
    g_assert_true(ufs_set_knob(u, "case-temperature", 61));
    ask_all(u, mild, G_N_ELEMENTS(mild));
    g_assert_cmphex(device_information(u), ==, 0);
    g_assert_true(ufs_set_knob(u, "case-temperature", 1));
    g_assert_cmphex(device_information(u), ==, 1);
    g_assert_true(ufs_set_knob(u, "case-temperature", 0));
    ask_all(u, none, G_N_ELEMENTS(none));
    g_assert_cmphex(device_information(u), ==, 0);
    ufs_query(u, false, UFS_UPIU_QUERY_OPCODE_READ_DESC,
              UFS_QUERY_DESC_IDN_DEVICE, 0, 0, &rsp);
    g_assert_cmphex(rsp.qr.data[0x1f], ==, 0);
    ufs_stop(u);
}

void add_query_tests(void)
{
    qtest_add_func("/irqbed-ufs/query/temperature", test_temperature);
    qtest_add_func("/irqbed-ufs/query/descriptors", test_query_descriptors);
    qtest_add_func("/irqbed-ufs/query/descriptor-bytes",
                   test_descriptor_bytes);
    qtest_add_func("/irqbed-ufs/query/refusals", test_refusals);
    qtest_add_func("/irqbed-ufs/query/attributes", test_attributes);
    qtest_add_func("/irqbed-ufs/query/special", test_special_attributes);
    qtest_add_func("/irqbed-ufs/query/flags", test_flags);
}
