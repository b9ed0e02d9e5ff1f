/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-probe driven register by register, with a stepped clock: when it
 * interrupts, what it measures, and what a hostile guest can do to it.
 */

#include "qemu/osdep.h"
#include "qemu/units.h"
#include "libqtest.h"
#include "libqos/pci.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "qobject/qdict.h"
#include "qobject/qjson.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"

#define BAR_BYTES   4096
#define MSI_ADDR    0x01002000ull
#define MSI_DATA    0x4321
#define PERIOD_NS   100000
#define REG_MAGIC   0x00
#define REG_VERSION 0x04
#define REG_CTRL    0x08
#define REG_TARGET  0x0c
#define REG_STATUS  0x10
#define REG_ACK     0x14
#define MAGIC       0x42505249

typedef struct Probe {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar bar;
    char *bios;
    int64_t now;
} Probe;

/* --- machine --- */

static char *new_file(off_t bytes)
{
    g_autoptr(GError) err = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("irqbed-qtest-XXXXXX", &path, &err);

    g_assert_no_error(err);
    g_assert_cmpint(ftruncate(fd, bytes), ==, 0);
    close(fd);
    return path;
}

static void boot(Probe *p, const char *knobs, const char *extra)
{
    p->qts = qtest_initf("-machine pc -global apic-common.vapic=off "
                         "-nodefaults -m 64M -bios %s "
                         "-device irqbed-probe,id=probe0,addr=4%s %s",
                         p->bios, knobs, extra);
    p->bus = qpci_new_pc(p->qts, NULL);
}

static void find(Probe *p)
{
    p->dev = qpci_device_find(p->bus, QPCI_DEVFN(4, 0));
    g_assert_nonnull(p->dev);
}

static Probe *start(const char *knobs)
{
    Probe *p = g_new0(Probe, 1);

    /* No CPU runs: the machine only wants to have loaded something. */
    p->bios = new_file(64 * KiB);
    boot(p, knobs, "");
    find(p);
    qpci_device_enable(p->dev);
    p->bar = qpci_iomap(p->dev, 0, NULL);
    return p;
}

static void stop(Probe *p)
{
    g_free(p->dev);
    qpci_free_pc(p->bus);
    qtest_quit(p->qts);
    unlink(p->bios);
    g_free(p->bios);
    g_free(p);
}

static uint32_t rd(Probe *p, uint32_t reg)
{
    return qpci_io_readl(p->dev, p->bar, reg);
}

static void wr(Probe *p, uint32_t reg, uint32_t val)
{
    qpci_io_writel(p->dev, p->bar, reg, val);
}

static void step(Probe *p, int64_t ns)
{
    p->now = qtest_clock_step(p->qts, ns);
}

/* The message goes to a word of guest memory. */
static void msi_on(Probe *p)
{
    uint8_t cap = qpci_find_capability(p->dev, PCI_CAP_ID_MSI, 0);
    uint16_t flags;

    g_assert_cmpuint(cap, !=, 0);
    qpci_config_writel(p->dev, cap + PCI_MSI_ADDRESS_LO, MSI_ADDR);
    qpci_config_writel(p->dev, cap + PCI_MSI_ADDRESS_HI, 0);
    qpci_config_writew(p->dev, cap + PCI_MSI_DATA_64, MSI_DATA);
    flags = qpci_config_readw(p->dev, cap + PCI_MSI_FLAGS);
    qpci_config_writew(p->dev, cap + PCI_MSI_FLAGS,
                       flags | PCI_MSI_FLAGS_ENABLE);
    qtest_writel(p->qts, MSI_ADDR, 0);
}

static bool msi_taken(Probe *p)
{
    uint32_t val = qtest_readl(p->qts, MSI_ADDR);

    qtest_writel(p->qts, MSI_ADDR, 0);
    g_assert_true(val == 0 || val == MSI_DATA);
    return val;
}

static Probe *start_running(const char *knobs)
{
    Probe *p = start(knobs);

    msi_on(p);
    step(p, 1000);
    wr(p, REG_CTRL, 1);
    return p;
}

/* The guest's answer, its two halves after so much time. */
static void answer(Probe *p, int64_t read_ns, int64_t ack_ns)
{
    step(p, read_ns);
    g_assert_cmphex(rd(p, REG_STATUS), ==, 1);
    step(p, ack_ns - read_ns);
    wr(p, REG_ACK, 1);
    g_assert_cmphex(rd(p, REG_STATUS), ==, 0);
}

