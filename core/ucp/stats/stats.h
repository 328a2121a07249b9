/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of UCP (UCX_STATS). The path of small messages contains no counting
 * code: if counting is on, counting functions replace the operations of a
 * lane's transport and the handlers that the transport calls. Other events (for
 * example the selected protocols, restarts) are counted in the code of slow
 * operations, where a test of a pointer costs little.
 */
#ifndef UCP_STATS_H
#define UCP_STATS_H

#include <uct/api/uct.h>

#include "ucp/base/class.h"
#include "ucp/base/types.h"
#include "ucs/stats/stats.h"

struct ucp_worker_iface;
struct ucp_proto;

/* Kinds of records in the statistics of the process. A record may be shown as
 * part of another one. */
enum {
    UCP_STATS_WORKER,
    UCP_STATS_INTERFACE, /**< Part of a worker */
    UCP_STATS_ENDPOINT,  /**< Part of a worker */
    UCP_STATS_LANE,      /**< Part of an endpoint */
    UCP_STATS_LEARNT,    /**< What trials of methods (learn/learn.h) have found
                          *   for one class of sizes; part of a worker */
};

/* Counters of a worker. A name that ends in _MSGS stands for two counters:
 * messages, then bytes. */
enum {
    UCP_STATS_PROGRESS,
    UCP_STATS_PROGRESS_EMPTY,
    UCP_STATS_SLEEPS,
    UCP_STATS_SIGNALS, /**< Counted by any thread */
    UCP_STATS_EPS,
    UCP_STATS_EPS_FAILED,
    UCP_STATS_LANES_LOST,
    UCP_STATS_RECV_TAG_MSGS,
    UCP_STATS_EARLY_MSGS       = UCP_STATS_RECV_TAG_MSGS + 2,
    UCP_STATS_RECV_AM_MSGS     = UCP_STATS_EARLY_MSGS + 2,
    UCP_STATS_RECV_STREAM_MSGS = UCP_STATS_RECV_AM_MSGS + 2,
    UCP_STATS_RECV_RNDV_MSGS   = UCP_STATS_RECV_STREAM_MSGS + 2,
    UCP_STATS_RECV_FRAG_MSGS   = UCP_STATS_RECV_RNDV_MSGS + 2,
    UCP_STATS_RECV_PUT_MSGS    = UCP_STATS_RECV_FRAG_MSGS + 2,
    UCP_STATS_RECV_REPLY_MSGS  = UCP_STATS_RECV_PUT_MSGS + 2,
    UCP_STATS_RECV_OWN_MSGS    = UCP_STATS_RECV_REPLY_MSGS + 2,
    UCP_STATS_RECV_GET         = UCP_STATS_RECV_OWN_MSGS + 2,
    UCP_STATS_RECV_ATOMIC,
    UCP_STATS_WORKER_LAST,
};

/* Counters of an endpoint, in the order of the table in stats.c. Up to
 * AM_MULTI, each name stands for two counters: messages, then bytes. */
enum {
    UCP_STATS_TAG_SHORT     = 0,
    UCP_STATS_TAG_BCOPY     = 2,
    UCP_STATS_TAG_ZCOPY     = 4,
    UCP_STATS_TAG_RNDV      = 6,
    UCP_STATS_AM_SHORT      = 8,
    UCP_STATS_AM_BCOPY      = 10,
    UCP_STATS_AM_ZCOPY      = 12,
    UCP_STATS_AM_RNDV       = 14,
    UCP_STATS_STREAM_SHORT  = 16,
    UCP_STATS_STREAM_COPY   = 18,
    UCP_STATS_STREAM_ZCOPY  = 20,
    UCP_STATS_PUT_SHORT     = 22,
    UCP_STATS_PUT_BCOPY     = 24,
    UCP_STATS_PUT_ZCOPY     = 26,
    UCP_STATS_PUT_AM        = 28,
    UCP_STATS_GET_SHORT     = 30,
    UCP_STATS_GET_BCOPY     = 32,
    UCP_STATS_GET_ZCOPY     = 34,
    UCP_STATS_GET_AM        = 36,
    UCP_STATS_RNDV_GET      = 38,
    UCP_STATS_RNDV_PUT      = 40,
    UCP_STATS_RNDV_AM       = 42,
    UCP_STATS_REPLY         = 44,
    UCP_STATS_OWN           = 46,
    UCP_STATS_TAG_MULTI     = 48,
    UCP_STATS_AM_MULTI      = 50,
    UCP_STATS_ATOMIC_DIRECT = 52,
    UCP_STATS_ATOMIC_AM,
    UCP_STATS_SYNC,
    UCP_STATS_WAITS,
    UCP_STATS_RETRIES,
    UCP_STATS_ENDPOINT_LAST,
};

