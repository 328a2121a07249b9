/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classes of operations: tagged messages, active messages, streams, remote
 * memory, and what they share. A class describes itself in one constant. Other
 * folders call classes only through the functions below, which walk the table
 * of all classes. The table is made from the list in classes.h: a new class is a
 * new folder and a new row there.
 */
#ifndef UCP_CLASS_H
#define UCP_CLASS_H

#include <uct/api/uct.h>

#include "ucp/base/types.h"

/** Bytes of messages with this header size are not counted. */
enum { UCP_CLASS_NO_BYTES = UINT16_MAX };

/** Counters of an endpoint (UCP_STATS_*) for the sends of a message. */
typedef struct ucp_class_sent {
    /** By am_short, am_bcopy and am_zcopy; UCP_CLASS_COUNTED: counted where the
     *  operation starts */
    uint8_t by[3];
    uint8_t event; /**< Counted for every message; 0: none */
} ucp_class_sent_t;

enum { UCP_CLASS_COUNTED = UINT8_MAX };

/** For messages whose operation counts each send where it starts. */
extern const ucp_class_sent_t ucp_class_sent_by_operation;

/** A message of a class. */
typedef struct ucp_class_message {
    uint8_t id; /**< UCP_AM_ID_* */
    /** Counter of the worker, UCP_STATS_RECV_*; 0: messages of the library */
    uint16_t counter;
    /** Bytes before the user's data, or UCP_CLASS_NO_BYTES */
    uint16_t header;
    uct_am_callback_t handler; /**< `arg` is the worker */
    /** NULL: counted as a message of the library */
    const ucp_class_sent_t *sent;
} ucp_class_message_t;

struct ucp_multi_receiver;

/** A NULL function means that the class has nothing to do there. All functions
 *  are called with the worker's lock held, except for worker_init and
 *  worker_cleanup. */
typedef struct ucp_class {
    const char *name;
    const ucp_class_message_t *messages;
    unsigned num_messages;
    /** Protocols that are selected by cost; if costs are equal, the first is
     *  selected */
    const ucp_proto_t *const *protos;
    unsigned num_protos;
    /** Receives eager messages of several fragments; NULL if the class has
     *  none */
    const struct ucp_multi_receiver *multi;

    /** The worker is being created; the memory of the class in it is 0. */
    ucs_status_t (*worker_init)(ucp_worker_h worker,
                                const ucp_worker_params_t *params);
    /** The worker is about to be destroyed: rejects messages that the user
     *  keeps. */
    void (*worker_stop)(ucp_worker_h worker);
    /** All endpoints are closed: completes receives, releases data that the
     *  user keeps. The interfaces are still open. */
    void (*worker_end)(ucp_worker_h worker);
    /** The interfaces are closed and the endpoints freed. */
    void (*worker_cleanup)(ucp_worker_h worker);
    /** Returns non-zero if progress has work to do: the worker must not
     *  sleep. */
    int (*worker_is_busy)(ucp_worker_h worker);
    /** A message was lost because there was no memory: completes the receives
     *  that may wait for it with an error. */
    void (*worker_lost)(ucp_worker_h worker);
    /** Sets how an interface places received messages. */
    void (*layout)(ucp_worker_h worker, uct_iface_params_t *params);

    /** The user has created an endpoint. */
    ucs_status_t (*ep_init)(ucp_ep_h ep, const ucp_ep_params_t *params);
    /** The user closes the endpoint; with `force`, without a flush. */
    void (*ep_close)(ucp_ep_h ep, int force);
    /** Returns non-zero if the peer still has to send data or replies: the
     *  close waits for them. */
    int (*ep_is_owed)(ucp_ep_h ep);
    /** Completes operations that are in neither `waiting` nor `awaited` of the
     *  endpoint. */
    void (*ep_abort)(ucp_ep_h ep, ucs_status_t status);
    /** The endpoint has failed or is closed by force; it has no lanes. */
    void (*ep_fail)(ucp_ep_h ep, ucs_status_t status);
    /** The flush of a closing endpoint is complete. Returns non-zero if the
     *  class completes the close request later. */
    int (*ep_leave)(ucp_ep_h ep, ucp_request_t *req);
    /** The peer has closed its endpoint. */
    void (*ep_peer_left)(ucp_ep_h ep);
    /** The endpoint is being freed: called before and after its lanes are
     *  freed. */
    void (*ep_detach)(ucp_ep_h ep);
    void (*ep_free)(ucp_ep_h ep);

    /** Cancels a receive. Returns zero if the receive belongs to another
     *  class. */
    int (*cancel)(ucp_request_t *req);
    /** Returns the kind of a receive, and writes how it is carried out. Returns
     *  NULL if the receive belongs to another class. */
    const char *(*describe)(const ucp_request_t *req, char *text, size_t max);
} ucp_class_t;

/** All classes; the last entry is NULL. */
extern const ucp_class_t *const ucp_classes[];

/* Call the functions of all classes, in the order of the table.
 * ucp_classes_init() cleans up after a failure. ucp_classes_cancel() and
 * ucp_classes_leave() stop at the first class whose function returns
 * non-zero. */
ucs_status_t ucp_classes_init(ucp_worker_h worker,
                              const ucp_worker_params_t *params);
void ucp_classes_stop(ucp_worker_h worker);
void ucp_classes_end(ucp_worker_h worker);
void ucp_classes_cleanup(ucp_worker_h worker);
int ucp_classes_are_busy(ucp_worker_h worker);
void ucp_classes_lost(ucp_worker_h worker);
void ucp_classes_layout(ucp_worker_h worker, uct_iface_params_t *params);
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

/** As ucp_class_t::describe; "recv" if no class knows the receive. */
const char *ucp_classes_describe(const ucp_request_t *req, char *text,
                                 size_t max);
#endif
