/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to a peer's memory: remote keys, put and get. A lane of the endpoint
 * that can do it for this key does it, without the peer's help; what no lane
 * can, and what is faster so, goes by active messages that the peer carries
 * out in its progress ("emulated").
 *
 *   PUT       | key 8 | address 8 | sender's end 16 | data |
 *   GET       | key 8 | address 8 | length 8 | sender's end 16 | request 4 |
 *   GET_REPLY | request 4 | status 1 | secret 3 | data, in order |
 *   ACK       | initiator's endpoint 8 | count 4 | status 1 |
 *
 * `key` is the number of the peer's memory handle. The peer checks each access
 * against the handles that it has at that time; one that is not within them
 * touches nothing. A get is answered with the error. A put has completed by
 * then: its error comes with an ACK, and the next flush returns it. `count`:
 * how many accesses of this endpoint have been carried out or refused (ack.h).
 * Answers repeat a part of the secret in the sender's end, and an ACK all of it:
 * messages of others are dropped.
 */
#ifndef UCP_RMA_H
#define UCP_RMA_H

#include "ucp/core/ep.h"
#include "ucp/mem/mem.h"

/** 24 bits of the secret in an endpoint's name. */
typedef struct {
    uint8_t bytes[3];
} ucp_rma_secret_t;

typedef struct {
    ucp_le64_t     key;
    ucp_le64_t     address;
    ucp_wire_end_t sender;
} ucp_rma_put_t;

typedef struct {
    ucp_le64_t     key;
    ucp_le64_t     address;
    ucp_le64_t     length;
    ucp_wire_end_t sender;
    ucp_le32_t     request;
} ucp_rma_get_t;

typedef struct {
    ucp_le32_t       request;
    int8_t           status;
    ucp_rma_secret_t secret;
} ucp_rma_get_reply_t;

typedef struct {
    ucp_le64_t end;      /**< As ucp_wire_end_t's ep_id */
    ucp_le32_t count;    /**< May wrap around */
    int8_t     status;
} ucp_rma_ack_t;

_Static_assert(sizeof(ucp_rma_put_t) == 32, "wire layout");
_Static_assert(sizeof(ucp_rma_get_t) == 44, "wire layout");
_Static_assert(sizeof(ucp_rma_get_reply_t) == 8, "wire layout");
_Static_assert(sizeof(ucp_rma_ack_t) == 13, "wire layout");

static inline ucp_rma_secret_t ucp_rma_secret(uint32_t secret)
{
    return (ucp_rma_secret_t){{(uint8_t)secret, (uint8_t)(secret >> 8),
                               (uint8_t)(secret >> 16)}};
}

/** Was this answer meant for a request of the endpoint? */
static inline int ucp_rma_is_secret_of(ucp_ep_h ep, ucp_rma_secret_t secret)
{
    ucp_rma_secret_t ours = ucp_rma_secret(ep->secret);

    return memcmp(&ours, &secret, sizeof(ours)) == 0;
}

/** A peer's status as one of ours: a number that is none is an I/O error. */
static inline ucs_status_t ucp_rma_wire_status(int8_t status)
{
    return ((status > 0) || (status <= UCS_ERR_LAST)) ? UCS_ERR_IO_ERROR :
                                                        (ucs_status_t)status;
}

/** Any of these makes put and get go the slow way. */
#define UCP_RMA_EP_FLAGS_SLOW (UCP_EP_FLAGS_SLOW | UCP_EP_FLAG_ORDERED)

/** Ends an access in its endpoint's queue, or one that awaits the peer. */
void ucp_rma_abort(ucp_request_t *req, ucs_status_t status);

/** Bytes of data in each message of a large emulated put, if they are sent from
 *  where they lie; 0: they are copied. */
size_t ucp_rma_put_fragment(const ucp_ep_config_t *config, unsigned dt_class,
                            size_t length);

/** Likewise, of the answer to a get. */
size_t ucp_rma_reply_fragment(const ucp_ep_config_t *config, size_t length);

/** Emulation, the initiator's side. The endpoint has been introduced. */
ucs_status_t ucp_rma_am_put_progress(ucp_request_t *req);
ucs_status_t ucp_rma_am_get_progress(ucp_request_t *req);

/** A put of a few bytes without a request; as am_short. Hot path. */
ucs_status_t ucp_rma_am_put_short(ucp_ep_h ep, const void *buffer,
                                  size_t length, uint64_t remote_addr,
                                  uint64_t key);

/** Bytes that ucp_rma_am_put_short copies at most. */
enum { UCP_RMA_AM_SHORT_MAX = 256 };

/** Receive side: UCT callbacks, `arg` is the worker. */
ucs_status_t ucp_rma_put_handler(void *arg, void *data, size_t length,
                                 unsigned flags);
ucs_status_t ucp_rma_get_handler(void *arg, void *data, size_t length,
                                 unsigned flags);
ucs_status_t ucp_rma_get_reply_handler(void *arg, void *data, size_t length,
                                       unsigned flags);
ucs_status_t ucp_rma_ack_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
