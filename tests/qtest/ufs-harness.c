/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See ufs-harness.h.
 */

#include "ufs-harness.h"

char *ufs_new_image(off_t bytes)
{
    g_autoptr(GError) err = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("irqbed-qtest-XXXXXX", &path, &err);

    g_assert_no_error(err);
    g_assert_cmpint(ftruncate(fd, bytes), ==, 0);
    close(fd);
    return path;
}

/* Where the CPU begins it stops. */
static char *new_bios(void)
{
    static const uint8_t cli_hlt[] = { 0xfa, 0xf4 };
    char *path = ufs_new_image(64 * KiB);
    int fd = open(path, O_WRONLY);

    g_assert_cmpint(pwrite(fd, cli_hlt, sizeof(cli_hlt), 64 * KiB - 16), ==,
                    sizeof(cli_hlt));
    close(fd);
    return path;
}

/* Tests of other things need not bother with unit attentions. */
static void boot(Ufs *u, const char *knobs, const char *extra)
{
    u->qts = qtest_initf(
        "-machine pc -global apic-common.vapic=off -nodefaults -m 64M "
        "-bios %s "
        "-blockdev driver=raw,node-name=n0,discard=unmap,"
        "file.driver=file,file.filename=%s "
        "-blockdev driver=raw,node-name=n1,discard=unmap,%s"
        "file.driver=file,file.filename=%s "
        "-device irqbed-ufs,id=ufs0,addr=4,unit-attention=off%s "
        "-device irqbed-ufs-lu,bus=ufs0.0,lun=0,drive=n0 "
        "-device irqbed-ufs-lu,id=lu1,bus=ufs0.0,lun=1,drive=n1%s %s",
        u->bios, u->image[0], u->node1, u->image[1], knobs, u->lu1, extra);
    u->bus = qpci_new_pc(u->qts, NULL);
}

static Ufs *start(const char *knobs, const char *node1, const char *lu1,
                  const char *extra)
{
    Ufs *u = g_new0(Ufs, 1);

    u->node1 = node1;
    u->lu1 = lu1;

    u->image[0] = ufs_new_image(UFS_IMAGE);
    u->image[1] = ufs_new_image(UFS_IMAGE);
    /* No CPU runs, or one that has nothing to do. */
    u->bios = new_bios();
    boot(u, knobs, extra);
    u->dev = qpci_device_find(u->bus, QPCI_DEVFN(4, 0));
    g_assert_nonnull(u->dev);
    qpci_device_enable(u->dev);
    u->bar = qpci_iomap(u->dev, 0, NULL);
    return u;
}

Ufs *ufs_start(const char *knobs)
{
    return start(knobs, "", "", "");
}

Ufs *ufs_start_ro(const char *knobs)
{
    return start(knobs, "read-only=on,", "", "");
}

Ufs *ufs_start_lu1(const char *knobs, const char *lu1, const char *extra)
{
    return start(knobs, "", lu1, extra);
}

Ufs *ufs_start_up(const char *knobs)
{
    Ufs *u = ufs_start(knobs);

    ufs_up(u);
    return u;
}

Ufs *ufs_start_still(const char *knobs)
{
    /* The first accelerator that there is; libqtest's own comes after it. */
    Ufs *u = start(knobs, "", "", "-accel tcg");

    qtest_qmp_assert_success(u->qts, "{ 'execute': 'stop' }");
    return u;
}

void ufs_go(Ufs *u)
{
    qtest_qmp_assert_success(u->qts, "{ 'execute': 'cont' }");
}

void ufs_wait(Ufs *u, uint32_t reg, uint32_t val)
{
    int64_t end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;

    while (ufs_read(u, reg) != val && g_get_monotonic_time() < end) {
        g_usleep(1000);
    }
    g_assert_cmphex(ufs_read(u, reg), ==, val);
}

