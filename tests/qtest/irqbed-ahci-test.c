/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * irqbed-ahci, driven through libqtest: the tests are in
 * ahci-{command,queue,irq,link,hostile,migrate}.c.
 */

#include "qemu/osdep.h"
#include "ahci-harness.h"

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_command_tests();
    add_queue_tests();
    add_irq_tests();
    add_link_tests();
    add_hostile_tests();
    add_migrate_tests();
    return g_test_run();
}
