/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A driver for irqbed-ahci in a qtest; see ahci-harness.h.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "qobject/qnum.h"
#include "ahci-harness.h"

#define ABAR        5
#define HBA_DEVFN   QPCI_DEVFN(4, 0)
#define MSI_UNSEEN  0xffffffff

/* ---- machine ---- */

static char *make_image(off_t bytes)
{
    g_autoptr(GError) err = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("irqbed-qtest-XXXXXX", &path, &err);

    g_assert_no_error(err);
    g_assert_cmpint(ftruncate(fd, bytes), ==, 0);
    close(fd);
    return path;
}

static void boot(Ahci *a, const char *more)
{
    g_autofree char *args = g_strconcat(a->args, more, NULL);

    a->qts = qtest_init(args);
    a->bus = qpci_new_pc(a->qts, NULL);
    a->dev = qpci_device_find(a->bus, HBA_DEVFN);
    g_assert_nonnull(a->dev);
}

Ahci *ahci_start_on(const char *machine, const char *pci, unsigned drives,
                    const char *options)
{
    GString *args = g_string_new(NULL);
    Ahci *a = g_new0(Ahci, 1);
    unsigned i;

    /* No CPU runs: the machine only wants to have loaded something. */
    a->bios = make_image(64 * KiB);
    g_string_printf(args, "-nodefaults -machine %s -m 128M -bios %s "
                    "-global apic-common.vapic=off "
                    "-device irqbed-ahci,id=ahci0,%s%s%s",
                    machine, a->bios, pci, *options ? "," : "", options);
    for (i = 0; i < drives; i++) {
        a->disks[i] = make_image(DISK_BYTES);
        g_string_append_printf(args, " -blockdev driver=file,node-name=disk%u,"
                               "filename=%s -device irqbed-ahci-drive,"
                               "id=drive%u,bus=ahci0.0,port=%u,drive=disk%u,"
                               "serial=serial%u", i, a->disks[i], i, i, i, i);
    }
    a->args = g_string_free(args, false);
    boot(a, "");
    a->bar = qpci_iomap(a->dev, ABAR, NULL);
    qpci_device_enable(a->dev);
    return a;
}

Ahci *ahci_start(unsigned drives, const char *options)
{
    return ahci_start_on("q35,sata=off", "addr=4", drives, options);
}

static void remove_image(char *path)
{
    if (path) {
        unlink(path);
        g_free(path);
    }
}

void ahci_stop(Ahci *a)
{
    unsigned i;

    if (!a->unplugged) {
        check_conserved(a);
    }
    g_free(a->dev);
    qpci_free_pc(a->bus);
    qtest_quit(a->qts);
    for (i = 0; i < MAX_DRIVES; i++) {
        remove_image(a->disks[i]);
    }
    remove_image(a->bios);
    g_free(a->args);
    g_free(a);
}

/* ---- registers and time ---- */

uint32_t ahci_rd(Ahci *a, uint32_t reg)
{
    return qpci_io_readl(a->dev, a->bar, reg);
}

void ahci_wr(Ahci *a, uint32_t reg, uint32_t value)
{
    qpci_io_writel(a->dev, a->bar, reg, value);
}

static uint32_t port_reg(unsigned port, uint32_t reg)
{
    return IRQBED_AHCI_PORT_BASE + port * IRQBED_AHCI_PORT_BYTES + reg;
}

uint32_t port_rd(Ahci *a, unsigned port, uint32_t reg)
{
    return ahci_rd(a, port_reg(port, reg));
}

void port_wr(Ahci *a, unsigned port, uint32_t reg, uint32_t value)
{
    ahci_wr(a, port_reg(port, reg), value);
}

void ahci_step(Ahci *a, int64_t ns)
{
    a->now = qtest_clock_step(a->qts, ns);
}

/* ---- port ---- */