/* --- statistics --- */

static QDict *stats(Probe *p)
{
    QDict *reply = qtest_qmp(p->qts, "{ 'execute': 'qom-get', 'arguments': "
                             "{ 'path': 'probe0', 'property': 'stats' } }");
    QDict *ret = qdict_get_qdict(reply, "return");

    g_assert_nonnull(ret);
    qobject_ref(ret);
    qobject_unref(reply);
    return ret;
}

static uint64_t number(const QDict *dict, const char *key)
{
    uint64_t value;

    g_assert_true(qnum_get_try_uint(qobject_to(QNum, qdict_get(dict, key)),
                                    &value));
    return value;
}

static uint64_t count(Probe *p, const char *key)
{
    g_autoptr(QDict) all = stats(p);

    return number(all, key);
}

/* Of the only vCPU that answered. */
static uint64_t hist(Probe *p, const char *name, const char *key)
{
    g_autoptr(QDict) all = stats(p);
    QList *cpus = qdict_get_qlist(all, "cpus");
    QDict *cpu;

    g_assert_cmpuint(qlist_size(cpus), ==, 1);
    cpu = qobject_to(QDict, qlist_peek(cpus));
    g_assert_cmpuint(number(cpu, "cpu"), ==, 0);
    return number(qdict_get_qdict(cpu, name), key);
}

/* --- schedule --- */

static void test_registers(void)
{
    Probe *p = start(",cpu=3");

    g_assert_cmphex(rd(p, REG_MAGIC), ==, MAGIC);
    g_assert_cmphex(rd(p, REG_VERSION), ==, 1);
    g_assert_cmphex(rd(p, REG_CTRL), ==, 0);
    g_assert_cmphex(rd(p, REG_TARGET), ==, 3);
    g_assert_cmphex(rd(p, REG_STATUS), ==, 0);
    wr(p, REG_CTRL, UINT32_MAX);
    g_assert_cmphex(rd(p, REG_CTRL), ==, 1);
    stop(p);
}

/* To the nanosecond, and without drift however late the answers come. */
static void test_period(void)
{
    Probe *p = start_running("");
    unsigned i;

    for (i = 0; i < 20; i++) {
        step(p, PERIOD_NS - 1 - (i ? 5000 + i : 0));
        g_assert_false(msi_taken(p));
        g_assert_cmphex(rd(p, REG_STATUS), ==, 0);
        step(p, 1);
        g_assert_true(msi_taken(p));
        answer(p, 3000, 5001 + i);
    }
    g_assert_cmpuint(count(p, "sent"), ==, 20);
    g_assert_cmpuint(count(p, "missed"), ==, 0);
    stop(p);
}

static void test_stop_and_go(void)
{
    Probe *p = start_running("");

    step(p, PERIOD_NS / 2);
    wr(p, REG_CTRL, 0);
    step(p, 10 * PERIOD_NS);
    g_assert_false(msi_taken(p));
    /* A new schedule begins; setting the bit again changes nothing. */
    wr(p, REG_CTRL, 1);
    step(p, PERIOD_NS / 2);
    wr(p, REG_CTRL, 1);
    step(p, PERIOD_NS / 2 - 1);
    g_assert_false(msi_taken(p));
    step(p, 1);
    g_assert_true(msi_taken(p));
    /* Stopped while it waits: nothing waits any more. */
    wr(p, REG_CTRL, 0);
    g_assert_cmphex(rd(p, REG_STATUS), ==, 0);
    stop(p);
}

typedef struct Times {
    int64_t at[50];
} Times;

/* When 50 interrupts came, in steps of 100 ns from the schedule's start. */
static Times jittered(const char *knobs)
{
    Probe *p = start_running(knobs);
    Times times = { };
    int64_t begin = p->now;
    unsigned i = 0;

    while (i < ARRAY_SIZE(times.at)) {
        step(p, 100);
        if (msi_taken(p)) {
            times.at[i++] = p->now - begin;
            rd(p, REG_STATUS);
            wr(p, REG_ACK, 0);
        }
    }
    stop(p);
    return times;
}

