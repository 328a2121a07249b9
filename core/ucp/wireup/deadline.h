/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deadline of a handshake (handshake.h). The transport that carries its
 * messages detects a lost host or process, but not a process that exists and
 * never makes progress, for example a stopped one: the endpoint would wait
 * without end. After UCX_WIREUP_TIMEOUT the endpoint fails.
 *
 * A worker has one timer, which runs only while handshakes are under way. A
 * handshake that takes too long fails between one and one and a quarter times
 * the timeout after its start.
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
    int timer;            /**< 0 if not running */
    atomic_bool due;      /**< The timer has fired, and progress has not
                           *   checked the handshakes since */
    uct_oneshot_t round;  /**< Registered while `due` is set */
} ucp_wireup_deadlines_t;

/** Member of the state of a handshake: its place in the list of the worker. */
typedef struct ucp_wireup_deadline {
    ucs_list_link_t link; /**< `next` is NULL while it is not in the list */
    ucs_time_t started;
} ucp_wireup_deadline_t;

void ucp_wireup_deadlines_init(ucp_worker_h worker);
void ucp_wireup_deadlines_cleanup(ucp_worker_h worker);

/** Start and stop the deadline of the endpoint's handshake. */
void ucp_wireup_deadline_start(ucp_ep_h ep);
void ucp_wireup_deadline_stop(ucp_ep_h ep);

#endif