void port_start(Ahci *a, unsigned port)
{
    uint32_t cmd = R_PORT_CMD_FRE_MASK;

    qtest_memset(a->qts, CLB(port), 0, 0x2000);
    port_wr(a, port, A_PORT_CLB, CLB(port));
    port_wr(a, port, A_PORT_CLBU, CLB(port) >> 32);
    port_wr(a, port, A_PORT_FB, FB(port));
    port_wr(a, port, A_PORT_FBU, FB(port) >> 32);
    port_wr(a, port, A_PORT_CMD, cmd);
    port_wr(a, port, A_PORT_SERR, 0xffffffff);
    port_wr(a, port, A_PORT_IS, 0xffffffff);
    port_wr(a, port, A_PORT_IE, 0xffffffff);
    g_assert_cmphex(port_rd(a, port, A_PORT_TFD) & 0xff, ==, ATA_STS_GOOD);
    port_wr(a, port, A_PORT_CMD, cmd | R_PORT_CMD_ST_MASK);
    g_assert_true(port_rd(a, port, A_PORT_CMD) & R_PORT_CMD_CR_MASK);
    ahci_wr(a, A_HBA_IS, 0xffffffff);
    ahci_wr(a, A_HBA_GHC, R_HBA_GHC_IE_MASK);
}

void port_stop(Ahci *a, unsigned port)
{
    port_wr(a, port, A_PORT_CMD, R_PORT_CMD_FRE_MASK);
    g_assert_false(port_rd(a, port, A_PORT_CMD) & R_PORT_CMD_CR_MASK);
}

void port_recover(Ahci *a, unsigned port)
{
    port_stop(a, port);
    g_assert_cmphex(port_rd(a, port, A_PORT_CI), ==, 0);
    g_assert_cmphex(port_rd(a, port, A_PORT_SACT), ==, 0);
    port_ack(a, port);
    port_wr(a, port, A_PORT_CMD, R_PORT_CMD_FRE_MASK | R_PORT_CMD_ST_MASK);
}

void port_ack(Ahci *a, unsigned port)
{
    port_wr(a, port, A_PORT_IS, port_rd(a, port, A_PORT_IS));
    ahci_wr(a, A_HBA_IS, BIT(port));
}

/* ---- commands ---- */

static void build_prdt(Ahci *a, unsigned port, unsigned slot, const Cmd *c)
{
    uint64_t at = TABLE(port, slot) + AHCI_PRDT_OFFSET;
    uint64_t data = c->data ?: DATA(port, slot);
    uint32_t left = c->bytes;

    while (left) {
        uint32_t len = MIN(left, c->prd_bytes ?: left);
        AhciPrd prd = {
            .dba = cpu_to_le64(data),
            .dbc = cpu_to_le32((len - 1) | (uint32_t)c->prd_flags << 24),
        };

        qtest_memwrite(a->qts, at, &prd, sizeof(prd));
        at += sizeof(prd);
        data += len;
        left -= len;
    }
}

void cmd_build(Ahci *a, unsigned port, unsigned slot, const Cmd *c)
{
    bool queued = c->command == ATA_READ_FPDMA_QUEUED ||
                  c->command == ATA_WRITE_FPDMA_QUEUED;
    uint16_t feature = queued ? c->count : c->feature;
    uint16_t count = queued ? slot << 3 : c->count;
    uint32_t prds = c->bytes ?
                    DIV_ROUND_UP(c->bytes, c->prd_bytes ?: c->bytes) : 0;
    AhciCmdHeader header = {
        .flags = cpu_to_le16(FIS_H2D_DWORDS | (c->write ? 0x40 : 0)),
        .prdtl = cpu_to_le16(prds),
        .ctba = cpu_to_le64(TABLE(port, slot)),
    };
    FisH2d fis = {
        .type = FIS_H2D,
        .flags = FIS_H2D_COMMAND,
        .command = c->command,
        .feature0 = feature,
        .feature1 = feature >> 8,
        .lba0 = c->lba,
        .lba1 = c->lba >> 8,
        .lba2 = c->lba >> 16,
        .lba3 = c->lba >> 24,
        .lba4 = c->lba >> 32,
        .lba5 = c->lba >> 40,
        .device = ATA_DEV_LBA | c->device,
        .count0 = count,
        .count1 = count >> 8,
    };

    qtest_memwrite(a->qts, CLB(port) + slot * sizeof(header), &header,
                   sizeof(header));
    qtest_memwrite(a->qts, TABLE(port, slot), &fis, sizeof(fis));
    build_prdt(a, port, slot, c);
}

