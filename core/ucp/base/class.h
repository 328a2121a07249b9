/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classes of operations: tagged messages, active messages, streams, remote
 * memory, and what they share, for example rendezvous. A class describes itself
 * in one constant, a ucp_class_t. Lower layers call classes only through the
 * table of all classes, mostly by the functions below. The table is made from
 * the list in classes.h: a new class is a new folder and a new row of that
 * list.
 */
#ifndef UCP_CLASS_H
#define UCP_CLASS_H

#include <uct/api/uct.h>

#include "ucp/base/types.h"

/** Value of ucp_class_message_t::header: the statistics count the messages but
 *  not their bytes. */
enum { UCP_CLASS_NO_BYTES = UINT16_MAX };

/** The counters of an endpoint (UCP_STATS_*, see stats/stats.h) that increase
 *  when a message is sent. */
typedef struct ucp_class_sent {
    /** Counters for messages that are sent by am_short, am_bcopy and am_zcopy,
     *  in this order. UCP_CLASS_COUNTED: none, because the operation counted
     *  itself when it started */
    uint8_t by[3];
    /** Counter that increases with every message, in addition to `by`; 0:
     *  none */
    uint8_t event;
} ucp_class_sent_t;

enum { UCP_CLASS_COUNTED = UINT8_MAX };

/** No counter increases with the message: the operation counted itself when it
 *  started. */
extern const ucp_class_sent_t ucp_class_sent_by_operation;

/** A kind of message that a class sends and receives. */
typedef struct ucp_class_message {
    uint8_t id; /**< UCP_AM_ID_* */
    /** Counter of received messages in the worker (UCP_STATS_RECV_*); 0:
     *  counted as a message of the library, not of the user */
    uint16_t counter;
    /** Bytes before the user's data: the statistics subtract them from the
     *  length of a message. UCP_CLASS_NO_BYTES: no bytes are counted */
    uint16_t header;
    uct_am_callback_t handler; /**< `arg` is the worker */
    /** Counters of sent messages; NULL: counted as a message of the library */
    const ucp_class_sent_t *sent;
} ucp_class_message_t;

struct ucp_multi_receiver;
struct ucp_worker_iface;

/** A function that is NULL is not called. All functions are called with the
 *  worker's lock held, except while the worker is created and at the end of
 *  ucp_worker_destroy(). */
