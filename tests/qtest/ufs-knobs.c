/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Knobs: each that the class has is set at run time and read back, its bounds
 * are kept, and what is structural refuses in one line.  The list is the
 * class's own, with what it allows in brackets in each description.
 */

#include "ufs-harness.h"
#include "qobject/qlist.h"
#include "qobject/qstring.h"

#define ONLY_CREATED ", when created only"

static QDict *property_command(Ufs *u, const char *command, const char *name,
                               QObject *value)
{
    QDict *args = qdict_new(), *all = qdict_new(), *answer;

    qdict_put_str(args, "path", "ufs0");
    qdict_put_str(args, "property", name);
    if (value) {
        qdict_put_obj(args, "value", value);
    }
    qdict_put_str(all, "execute", command);
    qdict_put(all, "arguments", args);
    answer = qtest_qmp(u->qts, "%p", QOBJECT(all));
    return answer;
}

/* The value as text: numbers in decimal. */
static char *get_text(Ufs *u, const char *name)
{
    g_autoptr(QDict) answer = property_command(u, "qom-get", name, NULL);
    QObject *value = qdict_get(answer, "return");
    QString *string = qobject_to(QString, value);

    return string ? g_strdup(qstring_get_str(string)) :
                    qnum_to_string(qobject_to(QNum, value));
}

static bool set_text(Ufs *u, const char *name, const char *text, bool number)
{
    QObject *value = number ?
        QOBJECT(qnum_from_uint(g_ascii_strtoull(text, NULL, 10))) :
        QOBJECT(qstring_from_str(text));
    g_autoptr(QDict) answer = property_command(u, "qom-set", name, value);

    return qdict_haskey(answer, "return");
}

static void expect_value(Ufs *u, const char *name, const char *text,
                         bool number)
{
    g_autofree char *got = NULL;

    if (!set_text(u, name, text, number)) {
        g_test_message("%s: expected: %s can be set, got: an error", name,
                       text);
        g_test_fail();
        return;
    }
    got = get_text(u, name);
    g_assert_cmpstr(got, ==, text);
}

/* Set everything in [allowed], and what is beside it, and the old value. */
static void try_knob(Ufs *u, const char *name, const char *allowed)
{
    g_autofree char *old = get_text(u, name);
    g_auto(GStrv) words = g_strsplit(allowed, " | ", 0);
    uint64_t low, high;
    unsigned i;

    if (sscanf(allowed, "%" SCNu64 " - %" SCNu64, &low, &high) == 2) {
        g_autofree char *least = g_strdup_printf("%" PRIu64, low);
        g_autofree char *most = g_strdup_printf("%" PRIu64, high);
        g_autofree char *less = g_strdup_printf("%" PRIu64, low - 1);
        g_autofree char *more = g_strdup_printf("%" PRIu64, high + 1);

        expect_value(u, name, least, true);
        expect_value(u, name, most, true);
        g_assert_false(low && set_text(u, name, less, true));
        g_assert_false(high < UINT64_MAX && set_text(u, name, more, true));
        expect_value(u, name, old, true);
        return;
    }
    if (g_str_equal(allowed, "PERCENTILE:NS,...")) {
        expect_value(u, name, "0:1,99.9:3", false);
        g_assert_false(set_text(u, name, "50:2,40:3", false));
        expect_value(u, name, "50:1000,90:2000", false);
        return;
    }
    for (i = 0; words[i]; i++) {
        expect_value(u, name, words[i], false);
    }
    g_assert_false(set_text(u, name, "gaussian", false));
    expect_value(u, name, old, false);
}

static bool is_table(const char *name)
{
    return g_str_has_suffix(name, "-table");
}

/* Every property of the class that says in brackets what it allows. */
static void test_every_knob(void)
{
    /* A count and its timeout depend on each other: one at a time. */
    Ufs *u = ufs_start_up(",irq-coalesce-timeout-ns=1000");
    g_autoptr(QDict) answer = qtest_qmp(u->qts,
        "{ 'execute': 'device-list-properties', "
        "'arguments': { 'typename': 'irqbed-ufs' } }");
    QListEntry *entry;
    unsigned knobs = 0, fixed = 0, pass;

    /* Tables first: a distribution needs its own. */
    for (pass = 0; pass < 2; pass++) {
        QLIST_FOREACH_ENTRY(qdict_get_qlist(answer, "return"), entry) {
            QDict *property = qobject_to(QDict, qlist_entry_obj(entry));
            const char *name = qdict_get_str(property, "name");
            const char *help = qdict_get_try_str(property, "description");
            const char *open = help ? strrchr(help, '[') : NULL;
            const char *close = open ? strchr(open, ']') : NULL;
            g_autofree char *allowed = NULL, *old = NULL;

            if (!close || is_table(name) != !pass) {
                continue;
            }
            allowed = g_strndup(open + 1, close - open - 1);
            knobs++;
            if (!strstr(close, ONLY_CREATED)) {
                try_knob(u, name, allowed);
                continue;
            }
            fixed++;
            old = get_text(u, name);
            g_assert_false(set_text(u, name, old, g_ascii_isdigit(*old)));
        }
    }
    g_assert_cmpuint(knobs, >=, 26);
    g_assert_cmpuint(fixed, >=, 2);
    /* It is as before, and works. */
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_run(u, 0);
    ufs_expect_good(u, 0);
    ufs_stop(u);
}