static void test_jitter(void)
{
    const char *knobs = ",period-ns=10000,jitter-ns=2000,seed=5";
    Times one = jittered(knobs), two = jittered(knobs);
    Times other = jittered(",period-ns=10000,jitter-ns=2000,seed=6");
    int64_t least = INT64_MAX, most = INT64_MIN;
    unsigned i;

    g_assert_cmpmem(&one, sizeof(one), &two, sizeof(two));
    g_assert_true(memcmp(&one, &other, sizeof(one)));
    for (i = 0; i < ARRAY_SIZE(one.at); i++) {
        int64_t off = one.at[i] - 10000 * (i + 1);

        /* Seen up to one step late. */
        g_assert_cmpint(off, >=, -2000);
        g_assert_cmpint(off, <=, 2000 + 100);
        least = MIN(least, off);
        most = MAX(most, off);
    }
    g_assert_cmpint(least, <, -1000);
    g_assert_cmpint(most, >, 1000);
}

/* --- measurement --- */

static void test_histogram(void)
{
    Probe *p = start_running("");
    unsigned i;

    for (i = 0; i < 10; i++) {
        step(p, PERIOD_NS - (i ? 2000 : 0));
        answer(p, 1000 + i, 2000);
    }
    g_assert_cmpuint(hist(p, "read_ns", "count"), ==, 10);
    g_assert_cmpuint(hist(p, "read_ns", "min"), ==, 1000);
    g_assert_cmpuint(hist(p, "read_ns", "max"), ==, 1009);
    g_assert_cmpuint(hist(p, "read_ns", "sum"), ==, 10045);
    g_assert_cmpuint(hist(p, "ack_ns", "count"), ==, 10);
    g_assert_cmpuint(hist(p, "ack_ns", "min"), ==, 2000);
    g_assert_cmpuint(hist(p, "ack_ns", "max"), ==, 2000);
    g_assert_cmpuint(hist(p, "ack_ns", "p999"), ==, 2000);
    stop(p);
}

/* The first read counts, whoever else looks before the acknowledgment. */
static void test_first_read(void)
{
    Probe *p = start_running("");

    step(p, PERIOD_NS + 700);
    rd(p, REG_STATUS);
    step(p, 800);
    rd(p, REG_STATUS);
    wr(p, REG_ACK, 1);
    g_assert_cmpuint(hist(p, "read_ns", "sum"), ==, 700);
    g_assert_cmpuint(hist(p, "ack_ns", "sum"), ==, 1500);
    stop(p);
}

static void test_missed(void)
{
    Probe *p = start_running("");

    step(p, PERIOD_NS);
    g_assert_true(msi_taken(p));
    step(p, 3 * PERIOD_NS + 10);
    g_assert_false(msi_taken(p));
    g_assert_cmpuint(count(p, "missed"), ==, 3);
    g_assert_cmpuint(count(p, "waiting"), ==, 1);
    rd(p, REG_STATUS);
    wr(p, REG_ACK, 1);
    g_assert_cmpuint(hist(p, "ack_ns", "sum"), ==, 3 * PERIOD_NS + 10);
    /* On with the same schedule. */
    step(p, PERIOD_NS - 11);
    g_assert_false(msi_taken(p));
    step(p, 1);
    g_assert_true(msi_taken(p));
    g_assert_cmpuint(count(p, "sent"), ==, 2);
    g_assert_cmpuint(count(p, "missed"), ==, 3);
    stop(p);
}

/* An acknowledgment without a read before it, or without an interrupt. */
static void test_stray_ack(void)
{
    Probe *p = start_running("");

    wr(p, REG_ACK, 1);
    step(p, PERIOD_NS);
    wr(p, REG_ACK, 1);
    g_assert_cmpuint(count(p, "stray_acks"), ==, 2);
    answer(p, 5, 10);
    wr(p, REG_ACK, 1);
    g_assert_cmpuint(count(p, "stray_acks"), ==, 3);
    g_assert_cmpuint(hist(p, "ack_ns", "count"), ==, 1);
    stop(p);
}

/* --- hostile --- */

static void expect_alive(Probe *p)
{
    uint64_t sent;

    qpci_device_enable(p->dev);
    wr(p, REG_CTRL, 0);
    msi_on(p);
    wr(p, REG_CTRL, 1);
    sent = count(p, "sent");
    step(p, PERIOD_NS);
    g_assert_true(msi_taken(p));
    answer(p, 10, 20);
    g_assert_cmpuint(count(p, "sent"), ==, sent + 1);
}