static void wait_for(Ufs *u, const char *command, const char *status)
{
    bool there = false;

    while (!there) {
        QDict *answer = qtest_qmp(u->qts, "{ 'execute': %s }", command);
        QDict *ret = qdict_get_qdict(answer, "return");
        const char *is = qdict_get_try_str(ret, "status");

        g_assert_cmpstr(is, !=, "failed");
        there = !g_strcmp0(is, status);
        qobject_unref(answer);
        g_usleep(there ? 0 : 10000);
    }
}

void ufs_migrate(Ufs *u, const char *knobs)
{
    g_autofree char *uri = NULL, *file = ufs_new_image(0);
    QTestState *old = u->qts;
    QPCIBus *old_bus = u->bus;

    uri = g_strdup_printf("file:%s", file);
    qtest_qmp_assert_success(old, "{ 'execute': 'migrate', "
                             "'arguments': { 'uri': %s } }", uri);
    wait_for(u, "query-migrate", "completed");
    boot(u, knobs, "-incoming defer");
    qtest_clock_set(u->qts, u->now);
    qtest_qmp_assert_success(u->qts, "{ 'execute': 'migrate-incoming', "
                             "'arguments': { 'uri': %s } }", uri);
    wait_for(u, "query-migrate", "completed");
    ufs_go(u);
    qpci_free_pc(old_bus);
    qtest_quit(old);
    g_free(u->dev);
    u->dev = qpci_device_find(u->bus, QPCI_DEVFN(4, 0));
    unlink(file);
}

void ufs_stop(Ufs *u)
{
    int i;

    if (!u->unplugged) {
        g_assert_cmpuint(ufs_stat(u, "requests.fetched"), ==,
                         ufs_stat(u, "requests.completed") +
                         ufs_stat(u, "requests.failed") +
                         ufs_stat(u, "requests.aborted") +
                         ufs_stat(u, "requests.in_flight"));
        g_free(u->dev);
    }
    qpci_free_pc(u->bus);
    qtest_quit(u->qts);
    for (i = 0; i < 2; i++) {
        unlink(u->image[i]);
        g_free(u->image[i]);
    }
    unlink(u->bios);
    g_free(u->bios);
    g_free(u);
}

uint32_t ufs_read(Ufs *u, uint32_t reg)
{
    return qpci_io_readl(u->dev, u->bar, reg);
}

void ufs_write(Ufs *u, uint32_t reg, uint32_t val)
{
    qpci_io_writel(u->dev, u->bar, reg, val);
}

uint32_t ufs_uic(Ufs *u, uint32_t opcode, uint16_t attr, uint32_t *value)
{
    ufs_write(u, A_UCMDARG1, (uint32_t)attr << 16);
    ufs_write(u, A_UCMDARG2, 0);
    ufs_write(u, A_UCMDARG3, value ? *value : 0);
    ufs_write(u, A_UICCMD, opcode);
    g_assert_cmphex(ufs_read(u, A_IS) & R_IS_UCCS_MASK, ==, R_IS_UCCS_MASK);
    if (value) {
        *value = ufs_read(u, A_UCMDARG3);
    }
    return ufs_read(u, A_UCMDARG2) & UFS_MASK_UIC_COMMAND_RESULT;
}

void ufs_ack_all(Ufs *u)
{
    ufs_write(u, A_IS, UINT32_MAX);
}

void ufs_up(Ufs *u)
{
    ufs_write(u, A_HCE, 1);
    g_assert_cmphex(ufs_uic(u, UFS_UIC_CMD_DME_LINK_STARTUP, 0, NULL), ==,
                    UFS_UIC_CMD_RESULT_SUCCESS);
    ufs_ack_all(u);
    ufs_write(u, A_UTRLBA, (uint32_t)UFS_UTRL);
    ufs_write(u, A_UTRLBAU, UFS_UTRL >> 32);
    ufs_write(u, A_UTMRLBA, (uint32_t)UFS_UTMRL);
    ufs_write(u, A_UTMRLBAU, UFS_UTMRL >> 32);
    ufs_write(u, A_UTRLRSR, 1);
    ufs_write(u, A_UTMRLRSR, 1);
    ufs_write(u, A_IE, R_IE_UTRCE_MASK);
}

