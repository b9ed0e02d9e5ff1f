/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci: resets of drive, port and HBA, hot plug, hand-off.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "ahci-harness.h"

#define ALL 0xffffffff

static void queue_reads(Ahci *a, unsigned port, unsigned count)
{
    unsigned slot;

    for (slot = 0; slot < count; slot++) {
        Cmd c = cmd_queued(false, slot * 8, 8);

        cmd_build(a, port, slot, &c);
    }
    queue_issue(a, port, MAKE_64BIT_MASK(0, count));
}

static uint32_t det(Ahci *a, unsigned port)
{
    return FIELD_EX32(port_rd(a, port, A_PORT_SSTS), PORT_SSTS, DET);
}

/* Nothing of what was under way shows up later. */
static void check_quiet(Ahci *a, unsigned port)
{
    uint32_t is = port_rd(a, port, A_PORT_IS);

    ahci_step(a, 1000000000);
    g_assert_cmphex(port_rd(a, port, A_PORT_IS), ==, is);
    g_assert_cmphex(port_rd(a, port, A_PORT_CI), ==, 0);
    g_assert_cmphex(port_rd(a, port, A_PORT_SACT), ==, 0);
    g_assert_false(msi_take(a, NULL));
    g_assert_cmpuint(stat_of(a, "requests.in_flight"), ==, 0);
}

/* COMRESET: presence reported, register FIS held back until DIAG.X is clear. */
static void test_comreset(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000");

    port_start(a, 0);
    msi_enable(a, 0);
    queue_reads(a, 0, 8);
    /* Not while the port runs. */
    port_wr(a, 0, A_PORT_SCTL, AHCI_DET_COMRESET);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SCTL), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0xff);
    port_stop(a, 0);
    port_wr(a, 0, A_PORT_SCTL, AHCI_DET_COMRESET);
    g_assert_cmphex(det(a, 0), ==, AHCI_DET_NONE);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SIG), ==, AHCI_SIG_NONE);
    g_assert_false(msi_take(a, NULL));
    port_wr(a, 0, A_PORT_SCTL, 0);
    g_assert_cmphex(det(a, 0), ==, AHCI_DET_ESTABLISHED);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SERR), ==, R_PORT_SERR_DIAG_X_MASK);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_PCS_MASK);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==, ATA_STS_BSY);
    g_assert_true(msi_take(a, NULL));
    /* PCS goes with DIAG.X, not by writing PxIS. */
    port_wr(a, 0, A_PORT_IS, ALL);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_PCS_MASK);
    port_wr(a, 0, A_PORT_SERR, ALL);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SIG), ==, AHCI_SIG_ATA);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==, 0x0150);
    ahci_wr(a, A_HBA_IS, 1);
    check_quiet(a, 0);
    port_start(a, 0);
    queue_reads(a, 0, 8);
    ahci_step(a, 8000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    ahci_stop(a);
}

/* Speed limit and offline mode of PxSCTL. */
static void test_link_control(void)
{
    Ahci *a = ahci_start(1, "ports=2");

    port_wr(a, 0, A_PORT_SCTL, 1 << 4 | AHCI_DET_COMRESET);
    port_wr(a, 0, A_PORT_SCTL, 1 << 4);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS), ==, 0x113);
    port_wr(a, 0, A_PORT_SCTL, AHCI_DET_OFFLINE);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS), ==, AHCI_DET_OFFLINE);
    /* Off is off, also when PxTFD is made to look ready. */
    port_wr(a, 0, A_PORT_CMD, R_PORT_CMD_FRE_MASK | R_PORT_CMD_CLO_MASK);
    port_wr(a, 0, A_PORT_CMD, R_PORT_CMD_FRE_MASK | R_PORT_CMD_ST_MASK);
    port_wr(a, 0, A_PORT_CI, 1);
    ahci_step(a, 1000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 1);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS) & IRQBED_AHCI_IS_ERRORS, ==, 0);
    port_stop(a, 0);
    port_wr(a, 0, A_PORT_SCTL, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS), ==, 0x133);
    port_wr(a, 0, A_PORT_SCTL, 7);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SCTL), ==, 0);
    /* Nothing there: nothing comes up. */
    port_wr(a, 1, A_PORT_SCTL, AHCI_DET_COMRESET);
    port_wr(a, 1, A_PORT_SCTL, 0);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SSTS), ==, 0);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SERR), ==, 0);
    ahci_stop(a);
}

static void control_fis(Ahci *a, unsigned slot, uint8_t control,
                        uint16_t flags)
{
    Cmd c = { 0 };

    cmd_build(a, 0, slot, &c);
    qtest_writew(a->qts, CLB(0) + slot * sizeof(AhciCmdHeader),
                 FIS_H2D_DWORDS | flags);
    qtest_writeb(a->qts, TABLE(0, slot) + offsetof(FisH2d, flags), 0);
    qtest_writeb(a->qts, TABLE(0, slot) + offsetof(FisH2d, control), control);
    port_wr(a, 0, A_PORT_CI, BIT(slot));
}

