/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A guest that aims the controller's message at the slot control register of
 * the root port above it: with its own interrupt the controller is pulled out,
 * from below whatever function of it had raised that.  QEMU goes on.
 */

#include "ufs-harness.h"
#include "inject.h"
#include "hw/pci/pcie_regs.h"

#define ECAM        0xb0000000ull
#define PCIEXBAR    0x60        /* of the host bridge */
#define PORT        QPCI_DEVFN(3, 0)
#define BEHIND      0x100       /* bus 1, device 0 */
#define WINDOW      0xe000      /* of the port, 1 MiB from 0xe0000000 */
/* Power off, and the indicator too. */
#define EJECT       (PCI_EXP_SLTCTL_PCC | PCI_EXP_SLTCTL_PIC)

static void aim(Ufs *u, QPCIDevice *port)
{
    uint8_t msi = qpci_find_capability(u->dev, PCI_CAP_ID_MSI, 0);
    uint8_t exp = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);

    qpci_config_writel(u->dev, msi + PCI_MSI_ADDRESS_LO,
                       ECAM + ((uint64_t)PORT << 12) + exp + PCI_EXP_SLTCTL);
    qpci_config_writel(u->dev, msi + PCI_MSI_ADDRESS_HI, 0);
    qpci_config_writew(u->dev, msi + PCI_MSI_DATA_64, EJECT);
    qpci_config_writew(u->dev, msi + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE);
}

/* @device, behind the port rp, with @extra words, and its message aimed. */
static Ufs *start_device(const char *device, int bar, const char *extra)
{
    Ufs *u = g_new0(Ufs, 1);
    QPCIDevice *host, *port;

    u->bios = ufs_new_image(64 * KiB);
    u->qts = qtest_initf("-machine q35,sata=off -nodefaults -m 64M -bios %s "
                         "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-"
                         "support=off "
                         "-global apic-common.vapic=off "
                         "-device pcie-root-port,id=rp,addr=3,chassis=1,slot=1 "
                         "-blockdev driver=null-co,node-name=n0,size=8388608,"
                         "read-zeroes=on "
                         "-device %s %s",
                         u->bios, device, extra);
    u->bus = qpci_new_pc(u->qts, NULL);
    host = qpci_device_find(u->bus, 0);
    qpci_config_writel(host, PCIEXBAR, ECAM | 1);
    port = qpci_device_find(u->bus, PORT);
    qpci_config_writeb(port, PCI_SECONDARY_BUS, 1);
    qpci_config_writeb(port, PCI_SUBORDINATE_BUS, 1);
    qpci_config_writew(port, PCI_MEMORY_BASE, WINDOW);
    qpci_config_writew(port, PCI_MEMORY_LIMIT, WINDOW);
    qpci_device_enable(port);
    u->dev = qpci_device_find(u->bus, BEHIND);
    g_assert_nonnull(u->dev);
    qpci_device_enable(u->dev);
    u->bar = qpci_iomap(u->dev, bar, NULL);
    aim(u, port);
    g_free(host);
    g_free(port);
    return u;
}

static Ufs *start(const char *knobs)
{
    g_autofree char *device = g_strconcat("irqbed-ufs,id=dev0,bus=rp,"
                                          "unit-attention=off", knobs, NULL);
    Ufs *u = start_device(device, 0, "-device irqbed-ufs-lu,bus=dev0.0,lun=0,"
                          "drive=n0");

    ufs_up(u);
    return u;
}

/* It is gone, by its own doing, and nothing of it happens any more. */
static void stop(Ufs *u)
{
    QDict *answer = qtest_qmp(u->qts, "{ 'execute': 'qom-list', 'arguments': "
                              "{ 'path': '/machine/peripheral/dev0' } }");

    g_assert_true(qdict_haskey(answer, "error"));
    qobject_unref(answer);
    g_assert_cmphex(qpci_config_readw(u->dev, PCI_VENDOR_ID), ==, 0xffff);
    ufs_step(u, 1000000000);
    qtest_qmp_assert_success(u->qts, "{ 'execute': 'query-status' }");
    g_free(u->dev);
    qpci_free_pc(u->bus);
    qtest_quit(u->qts);
    unlink(u->bios);
    g_free(u->bios);
    g_free(u);
}