void ufs_step(Ufs *u, int64_t ns)
{
    u->now = qtest_clock_step(u->qts, ns);
}

void ufs_step_to(Ufs *u, int64_t when)
{
    u->now = qtest_clock_set(u->qts, when);
    g_assert_cmpint(u->now, ==, when);
}

void ufs_msi_on(Ufs *u)
{
    uint8_t cap = qpci_find_capability(u->dev, PCI_CAP_ID_MSI, 0);
    uint16_t flags;

    g_assert_cmpuint(cap, !=, 0);
    qpci_config_writel(u->dev, cap + PCI_MSI_ADDRESS_LO, UFS_MSI_ADDR);
    qpci_config_writel(u->dev, cap + PCI_MSI_ADDRESS_HI, 0);
    qpci_config_writew(u->dev, cap + PCI_MSI_DATA_64, UFS_MSI_DATA);
    flags = qpci_config_readw(u->dev, cap + PCI_MSI_FLAGS);
    qpci_config_writew(u->dev, cap + PCI_MSI_FLAGS,
                       flags | PCI_MSI_FLAGS_ENABLE);
    qtest_writel(u->qts, UFS_MSI_ADDR, 0);
}

bool ufs_msi_taken(Ufs *u)
{
    uint32_t val = qtest_readl(u->qts, UFS_MSI_ADDR);

    qtest_writel(u->qts, UFS_MSI_ADDR, 0);
    g_assert_true(val == 0 || val == UFS_MSI_DATA);
    return val;
}

bool ufs_intx(Ufs *u)
{
    return qpci_config_readw(u->dev, PCI_STATUS) & PCI_STATUS_INTERRUPT;
}

void ufs_set_utrd(Ufs *u, unsigned slot, unsigned dword, uint32_t val)
{
    qtest_writel(u->qts, UFS_UTRL + slot * sizeof(UtpTransferReqDesc) +
                 dword * 4, val);
}

void ufs_set_prd(Ufs *u, unsigned slot, unsigned i, uint64_t addr,
                 uint32_t size)
{
    uint64_t at = UFS_UCD(slot) + UFS_PRDT_OFF + i * sizeof(UfshcdSgEntry);

    qtest_writeq(u->qts, at, addr);
    qtest_writel(u->qts, at + 8, 0);
    qtest_writel(u->qts, at + 12, size - 1);
}

void ufs_prep_upiu(Ufs *u, unsigned slot, const void *upiu, size_t len,
                   uint32_t direction, unsigned nr_prd)
{
    qtest_memset(u->qts, UFS_UCD(slot), 0, UFS_PRDT_OFF);
    qtest_memwrite(u->qts, UFS_UCD(slot), upiu, len);
    ufs_set_utrd(u, slot, 0, 1u << 28 | direction | UFS_UTP_REQ_DESC_INT_CMD);
    ufs_set_utrd(u, slot, 1, 0);
    ufs_set_utrd(u, slot, 2, UFS_OCS_INVALID_COMMAND_STATUS);
    ufs_set_utrd(u, slot, 3, 0);
    ufs_set_utrd(u, slot, 4, (uint32_t)UFS_UCD(slot));
    ufs_set_utrd(u, slot, 5, UFS_UCD(slot) >> 32);
    ufs_set_utrd(u, slot, 6, UFS_RSP_OFF / 4 << 16 | 512 / 4);
    ufs_set_utrd(u, slot, 7, UFS_PRDT_OFF / 4 << 16 | nr_prd);
}

void ufs_prep_nop(Ufs *u, unsigned slot)
{
    UtpUpiuReq req = {
        .header = {
            .trans_type = UFS_UPIU_TRANSACTION_NOP_OUT,
            .task_tag = slot,
        },
    };

    ufs_prep_upiu(u, slot, &req, 32, UFS_UTP_NO_DATA_TRANSFER, 0);
}

