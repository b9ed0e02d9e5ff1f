/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci: ATA commands that are not queued, one at a time.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "ahci-harness.h"

#define SECTORS (DISK_BYTES / 512)

static uint16_t word(const uint8_t *id, unsigned n)
{
    return lduw_le_p(id + 2 * n);
}

static void read_identify(Ahci *a, unsigned port, uint8_t *id)
{
    Cmd c = { .command = ATA_IDENTIFY_DEVICE, .bytes = 512 };

    cmd_do(a, port, 0, &c);
    qtest_memread(a->qts, DATA(port, 0), id, 512);
}

/* Registers at power-on, and what a drive says it is. */
static void test_identify(void)
{
    Ahci *a = ahci_start(2, "ports=3,queue-depth=16");
    uint32_t cap = ahci_rd(a, A_HBA_CAP);
    uint8_t id[512], sum = 0;
    unsigned i;

    g_assert_cmphex(FIELD_EX32(cap, HBA_CAP, NP), ==, 2);
    g_assert_cmphex(FIELD_EX32(cap, HBA_CAP, NCS), ==, 15);
    g_assert_cmphex(ahci_rd(a, A_HBA_PI), ==, 7);
    g_assert_cmphex(ahci_rd(a, A_HBA_VS), ==, IRQBED_AHCI_VS_1_3_1);
    g_assert_cmphex(ahci_rd(a, A_HBA_GHC), ==, R_HBA_GHC_AE_MASK);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SSTS), ==, 0x133);
    g_assert_cmphex(port_rd(a, 2, A_PORT_SSTS), ==, 0);
    /* The signature is taken when the FIS area is there. */
    g_assert_cmphex(port_rd(a, 1, A_PORT_TFD), ==, ATA_STS_NO_DEVICE);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SIG), ==, AHCI_SIG_NONE);
    port_start(a, 1);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SIG), ==, AHCI_SIG_ATA);

    read_identify(a, 1, id);
    g_assert_cmpmem(id + 20, 8, "esirla 1", 8);
    g_assert_cmpuint(ldl_le_p(id + 120), ==, SECTORS);
    g_assert_cmpuint(ldq_le_p(id + 200), ==, SECTORS);
    g_assert_cmphex(word(id, 75), ==, 15);
    g_assert_true(word(id, 76) & 1 << 8);
    for (i = 0; i < 512; i++) {
        sum += id[i];
    }
    g_assert_cmphex(sum, ==, 0);
    /* Data to the host: a PIO setup FIS ends it. */
    g_assert_cmphex(port_rd(a, 1, A_PORT_IS), ==, R_PORT_IS_PSS_MASK);
    g_assert_cmphex(rx_pio_setup(a, 1).e_status, ==, ATA_STS_GOOD);
    g_assert_cmpuint(le16_to_cpu(rx_pio_setup(a, 1).bytes), ==, 512);
    g_assert_cmpuint(prdbc(a, 1, 0), ==, 512);
    ahci_stop(a);
}

typedef struct RwCase {
    const char *name;
    uint8_t write;
    uint8_t read;
    uint32_t write_is;          /* PxIS after it */
    uint32_t read_is;
} RwCase;

#define DHRS R_PORT_IS_DHRS_MASK
#define PSS  R_PORT_IS_PSS_MASK

static const RwCase rw_cases[] = {
    { "dma", ATA_WRITE_DMA, ATA_READ_DMA, DHRS, DHRS },
    { "dma-ext", ATA_WRITE_DMA_EXT, ATA_READ_DMA_EXT, DHRS, DHRS },
    { "dma-fua-ext", ATA_WRITE_DMA_FUA_EXT, ATA_READ_DMA_EXT, DHRS, DHRS },
    { "pio", ATA_WRITE_PIO, ATA_READ_PIO, DHRS | PSS, PSS },
    { "pio-ext", ATA_WRITE_PIO_EXT, ATA_READ_PIO_EXT, DHRS | PSS, PSS },
    { "multiple", ATA_WRITE_MULTIPLE, ATA_READ_MULTIPLE, DHRS | PSS, PSS },
    { "multiple-ext", ATA_WRITE_MULTIPLE_EXT, ATA_READ_MULTIPLE_EXT,
      DHRS | PSS, PSS },
};