/* Case before-setup. */
static void test_before_setup(void)
{
    Probe *p = start("");
    GRand *rand = g_rand_new_with_seed(1);
    uint32_t reg;
    int kind;

    for (kind = 0; kind < 3; kind++) {
        for (reg = 0; reg < BAR_BYTES; reg += 4) {
            rd(p, reg);
            wr(p, reg, kind == 0 ? 0 : kind == 1 ? UINT32_MAX :
                       g_rand_int(rand));
        }
        step(p, 3 * PERIOD_NS);
    }
    /* Bytes, halves and quadwords, and what is not aligned. */
    for (reg = 0; reg < 0x20; reg++) {
        qpci_io_writeb(p->dev, p->bar, reg, 0xff);
        qpci_io_readb(p->dev, p->bar, reg);
        qpci_io_writew(p->dev, p->bar, reg, 0xffff);
        qpci_io_readw(p->dev, p->bar, reg);
        qpci_io_writeq(p->dev, p->bar, reg, UINT64_MAX);
        qpci_io_readq(p->dev, p->bar, reg);
        qpci_io_writel(p->dev, p->bar, reg, UINT32_MAX);
    }
    g_rand_free(rand);
    expect_alive(p);
    stop(p);
}

/* Neither MSI nor bus mastering: nothing comes, nothing waits for ever. */
static void test_without_msi(void)
{
    Probe *p = start("");
    uint16_t command;

    wr(p, REG_CTRL, 1);
    step(p, 10 * PERIOD_NS);
    g_assert_cmpuint(count(p, "sent"), ==, 0);
    g_assert_cmpuint(count(p, "missed"), ==, 0);
    msi_on(p);
    command = qpci_config_readw(p->dev, PCI_COMMAND);
    qpci_config_writew(p->dev, PCI_COMMAND, command & ~PCI_COMMAND_MASTER);
    step(p, 2 * PERIOD_NS);
    g_assert_false(msi_taken(p));
    g_assert_cmpuint(count(p, "sent"), ==, 1);
    expect_alive(p);
    stop(p);
}

/* Its message is aimed at its own register that stops the schedule. */
static void test_message_to_self(void)
{
    Probe *p = start("");
    uint32_t bar = qpci_config_readl(p->dev, PCI_BASE_ADDRESS_0) & ~0xfu;
    uint8_t cap = qpci_find_capability(p->dev, PCI_CAP_ID_MSI, 0);

    msi_on(p);
    qpci_config_writel(p->dev, cap + PCI_MSI_ADDRESS_LO, bar + REG_CTRL);
    qpci_config_writew(p->dev, cap + PCI_MSI_DATA_64, 0);
    wr(p, REG_CTRL, 1);
    step(p, 10 * PERIOD_NS);
    g_assert_cmphex(rd(p, REG_CTRL), ==, 0);
    g_assert_cmpuint(count(p, "sent"), ==, 1);
    g_assert_cmpuint(count(p, "missed"), ==, 0);
    expect_alive(p);
    stop(p);
}

static void test_system_reset(void)
{
    Probe *p = start_running(",period-ns=5000,jitter-ns=1000");

    step(p, 5500);
    qtest_system_reset(p->qts);
    step(p, 50000);
    g_assert_cmpuint(count(p, "waiting"), ==, 0);
    qpci_device_enable(p->dev);
    p->bar = qpci_iomap(p->dev, 0, NULL);
    g_assert_cmphex(rd(p, REG_CTRL), ==, 0);
    stop(p);
}

static void test_unplug(void)
{
    Probe *p = start_running(",period-ns=5000");

    step(p, 12000);
    qpci_unplug_acpi_device_test(p->qts, "probe0", 4);
    /* No timer of it is left. */
    step(p, 1000000);
    stop(p);
}

static void test_bad_properties(void)
{
    static const struct {
        int64_t period_ns, jitter_ns;
        int cpu;
    } bad[] = {
        { 999, 0, 0 }, { 1000000000001, 0, 0 }, { 100000, 50000, 0 },
        { 2000, 1000, 0 }, { 100000, 0, 256 },
    };
    Probe *p = start("");
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(bad); i++) {
        QDict *reply = qtest_qmp(p->qts, "{ 'execute': 'device_add', "
            "'arguments': { 'driver': 'irqbed-probe', 'period-ns': %" PRId64
            ", 'jitter-ns': %" PRId64 ", 'cpu': %d } }", bad[i].period_ns,
            bad[i].jitter_ns, bad[i].cpu);
        const char *said = qdict_get_str(qdict_get_qdict(reply, "error"),
                                         "desc");

        g_assert_nonnull(strstr(said, "must be"));
        qobject_unref(reply);
    }
    stop(p);
}