void cmd_issue(Ahci *a, unsigned port, unsigned slot, const Cmd *c)
{
    cmd_build(a, port, slot, c);
    port_wr(a, port, A_PORT_CI, BIT(slot));
}

void cmd_do(Ahci *a, unsigned port, unsigned slot, const Cmd *c)
{
    cmd_issue(a, port, slot, c);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, port, A_PORT_CI), ==, 0);
    g_assert_cmphex(port_rd(a, port, A_PORT_IS) & R_PORT_IS_TFES_MASK, ==, 0);
    g_assert_cmphex(port_rd(a, port, A_PORT_TFD) & 0xff, ==, ATA_STS_GOOD);
}

void cmd_fails(Ahci *a, unsigned port, unsigned slot, const Cmd *c,
               uint8_t error)
{
    cmd_issue(a, port, slot, c);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, port, A_PORT_CI), ==, BIT(slot));
    g_assert_true(port_rd(a, port, A_PORT_IS) & R_PORT_IS_TFES_MASK);
    g_assert_cmphex(port_rd(a, port, A_PORT_TFD), ==,
                    error << 8 | ATA_STS_BAD);
    g_assert_cmphex(rx_d2h(a, port).error, ==, error);
    port_recover(a, port);
}

Cmd cmd_queued(bool write, uint64_t lba, uint32_t sectors)
{
    return (Cmd) {
        .command = write ? ATA_WRITE_FPDMA_QUEUED : ATA_READ_FPDMA_QUEUED,
        .lba = lba,
        .count = sectors,
        .write = write,
        .bytes = sectors * 512,
    };
}

void queue_issue(Ahci *a, unsigned port, uint32_t slots)
{
    port_wr(a, port, A_PORT_SACT, slots);
    port_wr(a, port, A_PORT_CI, slots);
}

/* ---- what came back ---- */

FisD2h rx_d2h(Ahci *a, unsigned port)
{
    FisD2h fis;

    qtest_memread(a->qts, FB(port) + AHCI_RX_D2H, &fis, sizeof(fis));
    g_assert_cmphex(fis.type, ==, FIS_D2H);
    return fis;
}

FisD2h rx_pio_setup(Ahci *a, unsigned port)
{
    FisD2h fis;

    qtest_memread(a->qts, FB(port) + AHCI_RX_PIO_SETUP, &fis, sizeof(fis));
    g_assert_cmphex(fis.type, ==, FIS_PIO_SETUP);
    return fis;
}

FisSdb rx_sdb(Ahci *a, unsigned port)
{
    FisSdb fis;

    qtest_memread(a->qts, FB(port) + AHCI_RX_SDB, &fis, sizeof(fis));
    g_assert_cmphex(fis.type, ==, FIS_SDB);
    return fis;
}

uint32_t prdbc(Ahci *a, unsigned port, unsigned slot)
{
    return qtest_readl(a->qts, CLB(port) + slot * sizeof(AhciCmdHeader) +
                       offsetof(AhciCmdHeader, prdbc));
}