static void run_with(const char *knobs, int64_t ns)
{
    Ufs *u = start(knobs);
    unsigned i;

    for (i = 0; i < 4; i++) {
        ufs_prep_rw(u, i, false, i, 1);
    }
    ufs_ring(u, 0xf);
    ufs_step(u, ns);
    stop(u);
}

static void test_completion(void)
{
    run_with("", 1);
    run_with(",units=1,service-read-ns=1000", 5000);
}

static void test_interrupt_timer(void)
{
    run_with(",irq-latency-ns=1000", 2000);
}

/* In the middle of an answer. */
static void test_link_error(void)
{
    Ufs *u = start(",link-error-every=1");

    ufs_write(u, A_IE, R_IS_UE_MASK);
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_step(u, 1);
    stop(u);
}

/* In the middle of injections, with more to come and more under way. */
static void test_injection(void)
{
    run_with(",inject='id=a,,at-ns=1000,,period-ns=500,,fault=irq-spurious,,"
             "boot=on;id=b,,at-ns=1000,,period-ns=500,,fault=link-down,,"
             "for-ns=300,,boot=on;id=c,,every=1,,fault=data-late,,for-ns=900,,"
             "boot=on'", 100000);
}

/* In the middle of a register access of another device: what is late comes. */
static void test_statistics(void)
{
    Ufs *u = start(",inject='id=a,,every=1,,fault=irq-late,,for-ns=1000000,,"
                   "boot=on' -chardev null,id=out "
                   "-device irqbed-ctl,addr=5,out=out");
    QPCIDevice *ctl = qpci_device_find(u->bus, QPCI_DEVFN(5, 0));
    QPCIBar bar;

    qpci_device_enable(ctl);
    /* Beyond the port's window */
    u->bus->mmio_alloc_ptr = (WINDOW + 0x10) * 0x10000ull;
    bar = qpci_iomap(ctl, 0, NULL);
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_step(u, 1);
    g_assert_cmphex(ufs_read(u, A_IS), ==, R_IS_UTRCS_MASK);
    qpci_io_writel(ctl, bar, 0x1c, 2);
    g_free(ctl);
    stop(u);
}

/* In the middle of a register access. */
static void test_register(void)
{
    Ufs *u = start("");

    ufs_write(u, A_IE, 0);
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_step(u, 1);
    ufs_write(u, A_IE, UINT32_MAX);
    stop(u);
}

/* In the middle of a link that comes up: PxIE and GHC.IE, then PxSCTL. */
static void test_ahci(void)
{
    Ufs *u = start_device("irqbed-ahci,id=dev0,bus=rp,ports=1", 5,
                          "-device irqbed-ahci-drive,bus=dev0.0,drive=n0");

    ufs_write(u, 0x114, UINT32_MAX);
    ufs_write(u, 0x04, 2);
    ufs_write(u, 0x12c, 1);
    ufs_write(u, 0x12c, 0);
    stop(u);
}

/* The first of a schedule. */
static void test_probe(void)
{
    Ufs *u = start_device("irqbed-probe,id=dev0,bus=rp,period-ns=10000", 0, "");

    ufs_write(u, 0x08, 1);
    ufs_step(u, 100000);
    stop(u);
}

void add_eject_tests(void)
{
    qtest_add_func("/eject/ufs/completion", test_completion);
    qtest_add_func("/eject/ufs/interrupt-timer", test_interrupt_timer);
    qtest_add_func("/eject/ufs/link-error", test_link_error);
    qtest_add_func("/eject/ufs/injection", test_injection);
    qtest_add_func("/eject/ufs/register", test_register);
    qtest_add_func("/eject/ufs/statistics", test_statistics);
    qtest_add_func("/eject/ahci/link", test_ahci);
    qtest_add_func("/eject/probe", test_probe);
}
