/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections as text: what is taken, what is refused in one line, what is read
 * back; when entries are armed.
 */

#include "ufs-harness.h"
#include "inject.h"

static void expect_error(Ufs *u, const char *entry, const char *part)
{
    g_autofree char *error = inject_try(u->qts, "ufs0", entry);
    /* Behind the entry itself, which it repeats. */
    const char *message = error ? strstr(error, "': ") : NULL;

    if (!message || !strstr(message, part) || strchr(error, '\n')) {
        g_test_message("%s: expected: one line with '%s', got: %s", entry,
                       part, error ? error : "no error");
        g_test_fail();
    }
}

static void test_errors(void)
{
    Ufs *u = ufs_start_up("");
    g_autofree char *left = NULL;

    expect_error(u, "at-ns=1,fault=irq-lost", "id");
    expect_error(u, "id=a,fault=irq-lost", "at-ns, after, every");
    expect_error(u, "id=a,at-ns=1,after=2,fault=irq-lost", "exactly one");
    expect_error(u, "id=a,at-ns=-1,fault=irq-lost", "at-ns");
    expect_error(u, "id=a,every=0,fault=irq-lost", "every: 0 is not between");
    expect_error(u, "id=a,chance-ppm=1000001,fault=irq-lost", "1000000");
    expect_error(u, "id=a,every=2,period-ns=5,fault=irq-lost", "period-ns");
    expect_error(u, "id=a,every=2", "either knob or fault");
    expect_error(u, "id=a,every=2,fault=hold,knob=units", "either knob");
    expect_error(u, "id=a,every=2,fault=no-such", "irq-lost");
    expect_error(u, "id=a,every=2,fault=irq-no-source", "cannot do");
    expect_error(u, "id=a,every=2,fault=irq-late", "for-ns");
    expect_error(u, "id=a,every=2,fault=status", "status");
    expect_error(u, "id=a,every=2,fault=status,status=x", "medium-error");
    expect_error(u, "id=a,every=2,fault=hold,on=reads", "any, read");
    expect_error(u, "id=a,every=2,fault=hold,target=32", "target");
    expect_error(u, "id=a,every=2,knob=units", "value");
    expect_error(u, "id=a,every=2,knob=units,value=0", "units: 0 is not");
    expect_error(u, "id=a,every=2,knob=queue-depth,value=1", "queue-depth");
    expect_error(u, "id=a,every=2,knob=serial,value=1", "serial");
    expect_error(u, "id=a,every=2,knob=irq-latency-dist,value=odd",
                 "lognormal");
    expect_error(u, "id=a,every=2,knob=irq-latency-dist,value=fixed,ramp-ns=1",
                 "ramp-ns");
    expect_error(u, "id=a,every=2,fault=hold,colour=red", "colour");
    expect_error(u, "id=a,every=2,fault=hold,ramp-ns=5", "ramp-ns");
    expect_error(u, "id=a,every=2,fault=hold;id=a,every=3,fault=hold",
                 "already");
    /* Of several, all or none. */
    left = inject_get(u->qts, "ufs0");
    g_assert_cmpstr(left, ==, "");
    ufs_stop(u);
}

static void test_command_line(void)
{
    Ufs *u = ufs_start_up(",inject='id=a,,every=2,,fault=irq-lost;"
                          "id=b,,at-ns=5,,knob=units,,value=3,,boot=on'");
    g_autofree char *text = inject_get(u->qts, "ufs0");

    g_assert_cmpstr(text, ==, "id=a,every=2,fault=irq-lost;"
                    "id=b,at-ns=5,knob=units,value=3,boot=on");
    /* a waits for the first reset of the statistics, b does not. */
    ufs_step(u, 1000);
    ufs_prep_nop(u, 0);
    ufs_run(u, 0);
    ufs_run(u, 0);
    g_assert_cmpuint(inject_fired(u->qts, "ufs0", "a"), ==, 0);
    g_assert_cmpuint(inject_fired(u->qts, "ufs0", "b"), ==, 1);
    ufs_stop(u);
}

static void test_read_back(void)
{
    static const char all[] =
        "id=one,at-ns=100,period-ns=500,count=3,fault=irq-spurious;"
        "id=two,after=7,on=write,fault=status,status=ocs-fatal;"
        "id=a,,b,chance-ppm=5,knob=irq-latency-dist,value=uniform,for-ns=9;"
        "id=x,every=2,knob=irq-latency-ns,value=1000,ramp-ns=70,for-ns=99;"
        "id=y,every=5,fault=link-down,for-ns=3";
    Ufs *u = ufs_start_up("");
    g_autofree char *text = NULL, *again = NULL, *none = NULL;

    inject(u->qts, "ufs0", all);
    text = inject_get(u->qts, "ufs0");
    g_assert_cmpstr(text, ==, all);
    inject_clear(u->qts, "ufs0");
    none = inject_get(u->qts, "ufs0");
    g_assert_cmpstr(none, ==, "");
    inject(u->qts, "ufs0", text);
    again = inject_get(u->qts, "ufs0");
    g_assert_cmpstr(again, ==, all);
    ufs_stop(u);
}

/* As many as there is room for, and one line for the next. */
static void test_full(void)
{
    Ufs *u = ufs_start_up("");
    unsigned i;

    for (i = 0; i < 32; i++) {
        g_autofree char *e = g_strdup_printf("id=e%u,after=%u,fault=hold", i,
                                             i + 1000);

        inject(u->qts, "ufs0", e);
    }
    expect_error(u, "id=more,after=1,fault=hold", "32");
    ufs_stop(u);
}

void add_text_tests(void)
{
    qtest_add_func("/irqbed-inject/text/errors", test_errors);
    qtest_add_func("/irqbed-inject/text/command-line", test_command_line);
    qtest_add_func("/irqbed-inject/text/read-back", test_read_back);
    qtest_add_func("/irqbed-inject/text/full", test_full);
}
