/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Transition table of a request.  Pure; see req_state.h for the diagram.
 */

#include "req_state.h"

#define TO(state) (1u << IRQBED_REQ_##state)

static const unsigned transitions[IRQBED_REQ_STATE__MAX] = {
    [IRQBED_REQ_FREE] = TO(FETCHED),
    [IRQBED_REQ_FETCHED] = TO(SCHEDULED) | TO(HELD),
    [IRQBED_REQ_SCHEDULED] = TO(DUE) | TO(ABORTED),
    [IRQBED_REQ_DUE] = TO(COMPLETING) | TO(ABORTED),
    [IRQBED_REQ_COMPLETING] = TO(FREE),
    [IRQBED_REQ_HELD] = TO(ABORTED),
    [IRQBED_REQ_ABORTED] = TO(FREE),
};

static const char *const names[IRQBED_REQ_STATE__MAX] = {
    [IRQBED_REQ_FREE] = "free",
    [IRQBED_REQ_FETCHED] = "fetched",
    [IRQBED_REQ_SCHEDULED] = "scheduled",
    [IRQBED_REQ_DUE] = "due",
    [IRQBED_REQ_COMPLETING] = "completing",
    [IRQBED_REQ_HELD] = "held",
    [IRQBED_REQ_ABORTED] = "aborted",
};

bool irqbed_req_state_may(IrqbedReqState from, IrqbedReqState to)
{
    return from < IRQBED_REQ_STATE__MAX && to < IRQBED_REQ_STATE__MAX &&
           transitions[from] & (1u << to);
}

const char *irqbed_req_state_name(IrqbedReqState state)
{
    return state < IRQBED_REQ_STATE__MAX ? names[state] : "?";
}

bool irqbed_req_state_is_in_flight(IrqbedReqState state)
{
    switch (state) {
    case IRQBED_REQ_FETCHED:
    case IRQBED_REQ_SCHEDULED:
    case IRQBED_REQ_DUE:
    case IRQBED_REQ_COMPLETING:
    case IRQBED_REQ_HELD:
        return true;
    default:
        return false;
    }
}
