/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadline of a handshake (handshake.h). The transport that carries the
 * messages of the handshake detects a lost host or process. It does not detect
 * a process that exists and makes no progress, for example one that is stopped:
 * without a deadline the endpoint would wait without end. After
 * UCX_WIREUP_TIMEOUT the endpoint fails; 0 or inf: there is no deadline.
 *
 * A worker has one timer, which the first handshake starts. It fires four times
 * per timeout, and stops if no handshake is under way then. A handshake that
 * takes too long fails in the first progress after 1 to 1.25 timeouts.
 */
#ifndef UCP_WIREUP_DEADLINE_H
#define UCP_WIREUP_DEADLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <ucp/api/ucp.h>

#include "ucs/datastruct/list.h"
#include "ucs/time/time.h"
#include "uct/base/worker.h"

/** Deadlines of a worker. */
typedef struct ucp_wireup_deadlines {
    ucs_list_link_t list; /**< Handshakes under way, the oldest first */
    /** Id of the timer (ucs_async_add_timer()); 0 if it is not running */
    int timer;
    atomic_bool due;     /**< The timer has fired, and progress has not
                          *   checked the handshakes since */
    uct_oneshot_t round; /**< Makes progress check the handshakes; registered
                          *   while `due` is set */
} ucp_wireup_deadlines_t;

/** The deadline of one handshake. */
typedef struct ucp_wireup_deadline {
    /** In ucp_wireup_deadlines_t::list; `next` is NULL while the handshake is
     *  not in the list */
    ucs_list_link_t link;
    ucs_time_t started; /**< Time of the start, by ucs_get_time() */
} ucp_wireup_deadline_t;

void ucp_wireup_deadlines_init(ucp_worker_h worker);
void ucp_wireup_deadlines_cleanup(ucp_worker_h worker);

/** Start and stop the deadline of the endpoint's handshake. */
void ucp_wireup_deadline_start(ucp_ep_h ep);
void ucp_wireup_deadline_stop(ucp_ep_h ep);

#endif
