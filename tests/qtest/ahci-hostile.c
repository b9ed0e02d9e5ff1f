/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci and a guest that means no good: case before-setup, and every
 * length, count and address that the guest gives.  A test passes when the
 * device answers as documented, or at all; ASan builds look for the rest.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "ahci-harness.h"

#define BAR_BYTES   0x1000
#define NO_RAM      0x80000000ull   /* below the PCI hole, above the RAM */

static uint64_t noise(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 16;
}

/* Still alive, and still right, after all that. */
static void check_works(Ahci *a)
{
    Cmd c = { .command = ATA_READ_DMA, .count = 1, .bytes = 512 };

    ahci_wr(a, A_HBA_GHC, R_HBA_GHC_HR_MASK);
    knob_set(a, "service-read-ns", 0);
    port_start(a, 0);
    cmd_do(a, 0, 0, &c);
    port_ack(a, 0);
}

/* Every register, before anything is set up. */
static void test_registers(void)
{
    static const uint32_t values[] = { 0, 0xffffffff, 0x55555555, 1 };
    Ahci *a = ahci_start(2, "ports=4,service-read-ns=1000");
    uint64_t state = 1;
    unsigned i;
    uint32_t reg;

    for (i = 0; i < 12; i++) {
        for (reg = 0; reg < BAR_BYTES; reg += 4) {
            uint32_t value = i < ARRAY_SIZE(values) ? values[i]
                                                    : noise(&state);

            ahci_wr(a, reg, value);
            ahci_rd(a, reg);
        }
        ahci_step(a, 1000000);
    }
    check_works(a);
    ahci_stop(a);
}

/* The same in another order, of other sizes, with MSI on and time passing. */
static void test_register_noise(void)
{
    Ahci *a = ahci_start(2, "ports=4,service-read-ns=1000,"
                         "irq-latency-ns=500");
    uint64_t state = 42;
    unsigned i;

    msi_enable(a, 0);
    for (i = 0; i < 20000; i++) {
        uint32_t reg = noise(&state) % 0x300;
        uint32_t value = noise(&state);

        switch (noise(&state) % 8) {
        case 0:
            qpci_io_writeb(a->dev, a->bar, reg, value);
            break;
        case 1:
            qpci_io_readw(a->dev, a->bar, reg & ~1);
            break;
        case 2:
            qpci_io_writeq(a->dev, a->bar, reg & ~7, noise(&state));
            break;
        case 3:
            ahci_step(a, 1 + value % 1000);
            break;
        default:
            ahci_wr(a, reg & ~3, value);
            break;
        }
    }
    check_works(a);
    ahci_stop(a);
}

/* The port stops with @is, and works again after a reset of the HBA. */
static void check_fatal(Ahci *a, unsigned slot, uint32_t is)
{
    port_wr(a, 0, A_PORT_CI, BIT(slot));
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, is);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI) & BIT(slot), ==, BIT(slot));
    g_assert_cmphex(port_rd(a, 0, A_PORT_SERR), ==,
                    is & R_PORT_IS_IFS_MASK ? R_PORT_SERR_DIAG_H_MASK : 0);
    check_works(a);
}

/* Lists and tables at addresses that are not RAM, the HBA's own among them. */
static void test_bad_pointers(void)
{
    static const uint64_t bad[] = { 0, NO_RAM, 0xfffffffffffff800ull };
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_READ_DMA, .count = 8, .bytes = 4096 };
    uint32_t bar = qpci_config_readl(a->dev, PCI_BASE_ADDRESS_5);
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(bad); i++) {
        uint64_t addr = i ? bad[i] : bar;

        port_start(a, 0);
        port_wr(a, 0, A_PORT_CLB, addr);
        port_wr(a, 0, A_PORT_CLBU, addr >> 32);
        check_fatal(a, 0, R_PORT_IS_HBFS_MASK);

        port_start(a, 0);
        cmd_build(a, 0, 1, &c);
        qtest_writeq(a->qts, CLB(0) + 32 + offsetof(AhciCmdHeader, ctba),
                     addr);
        check_fatal(a, 1, R_PORT_IS_HBFS_MASK);

        port_start(a, 0);
        c.data = addr;
        cmd_build(a, 0, 2, &c);
        check_fatal(a, 2, R_PORT_IS_HBDS_MASK);
        c.command = ATA_WRITE_DMA;
        cmd_build(a, 0, 2, &c);
        check_fatal(a, 2, R_PORT_IS_HBDS_MASK);
        c.command = ATA_READ_DMA;
        c.data = 0;

        /* The answer itself cannot be posted. */
        port_start(a, 0);
        port_wr(a, 0, A_PORT_FB, addr);
        port_wr(a, 0, A_PORT_FBU, addr >> 32);
        cmd_issue(a, 0, 3, &c);
        ahci_step(a, 1);
        g_assert_true(port_rd(a, 0, A_PORT_IS) & R_PORT_IS_HBFS_MASK);
        check_works(a);
    }
    ahci_stop(a);
}