void ufs_prep_query(Ufs *u, unsigned slot, bool write, uint8_t opcode,
                    uint8_t idn, uint8_t index, uint32_t value)
{
    UtpUpiuReq req = {
        .header = {
            .trans_type = UFS_UPIU_TRANSACTION_QUERY_REQ,
            .task_tag = slot,
            .query_func = write ? UFS_UPIU_QUERY_FUNC_STANDARD_WRITE_REQUEST :
                                  UFS_UPIU_QUERY_FUNC_STANDARD_READ_REQUEST,
        },
        .qr = {
            .opcode = opcode,
            .idn = idn,
            .index = index,
            .length = cpu_to_be16(UFS_QUERY_DESC_MAX_SIZE),
            .value = cpu_to_be32(value),
        },
    };

    ufs_prep_upiu(u, slot, &req, 32, UFS_UTP_NO_DATA_TRANSFER, 0);
}

void ufs_prep_scsi(Ufs *u, unsigned slot, uint8_t lun, const uint8_t *cdb,
                   uint32_t direction, uint32_t bytes)
{
    UtpUpiuReq req = {
        .header = {
            .trans_type = UFS_UPIU_TRANSACTION_COMMAND,
            .lun = lun,
            .task_tag = slot,
            .flags = direction == UFS_UTP_HOST_TO_DEVICE ?
                     UFS_UPIU_CMD_FLAGS_WRITE :
                     direction ? UFS_UPIU_CMD_FLAGS_READ : 0,
        },
        .sc.exp_data_transfer_len = cpu_to_be32(bytes),
    };

    memcpy(req.sc.cdb, cdb, UFS_CDB_SIZE);
    ufs_prep_upiu(u, slot, &req, 32, direction, bytes ? 1 : 0);
    if (bytes) {
        ufs_set_prd(u, slot, 0, UFS_DATA(slot), ROUND_UP(bytes, 4));
    }
}

void ufs_prep_rw(Ufs *u, unsigned slot, bool write, uint32_t lba,
                 uint16_t blocks)
{
    uint8_t cdb[UFS_CDB_SIZE] = { write ? WRITE_10 : READ_10 };

    stl_be_p(cdb + 2, lba);
    stw_be_p(cdb + 7, blocks);
    ufs_prep_scsi(u, slot, 0, cdb, write ? UFS_UTP_HOST_TO_DEVICE :
                                           UFS_UTP_DEVICE_TO_HOST,
                  blocks * UFS_BLOCK);
}

void ufs_ring(Ufs *u, uint32_t slots)
{
    ufs_write(u, A_UTRLDBR, slots);
}

bool ufs_busy(Ufs *u, uint32_t slots)
{
    return ufs_read(u, A_UTRLDBR) & slots;
}

void ufs_scsi(Ufs *u, uint8_t lun, const uint8_t *cdb, uint32_t bytes)
{
    ufs_prep_scsi(u, 0, lun, cdb, bytes ? UFS_UTP_DEVICE_TO_HOST :
                                          UFS_UTP_NO_DATA_TRANSFER, bytes);
    qtest_memset(u->qts, UFS_DATA(0), 0xee, 4096);
    ufs_run(u, 0);
}

void ufs_run(Ufs *u, unsigned slot)
{
    ufs_ring(u, BIT(slot));
    ufs_step(u, 1);
    while (ufs_busy(u, BIT(slot))) {
        u->now = qtest_clock_step_next(u->qts);
    }
    ufs_ack_all(u);
}

uint32_t ufs_ocs(Ufs *u, unsigned slot)
{
    return qtest_readl(u->qts, UFS_UTRL + slot * sizeof(UtpTransferReqDesc) +
                       8);
}

void ufs_response(Ufs *u, unsigned slot, UtpUpiuRsp *rsp)
{
    qtest_memread(u->qts, UFS_UCD(slot) + UFS_RSP_OFF, rsp, sizeof(*rsp));
}

void ufs_expect_good(Ufs *u, unsigned slot)
{
    UtpUpiuRsp rsp;

    g_assert_cmphex(ufs_ocs(u, slot), ==, UFS_OCS_SUCCESS);
    ufs_response(u, slot, &rsp);
    g_assert_cmphex(rsp.header.task_tag, ==, slot);
    g_assert_cmphex(rsp.header.response, ==, 0);
    g_assert_cmphex(rsp.header.scsi_status, ==, GOOD);
}

