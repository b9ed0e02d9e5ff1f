/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ufs with mcq=on, register by register, with a stepped clock.  The
 * tests are in mcq-queue.c, mcq-control.c, mcq-irq.c, mcq-hostile.c,
 * mcq-migrate.c and host-clock.c.
 */

#include "mcq-harness.h"

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_queue_tests();
    add_control_tests();
    add_irq_tests();
    add_host_clock_tests();
    add_mcq_hostile_tests();
    add_mcq_migrate_tests();
    return g_test_run();
}