/* 12 KiB out and in again, in PRDs of 1000 bytes, on the last sectors. */
static void test_rw(gconstpointer opaque)
{
    const RwCase *rw = opaque;
    Ahci *a = ahci_start(1, "ports=1");
    Cmd multiple = { .command = ATA_SET_MULTIPLE_MODE, .count = 16 };
    Cmd c = { .command = rw->write, .lba = SECTORS - 24, .count = 24,
              .write = true, .bytes = 24 * 512, .prd_bytes = 1000 };
    g_autofree uint8_t *tx = g_malloc(c.bytes);
    g_autofree uint8_t *rx = g_malloc(c.bytes);
    unsigned i;

    for (i = 0; i < c.bytes; i++) {
        tx[i] = i * 7 + i / 512;
    }
    port_start(a, 0);
    cmd_do(a, 0, 1, &multiple);
    port_ack(a, 0);
    qtest_memwrite(a->qts, DATA(0, 3), tx, c.bytes);
    cmd_do(a, 0, 3, &c);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, rw->write_is);
    g_assert_cmpuint(prdbc(a, 0, 3), ==, c.bytes);
    port_ack(a, 0);

    c.command = rw->read;
    c.write = false;
    qtest_memset(a->qts, DATA(0, 3), 0, c.bytes);
    cmd_do(a, 0, 3, &c);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, rw->read_is);
    g_assert_cmpuint(prdbc(a, 0, 3), ==, c.bytes);
    qtest_memread(a->qts, DATA(0, 3), rx, c.bytes);
    g_assert_cmpmem(tx, c.bytes, rx, c.bytes);
    if (rw->read_is == PSS) {
        g_assert_cmpuint(le16_to_cpu(rx_pio_setup(a, 0).bytes), ==,
                         strstr(rw->name, "multiple") ? 8 * 512 : 512);
    }
    g_assert_cmpuint(stat_of(a, "bytes_written"), ==, c.bytes);
    g_assert_cmpuint(stat_of(a, "bytes_read"), ==, c.bytes);
    ahci_stop(a);
}

/* A PRD with bit I sets DPS, unless its data goes on in no PRD's end. */
static void test_prd_interrupt(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_READ_DMA, .count = 2, .bytes = 1024,
              .prd_bytes = 512, .prd_flags = 0x80 };

    port_start(a, 0);
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==,
                    R_PORT_IS_DHRS_MASK | R_PORT_IS_DPS_MASK);
    ahci_stop(a);
}

/* Trimmed sectors read as zeroes, others do not. */
static void test_trim(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_WRITE_DMA_EXT, .lba = 0, .count = 16,
              .write = true, .bytes = 8192 };
    Cmd trim = { .command = ATA_DATA_SET_MANAGEMENT, .count = 1,
                 .feature = ATA_DSM_TRIM, .write = true, .bytes = 512 };
    uint64_t ranges[64] = {
        cpu_to_le64(2 | 2ull << 48), cpu_to_le64(4 | 1ull << 48),
        cpu_to_le64(9 | 1ull << 48),
    };
    uint8_t sector[512];
    unsigned i;

    port_start(a, 0);
    qtest_memset(a->qts, DATA(0, 0), 0x5a, 8192);
    cmd_do(a, 0, 0, &c);
    qtest_memwrite(a->qts, DATA(0, 1), ranges, sizeof(ranges));
    cmd_do(a, 0, 1, &trim);
    c.command = ATA_READ_DMA_EXT;
    c.write = false;
    cmd_do(a, 0, 0, &c);
    for (i = 0; i < 16; i++) {
        bool trimmed = (i >= 2 && i < 5) || i == 9;

        qtest_memread(a->qts, DATA(0, 0) + i * 512, sector, 512);
        g_assert_cmphex(sector[0], ==, trimmed ? 0 : 0x5a);
        g_assert_cmphex(sector[511], ==, trimmed ? 0 : 0x5a);
    }
    ranges[63] = cpu_to_le64(SECTORS | 1ull << 48);
    qtest_memwrite(a->qts, DATA(0, 1), ranges, sizeof(ranges));
    cmd_fails(a, 0, 1, &trim, ATA_ERR_IDNF);
    ahci_stop(a);
}

/* Addresses past the end name the first sector that is not there. */
static void test_range(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_READ_DMA_EXT, .lba = SECTORS - 1, .count = 2,
              .bytes = 1024 };
    FisD2h fis;

    port_start(a, 0);
    cmd_fails(a, 0, 0, &c, ATA_ERR_IDNF);
    fis = rx_d2h(a, 0);
    g_assert_cmpuint(fis.lba2 << 16 | fis.lba1 << 8 | fis.lba0, ==, SECTORS);
    c.lba = 0xffffffffffff;
    cmd_fails(a, 0, 0, &c, ATA_ERR_IDNF);
    c.count = 0;                /* 65536 sectors are more than there are */
    c.lba = 0;
    cmd_fails(a, 0, 0, &c, ATA_ERR_IDNF);
    c.command = ATA_READ_VERIFY_EXT;
    c.count = 1;
    c.lba = SECTORS - 1;
    cmd_do(a, 0, 0, &c);
    c.lba = SECTORS;
    cmd_fails(a, 0, 0, &c, ATA_ERR_IDNF);
    ahci_stop(a);
}