void ufs_expect_sense(Ufs *u, unsigned slot, uint8_t key, uint8_t asc,
                      uint8_t ascq)
{
    UtpUpiuRsp rsp;

    g_assert_cmphex(ufs_ocs(u, slot), ==, UFS_OCS_SUCCESS);
    ufs_response(u, slot, &rsp);
    g_assert_cmphex(rsp.header.scsi_status, ==, CHECK_CONDITION);
    g_assert_cmpuint(be16_to_cpu(rsp.header.data_segment_length), ==, 20);
    g_assert_cmpuint(be16_to_cpu(rsp.sr.sense_data_len), ==, 18);
    /* Fixed format, with or without INFORMATION. */
    g_assert_cmphex(rsp.sr.sense_data[0] & 0x7f, ==, 0x70);
    g_assert_cmphex(rsp.sr.sense_data[2], ==, key);
    g_assert_cmphex(rsp.sr.sense_data[12], ==, asc);
    g_assert_cmphex(rsp.sr.sense_data[13], ==, ascq);
}

const uint8_t ufs_wluns[UFS_WLUNS] = {
    UFS_UPIU_REPORT_LUNS_WLUN, UFS_UPIU_BOOT_WLUN, UFS_UPIU_RPMB_WLUN,
    UFS_UPIU_UFS_DEVICE_WLUN,
};

void ufs_scsi_out(Ufs *u, uint8_t lun, const uint8_t *cdb, uint32_t bytes)
{
    ufs_prep_scsi(u, 0, lun, cdb, UFS_UTP_HOST_TO_DEVICE, bytes);
    ufs_run(u, 0);
}

void ufs_expect_ready(Ufs *u, uint8_t lun)
{
    static const uint8_t tur[16] = { TEST_UNIT_READY };

    ufs_scsi(u, lun, tur, 0);
    ufs_expect_good(u, 0);
}

void ufs_expect_attention(Ufs *u, uint8_t lun, uint8_t asc, uint8_t ascq)
{
    static const uint8_t tur[16] = { TEST_UNIT_READY };

    ufs_scsi(u, lun, tur, 0);
    ufs_expect_sense(u, 0, UNIT_ATTENTION, asc, ascq);
}

void ufs_expect_sense_data(Ufs *u, uint8_t lun, uint8_t key, uint8_t asc)
{
    static const uint8_t sense[16] = { REQUEST_SENSE, [4] = 18 };

    ufs_scsi(u, lun, sense, 18);
    ufs_expect_good(u, 0);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0)), ==, 0x70);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0) + 2), ==, key);
    g_assert_cmphex(qtest_readb(u->qts, UFS_DATA(0) + 12), ==, asc);
}

uint8_t ufs_query(Ufs *u, bool write, uint8_t opcode, uint8_t idn,
                  uint8_t index, uint32_t value, UtpUpiuRsp *rsp)
{
    ufs_prep_query(u, 0, write, opcode, idn, index, value);
    ufs_run(u, 0);
    g_assert_cmphex(ufs_ocs(u, 0), ==, UFS_OCS_SUCCESS);
    ufs_response(u, 0, rsp);
    g_assert_cmphex(rsp->header.trans_type, ==,
                    UFS_UPIU_TRANSACTION_QUERY_RSP);
    g_assert_cmphex(rsp->qr.opcode, ==, opcode);
    g_assert_cmphex(rsp->qr.idn, ==, idn);
    return rsp->header.response;
}

