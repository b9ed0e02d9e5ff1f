/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections from inside the guest, through the port of irqbed-ctl: good ones,
 * and what a guest may write there that is none.
 */

#include "ufs-harness.h"
#include "inject.h"

/* Registers of irqbed-ctl: hw/ctl/ctl.c. */
#define OUT_DATA   0x14
#define STATS_SIZE 0x20
#define STATS_DATA 0x24
#define INJECT     0x3c

typedef struct Port {
    Ufs *u;
    QPCIDevice *dev;
    QPCIBar bar;
} Port;

static Port port_start(void)
{
    Port p = {
        .u = ufs_start_lu1("", "", "-chardev null,id=out "
                           "-device irqbed-ctl,addr=5,out=out"),
    };

    ufs_up(p.u);
    p.dev = qpci_device_find(p.u->bus, QPCI_DEVFN(5, 0));
    g_assert_nonnull(p.dev);
    qpci_device_enable(p.dev);
    p.bar = qpci_iomap(p.dev, 0, NULL);
    return p;
}

static void port_stop(Port *p)
{
    g_free(p->dev);
    ufs_stop(p->u);
}

static void put(Port *p, const char *text)
{
    char word[4];

    for (; *text; text += strnlen(text, sizeof(word))) {
        memset(word, 0, sizeof(word));
        memcpy(word, text, strnlen(text, sizeof(word)));
        qpci_io_writel(p->dev, p->bar, OUT_DATA, ldl_le_p(word));
    }
}

/* The first @len bytes of what was put are injections; "", or the error. */
static char *finish(Port *p, uint32_t len)
{
    uint32_t i, size;
    char *error;

    qpci_io_writel(p->dev, p->bar, INJECT, len);
    size = qpci_io_readl(p->dev, p->bar, STATS_SIZE);
    error = g_malloc0(QEMU_ALIGN_UP(size, 4) + 1);
    for (i = 0; i < size; i += 4) {
        stl_le_p(error + i, qpci_io_readl(p->dev, p->bar, STATS_DATA));
    }
    return error;
}

/* Of nothing at all first: the line buffer was never used. */
static void test_nothing(void)
{
    static const uint32_t len[] = { 0, 1, UINT32_MAX };
    Port p = port_start();
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(len); i++) {
        g_autofree char *error = finish(&p, len[i]);

        g_assert_cmpstr(error, ==, "no device ''");
    }
    port_stop(&p);
}

static void test_text(void)
{
    static const char good[] = "ufs0 id=a,every=2,fault=irq-lost";
    static const char odd[] = "ufs0 \xff\xfe=1,every=2,fault=irq-lost";
    Port p = port_start();
    g_autofree char *none = NULL, *refused = NULL, *unknown = NULL;
    g_autofree char *left = NULL, *emptied = NULL;

    put(&p, good);
    none = finish(&p, strlen(good));
    g_assert_cmpstr(none, ==, "");
    left = inject_get(p.u->qts, "ufs0");
    g_assert_nonnull(strstr(left, "fault=irq-lost"));
    put(&p, odd);
    refused = finish(&p, strlen(odd));
    g_assert_cmpstr(refused, !=, "");
    put(&p, "ufs7 ");
    unknown = finish(&p, 5);
    g_assert_cmpstr(unknown, ==, "no device 'ufs7'");
    emptied = inject_get(p.u->qts, "ufs0");
    g_assert_cmpstr(emptied, ==, "");
    port_stop(&p);
}

void add_ctl_tests(void)
{
    qtest_add_func("/irqbed-inject/ctl/nothing", test_nothing);
    qtest_add_func("/irqbed-inject/ctl/text", test_text);
}