/* Counters of a lane. Up to GET_ZCOPY, each name stands for two counters:
 * operations, then bytes. */
enum {
    UCP_STATS_LANE_AM_SHORT  = 0,
    UCP_STATS_LANE_AM_BCOPY  = 2,
    UCP_STATS_LANE_AM_ZCOPY  = 4,
    UCP_STATS_LANE_PUT_SHORT = 6,
    UCP_STATS_LANE_PUT_BCOPY = 8,
    UCP_STATS_LANE_PUT_ZCOPY = 10,
    UCP_STATS_LANE_GET_SHORT = 12,
    UCP_STATS_LANE_GET_BCOPY = 14,
    UCP_STATS_LANE_GET_ZCOPY = 16,
    UCP_STATS_LANE_ATOMIC    = 18,
    UCP_STATS_LANE_NO_RESOURCE,
    UCP_STATS_LANE_WAITS,
    UCP_STATS_LANE_ERRORS,
    UCP_STATS_LANE_LAST,
};

/* Values of a UCP_STATS_LEARNT record. A method is one of UCP_LEARN_* in
 * learn/entry.h, a reason one of ucp_learn_reason_t in learn/learn.h. */
enum {
    UCP_STATS_LEARNT_UNITS    = 0, /**< Transfers so far (learn/learn.h) */
    UCP_STATS_LEARNT_SELECTED = 1, /**< For each method: 1 if it is selected,
                                    *   else 0 */
    UCP_STATS_LEARNT_REASON   = 5, /**< For each reason: 1 if it is why the
                                    *   method is selected, else 0 */
    UCP_STATS_LEARNT_SPEED    = 9, /**< For each method: MB/s; 0 if not known */
    UCP_STATS_LEARNT_LAST     = 13,
};

typedef struct ucp_worker_stats ucp_worker_stats_t;
typedef struct ucp_ep_stats ucp_ep_stats_t;

/** ucp_stats_open() starts counting if the configuration enables it, and
 *  returns whether it does. ucp_stats_close() stops counting. */
int ucp_stats_open(const ucs_config_source_t *source);
void ucp_stats_close(void);

/* ---- workers: before interfaces are opened, after they are closed ---- */

/** Returns NULL if nothing is counted. */
ucp_worker_stats_t *ucp_stats_worker_create(ucp_worker_h worker);
void ucp_stats_worker_destroy(ucp_worker_stats_t *stats);

/** Returns the worker's own record. */
ucs_stats_record_t *ucp_stats_worker_record(const ucp_worker_stats_t *stats);

/** Replaces a handler of an interface by one that counts the message and calls
 *  the original handler. */
void ucp_stats_wrap_handler(struct ucp_worker_iface *wiface,
                            const ucp_class_message_t *message,
                            uct_am_callback_t *handler_p, void **arg_p);

/** Called after each progress. `count`: the result of progress, the number of
 *  events. */
void ucp_stats_progress(ucp_worker_stats_t *stats, unsigned count);

/* ---- endpoints: no effect if the worker does not count ---- */

/** Called when the endpoint has lanes to the worker with the name `peer`. */
void ucp_stats_ep_begin(ucp_ep_h ep, const char *peer, const uct_ep_h *lanes);

/** Called when the endpoint has failed, and when one of its lanes has failed
 *  and the endpoint continues without it. */
void ucp_stats_ep_failed(ucp_ep_h ep);
void ucp_stats_lane_lost(ucp_ep_h ep, unsigned lane, ucs_status_t status);

/** Called when the endpoint is freed, after its lanes. */
void ucp_stats_ep_end(ucp_ep_h ep);

/** Returns the endpoint's record. */
ucs_stats_record_t *ucp_stats_ep_record(const ucp_ep_stats_t *stats);

/* ---- slow operations, of any endpoint or worker ---- */

/** Increases the endpoint's counters of messages and of their bytes. For data
 *  that the counting functions of a lane cannot assign to a protocol, for
 *  example in a rendezvous by get. */
void ucp_stats_sent(ucp_ep_h ep, unsigned counter, size_t length);

/** Counts a transfer that restarts over the remaining lanes. */
void ucp_stats_retry(ucp_ep_h ep);

/** Increases the worker's counters of messages and of their bytes. For data
 *  that the handler of a message does not count. */
void ucp_stats_received(ucp_worker_h worker, unsigned counter, size_t length);

/* ---- internal ---- */

/** Makes a lane count: in the record `lane`, and in the endpoint's record `ep`.
 *  `messages`: the kind of message for each id (base/class.h). Returns memory
 *  that must exist as long as the lane, and that the caller then frees; NULL if
 *  out of memory. */
void *ucp_stats_lane_attach(uct_ep_h uct,
                            const ucp_class_message_t *const *messages,
                            ucs_stats_record_t *lane, ucs_stats_record_t *ep);

#endif
