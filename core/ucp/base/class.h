/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classes: tagged messages, active messages, streams, remote memory, and what
 * they share. A class describes itself in one constant. Other folders call
 * classes only through the functions below, which walk the table of all
 * classes; core/classes.c has the table. A new class is a folder and a row.
 */
#ifndef UCP_CLASS_H
#define UCP_CLASS_H

#include <uct/api/uct.h>

#include "ucp/base/types.h"

/** Bytes of messages with this header size are not counted. */
enum { UCP_CLASS_NO_BYTES = UINT16_MAX };

/** A message that a class receives. */
typedef struct ucp_class_message {
    uint8_t id; /**< UCP_AM_ID_* */
    /** Counter of the worker, UCP_STATS_RECV_*; 0: messages of the library */
    uint16_t counter;
    /** Bytes before the user's data, or UCP_CLASS_NO_BYTES */
    uint16_t header;
    uct_am_callback_t handler; /**< Its `arg` is the worker */
} ucp_class_message_t;

struct ucp_multi_receiver;

/** Any function may be NULL: the class does not take part. All of them are
 *  called with the worker's lock held, except for worker_init and
 *  worker_cleanup. */
typedef struct ucp_class {
    const char *name;
    const ucp_class_message_t *messages;
    unsigned num_messages;
    /** Protocols that are selected by cost; of equal costs the first is
     *  selected */
    const ucp_proto_t *const *protos;
    unsigned num_protos;
    /** Receives eager messages in fragments; NULL: none */
    const struct ucp_multi_receiver *multi;

    /** A worker is created; its memory is 0. */
    ucs_status_t (*worker_init)(ucp_worker_h worker,
                                const ucp_worker_params_t *params);
    /** A worker will be destroyed: rejects messages that the user keeps. */
    void (*worker_stop)(ucp_worker_h worker);
    /** All endpoints have ended: ends receives, releases what the user keeps.
     *  The interfaces are open. */
    void (*worker_end)(ucp_worker_h worker);
    /** The interfaces are closed and the endpoints freed. */
    void (*worker_cleanup)(ucp_worker_h worker);
    /** Non-zero: progress has work to do, the worker must not sleep. */
    int (*worker_is_busy)(ucp_worker_h worker);
    /** A message is lost for lack of memory: ends what may wait for it. */
    void (*worker_lost)(ucp_worker_h worker);
    /** Sets how an interface places received messages. */
    void (*layout)(ucp_worker_h worker, uct_iface_params_t *params);

    /** The user has created an endpoint. */
    ucs_status_t (*ep_init)(ucp_ep_h ep, const ucp_ep_params_t *params);
    /** The user closes the endpoint. `force`: at once. */
    void (*ep_close)(ucp_ep_h ep, int force);
    /** Non-zero: the peer will send more, a close has to wait. */
    int (*ep_is_owed)(ucp_ep_h ep);
    /** Ends operations that are not in the endpoint's queue or list. */
    void (*ep_abort)(ucp_ep_h ep, ucs_status_t status);
    /** The endpoint has failed or is closed by force; it has no lanes. */
    void (*ep_fail)(ucp_ep_h ep, ucs_status_t status);
    /** A closing endpoint is flushed. Non-zero: the class completes the close
     *  request later. */
    int (*ep_leave)(ucp_ep_h ep, ucp_request_t *req);
    /** The peer has closed its end. */
    void (*ep_peer_left)(ucp_ep_h ep);
    /** The endpoint is being freed: before and after its lanes are. */
    void (*ep_detach)(ucp_ep_h ep);
    void (*ep_free)(ucp_ep_h ep);

    /** Cancels a receive. Zero: it is not one of this class. */
    int (*cancel)(ucp_request_t *req);
    /** Describes a receive: returns its kind, and writes how it is carried
     *  out. NULL: it is not one of this class. */
    const char *(*describe)(const ucp_request_t *req, char *text, size_t max);
} ucp_class_t;

/** All classes, then NULL. */
extern const ucp_class_t *const ucp_classes[];

/* The functions of all classes, in the order of the table. ucp_classes_init()
 * cleans up after a failure; ucp_classes_cancel() and ucp_classes_leave() end
 * at the first class that takes part. */
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
