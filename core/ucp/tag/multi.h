/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager tagged messages of several fragments: what multi/ does not know, the tag
 * and who gets the data.
 *
 *   FIRST_TAG  | fragment of multi.h | tag 8 | request 4 | payload |
 *
 * request: the sender's, to be acknowledged when the message is matched; 0: the
 * send is not synchronous.
 *
 *   unexpected --posted receive--> to the receive --> complete
 *       |  bytes are gathered        |  bytes go to their place; those of a
 *       |                            |  generic datatype are gathered
 *       |                            `--receive ends early--> forgotten
 *       `--last byte--> whole; matched like a message that came as one
 */
#ifndef UCP_TAG_MULTI_H
#define UCP_TAG_MULTI_H

#include "ucp/multi/multi.h"

typedef struct {
    ucp_le64_t tag;
    ucp_le32_t request;
} ucp_tag_multi_first_t;

_Static_assert(sizeof(ucp_tag_multi_first_t) == 12, "wire layout");

typedef struct ucp_tag_multi {
    ucp_multi_recv_t super;
    ucp_worker_h     worker;
    ucp_wire_end_t   sender;
    ucp_le32_t       request;    /**< To acknowledge; 0: none */
    uint8_t          ended;      /**< Nothing more will come: see status */
    uint8_t          removed;    /**< `desc` is the user's, not in the queue */
    uint8_t          is_lost;    /**< There was no memory for what has arrived */
    ucs_status_t     status;
    ucp_recv_desc_t  *desc;      /**< Unexpected; or NULL */
    ucp_request_t    *req;       /**< The receive; or NULL */
    char             *bytes;     /**< Gathered */
    size_t           capacity;
} ucp_tag_multi_t;

/** The message behind an unexpected one's header. */
static inline ucp_tag_multi_t *ucp_tag_multi_of(const ucp_recv_desc_t *desc)
{
    ucp_tag_multi_t *multi;

    __builtin_memcpy(&multi, desc + 1, sizeof(multi));
    return multi;
}

/** Frees one of which no fragment is missing any more; may be NULL. */
void ucp_tag_multi_free(ucp_tag_multi_t *multi);

/** Prepares a send; `copy` as in multi.h. */
ucs_status_t ucp_tag_multi_send_init(ucp_request_t *req, int copy);

/** Gives an unexpected message of which fragments are missing to a receive, which
 *  has its datatype. `desc` is out of the queue, and the caller's to free. */
void ucp_tag_multi_match(ucp_recv_desc_t *desc, ucp_request_t *req);

/** Ends the receive of a message of which fragments are missing. */
void ucp_tag_multi_cancel(ucp_request_t *req);

#endif