uint32_t ufs_task(Ufs *u, uint8_t function, uint32_t lun, uint32_t tag)
{
    UtpTaskReqDesc d = {
        .header.dword_2 = cpu_to_le32(UFS_OCS_INVALID_COMMAND_STATUS),
        .upiu_req = {
            .req_header = {
                .trans_type = UFS_UPIU_TRANSACTION_TASK_REQ,
                .lun = lun,
                .task_tag = 0,
                .query_func = function,
            },
            .input_param1 = cpu_to_be32(lun),
            .input_param2 = cpu_to_be32(tag),
        },
    };

    qtest_memwrite(u->qts, UFS_UTMRL, &d, sizeof(d));
    ufs_write(u, A_UTMRLDBR, 1);
    g_assert_cmphex(ufs_read(u, A_UTMRLDBR), ==, 0);
    g_assert_cmphex(ufs_read(u, A_IS) & R_IS_UTMRCS_MASK, ==,
                    R_IS_UTMRCS_MASK);
    ufs_write(u, A_IS, R_IS_UTMRCS_MASK);
    qtest_memread(u->qts, UFS_UTMRL, &d, sizeof(d));
    g_assert_cmphex(le32_to_cpu(d.header.dword_2), ==, UFS_OCS_SUCCESS);
    g_assert_cmphex(d.upiu_rsp.rsp_header.trans_type, ==,
                    UFS_UPIU_TRANSACTION_TASK_RSP);
    return be32_to_cpu(d.upiu_rsp.output_param1);
}

QDict *ufs_stats(Ufs *u)
{
    QDict *answer = qtest_qmp(u->qts, "{ 'execute': 'qom-get', 'arguments': "
                              "{ 'path': 'ufs0', 'property': 'stats' } }");
    QDict *stats = qdict_get_qdict(answer, "return");

    g_assert_nonnull(stats);
    qobject_ref(stats);
    qobject_unref(answer);
    return stats;
}

uint64_t ufs_stat(Ufs *u, const char *path)
{
    g_autoptr(QDict) all = ufs_stats(u);
    g_auto(GStrv) part = g_strsplit(path, ".", 2);
    QDict *dict = all;
    uint64_t value;

    if (part[1]) {
        dict = qdict_get_qdict(all, part[0]);
        g_assert_nonnull(dict);
    }
    g_assert_true(qnum_get_try_uint(
        qobject_to(QNum, qdict_get(dict, part[1] ? part[1] : part[0])),
        &value));
    return value;
}

char *ufs_set_word(Ufs *u, const char *path, const char *name,
                   const char *word)
{
    QDict *answer = qtest_qmp(u->qts, "{ 'execute': 'qom-set', 'arguments': "
                              "{ 'path': %s, 'property': %s, 'value': %s } }",
                              path, name, word);
    char *error = NULL;

    if (qdict_haskey(answer, "error")) {
        error = g_strdup(qdict_get_str(qdict_get_qdict(answer, "error"),
                                       "desc"));
    }
    qobject_unref(answer);
    return error;
}

bool ufs_set_knob(Ufs *u, const char *name, uint64_t value)
{
    QDict *answer = qtest_qmp(u->qts, "{ 'execute': 'qom-set', 'arguments': "
                              "{ 'path': 'ufs0', 'property': %s, "
                              "'value': %" PRIu64 " } }", name, value);
    bool ok = qdict_haskey(answer, "return");

    qobject_unref(answer);
    return ok;
}

static uint32_t pattern(uint32_t seed, uint32_t i)
{
    uint32_t x = seed * 0x9e3779b9 + i * 0x85ebca6b;

    return x ^ x >> 15;
}

void ufs_fill(Ufs *u, uint64_t addr, uint32_t bytes, uint32_t seed)
{
    g_autofree uint32_t *buf = g_malloc(bytes);
    uint32_t i;

    for (i = 0; i < bytes / 4; i++) {
        buf[i] = cpu_to_le32(pattern(seed, i));
    }
    qtest_memwrite(u->qts, addr, buf, bytes);
}

void ufs_check(Ufs *u, uint64_t addr, uint32_t bytes, uint32_t seed)
{
    g_autofree uint32_t *buf = g_malloc(bytes);
    uint32_t i;

    qtest_memread(u->qts, addr, buf, bytes);
    for (i = 0; i < bytes / 4; i++) {
        g_assert_cmphex(le32_to_cpu(buf[i]), ==, pattern(seed, i));
    }
}
