/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager tagged messages of several fragments: what tagged messages have in
 * addition to multi/multi.h, which active messages use as well. Numbers are
 * bytes:
 *
 *   FIRST_TAG  | header of multi/multi.h | tag 8 | request 4 | payload |
 *
 * request: the sender's request id, acknowledged when the message is matched;
 * 0: the send is not synchronous.
 *
 *   unexpected --posted receive--> matched --> complete
 *       |  data is stored             |  data is unpacked; that of a
 *       |                             |  generic datatype is stored
 *       |                             `--receive ends early--> dropped
 *       `--last byte--> whole; matched like a message of one fragment
 */
#ifndef UCP_TAG_MULTI_H
#define UCP_TAG_MULTI_H

#include "ucp/multi/multi.h"
#include "ucp/tag/match.h"

typedef struct {
    ucp_le64_t tag;
    ucp_le32_t request;
} ucp_tag_multi_first_t;

_Static_assert(sizeof(ucp_tag_multi_first_t) == 12, "wire layout");

/** A message whose fragments are arriving, or an unexpected one that is
 *  complete. */
typedef struct ucp_tag_multi {
    ucp_multi_recv_t super;
    ucp_worker_h worker;
    ucp_wire_end_t sender;
    ucp_le32_t request; /**< Id of the sender's request, to acknowledge; 0:
                         *   none */
    uint8_t ended;      /**< No more fragments arrive; `status` says whether
                         *   the message is complete */
    uint8_t is_lost;    /**< Data was lost because there was no memory */
    /** The data arrives in `bytes` by a rendezvous (fetch.h), not in fragments.
     *  If `desc` and `req` are NULL, the message is freed when the rendezvous
     *  ends */
    uint8_t is_fetched;
    ucs_status_t status;
    ucp_recv_desc_t *desc; /**< Descriptor of an unexpected message, or NULL */
    ucp_request_t *req;    /**< The matched receive, or NULL */
    /** Received data of an unexpected message, or for a generic datatype; NULL
     *  if the data is unpacked as it arrives */
    char *bytes;
    size_t capacity; /**< Size of `bytes` */
} ucp_tag_multi_t;

/** Returns the message that the descriptor of an unexpected message belongs
 *  to. */
static inline ucp_tag_multi_t *ucp_tag_multi_of(const ucp_recv_desc_t *desc)
{
    ucp_tag_multi_t *multi;

    __builtin_memcpy(&multi, desc + 1, sizeof(multi));
    return multi;
}

extern const ucp_multi_receiver_t ucp_tag_multi_receiver;

/** Called when all data has arrived, or no more data arrives: completes the
 *  matched receive, or sets `ended` of the unexpected message. Frees the
 *  message if a receive is matched, or if data is missing and the message is
 *  still in the queue. */
void ucp_tag_multi_ended(ucp_tag_multi_t *multi, ucs_status_t status);

/** Frees a message of which no more data arrives. `multi` may be NULL. */
void ucp_tag_multi_free(ucp_tag_multi_t *multi);

/** Matches an incomplete unexpected message with a receive whose datatype is
 *  set. `desc` is not in the queue, and the caller frees it. */
void ucp_tag_multi_match(ucp_recv_desc_t *desc, ucp_request_t *req);

#endif