/* Commands the drive does not have, and features it does not. */
static void test_aborts(void)
{
    static const uint8_t unknown[] = {
        ATA_NOP, 0x01, 0x0b, 0x3f, 0x45, 0x57, 0x5c, 0x87, 0x92, 0xa0, 0xa1,
        0xb1, 0xc0, 0xe4, 0xf1, 0xf5, 0xff,
    };
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { 0 };
    unsigned i;

    port_start(a, 0);
    for (i = 0; i < ARRAY_SIZE(unknown); i++) {
        c.command = unknown[i];
        cmd_fails(a, 0, i, &c, ATA_ERR_ABRT);
    }
    c = (Cmd) { .command = ATA_SET_FEATURES, .feature = 0x10 };
    cmd_fails(a, 0, 0, &c, ATA_ERR_ABRT);
    c = (Cmd) { .command = ATA_SMART, .feature = ATA_SMART_ENABLE };
    cmd_fails(a, 0, 0, &c, ATA_ERR_ABRT);
    c = (Cmd) { .command = ATA_SET_MULTIPLE_MODE, .count = 3 };
    cmd_fails(a, 0, 0, &c, ATA_ERR_ABRT);
    c = (Cmd) { .command = ATA_READ_MULTIPLE, .count = 1, .bytes = 512 };
    cmd_fails(a, 0, 0, &c, ATA_ERR_ABRT);
    c = (Cmd) { .command = ATA_READ_LOG_EXT, .lba = 0x30, .count = 1,
                .bytes = 512 };
    cmd_fails(a, 0, 0, &c, ATA_ERR_ABRT);
    g_assert_cmpuint(stat_of(a, "requests.failed"), ==,
                     ARRAY_SIZE(unknown) + 5);
    ahci_stop(a);
}

static unsigned power_mode(Ahci *a)
{
    Cmd c = { .command = ATA_CHECK_POWER_MODE };

    cmd_do(a, 0, 0, &c);
    return rx_d2h(a, 0).count0;
}

/* What is set is what IDENTIFY and CHECK POWER MODE say. */
static void test_settings(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_SET_FEATURES, .feature = 0x82 };
    uint8_t id[512];

    port_start(a, 0);
    read_identify(a, 0, id);
    g_assert_true(word(id, 85) & 1 << 5);
    cmd_do(a, 0, 0, &c);
    c.feature = ATA_FEAT_TRANSFER_MODE;
    c.count = 0x22;
    cmd_do(a, 0, 0, &c);
    read_identify(a, 0, id);
    g_assert_false(word(id, 85) & 1 << 5);
    g_assert_cmphex(word(id, 63), ==, 0x0407);
    g_assert_cmphex(word(id, 88), ==, 0x007f);

    g_assert_cmphex(power_mode(a), ==, ATA_POWER_ACTIVE);
    c = (Cmd) { .command = ATA_STANDBY_IMMEDIATE };
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(power_mode(a), ==, ATA_POWER_STANDBY);
    c.command = ATA_IDLE;
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(power_mode(a), ==, ATA_POWER_IDLE);
    c = (Cmd) { .command = ATA_READ_DMA, .count = 1, .bytes = 512 };
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(power_mode(a), ==, ATA_POWER_ACTIVE);

    c = (Cmd) { .command = ATA_SMART, .lba = 0xc24f00, .bytes = 512,
                .feature = ATA_SMART_READ_DATA };
    cmd_do(a, 0, 0, &c);
    c.feature = ATA_SMART_RETURN_STATUS;
    c.bytes = 0;
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(rx_d2h(a, 0).lba2, ==, 0xc2);
    g_assert_cmphex(rx_d2h(a, 0).lba1, ==, 0x4f);

    c = (Cmd) { .command = ATA_READ_NATIVE_MAX_EXT };
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(rx_d2h(a, 0).lba1, ==, ((SECTORS - 1) >> 8) & 0xff);
    c = (Cmd) { .command = ATA_FLUSH_CACHE_EXT };
    cmd_do(a, 0, 0, &c);
    c.command = ATA_EXECUTE_DIAGNOSTIC;
    cmd_do(a, 0, 0, &c);
    g_assert_cmphex(rx_d2h(a, 0).error, ==, ATA_ERR_DIAGNOSTIC_PASSED);
    c.command = ATA_SLEEP;
    cmd_do(a, 0, 0, &c);
    c.command = ATA_FLUSH_CACHE;
    cmd_fails(a, 0, 0, &c, ATA_ERR_ABRT);
    ahci_stop(a);
}