static void test_dependent_knobs(void)
{
    Ufs *u = ufs_start_up(",service-read-ns=5000,service-read-dist=lognormal,"
                          "seed=77,irq-mode=intx");
    QDict *answer;

    answer = qtest_qmp(u->qts, "{ 'execute': 'qom-get', 'arguments': "
                       "{ 'path': 'ufs0', 'property': 'service-read-ns' } }");
    g_assert_cmpuint(qdict_get_int(answer, "return"), ==, 5000);
    qobject_unref(answer);
    answer = qtest_qmp(u->qts, "{ 'execute': 'qom-get', 'arguments': "
                       "{ 'path': 'ufs0', 'property': 'irq-mode' } }");
    g_assert_cmpstr(qdict_get_str(answer, "return"), ==, "intx");
    qobject_unref(answer);
    g_assert_cmpuint(qpci_find_capability(u->dev, PCI_CAP_ID_MSI, 0), ==, 0);

    g_assert_true(ufs_set_knob(u, "irq-latency-ns", 100));
    g_assert_false(ufs_set_knob(u, "units", 0));
    g_assert_false(ufs_set_knob(u, "units", 4097));
    g_assert_false(ufs_set_knob(u, "queue-depth", 8));
    /* A count without a timeout would strand completions. */
    g_assert_false(ufs_set_knob(u, "irq-coalesce-count", 8));
    g_assert_true(ufs_set_knob(u, "irq-coalesce-timeout-ns", 1000));
    g_assert_true(ufs_set_knob(u, "irq-coalesce-count", 8));
    g_assert_false(ufs_set_knob(u, "irq-coalesce-timeout-ns", 0));
    answer = qtest_qmp(u->qts, "{ 'execute': 'qom-set', 'arguments': "
                       "{ 'path': 'ufs0', 'property': 'irq-latency-dist', "
                       "'value': 'gaussian' } }");
    g_assert_cmpstr(qdict_get_str(qdict_get_qdict(answer, "error"), "desc"),
                    ==, "irq-latency-dist: 'gaussian' is none of: fixed, "
                    "uniform, lognormal, normal, exponential, table");
    qobject_unref(answer);
    ufs_stop(u);
}

static char *set_error(Ufs *u, const char *name, const char *word)
{
    char *error = ufs_set_word(u, "ufs0", name, word);

    g_assert_nonnull(error);
    g_assert_null(strchr(error, '\n'));
    return error;
}

static void test_table(void)
{
    Ufs *u = ufs_start_up(",service-read-dist=table,"
                          "service-read-table=0:20000,,100:20000,"
                          "service-write-ns=1");
    g_autofree char *bad = set_error(u, "service-read-table", "50:1,40:2");
    g_autofree char *gone = set_error(u, "service-read-table", "");
    g_autofree char *none = set_error(u, "service-write-dist", "table");
    int64_t t;

    g_assert_cmpstr(bad, ==, "service-read-table: '40:2' is below the point "
                    "before it; percentiles must ascend, times must not "
                    "descend");
    g_assert_cmpstr(gone, ==, "service-read-dist=table needs percentiles in "
                    "service-read-table");
    g_assert_cmpstr(none, ==, "service-write-dist=table needs percentiles in "
                    "service-write-table");
    ufs_step(u, 1);
    t = u->now;
    ufs_prep_rw(u, 0, false, 0, 1);
    ufs_ring(u, 1);
    ufs_step_to(u, t + 19999);
    g_assert_true(ufs_busy(u, 1));
    ufs_step_to(u, t + 20000);
    g_assert_false(ufs_busy(u, 1));
    /* Changed while requests are in flight: from the next one on. */
    t = u->now;
    ufs_ring(u, 1);
    g_assert_null(ufs_set_word(u, "ufs0", "service-read-table", "50:7"));
    ufs_step_to(u, t + 19999);
    g_assert_true(ufs_busy(u, 1));
    ufs_step_to(u, t + 20000);
    g_assert_false(ufs_busy(u, 1));
    t = u->now;
    ufs_ring(u, 1);
    ufs_step_to(u, t + 6);
    g_assert_true(ufs_busy(u, 1));
    ufs_step_to(u, t + 7);
    g_assert_false(ufs_busy(u, 1));
    ufs_stop(u);
}

/* The same seed, the same nanoseconds, whatever the distribution. */
static int64_t run_dist(const char *dist, uint64_t seed)
{
    g_autofree char *knobs = g_strdup_printf(
        ",service-read-ns=80000,service-read-dist=%s,seed=%" PRIu64 ","
        "service-read-spread-ns=40000,service-read-table=50:1000,,99:90000",
        dist, seed);
    Ufs *u = ufs_start_up(knobs);
    int64_t t;
    unsigned i;

    for (i = 0; i < 20; i++) {
        ufs_prep_rw(u, 0, false, 0, 1);
        ufs_run(u, 0);
    }
    t = u->now;
    ufs_stop(u);
    return t;
}

static void test_seed(void)
{
    static const char *const dists[] = {
        "uniform", "lognormal", "normal", "exponential", "table"
    };
    unsigned i;

    for (i = 0; i < G_N_ELEMENTS(dists); i++) {
        int64_t one = run_dist(dists[i], 1);

        g_assert_cmpint(run_dist(dists[i], 1), ==, one);
        g_assert_cmpint(run_dist(dists[i], 2), !=, one);
    }
}

void add_knob_tests(void)
{
    qtest_add_func("/irqbed-ufs/knobs/every", test_every_knob);
    qtest_add_func("/irqbed-ufs/knobs/dependent", test_dependent_knobs);
    qtest_add_func("/irqbed-ufs/knobs/table", test_table);
    qtest_add_func("/irqbed-ufs/knobs/seed", test_seed);
}