/* PRD tables: too short, odd, empty, and longer than needed. */
static void test_bad_prdt(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_READ_DMA, .count = 8, .bytes = 4094 };
    uint64_t prdtl = CLB(0) + offsetof(AhciCmdHeader, prdtl);
    uint64_t prd = TABLE(0, 0) + AHCI_PRDT_OFFSET;

    port_start(a, 0);
    cmd_build(a, 0, 0, &c);
    check_fatal(a, 0, R_PORT_IS_OFS_MASK);
    c.command = ATA_WRITE_DMA;
    cmd_build(a, 0, 0, &c);
    check_fatal(a, 0, R_PORT_IS_IFS_MASK);
    c.command = ATA_READ_DMA;
    c.bytes = 4096;
    cmd_build(a, 0, 0, &c);
    qtest_writew(a->qts, prdtl, 0);
    check_fatal(a, 0, R_PORT_IS_OFS_MASK);

    cmd_build(a, 0, 0, &c);
    qtest_writel(a->qts, prd + offsetof(AhciPrd, dbc), 4094);
    check_fatal(a, 0, R_PORT_IS_HBFS_MASK);
    cmd_build(a, 0, 0, &c);
    qtest_writeq(a->qts, prd, DATA(0, 0) + 1);
    check_fatal(a, 0, R_PORT_IS_HBFS_MASK);

    /* The largest table there is, of the smallest entries: only 2048 needed */
    cmd_build(a, 0, 0, &c);
    qtest_writew(a->qts, prdtl, 0xffff);
    qtest_writel(a->qts, prd + offsetof(AhciPrd, dbc), 0x3fffff);
    port_wr(a, 0, A_PORT_CI, 1);
    ahci_step(a, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 0);
    g_assert_cmpuint(prdbc(a, 0, 0), ==, 4096);
    ahci_stop(a);
}

/* Command headers and FISes that say what cannot be. */
static void test_bad_header(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd c = { .command = ATA_READ_DMA, .count = 1, .bytes = 512 };
    static const struct {
        uint16_t flags;
        uint32_t is;
    } headers[] = {
        { 0, R_PORT_IS_IFS_MASK }, { 4, R_PORT_IS_IFS_MASK },
        { 5 | AHCI_CMD_BIST, R_PORT_IS_IFS_MASK },
        { 5 | 0x3000, R_PORT_IS_IFS_MASK },
    };
    unsigned i;

    port_start(a, 0);
    for (i = 0; i < ARRAY_SIZE(headers); i++) {
        cmd_build(a, 0, 0, &c);
        qtest_writew(a->qts, CLB(0), headers[i].flags);
        check_fatal(a, 0, headers[i].is);
    }
    cmd_build(a, 0, 0, &c);
    qtest_writeb(a->qts, TABLE(0, 0), 0x46);
    check_fatal(a, 0, R_PORT_IS_IFS_MASK);
    cmd_build(a, 0, 0, &c);
    qtest_writeq(a->qts, CLB(0) + offsetof(AhciCmdHeader, ctba),
                 TABLE(0, 0) + 0x40);
    check_fatal(a, 0, R_PORT_IS_HBFS_MASK);
    ahci_stop(a);
}

/* Any command byte, with noise all around it. */
static void test_command_noise(void)
{
    Ahci *a = ahci_start(1, "ports=1,queue-depth=32,service-read-ns=100");
    uint64_t state = 7;
    unsigned i, j;

    port_start(a, 0);
    for (i = 0; i < 3000; i++) {
        unsigned slot = noise(&state) % 32;
        Cmd c = { .command = i, .lba = noise(&state) % 100000,
                  .count = noise(&state) % 300, .bytes = 0x4000,
                  .feature = noise(&state), .device = noise(&state) };

        if (i % 8 == 0) {
            c = cmd_queued(i & 8, noise(&state) % 40000,
                           noise(&state) % 16);
        }
        cmd_build(a, 0, slot, &c);
        for (j = 0; j < 3 && i % 5 == 0; j++) {
            qtest_writel(a->qts, TABLE(0, slot) + noise(&state) % 38 * 4,
                         noise(&state));
        }
        port_wr(a, 0, A_PORT_SACT, noise(&state));
        port_wr(a, 0, A_PORT_CI, BIT(slot));
        ahci_step(a, 1 + noise(&state) % 300);
        if (port_rd(a, 0, A_PORT_IS) & IRQBED_AHCI_IS_ERRORS) {
            port_stop(a, 0);
            port_ack(a, 0);
            if (port_rd(a, 0, A_PORT_TFD) & ATA_STS_BSY) {
                port_wr(a, 0, A_PORT_SCTL, AHCI_DET_COMRESET);
                port_wr(a, 0, A_PORT_SCTL, 0);
                port_wr(a, 0, A_PORT_SERR, 0xffffffff);
            }
            port_wr(a, 0, A_PORT_CMD,
                    R_PORT_CMD_FRE_MASK | R_PORT_CMD_ST_MASK);
        }
        if (i % 64 == 0) {
            check_conserved(a);
        }
    }
    check_works(a);
    ahci_stop(a);
}

