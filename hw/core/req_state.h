/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The states of a request, and which may follow which.
 *
 * Pure.  request.c has the one function that changes a state.
 *
 *   FREE --D1 doorbell--> FETCHED --D3--> SCHEDULED --due--> DUE
 *                            |                |               | data, room
 *                            | hold-every     |               v
 *                            v                |           COMPLETING
 *                          HELD               |               | D4: answered
 *                            |                |               v
 *                            |                |             FREE
 *                            v                v
 *                          ABORTED (from HELD, SCHEDULED, DUE: by the guest)
 *                            | slot cleared, or reset
 *                            v
 *                          FREE
 *
 * Every state has a way to an answer or to a reset: HELD and ABORTED wait for
 * the guest, who clears the slot or resets the controller; FETCHED and
 * COMPLETING do not outlive the function that enters them.
 */

#ifndef HW_IRQBED_REQ_STATE_H
#define HW_IRQBED_REQ_STATE_H

#include <stdbool.h>

typedef enum IrqbedReqState {
    IRQBED_REQ_FREE,            /* the slot is the guest's */
    IRQBED_REQ_FETCHED,         /* D2: descriptor read and checked */
    IRQBED_REQ_SCHEDULED,       /* D3: due time known, data transfer begun */
    IRQBED_REQ_DUE,             /* due; no data (host clock) or no room yet */
    IRQBED_REQ_COMPLETING,      /* D4: the answer is being written */
    IRQBED_REQ_HELD,            /* fault: never due */
    IRQBED_REQ_ABORTED,         /* given up at the guest's wish, unanswered */
    IRQBED_REQ_STATE__MAX
} IrqbedReqState;

bool irqbed_req_state_may(IrqbedReqState from, IrqbedReqState to);
const char *irqbed_req_state_name(IrqbedReqState state);

/* Counted as in flight: it was fetched, and has no answer yet. */
bool irqbed_req_state_is_in_flight(IrqbedReqState state);

#endif
