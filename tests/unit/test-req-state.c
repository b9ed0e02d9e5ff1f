/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hw/core/req_state.c: the transition table, written down a second time, and
 * what must hold for any table: no dead end, no answer without a due time.
 */

#include <glib.h>
#include "../../hw/core/req_state.h"

static const struct {
    IrqbedReqState from;
    IrqbedReqState to;
} allowed[] = {
    { IRQBED_REQ_FREE, IRQBED_REQ_FETCHED },
    { IRQBED_REQ_FETCHED, IRQBED_REQ_SCHEDULED },
    { IRQBED_REQ_FETCHED, IRQBED_REQ_HELD },
    { IRQBED_REQ_SCHEDULED, IRQBED_REQ_DUE },
    { IRQBED_REQ_SCHEDULED, IRQBED_REQ_ABORTED },
    { IRQBED_REQ_DUE, IRQBED_REQ_COMPLETING },
    { IRQBED_REQ_DUE, IRQBED_REQ_ABORTED },
    { IRQBED_REQ_COMPLETING, IRQBED_REQ_FREE },
    { IRQBED_REQ_HELD, IRQBED_REQ_ABORTED },
    { IRQBED_REQ_ABORTED, IRQBED_REQ_FREE },
};

static void test_table(void)
{
    bool expected;
    unsigned from, to, i;

    for (from = 0; from < IRQBED_REQ_STATE__MAX; from++) {
        for (to = 0; to < IRQBED_REQ_STATE__MAX; to++) {
            expected = false;
            for (i = 0; i < G_N_ELEMENTS(allowed); i++) {
                expected |= allowed[i].from == from && allowed[i].to == to;
            }
            if (irqbed_req_state_may(from, to) != expected) {
                g_error("%s -> %s: expected %d", irqbed_req_state_name(from),
                        irqbed_req_state_name(to), expected);
            }
        }
    }
    g_assert_false(irqbed_req_state_may(IRQBED_REQ_FREE,
                                        IRQBED_REQ_STATE__MAX));
    g_assert_false(irqbed_req_state_may(IRQBED_REQ_STATE__MAX,
                                        IRQBED_REQ_FREE));
}

/* From everywhere there is a way back to FREE. */
static void test_no_dead_end(void)
{
    unsigned reach = 1u << IRQBED_REQ_FREE, before, from, to;

    do {
        before = reach;
        for (from = 0; from < IRQBED_REQ_STATE__MAX; from++) {
            for (to = 0; to < IRQBED_REQ_STATE__MAX; to++) {
                if ((reach & (1u << to)) && irqbed_req_state_may(from, to)) {
                    reach |= 1u << from;
                }
            }
        }
    } while (reach != before);
    g_assert_cmphex(reach, ==, (1u << IRQBED_REQ_STATE__MAX) - 1);
}

static void test_in_flight(void)
{
    g_assert_false(irqbed_req_state_is_in_flight(IRQBED_REQ_FREE));
    g_assert_false(irqbed_req_state_is_in_flight(IRQBED_REQ_ABORTED));
    g_assert_true(irqbed_req_state_is_in_flight(IRQBED_REQ_FETCHED));
    g_assert_true(irqbed_req_state_is_in_flight(IRQBED_REQ_HELD));
    g_assert_true(irqbed_req_state_is_in_flight(IRQBED_REQ_COMPLETING));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/req-state/table", test_table);
    g_test_add_func("/req-state/no-dead-end", test_no_dead_end);
    g_test_add_func("/req-state/in-flight", test_in_flight);
    return g_test_run();
}