void msi_enable(Ahci *a, unsigned log2)
{
    uint8_t cap = qpci_find_capability(a->dev, PCI_CAP_ID_MSI, 0);
    uint16_t flags = qpci_config_readw(a->dev, cap + PCI_MSI_FLAGS);

    g_assert_cmphex(cap, !=, 0);
    qtest_writel(a->qts, MSI_BASE, MSI_UNSEEN);
    qpci_config_writel(a->dev, cap + PCI_MSI_ADDRESS_LO, MSI_BASE);
    qpci_config_writel(a->dev, cap + PCI_MSI_ADDRESS_HI, 0);
    qpci_config_writew(a->dev, cap + PCI_MSI_DATA_64, 0);
    flags &= ~PCI_MSI_FLAGS_QSIZE;
    flags |= PCI_MSI_FLAGS_ENABLE | log2 << 4;
    qpci_config_writew(a->dev, cap + PCI_MSI_FLAGS, flags);
}

bool msi_take(Ahci *a, uint32_t *vector)
{
    uint32_t data = qtest_readl(a->qts, MSI_BASE);

    if (data == MSI_UNSEEN) {
        return false;
    }
    qtest_writel(a->qts, MSI_BASE, MSI_UNSEEN);
    if (vector) {
        *vector = data;
    }
    return true;
}

/* ---- statistics and knobs ---- */

uint64_t stat_of(Ahci *a, const char *path)
{
    g_auto(GStrv) names = g_strsplit(path, ".", -1);
    QDict *reply = qtest_qmp(a->qts, "{'execute': 'qom-get', 'arguments': "
                             "{'path': 'ahci0', 'property': 'stats'}}");
    QDict *dict = qdict_get_qdict(reply, "return");
    QObject *value;
    unsigned i;
    uint64_t number;

    g_assert_nonnull(dict);
    for (i = 0; names[i + 1]; i++) {
        dict = qdict_get_qdict(dict, names[i]);
        g_assert_nonnull(dict);
    }
    value = qdict_get(dict, names[i]);
    g_assert_nonnull(value);
    number = qnum_get_uint(qobject_to(QNum, value));
    qobject_unref(reply);
    return number;
}

void knob_set(Ahci *a, const char *name, uint64_t value)
{
    qtest_qmp_assert_success(a->qts, "{'execute': 'qom-set', 'arguments': "
                             "{'path': 'ahci0', 'property': %s, 'value': %"
                             PRIu64 "}}", name, value);
}

void check_conserved(Ahci *a)
{
    g_assert_cmpuint(stat_of(a, "requests.fetched"), ==,
                     stat_of(a, "requests.completed") +
                     stat_of(a, "requests.failed") +
                     stat_of(a, "requests.aborted") +
                     stat_of(a, "requests.in_flight"));
}

/* ---- save and restore ---- */

static void wait_for(Ahci *a, const char *command, const char *status)
{
    bool there = false;

    while (!there) {
        QDict *reply = qtest_qmp(a->qts, "{'execute': %s}", command);
        QDict *ret = qdict_get_qdict(reply, "return");
        const char *is = qdict_get_try_str(ret, "status");

        g_assert_cmpstr(is, !=, "failed");
        there = !g_strcmp0(is, status);
        qobject_unref(reply);
        g_usleep(there ? 0 : 10000);
    }
}

void ahci_migrate(Ahci *a)
{
    QTestState *old = a->qts;
    QPCIBus *old_bus = a->bus;
    QPCIDevice *old_dev = a->dev;
    char *file = make_image(0);
    g_autofree char *uri = g_strdup_printf("file:%s", file);

    qtest_qmp_assert_success(old, "{'execute': 'migrate', "
                             "'arguments': {'uri': %s}}", uri);
    wait_for(a, "query-migrate", "completed");
    boot(a, " -incoming defer");
    qtest_clock_set(a->qts, a->now);
    qtest_qmp_assert_success(a->qts, "{'execute': 'migrate-incoming', "
                             "'arguments': {'uri': %s}}", uri);
    wait_for(a, "query-status", "running");
    g_free(old_dev);
    qpci_free_pc(old_bus);
    qtest_quit(old);
    remove_image(file);
}