/* Slots are taken in turn, one at a time, and PxCMD.CCS names it. */
static void test_slots_in_turn(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000,units=64");
    unsigned slot;

    port_start(a, 0);
    for (slot = 0; slot < 4; slot++) {
        Cmd c = { .command = ATA_READ_DMA, .lba = slot * 8, .count = 1,
                  .bytes = 512 };

        cmd_build(a, 0, slot, &c);
    }
    port_wr(a, 0, A_PORT_CI, 0xf);
    for (slot = 0; slot < 4; slot++) {
        g_assert_cmphex(FIELD_EX32(port_rd(a, 0, A_PORT_CMD), PORT_CMD, CCS),
                        ==, slot);
        g_assert_true(port_rd(a, 0, A_PORT_CI) & BIT(slot));
        g_assert_true(port_rd(a, 0, A_PORT_TFD) & ATA_STS_BSY);
        ahci_step(a, 1000);
        g_assert_false(port_rd(a, 0, A_PORT_CI) & BIT(slot));
    }
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD) & 0xff, ==, ATA_STS_GOOD);
    g_assert_cmpuint(stat_of(a, "device_ns.max"), ==, 1000);

    /* After slot 1, slot 2 comes before slot 0; after a stop, slot 0. */
    port_wr(a, 0, A_PORT_CI, BIT(1));
    ahci_step(a, 1000);
    port_wr(a, 0, A_PORT_CI, BIT(0) | BIT(2));
    g_assert_cmphex(FIELD_EX32(port_rd(a, 0, A_PORT_CMD), PORT_CMD, CCS), ==,
                    2);
    ahci_step(a, 1000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, BIT(0));
    port_recover(a, 0);
    g_assert_cmphex(FIELD_EX32(port_rd(a, 0, A_PORT_CMD), PORT_CMD, CCS), ==,
                    0);
    ahci_stop(a);
}

/* A drive with sectors of 4 KiB. */
static void test_4k_sectors(void)
{
    Ahci *a = ahci_start(1, "ports=2");
    Cmd c = { .command = ATA_WRITE_DMA_EXT, .lba = 3, .count = 1,
              .write = true, .bytes = 4096 };
    uint8_t id[512];

    qtest_qmp_assert_success(a->qts, "{'execute': 'blockdev-add', "
                             "'arguments': {'driver': 'null-co', "
                             "'read-zeroes': true, 'node-name': 'null0', "
                             "'size': 1048576}}");
    qtest_qmp_device_add(a->qts, "irqbed-ahci-drive", "d4k",
                         "{'bus': 'ahci0.0', 'port': 1, 'drive': 'null0', "
                         "'logical_block_size': 4096, "
                         "'physical_block_size': 4096}");
    port_start(a, 1);
    read_identify(a, 1, id);
    g_assert_cmpuint(ldq_le_p(id + 200), ==, 256);
    g_assert_cmphex(word(id, 106), ==, 0x5000);
    g_assert_cmpuint(ldl_le_p(id + 234), ==, 2048);
    cmd_do(a, 1, 0, &c);
    g_assert_cmpuint(prdbc(a, 1, 0), ==, 4096);
    c.lba = 256;
    cmd_fails(a, 1, 0, &c, ATA_ERR_IDNF);
    ahci_stop(a);
}

void add_command_tests(void)
{
    unsigned i;

    qtest_add_func("/ahci/identify", test_identify);
    for (i = 0; i < ARRAY_SIZE(rw_cases); i++) {
        g_autofree char *name = g_strdup_printf("/ahci/rw/%s",
                                                rw_cases[i].name);

        qtest_add_data_func(name, &rw_cases[i], test_rw);
    }
    qtest_add_func("/ahci/prd-interrupt", test_prd_interrupt);
    qtest_add_func("/ahci/trim", test_trim);
    qtest_add_func("/ahci/range", test_range);
    qtest_add_func("/ahci/aborts", test_aborts);
    qtest_add_func("/ahci/settings", test_settings);
    qtest_add_func("/ahci/slots-in-turn", test_slots_in_turn);
    qtest_add_func("/ahci/4k-sectors", test_4k_sectors);
}