/* SRST set, SRST cleared, and the signature comes. */
static void test_soft_reset(void)
{
    Ahci *a = ahci_start(1, "ports=1");
    Cmd read = { .command = ATA_READ_DMA, .count = 1, .bytes = 512 };

    port_start(a, 0);
    cmd_do(a, 0, 0, &read);
    control_fis(a, 1, FIS_CONTROL_SRST, 0x100 | AHCI_CMD_CLEAR_BUSY);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 0);
    control_fis(a, 2, 0, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_CI), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==, 0x0150);
    g_assert_cmphex(rx_d2h(a, 0).count0, ==, 1);
    port_ack(a, 0);
    cmd_do(a, 0, 0, &read);
    ahci_stop(a);
}

/* PxCMD.ST cleared with commands under way. */
static void test_stop_in_flight(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000");
    Cmd plain = { .command = ATA_READ_DMA, .count = 1, .bytes = 512 };

    port_start(a, 0);
    msi_enable(a, 0);
    queue_reads(a, 0, 32);
    ahci_step(a, 500);
    port_stop(a, 0);
    check_quiet(a, 0);
    port_wr(a, 0, A_PORT_CMD, R_PORT_CMD_FRE_MASK | R_PORT_CMD_ST_MASK);

    /* The drive stays busy with one that was not queued, until CLO. */
    cmd_issue(a, 0, 0, &plain);
    port_stop(a, 0);
    check_quiet(a, 0);
    g_assert_true(port_rd(a, 0, A_PORT_TFD) & ATA_STS_BSY);
    port_wr(a, 0, A_PORT_CMD, R_PORT_CMD_FRE_MASK | R_PORT_CMD_CLO_MASK);
    g_assert_false(port_rd(a, 0, A_PORT_TFD) & ATA_STS_BSY);
    g_assert_false(port_rd(a, 0, A_PORT_CMD) & R_PORT_CMD_CLO_MASK);
    port_wr(a, 0, A_PORT_CMD, R_PORT_CMD_FRE_MASK | R_PORT_CMD_ST_MASK);
    knob_set(a, "service-read-ns", 0);
    cmd_do(a, 0, 1, &plain);
    ahci_stop(a);
}

/* GHC.HR with commands under way on two ports, and an interrupt on its way. */
static void test_hba_reset(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000,"
                         "irq-latency-ns=100000");

    port_start(a, 0);
    port_start(a, 1);
    msi_enable(a, 0);
    queue_reads(a, 0, 32);
    queue_reads(a, 1, 32);
    ahci_step(a, 3500);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 3);
    ahci_wr(a, A_HBA_GHC, R_HBA_GHC_HR_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_GHC), ==, R_HBA_GHC_AE_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_IS), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IE), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==, ATA_STS_NO_DEVICE);
    check_quiet(a, 0);
    check_quiet(a, 1);
    port_start(a, 1);
    queue_reads(a, 1, 32);
    ahci_step(a, 32000);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SACT), ==, 0);
    ahci_stop(a);
}

/* The machine's own reset, in the middle of I/O. */
static void test_system_reset(void)
{
    Ahci *a = ahci_start(1, "ports=1,service-read-ns=1000");

    port_start(a, 0);
    queue_reads(a, 0, 32);
    ahci_step(a, 500);
    qtest_system_reset(a->qts);
    qpci_iounmap(a->dev, a->bar);
    a->bar = qpci_iomap(a->dev, 5, NULL);
    qpci_device_enable(a->dev);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    port_start(a, 0);
    queue_reads(a, 0, 4);
    ahci_step(a, 4000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    ahci_stop(a);
}

/* A drive is pulled out with its timers armed, and put in again. */
static void test_hot_plug(void)
{
    Ahci *a = ahci_start(2, "ports=2,service-read-ns=1000");

    port_start(a, 0);
    port_start(a, 1);
    msi_enable(a, 0);
    queue_reads(a, 0, 32);
    queue_reads(a, 1, 2);
    ahci_step(a, 500);
    qtest_qmp_device_del(a->qts, "drive0");
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS), ==, 0);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SERR), ==, R_PORT_SERR_DIAG_N_MASK);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==, R_PORT_IS_PRCS_MASK);
    g_assert_cmphex(port_rd(a, 0, A_PORT_TFD), ==, ATA_STS_NO_DEVICE);
    /* Software finds out by the status, not by an answer. */
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, ALL);
    g_assert_true(msi_take(a, NULL));
    ahci_step(a, 1000000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, ALL);
    g_assert_cmphex(port_rd(a, 1, A_PORT_SACT), ==, 0);
    g_assert_cmpuint(stat_of(a, "requests.aborted"), ==, 32);
    port_stop(a, 0);
    port_wr(a, 0, A_PORT_SERR, ALL);
    port_ack(a, 0);
    port_ack(a, 1);
    msi_take(a, NULL);

    qtest_qmp_device_add(a->qts, "irqbed-ahci-drive", "again",
                         "{'bus': 'ahci0.0', 'port': 0, 'drive': 'disk0'}");
    g_assert_cmphex(port_rd(a, 0, A_PORT_SSTS), ==, 0x133);
    g_assert_cmphex(port_rd(a, 0, A_PORT_IS), ==,
                    R_PORT_IS_PCS_MASK | R_PORT_IS_PRCS_MASK);
    g_assert_true(msi_take(a, NULL));
    port_start(a, 0);
    queue_reads(a, 0, 32);
    ahci_step(a, 32000);
    g_assert_cmphex(port_rd(a, 0, A_PORT_SACT), ==, 0);
    ahci_stop(a);
}

