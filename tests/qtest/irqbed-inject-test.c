/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Injections: their text, and every fault on UFS and AHCI with the device's
 * own count of it, to the nanosecond; and what a guest may do to a controller
 * from inside its own interrupt.
 */

#include "qemu/osdep.h"
#include "inject.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "qobject/qnum.h"

char *inject_try(QTestState *qts, const char *dev, const char *entries)
{
    QDict *answer = qtest_qmp(qts, "{ 'execute': 'qom-set', 'arguments': "
                              "{ 'path': %s, 'property': 'inject', "
                              "'value': %s } }", dev, entries);
    char *error = NULL;

    if (qdict_haskey(answer, "error")) {
        error = g_strdup(qdict_get_str(qdict_get_qdict(answer, "error"),
                                       "desc"));
    }
    qobject_unref(answer);
    return error;
}

void inject(QTestState *qts, const char *dev, const char *entries)
{
    g_autofree char *error = inject_try(qts, dev, entries);

    g_assert_cmpstr(error, ==, NULL);
}

void inject_clear(QTestState *qts, const char *dev)
{
    qtest_qmp_assert_success(qts, "{ 'execute': 'qom-set', 'arguments': "
                             "{ 'path': %s, 'property': 'inject-clear', "
                             "'value': true } }", dev);
}

char *inject_get(QTestState *qts, const char *dev)
{
    QDict *answer = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': "
                              "{ 'path': %s, 'property': 'inject' } }", dev);
    char *text = g_strdup(qdict_get_str(answer, "return"));

    qobject_unref(answer);
    return text;
}

/* What the statistics say of @id; *@answer is to be unreferenced. */
static QDict *entry_stats(QTestState *qts, const char *dev, const char *id,
                          QDict **answer)
{
    QList *list;
    const QListEntry *e;

    *answer = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': "
                              "{ 'path': %s, 'property': 'stats' } }", dev);
    list = qdict_get_qlist(qdict_get_qdict(*answer, "return"), "inject");
    QLIST_FOREACH_ENTRY(list, e) {
        QDict *d = qobject_to(QDict, qlist_entry_obj(e));

        if (!strcmp(qdict_get_str(d, "id"), id)) {
            return d;
        }
    }
    g_assert_not_reached();
}

uint64_t inject_count(QTestState *qts, const char *dev, const char *id,
                      const char *counter)
{
    QDict *answer, *d = entry_stats(qts, dev, id, &answer);
    uint64_t count = qnum_get_uint(qobject_to(QNum, qdict_get(d, counter)));

    qobject_unref(answer);
    return count;
}

unsigned inject_times(QTestState *qts, const char *dev, const char *id,
                      uint64_t *last)
{
    QDict *answer, *d = entry_stats(qts, dev, id, &answer);
    QList *times = qdict_get_qlist(d, "fired_ns");
    unsigned count = qlist_size(times);
    const QListEntry *e;

    *last = 0;
    QLIST_FOREACH_ENTRY(times, e) {
        uint64_t ns = qnum_get_uint(qobject_to(QNum, qlist_entry_obj(e)));

        g_assert_cmpuint(ns, >=, *last);
        *last = ns;
    }
    qobject_unref(answer);
    return count;
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_text_tests();
    add_ufs_tests();
    add_ufs_life_tests();
    add_ahci_tests();
    add_ctl_tests();
    add_eject_tests();
    return g_test_run();
}