typedef struct ucp_class {
    const char *name;
    const ucp_class_message_t *messages;
    unsigned num_messages;
    /** The protocols of the class, candidates for the selection by cost. If
     *  costs are equal, the first one in this list is selected */
    const ucp_proto_t *const *protos;
    unsigned num_protos;
    /** How the class receives eager messages of several fragments
     *  (multi/multi.h); NULL if it has none */
    const struct ucp_multi_receiver *multi;

    /** The worker is being created; the class's memory in it contains zeros. */
    ucs_status_t (*worker_init)(ucp_worker_h worker,
                                const ucp_worker_params_t *params);
    /** ucp_worker_destroy() has begun, all endpoints still exist: rejects the
     *  rendezvous announcements that the user has not answered, so that their
     *  senders do not wait. */
    void (*worker_stop)(ucp_worker_h worker);
    /** All endpoints are closed, the interfaces are still open: completes
     *  posted receives, and releases received data that the user keeps. */
    void (*worker_end)(ucp_worker_h worker);
    /** The interfaces are closed and the endpoints freed. */
    void (*worker_cleanup)(ucp_worker_h worker);
    /** Returns non-zero if progress has work to do: the worker must not
     *  sleep. */
    int (*worker_is_busy)(ucp_worker_h worker);
    /** A message was lost because there was no memory, and it is not known
     *  which receive it belongs to: completes with UCS_ERR_NO_MEMORY all
     *  receives that may wait for the message. */
    void (*worker_lost)(ucp_worker_h worker);
    /** Sets the parameters of an interface before it is opened: alignment and
     *  headroom of received messages, callbacks of tag matching. */
    void (*layout)(ucp_worker_h worker, uct_iface_params_t *params);
    /** Called after an interface was opened and its handlers of messages were
     *  set. A failure closes the interface. */
    ucs_status_t (*iface_opened)(struct ucp_worker_iface *wiface);

    /** An endpoint was created for the user, not by the library for replies. */
    ucs_status_t (*ep_init)(ucp_ep_h ep, const ucp_ep_params_t *params);
    /** A close of the endpoint begins. `force`: without a flush, as with
     *  UCP_EP_CLOSE_FLAG_FORCE; such a close may begin while one with a flush
     *  is not complete. */
    void (*ep_close)(ucp_ep_h ep, int force);
    /** Returns non-zero if the peer still has to send data or replies: the
     *  close waits for them. */
    int (*ep_is_owed)(ucp_ep_h ep);
    /** The endpoint fails, or its close ends: completes, with `status`, the
     *  operations of the class that are in neither of the endpoint's lists
     *  `waiting` and `awaited`; the caller completes those in the lists. */
    void (*ep_abort)(ucp_ep_h ep, ucs_status_t status);
    /** The endpoint has failed or is closed by force, and its lanes are
     *  released: ends what remains, for example the receives of a stream, with
     *  `status`. */
    void (*ep_fail)(ucp_ep_h ep, ucs_status_t status);
    /** The flush of a closing endpoint is complete. `req`: the user's close
     *  request. Returns non-zero if this class completes `req` later, for
     *  example after a last message to the peer; the classes after it are then
     *  not called. */
    int (*ep_leave)(ucp_ep_h ep, ucp_request_t *req);
    /** A message says that the peer has closed its endpoint: the peer sends
     *  nothing more. */
    void (*ep_peer_left)(ucp_ep_h ep);
    /** The endpoint is being freed: ep_detach is called before its lanes are
     *  freed, ep_free afterwards. */
    void (*ep_detach)(ucp_ep_h ep);
    void (*ep_free)(ucp_ep_h ep);

    /** Cancels a receive of the class if that is possible; the receive then
     *  completes with UCS_ERR_CANCELED. Returns zero if the receive belongs to
     *  another class. */
    int (*cancel)(ucp_request_t *req);
    /** Returns the kind of a receive, for example "tag_recv", and writes its
     *  state or protocol to `text` (at most `max` bytes). Returns NULL if the
     *  receive belongs to another class. */
    const char *(*describe)(const ucp_request_t *req, char *text, size_t max);
} ucp_class_t;

/** All classes; the last entry is NULL. */
extern const ucp_class_t *const ucp_classes[];

/* Each function calls the corresponding function of ucp_class_t for all
 * classes, in the order of the table; ucp_classes_cleanup() in reverse order.
 * If a worker_init fails, ucp_classes_init() cleans up the classes before it.
 * ucp_classes_iface_opened() and ucp_classes_ep_init() stop at the first
 * failure and leave the clean-up to the caller. Functions that return an int
 * stop at the first class whose function returns non-zero, and return
 * non-zero. ucp_classes_cancel() also stops at that class. */
ucs_status_t ucp_classes_init(ucp_worker_h worker,
                              const ucp_worker_params_t *params);
void ucp_classes_stop(ucp_worker_h worker);
void ucp_classes_end(ucp_worker_h worker);
void ucp_classes_cleanup(ucp_worker_h worker);
int ucp_classes_are_busy(ucp_worker_h worker);
void ucp_classes_lost(ucp_worker_h worker);
void ucp_classes_layout(ucp_worker_h worker, uct_iface_params_t *params);
ucs_status_t ucp_classes_iface_opened(struct ucp_worker_iface *wiface);
ucs_status_t ucp_classes_ep_init(ucp_ep_h ep, const ucp_ep_params_t *params);
void ucp_classes_ep_close(ucp_ep_h ep, int force);
int ucp_classes_ep_is_owed(ucp_ep_h ep);
void ucp_classes_ep_abort(ucp_ep_h ep, ucs_status_t status);
void ucp_classes_ep_fail(ucp_ep_h ep, ucs_status_t status);
int ucp_classes_ep_leave(ucp_ep_h ep, ucp_request_t *req);
void ucp_classes_ep_peer_left(ucp_ep_h ep);
void ucp_classes_ep_detach(ucp_ep_h ep);
void ucp_classes_ep_free(ucp_ep_h ep);
void ucp_classes_cancel(ucp_request_t *req);

/** As ucp_class_t::describe; returns "recv" if no class recognizes the
 *  receive. */
const char *ucp_classes_describe(const ucp_request_t *req, char *text,
                                 size_t max);
#endif