/* The whole HBA goes, drives and all, with timers armed. */
static void test_unplug_hba(void)
{
    Ahci *a = ahci_start_on("pc", "addr=4", 2, "ports=2,service-read-ns=1000,"
                            "irq-latency-ns=1000");

    port_start(a, 0);
    port_start(a, 1);
    queue_reads(a, 0, 32);
    queue_reads(a, 1, 32);
    ahci_wr(a, A_HBA_CCC_PORTS, 3);
    ahci_wr(a, A_HBA_CCC_CTL, 1 << 16 | 200 << 8 | R_HBA_CCC_CTL_EN_MASK);
    ahci_step(a, 1500);
    qtest_qmp_device_del_send(a->qts, "ahci0");
    qtest_outl(a->qts, 0xae08, 1 << 4);         /* the guest lets slot 4 go */
    qtest_qmp_eventwait(a->qts, "DEVICE_DELETED");
    ahci_step(a, 1000000000);
    a->unplugged = true;
    ahci_stop(a);
}

/* BOHC: the OS takes the HBA, and its firmware is told. */
static void test_hand_off(void)
{
    Ahci *a = ahci_start(0, "ports=1");

    g_assert_true(ahci_rd(a, A_HBA_CAP2) & R_HBA_CAP2_BOH_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_BOHC), ==, 0);
    ahci_wr(a, A_HBA_BOHC, R_HBA_BOHC_OOS_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_BOHC), ==,
                    R_HBA_BOHC_OOS_MASK | R_HBA_BOHC_OOC_MASK);
    ahci_wr(a, A_HBA_BOHC, R_HBA_BOHC_OOS_MASK | R_HBA_BOHC_OOC_MASK);
    g_assert_cmphex(ahci_rd(a, A_HBA_BOHC), ==, R_HBA_BOHC_OOS_MASK);
    ahci_stop(a);
}

/* Bad properties are refused with what would be right. */
static void test_bad_properties(void)
{
    static const struct {
        int port;
        int block;
        const char *serial;
    } bad[] = {
        { 2, 512, "ok" }, { 0, 512, "ok" }, { 1, 1024, "ok" },
        { 1, 512, "longer than twenty characters" },
    };
    Ahci *a = ahci_start(1, "ports=2");
    unsigned i;

    qtest_qmp_assert_success(a->qts, "{'execute': 'blockdev-add', "
                             "'arguments': {'driver': 'null-co', "
                             "'node-name': 'null0', 'size': 1048576}}");
    for (i = 0; i < ARRAY_SIZE(bad); i++) {
        QDict *reply = qtest_qmp(
            a->qts, "{'execute': 'device_add', 'arguments': {'driver': "
            "'irqbed-ahci-drive', 'bus': 'ahci0.0', 'drive': 'null0', "
            "'port': %d, 'logical_block_size': %d, 'serial': %s}}",
            bad[i].port, bad[i].block, bad[i].serial);

        g_assert_true(qdict_haskey(reply, "error"));
        qobject_unref(reply);
    }
    ahci_stop(a);
}

void add_link_tests(void)
{
    qtest_add_func("/ahci/reset/comreset", test_comreset);
    qtest_add_func("/ahci/reset/link-control", test_link_control);
    qtest_add_func("/ahci/reset/soft", test_soft_reset);
    qtest_add_func("/ahci/reset/stop-in-flight", test_stop_in_flight);
    qtest_add_func("/ahci/reset/hba", test_hba_reset);
    qtest_add_func("/ahci/reset/system", test_system_reset);
    qtest_add_func("/ahci/plug/drive", test_hot_plug);
    qtest_add_func("/ahci/plug/hba", test_unplug_hba);
    qtest_add_func("/ahci/plug/bad-properties", test_bad_properties);
    qtest_add_func("/ahci/hand-off", test_hand_off);
}
