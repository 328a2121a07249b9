/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag offload: a transport matches tagged messages with posted receives. The
 * tag slots are its functions for this (transport.h: tag_eager_bcopy,
 * tag_recv_zcopy and others). README.md explains the decisions.
 *
 * Sender. All tagged messages of an endpoint take one path, so that they stay
 * in order: active messages, or the tag slots of lane 0. The path changes once,
 * by an agreement with the peer:
 *
 *   endpoint            peer
 *     ASK ------------->  posts receives to the transport from now on
 *     <----------- AGREE
 *     ASK ------------->  has handled all earlier active messages
 *     <----------- AGREE
 *     tagged messages by the tag slots
 *
 * Tagged messages before the first AGREE are active messages. Those after the
 * first AGREE wait for the second one. The peer answers REFUSE if the interface
 * that receives the ASK does not match tags; the endpoint then continues with
 * active messages.
 *
 *   TAG_OFFLOAD  | asker's end 16 | kind 1 |
 *
 * The asker's end (ucp_wire_end_t) identifies the endpoint that asks; an answer
 * repeats it.
 *
 * Receiver. One interface of the worker, the first one whose transport can do
 * so, matches tags. A receive is posted to this interface unless an earlier
 * receive, which only UCP matches, could match the same message. UCP also keeps
 * the posted receive in its own tables, because messages of other interfaces
 * may match it. If one does, the receive is cancelled in the transport. If the
 * transport has already matched a message with the cancelled receive, it
 * reports that message as unexpected.
 */
#ifndef UCP_TAG_OFFLOAD_H
#define UCP_TAG_OFFLOAD_H

#include "ucp/base/worker.h"
#include "ucp/tag/match.h"

/** Identifier of the messages by which two workers agree to use tag offload. */
enum { UCP_AM_ID_TAG_OFFLOAD = 20 };

/** ucp_tag_offload_msg_t::kind. */
enum { UCP_TAG_OFFLOAD_ASK, UCP_TAG_OFFLOAD_AGREE, UCP_TAG_OFFLOAD_REFUSE };

typedef struct {
    ucp_wire_end_t asker; /**< The endpoint that asks, also in the answer */
    uint8_t kind;         /**< UCP_TAG_OFFLOAD_* */
} ucp_tag_offload_msg_t;

_Static_assert(sizeof(ucp_tag_offload_msg_t) == 17, "wire layout");

/** Tag offload in a worker. */
typedef struct ucp_tag_offload {
    ucp_worker_h worker;
    uct_iface_h iface; /**< The interface that matches tags */
    uct_md_h md;       /**< Its memory domain */
    uint8_t md_index;  /**< Index of the domain in the context */
    /** Buffers must be registered with the domain */
    uint8_t needs_memh;
    /** A peer has sent ASK: receives are posted to the interface */
    uint8_t is_used;
    /** Bytes: receives into smaller buffers are not posted */
    size_t min_length;
    size_t count;           /**< Number of receives that are posted */
    size_t num_wild;        /**< Of these, receives without a full tag mask */
    ucs_list_link_t posted; /**< The posted receives, by ep_link */
} ucp_tag_offload_t;

/** Functions for ucp_class_t. The first sets the callbacks for unexpected
 *  messages before an interface is opened. The second uses the interface for
 *  tag offload if it is the first one that can match tags. The third frees the
 *  state in the worker. */
void ucp_tag_offload_layout(ucp_worker_h worker, uct_iface_params_t *params);
ucs_status_t ucp_tag_offload_iface_opened(ucp_worker_iface_t *wiface);
void ucp_tag_offload_cleanup(ucp_worker_h worker);

/** Called before a receive is added to UCP's tables: also posts it to the
 *  transport, if that is possible and keeps the order of receives. */
void ucp_tag_offload_post(ucp_tag_match_t *tm, ucp_request_t *req);

/** Called before a tagged send of an endpoint with UCP_TAG_PATH_ASK: sends the
 *  first ASK if it was not sent yet. */
void ucp_tag_offload_ask(ucp_ep_h ep);

/** Returns non-zero if the endpoint may send by the tag slots now; zero if it
 *  waits for the second AGREE, after which ucp_ep_continue() is called. */
int ucp_tag_offload_is_agreed(ucp_ep_h ep);

/** UCT callbacks for TAG_OFFLOAD. ucp_tag_offload_iface_handler() is the one of
 *  the interface that matches tags: `arg` is the ucp_tag_offload_t, and it
 *  answers AGREE. ucp_tag_offload_handler() is the one of other interfaces:
 *  `arg` is the worker, and it answers REFUSE. Both handle answers. */
ucs_status_t ucp_tag_offload_handler(void *arg, void *data, size_t length,
                                     unsigned flags);
ucs_status_t ucp_tag_offload_iface_handler(void *arg, void *data, size_t length,
                                           unsigned flags);

/** The protocols of tagged sends by tag slots. */
extern const ucp_proto_t ucp_proto_tag_offload_eager;
extern const ucp_proto_t ucp_proto_tag_offload_rndv;
extern const ucp_proto_t ucp_proto_tag_offload_fetch;

#endif
