/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ufs driven register by register, with a stepped clock.  The tests are
 * in the other files of this folder, one for each subject.
 */

#include "ufs-harness.h"

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_protocol_tests();
    add_scsi_tests();
    add_unit_tests();
    add_query_tests();
    add_task_tests();
    add_knob_tests();
    add_timing_tests();
    add_hostile_tests();
    add_migrate_tests();
    return g_test_run();
}