/* A message aimed at the HBA's own registers changes nothing in it. */
static void test_msi_to_self(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000");
    uint32_t bar = qpci_config_readl(a->dev, PCI_BASE_ADDRESS_5);
    uint8_t cap = qpci_find_capability(a->dev, PCI_CAP_ID_MSI, 0);
    Cmd c = cmd_queued(false, 0, 8);

    port_start(a, 0);
    msi_enable(a, 0);
    qpci_config_writel(a->dev, cap + PCI_MSI_ADDRESS_LO, bar + A_HBA_GHC);
    qpci_config_writew(a->dev, cap + PCI_MSI_DATA_64, R_HBA_GHC_HR_MASK);
    cmd_build(a, 0, 0, &c);
    queue_issue(a, 0, 1);
    ahci_step(a, 1000);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 1);
    g_assert_cmphex(ahci_rd(a, A_HBA_GHC), ==,
                    R_HBA_GHC_AE_MASK | R_HBA_GHC_IE_MASK);
    qtest_qmp_device_del(a->qts, "drive0");
    g_assert_true(ahci_rd(a, A_HBA_GHC) & R_HBA_GHC_IE_MASK);
    ahci_stop(a);
}

/* Drives whose data costs the host nothing; follows the HBA's options. */
#define NULL_DRIVE(n) \
    " -blockdev driver=null-co,size=1073741824,node-name=null" n \
    " -device irqbed-ahci-drive,bus=ahci0.0,port=" n ",drive=null" n

/*
 * Two ports have all the host memory that the HBA's data may take: of a third
 * one a big command is refused, a small one is not; later the same is taken.
 */
static void test_memory_limit(void)
{
    Ahci *a = ahci_start(0, "ports=3,service-read-ns=1000000"
                         NULL_DRIVE("0") NULL_DRIVE("1") NULL_DRIVE("2"));
    Cmd queued = cmd_queued(false, 0, 65536);
    Cmd big = { .command = ATA_READ_DMA_EXT };
    Cmd small = { .command = ATA_READ_DMA_EXT, .count = 128,
                  .bytes = 64 * KiB };
    unsigned port, slot;

    queued.prd_bytes = big.prd_bytes = 4 * MiB;
    queued.data = big.data = 48 * MiB;
    big.bytes = queued.bytes;
    g_assert_cmpuint(queued.bytes, ==, 32 * MiB);
    for (port = 0; port < 2; port++) {
        port_start(a, port);
        for (slot = 0; slot < 32; slot++) {
            cmd_build(a, port, slot, &queued);
        }
        queue_issue(a, port, 0xffffffff);
    }
    g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 64);

    knob_set(a, "service-read-ns", 0);
    port_start(a, 2);
    cmd_fails(a, 2, 0, &big, ATA_ERR_ABRT);
    cmd_do(a, 2, 0, &small);
    port_ack(a, 2);
    g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 64);

    ahci_step(a, 1000000000);
    for (port = 0; port < 2; port++) {
        g_assert_cmphex(port_rd(a, port, A_PORT_SACT), ==, 0);
        g_assert_cmphex(port_rd(a, port, A_PORT_IS) & R_PORT_IS_TFES_MASK,
                        ==, 0);
    }
    cmd_do(a, 2, 0, &big);
    g_assert_cmpuint(prdbc(a, 2, 0), ==, 32 * MiB);
    ahci_stop(a);
}

void add_hostile_tests(void)
{
    qtest_add_func("/ahci/hostile/memory-limit", test_memory_limit);
    qtest_add_func("/ahci/hostile/registers", test_registers);
    qtest_add_func("/ahci/hostile/register-noise", test_register_noise);
    qtest_add_func("/ahci/hostile/bad-pointers", test_bad_pointers);
    qtest_add_func("/ahci/hostile/bad-prdt", test_bad_prdt);
    qtest_add_func("/ahci/hostile/bad-header", test_bad_header);
    qtest_add_func("/ahci/hostile/command-noise", test_command_noise);
    qtest_add_func("/ahci/hostile/msi-to-self", test_msi_to_self);
}