/* --- saved and restored --- */

static void wait_for(QTestState *qts, const char *command, const char *status)
{
    bool there = false;

    while (!there) {
        QDict *reply = qtest_qmp(qts, "{ 'execute': %s }", command);
        QDict *ret = qdict_get_qdict(reply, "return");
        const char *is = qdict_get_try_str(ret, "status");

        g_assert_cmpstr(is, !=, "failed");
        there = !g_strcmp0(is, status);
        qobject_unref(reply);
        g_usleep(there ? 0 : 10000);
    }
}

static void migrate(Probe *p, const char *knobs)
{
    g_autofree char *uri = NULL, *file = new_file(0);
    QTestState *old = p->qts;
    QPCIBus *old_bus = p->bus;

    uri = g_strdup_printf("file:%s", file);
    qtest_qmp_assert_success(old, "{ 'execute': 'migrate', "
                             "'arguments': { 'uri': %s } }", uri);
    wait_for(old, "query-migrate", "completed");
    boot(p, knobs, "-incoming defer");
    qtest_clock_set(p->qts, p->now);
    qtest_qmp_assert_success(p->qts, "{ 'execute': 'migrate-incoming', "
                             "'arguments': { 'uri': %s } }", uri);
    wait_for(p->qts, "query-status", "running");
    qpci_free_pc(old_bus);
    qtest_quit(old);
    g_free(p->dev);
    find(p);
    unlink(file);
}

#define SEEN_STEPS 300

/*
 * Every 7th answer late, so that periods are missed; the move is made while an
 * interrupt has been read and not acknowledged.
 */
static void run(bool *seen, bool moves)
{
    const char *knobs = ",period-ns=10000,jitter-ns=3000,seed=9";
    Probe *p = start_running(knobs);
    unsigned i, due = 0, answers = 0;
    bool moved = !moves;

    for (i = 0; i < SEEN_STEPS; i++) {
        step(p, 1000);
        seen[i] = msi_taken(p);
        if (seen[i]) {
            due = ++answers % 7 ? 2 : 25;
            rd(p, REG_STATUS);
        } else if (due && !--due) {
            wr(p, REG_ACK, 1);
        }
        if (i >= SEEN_STEPS / 3 && due && !moved) {
            migrate(p, knobs);
            moved = true;
            g_assert_cmphex(rd(p, REG_STATUS), ==, 1);
        }
    }
    g_assert_true(moved);
    g_assert_cmpuint(answers, >, 10);
    /* Statistics stay behind: only what was answered since counts. */
    g_assert_cmpuint(hist(p, "ack_ns", "max"), >=, 2000);
    stop(p);
}

static void test_migrate(void)
{
    bool stayed[SEEN_STEPS], moved[SEEN_STEPS];

    run(stayed, false);
    run(moved, true);
    g_assert_cmpmem(stayed, sizeof(stayed), moved, sizeof(moved));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/irqbed-probe/registers", test_registers);
    qtest_add_func("/irqbed-probe/schedule/period", test_period);
    qtest_add_func("/irqbed-probe/schedule/stop-and-go", test_stop_and_go);
    qtest_add_func("/irqbed-probe/schedule/jitter", test_jitter);
    qtest_add_func("/irqbed-probe/measures/histogram", test_histogram);
    qtest_add_func("/irqbed-probe/measures/first-read", test_first_read);
    qtest_add_func("/irqbed-probe/measures/missed", test_missed);
    qtest_add_func("/irqbed-probe/measures/stray-ack", test_stray_ack);
    qtest_add_func("/irqbed-probe/hostile/before-setup", test_before_setup);
    qtest_add_func("/irqbed-probe/hostile/without-msi", test_without_msi);
    qtest_add_func("/irqbed-probe/hostile/message-to-self",
                   test_message_to_self);
    qtest_add_func("/irqbed-probe/hostile/system-reset", test_system_reset);
    qtest_add_func("/irqbed-probe/hostile/unplug", test_unplug);
    qtest_add_func("/irqbed-probe/bad-properties", test_bad_properties);
    qtest_add_func("/irqbed-probe/migrate", test_migrate);
    return g_test_run();
}
